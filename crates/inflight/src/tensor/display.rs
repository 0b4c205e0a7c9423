//! Printing of values, in the layout of NumPy and PyTorch.

use super::Tensor;
use super::record::record_at;
use crate::runtime::wait::WaitReason;
use crate::{DType, Element, Result, Scalar, Shape, bf16, f16};
use inflight_ir::DTypeClass;
use inflight_ir::graph::{Op, SliceAxis};
use num_complex::Complex;
use std::fmt;

/// Tensors of more elements are summarized (`threshold` in NumPy's print options).
const SUMMARY_THRESHOLD: usize = 1000;

/// The number of elements printed at each end of a summarized axis (`edgeitems` in NumPy).
const EDGE_ITEMS: usize = 3;

/// The width of a printed line in columns (`linewidth` in NumPy).
const LINE_WIDTH: usize = 80;

/// The default maximum of digits after the decimal point (`precision` in NumPy).
const PRECISION: usize = 4;

impl fmt::Display for Tensor {
    /// Writes the values in nested brackets. This is a read: it waits.
    ///
    /// A tensor of more than 1,000 elements is summarized: three elements at each end of an axis are read and printed.
    /// Floats have at most four digits after the decimal point, or as many as the format asks for, such as `{:.2}`. An
    /// `f32` or `f64` of rank 0, such as a loss, has the shortest digits that parse back to the same value. A failed
    /// read is printed as `Tensor(failed: …)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_summarized = self.element_count() > SUMMARY_THRESHOLD;
        let edges = if is_summarized { edges(self) } else { self.clone() };
        let values = match read(&edges) {
            Ok(values) => values,
            Err(error) => return write!(f, "Tensor(failed: {error})"),
        };
        let scalar = values.first().filter(|_| self.rank() == 0 && f.precision().is_none());
        if let Some(text) = scalar.and_then(|value| format_shortest(*value, self.dtype())) {
            return f.write_str(&text);
        }
        let cells = format_all(&values, self.dtype(), f.precision());
        let layout = Layout {
            shape: edges.shape(),
            full: self.shape(),
            cells: &cells,
            width: cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0),
        };
        match (self.rank(), values.is_empty()) {
            (_, true) => f.write_str("[]"),
            (0, _) => f.write_str(&cells[0]),
            _ => layout.write(f, 0, 0),
        }
    }
}

/// Records the concatenation of both ends of every long axis.
fn edges(tensor: &Tensor) -> Tensor {
    let location = tensor.location();
    let mut result = tensor.clone();
    for axis in 0..tensor.rank() {
        let extent = result.shape()[axis];
        if extent <= 2 * EDGE_ITEMS {
            continue;
        }
        let part = |start| {
            let mut slices: smallvec::SmallVec<[SliceAxis; 4]> =
                result.shape().iter().map(|&extent| SliceAxis::full(extent)).collect();
            slices[axis] = SliceAxis { start, step: 1, len: EDGE_ITEMS };
            record_at(Op::Slice(slices), &[&result], location)
        };
        let (first, last) = (part(0), part(extent - EDGE_ITEMS));
        result = record_at(Op::Concat { axis }, &[&first, &last], location);
    }
    result
}

/// Reads the elements. Waits.
fn read(tensor: &Tensor) -> Result<Vec<Scalar>> {
    // `fmt` has no caller location: report the line that recorded the value.
    tensor.wait_for_value(WaitReason::Read, tensor.location())?;
    match tensor.dtype() {
        DType::Bool => read_as::<bool>(tensor),
        DType::I8 => read_as::<i8>(tensor),
        DType::I16 => read_as::<i16>(tensor),
        DType::I32 => read_as::<i32>(tensor),
        DType::I64 => read_as::<i64>(tensor),
        DType::U8 => read_as::<u8>(tensor),
        DType::U16 => read_as::<u16>(tensor),
        DType::U32 => read_as::<u32>(tensor),
        DType::U64 => read_as::<u64>(tensor),
        DType::F16 => read_as::<f16>(tensor),
        DType::BF16 => read_as::<bf16>(tensor),
        DType::F32 => read_as::<f32>(tensor),
        DType::F64 => read_as::<f64>(tensor),
        DType::C64 => read_as::<Complex<f32>>(tensor),
        DType::C128 => read_as::<Complex<f64>>(tensor),
    }
}

fn read_as<T: Element>(tensor: &Tensor) -> Result<Vec<Scalar>> {
    Ok(tensor.to_vec::<T>()?.into_iter().map(T::to_scalar).collect())
}

/// Formats a finite `f32` or `f64` with the shortest digits that parse back to it.
fn format_shortest(value: Scalar, dtype: DType) -> Option<String> {
    let value = value.to_f64();
    match dtype {
        DType::F32 if value.is_finite() => Some(format!("{:?}", value as f32)),
        DType::F64 if value.is_finite() => Some(format!("{value:?}")),
        _ => None,
    }
}

