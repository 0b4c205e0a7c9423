//! Random numbers.
//!
//! Each element is a function of the seed and of its position: Threefry-2x32 with 20 rounds (Salmon et
//! al., 2011), recorded as ops on a counter. Only ops that are exact, or rounded in one way, are used, so
//! every device gives the same bits. The seed enters as constants, so another seed compiles nothing.

use super::Tensor;
use super::create::{counted, source_mistake};
use super::method::naming;
use super::normal::inverse_error_function;
use super::operand::whole;
use super::record::{constant, record_at};
use crate::runtime::Device;
use crate::{DType, Element, Shape};
use inflight_ir::graph::Op;
use std::f64::consts::SQRT_2;
use std::panic::Location;

impl Tensor {
    /// Random bits, as `u32`. The same seed gives the same bits on every device.
    #[track_caller]
    pub fn rand_bits(shape: impl Into<Shape>, seed: u64, device: &Device) -> Tensor {
        let _naming = naming("rand_bits");
        let shape = shape.into();
        let [bits, _] = words(&shape, seed, device);
        shaped(bits, shape)
    }

    /// Uniform random floats in [0, 1): multiples of 2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`, 2⁻¹¹ for `f16` and
    /// 2⁻⁸ for `bf16`. The same seed gives the same bits on every device.
    #[track_caller]
    pub fn rand<T: Element>(shape: impl Into<Shape>, seed: u64, device: &Device) -> Tensor {
        let _naming = naming("rand");
        let shape = shape.into();
        if !T::DTYPE.is_float() {
            return not_float("rand", shape, T::DTYPE, device);
        }
        let [high, low] = words(&shape, seed, device);
        let uniform = match T::DTYPE {
            DType::F64 => {
                let high = top_bits(&high, 27).cast(DType::F64);
                let low = top_bits(&low, 26).cast(DType::F64);
                (high * (1u64 << 26) + low) * (-53f64).exp2()
            }
            dtype => {
                let digits: u8 = match dtype {
                    DType::F16 => 11,
                    DType::BF16 => 8,
                    _ => 24,
                };
                let scale = (-f64::from(digits)).exp2();
                (top_bits(&high, digits).cast(DType::F32) * scale).cast(dtype)
            }
        };
        shaped(uniform, shape)
    }

    /// Normally distributed random floats. The same seed gives the same bits on every device.
    #[track_caller]
    pub fn randn<T: Element>(
        mean: f64,
        deviation: f64,
        shape: impl Into<Shape>,
        seed: u64,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("randn");
        let shape = shape.into();
        if !T::DTYPE.is_float() {
            return not_float("randn", shape, T::DTYPE, device);
        }
        let words = words(&shape, seed, device);
        // The distance of the inverse error function's argument from ±1: a small distance is exact to its last bit, so
        // the tails are as fine as the middle. The bit that it leaves out is the sign.
        let distance = distances(&words, T::DTYPE);
        let [high, _] = words;
        let normal = inverse_error_function(&distance) * (SQRT_2 * deviation);
        let normal = high.bitcast(DType::I32).lt(0).where_cond(-&normal, &normal) + mean;
        shaped(normal.cast(T::DTYPE), shape)
    }

    /// Uniform random integers, at least `low` and below `high`. The same seed gives the same bits on
    /// every device.
    ///
    /// Of 2⁶⁴ equally likely draws each integer gets as many as another, or one more.
    #[track_caller]
    pub fn randint<T: Element>(
        low: T,
        high: T,
        shape: impl Into<Shape>,
        seed: u64,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("randint");
        let shape = shape.into();
        let [low, high] = [low, high].map(T::to_scalar);
        let range = match (whole(low), whole(high)) {
            (Some(low), Some(high)) if T::DTYPE.is_integer() => high - low,
            _ => {
                let message = format!("expected an integer dtype, found {}", T::DTYPE);
                return source_mistake("randint", message, shape, T::DTYPE, device);
            }
        };
        let Ok(range @ 1..) = u64::try_from(range) else {
            let message = format!("there is no integer in {low}..{high}");
            return source_mistake("randint", message, shape, T::DTYPE, device);
        };
        let [first, second] = words(&shape, seed, device);
        let offset = scaled(first.cast(DType::U64), second.cast(DType::U64), range);
        let low = constant(low, device, Location::caller());
        shaped(offset.cast(T::DTYPE) + low, shape)
    }
}

#[track_caller]
pub(super) fn not_float(name: &'static str, shape: Shape, dtype: DType, device: &Device) -> Tensor {
    source_mistake(name, format!("expected a float dtype, found {dtype}"), shape, dtype, device)
}

/// Uniform values in (0, 1] of all bits but the highest, exact to the last bit near 0: `f64` for `f64`, `f32` for other
/// floats.
#[track_caller]
pub(super) fn distances([high, low]: &[Tensor; 2], dtype: DType) -> Tensor {
    let magnitude = (high & i32::MAX).bitcast(DType::I32);
    match dtype {
        DType::F64 => {
            let low = top_bits(low, 31).cast(DType::F64) + 0.5;
            (magnitude.cast(DType::F64) * (1u64 << 31) + low) * (-62f64).exp2()
        }
        _ => (magnitude.cast(DType::F32) + 0.5) * (-31f64).exp2(),
    }
}

