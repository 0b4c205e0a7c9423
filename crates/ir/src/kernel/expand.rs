//! Legalization: expands a kernel into the small instruction set of the backends, with CSE and DCE.
//!
//! - *Function expansion*: `f32` functions become polynomial approximations (`math`); operations that a dtype lacks
//!   become others; 16-bit floats are computed in `f32`.
//! - *CSE* (common subexpression elimination) happens while emitting: [`Builder::push`] numbers values and returns
//!   the existing one.
//! - *DCE* (dead code elimination) follows in [`eliminate_dead_code`].

use super::math::{self, Builder};
use super::{Instruction, Kernel, Kind, Value};
use crate::elementwise::{BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{DType, DTypeClass, Element, Scalar};

/// Expands all functions, then eliminates common subexpressions (CSE) and dead code (DCE).
///
/// The instructions that a backend must support, for dtypes that are not complex:
///
/// - `Constant`, `Scalar`, `Position`, `Load` and `Store`, of any dtype;
/// - `Neg`, `Abs`, `Sqrt`, `Floor`, `Ceil`, `Round` and `Fma` of `f32` and `f64`;
/// - `Add`, `Sub`, `Mul`, `Div`, `Min`, `Max` of `f32`, `f64` and integers;
/// - `And`, `Or`, `Xor` of `bool` and integers; the three shifts of integers;
/// - `Compare` of anything but 16-bit floats; `Select` of any dtype;
/// - `Bitcast` between dtypes of one size;
/// - `Cast` between any two of `f32`, `f64` and the integers; between `f32` and a 16-bit float; from `f64` and from
///   32- and 64-bit integers to a 16-bit float. Never to or from `bool`;
/// - `Reduce` and `Scan`: `Sum`, `Product`, `Min`, `Max` of `f32`, `f64` and integers, `And`, `Or`,
///   `Xor` of `bool` and integers; `ArgReduce` of `f32`, `f64` and integers;
/// - a `Store` that combines, with the ops of a `Reduce`, and with `Sum`, `Product`, `Min`, `Max` of 16-bit floats
///   too;
/// - `Rem` of `f32`, `f64` and integers; `Pow` of `f64` and integers; `Atan2` and every
///   [transcendental](UnaryOp::is_transcendental) function of `f64`; `PopulationCount` and
///   `LeadingZeros` of integers. These have no expansion: a backend calls a library.
///
/// Complex instructions stay unchanged, except that casts of 16-bit floats go through `f32`.
///
/// Functions of `f32` become arithmetic on `f32` and `i32`; `Sin`, `Cos`, `Tan` and `Pow` also use `f64` and `i64`.
pub fn expand(kernel: &Kernel) -> Kernel {
    expand_except(kernel, &[])
}

/// Like [`expand`], for a backend with native versions of the `f32` functions in `native`.
pub fn expand_except(kernel: &Kernel, native: &[UnaryOp]) -> Kernel {
    let mut expander =
        Expander { kernel, native, builder: Builder::new(), replacements: Vec::new() };
    for &instruction in &kernel.body {
        let value = expander.instruction(instruction);
        expander.replacements.push(value);
    }
    Kernel { body: eliminate_dead_code(&expander.builder.body), ..kernel.clone() }
}

struct Expander<'a> {
    kernel: &'a Kernel,
    /// Functions of `f32` that are not expanded.
    native: &'a [UnaryOp],
    builder: Builder,
    /// The replacement of each value of the kernel.
    replacements: Vec<Value>,
}

