//! Comparison of results with expected results.

use super::files::{numbered, superfluous};
use crate::outcome::{Failure, counted};
use inflight::{Complex, DType, Device, Element, Result, Tensor, io};
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

/// Agreement of all results with the expected ones.
pub struct Agreement {
    results: usize,
    /// Relative to the largest expected magnitude of the same result.
    largest_difference: f64,
    tolerance: f64,
}

impl Agreement {
    /// Renders it as text.
    pub fn to_text(&self) -> String {
        format!(
            "{} as expected; the largest difference is {:e} of the largest magnitude, the tolerance {:e}",
            match self.results {
                1 => "1 result is".to_owned(),
                count => format!("{count} results are"),
            },
            self.largest_difference,
            self.tolerance
        )
    }

    /// Renders it as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "results": self.results,
            "largest_difference": self.largest_difference,
            "tolerance": self.tolerance,
        })
    }
}

/// Difference of a result from the expected one.
struct Difference {
    /// Number of elements beyond the tolerance.
    count: usize,
    /// Position of the first of them.
    first: Option<usize>,
    /// Largest difference relative to the largest expected magnitude. Infinite if only one of two elements is finite.
    largest: f64,
}

/// Compares all results with files. A difference beyond the tolerance is a failure.
pub fn compare(
    results: &[Tensor],
    folder: &Path,
    tolerance: f64,
    device: &Device,
) -> std::result::Result<Agreement, Failure> {
    let mut agreement = Agreement { results: results.len(), largest_difference: 0.0, tolerance };
    let mut wrong = Vec::new();
    for (number, result) in results.iter().enumerate() {
        let path = numbered(folder, "out", number);
        let expected = io::load_npy(&path, device)?;
        if (expected.shape(), expected.dtype()) != (result.shape(), result.dtype()) {
            wrong.push(format!(
                "result {number} is {}{}, {} holds {}{}",
                result.dtype(),
                result.shape(),
                path.display(),
                expected.dtype(),
                expected.shape()
            ));
            continue;
        }
        let (found, expected) = (numbers(result)?, numbers(&expected)?);
        let difference = difference(&found, &expected, tolerance);
        agreement.largest_difference = agreement.largest_difference.max(difference.largest);
        if let Some(first) = difference.first {
            wrong.push(format!(
                "result {number}: {} of {} differ from {}; the largest difference is {:e} of the largest magnitude, \
                 the tolerance {tolerance:e}; the first, element {:?}, is {}, expected {}",
                difference.count,
                counted(found.len(), "element"),
                path.display(),
                difference.largest,
                index(first, result.shape()),
                found[first],
                expected[first],
            ));
        }
    }
    if let Some(path) = superfluous(folder, "out", results.len())? {
        let results = counted(results.len(), "result");
        wrong.push(format!("{} exists, but the program has only {results}", path.display()));
    }
    match wrong.is_empty() {
        true => Ok(agreement),
        false => Err(Failure::failed(wrong.join("\n"))),
    }
}

/// An element. Integers stay exact: not all are representable in `f64`.
#[derive(Clone, Copy)]
enum Number {
    Whole(i128),
    Real(f64),
    Complex(Complex<f64>),
}

impl Number {
    fn magnitude(self) -> f64 {
        match self {
            Number::Whole(value) => value.unsigned_abs() as f64,
            Number::Real(value) => value.abs(),
            Number::Complex(value) => value.norm(),
        }
    }

    /// Distance of two elements of one kind. Equal infinities and two NaNs have distance 0.
    fn distance(self, other: Number) -> f64 {
        let apart = |a: f64, b: f64| match a == b || a.is_nan() && b.is_nan() {
            true => 0.0,
            false => (a - b).abs(),
        };
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => a.abs_diff(b) as f64,
            (Number::Real(a), Number::Real(b)) => apart(a, b),
            (Number::Complex(a), Number::Complex(b)) => apart(a.re, b.re).hypot(apart(a.im, b.im)),
            _ => f64::INFINITY,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(value) => value.fmt(f),
            Number::Real(value) => value.fmt(f),
            Number::Complex(value) => value.fmt(f),
        }
    }
}

/// All elements.
fn numbers(tensor: &Tensor) -> Result<Vec<Number>> {
    fn all<T: Element>(
        tensor: &Tensor,
        dtype: DType,
        number: impl Fn(T) -> Number,
    ) -> Result<Vec<Number>> {
        Ok(tensor.cast(dtype).to_vec::<T>()?.into_iter().map(number).collect())
    }
    match tensor.dtype() {
        DType::U64 => all(tensor, DType::U64, |value: u64| Number::Whole(value.into())),
        dtype if dtype.is_integer() => {
            all(tensor, DType::I64, |value: i64| Number::Whole(value.into()))
        }
        dtype if dtype.is_complex() => all(tensor, DType::C128, Number::Complex),
        _ => all(tensor, DType::F64, Number::Real),
    }
}

fn difference(found: &[Number], expected: &[Number], tolerance: f64) -> Difference {
    // Relative to an infinite magnitude, every difference would be 0.
    let magnitudes = expected.iter().map(|value| value.magnitude());
    let scale = magnitudes.filter(|magnitude| magnitude.is_finite()).fold(0.0, f64::max);
    let mut difference = Difference { count: 0, first: None, largest: 0.0 };
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let part = match found.distance(*expected) {
            0.0 => 0.0,
            distance => distance / scale,
        };
        let part = if part.is_nan() { f64::INFINITY } else { part };
        difference.largest = difference.largest.max(part);
        if part > tolerance {
            difference.count += 1;
            difference.first.get_or_insert(at);
        }
    }
    difference
}

/// Multi-index of a flat index.
fn index(number: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = number;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let at = rest % extent;
            rest /= extent;
            at
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: &[f64], expected: &[f64]) -> Difference {
        let real = |values: &[f64]| values.iter().copied().map(Number::Real).collect::<Vec<_>>();
        difference(&real(found), &real(expected), 1e-4)
    }

    #[test]
    fn non_finite_elements_must_be_equal() {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        assert_eq!(of(&[nan, infinity, 1.0], &[nan, infinity, 1.0]).largest, 0.0);
        let apart = of(&[1.0, 3.0, infinity], &[1.0, 2.0, -infinity]);
        assert_eq!((apart.count, apart.first, apart.largest), (2, Some(1), infinity));
        assert_eq!(of(&[nan], &[0.0]).count, 1);
        assert_eq!(of(&[1e-300], &[0.0]).count, 1);
    }

    #[test]
    fn imaginary_parts_are_compared() {
        let [a, b] = [2.0, 2.5].map(|im| Number::Complex(Complex::new(1.0, im)));
        assert_eq!(difference(&[a], &[b], 1e-4).first, Some(0));
        assert_eq!(difference(&[a], &[a], 0.0).first, None);
    }

    #[test]
    fn large_integers_compare_exactly() {
        let of = |value: u64| {
            numbers(&Tensor::from_slice(&[value], [1], &Device::cpu()).unwrap()).unwrap()
        };
        assert_eq!(difference(&of(u64::MAX), &of(u64::MAX - 1), 0.0).count, 1);
        assert_eq!(difference(&of(u64::MAX), &of(u64::MAX), 0.0).count, 0);
    }

    #[test]
    fn flat_indices_are_unflattened() {
        assert_eq!(index(5, &[2, 3]), [1, 2]);
        assert_eq!(index(0, &[]), [0; 0]);
    }
}
