//! Chained executions of a training step exported from JAX.

use inflight::{Device, Pending, Program, SyncGuard, Tensor};

const STEP: &str = include_str!("../../../../../programs/digits_step.mlir");

/// Number of state tensors: weights, biases, their moments, and the step counter.
const STATE: usize = 13;

#[test]
fn a_hundred_steps_in_flight_with_the_loss_read_a_step_late() {
    let device = Device::cpu();
    let step = device.compile(&Program::parse(STEP).unwrap()).unwrap();
    let extents = |index: usize| -> Vec<usize> {
        step.arguments()[index].extents.iter().map(|extent| extent.unwrap()).collect()
    };
    let mut state: Vec<Tensor> = (0..STATE)
        .map(|index| match index {
            0 | 2 => Tensor::randn::<f32>(0.0, 0.1, extents(index), index as u64, &device),
            _ => Tensor::zeros_with_dtype(extents(index), step.arguments()[index].dtype, &device),
        })
        .collect();
    // The label of an image determines the position of its bright pixels.
    let labels: Vec<i32> = (0..64).map(|index| index % 10).collect();
    let pixels = labels
        .iter()
        .flat_map(|&label| (0..64).map(move |pixel| if pixel % 10 == label { 1f32 } else { 0.1 }));
    let images = Tensor::from_vec(pixels.collect(), [64, 64], &device).unwrap();
    let labels = Tensor::from_vec(labels, [64], &device).unwrap();
    let mut losses = Vec::new();
    let mut last: Option<Pending<f32>> = None;
    // Compute the recorded initial weights before counting.
    state.iter().for_each(|tensor| tensor.wait().unwrap());
    let before = device.stats();
    for _ in 0..100 {
        let mut inputs: Vec<&Tensor> = state.iter().collect();
        inputs.extend([&images, &labels]);
        let mut results = {
            // No execution may wait, except for back-pressure.
            let _guard = SyncGuard::deny();
            step.execute(&inputs).unwrap()
        };
        let loss = results.pop().unwrap().item_async();
        if let Some(last) = last.replace(loss) {
            losses.push(last.get().unwrap());
        }
        state = results;
    }
    losses.push(last.unwrap().get().unwrap());
    assert_eq!(losses.len(), 100);
    assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
    assert!(losses[0] > 1.5 && losses[99] < 0.2 * losses[0], "{} to {}", losses[0], losses[99]);
    let rising = losses.windows(2).filter(|pair| pair[1] > pair[0]).count();
    assert!(rising < 10, "the loss rose {rising} times");
    let stats = device.stats().since(&before);
    assert_eq!(stats.compiles, 0, "compilation happened before the first step");
    assert_eq!(state[STATE - 1].item::<i32>().unwrap(), 100);
}
