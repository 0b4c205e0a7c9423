//! Parameters of floating-point formats, and rounding errors in them.

use inflight_ir::DType;

/// The error of an element that may have any value: a decision on the way to it is closer than the error of its
/// input.
pub const UNDECIDED: f64 = f64::INFINITY;

/// The error of a zero of unknown sign.
pub const EITHER_ZERO: f64 = 5e-324;

/// The error for decisions that ignore the sign of a zero.
pub fn distance(error: f64) -> f64 {
    if error == EITHER_ZERO { 0.0 } else { error }
}

/// Parameters of a float dtype, or of the parts of a complex one.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the significand, including the implicit one.
    pub precision: i32,
    /// The exponent of the smallest normal number.
    pub lowest: i32,
    /// The largest finite number.
    pub max: f64,
    /// Whether subnormals may flush to zero.
    pub flushes: bool,
}

impl Format {
    /// The format of a float dtype or of the parts of a complex one.
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

    /// The format in which sums of a dtype are accumulated.
    pub fn accumulator(dtype: DType) -> Format {
        Format::of(if dtype.is_half() { DType::F32 } else { dtype })
    }

    /// Unit roundoff: half the distance from 1 to the next value.
    pub fn unit(&self) -> f64 {
        f64::powi(2.0, -self.precision)
    }

    /// The smallest normal number.
    pub fn min_normal(&self) -> f64 {
        f64::powi(2.0, self.lowest)
    }

    /// The ulp (distance of neighbours) near this magnitude.
    pub fn ulp(&self, magnitude: f64) -> f64 {
        let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        // In two steps, since the inverse of the smallest subnormal `f64` overflows.
        f64::powi(2.0, exponent.max(self.lowest)) * f64::powi(2.0, 1 - self.precision)
    }

    /// The error of a finite result that was computed within `deviation` and then rounded by up to `ulps` ulp.
    pub fn rounded_error(&self, value: f64, deviation: f64, ulps: f64) -> f64 {
        if !deviation.is_finite() || !value.is_finite() {
            return UNDECIDED;
        }
        if deviation == 0.0 && ulps == 0.0 {
            return self.flush_error(value, 0.0);
        }
        if ulps == 0.0 && deviation == EITHER_ZERO && value == 0.0 {
            return EITHER_ZERO;
        }
        let error = deviation + ulps * self.ulp(value.abs() + deviation);
        if value.abs() + error > self.max {
            return UNDECIDED;
        }
        self.flush_error(value, error)
    }

    /// Widens the error to allow a flush to zero.
    pub fn flush_error(&self, value: f64, error: f64) -> f64 {
        let exact = value == 0.0 && distance(error) == 0.0;
        match self.flushes && !exact && value.abs() - error < self.min_normal() {
            true => error.max(self.min_normal()),
            false => error,
        }
    }

    /// The error of a result that overflowed to infinity: 0 if even its smallest possible magnitude overflows.
    pub fn overflow_error(&self, smallest: f64) -> f64 {
        match smallest > self.max * (1.0 + 8.0 * self.unit()) {
            true => 0.0,
            false => UNDECIDED,
        }
    }
}
