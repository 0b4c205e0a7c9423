//! Causal multi-head self-attention from matrix products, a mask and a softmax.
//! Run it with `cargo run -p inflight --example attention`.

use inflight::{Device, Result, Rng, Tensor, assert_close};

const BATCH: usize = 2;
const TOKENS: usize = 10;
const WIDTH: usize = 32;
const HEADS: usize = 4;

struct Attention {
    /// Queries, keys and values in one product: `[WIDTH, 3 · WIDTH]`.
    input: Tensor,
    output: Tensor,
}

impl Attention {
    fn new(rng: &mut Rng, device: &Device) -> Attention {
        let deviation = 1.0 / (WIDTH as f64).sqrt();
        Attention {
            input: rng.normal::<f32>(0.0, deviation, (WIDTH, 3 * WIDTH), device),
            output: rng.normal::<f32>(0.0, deviation, (WIDTH, WIDTH), device),
        }
    }

    /// `[batch, tokens, width]` to the same shape.
    fn forward(&self, x: &Tensor) -> Tensor {
        let (batch, tokens) = (x.shape()[0], x.shape()[1]);
        // [3, batch, heads, tokens, width of a head]
        let projected =
            x.matmul(&self.input).reshape((batch, tokens, 3, HEADS, -1)).permute((2, 0, 3, 1, 4));
        let [q, k, v] = [0, 1, 2].map(|i| projected.get(i));

        let scores = q.matmul(&k.transpose()) / ((WIDTH / HEADS) as f32).sqrt();
        let position = Tensor::arange(0..tokens as i64, x.device());
        let future = position.gt(position.unsqueeze(1)); // [tokens, tokens]
        let weights = scores.masked_fill(&future, f32::NEG_INFINITY).softmax(-1);

        let mixed = weights.matmul(&v).swap_dims(1, 2).reshape((batch, tokens, -1));
        mixed.matmul(&self.output)
    }
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut rng = Rng::new(11);
    let attention = Attention::new(&mut rng, &device);
    let x = rng.randn::<f32>((BATCH, TOKENS, WIDTH), &device);
    let y = attention.forward(&x);
    println!("{x:?} to {y:?}");
    assert_eq!(y.shape(), x.shape());

    // The first token sees itself only, so that its output is its value.
    let value = x.slice((.., 0)).matmul(&attention.input.slice((.., 2 * WIDTH..)));
    assert_close!(y.slice((.., 0)), value.matmul(&attention.output), 1e-4, 1e-5);

    // No token sees a later one: a change of the last leaves all others as they are.
    let changed = x.slice_assign((.., -1), 1);
    let z = attention.forward(&changed);
    assert_close!(z.slice((.., ..-1)), y.slice((.., ..-1)), 1e-6, 1e-6);
    assert!(!z.slice((.., -1)).all_close(y.slice((.., -1)), 1e-3, 1e-3)?);

    // Examples of a batch are independent.
    for (alone, together) in x.rows().zip(y.rows()) {
        assert_close!(attention.forward(&alone.unsqueeze(0)).squeeze(0), together, 1e-4, 1e-5);
    }
    Ok(())
}
