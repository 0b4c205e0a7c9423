//! Executables of StableHLO text: arguments, donation, results, custom calls, serialization and error messages.

use inflight::program::CustomCalls;
use inflight::{DType, Device, Error, Executable, Program, Tensor};
use std::path::PathBuf;

fn compile(text: &str, device: &Device) -> Executable {
    device.compile(&Program::parse(text).unwrap()).unwrap()
}

fn vector(values: &[f32], device: &Device) -> Tensor {
    Tensor::from_slice(values, [values.len()], device).unwrap()
}

const SCALED: &str = "
func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> (tensor<3xf32>, tensor<f32>, tensor<3xf32>) {
  %0 = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<3xf32>
  return %1, %y, %1 : tensor<3xf32>, tensor<f32>, tensor<3xf32>
}";

#[test]
fn results_may_be_arguments_and_may_be_the_same() {
    let device = Device::cpu();
    let exe = compile(SCALED, &device);
    let results =
        exe.execute(&[&vector(&[1.0, 2.0, 3.0], &device), &Tensor::scalar(2f32, &device)]);
    let results = results.unwrap();
    assert_eq!(results[0].to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(results[1].item::<f32>().unwrap(), 2.0);
    assert_eq!(results[2].to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0]);
}

#[test]
fn execution_accepts_recorded_and_in_flight_arguments() {
    let (device, control) = crate::support::stepped::stepped_device();
    let exe = compile(SCALED, &device);
    let x = vector(&[1.0, 2.0, 3.0], &device) + 1.0;
    let factor = Tensor::scalar(2f32, &device);
    let first = exe.execute(&[&x, &factor]).unwrap();
    let second = exe.execute(&[&(&first[0] * 10.0), &factor]).unwrap();
    assert!(!second[0].is_ready());
    control.open();
    assert_eq!(second[0].to_vec::<f32>().unwrap(), [80.0, 120.0, 160.0]);
}

#[test]
fn waiting_for_an_execution_waits_for_all_results() {
    let device = Device::cpu();
    let executable = compile(
        "func.func @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
           %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
             : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
           %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0]
             : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
           return %1, %0 : tensor<64x64xf32>, tensor<64x64xf32>
         }",
        &device,
    );
    let x = Tensor::ones::<f32>([64, 64], &device);
    for _ in 0..20 {
        let execution = executable.submit(&[&x]).unwrap();
        execution.wait().unwrap();
        assert!(execution.results.iter().all(Tensor::is_ready) && execution.done.is_ready());
        let firsts = execution.results.iter().map(|result| result.to_vec::<f32>().unwrap()[0]);
        assert_eq!(firsts.collect::<Vec<f32>>(), [4096.0, 64.0]);
    }
}

#[test]
fn a_failed_check_is_reported_by_the_wait_for_its_execution() {
    let device = Device::cpu();
    let executable = compile(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
           %0 = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
           stablehlo.custom_call @check.expect_eq(%x, %0) {has_side_effect = true}
             : (tensor<2xf32>, tensor<2xf32>) -> ()
           return %x : tensor<2xf32>
         }",
        &device,
    );
    let execution = executable.submit(&[&vector(&[1.0, 2.0], &device)]).unwrap();
    let error = execution.wait().unwrap_err().to_string();
    assert!(error.contains("element [1] of f32[2] is 2.0, expected 2.5"), "{error}");
}

