//! Casts from `f64` to 16-bit floats round once, to nearest even, on every execution path of this CPU.

use crate::support::{Queue, buffer, label};
use half::{bf16, f16};
use inflight_backend::{Backend, Buffer, Command, Launch, PlannedLaunch};
use inflight_cpu::{CpuBackend, Options, Path};
use inflight_ir::kernel::{
    Access, AccessShape, Instruction, Kernel, Kind, LaunchShape, Param, Stride, VectorAxis, verify,
};
use inflight_ir::{DType, Element, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

/// `y[i] = x[i] as T`.
fn cast_kernel(from: DType, to: DType) -> Kernel {
    let access = |param| Access { param: Some(param), reduce: false, vector: Stride::One };
    let store = Kind::Store { access: 1, value: 1, index: None, mask: None, combine: None };
    let body = [
        (Kind::Load { access: 0, index: None, mask: None }, from),
        (Kind::Cast(0), to),
        (store, to),
    ];
    Kernel {
        params: vec![Param { dtype: from, writes: false }, Param { dtype: to, writes: true }],
        scalars: vec![],
        accesses: vec![access(0), access(1)],
        grid_rank: 0,
        reduce_rank: 0,
        vector: VectorAxis::Parallel,
        body: body.map(|(kind, dtype)| Instruction { kind, dtype }).into(),
    }
}

fn cast<T: Element>(device: &CpuBackend, inputs: Vec<f64>) -> Vec<T> {
    let kernel = cast_kernel(DType::F64, T::DTYPE);
    verify(&kernel).unwrap();
    let count = inputs.len();
    let dense = AccessShape { offset: 0, strides: SmallVec::from_slice(&[1]), index_stride: 0 };
    let shape = LaunchShape {
        extents: SmallVec::from_slice(&[count]),
        accesses: vec![dense.clone(), dense],
    };
    let result = Buffer::declare(count * T::DTYPE.size());
    let mut queue = Queue::new(device);
    let compiled = device.compile(&kernel).unwrap();
    let launch = Command::Launch(Launch {
        planned: PlannedLaunch::new(compiled, Arc::new(kernel), Arc::new(shape)),
        buffers: [buffer(inputs), result.clone()].into_iter().collect(),
        scalars: [].into_iter().collect(),
        label: label(),
    });
    crate::support::enqueue(&queue.stream, launch);
    queue.read(&result).unwrap()
}

/// A 16-bit float format: its values in order, and the first power of two that it cannot represent.
struct Format {
    /// The non-negative finite value of each bit pattern, from zero up.
    values: Vec<f64>,
    /// The value that would follow the largest.
    overflow: f64,
    infinity: u16,
}

/// Inputs with the bit pattern that each must round to.
fn cases(format: &Format) -> Vec<(f64, u16)> {
    let mut cases = Vec::new();
    for (bits, &value) in format.values.iter().enumerate() {
        let bits = bits as u16;
        let above = format.values.get(bits as usize + 1).copied();
        let next = if above.is_some() { bits + 1 } else { format.infinity };
        let tie = (value + above.unwrap_or(format.overflow)) / 2.0;
        // The infinity follows the largest value, whose last bit is odd.
        let even = if bits.is_multiple_of(2) { bits } else { next };
        // Offsets from a single `f64` ulp up to more than the ulp of an `f32`.
        cases.extend([(value, bits), (value.next_up(), bits), (tie, even)]);
        cases.extend([(tie.next_up(), next), (tie.next_down(), bits)]);
        for shift in [-50, -40, -30, -26, -24, -20, -15] {
            let offset = 2f64.powi(shift) * (tie - value);
            // An offset below the tie's own precision would leave a tie.
            if tie + offset != tie && tie - offset != tie {
                cases.extend([(tie + offset, next), (tie - offset, bits)]);
            }
        }
    }
    for huge in [format.overflow, 1e39, 3.5e38, f64::MAX, f64::INFINITY] {
        cases.push((huge, format.infinity));
    }
    cases.extend([5e-324, 1e-310, f64::MIN_POSITIVE, 1e-46, 1e-60].map(|tiny| (tiny, 0)));
    let negative: Vec<_> = cases.iter().map(|&(input, bits)| (-input, bits | 0x8000)).collect();
    cases.extend(negative);
    cases
}

fn f16_format() -> Format {
    let values = (0..0x7c00).map(|bits| f16::from_bits(bits).to_f64()).collect();
    Format { values, overflow: 65536.0, infinity: 0x7c00 }
}

fn bf16_format() -> Format {
    let values = (0..0x7f80).map(|bits| bf16::from_bits(bits).to_f64()).collect();
    Format { values, overflow: 2f64.powi(128), infinity: 0x7f80 }
}

/// Workers flush subnormal `f32` to zero. Only `bf16` shares its subnormal range; a value just below the range may be
/// flushed before it rounds up.
fn may_flush(dtype: DType, input: f64) -> bool {
    dtype == DType::BF16 && input.abs() < f32::MIN_POSITIVE as f64
}

fn check<T: Element>(format: &Format, to_bits: fn(T) -> u16, is_nan: fn(T) -> bool) {
    let cases = cases(format);
    // The reference interpreter rounds once as well.
    for &(input, bits) in &cases {
        assert_eq!(to_bits(T::from_scalar(input.to_scalar())), bits, "{input:e} to {}", T::DTYPE);
    }
    for path in [Path::Avx512, Path::Avx2, Path::Block] {
        let Ok(device) = CpuBackend::new(Options { threads: Some(2), path: Some(path) }) else {
            continue;
        };
        let results = cast::<T>(&device, cases.iter().map(|&(input, _)| input).collect());
        for (&(input, bits), result) in cases.iter().zip(results) {
            let result = to_bits(result);
            assert!(
                result == bits || may_flush(T::DTYPE, input) && result == bits & 0x8000,
                "{input:e} to {} is {result:#06x}, expected {bits:#06x} ({path:?})",
                T::DTYPE
            );
        }
        // Payloads that only the low 29 bits hold, which do not fit an `f32`.
        let nan = [f64::NAN.to_bits(), 0x7ff0_0000_0000_0001, 0xfff0_0000_1fff_ffff, u64::MAX];
        let results = cast::<T>(&device, nan.map(f64::from_bits).into());
        assert!(results.into_iter().all(is_nan), "{} ({path:?})", T::DTYPE);
    }
}

#[test]
fn f64_to_f16_rounds_once() {
    let near_ties = [(65519.999, 65504.0), (1.0 + 2f64.powi(-11) + 1e-12, 1.0 + 2f64.powi(-10))];
    for (input, expected) in near_ties {
        assert_eq!(f16::from_scalar(Scalar::from(input)).to_f64(), expected);
    }
    check::<f16>(&f16_format(), f16::to_bits, f16::is_nan);
}

#[test]
fn f64_to_bf16_rounds_once() {
    check::<bf16>(&bf16_format(), bf16::to_bits, bf16::is_nan);
}
