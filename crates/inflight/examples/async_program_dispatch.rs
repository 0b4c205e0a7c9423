//! Programs executed asynchronously: transfers, executions and reads that return at once, loops that look at
//! the step before, and what that is worth against waiting for each step.
//!
//! ```text
//! cargo run --release -p inflight --example seed_002_async_dispatch
//! ```

use inflight::{Device, Executable, Pending, Program, Result, Tensor};
use std::thread::sleep;
use std::time::{Duration, Instant};

const DOUBLE: &str = r#"
func.func @main(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  "func.return"(%0): (tensor<1000x1000xf32>) -> ()
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
func.func @main(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = "stablehlo.dot"(%x, %x) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  "func.return"(%0): (tensor<1000x1000xf32>) -> ()
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

/// Numbers from 0 to 1 that differ from call to call.
fn uniform(count: usize, seed: &mut u64) -> Vec<f32> {
    let mut next = || {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// Synchronous and asynchronous execution: the same calls; only who waits, and when, differs.
fn basic(device: &Device) -> Result<()> {
    let executable = compile(DOUBLE, device)?;
    let data = uniform(1000 * 1000, &mut 1);

    // Waits for the execution, then for the read.
    let buffer = Tensor::from_slice(&data, [1000, 1000], device)?;
    let result = &executable.execute(&[&buffer])?[0];
    result.wait()?;
    let output: Vec<f32> = result.to_vec()?;

    // Returns at once, three times.
    let transfer = Tensor::from_slice(&data, [1000, 1000], device)?;
    let result = &executable.execute(&[&transfer])?[0];
    let promise: Pending<Vec<f32>> = result.to_vec_async();
    // Other work would be done here.
    assert_eq!(promise.get()?, output);
    println!("basic: {} + {} = {}", data[0], data[0], output[0]);
    Ok(())
}

/// What is not there yet can be passed on: the device knows what waits for what.
fn smart_inputs(device: &Device) -> Result<()> {
    let executable = compile(ADD, device)?;
    // The seed's matrices are written column by column.
    let x = Tensor::from_vec_column_major(vec![1f32, 2.0, 3.0, 4.0], [2, 2], device)?;
    let y = Tensor::from_vec_column_major(vec![5f32, 6.0, 7.0, 8.0], [2, 2], device)?;
    let result = &executable.execute(&[&x, &y])?[0];
    println!("smart inputs:\n{result}");
    assert_eq!(result.to_vec::<f32>()?, [6.0, 10.0, 8.0, 12.0]);

    // An execution, chained with a read of its result.
    let executable = compile(DOUBLE, device)?;
    let x = Tensor::from_vec(uniform(1000 * 1000, &mut 2), [1000, 1000], device)?;
    let output = executable.execute(&[&x])?[0].to_vec_async::<f32>();
    assert_eq!(output.get()?.len(), 1000 * 1000);
    Ok(())
}

/// A loop that waits for each step, and one that looks at the step before.
fn loops(device: &Device) -> Result<()> {
    const ITERATIONS: usize = 4;
    let executable = compile(MULTIPLY_ADD, device)?;
    let mut seed = 3;
    let mut next_batch = || Tensor::from_vec(uniform(100 * 100, &mut seed), [100, 100], device);

    println!("waiting in every iteration:");
    let mut input = next_batch()?;
    for step in 0..ITERATIONS {
        let result = &executable.execute(&[&input, &input])?[0];
        let metrics = result.to_vec::<f32>()?; // the device has nothing to do meanwhile
        println!("  step {step}: {:.4}", metrics[0]);
        input = next_batch()?; // nor now
    }

    println!("looking at the iteration before:");
    let mut input = next_batch()?;
    let mut previous: Option<Tensor> = None;
    for step in 0..ITERATIONS {
        let result = executable.execute(&[&input, &input])?.remove(0);
        // While the device computes this step, look at the one before. Most likely it is there.
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

/// Asking never waits.
fn readiness(device: &Device) -> Result<()> {
    let executable = compile(SQUARE, device)?;
    let x = Tensor::from_vec(uniform(1000 * 1000, &mut 4), [1000, 1000], device)?;
    let square = &executable.execute(&[&x])?[0];
    match square.is_ready() {
        true => println!("readiness: there already"),
        false => println!("readiness: still in flight"),
    }
    square.wait()?;
    assert!(square.is_ready());
    Ok(())
}

/// Each step's result is the next one's input; the only wait is for the last.
fn pipeline(device: &Device) -> Result<()> {
    const STEPS: usize = 5;
    let executable = compile(MULTIPLY_ADD, device)?;
    let (first, factor) = (uniform(100 * 100, &mut 5), uniform(100 * 100, &mut 6));
    let expected = first[0] * (factor[0] + 1.0).powi(STEPS as i32);
    let mut x = Tensor::from_vec(first, [100, 100], device)?;
    let y = Tensor::from_vec(factor, [100, 100], device)?;
    for _ in 0..STEPS {
        x = executable.execute(&[&x, &y])?.remove(0);
    }
    let last = x.to_vec::<f32>()?;
    println!("pipeline: shape {}, first element {}", x.shape(), last[0]);
    assert!((last[0] - expected).abs() <= 1e-5 * expected.abs());
    Ok(())
}

/// Five batches, each of which takes 20 ms to prepare: waiting for each, and not.
fn benchmark(device: &Device) -> Result<()> {
    const ITERATIONS: usize = 5;
    const PREPARATION: Duration = Duration::from_millis(20);
    let executable = compile(SQUARE, device)?;
    let mut seed = 7;
    let mut prepare = || {
        sleep(PREPARATION); // loading from a disk, say
        Tensor::from_vec(uniform(1000 * 1000, &mut seed), [1000, 1000], device)
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