#[test]
fn a_blocking_call_returns_completed_results_or_the_error() {
    let device = Device::cpu();
    let source = |iterations: usize, expected: f32| {
        format!(
            "func.func @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<f32>) {{
               %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
                 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
               %zero = stablehlo.constant dense<0.0> : tensor<f32>
               %one = stablehlo.constant dense<1.0> : tensor<f32>
               %end = stablehlo.constant dense<{iterations}.0> : tensor<f32>
               %1 = stablehlo.while(%i = %zero) : tensor<f32>
                 cond {{
                   %more = stablehlo.compare LT, %i, %end : (tensor<f32>, tensor<f32>) -> tensor<i1>
                   stablehlo.return %more : tensor<i1>
                 }} do {{
                   %next = stablehlo.add %i, %one : tensor<f32>
                   stablehlo.return %next : tensor<f32>
                 }}
               %expected = stablehlo.constant dense<{expected:?}> : tensor<f32>
               stablehlo.custom_call @check.expect_eq(%1, %expected) {{has_side_effect = true}}
                 : (tensor<f32>, tensor<f32>) -> ()
               return %0, %1 : tensor<64x64xf32>, tensor<f32>
             }}"
        )
    };
    let x = Tensor::ones::<f32>([64, 64], &device);
    let executable = compile(&source(50, 50.0), &device);
    for _ in 0..20 {
        let results = executable.execute_and_wait(&[&x]).unwrap();
        assert!(results.iter().all(Tensor::is_ready));
        let firsts = results.iter().map(|result| result.to_vec::<f32>().unwrap()[0]);
        assert_eq!(firsts.collect::<Vec<f32>>(), [64.0, 50.0]);
    }
    let error =
        compile(&source(50, 49.0), &device).execute_and_wait(&[&x]).unwrap_err().to_string();
    assert!(error.contains("50.0, expected 49.0"), "{error}");
    let _guard = inflight::SyncGuard::deny();
    let denied = executable.execute_and_wait(&[&x]).unwrap_err();
    assert!(matches!(denied, inflight::Error::WaitDenied { .. }), "{denied}");
}

/// Reference matmul of square row-major matrices.
fn reference_matmul(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let element = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum();
    (0..n * n).map(element).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let differs = found.iter().zip(expected).any(|(a, b)| (a - b).abs() > 1e-12);
    assert!(!differs && found.len() == expected.len(), "{found:?} is not {expected:?}");
}

#[test]
fn jax_custom_calls_for_factorizations_are_supported() {
    let device = Device::cpu();
    let executable = compile(
        "func.func @main(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>,
             tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<i32>) {
           %lu:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a)
             : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>)
           %qr:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a)
             : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>)
           %q = stablehlo.custom_call @lapack_dorgqr_ffi(%qr#0, %qr#1)
             : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3x3xf64>
           %e:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a)
             {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}}
             : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<i32>)
           return %lu#0, %lu#1, %lu#2, %qr#0, %q, %e#0, %e#1, %e#2 : tensor<3x3xf64>, tensor<3xi32>,
             tensor<i32>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<i32>
         }",
        &device,
    );
    let a = [1.0, 2.0, 0.5, 2.0, -3.0, 1.0, 0.5, 1.0, 4.0];
    let x = Tensor::from_slice(&a, [3, 3], &device).unwrap();
    let results = executable.execute(&[&x]).unwrap();
    let matrix = |i: usize| results[i].to_vec::<f64>().unwrap();

    let (factors, exchanges) = (matrix(0), results[1].to_vec::<i32>().unwrap());
    let part = |keep: fn(usize, usize) -> bool, diagonal: Option<f64>| -> Vec<f64> {
        (0..9)
            .map(|i| match diagonal {
                Some(one) if i / 3 == i % 3 => one,
                _ if keep(i / 3, i % 3) => factors[i],
                _ => 0.0,
            })
            .collect()
    };
    let mut exchanged = a;
    for (row, &other) in exchanges.iter().enumerate() {
        for column in 0..3 {
            exchanged.swap(row * 3 + column, (other as usize - 1) * 3 + column);
        }
    }
    let (lower, upper) = (part(|i, j| i > j, Some(1.0)), part(|i, j| i <= j, None));
    assert_near(&reference_matmul(&lower, &upper, 3), &exchanged);
    assert_eq!((exchanges[0], results[2].item::<i32>().unwrap()), (2, 0));

    let upper: Vec<f64> =
        matrix(3).iter().enumerate().map(|(i, &x)| if i / 3 <= i % 3 { x } else { 0.0 }).collect();
    assert_near(&reference_matmul(&matrix(4), &upper, 3), &a);

    let (vectors, values) = (matrix(5), matrix(6));
    let scaled: Vec<f64> = (0..9).map(|i| vectors[i] * values[i % 3]).collect();
    assert_near(&reference_matmul(&a, &vectors, 3), &scaled);
    assert!(values.is_sorted() && results[7].item::<i32>().unwrap() == 0);
}

