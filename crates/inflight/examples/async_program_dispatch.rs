//! Asynchronous dispatch of StableHLO programs: transfers, executions and reads that return at once, and loops that read
//! the result of the step before (seed 002). Run it with `cargo run -p inflight --example async_program_dispatch`.

use inflight::{Device, Executable, Pending, Program, Result, Tensor};
use std::thread::sleep;
use std::time::{Duration, Instant};

const DOUBLE: &str = r#"
func.func @main(%x: tensor<200x200xf32>) -> tensor<200x200xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  "func.return"(%0): (tensor<200x200xf32>) -> ()
}
"#;

const ADD: &str = r#"
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  "func.return"(%0): (tensor<2x2xf32>) -> ()
}
"#;

const MULTIPLY_ADD: &str = r#"
func.func @main(%x: tensor<100x100xf32>, %y: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %0 = "stablehlo.multiply"(%x, %y) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %1 = "stablehlo.add"(%0, %x) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  "func.return"(%1): (tensor<100x100xf32>) -> ()
}
"#;

const SQUARE: &str = r#"
func.func @main(%x: tensor<200x200xf32>) -> tensor<200x200xf32> {
  %0 = "stablehlo.dot"(%x, %x) : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  "func.return"(%0): (tensor<200x200xf32>) -> ()
}
"#;

fn main() -> Result<()> {
    let device = Device::cpu();
    basic(&device)?;
    smart_inputs(&device)?;
    loops(&device)?;
    readiness(&device)?;
    pipeline(&device)?;
    benchmark(&device)
}

fn compile(source: &str, device: &Device) -> Result<Executable> {
    device.compile(&Program::parse(source)?)
}