/// The flat result in the shape that was asked for.
#[track_caller]
fn shaped(flat: Tensor, shape: Shape) -> Tensor {
    // Only a shape that is too large is not of as many elements; the failed tensor has a shape already.
    match flat.check().is_err() || *flat.shape() == shape {
        true => flat,
        false => record_at(Op::Reshape(shape), &[&flat], Location::caller()),
    }
}

/// The first `count` bits of each word, at most 31, as a non-negative `i32`.
#[track_caller]
fn top_bits(word: &Tensor, count: u8) -> Tensor {
    (word >> (32 - count)).bitcast(DType::I32)
}

/// `range` · (`high` · 2³² + `low`) / 2⁶⁴, rounded down; all `u64`, both words below 2³².
#[track_caller]
fn scaled(high: Tensor, low: Tensor, range: u64) -> Tensor {
    let (range_high, range_low) = (range >> 32, range & 0xffff_ffff);
    let middle = &high * range_low + ((&low * range_low) >> 32);
    if range_high == 0 {
        return middle >> 32;
    }
    let other = low * range_high + (&middle & 0xffff_ffffu32);
    high * range_high + (middle >> 32) + (other >> 32)
}

/// Two random words for each element of a shape, flat.
#[track_caller]
pub(super) fn words(shape: &Shape, seed: u64, device: &Device) -> [Tensor; 2] {
    let key = [seed as u32, (seed >> 32) as u32];
    let Some(elements) = shape.checked_elements() else {
        let failed = Tensor::zeros::<u32>(shape, device);
        return [failed.clone(), failed];
    };
    let flat = Shape::from([elements]);
    if elements as u64 <= 1 << 32 {
        return threefry(key, &counted(DType::U32, flat, 0, device), None);
    }
    let counter = counted(DType::U64, flat, 0, device);
    let high = (&counter >> 32).cast(DType::U32);
    threefry(key, &counter.cast(DType::U32), Some(&high))
}

/// How far each round rotates.
pub(super) const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];

/// What makes the third word of the key differ from the others.
pub(super) const PARITY: u32 = 0x1BD1_1BDA;

/// Threefry-2x32 with 20 rounds of a counter of two words; no second word is a second word of zeros.
#[track_caller]
fn threefry(key: [u32; 2], low: &Tensor, high: Option<&Tensor>) -> [Tensor; 2] {
    let device = low.device();
    let location = Location::caller();
    let keys = [key[0], key[1], PARITY ^ key[0] ^ key[1]];
    let left = ROTATIONS.map(|count| constant(count.into(), device, location));
    let right = ROTATIONS.map(|count| constant((32 - count).into(), device, location));

    // A first round on a second word that is constant is half done here.
    let (mut x, mut y, first) = match high {
        Some(high) => (low + keys[0], high + keys[1], 0),
        None => {
            let x = low + keys[0].wrapping_add(keys[1]);
            let y = &x ^ keys[1].rotate_left(ROTATIONS[0]);
            (x, y, 1)
        }
    };
    for round in first..20 {
        let rotation = round % 8;
        x += &y;
        y = ((&y << &left[rotation]) | (&y >> &right[rotation])) ^ &x;
        if round % 4 == 3 {
            let injection = round / 4 + 1;
            x += keys[injection % 3];
            y += keys[(injection + 1) % 3].wrapping_add(injection as u32);
        }
    }
    [x, y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuOptions;

    /// The test vectors of Random123.
    #[test]
    fn threefry_gives_the_published_words() {
        let vectors: [([u32; 2], [u32; 2], [u32; 2]); 3] = [
            ([0, 0], [0, 0], [0x6b200159, 0x99ba4efe]),
            ([u32::MAX; 2], [u32::MAX; 2], [0x1cb996fc, 0xbb002be7]),
            ([0x243f6a88, 0x85a308d3], [0x13198a2e, 0x03707344], [0xc4923a9c, 0x483df7a0]),
        ];
        let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
        for (counter, key, expected) in vectors {
            let [low, high] =
                counter.map(|word| Tensor::from_vec(vec![word], [1], &device).unwrap());
            let found = threefry(key, &low, Some(&high));
            let found = found.map(|word| word.item::<u32>().unwrap());
            assert_eq!(found, expected, "{found:08x?}");
        }
    }

    #[test]
    fn a_missing_second_word_is_zero() {
        let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
        let low = Tensor::iota::<u32>(0, [100], &device);
        let high = Tensor::zeros::<u32>([100], &device);
        let short = threefry([3, 7], &low, None).map(|word| word.to_vec::<u32>().unwrap());
        let long = threefry([3, 7], &low, Some(&high)).map(|word| word.to_vec::<u32>().unwrap());
        assert_eq!(short, long);
    }

    #[test]
    fn draws_are_scaled_without_losing_bits() {
        let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
        let draws: [u64; 5] = [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
        let upload = |word: fn(u64) -> u64| {
            Tensor::from_vec(draws.map(word).to_vec(), [draws.len()], &device).unwrap()
        };
        for range in
            [1, 6, u32::MAX as u64, 1 << 32, (1 << 32) + 1, u64::MAX, 0xdead_beef_0bad_f00d]
        {
            let found = scaled(upload(|draw| draw >> 32), upload(|draw| draw & 0xffff_ffff), range);
            let expected = draws.map(|draw| ((draw as u128 * range as u128) >> 64) as u64);
            assert_eq!(found.to_vec::<u64>().unwrap(), expected, "{range}");
        }
    }
}
