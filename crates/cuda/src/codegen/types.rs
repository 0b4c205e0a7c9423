//! CUDA C++ spellings of dtypes, literals and scalar arguments.

use inflight_ir::{DType, Scalar};

/// The C++ type of a dtype.
pub fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "signed char",
        DType::I16 => "short",
        DType::I32 => "int",
        DType::I64 => "long long",
        DType::U8 => "unsigned char",
        DType::U16 => "unsigned short",
        DType::U32 => "unsigned",
        DType::U64 => "unsigned long long",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "c64",
        DType::C128 => "c128",
    }
}

/// The unsigned type for integer arithmetic: unsigned overflow wraps, signed overflow is undefined.
pub fn wrapping(dtype: DType) -> &'static str {
    match dtype.size() {
        8 => "unsigned long long",
        _ => "unsigned",
    }
}

/// A literal with exactly the bits of a value.
pub fn literal(value: Scalar) -> String {
    let [low, high] = value.bits();
    match value.dtype() {
        DType::Bool => (low != 0).to_string(),
        DType::I8 | DType::I16 | DType::I32 => format!("({})0x{low:x}u", name(value.dtype())),
        DType::U8 | DType::U16 | DType::U32 => format!("({})0x{low:x}u", name(value.dtype())),
        DType::I64 | DType::U64 => format!("({})0x{low:x}ull", name(value.dtype())),
        DType::F16 => format!("f16{{0x{low:x}}}"),
        DType::BF16 => format!("bf16{{0x{low:x}}}"),
        DType::F32 => single(low as u32),
        DType::F64 => double(low),
        DType::C64 => format!("c64{{{}, {}}}", single(low as u32), single((low >> 32) as u32)),
        DType::C128 => format!("c128{{{}, {}}}", double(low), double(high)),
    }
}

fn single(bits: u32) -> String {
    format!("__uint_as_float(0x{bits:x}u)")
}

fn double(bits: u64) -> String {
    format!("__longlong_as_double(0x{bits:x}ll)")
}

/// The expression of a scalar argument, which is passed as two 64-bit words.
pub fn scalar(dtype: DType, position: usize) -> String {
    let low = format!("a.scalar[{}]", 2 * position);
    let high = format!("a.scalar[{}]", 2 * position + 1);
    match dtype {
        DType::Bool => format!("({low} != 0)"),
        DType::F16 => format!("f16{{(unsigned short){low}}}"),
        DType::BF16 => format!("bf16{{(unsigned short){low}}}"),
        DType::F32 => format!("__uint_as_float((unsigned){low})"),
        DType::F64 => format!("__longlong_as_double((long long){low})"),
        DType::C64 => format!(
            "c64{{__uint_as_float((unsigned){low}), __uint_as_float((unsigned)({low} >> 32))}}"
        ),
        DType::C128 => format!(
            "c128{{__longlong_as_double((long long){low}), __longlong_as_double((long long){high})}}"
        ),
        _ => format!("({}){low}", name(dtype)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_preserve_all_bits() {
        assert_eq!(literal(1.5f32.into()), "__uint_as_float(0x3fc00000u)");
        assert_eq!(literal((-1i8).into()), "(signed char)0xffu");
        assert_eq!(literal(i64::MIN.into()), "(long long)0x8000000000000000ull");
        assert_eq!(literal(true.into()), "true");
    }
}