impl Expander<'_> {
    fn instruction(&mut self, Instruction { kind, dtype }: Instruction) -> Value {
        let kind = kind.map_operands(|operand| self.replacements[operand as usize]);
        match kind {
            Kind::Unary(op, a) => self.unary(op, a, dtype),
            Kind::Binary(op, a, b) => self.binary(op, a, b, dtype),
            Kind::Compare(op, a, b) => {
                let (a, b) = (self.widened(a), self.widened(b));
                self.builder.compare(op, a, b)
            }
            Kind::Cast(a) => self.cast(a, dtype),
            Kind::Bitcast(a) => self.builder.bitcast(a, dtype),
            Kind::Reduce(op, a) => {
                let op = combine_op(op, dtype);
                let wide = self.widened(a);
                let result = self.builder.push(Kind::Reduce(op, wide), self.builder.dtype(wide));
                self.builder.cast(result, dtype)
            }
            Kind::Scan(op, a) => {
                let op = combine_op(op, dtype);
                let wide = self.widened(a);
                let result = self.builder.push(Kind::Scan(op, wide), self.builder.dtype(wide));
                self.builder.cast(result, dtype)
            }
            Kind::ArgReduce(op, a) => {
                let wide = match self.builder.dtype(a) {
                    DType::Bool => self.cast(a, DType::I32),
                    _ => self.widened(a),
                };
                self.builder.push(Kind::ArgReduce(op, wide), dtype)
            }
            Kind::Store { access, value, index, mask, combine } => {
                let combine = combine.map(|op| combine_op(op, dtype));
                let kind = Kind::Store { access, value, index, mask, combine };
                let accesses = &self.kernel.accesses;
                let param = accesses[access as usize].param;
                self.builder.store(Instruction { kind, dtype }, param, accesses)
            }
            Kind::Constant(_)
            | Kind::Scalar(_)
            | Kind::Position(_)
            | Kind::Load { .. }
            | Kind::Select(..)
            | Kind::Fma(..) => self.builder.push(kind, dtype),
        }
    }

    /// Widens a 16-bit float to `f32`; other dtypes are unchanged.
    fn widened(&mut self, a: Value) -> Value {
        match self.builder.dtype(a).is_half() {
            true => self.builder.cast(a, DType::F32),
            false => a,
        }
    }

    fn unary(&mut self, op: UnaryOp, a: Value, dtype: DType) -> Value {
        let operand = self.builder.dtype(a);
        if operand.is_complex() {
            return self.builder.push(Kind::Unary(op, a), dtype);
        }
        if matches!(op, UnaryOp::Real | UnaryOp::Conj) {
            return a;
        }
        if operand.is_half() {
            let wide = self.widened(a);
            let wide_dtype = if dtype.is_half() { DType::F32 } else { dtype };
            let result = self.unary(op, wide, wide_dtype);
            return self.builder.cast(result, dtype);
        }
        let builder = &mut self.builder;
        let signed = operand.class() == DTypeClass::Signed;
        match op {
            UnaryOp::Imag => builder.constant(Scalar::zero(dtype)),
            UnaryOp::Neg if operand.is_integer() => {
                let zero = builder.like(a, 0.0);
                builder.sub(zero, a)
            }
            UnaryOp::Abs if signed => {
                let zero = builder.like(a, 0.0);
                let negated = builder.sub(zero, a);
                builder.binary(BinaryOp::Max, a, negated)
            }
            UnaryOp::Abs | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round
                if !operand.is_float() =>
            {
                a
            }
            UnaryOp::Sign if operand == DType::Bool => a,
            UnaryOp::Sign => {
                let (zero, one) = (builder.like(a, 0.0), builder.like(a, 1.0));
                let otherwise = if signed || operand.is_float() {
                    let minus_one = builder.like(a, -1.0);
                    // Zeros and NaN map to themselves. `a + a` turns a subnormal that compares equal to zero into a
                    // zero.
                    let rest = if operand.is_float() { builder.add(a, a) } else { a };
                    builder.choose(a, CompareOp::Lt, zero, minus_one, rest)
                } else {
                    a
                };
                builder.choose(a, CompareOp::Gt, zero, one, otherwise)
            }
            UnaryOp::Not => {
                let ones = builder.constant(Scalar::identity(CombineOp::And, operand));
                builder.binary(BinaryOp::Xor, a, ones)
            }
            UnaryOp::IsNan if operand.is_float() => builder.compare(CompareOp::Ne, a, a),
            UnaryOp::IsNan => builder.constant(false.to_scalar()),
            UnaryOp::IsFinite if operand.is_float() => {
                let magnitude = builder.abs(a);
                let infinity = builder.like(a, f64::INFINITY);
                builder.compare(CompareOp::Lt, magnitude, infinity)
            }
            UnaryOp::IsFinite => builder.constant(true.to_scalar()),
            UnaryOp::Rsqrt => {
                let one = builder.like(a, 1.0);
                let root = builder.sqrt(a);
                builder.div(one, root)
            }
            _ if operand == DType::F32 && op.is_transcendental() && !self.native.contains(&op) => {
                math::unary(builder, op, a)
            }
            _ => builder.push(Kind::Unary(op, a), dtype),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value, dtype: DType) -> Value {
        let operand = self.builder.dtype(a);
        if operand.is_half() {
            let (a, b) = (self.widened(a), self.widened(b));
            let wide_dtype = if dtype.is_half() { DType::F32 } else { dtype };
            let result = self.binary(op, a, b, wide_dtype);
            return self.builder.cast(result, dtype);
        }
        match (op, operand) {
            (BinaryOp::Add | BinaryOp::Max, DType::Bool) => self.builder.binary(BinaryOp::Or, a, b),
            (BinaryOp::Mul | BinaryOp::Min, DType::Bool) => {
                self.builder.binary(BinaryOp::And, a, b)
            }
            (BinaryOp::Pow, DType::F32) => math::pow(&mut self.builder, a, b),
            (BinaryOp::Atan2, DType::F32) => math::atan2(&mut self.builder, a, b),
            _ => self.builder.push(Kind::Binary(op, a, b), dtype),
        }
    }

    fn cast(&mut self, a: Value, to: DType) -> Value {
        let from = self.builder.dtype(a);
        if from == to || self.builder.as_constant(a).is_some() {
            return self.builder.cast(a, to);
        }
        if from.is_half() && to != DType::F32 {
            let wide = self.widened(a);
            return self.cast(wide, to);
        }
        if from.is_complex() || to.is_complex() {
            return self.builder.cast(a, to);
        }
        if to == DType::Bool {
            let zero = self.builder.like(a, 0.0);
            return self.builder.compare(CompareOp::Ne, a, zero);
        }
        if from == DType::Bool {
            let one = self.builder.constant(Scalar::one(to));
            let zero = self.builder.constant(Scalar::zero(to));
            return self.builder.select(a, one, zero);
        }
        // A 16-bit integer is exact in `f32`. Casting a larger one or an `f64` through `f32` would round twice.
        if to.is_half() && from.is_integer() && from.size() <= 2 {
            let wide = self.builder.cast(a, DType::F32);
            return self.builder.cast(wide, to);
        }
        self.builder.cast(a, to)
    }
}

