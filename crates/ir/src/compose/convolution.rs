//! Convolutions: a dot of the windows of one operand with the kernel.

use super::{ComposeError, GraphBuilder};
use crate::graph::{DotAxes, Graph, NodeId, Op, PadAxis, WindowAxis};
use crate::{Axes, Scalar, Shape};
use smallvec::{SmallVec, smallvec};

/// The roles of the axes of a convolution's operand or result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConvolutionAxes {
    /// The batch axis, of independent examples.
    pub batch: usize,
    /// The feature (channel) axis.
    pub feature: usize,
    /// The spatial axes, which windows slide along.
    pub spatial: Axes,
}

/// The roles of the axes of a convolution's kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KernelAxes {
    /// The axis of input features.
    pub input: usize,
    /// The axis of output features.
    pub output: usize,
    /// The axes of the window.
    pub spatial: Axes,
}

/// The window of a convolution along one spatial axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvolutionWindow {
    /// The distance between window positions.
    pub stride: usize,
    /// Zero padding before the first element; negative padding crops.
    pub low: isize,
    /// Zero padding after the last element; negative padding crops.
    pub high: isize,
    /// The distance between elements of the operand, with zeros in between.
    pub operand_dilation: usize,
    /// The distance between elements of the kernel.
    pub kernel_dilation: usize,
    /// Whether the kernel is reversed.
    pub reversed: bool,
}

impl Default for ConvolutionWindow {
    fn default() -> ConvolutionWindow {
        ConvolutionWindow {
            stride: 1,
            low: 0,
            high: 0,
            operand_dilation: 1,
            kernel_dilation: 1,
            reversed: false,
        }
    }
}

/// A convolution with the parameters of StableHLO's `convolution`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Convolution {
    /// The axes of the operand.
    pub operand: ConvolutionAxes,
    /// The axes of the kernel.
    pub kernel: KernelAxes,
    /// The axes of the result.
    pub result: ConvolutionAxes,
    /// The window along each spatial axis.
    pub windows: SmallVec<[ConvolutionWindow; 3]>,
    /// The number of independent feature groups.
    pub feature_groups: usize,
    /// The number of batch groups, each with kernels of its own.
    pub batch_groups: usize,
}

impl Convolution {
    /// PyTorch's layouts, NCHW and OIHW, without groups.
    pub fn channels_first(windows: SmallVec<[ConvolutionWindow; 3]>) -> Convolution {
        let spatial: Axes = (2..2 + windows.len()).collect();
        let axes = ConvolutionAxes { batch: 0, feature: 1, spatial: spatial.clone() };
        Convolution {
            operand: axes.clone(),
            kernel: KernelAxes { output: 0, input: 1, spatial },
            result: axes,
            windows,
            feature_groups: 1,
            batch_groups: 1,
        }
    }
}