#[test]
fn an_invalid_argument_is_named() {
    let device = Device::cpu();
    let exe = compile(SCALED, &device);
    let x = vector(&[1.0, 2.0, 3.0], &device);
    let y = Tensor::scalar(2f32, &device);
    let message = |arguments: &[&Tensor]| exe.execute(arguments).unwrap_err().to_string();
    assert!(message(&[&x]).contains("expected 2 arguments, found 1"), "{}", message(&[&x]));
    let shape = message(&[&vector(&[1.0], &device), &y]);
    assert!(shape.contains("argument 0 (x): expected f32[3], found f32[1]"), "{shape}");
    let dtype = message(&[&x, &Tensor::scalar(2i32, &device)]);
    assert!(dtype.contains("argument 1 (y): expected f32[], found i32[]"), "{dtype}");
    let other = Device::open_cpu(Default::default()).unwrap();
    let elsewhere = message(&[&vector(&[1.0, 2.0, 3.0], &other), &y]);
    assert!(elsewhere.contains("argument 0 (x)") && elsewhere.contains("to_device"), "{elsewhere}");
    assert!(message(&[]).contains(file!()), "the caller is named");
    assert_eq!(exe.arguments()[0].to_string(), "f32[3]");
    assert_eq!(exe.results()[1].to_string(), "f32[]");
}

#[test]
fn program_errors_are_listed_with_their_lines() {
    let error = Program::parse("func.func @main( -> tensor<f32>").unwrap_err().to_string();
    assert!(error.contains('^'), "{error}");
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @nowhere.one(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @nowhere.two(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}";
    let error = Device::cpu().compile(&Program::parse(text).unwrap()).unwrap_err().to_string();
    assert!(error.contains("program:2:") && error.contains("nowhere.one"), "{error}");
    assert!(error.contains("program:3:") && error.contains("nowhere.two"), "{error}");
    assert!(error.contains("check.expect_eq"), "known calls are listed: {error}");
}

const DONATED: &str = "
func.func @main(%x: tensor<1024xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = stablehlo.add %x, %y : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}";

fn ones(device: &Device) -> Tensor {
    Tensor::from_vec(vec![1f32; 1024], [1024], device).unwrap()
}

#[test]
fn a_donated_tensor_cannot_be_used_again_but_its_clones_can() {
    let device = Device::cpu();
    let exe = compile(DONATED, &device);
    let (x, y) = (ones(&device), ones(&device));
    let (clone, view, user) = (x.clone(), x.reshape([32, 32]), &x * 3.0);
    let sum = exe.execute(&[&x, &y]).unwrap().remove(0);
    for error in [
        x.to_vec::<f32>().unwrap_err(),
        (&x + 1.0).to_vec::<f32>().unwrap_err(),
        x.clone().check().unwrap_err(),
        exe.execute(&[&x, &y]).unwrap_err(),
        exe.execute(&[&y, &x]).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Donated { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("argument 0 (x)") && message.contains(file!()), "{message}");
    }
    assert_eq!(sum.to_vec::<f32>().unwrap(), [2.0; 1024]);
    assert_eq!(clone.to_vec::<f32>().unwrap(), [1.0; 1024]);
    assert_eq!(view.to_vec::<f32>().unwrap(), [1.0; 1024]);
    assert_eq!(user.to_vec::<f32>().unwrap(), [3.0; 1024]);
    assert_eq!(y.to_vec::<f32>().unwrap(), [1.0; 1024]);
}

#[test]
fn donating_a_tensor_twice_is_refused_and_leaves_it_valid() {
    let device = Device::cpu();
    let exe = compile(DONATED, &device);
    let x = ones(&device);
    let message = exe.execute(&[&x, &x]).unwrap_err().to_string();
    assert!(message.contains("argument 1 (y)") && message.contains("twice"), "{message}");
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0; 1024]);
}

#[test]
fn donated_memory_is_freed_after_its_last_read() {
    let peak = |text: &str| {
        let device = Device::open_cpu(Default::default()).unwrap();
        let exe = compile(text, &device);
        let mut states = vec![(ones(&device) + 0.0).cast(DType::F32)];
        states[0].wait().unwrap();
        let y = ones(&device);
        for _ in 0..50 {
            let next = exe.execute(&[states.last().unwrap(), &y]).unwrap().remove(0);
            next.wait().unwrap();
            states.push(next);
        }
        assert_eq!(states.last().unwrap().to_vec::<f32>().unwrap(), [51.0; 1024]);
        device.memory().peak
    };
    let (given_up, held) =
        (peak(DONATED), peak(&DONATED.replace("{tf.aliasing_output = 0 : i32}", "")));
    assert!(held >= 50 * 4096, "{held}");
    assert!(given_up <= 4 * 4096, "{given_up}");
}