/// Formats every element, all floats in one style.
fn format_all(values: &[Scalar], dtype: DType, precision: Option<usize>) -> Vec<String> {
    match dtype.class() {
        DTypeClass::Bool | DTypeClass::Signed | DTypeClass::Unsigned => {
            values.iter().map(Scalar::to_string).collect()
        }
        DTypeClass::Float => {
            let values: Vec<f64> = values.iter().map(|value| value.to_f64()).collect();
            let style = Style::of(&values, precision);
            values.iter().map(|&value| style.format(value)).collect()
        }
        DTypeClass::Complex => {
            let values: Vec<Complex<f64>> =
                values.iter().map(|&value| Complex::from_scalar(value)).collect();
            let parts: Vec<f64> = values.iter().flat_map(|value| [value.re, value.im]).collect();
            let style = Style::of(&parts, precision);
            let format = |value: &Complex<f64>| {
                let sign = if value.im.is_sign_negative() { '-' } else { '+' };
                format!("{}{sign}{}i", style.format(value.re), style.format(value.im.abs()))
            };
            values.iter().map(format).collect()
        }
    }
}

/// The common format of a tensor's floats: digits after the decimal point, scientific notation or not.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Style {
    exponent: bool,
    digits: usize,
}

impl Style {
    /// Chooses the style of `values`: `precision` digits, or the fewest digits that show all values to [`PRECISION`].
    /// Uses scientific notation if the largest or the smallest magnitude needs it.
    fn of(values: &[f64], precision: Option<usize>) -> Style {
        let magnitudes =
            || values.iter().map(|value| value.abs()).filter(|&x| x.is_finite() && x > 0.0);
        let largest = magnitudes().fold(0.0, f64::max);
        let smallest = magnitudes().fold(f64::INFINITY, f64::min);
        let least = 10f64.powi(-(precision.unwrap_or(PRECISION).min(300) as i32));
        let exponent = largest >= 1e8 || smallest < least && precision.is_none();
        if let Some(digits) = precision {
            return Style { exponent, digits };
        }
        let needed = |value: &f64| {
            let text = Style { exponent, digits: PRECISION }.format(*value);
            let mantissa = text.split('e').next().unwrap_or_default();
            match mantissa.split_once('.') {
                Some((_, digits)) => digits.trim_end_matches('0').len(),
                None => 0,
            }
        };
        let digits = values.iter().filter(|x| x.is_finite()).map(needed).max().unwrap_or(0);
        Style { exponent, digits: digits.max(1) }
    }

    fn format(self, value: f64) -> String {
        match (value.is_finite(), self.exponent) {
            (false, _) if value.is_nan() => "nan".to_owned(),
            (false, _) => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
            (true, true) => format!("{value:.*e}", self.digits),
            (true, false) => format!("{value:.*}", self.digits),
        }
    }
}

/// The formatted elements of a tensor and their arrangement.
struct Layout<'a> {
    /// The shape of the printed elements.
    shape: &'a Shape,
    /// The shape of the tensor; larger than `shape` on summarized axes.
    full: &'a Shape,
    cells: &'a [String],
    /// The width of the widest cell in characters.
    width: usize,
}

impl Layout<'_> {
    /// Writes the subarray that spans `axis` and the axes after it, starting with the cell at `start`.
    fn write(&self, f: &mut fmt::Formatter<'_>, axis: usize, start: usize) -> fmt::Result {
        let last = axis + 1 == self.shape.rank();
        let extent = self.shape[axis];
        let stride: usize = self.shape[axis + 1..].iter().product();
        let indent = " ".repeat(axis + 1);
        let mut column = indent.len();
        f.write_str("[")?;
        for index in 0..extent {
            if index == EDGE_ITEMS && extent < self.full[axis] {
                let gap = if last { ", ...".to_owned() } else { self.line_end(axis) + "..." };
                column += 5;
                f.write_str(&gap)?;
            }
            if index > 0 {
                match last {
                    true if column + 2 + self.width > LINE_WIDTH => {
                        write!(f, ",\n{indent}")?;
                        column = indent.len();
                    }
                    true => {
                        f.write_str(", ")?;
                        column += 2;
                    }
                    false => f.write_str(&self.line_end(axis))?,
                }
            }
            match last {
                true => write!(f, "{:>1$}", self.cells[start + index], self.width)?,
                false => self.write(f, axis + 1, start + index * stride)?,
            }
            column += self.width;
        }
        f.write_str("]")
    }

    /// The separator between two entries of an axis other than the last. Blank lines separate larger blocks.
    fn line_end(&self, axis: usize) -> String {
        format!(",{}{}", "\n".repeat(self.shape.rank() - axis - 1), " ".repeat(axis + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_has_the_digits_that_the_values_need() {
        assert_eq!(Style::of(&[1.0, 2.0], None), Style { exponent: false, digits: 1 });
        assert_eq!(Style::of(&[1.25, 2.0, f64::NAN], None), Style { exponent: false, digits: 2 });
        assert_eq!(Style::of(&[1.0 / 3.0], None), Style { exponent: false, digits: 4 });
        assert_eq!(Style::of(&[1e9, 1.0], None), Style { exponent: true, digits: 1 });
        assert_eq!(Style::of(&[1.25e-7, 0.0], None), Style { exponent: true, digits: 2 });
        assert_eq!(Style::of(&[1.25e-7], Some(2)), Style { exponent: false, digits: 2 });
        assert_eq!(Style::of(&[], None), Style { exponent: false, digits: 1 });
        assert_eq!(Style::of(&[], None).format(f64::NEG_INFINITY), "-inf");
    }
}
