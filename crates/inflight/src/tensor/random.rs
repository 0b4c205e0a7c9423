//! Counter-based random number generation (PRNG) with Threefry-2x32, 20 rounds (Salmon et al., 2011).
//!
//! Each element is a function of the seed and of its index, recorded as ops on an `iota` counter. All of these ops are
//! exact or correctly rounded, so every device gives the same bits. The seed enters as constants, which are kernel
//! arguments: a new seed reuses the compiled kernel.

use super::Tensor;
use super::create::{creation_error, float_dtype_error, record_iota};
use super::method::naming;
use super::normal::inverse_error_function;
use super::operand::integer_value;
use super::record::{constant, record_at};
use crate::runtime::Device;
use crate::{DType, Element, Shape};
use inflight_ir::graph::Op;
use std::f64::consts::SQRT_2;
use std::panic::Location;

impl Tensor {
    /// Creates a tensor of random bits, as `u32`. The same seed gives the same bits on every device.
    #[doc(alias("bits", "random_raw"))]
    #[track_caller]
    pub fn rand_bits(shape: impl Into<Shape>, seed: u64, device: &Device) -> Tensor {
        let _naming = naming("rand_bits");
        let shape = shape.into();
        let [bits, _] = random_words(&shape, seed, device);
        reshape_flat(bits, shape)
    }

    /// Creates a tensor of uniform random floats in [0, 1). The same seed gives the same bits on every device.
    ///
    /// The values are multiples of 2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`, 2⁻¹¹ for `f16` and 2⁻⁸ for `bf16`. The result carries
    /// an error if the dtype is not a float. [`Rng`](crate::Rng) keeps track of seeds.
    #[doc(alias("uniform", "random"))]
    #[track_caller]
    pub fn rand<T: Element>(shape: impl Into<Shape>, seed: u64, device: &Device) -> Tensor {
        let _naming = naming("rand");
        rand_with_dtype("rand", shape.into(), T::DTYPE, seed, device)
    }

    /// Creates a tensor of uniform random floats in [0, 1) with this tensor's shape, dtype and device.
    ///
    /// The values are those of [`rand`](Tensor::rand) with the same seed. The result carries an error if the dtype is
    /// not a float.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// let x = Tensor::zeros::<f32>([2, 3], &device);
    /// let noise = x.rand_like(7);
    /// assert_eq!(noise.to_vec::<f32>()?, Tensor::rand::<f32>([2, 3], 7, &device).to_vec::<f32>()?);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("uniform"))]
    #[track_caller]
    pub fn rand_like(&self, seed: u64) -> Tensor {
        let shape = self.shape().clone();
        rand_with_dtype("rand_like", shape, self.dtype(), seed, self.device())
    }

    /// Creates a tensor of normally distributed random floats with this mean and standard deviation. The same seed gives
    /// the same bits on every device.
    ///
    /// The result carries an error if the dtype is not a float. [`Rng`](crate::Rng) keeps track of seeds.
    #[doc(alias("normal", "standard_normal"))]
    #[track_caller]
    pub fn randn<T: Element>(
        mean: f64,
        deviation: f64,
        shape: impl Into<Shape>,
        seed: u64,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("randn");
        randn_with_dtype("randn", [mean, deviation], shape.into(), T::DTYPE, seed, device)
    }

    /// Creates a tensor of normally distributed random floats of mean 0 and standard deviation 1, with this tensor's
    /// shape, dtype and device.
    ///
    /// The values are those of [`randn`](Tensor::randn) with the same seed. The result carries an error if the dtype is
    /// not a float.
    #[doc(alias("normal_like", "standard_normal"))]
    #[track_caller]
    pub fn randn_like(&self, seed: u64) -> Tensor {
        let shape = self.shape().clone();
        randn_with_dtype("randn_like", [0.0, 1.0], shape, self.dtype(), seed, self.device())
    }

