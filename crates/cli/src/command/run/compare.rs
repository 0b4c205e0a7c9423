//! Results against those that are expected.

use super::files::{numbered, superfluous};
use crate::outcome::{Failure, counted};
use inflight::{Complex, DType, Device, Result, Tensor, io};
use serde_json::{Value, json};
use std::path::Path;

/// That all results are as expected.
pub struct Agreement {
    results: usize,
    /// As a part of the largest magnitude that is expected in the same result.
    largest_difference: f64,
    tolerance: f64,
}

impl Agreement {
    /// For people.
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

    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "results": self.results,
            "largest_difference": self.largest_difference,
            "tolerance": self.tolerance,
        })
    }
}

/// How far a result is from what is expected.
struct Difference {
    /// Elements that are further away than they may be.
    count: usize,
    /// The first of them.
    first: Option<usize>,
    /// As a part of the largest magnitude expected. Infinite if one of two is no finite number.
    largest: f64,
}

/// Whether all results are no further from what is expected than they may be.
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
                written(found[first], result.dtype()),
                written(expected[first], result.dtype()),
            ));
        }
    }
    if let Some(path) = superfluous(folder, "out", results.len())? {
        let results = counted(results.len(), "result");
        wrong.push(format!("there is {}, but only {results}", path.display()));
    }
    match wrong.is_empty() {
        true => Ok(agreement),
        false => Err(Failure::failed(wrong.join("\n"))),
    }
}

/// All elements, each as a complex number.
fn numbers(tensor: &Tensor) -> Result<Vec<Complex<f64>>> {
    if tensor.dtype().is_complex() {
        return tensor.cast(DType::C128).to_vec();
    }
    let numbers = tensor.cast(DType::F64).to_vec::<f64>()?;
    Ok(numbers.into_iter().map(Complex::from).collect())
}

fn difference(found: &[Complex<f64>], expected: &[Complex<f64>], tolerance: f64) -> Difference {
    // Of an infinite magnitude everything would be a small part.
    let magnitudes = expected.iter().map(|value| value.norm()).filter(|norm| norm.is_finite());
    let scale = magnitudes.fold(0.0, f64::max);
    let mut difference = Difference { count: 0, first: None, largest: 0.0 };
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let part = match same(found.re, expected.re) && same(found.im, expected.im) {
            true => 0.0,
            false => (found - expected).norm() / scale,
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

/// Whether two numbers are the same, as infinities and what is not a number can be.
fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

/// Where the element of this number is.
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

fn written(value: Complex<f64>, dtype: DType) -> String {
    match dtype.is_complex() {
        true => value.to_string(),
        false => value.re.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: &[f64], expected: &[f64]) -> Difference {
        let complex = |values: &[f64]| values.iter().map(Complex::from).collect::<Vec<_>>();
        difference(&complex(found), &complex(expected), 1e-4)
    }

    #[test]
    fn what_is_not_finite_must_be_the_same() {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        assert_eq!(of(&[nan, infinity, 1.0], &[nan, infinity, 1.0]).largest, 0.0);
        let apart = of(&[1.0, 3.0, infinity], &[1.0, 2.0, -infinity]);
        assert_eq!((apart.count, apart.first, apart.largest), (2, Some(1), infinity));
        assert_eq!(of(&[nan], &[0.0]).count, 1);
        assert_eq!(of(&[1e-300], &[0.0]).count, 1);
    }

    #[test]
    fn imaginary_parts_are_compared() {
        let (a, b) = (Complex::new(1.0, 2.0), Complex::new(1.0, 2.5));
        assert_eq!(difference(&[a], &[b], 1e-4).first, Some(0));
    }

    #[test]
    fn elements_are_where_they_are() {
        assert_eq!(index(5, &[2, 3]), [1, 2]);
        assert_eq!(index(0, &[]), [0; 0]);
    }
}
