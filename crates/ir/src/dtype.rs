//! Element types.

use std::fmt;

/// The type of a tensor's elements, known at run time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed 8-bit integer, wrapping.
    I8,
    /// Signed 16-bit integer, wrapping.
    I16,
    /// Signed 32-bit integer, wrapping.
    I32,
    /// Signed 64-bit integer, wrapping.
    I64,
    /// Unsigned 8-bit integer, wrapping.
    U8,
    /// Unsigned 16-bit integer, wrapping.
    U16,
    /// Unsigned 32-bit integer, wrapping.
    U32,
    /// Unsigned 64-bit integer, wrapping.
    U64,
    /// IEEE half precision (binary16).
    F16,
    /// bfloat16: the upper 16 bits of an `f32`.
    BF16,
    /// IEEE single precision (binary32).
    F32,
    /// IEEE double precision (binary64).
    F64,
    /// Complex: two `f32`, real and imaginary.
    C64,
    /// Complex: two `f64`, real and imaginary.
    C128,
}

/// The class of a [`DType`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DTypeClass {
    /// True or false.
    Bool,
    /// `i8` to `i64`.
    Signed,
    /// `u8` to `u64`.
    Unsigned,
    /// `f16`, `bf16`, `f32`, `f64`.
    Float,
    /// `complex64`, `complex128`.
    Complex,
}

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [DType; 15] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// The class of the dtype.
    pub const fn class(self) -> DTypeClass {
        match self {
            DType::Bool => DTypeClass::Bool,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => DTypeClass::Signed,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => DTypeClass::Unsigned,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => DTypeClass::Float,
            DType::C64 | DType::C128 => DTypeClass::Complex,
        }
    }

    /// Whether this is `f16`, `bf16`, `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), DTypeClass::Float)
    }

    /// Whether this is a signed or unsigned integer; `bool` is not one.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), DTypeClass::Signed | DTypeClass::Unsigned)
    }

    /// Whether this is `complex64` or `complex128`.
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), DTypeClass::Complex)
    }

    /// Whether this is a 16-bit float, `f16` or `bf16`. Their arithmetic is done in `f32` and rounded after each op.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// The dtype of the real and imaginary parts of a complex dtype; any other dtype itself.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The name used in messages and in kernel text, as StableHLO spells it where it can.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// The dtype of this name, if there is one.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