    /// Creates a tensor of uniform random integers from `low` to `high`, excluding `high`. The same seed gives the same
    /// bits on every device.
    ///
    /// Each integer is hit by ⌊2⁶⁴ / (`high` − `low`)⌋ of the 2⁶⁴ equally likely draws, or by one more. The result carries
    /// an error if the dtype is not an integer or the range is empty. [`Rng`](crate::Rng) keeps track of seeds.
    #[doc(alias("integers", "random_integers"))]
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
        let range = match (integer_value(low), integer_value(high)) {
            (Some(low), Some(high)) if T::DTYPE.is_integer() => high - low,
            _ => {
                let message = format!("expected an integer dtype, found {}", T::DTYPE);
                return creation_error("randint", message, shape, T::DTYPE, device);
            }
        };
        let Ok(range @ 1..) = u64::try_from(range) else {
            let message = format!("expected low < high, found the empty range {low}..{high}");
            return creation_error("randint", message, shape, T::DTYPE, device);
        };
        let [first, second] = random_words(&shape, seed, device);
        let offset = multiply_high(first.cast(DType::U64), second.cast(DType::U64), range);
        let low = constant(low, device, Location::caller());
        reshape_flat(offset.cast(T::DTYPE) + low, shape)
    }
}

/// Records uniform floats in [0, 1). `name` is the method that errors name.
#[track_caller]
fn rand_with_dtype(
    name: &'static str,
    shape: Shape,
    dtype: DType,
    seed: u64,
    device: &Device,
) -> Tensor {
    if !dtype.is_float() {
        return float_dtype_error(name, shape, dtype, device);
    }
    let [high, low] = random_words(&shape, seed, device);
    let uniform = match dtype {
        DType::F64 => {
            let high = leading_bits(&high, 27).cast(DType::F64);
            let low = leading_bits(&low, 26).cast(DType::F64);
            (high * (1u64 << 26) + low) * (-53f64).exp2()
        }
        dtype => {
            let bits: u8 = match dtype {
                DType::F16 => 11,
                DType::BF16 => 8,
                _ => 24,
            };
            let scale = (-f64::from(bits)).exp2();
            (leading_bits(&high, bits).cast(DType::F32) * scale).cast(dtype)
        }
    };
    reshape_flat(uniform, shape)
}

/// Records normally distributed floats by the inverse of the cumulative distribution function. `name` is the method that
/// errors name.
#[track_caller]
fn randn_with_dtype(
    name: &'static str,
    [mean, deviation]: [f64; 2],
    shape: Shape,
    dtype: DType,
    seed: u64,
    device: &Device,
) -> Tensor {
    if !dtype.is_float() {
        return float_dtype_error(name, shape, dtype, device);
    }
    let words = random_words(&shape, seed, device);
    // Draw the distance of the inverse error function's argument from ±1: small distances have full relative precision,
    // so the tails are as fine as the middle. The highest bit, which the distance does not use, is the sign.
    let distance = uniform_nonzero(&words, dtype);
    let [high, _] = words;
    let normal = inverse_error_function(&distance) * (SQRT_2 * deviation);
    let normal = high.bitcast(DType::I32).lt(0).where_cond(-&normal, &normal) + mean;
    reshape_flat(normal.cast(dtype), shape)
}

/// Uniform values in (0, 1] from all bits but the highest, with full relative precision near 0: `f64` for `f64`, `f32`
/// for other floats.
#[track_caller]
pub(super) fn uniform_nonzero([high, low]: &[Tensor; 2], dtype: DType) -> Tensor {
    let magnitude = (high & i32::MAX).bitcast(DType::I32);
    match dtype {
        DType::F64 => {
            let low = leading_bits(low, 31).cast(DType::F64) + 0.5;
            (magnitude.cast(DType::F64) * (1u64 << 31) + low) * (-62f64).exp2()
        }
        _ => (magnitude.cast(DType::F32) + 0.5) * (-31f64).exp2(),
    }
}

