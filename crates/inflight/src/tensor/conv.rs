//! Convolutions, in PyTorch's layouts: `[examples, features, space…]`.

use super::Tensor;
use super::composed::composed;
use super::record::{mistake, record_at};
use crate::Shape;
use inflight_ir::compose::{Convolution, ConvolutionWindow, convolution};
use inflight_ir::elementwise::BinaryOp;
use inflight_ir::graph::Op;
use std::panic::Location;

/// How a convolution over `N` axes of space moves.
///
/// ```
/// use inflight::ConvOptions;
///
/// let options = ConvOptions::<2>::default().stride(2).padding(1);
/// assert_eq!((options.stride, options.padding, options.groups), ([2, 2], [1, 1], 1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvOptions<const N: usize> {
    /// The distance between the window's positions; 1 unless said otherwise.
    pub stride: [usize; N],
    /// Zeros before the first element and after the last; none unless said otherwise.
    pub padding: [usize; N],
    /// The distance between the elements that a window takes; 1 unless said otherwise.
    pub dilation: [usize; N],
    /// Into how many groups features fall, each convolved by itself; 1 unless said otherwise.
    pub groups: usize,
    /// More elements at the end of the result; for transposed convolutions, whose size is not unique.
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
    /// With this stride along every axis.
    pub fn stride(self, stride: usize) -> ConvOptions<N> {
        ConvOptions { stride: [stride; N], ..self }
    }

    /// With this padding on both sides of every axis.
    pub fn padding(self, padding: usize) -> ConvOptions<N> {
        ConvOptions { padding: [padding; N], ..self }
    }

    /// With this dilation along every axis.
    pub fn dilation(self, dilation: usize) -> ConvOptions<N> {
        ConvOptions { dilation: [dilation; N], ..self }
    }

    /// With this many groups.
    pub fn groups(self, groups: usize) -> ConvOptions<N> {
        ConvOptions { groups, ..self }
    }

    /// With this many more elements at the end of every axis of the result.
    pub fn output_padding(self, output_padding: usize) -> ConvOptions<N> {
        ConvOptions { output_padding: [output_padding; N], ..self }
    }
}

impl Tensor {
    /// The convolution of `[examples, features, space]` with `[outputs, features / groups, window]`, and a
    /// bias for each output.
    #[track_caller]
    pub fn conv1d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        options: ConvOptions<1>,
    ) -> Tensor {
        convolved("conv1d", self, weight, bias, options, Location::caller())
    }

    /// The convolution of `[examples, features, height, width]` with `[outputs, features / groups, window]`,
    /// and a bias for each output.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{ConvOptions, Device, Shape, Tensor};
    ///
    /// let device = Device::cpu();
    /// let image = Tensor::ones::<f32>([1, 3, 8, 8], &device);
    /// let weight = Tensor::ones::<f32>([4, 3, 3, 3], &device);
    /// let y = image.conv2d(&weight, None, ConvOptions::default().padding(1));
    /// assert_eq!(*y.shape(), Shape::from([1, 4, 8, 8]));
    /// assert_eq!(y.max_all().item::<f32>()?, 27.0);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn conv2d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        options: ConvOptions<2>,
    ) -> Tensor {
        convolved("conv2d", self, weight, bias, options, Location::caller())
    }

    /// The convolution of `[examples, features, depth, height, width]` with `[outputs, features / groups,
    /// window]`, and a bias for each output.
    #[track_caller]
    pub fn conv3d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        options: ConvOptions<3>,
    ) -> Tensor {
        convolved("conv3d", self, weight, bias, options, Location::caller())
    }

    /// What [`conv2d`](Tensor::conv2d) takes to its operand: each element of `[examples, features, height,
    /// width]` puts a multiple of the window `[features, outputs / groups, window]` into the result, and a bias
    /// is added for each output.
    #[track_caller]
    pub fn conv_transpose2d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        options: ConvOptions<2>,
    ) -> Tensor {
        let location = Location::caller();
        let groups = options.groups.max(1);
        // [groups · inputs, outputs, window] as [groups · outputs, inputs, window].
        let turned = match weight.shape().extents() {
            &[features, outputs, height, width]
                if groups <= features && features.is_multiple_of(groups) =>
            {
                let split = Shape::from([groups, features / groups, outputs, height, width]);
                let split = record_at(Op::Reshape(split), &[weight], location);
                let order = inflight_ir::Axes::from_slice(&[0, 2, 1, 3, 4]);
                let turned = record_at(Op::Permute(order), &[&split], location);
                let joined = Shape::from([groups * outputs, features / groups, height, width]);
                record_at(Op::Reshape(joined), &[&turned], location)
            }
            // Refused below.
            _ => weight.clone(),
        };
        let extent = |axis: usize| turned.shape().get(axis + 2).copied().unwrap_or(1).max(1);
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
        apply("conv_transpose2d", self, &turned, bias, windows, options.groups, location)
    }
}

/// A number of elements that sums of a few do not overflow with; as padding it is refused long before.
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
    // With as many features as there are kernels, and space as it was.
    let plausible = || {
        let outputs = weight.shape().first().copied();
        let shape = match (x.rank() > 1, outputs) {
            (true, Some(outputs)) => x.shape().with(1, outputs),
            _ => x.shape().clone(),
        };
        let fits = shape.checked_elements().is_some();
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
    let mut along = Shape::from(vec![1; spatial + 1]);
    along = along.with(0, bias.elements());
    let bias = record_at(Op::Reshape(along), &[bias], location);
    record_at(Op::Binary(BinaryOp::Add), &[&result, &bias], location)
}
