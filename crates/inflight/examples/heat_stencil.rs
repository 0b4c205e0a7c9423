//! The heat equation on a square plate: a five-point stencil of slices, written back with `slice_assign`.
//! Run it with `cargo run -p inflight --example heat_stencil`.

use inflight::{Device, Result, Slice, Tensor, assert_close};
use std::f64::consts::PI;

/// Points along each side, the border included.
const SIDE: usize = 33;
const STEPS: usize = 100;
/// The time step times the diffusivity over the squared distance of two points. Beyond 1/4 the scheme is unstable.
const RATE: f64 = 0.2;
/// All indices but the first and the last. The range `1..-1` is the same, but clippy takes it for an empty one.
const INSIDE: Slice = Slice::new(1, -1);

/// One explicit Euler step. The border keeps its temperature.
fn step(u: &Tensor) -> Tensor {
    let inside = u.slice((INSIDE, INSIDE));
    let neighbors = u.slice((..-2, INSIDE))
        + u.slice((2.., INSIDE))
        + u.slice((INSIDE, ..-2))
        + u.slice((INSIDE, 2..));
    let next = &inside + RATE * (neighbors - 4 * &inside);
    u.slice_assign((INSIDE, INSIDE), next)
}

fn main() -> Result<()> {
    let device = Device::cpu();

    // sin(πx) · sin(πy) keeps its shape, and each step multiplies it by the same factor.
    let wave = (Tensor::linspace(0.0, 1.0, SIDE, &device) * PI).sin();
    let initial = wave.unsqueeze(1) * &wave;
    let mut u = initial.clone();
    for _ in 0..STEPS {
        u = step(&u);
    }
    let factor = 1.0 - 4.0 * RATE * (1.0 - (PI / (SIDE - 1) as f64).cos());
    assert_close!(u, initial * factor.powi(STEPS as i32), 1e-9, 1e-12);

    // A plate with one hot side.
    let cold = Tensor::zeros::<f64>((SIDE, SIDE), &device);
    let mut u = cold.slice_assign(0, 100);
    for _ in 0..STEPS {
        u = step(&u);
    }
    let middle = u.slice((.., SIDE / 2));
    println!("from the hot side to the cold one: {:.1}", middle.slice(..8));
    let falling = middle.slice(1..).le(middle.slice(..-1)).all_all();
    assert!(falling.item::<bool>()?);
    // The plate and its temperatures are the same from left to right and from right to left.
    assert_close!(u, u.flip(1));
    Ok(())
}
