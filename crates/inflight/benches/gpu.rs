//! What a GPU does with its memory. `cargo bench -p inflight --bench gpu -- [cuda:0]`, or the binary of
//! `cargo xtask bundle` on a machine without a toolchain; `bench/peers/gpu.py` has the same rows of others.
//!
//! Calls are queued back to back and timed together; throughput counts useful bytes, each input read once and
//! each output written once, or useful operations. Every row is checked against the CPU on a part of its
//! result.

use inflight::{DType, Device, Result, Tensor};
use std::time::Instant;

/// Rows and columns of the large matrices.
const ROWS: usize = 16384;
const COLUMNS: usize = 4096;

/// Calls that are timed together, and how often that is done.
const CALLS: usize = 30;
const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let name = std::env::args().skip(1).find(|name| name.starts_with("cuda:"));
    let ordinal = name.as_deref().unwrap_or("cuda:0")["cuda:".len()..].parse().unwrap_or(0);
    let device = match Device::cuda(ordinal) {
        Ok(device) => device,
        Err(error) => {
            println!("SKIPPED: {error}");
            return Ok(());
        }
    };
    println!("{}, {}", device.capabilities().name, device.capabilities().target);
    let cpu = Device::cpu();
    let x = matrix(ROWS, COLUMNS, &device)?;
    let y = matrix(ROWS, COLUMNS, &device)?;
    let square = matrix(8192, 8192, &device)?;
    let gain = matrix(1, COLUMNS, &device)?.reshape([COLUMNS]);
    let gain = &gain + 0.0;
    gain.wait()?;
    let bytes = ROWS * COLUMNS * 4;

    let chain = |x: &Tensor| {
        (((x + 1.0) * 2.0 - 3.0).abs() * 0.5 + x).maximum(0.1).minimum(2.0) * 3.0 - 1.0
    };
    row("chain of 9 ops", &x, &cpu, 2 * bytes, chain)?;
    row("gelu (tanh)", &x, &cpu, 2 * bytes, Tensor::gelu_tanh)?;
    row("softmax", &x, &cpu, 2 * bytes, |x| x.softmax(1))?;
    row("layer norm", &x, &cpu, 2 * bytes, |x| x.layer_norm([1], None, None, 1e-5))?;
    row("row sum", &x, &cpu, bytes, |x| x.sum_axes([1]))?;
    row("column sum", &x, &cpu, bytes, |x| x.sum_axes([0]))?;
    row("sum of all", &x, &cpu, bytes, |x| x.sum())?;
    time("x + y", 3 * bytes, "GB/s", || &x + &y)?;
    row("transpose + add", &square, &cpu, 2 * 8192 * 8192 * 4, |x| x.transpose() + x)?;
    let scaled = |x: &Tensor| x * &gain;
    time("x * row", 2 * bytes, "GB/s", || scaled(&x))?;

    let a = square.cast(DType::BF16);
    let b = (&square * 0.5).cast(DType::BF16);
    a.wait()?;
    b.wait()?;
    let operations = 2 * 8192usize.pow(3);
    time("bf16 matmul 8192", operations, "GFLOP/s", || a.matmul(&b))?;
    let bias = matrix(1, 8192, &device)?.cast(DType::BF16);
    bias.wait()?;
    time("bf16 matmul + bias + gelu", operations, "GFLOP/s", || {
        (a.matmul(&b) + &bias).gelu_tanh()
    })?;
    small_calls(&device)?;
    Ok(())
}

fn matrix(rows: usize, columns: usize, device: &Device) -> Result<Tensor> {
    let data = (0..rows * columns).map(|i| ((i * 37) % 1009) as f32 / 500.0 - 1.0).collect();
    let tensor = Tensor::from_vec(data, [rows, columns], device)?;
    tensor.wait()?;
    Ok(tensor)
}

/// Times a function of one tensor, after its result on a few rows was compared with the CPU's.
fn row(
    name: &str,
    x: &Tensor,
    cpu: &Device,
    bytes: usize,
    f: impl Fn(&Tensor) -> Tensor,
) -> Result<()> {
    let part = x.slice(0..64).to_device(cpu);
    let expected = f(&part);
    if expected.shape().rank() == 2 && expected.shape()[0] == 64 {
        let found = f(&x.slice(0..64)).to_vec::<f32>()?;
        let largest = found
            .iter()
            .zip(expected.to_vec::<f32>()?)
            .map(|(a, b)| (a - b).abs() / b.abs().max(1.0))
            .fold(0.0, f32::max);
        assert!(largest < 1e-4, "{name} is off by {largest}");
    }
    time(name, bytes, "GB/s", || f(x))
}

fn time(name: &str, units: usize, unit: &str, f: impl Fn() -> Tensor) -> Result<()> {
    for _ in 0..3 {
        f().wait()?;
    }
    let mut rounds: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut last = None;
        for _ in 0..CALLS {
            let result = f();
            // Submits it.
            result.is_ready();
            last = Some(result);
        }
        last.expect("there were calls").wait()?;
        rounds.push(start.elapsed().as_secs_f64() / CALLS as f64);
    }
    rounds.sort_by(f64::total_cmp);
    let median = rounds[ROUNDS / 2];
    println!("{name:28} {:9.3} ms {:9.0} {unit}", median * 1e3, units as f64 / median / 1e9);
    Ok(())
}

/// A thousand small calls, each of which needs the one before and is submitted by itself.
fn small_calls(device: &Device) -> Result<()> {
    let mut rounds: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let mut x = Tensor::zeros::<f32>([1024], device);
        x.wait()?;
        let start = Instant::now();
        for _ in 0..1000 {
            x = &x + 1.0;
            x.is_ready();
        }
        x.wait()?;
        rounds.push(start.elapsed().as_secs_f64() / 1000.0);
        assert_eq!(x.to_vec::<f32>()?, vec![1000.0; 1024]);
    }
    rounds.sort_by(f64::total_cmp);
    println!("{:28} {:9.2} us", "1000 dependent small adds", rounds[ROUNDS / 2] * 1e6);
    Ok(())
}