#[test]
fn dynamic_extents_are_taken_from_the_arguments() {
    let device = Device::open_cpu(Default::default()).unwrap();
    let exe = compile(
        "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.exponential %x : tensor<?x2xf32>
  %1 = stablehlo.add %0, %x : tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}",
        &device,
    );
    assert_eq!(exe.arguments()[0].to_string(), "f32[?, 2]");
    let run = |rows: usize| {
        let x = Tensor::zeros::<f32>([rows, 2], &device);
        let result = exe.execute(&[&x]).unwrap().remove(0);
        assert_eq!(result.to_vec::<f32>().unwrap(), vec![1.0; 2 * rows]);
    };
    run(300);
    let before = device.stats();
    for rows in [300, 301, 512, 300] {
        run(rows);
    }
    assert_eq!(device.stats().since(&before).compiles, 0);
    let wrong = exe.execute(&[&Tensor::zeros::<f32>([4, 3], &device)]).unwrap_err().to_string();
    assert!(wrong.contains("expected f32[?, 2], found f32[4, 3]"), "{wrong}");
}

#[test]
fn custom_calls_run_on_the_stream_and_propagate_errors() {
    CustomCalls::register("test.swap", |inputs, outputs| {
        outputs[0].fill_from(&inputs[1].to_vec::<f32>()?)?;
        outputs[1].fill_from(&inputs[0].to_vec::<f32>()?)
    });
    CustomCalls::register("test.refuse", |_, _| Err("not today".to_owned()));
    CustomCalls::register("test.panic", |_, _| panic!("in the middle"));
    let device = Device::cpu();
    let text = |target: &str| {
        format!(
            "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {{
  %0:2 = stablehlo.custom_call @{target}(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1 = stablehlo.add %0#0, %0#0 : tensor<2xf32>
  return %1, %0#1 : tensor<2xf32>, tensor<2xf32>
}}"
        )
    };
    let (x, y) = (vector(&[1.0, 2.0], &device), vector(&[3.0, 4.0], &device));
    let results = compile(&text("test.swap"), &device).execute(&[&x, &y]).unwrap();
    assert_eq!(results[0].to_vec::<f32>().unwrap(), [6.0, 8.0]);
    assert_eq!(results[1].to_vec::<f32>().unwrap(), [1.0, 2.0]);
    for (target, expected) in [("test.refuse", "not today"), ("test.panic", "in the middle")] {
        let results = compile(&text(target), &device).execute(&[&x, &y]).unwrap();
        for result in results {
            let message = result.to_vec::<f32>().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
            assert!(message.contains(&format!("{target} at program:2:")), "{message}");
        }
    }
}

/// A host function records on a stream of its thread. That stream must not be the one that runs the function, or it would
/// wait for itself.
#[test]
fn host_functions_may_compute_with_tensors() {
    CustomCalls::register("test.exponential", |inputs, outputs| {
        let device = Device::cpu();
        let x = Tensor::from_vec(inputs[0].to_vec::<f32>()?, [2], &device);
        let y = x.and_then(|x| x.exp().to_vec::<f32>()).map_err(|error| error.to_string())?;
        outputs[0].fill_from(&y)
    });
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let device = Device::cpu();
        let exe = compile(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.custom_call @test.exponential(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}",
            &device,
        );
        let x = vector(&[0.0, 0.5], &device);
        for _ in 0..20 {
            let called = exe.execute_and_wait(&[&x]).unwrap()[0].to_vec::<f32>().unwrap();
            let executed = exe.execute(&[&x]).unwrap()[0].to_vec::<f32>().unwrap();
            send.send([called, executed]).unwrap();
        }
    });
    for _ in 0..20 {
        let results = receive.recv_timeout(std::time::Duration::from_secs(60)).expect("no result");
        for result in results {
            assert!(result[0] == 1.0 && (result[1] - 1f32.exp()).abs() < 1e-6, "{result:?}");
        }
    }
}

