//! Single-threaded benchmarks of emitted code: run with `--release -- --ignored --nocapture emit_speed`.

use super::reductions::{layer_norm, softmax};
use super::*;
use inflight_ir::kernel::VectorAxis::{Parallel, Reduced};
use std::hint::black_box;
use std::time::Instant;

/// Minimum time over several runs, in nanoseconds.
fn min_time_ns(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    let once = start.elapsed().as_secs_f64();
    let repeats = (5e-4 / once).clamp(1.0, 1e5) as usize;
    let mut best = f64::MAX;
    for _ in 0..40 {
        let start = Instant::now();
        for _ in 0..repeats {
            run();
        }
        best = best.min(start.elapsed().as_secs_f64() / repeats as f64);
    }
    best * 1e9
}

/// A buffer at a cache-line aligned address, as the runtime allocates them.
struct Aligned {
    lines: Vec<[u64; 8]>,
    skip: usize,
}

impl Aligned {
    fn new(bytes: &[u8]) -> Aligned {
        let mut lines = vec![[0u64; 8]; bytes.len() / 64 + 2];
        let start = lines.as_mut_ptr().cast::<u8>();
        let skip = start.align_offset(64);
        // SAFETY: the allocation has two more lines than the bytes need.
        unsafe { start.add(skip).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Aligned { lines, skip }
    }

    fn start(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast::<u8>().wrapping_add(self.skip)
    }
}

fn report(name: &str, b: &Builder, elements: usize) {
    let mut line = format!("{name:34} {elements:>9}");
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
        let code = match compile(&b.kernel, isa) {
            Ok(code) => code,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let compiling = min_time_ns(|| {
            black_box(compile(&b.kernel, isa)).expect("the kernel compiles");
        });
        let mut buffers: Vec<Aligned> =
            b.buffers(1).iter().map(|bytes| Aligned::new(bytes)).collect();
        let pointers: Vec<*mut u8> = buffers.iter_mut().map(Aligned::start).collect();
        let call = Call { buffers: &pointers, scalars: &[], shape: &b.shape };
        let part = whole_launch(&b.shape, b.kernel.grid_rank);
        let mut scratch = Scratch::default();
        // SAFETY: the access maps stay inside the buffers, and the instruction set is present.
        let running = min_time_ns(|| unsafe { code.run(&call, &part, &mut scratch) });
        line += &format!(
            " | {:>7} {:7.4} ns/element {:5.1} us to compile {:5} bytes",
            format!("{isa:?}"),
            running / elements as f64,
            compiling / 1e3,
            code.bytes().len(),
        );
    }
    println!("{line}");
}

fn chain(count: usize) -> Builder {
    let mut b = Builder::flat(count);
    let (mut x, y) = (b.load(DType::F32, 0, &[1]), b.load(DType::F32, 0, &[1]));
    for index in 0..5 {
        let c = b.constant(1.0 + index as f32);
        x = b.binary(BinaryOp::Mul, x, y);
        x = b.binary(BinaryOp::Add, x, c);
    }
    b.store(x, 0, &[1]);
    b
}

fn gelu(count: usize) -> Builder {
    let mut b = Builder::flat(count);
    let x = b.load(DType::F32, 0, &[1]);
    let root = b.constant(std::f32::consts::FRAC_1_SQRT_2);
    let scaled = b.binary(BinaryOp::Mul, x, root);
    let erf = b.unary(UnaryOp::Erf, scaled);
    let one = b.constant(1f32);
    let sum = b.binary(BinaryOp::Add, erf, one);
    let half = b.constant(0.5f32);
    let halved = b.binary(BinaryOp::Mul, x, half);
    let y = b.binary(BinaryOp::Mul, halved, sum);
    b.store(y, 0, &[1]);
    b
}

fn unary(op: UnaryOp, count: usize) -> Builder {
    let mut b = Builder::flat(count);
    let x = b.load(DType::F32, 0, &[1]);
    let y = b.unary(op, x);
    b.store(y, 0, &[1]);
    b
}

#[test]
#[ignore = "a benchmark"]
fn emit_speed() {
    for count in [16, 1 << 12, 1 << 16, 1 << 20, 1 << 24] {
        let mut b = Builder::flat(count);
        let (x, y) = (b.load(DType::F32, 0, &[1]), b.load(DType::F32, 0, &[1]));
        let z = b.binary(BinaryOp::Add, x, y);
        b.store(z, 0, &[1]);
        report("a + b", &b, count);
        report("10-op chain", &chain(count), count);
        report("gelu (erf)", &gelu(count), count);
        report("exp", &unary(UnaryOp::Exp, count), count);
        report("tanh", &unary(UnaryOp::Tanh, count), count);
        report("sin", &unary(UnaryOp::Sin, count), count);
    }
    for (rows, columns) in
        [(64, 1024), (1024, 1024), (4000, 1000), (16384, 64), (64, 100_000), (100_000, 10)]
    {
        let (elements, c) = (rows * columns, columns as isize);
        let shape = format!("{rows} x {columns}");
        let mut b = Builder::new(&[rows], &[], (Reduced, columns));
        softmax(&mut b, &[c, 1], &[1, 0]);
        report(&format!("softmax of rows {shape}"), &b, elements);
        let mut b = Builder::new(&[rows], &[], (Reduced, columns));
        layer_norm(&mut b, &[c, 1], &[0, 1], columns);
        report(&format!("layer norm of rows {shape}"), &b, elements);
        let mut b = Builder::new(&[rows], &[], (Reduced, columns));
        let x = b.load(DType::F32, 0, &[c, 1]);
        let sum = b.reduce(CombineOp::Sum, x);
        b.store(sum, 0, &[1, 0]);
        report(&format!("sum of rows {shape}"), &b, elements);
        let mut b = Builder::new(&[rows], &[], (Reduced, columns));
        let x = b.load(DType::F32, 0, &[c, 1]);
        let maximum = b.reduce(CombineOp::Max, x);
        b.store(maximum, 0, &[1, 0]);
        report(&format!("max of rows {shape}"), &b, elements);
        let mut b = Builder::new(&[], &[rows], (Parallel, columns));
        let x = b.load(DType::F32, 0, &[c, 1]);
        let sum = b.reduce(CombineOp::Sum, x);
        b.store(sum, 0, &[0, 1]);
        report(&format!("sum of columns {shape}"), &b, elements);
        let mut b = Builder::new(&[columns], &[], (Parallel, rows));
        let x = b.load(DType::F32, 0, &[1, c]);
        b.store(x, 0, &[rows as isize, 1]);
        report(&format!("transpose {shape}"), &b, elements);
        let mut b = Builder::new(&[rows], &[], (Parallel, columns));
        let x = b.load(DType::F32, 0, &[c, 1]);
        let bias = b.load(DType::F32, 0, &[0, 1]);
        let y = b.binary(BinaryOp::Add, x, bias);
        b.store(y, 0, &[c, 1]);
        report(&format!("bias {shape}"), &b, elements);
    }
}

#[cfg(target_arch = "x86_64")]
mod intrinsics {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(super) fn chain(x: &[f32], y: &[f32], out: &mut [f32]) {
        for ((x, y), out) in
            x.chunks_exact(16).zip(y.chunks_exact(16)).zip(out.chunks_exact_mut(16))
        {
            // SAFETY: sixteen elements each.
            unsafe {
                let (mut a, b) = (_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(y.as_ptr()));
                for index in 0..5 {
                    a = _mm512_mul_ps(a, b);
                    a = _mm512_add_ps(a, _mm512_set1_ps(1.0 + index as f32));
                }
                _mm512_storeu_ps(out.as_mut_ptr(), a);
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn sum(x: &[f32]) -> f32 {
        let mut totals = [_mm512_setzero_ps(); 8];
        for chunk in x.chunks_exact(128) {
            for (index, total) in totals.iter_mut().enumerate() {
                // SAFETY: 128 elements.
                *total = _mm512_add_ps(*total, unsafe {
                    _mm512_loadu_ps(chunk.as_ptr().add(16 * index))
                });
            }
        }
        totals.into_iter().map(|total| _mm512_reduce_add_ps(total)).sum()
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn columns(x: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        for row in x.chunks_exact(out.len()) {
            for (x, out) in row.chunks_exact(16).zip(out.chunks_exact_mut(16)) {
                // SAFETY: sixteen elements each.
                unsafe {
                    let sum =
                        _mm512_add_ps(_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(out.as_ptr()));
                    _mm512_storeu_ps(out.as_mut_ptr(), sum);
                }
            }
        }
    }
}

#[test]
#[ignore = "a benchmark"]
#[cfg(target_arch = "x86_64")]
fn intrinsics_baseline_speed() {
    if !Isa::Avx512.is_present() {
        return;
    }
    for count in [1 << 12, 1 << 16, 1 << 20, 1 << 24] {
        let (x, y) = (vec![0.5f32; count], vec![0.25f32; count]);
        let mut out = vec![0f32; count];
        // SAFETY: AVX-512 is present.
        let time = min_time_ns(|| unsafe { intrinsics::chain(black_box(&x), &y, &mut out) });
        println!("chain with intrinsics {count}: {:.4} ns/element", time / count as f64);
        // SAFETY: AVX-512 is present.
        let time = min_time_ns(|| unsafe {
            for row in black_box(&x).chunks_exact(1024) {
                black_box(intrinsics::sum(row));
            }
        });
        println!(
            "sum of rows of 1024 with intrinsics {count}: {:.4} ns/element",
            time / count as f64
        );
        // SAFETY: AVX-512 is present.
        let time = min_time_ns(|| unsafe { intrinsics::columns(black_box(&x), &mut out[..1024]) });
        println!(
            "sum of 1024 columns with intrinsics {count}: {:.4} ns/element",
            time / count as f64
        );
    }
}

#[test]
#[ignore = "a benchmark"]
fn emit_compile_breakdown() {
    use crate::emit::{
        argument_layout::ArgumentLayout, executable_memory::ExecutableMemory, loop_nest,
    };
    for (name, b) in [("chain", chain(64)), ("gelu", gelu(64)), ("sin", unary(UnaryOp::Sin, 64))] {
        let expanded = expand(&b.kernel);
        let schedule = inflight_ir::kernel::schedule(&expanded);
        let layout = ArgumentLayout::new(&expanded, &schedule, Isa::Avx512);
        let expanding = min_time_ns(|| drop(black_box(expand(&b.kernel))));
        let scheduling = min_time_ns(|| drop(black_box(inflight_ir::kernel::schedule(&expanded))));
        let emitting = min_time_ns(|| {
            let _ = black_box(loop_nest::emit_kernel(
                &expanded,
                &schedule,
                &layout,
                Isa::Avx512,
                false,
            ));
        });
        let bytes = vec![0xccu8; 2000];
        let mapping = min_time_ns(|| drop(black_box(ExecutableMemory::new(&bytes))));
        println!(
            "{name}: {} instructions, expand {expanding:.0} ns, schedule {scheduling:.0}, emit {emitting:.0}, map {mapping:.0}",
            expanded.body.len()
        );
    }
}
