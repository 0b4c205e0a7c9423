//! Functions of neural networks.
//!
//! Those that are several ops compute in `f32` where the tensor is `f16` or `bf16`, and round once.

use super::Tensor;
use super::axis;
use super::record::{mistake, record_at};
use crate::Shape;
use inflight_ir::graph::Op;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::panic::Location;

impl Tensor {
    /// max(x, 0).
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        self.maximum(0)
    }

    /// x where it is positive, `slope` · x elsewhere.
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Tensor {
        let x = self.widened();
        x.gt(0).where_cond(&x, &x * slope).cast(self.dtype())
    }

    /// x · Φ(x), by the error function.
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        let x = self.widened();
        (&x * 0.5 * ((&x * FRAC_1_SQRT_2).erf() + 1)).cast(self.dtype())
    }

    /// x · Φ(x), approximated by tanh.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        let x = self.widened();
        let inner = (&x + x.powi(3) * 0.044715) * (2.0 / PI).sqrt();
        (&x * 0.5 * (inner.tanh() + 1)).cast(self.dtype())
    }

    /// x · sigmoid(x).
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        let x = self.widened();
        (&x * x.sigmoid()).cast(self.dtype())
    }

    /// ln(1 + eˣ), without overflow.
    #[track_caller]
    pub fn softplus(&self) -> Tensor {
        let x = self.widened();
        (x.maximum(0) + x.abs().neg().exp().log1p()).cast(self.dtype())
    }

    /// eˣ along an axis, scaled to a sum of 1.
    #[track_caller]
    pub fn softmax(&self, axis: isize) -> Tensor {
        if let Some(mistake) = self.not_normalizable("softmax", &[axis]) {
            return mistake;
        }
        let x = self.widened();
        let powers = (&x - x.max_keepdim([axis])).exp();
        // One division for a row, not one for each element.
        let scale = powers.sum_keepdim([axis]).reciprocal();
        (powers * scale).cast(self.dtype())
    }

    /// The logarithm of [`softmax`](Tensor::softmax), accurate where that is small.
    #[track_caller]
    pub fn log_softmax(&self, axis: isize) -> Tensor {
        if let Some(mistake) = self.not_normalizable("log_softmax", &[axis]) {
            return mistake;
        }
        let x = self.widened();
        let shifted = &x - x.max_keepdim([axis]);
        let sum = shifted.exp().sum_keepdim([axis]);
        (shifted - sum.log()).cast(self.dtype())
    }

    /// The elements shifted and scaled to mean 0 and variance 1 over some axes, then times `weight` and
    /// plus `bias`, which have the extents of those axes. `epsilon` is added to the variance.
    #[track_caller]
    pub fn layer_norm(
        &self,
        axes: impl AsRef<[isize]>,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        epsilon: f64,
    ) -> Tensor {
        let axes = axes.as_ref();
        if let Some(mistake) = self.not_normalizable("layer_norm", axes) {
            return mistake;
        }
        let x = self.widened();
        let centered = &x - x.mean_keepdim(axes);
        let variance = centered.square().mean_keepdim(axes);
        let normal = centered * (variance + epsilon).rsqrt();
        self.scaled("layer_norm", normal, axes, weight, bias)
    }

    /// The elements scaled to a root mean square of 1 over some axes, then times `weight`, which has the
    /// extents of those axes. `epsilon` is added to the mean square.
    #[track_caller]
    pub fn rms_norm(
        &self,
        axes: impl AsRef<[isize]>,
        weight: Option<&Tensor>,
        epsilon: f64,
    ) -> Tensor {
        let axes = axes.as_ref();
        if let Some(mistake) = self.not_normalizable("rms_norm", axes) {
            return mistake;
        }
        let x = self.widened();
        let mean_square = x.square().mean_keepdim(axes);
        let normal = &x * (mean_square + epsilon).rsqrt();
        self.scaled("rms_norm", normal, axes, weight, None)
    }

    /// `normal` times `weight` plus `bias`, which run along `axes`, in this tensor's dtype.
    #[track_caller]
    fn scaled(
        &self,
        name: &'static str,
        normal: Tensor,
        axes: &[isize],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
    ) -> Tensor {
        let mut result = normal;
        if let Some(weight) = weight {
            match self.along(name, axes, weight, &result) {
                Ok(weight) => result *= weight,
                Err(mistake) => return mistake,
            }
        }
        if let Some(bias) = bias {
            match self.along(name, axes, bias, &result) {
                Ok(bias) => result += bias,
                Err(mistake) => return mistake,
            }
        }
        result.cast(self.dtype())
    }

    /// A weight with the extents of `axes`, laid along them, in the dtype of `wide`.
    #[track_caller]
    fn along(
        &self,
        name: &'static str,
        axes: &[isize],
        weight: &Tensor,
        wide: &Tensor,
    ) -> Result<Tensor, Tensor> {
        let location = Location::caller();
        let axes = axis::existing_axes(axes, self.rank());
        let extent = |axis| if axes.contains(&axis) { self.shape()[axis] } else { 1 };
        let along: Shape = (0..self.rank()).map(extent).collect();
        let rest = (0..self.rank()).filter(|axis| !axes.contains(axis));
        let expected = self.shape().reduced(&rest.collect::<Vec<_>>(), false);
        let problem = if *weight.shape() != expected {
            format!("expected a weight or bias of shape {expected}, found {}", weight.shape())
        } else if weight.dtype() != self.dtype() && weight.dtype() != wide.dtype() {
            format!("expected a weight or bias of {}, found {}", self.dtype(), weight.dtype())
        } else {
            let weight = weight.cast(wide.dtype());
            return Ok(match along.rank() == expected.rank() {
                true => weight,
                false => record_at(Op::Reshape(along), &[&weight], location),
            });
        };
        let shape = self.shape().clone();
        Err(mistake(name, problem, &[self, weight], shape, self.dtype(), location))
    }

    /// The mistake of normalizing what is not a float, or over axes that are not there.
    #[track_caller]
    fn not_normalizable(&self, name: &'static str, axes: &[isize]) -> Option<Tensor> {
        let message = match axis::axes(axes, self.rank()) {
            Err(message) => message,
            Ok(_) if self.dtype().is_float() => return None,
            Ok(_) => {
                format!("expected one of floats, found {}; cast the operand first", self.dtype())
            }
        };
        let shape = self.shape().clone();
        Some(mistake(name, message, &[self], shape, self.dtype(), Location::caller()))
    }
}
