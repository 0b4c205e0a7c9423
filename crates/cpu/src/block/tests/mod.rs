//! Differential tests of the interpreter against the kernel evaluator, for whole launches and in parts.

mod elementwise;
mod reductions_and_accesses;

use super::Program;
use super::elementwise::FORCE_BASELINE;
use crate::call::{Call, Part, Scratch};
use inflight_ir::kernel::{
    Access, AccessId, AccessShape, Instruction, Kernel, Kind, LaunchShape, Param, Stride, Value,
    VectorAxis, evaluate, verify,
};
use inflight_ir::{DType, DTypeClass, Element, Scalar};
use num_complex::Complex;

/// Builder for a kernel and its launch shape.
struct KernelBuilder {
    kernel: Kernel,
    shape: LaunchShape,
}

impl KernelBuilder {
    /// A kernel with these extents and an empty body.
    fn new(grid: &[usize], reduce: &[usize], vector: usize, axis: VectorAxis) -> KernelBuilder {
        let extents = grid.iter().chain(reduce).copied().chain([vector]).collect();
        KernelBuilder {
            kernel: Kernel {
                params: Vec::new(),
                scalars: Vec::new(),
                accesses: Vec::new(),
                grid_rank: grid.len(),
                reduce_rank: reduce.len(),
                vector: axis,
                body: Vec::new(),
            },
            shape: LaunchShape { extents, accesses: Vec::new() },
        }
    }

    fn param(&mut self, dtype: DType) -> u32 {
        self.kernel.params.push(Param { dtype, writes: false });
        (self.kernel.params.len() - 1) as u32
    }

    fn scalar(&mut self, dtype: DType) -> Value {
        self.kernel.scalars.push(dtype);
        self.push(Kind::Scalar((self.kernel.scalars.len() - 1) as u32), dtype)
    }

    /// An access map with this offset and these strides, which determine its stride classes. `any` declares a
    /// vector stride of one as unknown.
    fn access(
        &mut self,
        param: Option<u32>,
        offset: isize,
        strides: &[isize],
        any: bool,
    ) -> AccessId {
        let rank = self.kernel.rank();
        assert_eq!(strides.len(), rank, "a stride for each axis");
        let vector = match strides[rank - 1] {
            _ if any => Stride::Any,
            0 => Stride::Zero,
            1 => Stride::One,
            _ => Stride::Any,
        };
        let reduce = strides[self.kernel.grid_rank..rank - 1].iter().any(|&stride| stride != 0);
        self.kernel.accesses.push(Access { param, reduce, vector });
        let strides = strides.into();
        self.shape.accesses.push(AccessShape { offset, strides, index_stride: 0 });
        (self.kernel.accesses.len() - 1) as AccessId
    }

    fn indexed(&mut self, param: u32, strides: &[isize], index_stride: isize) -> AccessId {
        let access = self.access(Some(param), 0, strides, false);
        self.shape.accesses[access as usize].index_stride = index_stride;
        access
    }

    fn push(&mut self, kind: Kind, dtype: DType) -> Value {
        self.kernel.body.push(Instruction { kind, dtype });
        (self.kernel.body.len() - 1) as Value
    }

    fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value as usize].dtype
    }

    /// An instruction whose result has the dtype of `like`.
    fn like(&mut self, like: Value, kind: Kind) -> Value {
        let dtype = self.dtype(like);
        self.push(kind, dtype)
    }

    fn constant<T: Element>(&mut self, value: T) -> Value {
        self.push(Kind::Constant(value.to_scalar()), T::DTYPE)
    }

    fn load(&mut self, access: AccessId) -> Value {
        self.load_where(access, None, None)
    }

    fn load_where(&mut self, access: AccessId, index: Option<Value>, mask: Option<Value>) -> Value {
        let param = self.kernel.accesses[access as usize].param.expect("the access has a buffer");
        let dtype = self.kernel.params[param as usize].dtype;
        self.push(Kind::Load { access, index, mask }, dtype)
    }

    fn store(&mut self, access: AccessId, value: Value) {
        let kind = Kind::Store { access, value, index: None, mask: None, combine: None };
        self.store_kind(kind);
    }

    fn store_kind(&mut self, kind: Kind) {
        let Kind::Store { access, value, .. } = kind else { panic!("not a store") };
        let param = self.kernel.accesses[access as usize].param.expect("the access has a buffer");
        self.kernel.params[param as usize].writes = true;
        self.like(value, kind);
    }

    /// An access to a new parameter with row-major strides over the axes where `along` is set.
    fn row_major(&mut self, dtype: DType, along: &[bool]) -> AccessId {
        let param = self.param(dtype);
        let strides = self.row_major_strides(along);
        self.access(Some(param), 0, &strides, false)
    }

    fn row_major_strides(&self, along: &[bool]) -> Vec<isize> {
        let mut next = 1;
        let mut strides: Vec<isize> = Vec::new();
        for (&along, &extent) in along.iter().zip(&self.shape.extents).rev() {
            strides.push(if along { next } else { 0 });
            next *= if along { extent.max(1) as isize } else { 1 };
        }
        strides.reverse();
        strides
    }

    /// Buffer size that contains every access without an index.
    fn bytes(&self, param: u32) -> usize {
        let mut elements = 0;
        for (access, map) in self.kernel.accesses.iter().zip(&self.shape.accesses) {
            if access.param == Some(param) {
                let reach = map.strides.iter().zip(&self.shape.extents);
                let reach =
                    reach.map(|(&stride, &extent)| stride.max(0) * (extent.max(1) as isize - 1));
                elements = elements.max(map.offset + reach.sum::<isize>() + 1);
            }
        }
        elements as usize * self.kernel.params[param as usize].dtype.size()
    }

    /// Random buffers for all parameters.
    fn buffers(&self, random: &mut Random) -> Vec<Vec<u8>> {
        let params = self.kernel.params.iter().enumerate();
        let buffer = |(param, info): (usize, &Param)| {
            let count = self.bytes(param as u32) / info.dtype.size();
            random.elements(info.dtype, count)
        };
        params.map(buffer).collect()
    }
}

