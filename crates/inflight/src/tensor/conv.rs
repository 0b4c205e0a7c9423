//! Convolutions, in PyTorch's layout (NCHW): `[examples, features, space…]`.

use super::Tensor;
use super::composed::composed;
use super::extents::{PerAxis, zero_in};
use super::method::method;
use super::record::{mistake, record_at};
use crate::Shape;
use inflight_ir::compose::{Convolution, ConvolutionWindow, convolution};
use inflight_ir::elementwise::BinaryOp;
use inflight_ir::graph::Op;
use std::panic::Location;

/// The windows of a convolution over `N` spatial axes.
///
/// ```
/// use inflight::ConvOptions;
///
/// let options = ConvOptions::default().stride([1, 2]).padding(1);
/// assert_eq!((options.stride, options.padding, options.groups), ([1, 2], [1, 1], 1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvOptions<const N: usize> {
    /// The distance between two windows. The default is 1.
    pub stride: [usize; N],
    /// Zeros added before the first element and after the last. The default is 0.
    pub padding: [usize; N],
    /// The distance between the elements of a window. The default is 1.
    pub dilation: [usize; N],
    /// The number of groups of features, each convolved by itself. The default is 1.
    pub groups: usize,
    /// Elements added at the end of the result of a transposed convolution, whose size is not unique. The default is
    /// 0.
    pub output_padding: [usize; N],
}

impl<const N: usize> Default for ConvOptions<N> {
    fn default() -> ConvOptions<N> {
        ConvOptions {
            stride: [1; N],
            padding: [0; N],
            dilation: [1; N],
            groups: 1,
            output_padding: [0; N],
        }
    }
}

impl<const N: usize> ConvOptions<N> {
    fn zero(&self) -> Option<String> {
        zero_in("stride", &self.stride).or_else(|| zero_in("dilation", &self.dilation))
    }

    /// With this stride: one for every axis (`2`), or one per axis (`[1, 2]`).
    #[must_use]
    pub fn stride(self, stride: impl PerAxis<N>) -> ConvOptions<N> {
        ConvOptions { stride: stride.per_axis(), ..self }
    }

    /// With this padding on both sides: one for every axis, or one per axis.
    #[must_use]
    pub fn padding(self, padding: impl PerAxis<N>) -> ConvOptions<N> {
        ConvOptions { padding: padding.per_axis(), ..self }
    }

    /// With this dilation: one for every axis, or one per axis.
    #[must_use]
    pub fn dilation(self, dilation: impl PerAxis<N>) -> ConvOptions<N> {
        ConvOptions { dilation: dilation.per_axis(), ..self }
    }

    /// With this many groups.
    #[must_use]
    pub fn groups(self, groups: usize) -> ConvOptions<N> {
        ConvOptions { groups, ..self }
    }

    /// With this many more elements at the end of the result: one for every axis, or one per axis.
    #[must_use]
    pub fn output_padding(self, output_padding: impl PerAxis<N>) -> ConvOptions<N> {
        ConvOptions { output_padding: output_padding.per_axis(), ..self }
    }
}

impl Tensor {
    /// The convolution of `[examples, features, space]` with `[outputs, features / groups, window]`, and a
    /// bias for each output.
    #[doc(alias("Conv1d", "conv_general_dilated", "convolution"))]
    #[track_caller]
    pub fn conv1d<'a>(
        &self,
        weight: &Tensor,
        bias: impl Into<Option<&'a Tensor>>,
        options: ConvOptions<1>,
    ) -> Tensor {
        convolved("conv1d", self, weight, bias.into(), options, Location::caller())
    }

    /// The convolution of `[examples, features, height, width]` with `[outputs, features / groups, window]`,
    /// and a bias for each output: a tensor `&b`, or `None`.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{ConvOptions, Device, Shape, Tensor};
    ///
    /// let device = Device::cpu();
    /// let image = Tensor::ones::<f32>([1, 3, 8, 8], &device);
    /// let weight = Tensor::ones::<f32>([4, 3, 3, 3], &device);
    /// let bias = Tensor::zeros::<f32>(4, &device);
    /// let y = image.conv2d(&weight, &bias, ConvOptions::default().padding(1));
    /// assert_eq!(*y.shape(), Shape::from([1, 4, 8, 8]));
    /// assert_eq!(y.max_all().item::<f32>()?, 27.0);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("Conv2d", "conv_general_dilated", "convolution"))]
    #[track_caller]
    pub fn conv2d<'a>(
        &self,
        weight: &Tensor,
        bias: impl Into<Option<&'a Tensor>>,
        options: ConvOptions<2>,
    ) -> Tensor {
        convolved("conv2d", self, weight, bias.into(), options, Location::caller())
    }

    /// The convolution of `[examples, features, depth, height, width]` with `[outputs, features / groups,
    /// window]`, and a bias for each output.
    #[doc(alias("Conv3d", "conv_general_dilated", "convolution"))]
    #[track_caller]
    pub fn conv3d<'a>(
        &self,
        weight: &Tensor,
        bias: impl Into<Option<&'a Tensor>>,
        options: ConvOptions<3>,
    ) -> Tensor {
        convolved("conv3d", self, weight, bias.into(), options, Location::caller())
    }

    /// The transposed convolution, the gradient of [`conv2d`](Tensor::conv2d) with respect to its operand: each element
    /// of `[examples, features, height, width]` adds a multiple of its window `[features, outputs / groups, window]` to
    /// the result, and a bias is added for each output.
    #[doc(alias("ConvTranspose2d", "deconvolution", "conv_transpose", "fractionally_strided"))]
    #[track_caller]
    pub fn conv_transpose2d<'a>(
        &self,
        weight: &Tensor,
        bias: impl Into<Option<&'a Tensor>>,
        options: ConvOptions<2>,
    ) -> Tensor {
        let location = Location::caller();
        if let Some(message) = options.zero() {
            return self.mistake_like("conv_transpose2d", message, location);
        }
        if weight.rank() != 4 {
            let message = format!(
                "expected the weight to have 4 axes, [features, outputs / groups, height, width], found shape {}",
                weight.shape()
            );
            let (shape, dtype) = (self.shape().clone(), self.dtype());
            return mistake("conv_transpose2d", message, &[self, weight], shape, dtype, location);
        }
        let method = method("conv_transpose2d");
        let groups = options.groups.max(1);
        // [groups · inputs, outputs, window] as [groups · outputs, inputs, window].
        let transposed = match weight.shape().extents() {
            &[features, outputs, height, width]
                if groups <= features && features.is_multiple_of(groups) =>
            {
                let split = Shape::from([groups, features / groups, outputs, height, width]);
                let split = record_at(Op::Reshape(split), &[weight], location);
                let order = inflight_ir::Axes::from_slice(&[0, 2, 1, 3, 4]);
                let transposed = record_at(Op::Permute(order), &[&split], location);
                let joined = Shape::from([groups * outputs, features / groups, height, width]);
                record_at(Op::Reshape(joined), &[&transposed], location)
            }
            // `apply` reports the error.
            _ => weight.clone(),
        };
        let extent = |axis: usize| transposed.shape().get(axis + 2).copied().unwrap_or(1).max(1);
        let windows = (0..2).map(|axis| {
            let reach = options.dilation[axis].saturating_mul(extent(axis) - 1);
            let low = bounded(reach) - bounded(options.padding[axis]);
            ConvolutionWindow {
                stride: 1,
                low,
                high: low + bounded(options.output_padding[axis]),
                operand_dilation: options.stride[axis],
                kernel_dilation: options.dilation[axis],
                reversed: true,
            }
        });
        let windows = windows.collect();
        let bias = bias.into();
        let groups = options.groups;
        let result = apply("conv_transpose2d", self, &transposed, bias, windows, groups, location);
        match bias {
            Some(bias) => method.of(&[self, weight, bias], result),
            None => method.of(&[self, weight], result),
        }
    }
}

