//! A StableHLO program from its text to its results: parse, compile once, execute often, await.
//! Run it with `cargo run -p inflight --example stablehlo_program`.

use inflight::{Device, Program, Result, Rng, Tensor, assert_close};

/// One step of gradient descent on the mean squared error of a linear model: new weights, and the loss.
const STEP: &str = r#"
func.func public @main(%w: tensor<3xf32>, %x: tensor<64x3xf32>, %y: tensor<64xf32>)
    -> (tensor<3xf32>, tensor<f32>) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x3xf32>, tensor<3xf32>) -> tensor<64xf32>
  %e = stablehlo.subtract %p, %y : tensor<64xf32>
  %g = stablehlo.dot_general %e, %x, contracting_dims = [0] x [0]
    : (tensor<64xf32>, tensor<64x3xf32>) -> tensor<3xf32>
  %rate = stablehlo.constant dense<0.01> : tensor<3xf32>
  %change = stablehlo.multiply %g, %rate : tensor<3xf32>
  %next = stablehlo.subtract %w, %change : tensor<3xf32>
  %squares = stablehlo.dot_general %e, %e, contracting_dims = [0] x [0]
    : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
  %n = stablehlo.constant dense<6.400000e+01> : tensor<f32>
  %loss = stablehlo.divide %squares, %n : tensor<f32>
  return %next, %loss : tensor<3xf32>, tensor<f32>
}
"#;

async fn train(device: &Device) -> Result<()> {
    let program = Program::parse(STEP)?;
    let step = device.compile(&program)?;
    let names: Vec<&str> = step.arguments().iter().map(|argument| argument.name.as_str()).collect();
    println!("the program takes {} and has {} results", names.join(", "), step.results().len());

    let truth = Tensor::from_array([2.0f32, -1.0, 0.5], device);
    let x = Rng::new(2).randn::<f32>((64, 3), device);
    let y = x.matmul(&truth);
    let mut w = truth.zeros_like();
    let mut losses = Vec::new();
    for _ in 0..30 {
        // Returns at once: the results are tensors in flight, and the next step takes them as they are.
        let [next, loss] = step.execute(&[&w, &x, &y])?.try_into().unwrap();
        losses.push(loss);
        w = next;
    }
    let w = w.await?; // suspends this task, not its thread
    println!("weights {w}");
    assert_close!(w, truth, 0.0, 1e-2);
    let losses = Tensor::stack(losses, 0).to_vec_async::<f32>().await?;
    println!("loss {:.2e} in the first step, {:.2e} in the last", losses[0], losses[29]);
    assert!(losses.is_sorted_by(|earlier, later| earlier > later));
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::cpu();
    pollster::block_on(train(&device))?;

    // What is wrong with a program is an error with its line and column.
    let wrong = STEP.replace("stablehlo.divide", "stablehlo.divvy");
    let error = Program::parse(&wrong).and_then(|program| device.compile(&program)).unwrap_err();
    println!("{error}");
    assert!(error.to_string().contains("divvy"));
    Ok(())
}
