//! A polynomial fitted to noisy samples: the normal equations, solved with a Cholesky factor and two triangular solves.
//! Run it with `cargo run -p inflight --example least_squares`.

use inflight::{Device, Result, Rng, Tensor, TriangularOptions, assert_close};

/// `[x.len(), degree + 1]`: the powers of `x`, one in each column.
fn vandermonde(x: &Tensor, degree: usize) -> Tensor {
    Tensor::stack((0..=degree).map(|power| x.powi(power as i32)), 1)
}

/// Minimizes `|a · x - b|²`, for each column of `b`.
fn least_squares(a: &Tensor, b: &Tensor) -> Tensor {
    let normal = a.transpose().matmul(a);
    let factor = normal.cholesky(); // normal = factor · factorᵀ
    let y = factor.solve_triangular(&a.transpose().matmul(b), TriangularOptions::lower());
    factor.transpose().solve_triangular(&y, TriangularOptions::upper())
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut rng = Rng::new(3);
    let truth = Tensor::from_array([0.5, -2.0, 0.0, 3.0], &device).unsqueeze(1);
    let degree = truth.element_count() - 1;

    let x = Tensor::linspace(-1.0, 1.0, 200, &device);
    let a = vandermonde(&x, degree);
    let exact = a.matmul(&truth);
    let noisy = &exact + 0.05 * rng.randn::<f64>(exact.shape(), &device);

    // Two right-hand sides at once.
    let solutions = least_squares(&a, &Tensor::cat([&exact, &noisy], 1));
    println!("coefficients from exact and from noisy samples:\n{solutions:.4}");
    assert_close!(solutions.slice((.., 0)), truth.squeeze(1), 1e-9, 1e-9);
    assert_close!(solutions.slice((.., 1)), truth.squeeze(1), 0.0, 0.05);

    // At the minimum, the residual is orthogonal to every column of `a`.
    let residual = a.matmul(&solutions) - Tensor::cat([&exact, &noisy], 1);
    assert_close!(a.transpose().matmul(&residual).abs().max_all(), 0.0, 0.0, 1e-9);
    let deviation = residual.slice((.., 1)).std_all(0).item::<f64>()?;
    println!("standard deviation of the noise: {deviation:.4}");
    assert!((deviation - 0.05).abs() < 0.01);
    Ok(())
}
