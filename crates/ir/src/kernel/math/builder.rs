//! IR builder with CSE (common subexpression elimination) by value numbering.

use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::kernel::{Access, Instruction, Kind, Value};
use crate::{DType, Element, Scalar};
use rustc_hash::FxHashMap;

/// The body emitted so far.
pub(in crate::kernel) struct Builder {
    pub body: Vec<Instruction>,
    available: FxHashMap<Instruction, Value>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder { body: Vec::new(), available: FxHashMap::default() }
    }

    /// The dtype of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.body[value as usize].dtype
    }

    /// The value of a constant.
    pub fn as_constant(&self, value: Value) -> Option<Scalar> {
        match self.body[value as usize].kind {
            Kind::Constant(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// CSE: returns the existing value of an identical instruction, or appends the instruction.
    pub fn push(&mut self, kind: Kind, dtype: DType) -> Value {
        let instruction = Instruction { kind, dtype };
        if let Some(&value) = self.available.get(&instruction) {
            return value;
        }
        let value = self.append(instruction);
        self.available.insert(instruction, value);
        value
    }

    /// Appends a store. Stores are never merged, and loads of the same buffer are no longer available afterwards.
    pub fn store(
        &mut self,
        instruction: Instruction,
        param: Option<u32>,
        accesses: &[Access],
    ) -> Value {
        self.available.retain(|available, _| match available.kind {
            Kind::Load { access, .. } => accesses[access as usize].param != param,
            _ => true,
        });
        self.append(instruction)
    }

    fn append(&mut self, instruction: Instruction) -> Value {
        self.body.push(instruction);
        self.body.len() as Value - 1
    }

    pub fn constant(&mut self, scalar: Scalar) -> Value {
        self.push(Kind::Constant(scalar), scalar.dtype())
    }

    pub fn f32(&mut self, value: f32) -> Value {
        self.constant(value.to_scalar())
    }

    pub fn f64(&mut self, value: f64) -> Value {
        self.constant(value.to_scalar())
    }

    pub fn i32(&mut self, value: i32) -> Value {
        self.constant(value.to_scalar())
    }

    pub fn i64(&mut self, value: i64) -> Value {
        self.constant(value.to_scalar())
    }

    /// A constant of the same dtype as `value`; it must be exactly representable.
    pub fn like(&mut self, value: Value, constant: f64) -> Value {
        let dtype = self.dtype(value);
        self.constant(constant.to_scalar().cast(dtype))
    }

    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        self.push(Kind::Unary(op, a), self.dtype(a))
    }

    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.dtype(a), self.dtype(b));
        self.push(Kind::Binary(op, a, b), self.dtype(a))
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Div, a, b)
    }

    pub fn abs(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Abs, a)
    }

    pub fn sqrt(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Sqrt, a)
    }

    /// `a · b + c`.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.push(Kind::Fma(a, b, c), self.dtype(a))
    }

    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.dtype(a), self.dtype(b));
        self.push(Kind::Compare(op, a, b), DType::Bool)
    }

    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.dtype(a), self.dtype(b));
        self.push(Kind::Select(mask, a, b), self.dtype(a))
    }

    /// `a op b ? yes : no`.
    pub fn choose(&mut self, a: Value, op: CompareOp, b: Value, yes: Value, no: Value) -> Value {
        let mask = self.compare(op, a, b);
        self.select(mask, yes, no)
    }

    /// A conversion, folded if the operand is a constant.
    pub fn cast(&mut self, a: Value, dtype: DType) -> Value {
        match self.as_constant(a) {
            _ if self.dtype(a) == dtype => a,
            Some(scalar) => self.constant(scalar.cast(dtype)),
            None => self.push(Kind::Cast(a), dtype),
        }
    }

    pub fn bitcast(&mut self, a: Value, dtype: DType) -> Value {
        if self.dtype(a) == dtype {
            return a;
        }
        self.push(Kind::Bitcast(a), dtype)
    }

    /// A polynomial of an `f32` by Horner's scheme, coefficients from the highest power down.
    pub fn polynomial(&mut self, x: Value, coefficients: &[f32]) -> Value {
        let mut sum = self.f32(coefficients[0]);
        for &coefficient in &coefficients[1..] {
            let coefficient = self.f32(coefficient);
            sum = self.fma(sum, x, coefficient);
        }
        sum
    }

    /// A polynomial of an `f64`, coefficients from the highest power down. Even and odd powers are evaluated
    /// separately by Horner's scheme, which halves the dependency chain: with a single vector, latency dominates.
    pub fn polynomial_f64(&mut self, x: Value, coefficients: &[f64]) -> Value {
        let square = self.mul(x, x);
        let mut sums = [None; 2];
        for (power, &coefficient) in (0..coefficients.len()).rev().zip(coefficients) {
            let coefficient = self.f64(coefficient);
            let sum = &mut sums[power % 2];
            *sum = Some(match *sum {
                None => coefficient,
                Some(higher) => self.fma(higher, square, coefficient),
            });
        }
        match sums {
            [Some(even), Some(odd)] => self.fma(odd, x, even),
            [even, _] => even.expect("a polynomial has a coefficient"),
        }
    }

    /// The sign bit of an `f32`, as an `i32`.
    pub fn sign_bit(&mut self, x: Value) -> Value {
        let bits = self.bitcast(x, DType::I32);
        let mask = self.i32(i32::MIN);
        self.binary(BinaryOp::And, bits, mask)
    }

    /// The magnitude of a non-negative `f32` with the sign of another.
    pub fn with_sign_of(&mut self, magnitude: Value, x: Value) -> Value {
        let sign = self.sign_bit(x);
        let bits = self.bitcast(magnitude, DType::I32);
        let bits = self.binary(BinaryOp::Or, bits, sign);
        self.bitcast(bits, DType::F32)
    }
}
