//! Comparison of our results with those of a peer.

use inflight::io::load_npy;
use inflight::{DType, Device, Error, Result, Tensor};
use std::path::Path;

/// Largest relative difference between our results and a peer's, which are in files: |a − b| / (|b| + RMS of b), where a
/// is ours. Infinite if shapes differ.
pub fn difference(ours: &[Vec<f32>], folder: &Path, count: usize, device: &Device) -> Result<f64> {
    if count != ours.len() {
        let message = format!("{count} results, where ours are {}", ours.len());
        return Err(Error::Invalid(message));
    }
    let mut largest = 0.0f64;
    for (position, ours) in ours.iter().enumerate() {
        let theirs = load_npy(folder.join(format!("{position}.npy")), device)?;
        largest = largest.max(relative_difference(ours, &elements(&theirs)?));
    }
    Ok(largest)
}

/// A tensor's elements as `f32`.
pub fn elements(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.cast(DType::F32).to_vec::<f32>()
}

fn relative_difference(ours: &[f32], theirs: &[f32]) -> f64 {
    if ours.len() != theirs.len() {
        return f64::INFINITY;
    }
    let squares: f64 = theirs.iter().map(|&b| f64::from(b) * f64::from(b)).sum();
    let typical = (squares / theirs.len().max(1) as f64).sqrt();
    let mut largest = 0.0;
    for (&a, &b) in ours.iter().zip(theirs) {
        let (a, b) = (f64::from(a), f64::from(b));
        let distance = if a == b { 0.0 } else { (a - b).abs() / (b.abs() + typical) };
        if distance.is_nan() {
            return f64::INFINITY;
        }
        largest = f64::max(largest, distance);
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_relative_to_element_and_rms() {
        assert_eq!(relative_difference(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        // The root mean square of 3 and 4 is 3.54.
        let expected = 0.5 / (4.0 + 12.5f64.sqrt());
        assert!((relative_difference(&[3.0, 4.5], &[3.0, 4.0]) - expected).abs() < 1e-12);
        // A small element among large ones is compared on their scale.
        assert!(relative_difference(&[1e-9, 1.0], &[0.0, 1.0]) < 1e-8);
    }

    #[test]
    fn missing_elements_differ_infinitely() {
        assert_eq!(relative_difference(&[1.0], &[1.0, 2.0]), f64::INFINITY);
        assert_eq!(relative_difference(&[f32::NAN], &[1.0]), f64::INFINITY);
        assert_eq!(relative_difference(&[1.0], &[f32::NAN]), f64::INFINITY);
        assert_eq!(relative_difference(&[1.0, 0.0], &[f32::INFINITY, 0.0]), f64::INFINITY);
        assert_eq!(relative_difference(&[], &[]), 0.0);
    }

    #[test]
    fn files_are_compared_in_order() {
        let device = Device::cpu();
        let folder = tempfile::tempdir().unwrap();
        for (name, value) in [("0.npy", 1.0f32), ("1.npy", 2.0)] {
            let tensor = Tensor::full(value, [2], &device);
            inflight::io::save_npy(folder.path().join(name), &tensor).unwrap();
        }
        let ours = [vec![1.0; 2], vec![2.0; 2]];
        assert_eq!(difference(&ours, folder.path(), 2, &device).unwrap(), 0.0);
        let swapped = [vec![2.0; 2], vec![1.0; 2]];
        assert!(difference(&swapped, folder.path(), 2, &device).unwrap() > 0.1);
        assert!(difference(&ours[..1], folder.path(), 2, &device).is_err());
    }
}
