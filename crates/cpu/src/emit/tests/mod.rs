//! Differential tests of emitted code against the kernel evaluator, on every instruction set of this machine.

mod benchmarks;
mod elementwise;
mod gather_scatter;
mod layouts;
mod non_temporal_stores;
mod random_kernels;
mod reductions;

use super::{Isa, Unsupported, compile};
use crate::call::{Call, Part, Scratch};
use inflight_ir::elementwise::{BinaryOp, CombineOp, CompareOp, UnaryOp};
use inflight_ir::kernel::{
    Access, AccessId, AccessShape, Instruction, Kernel, Kind, LaunchShape, Param, Stride, Value,
    VectorAxis, evaluate, expand, verify,
};
use inflight_ir::{DType, Scalar};

/// Builder for a kernel and its launch shape.
pub(super) struct Builder {
    pub(super) kernel: Kernel,
    pub(super) shape: LaunchShape,
    /// Index extent of each indexed access.
    indexed: Vec<(AccessId, usize)>,
}

impl Builder {
    pub(super) fn new(grid: &[usize], reduce: &[usize], vector: (VectorAxis, usize)) -> Builder {
        let extents = grid.iter().chain(reduce).copied().chain([vector.1]).collect();
        Builder {
            kernel: Kernel {
                params: Vec::new(),
                scalars: Vec::new(),
                accesses: Vec::new(),
                grid_rank: grid.len(),
                reduce_rank: reduce.len(),
                vector: vector.0,
                body: Vec::new(),
            },
            shape: LaunchShape { extents, accesses: Vec::new() },
            indexed: Vec::new(),
        }
    }

    /// A domain of one parallel axis.
    pub(super) fn flat(count: usize) -> Builder {
        Builder::new(&[], &[], (VectorAxis::Parallel, count))
    }

    pub(super) fn push(&mut self, kind: Kind, dtype: DType) -> Value {
        self.kernel.body.push(Instruction { kind, dtype });
        self.kernel.body.len() as Value - 1
    }

    fn access(&mut self, param: Option<u32>, offset: isize, strides: &[isize]) -> AccessId {
        let (grid, reduce) = (self.kernel.grid_rank, self.kernel.reduce_rank);
        let vector = match strides.last() {
            Some(0) => Stride::Zero,
            Some(1) => Stride::One,
            _ => Stride::Any,
        };
        let reduces = strides[grid..grid + reduce].iter().any(|&stride| stride != 0);
        self.kernel.accesses.push(Access { param, reduce: reduces, vector });
        let strides = strides.iter().copied().collect();
        self.shape.accesses.push(AccessShape { offset, strides, index_stride: 0 });
        self.kernel.accesses.len() as AccessId - 1
    }

    pub(super) fn param(&mut self, dtype: DType, writes: bool) -> u32 {
        self.kernel.params.push(Param { dtype, writes });
        self.kernel.params.len() as u32 - 1
    }

    /// A load from a new buffer.
    pub(super) fn load(&mut self, dtype: DType, offset: isize, strides: &[isize]) -> Value {
        self.load_masked(dtype, offset, strides, None)
    }

    pub(super) fn load_masked(
        &mut self,
        dtype: DType,
        offset: isize,
        strides: &[isize],
        mask: Option<Value>,
    ) -> Value {
        let param = self.param(dtype, false);
        let access = self.access(Some(param), offset, strides);
        self.push(Kind::Load { access, index: None, mask }, dtype)
    }

    /// A store to a new buffer.
    pub(super) fn store(&mut self, value: Value, offset: isize, strides: &[isize]) {
        self.store_masked(value, offset, strides, None);
    }

    pub(super) fn store_masked(
        &mut self,
        value: Value,
        offset: isize,
        strides: &[isize],
        mask: Option<Value>,
    ) {
        let dtype = self.kernel.body[value as usize].dtype;
        let param = self.param(dtype, true);
        let access = self.access(Some(param), offset, strides);
        self.push(Kind::Store { access, value, index: None, mask, combine: None }, dtype);
    }

    /// Clamps a value to a valid index of an extent.
    pub(super) fn clamped(&mut self, value: Value, extent: usize) -> Value {
        let dtype = self.dtype(value);
        let last = self.constant(Scalar::from(extent as i64 - 1).cast(dtype));
        let zero = self.constant(Scalar::zero(dtype));
        let low = self.binary(BinaryOp::Min, value, last);
        self.binary(BinaryOp::Max, low, zero)
    }