/// Appends a convolution of `x` with `kernel`.
pub fn convolution(
    graph: &mut Graph,
    x: NodeId,
    kernel: NodeId,
    convolution: &Convolution,
) -> Result<NodeId, ComposeError> {
    let mut build = GraphBuilder(graph);
    let Convolution { windows, feature_groups, batch_groups, .. } = convolution;
    let (feature_groups, batch_groups) = (*feature_groups, *batch_groups);
    let x = ordered(&mut build, x, "operand", &roles(&convolution.operand))?;
    let own = &convolution.kernel;
    let order: Axes = [own.output, own.input].into_iter().chain(own.spatial.clone()).collect();
    let kernel = ordered(&mut build, kernel, "kernel", &order)?;
    let (x_shape, kernel_shape) = (build.shape(x), build.shape(kernel));
    check(convolution, &x_shape, &kernel_shape)?;
    let spatial = windows.len();
    let sizes = &kernel_shape[2..];

    let mut flipped = kernel;
    for (axis, window) in windows.iter().enumerate() {
        if window.reversed {
            flipped = build.flip(flipped, axis + 2)?;
        }
    }
    let around = |window: &ConvolutionWindow| PadAxis {
        low: window.low,
        high: window.high,
        interior: window.operand_dilation - 1,
    };
    let pads = [PadAxis::default(); 2].into_iter().chain(windows.iter().map(around)).collect();
    let zero = build.0.scalar(Scalar::zero(build.dtype(x)));
    let padded = build.pad(x, zero, pads)?;
    let moves = windows.iter().zip(sizes).map(|(window, &size)| WindowAxis {
        size,
        stride: window.stride,
        dilation: window.kernel_dilation,
    });
    let moves: SmallVec<[WindowAxis; 4]> =
        [WindowAxis::new(1); 2].into_iter().chain(moves).collect();
    let windowed = build.windows(padded, moves)?;
    let positions: Vec<usize> = build.shape(windowed)[2..2 + spatial].to_vec();

    // Groups become an axis of their own, split from the features of each example or from the examples.
    let groups = feature_groups * batch_groups;
    let (examples, features) = (x_shape[0] / batch_groups, kernel_shape[1]);
    let outputs = kernel_shape[0] / groups;
    let grouped = |lead: [usize; 3]| -> Shape {
        lead.into_iter().chain(positions.iter().copied()).chain(sizes.iter().copied()).collect()
    };
    let split = match batch_groups {
        1 => {
            let split = build.reshape(windowed, grouped([examples, groups, features]))?;
            build.move_axis(split, 1, 0)?
        }
        _ => build.reshape(windowed, grouped([groups, examples, features]))?,
    };
    let kernels: Shape =
        [groups, outputs, features].into_iter().chain(sizes.iter().copied()).collect();
    let kernels = build.reshape(flipped, kernels)?;

    // `split` is now [groups, examples, features, positions…, sizes…], and `kernels` [groups, outputs, features,
    // sizes…]. The order of the dot's operands follows the layout of the result: features last, features before the
    // spatial axes, or features first, as in the gradient of a kernel. In the last case all examples are columns of
    // one GEMM.
    let summed: Axes = std::iter::once(2).chain(3 + spatial..3 + 2 * spatial).collect();
    let kernel_summed: Axes = (2..3 + spatial).collect();
    let last = convolution.result.feature == spatial + 1;
    let first = convolution.result.feature < convolution.result.batch;
    if first && !last {
        let axes = DotAxes {
            a_batch: smallvec![0],
            b_batch: smallvec![0],
            a_contract: kernel_summed,
            b_contract: summed,
        };
        let dot = build.0.push(Op::Dot(axes), &[kernels, split])?;
        let merged: Shape = [groups * outputs, examples].into_iter().chain(positions).collect();
        let merged = build.reshape(dot, merged)?;
        let mut order: Axes = smallvec![0; spatial + 2];
        let ConvolutionAxes { batch, feature, spatial } = &convolution.result;
        for (from, to) in [feature, batch].into_iter().chain(spatial).enumerate() {
            order[*to] = from;
        }
        return Ok(build.permute(merged, order)?);
    }
    let dot = if last {
        let axes = DotAxes {
            a_batch: smallvec![0],
            b_batch: smallvec![0],
            a_contract: summed,
            b_contract: kernel_summed,
        };
        // [groups, examples, positions…, outputs] as [examples, groups, outputs, positions…].
        let dot = build.0.push(Op::Dot(axes), &[split, kernels])?;
        let order = [1, 0, spatial + 2].into_iter().chain(2..spatial + 2);
        build.permute(dot, order.collect())?
    } else {
        let repeated: Shape =
            std::iter::once(examples).chain(build.shape(kernels).iter().copied()).collect();
        let repeated = build.broadcast(kernels, repeated)?;
        let axes = DotAxes {
            a_batch: smallvec![0, 1],
            b_batch: smallvec![1, 0],
            a_contract: kernel_summed.iter().map(|axis| axis + 1).collect(),
            b_contract: summed,
        };
        build.0.push(Op::Dot(axes), &[repeated, split])?
    };
    let merged: Shape = [examples, groups * outputs].into_iter().chain(positions).collect();
    let merged = build.reshape(dot, merged)?;
    let mut order: Axes = smallvec![0; spatial + 2];
    for (from, to) in roles(&convolution.result).into_iter().enumerate() {
        order[to] = from;
    }
    Ok(build.permute(merged, order)?)
}

/// The axes in the order examples, features, space.
fn roles(axes: &ConvolutionAxes) -> Axes {
    [axes.batch, axes.feature].into_iter().chain(axes.spatial.iter().copied()).collect()
}

/// The operand with its axes permuted to the order of their roles.
fn ordered(
    build: &mut GraphBuilder,
    x: NodeId,
    operand: &'static str,
    axes: &Axes,
) -> Result<NodeId, ComposeError> {
    let shape = build.shape(x);
    if axes.len() != shape.rank() || (0..shape.rank()).any(|axis| !axes.contains(&axis)) {
        return Err(ComposeError::ConvolutionAxes { operand, axes: axes.to_vec(), shape });
    }
    Ok(build.permute(x, axes.clone())?)
}

/// Checks that the operands, with axes in the order of roles, match the convolution.
fn check(convolution: &Convolution, x: &Shape, kernel: &Shape) -> Result<(), ComposeError> {
    let &Convolution { feature_groups, batch_groups, .. } = convolution;
    let spatial = x.rank() - 2;
    let found = convolution.windows.len();
    if found != spatial || kernel.rank() != x.rank() {
        return Err(ComposeError::ConvolutionRank { spatial, found });
    }
    let mut result = roles(&convolution.result);
    result.sort_unstable();
    if !result.iter().copied().eq(0..x.rank()) {
        let axes = roles(&convolution.result).to_vec();
        return Err(ComposeError::ConvolutionAxes { operand: "result", axes, shape: x.clone() });
    }
    if feature_groups.min(batch_groups) != 1 {
        let (feature, batch) = (feature_groups, batch_groups);
        return Err(ComposeError::BothGroups { feature, batch });
    }
    let whole = [
        ("features", feature_groups, x[1]),
        ("examples", batch_groups, x[0]),
        ("output features", feature_groups * batch_groups, kernel[0]),
    ];
    for (what, groups, found) in whole {
        if !found.is_multiple_of(groups) {
            return Err(ComposeError::Groups { what, groups, found });
        }
    }
    let expected = x[1] / feature_groups;
    if kernel[1] != expected {
        let (features, groups, found) = (x[1], feature_groups, kernel[1]);
        return Err(ComposeError::KernelFeatures { expected, features, groups, found });
    }
    for (axis, window) in convolution.windows.iter().enumerate() {
        let steps = [window.stride, window.operand_dilation, window.kernel_dilation];
        if steps.contains(&0) || kernel[axis + 2] == 0 {
            return Err(ComposeError::ZeroWindow { axis });
        }
    }
    Ok(())
}
