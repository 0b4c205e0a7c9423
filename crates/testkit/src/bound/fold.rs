//! Error bounds of reductions: sums, products and extremes.

use super::format::{EITHER_ZERO, Format, UNDECIDED, distance};
use inflight_ir::DType;
use inflight_ir::elementwise::CombineOp;

/// Running error analysis of a reduction.
///
/// The bounds hold for every order of combining: a sum of n elements is off by at most n roundings of Σ|x|.
#[derive(Clone, Debug)]
pub struct Fold {
    op: CombineOp,
    dtype: DType,
    accumulator: Format,
    count: usize,
    undecided: bool,
    nan: bool,
    /// Whether there was a +∞ and a −∞.
    infinite: [bool; 2],
    /// Whether an inexact element may be zero.
    maybe_zero: bool,
    largest_error: f64,
    /// Σ of the finite elements, of their magnitudes and of their errors.
    sum: f64,
    magnitude: f64,
    error: f64,
    /// The product, the product of (|x| + e), and the largest and smallest possible partial products.
    product: f64,
    product_reach: f64,
    largest_part: f64,
    smallest_part: f64,
    /// Whether every element is exact, the exponent of the lowest set bit of any, and the number of bits of all.
    exact: bool,
    lowest_bit: i32,
    bits: i32,
}

/// The exponent of the lowest set bit, and the number of bits from it to the highest.
fn significant_bits(x: f64) -> (i32, i32) {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32;
    let fraction = x.to_bits() & ((1 << 52) - 1);
    let (significand, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
    if significand == 0 {
        return (i32::MAX, 0);
    }
    let zeros = significand.trailing_zeros() as i32;
    (exponent - 1075 + zeros, 64 - significand.leading_zeros() as i32 - zeros)
}

impl Fold {
    /// An empty reduction. Partial results have the `accumulator` format.
    pub fn new(op: CombineOp, dtype: DType, accumulator: Format) -> Fold {
        Fold {
            op,
            dtype,
            accumulator,
            count: 0,
            undecided: false,
            nan: false,
            infinite: [false; 2],
            maybe_zero: false,
            largest_error: 0.0,
            sum: 0.0,
            magnitude: 0.0,
            error: 0.0,
            product: 1.0,
            product_reach: 1.0,
            largest_part: 1.0,
            smallest_part: 1.0,
            exact: !dtype.is_complex(),
            lowest_bit: i32::MAX,
            bits: 0,
        }
    }

    /// Adds an element; for a complex one, its modulus.
    pub fn push(&mut self, x: f64, error: f64) {
        self.count += 1;
        if error == UNDECIDED {
            self.undecided = true;
            return;
        }
        self.largest_error = self.largest_error.max(error);
        self.exact &= distance(error) == 0.0;
        if x.is_nan() {
            self.nan = true;
        } else if x.is_infinite() {
            self.infinite[(x < 0.0) as usize] = true;
        } else {
            self.sum += x;
            self.magnitude += x.abs();
            self.error += error;
            self.product *= x;
            self.product_reach *= x.abs() + error;
            self.largest_part *= (x.abs() + error).max(1.0);
            if x != 0.0 {
                self.smallest_part *= (x.abs() - error).clamp(0.0, 1.0);
            }
            self.maybe_zero |= distance(error) > 0.0 && x.abs() <= error;
            let (lowest, bits) = significant_bits(x);
            self.lowest_bit = self.lowest_bit.min(lowest);
            self.bits += bits;
        }
    }

    /// The error of the result; `value` is the reference's, for a complex one the modulus.
    pub fn result(&self, value: f64) -> f64 {
        if self.undecided {
            return UNDECIDED;
        }
        if !self.dtype.is_float() && !self.dtype.is_complex() || self.count == 0 {
            return 0.0;
        }
        if self.dtype.is_complex() && (self.nan || self.infinite != [false; 2]) {
            return UNDECIDED;
        }
        if self.nan {
            return 0.0;
        }
        match self.op {
            CombineOp::Sum => self.sum(value),
            CombineOp::Product => self.product(value),
            _ if value == 0.0 => self.largest_error.max(EITHER_ZERO),
            _ => self.largest_error,
        }
    }

    fn sum(&self, value: f64) -> f64 {
        let (format, accumulator) = (Format::of(self.dtype), self.accumulator);
        let reach = self.magnitude + self.error;
        if reach > accumulator.max / 2.0 {
            return UNDECIDED;
        }
        match self.infinite {
            [false, false] => {}
            _ => return 0.0,
        }
        let lowest = self.lowest_bit.max(-1000);
        let scaled_magnitude = self.magnitude / f64::powi(2.0, lowest);
        let exact = self.exact && scaled_magnitude < f64::powi(2.0, accumulator.precision);
        if exact || self.count == 1 {
            let error = self.error;
            return match () {
                _ if value.is_infinite() && distance(error) == 0.0 => 0.0,
                _ if value.is_infinite() => format.overflow_error(self.sum.abs() - error),
                _ if value == 0.0 => error.max(EITHER_ZERO),
                _ => format.flush_error(value, error),
            };
        }
        let count = self.count as f64;
        let parts = if self.dtype.is_complex() { 2.0 } else { 1.0 };
        let deviation = self.error
            + parts * count * accumulator.unit() * reach
            + count * if accumulator.flushes { accumulator.min_normal() } else { 0.0 };
        if value.is_infinite() {
            return format.overflow_error(self.sum.abs() - deviation);
        }
        format.rounded_error(value, deviation, 1.0)
    }

    fn product(&self, value: f64) -> f64 {
        let (format, accumulator) = (Format::of(self.dtype), self.accumulator);
        let any_infinite = self.infinite != [false, false];
        let underflow = self.smallest_part < 16.0 * accumulator.min_normal();
        if any_infinite {
            // A small partial product may have underflowed to zero before it met the infinity.
            let undecided = self.maybe_zero || underflow || self.largest_error == EITHER_ZERO;
            return if undecided { UNDECIDED } else { 0.0 };
        }
        if self.largest_part > accumulator.max / 4.0 || !self.product_reach.is_finite() {
            return UNDECIDED;
        }
        if self.exact && self.bits <= accumulator.precision && !underflow {
            return match () {
                _ if value.is_infinite() => 0.0,
                _ if value == 0.0 => EITHER_ZERO,
                _ => format.flush_error(value, 0.0),
            };
        }
        if self.count == 1 {
            return self.largest_error;
        }
        let rounding = if self.dtype.is_complex() { 8.0 } else { 1.0 };
        let roundings = rounding * self.count as f64 * accumulator.unit();
        if roundings > 0.1 {
            return UNDECIDED;
        }
        let part_factor = if self.dtype.is_complex() { 2.0 } else { 1.0 };
        let spread = self.product_reach - self.product.abs();
        let mut deviation = part_factor * spread + 1.1 * roundings * self.product_reach;
        if underflow {
            deviation += accumulator.min_normal() * self.largest_part * self.count as f64;
        }
        if value.is_infinite() {
            return format.overflow_error(self.product.abs() - deviation);
        }
        format.rounded_error(value, deviation, 1.0)
    }
}