/// A number of elements whose small sums do not overflow. Padding is refused long before this bound.
fn bounded(elements: usize) -> isize {
    elements.min(isize::MAX as usize / 8) as isize
}

fn convolved<const N: usize>(
    name: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    options: ConvOptions<N>,
    location: &'static Location<'static>,
) -> Tensor {
    if let Some(message) = options.zero() {
        let (shape, dtype) = (x.shape().clone(), x.dtype());
        return mistake(name, message, &[x, weight], shape, dtype, location);
    }
    let windows = (0..N).map(|axis| ConvolutionWindow {
        stride: options.stride[axis],
        low: bounded(options.padding[axis]),
        high: bounded(options.padding[axis]),
        kernel_dilation: options.dilation[axis],
        ..ConvolutionWindow::default()
    });
    apply(name, x, weight, bias, windows.collect(), options.groups, location)
}

fn apply(
    name: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    windows: smallvec::SmallVec<[ConvolutionWindow; 3]>,
    groups: usize,
    location: &'static Location<'static>,
) -> Tensor {
    let spatial = windows.len();
    let description =
        Convolution { feature_groups: groups, ..Convolution::channels_first(windows) };
    // As many features as there are kernels, and the spatial extents of the operand.
    let plausible = || {
        let outputs = weight.shape().first().copied();
        let shape = match (x.rank() > 1, outputs) {
            (true, Some(outputs)) => x.shape().with(1, outputs),
            _ => x.shape().clone(),
        };
        let fits = shape.checked_element_count().is_some();
        (if fits { shape } else { x.shape().clone() }, x.dtype())
    };
    for (what, tensor, axes) in [
        ("the operand", x, "[examples, features, space…]"),
        ("the weight", weight, "[outputs, features / groups, window…]"),
    ] {
        if tensor.rank() != spatial + 2 {
            let message = format!(
                "expected {what} to have {} axes, {axes} with {spatial} of space, found shape {}",
                spatial + 2,
                tensor.shape()
            );
            let (shape, dtype) = plausible();
            return mistake(name, message, &[x, weight], shape, dtype, location);
        }
    }
    let [result] = composed(name, &[x, weight], plausible, location, |graph, nodes| {
        Ok([convolution(graph, nodes[0], nodes[1], &description)?])
    });
    let Some(bias) = bias else { return result };
    if result.node().error().is_some() {
        return result;
    }
    // One element is repeated for every output.
    if bias.element_count() != weight.shape()[0] && bias.element_count() != 1 {
        let message = format!(
            "expected a bias of {} elements, one for each output, found shape {}",
            weight.shape()[0],
            bias.shape()
        );
        let (shape, dtype) = (result.shape().clone(), result.dtype());
        return mistake(name, message, &[x, weight, bias], shape, dtype, location);
    }
    let method = method(name);
    let mut along = Shape::from(vec![1; spatial + 1]);
    along = along.with(0, bias.element_count());
    let along = record_at(Op::Reshape(along), &[bias], location);
    let sum = record_at(Op::Binary(BinaryOp::Add), &[&result, &along], location);
    method.of(&[x, weight, bias], sum)
}
