//! Fourier transforms (FFT).

use super::Tensor;
use super::axis::{Axis, axis as axis_of};
use super::composed::composed;
use super::record::mistake;
use crate::{DType, Shape};
use inflight_ir::compose::{FftKind, fft};
use inflight_ir::elementwise::BinaryOp;
use inflight_ir::graph::Op;
use inflight_ir::{Axes, Scalar};
use std::panic::Location;

impl Tensor {
    /// The discrete Fourier transform along an axis. Real `f32` and `f64` are converted to complex first.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Complex, Device, Tensor};
    ///
    /// let x = Tensor::from_vec(vec![1.0f32, 0.0, 0.0, 0.0], [4], &Device::cpu())?;
    /// let y = x.fft(0).to_vec::<Complex<f32>>()?;
    /// assert!(y.iter().all(|y| (y - 1.0).norm() < 1e-6));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn fft(&self, axis: impl Axis) -> Tensor {
        transformed("fft", self, axis.number(), FftKind::Forward, None, Location::caller())
    }

    /// The inverse of [`fft`](Tensor::fft).
    #[doc(alias("inverse_fft"))]
    #[track_caller]
    pub fn ifft(&self, axis: impl Axis) -> Tensor {
        transformed("ifft", self, axis.number(), FftKind::Inverse, None, Location::caller())
    }

    /// The Fourier transform of `n` real elements along an axis: its first `n / 2 + 1` elements, since the others are
    /// their complex conjugates.
    #[doc(alias("real_fft"))]
    #[track_caller]
    pub fn rfft(&self, axis: impl Axis) -> Tensor {
        transformed("rfft", self, axis.number(), FftKind::RealForward, None, Location::caller())
    }

    /// The inverse of [`rfft`](Tensor::rfft): `n` real elements along an axis, of whose transform this tensor has the
    /// first `n / 2 + 1` elements.
    #[doc(alias("inverse_real_fft"))]
    #[track_caller]
    pub fn irfft(&self, n: usize, axis: impl Axis) -> Tensor {
        transformed("irfft", self, axis.number(), FftKind::RealInverse, Some(n), Location::caller())
    }
}

fn transformed(
    name: &'static str,
    x: &Tensor,
    axis: isize,
    kind: FftKind,
    length: Option<usize>,
    location: &'static Location<'static>,
) -> Tensor {
    let dtype = match (kind, x.dtype()) {
        (FftKind::RealInverse, DType::C128) => DType::F64,
        (FftKind::RealInverse, _) => DType::F32,
        (_, DType::F64 | DType::C128) => DType::C128,
        _ => DType::C64,
    };
    let axis = match axis_of(axis, x.rank()) {
        Ok(axis) => axis,
        Err(message) => return mistake(name, message, &[x], x.shape().clone(), dtype, location),
    };
    let n = length.unwrap_or(x.shape()[axis]);
    let plausible = || -> (Shape, DType) {
        let extent = match kind {
            FftKind::Forward | FftKind::Inverse => x.shape()[axis],
            FftKind::RealForward => x.shape()[axis] / 2 + 1,
            FftKind::RealInverse => n,
        };
        let shape = x.shape().with(axis, extent);
        let fits = shape.checked_element_count().is_some();
        (if fits { shape } else { x.shape().clone() }, dtype)
    };
    // Checked here, in terms of the caller's axes: the transform itself sees the axis as the last one.
    let halved = if n == 0 { 0 } else { n / 2 + 1 };
    if kind == FftKind::RealInverse && x.shape()[axis] != halved {
        let message = format!(
            "expected extent {halved} on axis {axis} for n = {n}, found {} in shape {}; pad or slice it, or ask for \
             another n",
            x.shape()[axis],
            x.shape()
        );
        let (shape, dtype) = plausible();
        return mistake(name, message, &[x], shape, dtype, location);
    }
    let last = x.rank() - 1;
    let order = |from: usize, to: usize| {
        let mut axes: Axes = (0..=last).collect();
        let moved = axes.remove(from);
        axes.insert(to, moved);
        Op::Permute(axes)
    };
    let [result] = composed(name, &[x], plausible, location, |graph, nodes| {
        let mut input = graph.push(order(axis, last), nodes)?;
        let real = matches!(x.dtype(), DType::F32 | DType::F64);
        if real && matches!(kind, FftKind::Forward | FftKind::Inverse) {
            let zero = graph.scalar(Scalar::zero(x.dtype()));
            input = graph.push(Op::Binary(BinaryOp::Complex), &[input, zero])?;
        }
        let output = fft(graph, input, kind, &[n])?;
        Ok([graph.push(order(last, axis), &[output])?])
    });
    result
}
