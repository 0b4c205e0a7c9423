//! Random elements.

use super::Random;
use inflight_ir::interpret::Array;
use inflight_ir::{DType, DTypeClass, Element, Scalar, Shape};
use num_complex::Complex;

/// Distribution of the values of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// Small integers, whose sums are exact.
    Whole,
    /// Moderate magnitudes, both signs.
    Moderate,
    /// Moderate magnitudes, positive.
    Positive,
    /// Any exponent; for integers, any bits.
    Wide,
    /// Moderate, mixed with zeros, infinities, NaN, subnormals and extreme values.
    Special,
}

impl Profile {
    /// A random profile, weighted towards moderate ones.
    pub fn random(random: &mut Random) -> Profile {
        random.weighted(&[
            (30, Profile::Whole),
            (40, Profile::Moderate),
            (17, Profile::Positive),
            (7, Profile::Wide),
            (6, Profile::Special),
        ])
    }
}

/// An array of random elements.
pub fn array(random: &mut Random, shape: &Shape, dtype: DType, profile: Profile) -> Array {
    let values: Vec<Scalar> =
        (0..shape.element_count()).map(|_| element(random, dtype, profile)).collect();
    Array::from_scalars(values, shape, dtype)
}

/// Indices of an axis of this extent, some of them out of range, in an integer dtype.
pub fn positions(random: &mut Random, shape: &Shape, dtype: DType, extent: usize) -> Array {
    let outside = random.chance(40);
    let values: Vec<Scalar> = (0..shape.element_count())
        .map(|_| match outside && random.chance(15) {
            true => element(random, dtype, Profile::Wide),
            false => (random.below(extent.max(1)) as u64).to_scalar().cast(dtype),
        })
        .collect();
    Array::from_scalars(values, shape, dtype)
}

/// One random element.
pub fn element(random: &mut Random, dtype: DType, profile: Profile) -> Scalar {
    match dtype.class() {
        DTypeClass::Bool => random.chance(50).to_scalar(),
        DTypeClass::Signed | DTypeClass::Unsigned => integer(random, dtype, profile),
        DTypeClass::Float => float(random, dtype, profile).to_scalar().cast(dtype),
        DTypeClass::Complex => {
            let (re, im) =
                (float(random, dtype.real(), profile), float(random, dtype.real(), profile));
            Complex::new(re, im).to_scalar().cast(dtype)
        }
    }
}

fn integer(random: &mut Random, dtype: DType, profile: Profile) -> Scalar {
    let small = |value: isize| (value as i64).to_scalar().cast(dtype);
    match profile {
        Profile::Whole | Profile::Moderate => small(random.between(-9, 9)),
        Profile::Positive => small(random.between(1, 20)),
        Profile::Wide => Scalar::from_bits(dtype, [random.bits(), 0]),
        Profile::Special => match random.below(6) {
            0 => Scalar::lowest(dtype),
            1 => Scalar::highest(dtype),
            2 => Scalar::zero(dtype),
            3 => small(-1),
            4 => Scalar::from_bits(dtype, [1 << random.below(64), 0]),
            _ => small(random.between(-9, 9)),
        },
    }
}

fn float(random: &mut Random, dtype: DType, profile: Profile) -> f64 {
    let moderate = |random: &mut Random| 6.0 * random.unit() - 3.0;
    match profile {
        Profile::Whole => random.between(-8, 8) as f64,
        Profile::Moderate => moderate(random),
        Profile::Positive => 0.05 + 4.0 * random.unit(),
        Profile::Wide => {
            let reach = if dtype == DType::F16 { 12 } else { 40 };
            moderate(random) * f64::powi(2.0, random.between(-reach, reach) as i32)
        }
        Profile::Special => {
            let tiny = match dtype {
                DType::F16 => 1e-6,
                DType::F64 => 1e-310,
                _ => 1e-40,
            };
            let huge = match dtype {
                DType::F16 => 6e4,
                DType::F64 => 1.5e308,
                _ => 3e38,
            };
            match random.below(24) {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3 => 0.0,
                4 => -0.0,
                5 => tiny,
                6 => -tiny,
                7 => huge,
                8 => -huge,
                9 => 1.0,
                10 => -1.0,
                11 => random.between(-9, 9) as f64 + 0.5,
                _ => moderate(random),
            }
        }
    }
}
