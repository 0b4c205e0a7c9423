//! Microbenchmarks of recording, submission and fused kernels: `cargo bench -p inflight`.
//!
//! Throughput counts useful bytes: each input read once, each output written once.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use inflight::{Device, Tensor};

fn main() {
    divan::main();
}

fn ramp(shape: &[usize]) -> Tensor {
    let elements = shape.iter().product::<usize>();
    let data = (0..elements).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
    Tensor::from_vec(data, shape, &Device::cpu()).expect("the data fills the shape")
}

/// Times `f` on a materialized input until its result is in memory.
fn run(bencher: Bencher, shape: &[usize], bytes: usize, f: impl Fn(&Tensor) -> Tensor + Sync) {
    let x = ramp(shape);
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| f(black_box(&x)).wait().expect("the value is computed"));
}

mod overhead {
    use super::*;

    /// Recording one op. The result is dropped before anything is submitted.
    #[divan::bench]
    fn record_one_op(bencher: Bencher) {
        let x = ramp(&[1024]);
        let y = ramp(&[1024]);
        bencher.bench_local(|| black_box(&x) + black_box(&y));
    }

    /// Submitting a segment of one cached kernel on 1,024 elements, until it is done.
    #[divan::bench]
    fn submit_to_done(bencher: Bencher) {
        let x = ramp(&[1024]);
        let y = ramp(&[1024]);
        bencher
            .with_inputs(|| &x + &y)
            .bench_local_values(|sum| sum.wait().expect("the value is computed"));
    }

    /// Record, submit, run and read 4 Ki elements.
    #[divan::bench]
    fn call_4ki(bencher: Bencher) {
        let x = ramp(&[4096]);
        bencher.bench_local(|| (&x * 2.0 + 1.0).to_vec::<f32>().expect("the value is computed"));
    }
}

/// Element counts: in cache, and larger than the cache.
const SIZES: [usize; 2] = [64 << 10, 16 << 20];

#[divan::bench(args = SIZES)]
fn chain(bencher: Bencher, elements: usize) {
    run(bencher, &[elements], 8 * elements, |x| {
        (((x + 1.0) * 2.0 - 3.0).abs() * 0.5 + x).maximum(0.1).minimum(2.0) * 3.0 - 1.0
    });
}

#[divan::bench(args = SIZES)]
fn gelu(bencher: Bencher, elements: usize) {
    run(bencher, &[elements], 8 * elements, Tensor::gelu_tanh);
}

/// Rows and columns: in cache, and larger than the cache.
const MATRICES: [(usize, usize); 2] = [(64, 1024), (4096, 1024)];

#[divan::bench(args = MATRICES)]
fn softmax(bencher: Bencher, (rows, columns): (usize, usize)) {
    run(bencher, &[rows, columns], 8 * rows * columns, |x| x.softmax(1));
}

#[divan::bench(args = MATRICES)]
fn layer_norm(bencher: Bencher, (rows, columns): (usize, usize)) {
    let (weight, bias) = (ramp(&[columns]), ramp(&[columns]));
    run(bencher, &[rows, columns], 8 * rows * columns, |x| {
        x.layer_norm([1], Some(&weight), Some(&bias), 1e-5)
    });
}

#[divan::bench(args = MATRICES)]
fn row_sum(bencher: Bencher, (rows, columns): (usize, usize)) {
    run(bencher, &[rows, columns], 4 * rows * columns, |x| x.sum([1]));
}

#[divan::bench(args = MATRICES)]
fn column_sum(bencher: Bencher, (rows, columns): (usize, usize)) {
    run(bencher, &[rows, columns], 4 * rows * columns, |x| x.sum([0]));
}

#[divan::bench(args = [256, 2048])]
fn transpose_add(bencher: Bencher, n: usize) {
    run(bencher, &[n, n], 8 * n * n, |x| x + x.transpose());
}

#[divan::bench(args = [(1024, 1024, 1024), (256, 256, 256), (64, 784, 256)])]
fn matmul(bencher: Bencher, (m, k, n): (usize, usize, usize)) {
    let (a, b) = (ramp(&[m, k]), ramp(&[k, n]));
    bencher
        .counter(divan::counter::ItemsCount::new(2 * m * n * k))
        .bench_local(|| black_box(&a).matmul(&b).wait().expect("the value is computed"));
}
