//! Elementwise workloads.

use super::super::work::{Amount, Call, Input, Values, Work, one};
use super::{count, words};
use inflight::Tensor;

/// Element counts: larger than the cache, and in cache.
const SIZES: [usize; 2] = [16 << 20, 64 << 10];

/// Parameter tensors of an Adam step, and the elements of each.
const PARAMETERS: usize = 20;
const PARAMETER: usize = 1 << 20;

pub fn works() -> Vec<Work> {
    let mut works = Vec::new();
    for elements in SIZES {
        works.push(unary("a·x + b", "scale_shift", elements, |x| &x[0] * 1.5 + 0.5));
        works.push(unary("10-op chain", "chain", elements, |x| chain(&x[0])));
        works.push(unary("tanh GELU", "gelu", elements, |x| x[0].gelu_tanh()));
    }
    works.push(adam());
    works.push(Work {
        name: "a call, read",
        amount: Amount::Call,
        read: true,
        ..unary("", "scale_shift", 4 << 10, |x| &x[0] * 1.5 + 0.5)
    });
    works
}

/// One operand, one result of its shape.
fn unary(
    name: &'static str,
    function: &'static str,
    elements: usize,
    f: fn(&[Tensor]) -> Tensor,
) -> Work {
    Work {
        name,
        function,
        size: count(elements),
        inputs: vec![Input::new([elements]).with(Values::Between(-4.0, 4.0))],
        amount: Amount::Bytes { read: words(elements), written: words(elements) },
        read: false,
        tolerance: 1e-6,
        ours: one(f),
    }
}

fn chain(x: &Tensor) -> Tensor {
    let y = ((x + 1.0) * 2.0 - 3.0).abs() * 0.5 + x;
    y.maximum(0.1).minimum(2.0) * 3.0 - 1.0
}

/// A step of Adam on many tensors, with state from call to call, as in training.
fn adam() -> Work {
    let positive = || Input::new([PARAMETER]).with(Values::Between(0.0, 1.0));
    let plain = || Input::new([PARAMETER]);
    // Parameter, gradient, mean, mean square.
    let inputs = (0..PARAMETERS).flat_map(|_| [plain(), plain(), plain(), positive()]).collect();
    let elements = PARAMETERS * PARAMETER;
    Work {
        name: "Adam step",
        function: "adam",
        size: format!("{PARAMETERS} of {}", count(PARAMETER)),
        inputs,
        amount: Amount::Bytes { read: words(4 * elements), written: words(3 * elements) },
        read: false,
        // torch.compile computes 1 − β₂ᵗ in f32, where it is off by 5e-5 in the first step.
        tolerance: 1e-5,
        ours: Box::new(adam_steps),
    }
}

fn adam_steps(mut tensors: Vec<Tensor>) -> Call {
    let (beta1, beta2) = (0.9f64, 0.999f64);
    let mut step = 0;
    Box::new(move || {
        step += 1;
        let scale = 1e-3 / (1.0 - beta1.powi(step));
        let correction = 1.0 / (1.0 - beta2.powi(step)).sqrt();
        for state in tensors.chunks_exact_mut(4) {
            let [parameter, gradient, mean, square] = state else { unreachable!("chunks of 4") };
            *mean = &*mean * beta1 + &*gradient * (1.0 - beta1);
            *square = &*square * beta2 + gradient.square() * (1.0 - beta2);
            *parameter = &*parameter - &*mean * scale / (square.sqrt() * correction + 1e-8);
        }
        // Parameters first: they are compared.
        let updated = [0, 2, 3].into_iter().flat_map(|part| tensors.iter().skip(part).step_by(4));
        updated.cloned().collect()
    })
}