/// Reshapes a rank-1 result to the requested shape.
#[track_caller]
fn reshape_flat(flat: Tensor, shape: Shape) -> Tensor {
    // A requested shape that is too large made `flat` fail; it has a plausible shape already.
    match flat.check().is_err() || *flat.shape() == shape {
        true => flat,
        false => record_at(Op::Reshape(shape), &[&flat], Location::caller()),
    }
}

/// The leading `count` bits of each word, at most 31, as a non-negative `i32`.
#[track_caller]
fn leading_bits(word: &Tensor, count: u8) -> Tensor {
    (word >> (32 - count)).bitcast(DType::I32)
}

/// The high 64 bits of the 128-bit product `range` · (`high` · 2³² + `low`). All are `u64`, both words below 2³².
#[track_caller]
fn multiply_high(high: Tensor, low: Tensor, range: u64) -> Tensor {
    let (range_high, range_low) = (range >> 32, range & 0xffff_ffff);
    let middle = &high * range_low + ((&low * range_low) >> 32);
    if range_high == 0 {
        return middle >> 32;
    }
    let other = low * range_high + (&middle & 0xffff_ffffu32);
    high * range_high + (middle >> 32) + (other >> 32)
}

/// Two random 32-bit words for each element of a shape, as rank-1 tensors.
#[track_caller]
pub(super) fn random_words(shape: &Shape, seed: u64, device: &Device) -> [Tensor; 2] {
    let key = [seed as u32, (seed >> 32) as u32];
    let Some(elements) = shape.checked_element_count() else {
        let failed = Tensor::zeros::<u32>(shape, device);
        return [failed.clone(), failed];
    };
    let flat = Shape::from([elements]);
    if elements as u64 <= 1 << 32 {
        return threefry(key, &record_iota(DType::U32, flat, 0, device), None);
    }
    let counter = record_iota(DType::U64, flat, 0, device);
    let high = (&counter >> 32).cast(DType::U32);
    threefry(key, &counter.cast(DType::U32), Some(&high))
}

/// The rotation distances of Threefry-2x32, which repeat every eight rounds.
pub(super) const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];

/// The key schedule constant of Threefry-2x32: the parity of the third key word.
pub(super) const PARITY: u32 = 0x1BD1_1BDA;

/// Threefry-2x32 with 20 rounds. The counter is `low` and `high`; a missing `high` is 0.
#[track_caller]
fn threefry(key: [u32; 2], low: &Tensor, high: Option<&Tensor>) -> [Tensor; 2] {
    let device = low.device();
    let location = Location::caller();
    let keys = [key[0], key[1], PARITY ^ key[0] ^ key[1]];
    let left = ROTATIONS.map(|count| constant(count.into(), device, location));
    let right = ROTATIONS.map(|count| constant((32 - count).into(), device, location));

    // A constant second word folds half of the first round into constants.
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

    /// Test vectors of the Random123 library.
    #[test]
    fn threefry_matches_random123_vectors() {
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
    fn threefry_with_missing_high_word_equals_zero_word() {
        let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
        let low = Tensor::iota::<u32>(0, [100], &device);
        let high = Tensor::zeros::<u32>([100], &device);
        let short = threefry([3, 7], &low, None).map(|word| word.to_vec::<u32>().unwrap());
        let long = threefry([3, 7], &low, Some(&high)).map(|word| word.to_vec::<u32>().unwrap());
        assert_eq!(short, long);
    }

    #[test]
    fn multiply_high_matches_128_bit_product() {
        let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
        let draws: [u64; 5] = [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
        let upload = |word: fn(u64) -> u64| {
            Tensor::from_vec(draws.map(word).to_vec(), [draws.len()], &device).unwrap()
        };
        for range in
            [1, 6, u32::MAX as u64, 1 << 32, (1 << 32) + 1, u64::MAX, 0xdead_beef_0bad_f00d]
        {
            let found =
                multiply_high(upload(|draw| draw >> 32), upload(|draw| draw & 0xffff_ffff), range);
            let expected = draws.map(|draw| ((draw as u128 * range as u128) >> 64) as u64);
            assert_eq!(found.to_vec::<u64>().unwrap(), expected, "{range}");
        }
    }
}