#[test]
fn a_failed_check_is_the_error_of_the_execution_and_of_its_results() {
    let device = Device::cpu();
    let exe = compile(
        "func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_eq(%x, %0) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  return %x : tensor<2x2xf32>
}",
        &device,
    );
    let right = Tensor::from_vec(vec![1f32, 2.0, 3.0, 4.0], [2, 2], &device).unwrap();
    let execution = exe.submit(&[&right]).unwrap();
    execution.done.get().unwrap();
    assert_eq!(execution.results[0].to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let wrong = Tensor::from_vec(vec![1f32, 2.0, 5.0, 4.0], [2, 2], &device).unwrap();
    let execution = exe.submit(&[&wrong]).unwrap();
    let error = execution.done.get().unwrap_err().to_string();
    assert!(error.contains("element [1, 0] of f32[2, 2] is 5.0, expected 3.0"), "{error}");
    assert!(error.contains("check.expect_eq at program:3:"), "{error}");
    assert!(execution.results[0].to_vec::<f32>().is_err());
    assert_eq!(wrong.to_vec::<f32>().unwrap()[2], 5.0, "the argument is unchanged");
}

const COLLATZ: &str = "
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %steps = %zero) : tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare NE, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.remainder %i, %two : tensor<i32>
    %2 = \"stablehlo.case\"(%1) ({
      %4 = stablehlo.divide %i, %two : tensor<i32>
      stablehlo.return %4 : tensor<i32>
    }, {
      %4 = stablehlo.multiply %i, %three : tensor<i32>
      %5 = stablehlo.add %4, %one : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %3 = stablehlo.add %steps, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}";

#[test]
fn branches_in_loops() {
    let device = Device::cpu();
    let exe = compile(COLLATZ, &device);
    for (n, steps) in [(1, 0), (2, 1), (6, 8), (27, 111)] {
        let n = Tensor::scalar(n, &device);
        assert_eq!(exe.execute(&[&n]).unwrap()[0].item::<i32>().unwrap(), steps);
    }
}

#[test]
fn a_fault_at_any_step_of_a_loop_fails_its_result() {
    for launches in 0..40 {
        let (device, control) = crate::support::stepped::stepped_device();
        let exe = compile(COLLATZ, &device);
        let n = Tensor::from_vec(vec![6], [], &device).unwrap();
        control.fail_after(launches, "pulled the plug");
        let failed = exe.execute(&[&n]).unwrap().remove(0);
        let result = exe.execute(&[&n]).unwrap().remove(0);
        control.open();
        let outcome = failed.item::<i32>();
        match result.item::<i32>() {
            Ok(steps) => {
                assert_eq!(steps, 8);
                let error = outcome.unwrap_err().to_string();
                assert!(error.contains("pulled the plug"), "{error}");
            }
            // The first loop had already finished.
            Err(_) => return assert!(launches > 8 && outcome.unwrap() == 8),
        }
        control.check_freed();
    }
    panic!("a loop of eight iterations is no more than 40 launches");
}

#[test]
fn a_lost_device_ends_loops() {
    let (device, control) = crate::support::stepped::stepped_device();
    let exe = compile(COLLATZ, &device);
    let n = Tensor::from_vec(vec![27], [], &device).unwrap();
    let result = exe.execute(&[&n]).unwrap().remove(0);
    while control.held() == 0 {
        std::thread::yield_now();
    }
    (0..5).for_each(|_| assert!(control.step()));
    control.lose("unplugged");
    assert!(result.item::<i32>().unwrap_err().to_string().contains("unplugged"));
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("inflight-{}-{name}", std::process::id()))
}

#[test]
fn saved_executables_are_loaded() {
    let device = Device::cpu();
    let path = temporary("collatz.exe");
    compile(COLLATZ, &device).save(&path).unwrap();
    let loaded = Executable::load(&path, &device).unwrap();
    let n = Tensor::scalar(6, &device);
    assert_eq!(loaded.execute(&[&n]).unwrap()[0].item::<i32>().unwrap(), 8);
    let bytes = std::fs::read(&path).unwrap();
    let mut wrong: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "saved by Executable::save"),
        (COLLATZ.as_bytes().to_vec(), "saved by Executable::save"),
        (bytes[..20].to_vec(), "cut off"),
        (bytes[..bytes.len() - 1].to_vec(), "should follow"),
    ];
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    wrong.push((changed, "checksum"));
    let mut newer = bytes.clone();
    newer[16] = 200;
    wrong.push((newer, "version 200"));
    for (bytes, expected) in wrong {
        std::fs::write(&path, bytes).unwrap();
        let error = Executable::load(&path, &device).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn programs_are_explained_with_their_lines() {
    let explanation = Program::parse(COLLATZ).unwrap().explain().unwrap();
    let locations: Vec<String> = explanation
        .kernels
        .iter()
        .flat_map(|kernel| kernel.ops.iter())
        .map(|op| format!("{} {}", op.name, op.location))
        .collect();
    assert!(
        locations.iter().any(|location| location.starts_with("stablehlo.compare program:9:")),
        "{locations:?}"
    );
}

#[test]
fn a_scatter_with_repeated_indices_adds_every_update() {
    let device = Device::cpu();
    let exe = compile(
        "func.func @main(%x: tensor<1xi32>) -> tensor<1xi32> {
  %0 = stablehlo.constant dense<0> : tensor<37x1xi64>
  %1 = stablehlo.constant dense<2> : tensor<37xi32>
  %2 = \"stablehlo.scatter\"(%x, %0, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %3 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %3 : tensor<i32>
  }) : (tensor<1xi32>, tensor<37x1xi64>, tensor<37xi32>) -> tensor<1xi32>
  return %2 : tensor<1xi32>
}",
        &device,
    );
    let x = Tensor::from_vec(vec![1], [1], &device).unwrap();
    assert_eq!(exe.execute(&[&x]).unwrap()[0].to_vec::<i32>().unwrap(), [75]);
}