    /// A gather from a new buffer by an index below an extent.
    pub(super) fn load_indexed(
        &mut self,
        dtype: DType,
        strides: &[isize],
        (index, step, extent): (Value, isize, usize),
        mask: Option<Value>,
    ) -> Value {
        let param = self.param(dtype, false);
        let access = self.access(Some(param), 2, strides);
        self.shape.accesses[access as usize].index_stride = step;
        self.indexed.push((access, extent));
        self.push(Kind::Load { access, index: Some(index), mask }, dtype)
    }

    /// A scatter to a new buffer by an index below an extent.
    pub(super) fn store_indexed(
        &mut self,
        value: Value,
        strides: &[isize],
        (index, step, extent): (Value, isize, usize),
        mask: Option<Value>,
        combine: Option<CombineOp>,
    ) {
        let dtype = self.dtype(value);
        let param = self.param(dtype, true);
        let access = self.access(Some(param), 1, strides);
        self.shape.accesses[access as usize].index_stride = step;
        self.indexed.push((access, extent));
        self.push(Kind::Store { access, value, index: Some(index), mask, combine }, dtype);
    }

    pub(super) fn position(&mut self, dtype: DType, offset: isize, strides: &[isize]) -> Value {
        let access = self.access(None, offset, strides);
        self.push(Kind::Position(access), dtype)
    }

    pub(super) fn constant(&mut self, scalar: impl Into<Scalar>) -> Value {
        let scalar = scalar.into();
        self.push(Kind::Constant(scalar), scalar.dtype())
    }

    pub(super) fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value as usize].dtype
    }

    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let dtype = match op {
            UnaryOp::IsNan | UnaryOp::IsFinite => DType::Bool,
            _ => self.dtype(a),
        };
        self.push(Kind::Unary(op, a), dtype)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.push(Kind::Binary(op, a, b), self.dtype(a))
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.push(Kind::Compare(op, a, b), DType::Bool)
    }

    pub(super) fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.push(Kind::Select(mask, a, b), self.dtype(a))
    }

    pub(super) fn cast(&mut self, a: Value, dtype: DType) -> Value {
        self.push(Kind::Cast(a), dtype)
    }

    pub(super) fn reduce(&mut self, op: CombineOp, a: Value) -> Value {
        self.push(Kind::Reduce(op, a), self.dtype(a))
    }

    /// Buffers that contain every access plus a margin, with random values that include edge cases.
    pub(super) fn buffers(&self, seed: u64) -> Vec<Vec<u8>> {
        let mut random = Random(seed | 1);
        let lengths = self.kernel.params.iter().enumerate().map(|(param, _)| {
            let accesses = self.kernel.accesses.iter().zip(&self.shape.accesses);
            let of_param = accesses.filter(|(access, _)| access.param == Some(param as u32));
            let last = of_param.map(|(_, shape)| {
                let steps = shape.strides.iter().zip(&self.shape.extents);
                let far = steps
                    .map(|(&stride, &extent)| stride.max(0) * extent.saturating_sub(1) as isize);
                shape.offset + far.sum::<isize>()
            });
            let furthest = |(access, extent): &(AccessId, usize)| {
                let map = &self.kernel.accesses[*access as usize];
                let step = self.shape.accesses[*access as usize].index_stride;
                if map.param == Some(param as u32) { step * (*extent as isize - 1) } else { 0 }
            };
            let indexed = self.indexed.iter().map(furthest).max().unwrap_or(0);
            let last = last.map(|last| last + indexed);
            last.max().unwrap_or(0) as usize + 1
        });
        let fill = |(length, param): (usize, &Param)| {
            let mut bytes = Vec::new();
            for _ in 0..length + MARGIN {
                let scalar = random.scalar(param.dtype);
                bytes.extend(&scalar.to_bytes()[..param.dtype.size()]);
            }
            bytes
        };
        lengths.zip(&self.kernel.params).map(fill).collect()
    }

    /// Compares emitted code with the evaluator on every byte of the buffers and their margins.
    pub(super) fn check(&self, tolerance: f64) {
        self.check_parts(tolerance, &[], &[whole_launch(&self.shape, self.kernel.grid_rank)]);
    }

    /// Whether the emitter supports this kernel on an instruction set.
    pub(super) fn compiles(&self, isa: Isa) -> Result<(), Unsupported> {
        compile(&self.kernel, isa).map(|_| ())
    }

    pub(super) fn check_parts(&self, tolerance: f64, scalars: &[Scalar], parts: &[Part]) {
        for isa in [Isa::Avx512, Isa::Avx2] {
            if isa.is_present() {
                self.check_on(isa, tolerance, scalars, parts).unwrap_or_else(|error| {
                    panic!("{error} ({isa:?})\n{:#?}", self.kernel);
                });
            }
        }
    }

    /// Checks the kernel on one instruction set, if the emitter supports it.
    pub(super) fn check_on(
        &self,
        isa: Isa,
        tolerance: f64,
        scalars: &[Scalar],
        parts: &[Part],
    ) -> Result<(), Unsupported> {
        verify(&self.kernel).unwrap_or_else(|error| panic!("{error}\n{:?}", self.kernel));
        let expanded = expand(&self.kernel);
        let code = compile(&self.kernel, isa)?;
        let before = self.buffers(1);
        let mut expected = before.clone();
        evaluate(&expanded, &self.shape, &mut expected, scalars);
        let mut actual = before;
        let pointers: Vec<*mut u8> = actual.iter_mut().map(|buffer| buffer.as_mut_ptr()).collect();
        let call = Call { buffers: &pointers, scalars, shape: &self.shape };
        let mut scratch = Scratch::default();
        for part in parts {
            // SAFETY: the access maps stay inside the buffers, and the instruction set is present.
            unsafe { code.run(&call, part, &mut scratch) };
        }
        for (param, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            let dtype = self.kernel.params[param].dtype;
            let elements =
                expected.chunks_exact(dtype.size()).zip(actual.chunks_exact(dtype.size()));
            for (index, (expected, actual)) in elements.enumerate() {
                let expected = Scalar::from_bytes(dtype, expected);
                let actual = Scalar::from_bytes(dtype, actual);
                assert!(
                    is_close(expected, actual, tolerance),
                    "{isa:?}: p{param}[{index}] is {actual:?}, expected {expected:?}, in {:?} of\n{:#?}\n{:#?}",
                    self.shape.extents,
                    self.kernel,
                    schedule_text(&expanded),
                );
            }
        }
        Ok(())
    }
}

