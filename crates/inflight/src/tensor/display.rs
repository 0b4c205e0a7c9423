//! Printing values.

use super::Tensor;
use super::record::record_at;
use crate::runtime::wait::WaitReason;
use crate::{DType, Element, Result, Scalar, Shape, bf16, f16};
use inflight_ir::DTypeClass;
use inflight_ir::graph::{Op, SliceAxis};
use num_complex::Complex;
use std::fmt;

/// Tensors of more elements are shortened.
const MOST_ELEMENTS: usize = 1000;

/// Of a shortened axis, so many elements are printed at either end.
const EDGE: usize = 3;

/// The columns that a row of numbers may take.
const LINE_WIDTH: usize = 80;

/// The most digits after the point, where none are asked for.
const PRECISION: usize = 4;

impl fmt::Display for Tensor {
    /// The values, in nested brackets. This is a read: it waits.
    ///
    /// Beyond 1,000 elements only three at either end of an axis are read and printed. Floats have at
    /// most four digits after the point, or as many as asked for: `{:.2}`; an `f32` or `f64` of rank 0, such as a
    /// loss, has all that tell it from others. What cannot be read is printed as `Tensor(failed: …)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shortened = self.elements() > MOST_ELEMENTS;
        let edges = if shortened { edges(self) } else { self.clone() };
        let values = match read(&edges) {
            Ok(values) => values,
            Err(error) => return write!(f, "Tensor(failed: {error})"),
        };
        let whole = values.first().filter(|_| self.rank() == 0 && f.precision().is_none());
        if let Some(text) = whole.and_then(|value| in_full(*value, self.dtype())) {
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

/// The elements at both ends of every long axis.
fn edges(tensor: &Tensor) -> Tensor {
    let location = tensor.location();
    let mut result = tensor.clone();
    for axis in 0..tensor.rank() {
        let extent = result.shape()[axis];
        if extent <= 2 * EDGE {
            continue;
        }
        let part = |start| {
            let mut slices: smallvec::SmallVec<[SliceAxis; 4]> =
                result.shape().iter().map(|&extent| SliceAxis::full(extent)).collect();
            slices[axis] = SliceAxis { start, step: 1, len: EDGE };
            record_at(Op::Slice(slices), &[&result], location)
        };
        let (first, last) = (part(0), part(extent - EDGE));
        result = record_at(Op::Concat { axis }, &[&first, &last], location);
    }
    result
}

/// The elements, waited for.
fn read(tensor: &Tensor) -> Result<Vec<Scalar>> {
    // Whoever prints is not known here; whoever recorded the value is.
    tensor.waited_for(WaitReason::Read, tensor.location())?;
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

/// A number with all digits that tell it from others of its dtype.
fn in_full(value: Scalar, dtype: DType) -> Option<String> {
    let value = value.to_f64();
    match dtype {
        DType::F32 if value.is_finite() => Some(format!("{:?}", value as f32)),
        DType::F64 if value.is_finite() => Some(format!("{value:?}")),
        _ => None,
    }
}

/// The text of every element, all in one style.
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

/// How the floats of one tensor are written.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Style {
    exponent: bool,
    digits: usize,
}

impl Style {
    /// As many digits as are asked for, or else as few as show all values to [`PRECISION`]; with an
    /// exponent where a value is too large or too small to be shown without.
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

/// The cells of a tensor and where they go.
struct Layout<'a> {
    /// The shape of what is printed.
    shape: &'a Shape,
    /// The shape of the tensor; longer than `shape` on the axes that are shortened.
    full: &'a Shape,
    cells: &'a [String],
    /// The widest cell.
    width: usize,
}

impl Layout<'_> {
    /// Writes one entry of an axis's parent: everything below `axis`, from the cell at `start`.
    fn write(&self, f: &mut fmt::Formatter<'_>, axis: usize, start: usize) -> fmt::Result {
        let last = axis + 1 == self.shape.rank();
        let extent = self.shape[axis];
        let stride: usize = self.shape[axis + 1..].iter().product();
        let indent = " ".repeat(axis + 1);
        let mut column = indent.len();
        f.write_str("[")?;
        for index in 0..extent {
            if index == EDGE && extent < self.full[axis] {
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

    /// What is between two entries of an axis that is not the last: blank lines set larger blocks apart.
    fn line_end(&self, axis: usize) -> String {
        format!(",{}{}", "\n".repeat(self.shape.rank() - axis - 1), " ".repeat(axis + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_show_what_there_is() {
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