#[test]
fn a_saved_executable_contains_its_kernels() {
    // Separate devices without a disk cache: the compiled kernels can only come from the file.
    let device = Device::open_cpu(Default::default()).unwrap();
    let path = temporary("kernels.exe");
    let n = Tensor::scalar(27, &device);
    let exe = compile(COLLATZ, &device);
    exe.save(&path).unwrap();
    assert!(device.stats().compiles > 0);
    let other = Device::open_cpu(Default::default()).unwrap();
    let loaded = Executable::load(&path, &other).unwrap();
    let n_there = Tensor::scalar(n.item::<i32>().unwrap(), &other);
    assert_eq!(loaded.execute(&[&n_there]).unwrap()[0].item::<i32>().unwrap(), 111);
    let stats = other.stats();
    assert_eq!(stats.compiles, 0, "everything was compiled before it was saved");
    assert!(stats.loads > 0);
    let copy = temporary("kernels-copy.exe");
    loaded.save(&copy).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&copy).unwrap());
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&copy).unwrap();
}

#[test]
fn arguments_have_the_names_of_the_program() {
    let device = Device::cpu();
    let exe = compile(
        "func.func @main(%arg0: tensor<2xf32> loc(\"params['w']\"), %bias: tensor<f32>) -> tensor<2xf32> {
           return %arg0 : tensor<2xf32>
         }",
        &device,
    );
    let names: Vec<&str> = exe.arguments().iter().map(|argument| &*argument.name).collect();
    assert_eq!(names, ["params['w']", "bias"]);
    let wrong = Tensor::from_vec(vec![1f32; 3], [3], &device).unwrap();
    let message = exe.execute(&[&wrong, &wrong]).unwrap_err().to_string();
    assert!(message.contains("argument 0 (params['w']): expected f32[2]"), "{message}");
}

#[test]
fn unknown_operations_in_dynamic_programs_are_found_at_compilation() {
    let text = "func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = \"stablehlo.all_reduce\"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = \"stablehlo.nonsense\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = stablehlo.custom_call @unknown.call(%1) : (tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}";
    let device = Device::cpu();
    let message = device.compile(&Program::parse(text).unwrap()).unwrap_err().to_string();
    for expected in ["program:3:", "stablehlo.all_reduce", "program:5:", "stablehlo.nonsense"] {
        assert!(message.contains(expected), "{message}");
    }
    let text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.custom_call @unknown.call(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}";
    let message = device.compile(&Program::parse(text).unwrap()).unwrap_err().to_string();
    assert!(message.contains("program:3:") && message.contains("unknown.call"), "{message}");
}

#[test]
fn a_constant_of_another_type_does_not_match() {
    let device = Device::cpu();
    // The bits of `1.0` in another dtype, and a shape that a splat would match.
    for constant in ["dense<1065353216> : tensor<2xi32>", "dense<1.0> : tensor<3xf32>"] {
        let text = format!(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  stablehlo.custom_call @check.expect_eq_const(%x) {{has_side_effect = true, value = {constant}}} : (tensor<2xf32>) -> ()
  return %x : tensor<2xf32>
}}"
        );
        let program = Program::parse(&text).unwrap();
        let error = device.compile(&program).unwrap_err().to_string();
        assert!(error.contains("a constant of another type"), "{error}");
    }
}
