//! Activations, softmax and normalization of neural networks.
//!
//! Those that are several ops compute in `f32` if the tensor is `f16` or `bf16`, and round once.

use super::Tensor;
use super::axis::{Axes, Axis, NamedAxes};
use super::method::method;
use super::record::{mistake, record_at};
use crate::Shape;
use inflight_ir::graph::Op;
use smallvec::SmallVec;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::panic::Location;

impl Tensor {
    /// The rectified linear unit, max(x, 0).
    #[doc(alias("ReLU", "rectify"))]
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        method("relu").of(&[self], self.maximum(0))
    }

    /// The leaky rectified linear unit: x where it is positive, `slope` · x elsewhere.
    #[doc(alias("LeakyReLU", "prelu"))]
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Tensor {
        let method = method("leaky_relu");
        let x = self.widen_half();
        method.of(&[self], x.gt(0).where_cond(&x, &x * slope).cast(self.dtype()))
    }

    /// The Gaussian error linear unit, x · Φ(x), by the error function.
    #[doc(alias("GELU"))]
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        let method = method("gelu");
        let x = self.widen_half();
        let gelu = &x * 0.5 * ((&x * FRAC_1_SQRT_2).erf() + 1);
        method.of(&[self], gelu.cast(self.dtype()))
    }

    /// The Gaussian error linear unit, x · Φ(x), with Φ approximated by tanh.
    #[doc(alias("gelu_new", "gelu_approximate"))]
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        let method = method("gelu_tanh");
        let x = self.widen_half();
        let inner = (&x + x.powi(3) * 0.044715) * (2.0 / PI).sqrt();
        method.of(&[self], (&x * 0.5 * (inner.tanh() + 1)).cast(self.dtype()))
    }

    /// The sigmoid linear unit, x · sigmoid(x).
    #[doc(alias("SiLU", "swish"))]
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        let method = method("silu");
        let x = self.widen_half();
        method.of(&[self], (&x * x.sigmoid()).cast(self.dtype()))
    }

    /// ln(1 + eˣ), without overflow.
    #[doc(alias("Softplus", "logaddexp"))]
    #[track_caller]
    pub fn softplus(&self) -> Tensor {
        let method = method("softplus");
        let x = self.widen_half();
        let softplus = x.maximum(0) + x.abs().neg().exp().log1p();
        method.of(&[self], softplus.cast(self.dtype()))
    }

    /// eˣ along an axis, scaled to a sum of 1.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let scores = Tensor::from_vec(vec![1.0f32, 1.0, 3.0, 3.0], (2, 2), &Device::cpu())?;
    /// assert_eq!(scores.softmax(-1).to_vec::<f32>()?, [0.5; 4]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("Softmax", "normalized_exponential"))]
    #[track_caller]
    pub fn softmax(&self, axis: impl Axis) -> Tensor {
        let axis = axis.number();
        if let Some(mistake) = self.not_normalizable("softmax", &axis.named()) {
            return mistake;
        }
        let method = method("softmax");
        let x = self.widen_half();
        let powers = (&x - x.max_keepdim(axis)).exp();
        // One division for a row, not one for each element.
        let scale = powers.sum_keepdim(axis).reciprocal();
        method.of(&[self], (powers * scale).cast(self.dtype()))
    }

    /// The logarithm of [`softmax`](Tensor::softmax), accurate where that is small.
    #[doc(alias("LogSoftmax"))]
    #[track_caller]
    pub fn log_softmax(&self, axis: impl Axis) -> Tensor {
        let axis = axis.number();
        if let Some(mistake) = self.not_normalizable("log_softmax", &axis.named()) {
            return mistake;
        }
        let method = method("log_softmax");
        let x = self.widen_half();
        let shifted = &x - x.max_keepdim(axis);
        let sum = shifted.exp().sum_keepdim(axis);
        method.of(&[self], (shifted - sum.log()).cast(self.dtype()))
    }

    /// Layer normalization: the elements shifted and scaled to mean 0 and variance 1 over some axes, then times
    /// `weight` and plus `bias`, which have the extents of those axes. `epsilon` is added to the variance.
    ///
    /// `weight` and `bias` are a tensor (`&w`) or `None`.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// let device = Device::cpu();
    /// let x = Tensor::ones::<f32>((8, 16), &device);
    /// let weight = Tensor::ones::<f32>(16, &device);
    /// assert_eq!(x.layer_norm(-1, &weight, None, 1e-5).shape(), x.shape());
    /// ```
    #[doc(alias("LayerNorm", "standardize", "normalize"))]
    #[track_caller]
    pub fn layer_norm<'a>(
        &self,
        axes: impl Axes,
        weight: impl Into<Option<&'a Tensor>>,
        bias: impl Into<Option<&'a Tensor>>,
        epsilon: f64,
    ) -> Tensor {
        let (axes, weight, bias) = (axes.named(), weight.into(), bias.into());
        if let Some(mistake) = self.not_normalizable("layer_norm", &axes) {
            return mistake;
        }
        let method = method("layer_norm");
        let x = self.widen_half();
        let centered = &x - x.mean_keepdim(&axes);
        let variance = centered.square().mean_keepdim(&axes);
        let normal = centered * (variance + epsilon).rsqrt();
        let operands: SmallVec<[&Tensor; 3]> =
            [Some(self), weight, bias].into_iter().flatten().collect();
        method.of(&operands, self.scaled(normal, &axes, weight, bias))
    }

    /// Root mean square normalization: the elements scaled to a root mean square of 1 over some axes, then times
    /// `weight`, which has the extents of those axes. `epsilon` is added to the mean square.
    ///
    /// `weight` is a tensor (`&w`) or `None`.
    #[doc(alias("RMSNorm", "normalize"))]
    #[track_caller]
    pub fn rms_norm<'a>(
        &self,
        axes: impl Axes,
        weight: impl Into<Option<&'a Tensor>>,
        epsilon: f64,
    ) -> Tensor {
        let (axes, weight) = (axes.named(), weight.into());
        if let Some(mistake) = self.not_normalizable("rms_norm", &axes) {
            return mistake;
        }
        let method = method("rms_norm");
        let x = self.widen_half();
        let mean_square = x.square().mean_keepdim(&axes);
        let normal = &x * (mean_square + epsilon).rsqrt();
        let operands: SmallVec<[&Tensor; 3]> = [Some(self), weight].into_iter().flatten().collect();
        method.of(&operands, self.scaled(normal, &axes, weight, None))
    }

    /// `normal` times `weight` plus `bias`, which run along `axes`, in this tensor's dtype.
    #[track_caller]
    fn scaled(
        &self,
        normal: Tensor,
        axes: &NamedAxes,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
    ) -> Tensor {
        let mut result = normal;
        if let Some(weight) = weight {
            match self.along(axes, weight, &result) {
                Ok(weight) => result *= weight,
                Err(mistake) => return mistake,
            }
        }
        if let Some(bias) = bias {
            match self.along(axes, bias, &result) {
                Ok(bias) => result += bias,
                Err(mistake) => return mistake,
            }
        }
        result.cast(self.dtype())
    }

    /// A weight or bias with the extents of `axes`, reshaped to broadcast along them, in the dtype of `wide`.
    #[track_caller]
    fn along(&self, axes: &NamedAxes, weight: &Tensor, wide: &Tensor) -> Result<Tensor, Tensor> {
        let location = Location::caller();
        let axes = axes.existing(self.rank());
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
        Err(mistake("normalize", problem, &[self, weight], shape, self.dtype(), location))
    }

    /// The error of normalizing another dtype than floats, or over axes that do not exist.
    #[track_caller]
    fn not_normalizable(&self, name: &'static str, axes: &NamedAxes) -> Option<Tensor> {
        let message = match axes.resolve(self.rank()) {
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
