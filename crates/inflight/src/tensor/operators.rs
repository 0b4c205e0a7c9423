//! Operator overloading: `+`, `-`, `*`, `/`, `%`, `&`, `|`, `^`, `<<`, `>>`, `!` of tensors and scalars.

use super::Tensor;
use super::operand::{Operand, operand_ref, record_binary, record_scalar_binary};
use super::record::record;
use crate::Element;
use inflight_ir::graph::Op;
use inflight_ir::{BinaryOp, UnaryOp};
use num_complex::Complex;
use std::ops;

macro_rules! binary_operators {
    ($($trait:ident $method:ident $assign_trait:ident $assign_method:ident $op:ident;)*) => {$(
        impl<O: Operand> ops::$trait<O> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, other: O) -> Tensor {
                record_binary(Op::Binary(BinaryOp::$op), self, operand_ref(&other))
            }
        }

        impl<O: Operand> ops::$trait<O> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, other: O) -> Tensor {
                record_binary(Op::Binary(BinaryOp::$op), &self, operand_ref(&other))
            }
        }

        impl<O: Operand> ops::$assign_trait<O> for Tensor {
            #[track_caller]
            fn $assign_method(&mut self, other: O) {
                *self = record_binary(Op::Binary(BinaryOp::$op), self, operand_ref(&other));
            }
        }
    )*};
}

binary_operators! {
    Add add AddAssign add_assign Add;
    Sub sub SubAssign sub_assign Sub;
    Mul mul MulAssign mul_assign Mul;
    Div div DivAssign div_assign Div;
    Rem rem RemAssign rem_assign Rem;
    BitAnd bitand BitAndAssign bitand_assign And;
    BitOr bitor BitOrAssign bitor_assign Or;
    BitXor bitxor BitXorAssign bitxor_assign Xor;
    Shl shl ShlAssign shl_assign ShiftLeft;
    Shr shr ShrAssign shr_assign ShiftRight;
}

// Only `i32`, `f64`, `bool` and complex scalars are left operands: with one integer and one float type, the compiler
// infers the type of the literal, and `(1.0 - &x).relu()` compiles. The scalar still takes the tensor's dtype. A scalar
// variable of another type goes on the right: `&x * rate`.
macro_rules! scalar_left_operators {
    ($($trait:ident $method:ident $op:ident: $($type:ty),*;)*) => {$($(
        impl ops::$trait<&Tensor> for $type {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, other: &Tensor) -> Tensor {
                record_scalar_binary(Op::Binary(BinaryOp::$op), self.to_scalar(), other)
            }
        }

        impl ops::$trait<Tensor> for $type {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, other: Tensor) -> Tensor {
                record_scalar_binary(Op::Binary(BinaryOp::$op), self.to_scalar(), &other)
            }
        }
    )*)*};
}

scalar_left_operators! {
    Add add Add: i32, f64, Complex<f32>, Complex<f64>;
    Sub sub Sub: i32, f64, Complex<f32>, Complex<f64>;
    Mul mul Mul: i32, f64, Complex<f32>, Complex<f64>;
    Div div Div: i32, f64, Complex<f32>, Complex<f64>;
    Rem rem Rem: i32, f64;
    BitAnd bitand And: bool, i32;
    BitOr bitor Or: bool, i32;
    BitXor bitxor Xor: bool, i32;
    Shl shl ShiftLeft: i32;
    Shr shr ShiftRight: i32;
}

impl std::iter::Sum<Tensor> for Tensor {
    /// Adds tensors whose shapes broadcast. The sum of no tensor is the `f32` scalar 0 on the CPU.
    #[track_caller]
    fn sum<I: Iterator<Item = Tensor>>(tensors: I) -> Tensor {
        let sum = tensors.reduce(|sum, tensor| sum + tensor);
        sum.unwrap_or_else(|| Tensor::scalar(0.0f32, &crate::Device::cpu()))
    }
}

impl<'a> std::iter::Sum<&'a Tensor> for Tensor {
    /// Adds tensors whose shapes broadcast. The sum of no tensor is the `f32` scalar 0 on the CPU.
    #[track_caller]
    fn sum<I: Iterator<Item = &'a Tensor>>(tensors: I) -> Tensor {
        tensors.cloned().sum()
    }
}

macro_rules! unary_operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl ops::$trait for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self) -> Tensor {
                record(Op::Unary(UnaryOp::$op), &[self])
            }
        }

        impl ops::$trait for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self) -> Tensor {
                record(Op::Unary(UnaryOp::$op), &[&self])
            }
        }
    )*};
}

unary_operators! {
    Neg neg Neg;
    Not not Not;
}