/// A small deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    /// Uniform between −1 and 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Values of all magnitudes, including special values.
    fn scalar(&mut self, dtype: DType) -> Scalar {
        let kind = self.below(16);
        let float = |random: &mut Random| match kind {
            0 => [0.0, -0.0, 1.0, -1.0, 0.5, 2.0][random.below(6)],
            1 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][random.below(3)],
            2 => random.unit() * 1e4,
            3 => random.unit() * 1e-3,
            4 => (random.unit() * 20.0).round(),
            _ => random.unit() * 4.0,
        };
        match dtype.class() {
            DTypeClass::Bool => (self.next() & 1 << 40 != 0).to_scalar(),
            DTypeClass::Float => float(self).to_scalar().cast(dtype),
            DTypeClass::Complex => Complex::new(float(self), float(self)).to_scalar().cast(dtype),
            _ => match kind {
                0 => Scalar::lowest(dtype),
                1 => Scalar::highest(dtype),
                2..6 => Scalar::from_bits(dtype, [self.next(), 0]),
                _ => (self.below(12) as i64 - 4).to_scalar().cast(dtype),
            },
        }
    }

    fn elements(&mut self, dtype: DType, count: usize) -> Vec<u8> {
        let element = |_| self.scalar(dtype).to_bytes()[..dtype.size()].to_vec();
        (0..count).flat_map(element).collect()
    }

    /// Finite values whose sums and products stay small.
    fn finite_elements(&mut self, dtype: DType, count: usize) -> Vec<u8> {
        let element = |_| {
            let scalar = self.unit().to_scalar().cast(dtype);
            scalar.to_bytes()[..dtype.size()].to_vec()
        };
        (0..count).flat_map(element).collect()
    }
}

const GUARD: usize = 64;

/// Runs a program part by part on copies of the buffers and returns their final contents.
fn run(
    program: &Program,
    shape: &LaunchShape,
    buffers: &[Vec<u8>],
    scalars: &[Scalar],
    parts: &[Part],
) -> Vec<Vec<u8>> {
    // Aligned copies between guard bytes that must stay unchanged.
    let mut memory: Vec<Vec<u128>> = buffers
        .iter()
        .map(|bytes| {
            let mut words =
                vec![0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5; 8 + bytes.len().div_ceil(16)];
            // SAFETY: the allocation is that long, and bytes have no alignment requirement.
            unsafe {
                let start = words.as_mut_ptr().cast::<u8>().add(GUARD);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len());
            }
            words
        })
        .collect();
    let pointers: Vec<*mut u8> = memory
        .iter_mut()
        .map(|words| words.as_mut_ptr().cast::<u8>().wrapping_add(GUARD))
        .collect();
    let call = Call { buffers: &pointers, scalars, shape };
    let mut scratch = Scratch::default();
    for part in parts {
        // SAFETY: the tests' access maps stay inside the buffers, which the evaluator checks.
        unsafe { program.run(&call, part, &mut scratch) };
    }
    let results = memory.iter().zip(buffers).map(|(words, bytes)| {
        // SAFETY: initialized words.
        let all =
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 16 * words.len()) };
        let (inside, after) = all[GUARD..].split_at(bytes.len());
        assert!(
            all[..GUARD].iter().chain(after).all(|&byte| byte == 0xa5),
            "wrote outside a buffer"
        );
        inside.to_vec()
    });
    results.collect()
}

