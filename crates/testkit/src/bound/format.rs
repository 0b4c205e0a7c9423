//! The numbers of a floating-point format, and the error of a result in it.

use inflight_ir::DType;

/// The error of an element that may be anything: some decision on the way to it is closer than the error
/// of what it was decided on.
pub const UNDECIDED: f64 = f64::INFINITY;

/// The error of a zero that is exact but for its sign.
pub const EITHER_ZERO: f64 = 5e-324;

/// The error for decisions that do not look at the sign of a zero.
pub fn distance(error: f64) -> f64 {
    if error == EITHER_ZERO { 0.0 } else { error }
}

/// What is needed to know of a float dtype, or of the parts of a complex one.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the significand, with the hidden one.
    pub precision: i32,
    /// The exponent of the smallest normal number.
    pub lowest: i32,
    /// The largest finite number.
    pub max: f64,
    /// Whether numbers below the smallest normal one may become zero.
    pub flushes: bool,
}

impl Format {
    /// The format of a float dtype or of a complex one's parts.
    pub fn of(dtype: DType) -> Format {
        match dtype {
            DType::F16 => Format { precision: 11, lowest: -14, max: 65504.0, flushes: false },
            DType::BF16 => {
                let max = f64::from(half::bf16::MAX);
                Format { precision: 8, lowest: -126, max, flushes: true }
            }
            DType::F32 | DType::C64 => {
                Format { precision: 24, lowest: -126, max: f32::MAX as f64, flushes: true }
            }
            _ => Format { precision: 53, lowest: -1022, max: f64::MAX, flushes: true },
        }
    }

    /// The format in which values of a dtype are added up.
    pub fn accumulator(dtype: DType) -> Format {
        Format::of(if dtype.is_half() { DType::F32 } else { dtype })
    }

    /// Half the distance of 1 to the next number: the relative error of a rounding.
    pub fn unit(&self) -> f64 {
        f64::powi(2.0, -self.precision)
    }

    /// The smallest normal number.
    pub fn min_normal(&self) -> f64 {
        f64::powi(2.0, self.lowest)
    }

    /// The distance of neighbours near this magnitude.
    pub fn ulp(&self, magnitude: f64) -> f64 {
        let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        // In two steps: the smallest subnormal double has an exponent whose inverse overflows.
        f64::powi(2.0, exponent.max(self.lowest)) * f64::powi(2.0, 1 - self.precision)
    }

    /// The error of a finite result that was computed within `deviation` and then rounded by up to `ulps`.
    pub fn settle(&self, value: f64, deviation: f64, ulps: f64) -> f64 {
        if !deviation.is_finite() || !value.is_finite() {
            return UNDECIDED;
        }
        if deviation == 0.0 && ulps == 0.0 {
            return self.flushed(value, 0.0);
        }
        if ulps == 0.0 && deviation == EITHER_ZERO && value == 0.0 {
            return EITHER_ZERO;
        }
        let error = deviation + ulps * self.ulp(value.abs() + deviation);
        if value.abs() + error > self.max {
            return UNDECIDED;
        }
        self.flushed(value, error)
    }

    /// The error with room for a flush to zero.
    pub fn flushed(&self, value: f64, error: f64) -> f64 {
        let exact = value == 0.0 && distance(error) == 0.0;
        match self.flushes && !exact && value.abs() - error < self.min_normal() {
            true => error.max(self.min_normal()),
            false => error,
        }
    }

    /// The error of a result that is infinite because it is too large: none if even the smallest magnitude
    /// it may have is.
    pub fn overflowed(&self, smallest: f64) -> f64 {
        match smallest > self.max * (1.0 + 8.0 * self.unit()) {
            true => 0.0,
            false => UNDECIDED,
        }
    }
}