/// Uniform values in [0, 1) that differ from call to call.
fn uniform(count: usize, seed: &mut u64) -> Vec<f32> {
    let mut next = || {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// Synchronous and asynchronous execution: the same calls, with a wait after each or one at the end.
fn basic(device: &Device) -> Result<()> {
    let executable = compile(DOUBLE, device)?;
    let data = uniform(200 * 200, &mut 1);

    // Waits for the execution, then for the read.
    let buffer = Tensor::from_slice(&data, (200, 200), device)?;
    let result = &executable.execute(&[&buffer])?[0];
    result.wait()?;
    let output: Vec<f32> = result.to_vec()?;

    // None of these three calls waits.
    let transfer = Tensor::from_slice(&data, (200, 200), device)?;
    let result = &executable.execute(&[&transfer])?[0];
    let promise: Pending<Vec<f32>> = result.to_vec_async();
    // Other work would be done here.
    assert_eq!(promise.get()?, output);
    println!("basic: {} + {} = {}", data[0], data[0], output[0]);
    Ok(())
}

/// A result in flight can be an argument or be read: the runtime tracks the dependency.
fn smart_inputs(device: &Device) -> Result<()> {
    let executable = compile(ADD, device)?;
    // The matrices of seed 002 are column-major.
    let x = Tensor::from_vec_column_major(vec![1f32, 2.0, 3.0, 4.0], (2, 2), device)?;
    let y = Tensor::from_vec_column_major(vec![5f32, 6.0, 7.0, 8.0], (2, 2), device)?;
    let result = &executable.execute(&[&x, &y])?[0];
    println!("smart inputs:\n{result}");
    assert_eq!(result.to_vec::<f32>()?, [6.0, 10.0, 8.0, 12.0]);

    // An execution, chained with a read of its result.
    let executable = compile(DOUBLE, device)?;
    let x = Tensor::from_vec(uniform(200 * 200, &mut 2), (200, 200), device)?;
    let output = executable.execute(&[&x])?[0].to_vec_async::<f32>();
    assert_eq!(output.get()?.len(), 200 * 200);
    Ok(())
}

/// A loop that waits for each step, and one that reads the result of the step before.
fn loops(device: &Device) -> Result<()> {
    const ITERATIONS: usize = 4;
    let executable = compile(MULTIPLY_ADD, device)?;
    let mut seed = 3;
    let mut next_batch = || Tensor::from_vec(uniform(100 * 100, &mut seed), (100, 100), device);

    println!("waiting in every iteration:");
    let mut input = next_batch()?;
    for step in 0..ITERATIONS {
        let result = &executable.execute(&[&input, &input])?[0];
        let metrics = result.to_vec::<f32>()?; // the device is idle after this wait
        println!("  step {step}: {:.4}", metrics[0]);
        input = next_batch()?; // and stays idle during this
    }

    println!("reading the iteration before:");
    let mut input = next_batch()?;
    let mut previous: Option<Tensor> = None;
    for step in 0..ITERATIONS {
        let result = executable.execute(&[&input, &input])?.remove(0);
        // While the device computes this step, read the one before, which is probably complete.
        if let Some(previous) = previous.replace(result) {
            println!("  step {}: {:.4}", step - 1, previous.to_vec::<f32>()?[0]);
        }
        input = next_batch()?;
    }
    if let Some(last) = previous {
        println!("  step {}: {:.4}", ITERATIONS - 1, last.to_vec::<f32>()?[0]);
    }
    Ok(())
}

/// `is_ready` never waits.
fn readiness(device: &Device) -> Result<()> {
    let executable = compile(SQUARE, device)?;
    let x = Tensor::from_vec(uniform(200 * 200, &mut 4), (200, 200), device)?;
    let square = &executable.execute(&[&x])?[0];
    match square.is_ready() {
        true => println!("readiness: complete"),
        false => println!("readiness: still in flight"),
    }
    square.wait()?;
    assert!(square.is_ready());
    Ok(())
}

/// Each result is the input of the next step; only the last is waited for.
fn pipeline(device: &Device) -> Result<()> {
    const STEPS: usize = 5;
    let executable = compile(MULTIPLY_ADD, device)?;
    let (first, factor) = (uniform(100 * 100, &mut 5), uniform(100 * 100, &mut 6));
    let expected = first[0] * (factor[0] + 1.0).powi(STEPS as i32);
    let mut x = Tensor::from_vec(first, (100, 100), device)?;
    let y = Tensor::from_vec(factor, (100, 100), device)?;
    for _ in 0..STEPS {
        x = executable.execute(&[&x, &y])?.remove(0);
    }
    let last = x.to_vec::<f32>()?;
    println!("pipeline: shape {}, first element {}", x.shape(), last[0]);
    assert!((last[0] - expected).abs() <= 1e-5 * expected.abs());
    Ok(())
}

/// Five batches, each with 20 ms of preparation: with a wait for each, and in flight.
fn benchmark(device: &Device) -> Result<()> {
    const ITERATIONS: usize = 5;
    const PREPARATION: Duration = Duration::from_millis(20);
    let executable = compile(SQUARE, device)?;
    let mut seed = 7;
    let mut prepare = || {
        sleep(PREPARATION); // stands for loading from a disk
        Tensor::from_vec(uniform(200 * 200, &mut seed), (200, 200), device)
    };

    let began = Instant::now();
    let mut result = None;
    for _ in 0..ITERATIONS {
        let x = prepare()?;
        let square = executable.execute(&[&x])?.remove(0);
        square.wait()?;
        result = Some(square);
    }
    result.expect("there are iterations").to_vec::<f32>()?;
    let waiting = began.elapsed();

    let began = Instant::now();
    let mut result = executable.execute(&[&prepare()?])?;
    for _ in 1..ITERATIONS {
        result = executable.execute(&[&prepare()?])?;
    }
    result[0].to_vec::<f32>()?;
    let in_flight = began.elapsed();
    println!("benchmark: waiting for each {waiting:.1?}, in flight {in_flight:.1?}");
    Ok(())
}