/// The equivalent op for a dtype: `bool` has logic ops only.
fn combine_op(op: CombineOp, dtype: DType) -> CombineOp {
    match (op, dtype) {
        (CombineOp::Sum | CombineOp::Max, DType::Bool) => CombineOp::Or,
        (CombineOp::Product | CombineOp::Min, DType::Bool) => CombineOp::And,
        _ => op,
    }
}

/// DCE: keeps the instructions that a store depends on, and renumbers them.
fn eliminate_dead_code(body: &[Instruction]) -> Vec<Instruction> {
    let mut live: Vec<bool> =
        body.iter().map(|instruction| matches!(instruction.kind, Kind::Store { .. })).collect();
    for value in (0..body.len()).rev() {
        if live[value] {
            for operand in body[value].kind.operands() {
                live[operand as usize] = true;
            }
        }
    }
    let mut renumbered: Vec<Value> = Vec::with_capacity(body.len());
    let mut live_body = Vec::new();
    for (instruction, live) in body.iter().zip(live) {
        renumbered.push(live_body.len() as Value);
        if live {
            let kind = instruction.kind.map_operands(|operand| renumbered[operand as usize]);
            live_body.push(Instruction { kind, dtype: instruction.dtype });
        }
    }
    live_body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::ArgOp;
    use crate::kernel::{AccessShape, LaunchShape, VectorAxis, evaluate, parse, verify};

    fn kernel(text: &str) -> Kernel {
        let kernel = parse(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        verify(&kernel).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        kernel
    }

    /// Whether the documentation of [`expand`] lists this instruction.
    fn is_listed(kernel: &Kernel, Instruction { kind, dtype }: Instruction) -> bool {
        let operand = kind.operands().first().map(|&a| kernel.body[a as usize].dtype);
        let from = operand.unwrap_or(dtype);
        let is_full = matches!(from, DType::F32 | DType::F64);
        if from.is_complex() || dtype.is_complex() {
            return true;
        }
        let combines = |op: CombineOp, dtype: DType| match op {
            CombineOp::And | CombineOp::Or | CombineOp::Xor => !dtype.is_float(),
            _ => dtype != DType::Bool,
        };
        match kind {
            Kind::Constant(_) | Kind::Scalar(_) | Kind::Position(_) | Kind::Load { .. } => true,
            Kind::Store { combine, .. } => combine.is_none_or(|op| combines(op, dtype)),
            Kind::Unary(op, _) => match op {
                UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt => is_full,
                UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round => is_full,
                UnaryOp::PopulationCount | UnaryOp::LeadingZeros => from.is_integer(),
                op => op.is_transcendental() && from == DType::F64,
            },
            Kind::Binary(op, ..) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                    is_full || from.is_integer()
                }
                BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem => is_full || from.is_integer(),
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !from.is_float(),
                BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::ShiftRightLogical => {
                    from.is_integer()
                }
                BinaryOp::Pow => from == DType::F64 || from.is_integer(),
                BinaryOp::Atan2 => from == DType::F64,
                BinaryOp::Complex => false,
            },
            Kind::Compare(..) => !from.is_half(),
            Kind::Select(..) | Kind::Bitcast(_) => true,
            Kind::Fma(..) => is_full,
            Kind::Cast(_) => match (from, dtype) {
                (DType::Bool, _) | (_, DType::Bool) => false,
                (DType::F32, to) => to != DType::F32,
                (from, to) if from.is_half() => to == DType::F32,
                (from, to) if to.is_half() => from == DType::F64 || from.size() >= 4,
                (from, to) => from != to,
            },
            Kind::Reduce(op, _) | Kind::Scan(op, _) => !dtype.is_half() && combines(op, dtype),
            Kind::ArgReduce(..) => is_full || from.is_integer(),
        }
    }

    /// Representative values: small, large (within the domain of the sine), and special.
    fn samples(dtype: DType) -> Vec<Scalar> {
        let integers = [0i64, 1, 2, 3, 7, -1, -2, -7, 100, 127, -128, 1 << 20, i64::MAX, i64::MIN];
        let floats = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.0,
            -1.0,
            1.5,
            2.5,
            -2.5,
            3.7,
            -1e-3,
            1e4,
            -7e9,
            7e14,
            1e-5,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        match dtype.class() {
            DTypeClass::Bool => vec![false.to_scalar(), true.to_scalar()],
            DTypeClass::Signed | DTypeClass::Unsigned => {
                integers.map(|value| value.to_scalar().cast(dtype)).to_vec()
            }
            _ => floats.map(|value| value.to_scalar().cast(dtype)).to_vec(),
        }
    }

    /// Loads two values, applies `kind` to %0 and %1, and stores the result.
    fn elementwise(kind: Kind, from: DType, to: DType) -> Kernel {
        let mut kernel = kernel(&format!(
            "kernel grid 0 reduce 0 vector parallel\nparam p0: {from}\nparam p1: {from}\n\
             param p2: {to} writes\naccess a0: p0 reduce zero vector one\n\
             access a1: p1 reduce zero vector one\naccess a2: p2 reduce zero vector one\n\
             %0 = load p0[a0] : {from}\n%1 = load p1[a1] : {from}\n%2 = cast %0 : {to}\n\
             store p2[a2] %2 : {to}\n"
        ));
        kernel.body[2] = Instruction { kind, dtype: to };
        kernel
    }

    /// The results of an elementwise kernel for all pairs of samples.
    fn outputs(kernel: &Kernel) -> Vec<Scalar> {
        let [from, _, to] = [0, 1, 2].map(|param: usize| kernel.params[param].dtype);
        let samples = samples(from);
        let count = samples.len() * samples.len();
        let element = |scalar: Scalar| scalar.to_bytes().into_iter().take(from.size());
        let first = samples.iter().flat_map(|&a| samples.iter().flat_map(move |_| element(a)));
        let second = samples.iter().flat_map(|_| samples.iter().flat_map(|&b| element(b)));
        let mut buffers = vec![first.collect(), second.collect(), vec![0; count * to.size()]];
        let map = AccessShape { offset: 0, strides: [1].as_slice().into(), index_stride: 0 };
        let shape = LaunchShape { extents: [count].as_slice().into(), accesses: vec![map; 3] };
        evaluate(kernel, &shape, &mut buffers, &[]);
        buffers[2].chunks(to.size()).map(|bytes| Scalar::from_bytes(to, bytes)).collect()
    }

    /// Expands a kernel, checks that only listed instructions are left, and compares results: any NaN equals any
    /// NaN, and everything else must be bit-exact unless the expansion may round differently.
    fn check(kernel: &Kernel, may_round: bool) {
        let expanded = expand(kernel);
        verify(&expanded).unwrap_or_else(|error| panic!("{error} in\n{expanded}"));
        for &instruction in &expanded.body {
            assert!(is_listed(&expanded, instruction), "{instruction:?} is left of\n{kernel}");
        }
        let (expected, found) = (outputs(kernel), outputs(&expanded));
        for (expected, found) in expected.into_iter().zip(found) {
            let both_nan = expected.to_f64().is_nan() && found.to_f64().is_nan();
            let near = |a: f64, b: f64| a == b || (a - b).abs() <= a.abs() * 0.01;
            let same = match may_round {
                true => near(expected.to_f64(), found.to_f64()),
                false => expected == found,
            };
            assert!(same || both_nan, "{expected} but {found} of\n{kernel}{expanded}");
        }
    }

    #[test]
    fn expansion_preserves_unary_ops_of_every_dtype() {
        for op in UnaryOp::ALL {
            for from in DType::ALL {
                let to = match op {
                    UnaryOp::IsNan | UnaryOp::IsFinite => DType::Bool,
                    UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag => from.real(),
                    _ => from,
                };
                let kernel = elementwise(Kind::Unary(op, 0), from, to);
                // `bool` only has `not`, and complex instructions are not expanded.
                let is_defined = (from != DType::Bool || op == UnaryOp::Not) && !from.is_complex();
                let is_real_part = matches!(op, UnaryOp::Real | UnaryOp::Imag | UnaryOp::Conj);
                if verify(&kernel).is_ok() && is_defined && !is_real_part {
                    check(&kernel, op.is_transcendental() || op == UnaryOp::Rsqrt);
                }
            }
        }
    }

    #[test]
    fn real_imag_and_conj_of_real_dtypes() {
        for from in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
            let inputs = outputs(&elementwise(Kind::Bitcast(0), from, from));
            for op in [UnaryOp::Real, UnaryOp::Conj] {
                assert_eq!(outputs(&expand(&elementwise(Kind::Unary(op, 0), from, from))), inputs);
            }
            let imaginary = expand(&elementwise(Kind::Unary(UnaryOp::Imag, 0), from, from));
            assert!(outputs(&imaginary).iter().all(|&value| value == Scalar::zero(from)));
        }
    }

    #[test]
    fn expansion_preserves_binary_and_compare_ops_of_every_dtype() {
        use BinaryOp::*;
        let bool_ops = [Add, Mul, Min, Max, And, Or, Xor];
        for op in BinaryOp::ALL {
            for dtype in DType::ALL {
                let is_defined = match dtype.class() {
                    DTypeClass::Bool => bool_ops.contains(&op),
                    DTypeClass::Complex => false,
                    DTypeClass::Float => op != Complex,
                    _ => op != Atan2,
                };
                let kernel = elementwise(Kind::Binary(op, 0, 1), dtype, dtype);
                if verify(&kernel).is_ok() && is_defined {
                    check(&kernel, matches!(op, Pow | Atan2) && dtype.is_float());
                }
            }
        }
        for op in CompareOp::ALL {
            for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
                check(&elementwise(Kind::Compare(op, 0, 1), dtype, DType::Bool), false);
            }
        }
    }

    #[test]
    fn expanded_casts_round_once() {
        for from in DType::ALL {
            for to in DType::ALL {
                check(&elementwise(Kind::Cast(0), from, to), false);
            }
        }
    }

    #[test]
    fn expanded_reductions_use_listed_instructions() {
        let mut reductions: Vec<Kind> = Vec::new();
        for op in CombineOp::ALL {
            reductions.extend([Kind::Reduce(op, 0), Kind::Scan(op, 0)]);
        }
        reductions.extend([ArgOp::Min, ArgOp::Max].map(|op| Kind::ArgReduce(op, 0)));
        for kind in reductions {
            for from in DType::ALL {
                let to = if matches!(kind, Kind::ArgReduce(..)) { DType::I64 } else { from };
                let mut kernel = elementwise(kind, from, to);
                kernel.vector = VectorAxis::Reduced;
                if verify(&kernel).is_ok() {
                    check(&kernel, from.is_half());
                }
            }
        }
    }

    #[test]
    fn cse_and_dce_remove_repeated_and_unused_instructions() {
        let kernel = kernel(
            "kernel grid 0 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
             access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
             %0 = load p0[a0] : f32\n%1 = load p0[a0] : f32\n%2 = add %0, %1 : f32\n\
             %3 = add %1, %0 : f32\n%4 = mul %2, %3 : f32\n%5 = tanh %4 : f32\n\
             store p1[a1] %4 : f32\n",
        );
        let expected = "%0 = load p0[a0] : f32\n%1 = add %0, %0 : f32\n%2 = mul %1, %1 : f32\n\
             store p1[a1] %2 : f32\n";
        let expanded = expand(&kernel).to_string();
        assert!(expanded.ends_with(expected), "{expanded}");
    }

    #[test]
    fn cse_does_not_merge_loads_across_a_store() {
        let text = "kernel grid 0 reduce 0 vector parallel\nparam p0: f32 writes\nparam p1: f32 writes\n\
             param p2: f32\naccess a0: p0 reduce zero vector one\n\
             access a1: p1 reduce zero vector one\naccess a2: p2 reduce zero vector one\n";
        let body = "%0 = load p0[a0] : f32\n%1 = load p2[a2] : f32\n%2 = mul %0, %1 : f32\n\
             store p0[a0] %2 : f32\n";
        let again = "%4 = load p0[a0] : f32\n%5 = load p2[a2] : f32\n%6 = mul %4, %5 : f32\n\
             store p1[a1] %6 : f32\n";
        let expected = "%4 = load p0[a0] : f32\n%5 = mul %4, %1 : f32\nstore p1[a1] %5 : f32\n";
        let expanded = expand(&kernel(&format!("{text}{body}{again}")));
        assert_eq!(expanded.to_string(), format!("{text}{body}{expected}"));
    }

    #[test]
    fn bf16_is_rounded_after_each_op() {
        let kernel = kernel(
            "kernel grid 0 reduce 0 vector parallel\nparam p0: bf16\nparam p1: bf16 writes\n\
             access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
             %0 = load p0[a0] : bf16\n%1 = constant 3.0 : bf16\n%2 = add %0, %1 : bf16\n\
             %3 = mul %2, %1 : bf16\nstore p1[a1] %3 : bf16\n",
        );
        let expected = "%0 = load p0[a0] : bf16\n%1 = cast %0 : f32\n%2 = constant 3.0 : f32\n\
             %3 = add %1, %2 : f32\n%4 = cast %3 : bf16\n%5 = cast %4 : f32\n%6 = mul %5, %2 : f32\n\
             %7 = cast %6 : bf16\nstore p1[a1] %7 : bf16\n";
        let expanded = expand(&kernel).to_string();
        assert!(expanded.ends_with(expected), "{expanded}");
    }
}