fn schedule_text(kernel: &Kernel) -> String {
    format!("{:?}", inflight_ir::kernel::schedule(kernel).passes)
}

/// Guard elements around every buffer that must stay unchanged.
const MARGIN: usize = 80;

/// A part that covers the whole launch.
pub(super) fn whole_launch(shape: &LaunchShape, grid_rank: usize) -> Part {
    let grid = shape.extents[..grid_rank].iter().product();
    Part { grid: 0..grid, vector: 0..*shape.extents.last().expect("launches have a vector axis") }
}

/// Equal, both NaN, or for floats within the relative tolerance.
fn is_close(expected: Scalar, actual: Scalar, tolerance: f64) -> bool {
    if expected == actual {
        return true;
    }
    if !expected.dtype().is_float() {
        return false;
    }
    let (expected, actual) = (expected.to_f64(), actual.to_f64());
    if expected.is_nan() || actual.is_nan() {
        return expected.is_nan() && actual.is_nan();
    }
    expected == actual || (expected - actual).abs() <= tolerance * expected.abs().max(1.0)
}

/// A small deterministic pseudo-random generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A random value: often small, sometimes at the limits of the dtype.
    fn scalar(&mut self, dtype: DType) -> Scalar {
        let bits = self.next();
        let choice = self.next() % 16;
        if dtype == DType::Bool {
            return (bits & 1 == 1).into();
        }
        if dtype.is_integer() {
            return match choice {
                0 => Scalar::lowest(dtype),
                1 => Scalar::highest(dtype),
                2..8 => ((bits % 41) as i64 - 20).into_scalar(dtype),
                _ => Scalar::from_bits(dtype, [bits, 0]),
            };
        }
        ((bits % 4096) as f64 / 512.0 - 4.0).into_scalar(dtype)
    }
}

/// Conversion of Rust values to a scalar of a dtype.
pub(super) trait IntoScalar {
    fn into_scalar(self, dtype: DType) -> Scalar;
}

impl<T: Into<Scalar>> IntoScalar for T {
    fn into_scalar(self, dtype: DType) -> Scalar {
        self.into().cast(dtype)
    }
}
