//! Dtype conversion loops, with the semantics of [`Scalar::cast`](inflight_ir::Scalar::cast).

use super::element::BoolByte;
use super::elementwise::{
    BlockLoop, Function, LoopArguments, copy, multiversion, source_slice, target_slice, unary_loop,
};
use half::{bf16, f16};
use inflight_ir::{DType, Element};
use num_complex::Complex;

/// Primitive types, among which `as` wraps, truncates, saturates and rounds as a cast does.
trait Native: Copy {
    fn to<T: FromNative>(self) -> T;
    fn is_zero(self) -> bool;
}

trait FromNative: Native {
    fn from_i8(value: i8) -> Self;
    fn from_i16(value: i16) -> Self;
    fn from_i32(value: i32) -> Self;
    fn from_i64(value: i64) -> Self;
    fn from_u8(value: u8) -> Self;
    fn from_u16(value: u16) -> Self;
    fn from_u32(value: u32) -> Self;
    fn from_u64(value: u64) -> Self;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
}

macro_rules! native {
    ($($type:ident $from:ident)*) => {$(
        impl Native for $type {
            #[inline(always)]
            fn to<T: FromNative>(self) -> T {
                T::$from(self)
            }
            #[inline(always)]
            fn is_zero(self) -> bool {
                self == 0 as $type
            }
        }
        impl FromNative for $type {
            native!(from $type: i8 from_i8, i16 from_i16, i32 from_i32, i64 from_i64, u8 from_u8,
                u16 from_u16, u32 from_u32, u64 from_u64, f32 from_f32, f64 from_f64);
        }
    )*};
    (from $to:ident: $($from:ident $name:ident),*) => {$(
        #[inline(always)]
        fn $name(value: $from) -> $to {
            value as $to
        }
    )*};
}

native!(i8 from_i8 i16 from_i16 i32 from_i32 i64 from_i64 u8 from_u8 u16 from_u16 u32 from_u32
    u64 from_u64 f32 from_f32 f64 from_f64);

/// Returns the conversion loop from one dtype to another.
pub fn cast(from: DType, to: DType) -> Function {
    match from {
        _ if from == to => copy(from.size()),
        DType::Bool => match to {
            // A `bool` is stored as the integer 0 or 1.
            DType::F16 | DType::BF16 | DType::C64 | DType::C128 => through_scalar::<bool>(to),
            _ => from_native::<u8>(to),
        },
        DType::I8 => from_native::<i8>(to),
        DType::I16 => from_native::<i16>(to),
        DType::I32 => from_native::<i32>(to),
        DType::I64 => from_native::<i64>(to),
        DType::U8 => from_native::<u8>(to),
        DType::U16 => from_native::<u16>(to),
        DType::U32 => from_native::<u32>(to),
        DType::U64 => from_native::<u64>(to),
        DType::F32 => match to {
            DType::F16 => multiversion(NarrowF16),
            DType::BF16 => unary_loop(bf16_from_f32),
            DType::C64 => unary_loop(|a: f32| Complex::new(a, 0.0)),
            _ => from_native::<f32>(to),
        },
        DType::F64 => match to {
            DType::F16 => unary_loop(|a: f64| f16::from_f32(round_to_odd_f32(a))),
            DType::BF16 => unary_loop(|a: f64| bf16_from_f32(round_to_odd_f32(a))),
            DType::C128 => unary_loop(|a: f64| Complex::new(a, 0.0)),
            _ => from_native::<f64>(to),
        },
        DType::F16 => match to {
            DType::F32 => multiversion(WidenF16),
            DType::BF16 | DType::C64 | DType::C128 => through_scalar::<f16>(to),
            _ => from_wider(f16::to_f32, to),
        },
        DType::BF16 => match to {
            DType::F16 | DType::C64 | DType::C128 => through_scalar::<bf16>(to),
            _ => from_wider(f32_from_bf16, to),
        },
        DType::C64 => match to {
            DType::C128 => unary_loop(|a: Complex<f32>| Complex::new(a.re as f64, a.im as f64)),
            DType::F16 | DType::BF16 => through_scalar::<Complex<f32>>(to),
            DType::Bool => {
                unary_loop(|a: Complex<f32>| BoolByte((a.re != 0.0 || a.im != 0.0) as u8))
            }
            _ => from_wider(|a: Complex<f32>| a.re, to),
        },
        DType::C128 => match to {
            DType::C64 => unary_loop(|a: Complex<f64>| Complex::new(a.re as f32, a.im as f32)),
            DType::F16 | DType::BF16 => through_scalar::<Complex<f64>>(to),
            DType::Bool => {
                unary_loop(|a: Complex<f64>| BoolByte((a.re != 0.0 || a.im != 0.0) as u8))
            }
            _ => from_wider(|a: Complex<f64>| a.re, to),
        },
    }
}

