//! Encoding of 4-, 6- and 8-bit floating point formats (`f8E4M3FN`, `f4E2M1FN`, …) by enumerating all codes.

/// The bit layout of a format.
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

/// The codes that are not finite values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// All codes with the highest exponent, as in IEEE 754.
    HighestExponent,
    /// All magnitude bits set, with either sign.
    AllOnes,
    /// The code of negative zero.
    MinusZero,
    /// Every code is finite.
    None,
}

fn format(name: &str) -> Option<Format> {
    let (exponent_bits, mantissa_bits, bias, special) = match name {
        "f4E2M1FN" => (2, 1, 1, Special::None),
        "f6E2M3FN" => (2, 3, 1, Special::None),
        "f6E3M2FN" => (3, 2, 3, Special::None),
        "f8E3M4" => (3, 4, 3, Special::HighestExponent),
        "f8E4M3" => (4, 3, 7, Special::HighestExponent),
        "f8E4M3FN" => (4, 3, 7, Special::AllOnes),
        "f8E4M3FNUZ" => (4, 3, 8, Special::MinusZero),
        "f8E4M3B11FNUZ" => (4, 3, 11, Special::MinusZero),
        "f8E5M2" => (5, 2, 15, Special::HighestExponent),
        "f8E5M2FNUZ" => (5, 2, 16, Special::MinusZero),
        _ => return None,
    };
    Some(Format { exponent_bits, mantissa_bits, bias, special })
}

/// The magnitude of a code without its sign bit. `None` if it is not finite.
fn magnitude(format: &Format, bits: u32) -> Option<f64> {
    let highest = (1 << format.exponent_bits) - 1;
    let (exponent, mantissa) =
        (bits >> format.mantissa_bits, bits & ((1 << format.mantissa_bits) - 1));
    let is_special = match format.special {
        Special::HighestExponent => exponent == highest,
        Special::AllOnes => bits == (1 << (format.exponent_bits + format.mantissa_bits)) - 1,
        Special::MinusZero | Special::None => false,
    };
    if is_special {
        return None;
    }
    let scale = f64::powi(2.0, -(format.mantissa_bits as i32));
    let fraction = f64::from(mantissa) * scale;
    Some(match exponent {
        0 => fraction * f64::powi(2.0, 1 - format.bias),
        _ => (1.0 + fraction) * f64::powi(2.0, exponent as i32 - format.bias),
    })
}

/// Encodes a finite value in the named format, rounding to nearest even. `None` if the format is unknown.
pub(crate) fn encode(name: &str, value: f64) -> Option<u8> {
    let format = format(name)?;
    let bits = format.exponent_bits + format.mantissa_bits;
    let distance = |code: u32| magnitude(&format, code).map(|known| (known - value.abs()).abs());
    let nearest = (0..1u32 << bits).filter(|code| distance(*code).is_some()).min_by(|a, b| {
        distance(*a)
            .unwrap_or(f64::MAX)
            .total_cmp(&distance(*b).unwrap_or(f64::MAX))
            .then((a & 1).cmp(&(b & 1)))
    })?;
    // These formats use the code of negative zero for NaN.
    let is_negative =
        value.is_sign_negative() && !(nearest == 0 && format.special == Special::MinusZero);
    Some((nearest | u32::from(is_negative) << bits) as u8)
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn encode_rounds_to_nearest_even() {
        assert_eq!(encode("f8E4M3FN", 1.0), Some(0x38));
        assert_eq!(encode("f8E4M3FN", -448.0), Some(0xfe));
        assert_eq!(encode("f8E5M2", 1.0), Some(0x3c));
        assert_eq!(encode("f8E5M2", -0.0), Some(0x80));
        assert_eq!(encode("f8E4M3FNUZ", -0.0), Some(0));
        assert_eq!(encode("f8E4M3FNUZ", 1.0), Some(0x40));
        assert_eq!(encode("f4E2M1FN", 6.0), Some(7));
        // Halfway between 1.0 and 1.125: rounds to the even code.
        assert_eq!(encode("f8E4M3FN", 1.0625), Some(0x38));
        assert_eq!(encode("f8E4M3FN", 1.1875), Some(0x3a));
        assert_eq!(encode("f32", 1.0), None);
    }
}
