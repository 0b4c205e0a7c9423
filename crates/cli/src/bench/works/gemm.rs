//! GEMM workloads: matmul with epilogues, MLP, attention.

use super::super::work::{Amount, Input, Work, one};
use super::extents;
use inflight::Tensor;

pub fn works() -> Vec<Work> {
    let mut works: Vec<Work> =
        [[1024, 1024, 1024], [256, 256, 256], [64, 784, 256]].map(matmul).into();
    works.push(matmul_bias_gelu([512, 768, 3072]));
    works.push(mlp([64, 784, 256, 10]));
    works.push(attention("attention", "attention", |x| attended(x, false)));
    works.push(attention("causal attention", "causal_attention", |x| attended(x, true)));
    works
}

fn matmul([m, k, n]: [usize; 3]) -> Work {
    Work {
        name: "matmul",
        function: "matmul",
        size: extents(&[m, k, n]),
        inputs: vec![Input::new([m, k]), Input::new([k, n])],
        amount: Amount::Operations(2 * m * k * n),
        read: false,
        tolerance: 1e-5,
        ours: one(|x| x[0].matmul(&x[1])),
    }
}

fn matmul_bias_gelu([m, k, n]: [usize; 3]) -> Work {
    Work {
        name: "matmul + bias + GELU",
        function: "matmul_bias_gelu",
        inputs: vec![Input::new([m, k]), Input::new([k, n]), Input::new([n])],
        ours: one(|x| (x[0].matmul(&x[1]) + &x[2]).gelu_tanh()),
        ..matmul([m, k, n])
    }
}

fn mlp([batch, inner, hidden, outer]: [usize; 4]) -> Work {
    Work {
        name: "MLP forward",
        function: "mlp",
        size: format!("{batch}×{inner}→{hidden}→{outer}"),
        inputs: vec![
            Input::new([batch, inner]),
            Input::new([inner, hidden]),
            Input::new([hidden]),
            Input::new([hidden, outer]),
            Input::new([outer]),
        ],
        amount: Amount::Operations(2 * batch * (inner * hidden + hidden * outer)),
        read: false,
        tolerance: 1e-5,
        ours: one(|x| (x[0].matmul(&x[1]) + &x[2]).relu().matmul(&x[3]) + &x[4]),
    }
}

/// Batches, heads, positions, and the elements of a position in a head.
const ATTENTION: [usize; 4] = [4, 8, 512, 64];

fn attention(name: &'static str, function: &'static str, f: fn(&[Tensor]) -> Tensor) -> Work {
    let [batch, heads, length, depth] = ATTENTION;
    Work {
        name,
        function,
        size: format!("B {batch} H {heads} T {length} D {depth}"),
        inputs: (0..3).map(|_| Input::new(ATTENTION)).collect(),
        // All positions count, also with a causal mask.
        amount: Amount::Operations(4 * batch * heads * length * length * depth),
        read: false,
        tolerance: 1e-5,
        ours: one(f),
    }
}

fn attended(x: &[Tensor], causal: bool) -> Tensor {
    let (q, k, v) = (&x[0], &x[1], &x[2]);
    let [.., length, depth] = ATTENTION;
    let mut scores = q.matmul(&k.swap_dims(2, 3)) * (1.0 / (depth as f64).sqrt());
    if causal {
        let position = |axis| Tensor::iota::<i32>(axis, [length, length], q.device());
        scores = position(0).ge(position(1)).where_cond(&scores, f32::NEG_INFINITY);
    }
    scores.softmax(3).matmul(v)
}