fn from_native<A: Native + Element>(to: DType) -> Function {
    match to {
        DType::F16 | DType::BF16 | DType::C64 | DType::C128 => through_scalar::<A>(to),
        _ => from_wider(|a: A| a, to),
    }
}

/// Conversion loop by way of `widen`.
fn from_wider<A: Copy, N: Native>(widen: impl Fn(A) -> N + Copy, to: DType) -> Function {
    match to {
        DType::Bool => unary_loop(move |a: A| BoolByte(!widen(a).is_zero() as u8)),
        DType::I8 => unary_loop(move |a: A| widen(a).to::<i8>()),
        DType::I16 => unary_loop(move |a: A| widen(a).to::<i16>()),
        DType::I32 => unary_loop(move |a: A| widen(a).to::<i32>()),
        DType::I64 => unary_loop(move |a: A| widen(a).to::<i64>()),
        DType::U8 => unary_loop(move |a: A| widen(a).to::<u8>()),
        DType::U16 => unary_loop(move |a: A| widen(a).to::<u16>()),
        DType::U32 => unary_loop(move |a: A| widen(a).to::<u32>()),
        DType::U64 => unary_loop(move |a: A| widen(a).to::<u64>()),
        DType::F32 => unary_loop(move |a: A| widen(a).to::<f32>()),
        DType::F64 => unary_loop(move |a: A| widen(a).to::<f64>()),
        DType::F16 | DType::BF16 | DType::C64 | DType::C128 => unreachable!("not a native dtype"),
    }
}

/// Conversion through [`Scalar`](inflight_ir::Scalar), one element at a time: slow, for rare pairs.
fn through_scalar<A: Element>(to: DType) -> Function {
    match to {
        DType::F16 => unary_loop(|a: A| f16::from_scalar(a.to_scalar())),
        DType::BF16 => unary_loop(|a: A| bf16::from_scalar(a.to_scalar())),
        DType::C64 => unary_loop(|a: A| Complex::<f32>::from_scalar(a.to_scalar())),
        DType::C128 => unary_loop(|a: A| Complex::<f64>::from_scalar(a.to_scalar())),
        _ => unreachable!("a native dtype"),
    }
}

#[inline(always)]
fn f32_from_bf16(value: bf16) -> f32 {
    f32::from_bits((value.to_bits() as u32) << 16)
}

/// Branch-free, so that the loop vectorizes.
#[inline(always)]
fn bf16_from_f32(value: f32) -> bf16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let quiet = (bits >> 16) | 0x40;
    bf16::from_bits(if value.is_nan() { quiet } else { rounded } as u16)
}

/// Round to odd: an inexact value is truncated towards zero and its last bit is set (sticky). Rounding the result to a
/// 16-bit float then gives the same as rounding the value itself, without double rounding; `half` converts through the
/// nearest `f32` instead. Branch-free, so that the loop vectorizes. An overflow becomes the largest `f32`, whose last bit
/// is set; NaN stays NaN.
#[inline(always)]
fn round_to_odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let back = nearest as f64;
    let truncated = nearest.to_bits() - (back.abs() > value.abs()) as u32;
    f32::from_bits(truncated | (back != value) as u32)
}

#[derive(Clone, Copy)]
struct WidenF16;

impl BlockLoop for WidenF16 {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        // SAFETY: guaranteed by the caller.
        let (source, target) = unsafe {
            let source: &[f16] = source_slice(arguments.sources[0], arguments.count);
            (source, target_slice::<f32>(arguments.target, arguments.count))
        };
        half::slice::HalfFloatSliceExt::convert_to_f32_slice(source, target);
    }
}

#[derive(Clone, Copy)]
struct NarrowF16;

impl BlockLoop for NarrowF16 {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        // SAFETY: guaranteed by the caller.
        let (source, target) = unsafe {
            let source: &[f32] = source_slice(arguments.sources[0], arguments.count);
            (source, target_slice::<f16>(arguments.target, arguments.count))
        };
        half::slice::HalfFloatSliceExt::convert_from_f32_slice(target, source);
    }
}