/// Allowed deviation of a float from the reference.
#[derive(Clone, Copy)]
struct Tolerance {
    /// Relative: in units of the last place of its dtype.
    ulps: f64,
    /// Absolute: in units of the last place of 1.
    scale: f64,
}

const EXACT: Tolerance = Tolerance { ulps: 0.0, scale: 0.0 };

fn ulps(count: f64) -> Tolerance {
    Tolerance { ulps: count, scale: 0.0 }
}

fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => f32::EPSILON as f64,
        _ => f64::EPSILON,
    }
}

fn close(found: Scalar, expected: Scalar, tolerance: Tolerance) -> bool {
    let dtype = found.dtype();
    if !dtype.is_float() && !dtype.is_complex() {
        return found == expected;
    }
    let (found, expected) =
        (Complex::<f64>::from_scalar(found), Complex::<f64>::from_scalar(expected));
    // Both components of a complex value share the error of its modulus.
    let size = if expected.is_finite() { expected.norm() } else { 0.0 };
    // Subnormal results have the absolute accuracy of the smallest normal value.
    let smallest = match dtype.real() {
        DType::F16 => 2f64.powi(-14),
        DType::BF16 | DType::F32 => 2f64.powi(-126),
        _ => f64::MIN_POSITIVE,
    };
    let room = (tolerance.ulps * size.max(smallest) + tolerance.scale) * epsilon(dtype);
    let part = |found: f64, expected: f64| {
        found == expected
            || (found.is_nan() && expected.is_nan())
            || (found - expected).abs() <= room
    };
    part(found.re, expected.re) && part(found.im, expected.im)
}

/// Compares a kernel with the evaluator, and its parts with the whole launch. `tolerance` applies to floats;
/// everything else must be exact.
fn check(builder: &KernelBuilder, buffers: &[Vec<u8>], scalars: &[Scalar], tolerance: Tolerance) {
    verify(&builder.kernel).expect("a valid kernel");
    let mut expected = buffers.to_vec();
    evaluate(&builder.kernel, &builder.shape, &mut expected, scalars);
    check_program(builder, &Program::new(&builder.kernel), buffers, scalars, &expected, tolerance);
    FORCE_BASELINE.set(true);
    // Only expansion makes `f16` and `bf16` reductions accumulate in `f32`. It does not change other results.
    let reduces_f16 = builder.kernel.body.iter().any(|instruction| {
        let reduces = instruction.kind.is_reduction() || matches!(instruction.kind, Kind::Scan(..));
        reduces && instruction.dtype.is_half()
    });
    let baseline = match reduces_f16 {
        true => Program::new(&builder.kernel),
        false => Program::from_expanded(builder.kernel.clone()),
    };
    FORCE_BASELINE.set(false);
    check_program(builder, &baseline, buffers, scalars, &expected, tolerance);
}

fn check_program(
    builder: &KernelBuilder,
    program: &Program,
    buffers: &[Vec<u8>],
    scalars: &[Scalar],
    expected: &[Vec<u8>],
    tolerance: Tolerance,
) {
    let vector = *builder.shape.extents.last().expect("launches have a vector axis");
    let programs = builder.shape.extents[..builder.kernel.grid_rank].iter().product::<usize>();
    let all = Part { grid: 0..programs, vector: 0..vector };
    let whole = run(program, &builder.shape, buffers, scalars, &[all]);
    for (param, (found, expected)) in whole.iter().zip(expected).enumerate() {
        let dtype = builder.kernel.params[param].dtype;
        let pairs = found.chunks(dtype.size()).zip(expected.chunks(dtype.size()));
        for (element, (found, expected)) in pairs.enumerate() {
            let found = Scalar::from_bytes(dtype, found);
            let expected = Scalar::from_bytes(dtype, expected);
            assert!(
                close(found, expected, tolerance),
                "param {param} element {element}: found {found:?}, expected {expected:?} in {:?}: {:?}",
                builder.shape.extents,
                builder.kernel.body,
            );
        }
    }
    let mut parts = Vec::new();
    let split = |length: usize, at: usize| (0..length.min(at), length.min(at)..length);
    let (low, high) = split(programs, programs / 3);
    for grid in [high, low] {
        match builder.kernel.vector {
            VectorAxis::Parallel if vector > 1 => {
                let (left, right) = split(vector, vector / 3 + 1);
                parts.extend([left, right].map(|vector| Part { grid: grid.clone(), vector }));
            }
            _ => parts.push(Part { grid, vector: 0..vector }),
        }
    }
    let in_parts = run(program, &builder.shape, buffers, scalars, &parts);
    assert!(in_parts == whole, "the parts differ from the whole launch");
}
