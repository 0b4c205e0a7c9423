//! The dtypes that each op accepts.

use crate::elementwise::{BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{DType, DTypeClass};
use std::fmt;

/// A set of dtypes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DTypeSet(u16);

impl DTypeSet {
    /// `bool`.
    pub const BOOL: DTypeSet = DTypeSet::of_class(DTypeClass::Bool);
    /// The signed and unsigned integers.
    pub const INTEGERS: DTypeSet =
        DTypeSet::of_class(DTypeClass::Signed).or(DTypeSet::of_class(DTypeClass::Unsigned));
    /// `f16`, `bf16`, `f32` and `f64`.
    pub const FLOATS: DTypeSet = DTypeSet::of_class(DTypeClass::Float);
    /// `complex64` and `complex128`.
    pub const COMPLEX: DTypeSet = DTypeSet::of_class(DTypeClass::Complex);
    /// The floats that complex numbers consist of.
    pub const PARTS: DTypeSet = DTypeSet(1 << DType::F32 as u16 | 1 << DType::F64 as u16);
    /// Every dtype.
    pub const ALL: DTypeSet = DTypeSet::BOOL.or(DTypeSet::NUMBERS);
    /// Every numeric dtype: all but `bool`.
    pub const NUMBERS: DTypeSet = DTypeSet::REALS.or(DTypeSet::COMPLEX);
    /// Integers and floats.
    pub const REALS: DTypeSet = DTypeSet::INTEGERS.or(DTypeSet::FLOATS);
    /// Every ordered dtype: all but complex.
    pub const ORDERED: DTypeSet = DTypeSet::BOOL.or(DTypeSet::REALS);
    /// Every dtype with bitwise ops: `bool` and integers.
    pub const BITS: DTypeSet = DTypeSet::BOOL.or(DTypeSet::INTEGERS);
    /// Floats and complex numbers.
    pub const CONTINUOUS: DTypeSet = DTypeSet::FLOATS.or(DTypeSet::COMPLEX);

    const fn of_class(class: DTypeClass) -> DTypeSet {
        let mut set = 0;
        let mut i = 0;
        while i < DType::ALL.len() {
            if DType::ALL[i].class() as u8 == class as u8 {
                set |= 1 << DType::ALL[i] as u16;
            }
            i += 1;
        }
        DTypeSet(set)
    }

    /// The union of two sets.
    pub const fn or(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 | other.0)
    }

    /// Whether the set contains a dtype.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u16) != 0
    }

    /// The dtypes of the set, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&dtype| self.contains(dtype))
    }
}

impl fmt::Display for DTypeSet {
    /// Whole classes by name, other dtypes individually: `bool, integers, f32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes = [
            (DTypeSet::INTEGERS, "integers"),
            (DTypeSet::FLOATS, "floats"),
            (DTypeSet::COMPLEX, "complex numbers"),
        ];
        let mut left = *self;
        let mut names = Vec::new();
        for (class, name) in classes {
            if class.or(*self) == *self {
                left = DTypeSet(left.0 & !class.0);
                names.push(name);
            }
        }
        let singles = left.iter().map(DType::name);
        f.write_str(&singles.chain(names).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Debug for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The dtypes a unary op accepts.
pub fn unary_accepts(op: UnaryOp) -> DTypeSet {
    use UnaryOp::*;
    match op {
        Neg | Abs | Sign => DTypeSet::NUMBERS,
        Floor | Ceil | Round => DTypeSet::REALS,
        Not => DTypeSet::BITS,
        Cbrt | Erf => DTypeSet::FLOATS,
        Exp | Exp2 | Expm1 | Log | Log2 | Log1p | Sqrt | Rsqrt | Sin | Cos | Tan | Asin | Acos
        | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Sigmoid => DTypeSet::CONTINUOUS,
        IsNan | IsFinite => DTypeSet::NUMBERS,
        Real | Imag | Conj => DTypeSet::CONTINUOUS,
        PopulationCount | LeadingZeros => DTypeSet::INTEGERS,
    }
}

/// The dtype of a unary op's result on operands of `dtype`.
pub fn unary_dtype(op: UnaryOp, dtype: DType) -> DType {
    match op {
        UnaryOp::IsNan | UnaryOp::IsFinite => DType::Bool,
        UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag => dtype.real(),
        _ => dtype,
    }
}

/// The dtypes a binary op accepts.
pub fn binary_accepts(op: BinaryOp) -> DTypeSet {
    use BinaryOp::*;
    match op {
        Add | Mul => DTypeSet::ALL,
        Sub | Div | Pow => DTypeSet::NUMBERS,
        Rem => DTypeSet::REALS,
        Min | Max => DTypeSet::ORDERED,
        And | Or | Xor => DTypeSet::BITS,
        ShiftLeft | ShiftRight | ShiftRightLogical => DTypeSet::INTEGERS,
        Atan2 => DTypeSet::FLOATS,
        Complex => DTypeSet::PARTS,
    }
}

/// The dtype of a binary op's result on operands of `dtype`.
pub fn binary_dtype(op: BinaryOp, dtype: DType) -> DType {
    match (op, dtype) {
        (BinaryOp::Complex, DType::F64) => DType::C128,
        (BinaryOp::Complex, _) => DType::C64,
        _ => dtype,
    }
}

/// The dtypes a comparison accepts. Complex numbers compare for equality only.
pub fn compare_accepts(op: CompareOp) -> DTypeSet {
    match op {
        CompareOp::Eq | CompareOp::Ne => DTypeSet::ALL,
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => DTypeSet::ORDERED,
    }
}

/// The dtypes a reduction, a scan or a combining scatter accepts.
pub fn combine_accepts(op: CombineOp) -> DTypeSet {
    binary_accepts(op.binary())
}
