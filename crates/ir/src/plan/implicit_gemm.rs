//! Implicit GEMM convolution: finds convolutions in a graph, for backends that compute them without im2col.
//!
//! A convolution is recorded as a dot of windows, which are a view ([`compose`](crate::compose)). A match looks
//! through that view: the dot becomes an implicit GEMM of the tensor that the windows slide over, with channels
//! ("features") last (NHWC). The transpose and the padding to that layout are ordinary kernels, so the planner fuses
//! them with the producer.

use crate::graph::{ConvOutputLayout, DotAxes, Graph, NodeId, Op, WindowAxis};
use crate::{Axes, DType};
use smallvec::SmallVec;

/// The maximum number of spatial axes.
const MAX_SPATIAL_RANK: usize = 3;

/// Grouped convolutions with fewer features or outputs per group than this are not lowered to an implicit GEMM.
const MIN_GROUP_CHANNELS: usize = 16;

/// A convolution found in a graph: a dot of windows.
#[derive(Clone, Debug)]
pub struct ConvolutionMatch {
    /// The convolved tensor: `[examples, features, space…]`.
    pub source: NodeId,
    /// The filter: `[groups, outputs, features, window…]`.
    pub kernels: NodeId,
    /// Size, stride and dilation of the window along each spatial axis.
    pub windows: SmallVec<[WindowAxis; 3]>,
    /// The number of feature groups. If it is 1, all groups are groups of examples.
    pub feature_groups: usize,
    /// The order of the result's axes.
    pub order: ConvOutputLayout,
}

/// For each node, the convolution it is, if it is one that pays off as an implicit GEMM.
pub fn find_convolutions(graph: &Graph) -> Vec<Option<ConvolutionMatch>> {
    (0..graph.nodes.len() as NodeId).map(|node| match_convolution(graph, node)).collect()
}

fn match_convolution(graph: &Graph, node: NodeId) -> Option<ConvolutionMatch> {
    let data = graph.node(node);
    let Op::Dot(axes) = &data.op else { return None };
    if !matches!(data.dtype, DType::F16 | DType::BF16 | DType::F32) || data.shape.contains(&0) {
        return None;
    }
    let (a, b) = (data.inputs[0], data.inputs[1]);
    let of = |order: ConvOutputLayout, split: NodeId, kernels: NodeId| {
        let view = match_window_view(graph, split)?;
        (*axes == expected_axes(order, view.windows.len())).then_some(())?;
        let kernels = match (order, &graph.node(kernels).op) {
            (ConvOutputLayout::ExamplesFirst, Op::Broadcast(_)) => {
                let (repeated, once) = (graph.node(kernels), graph.node(kernels).inputs[0]);
                // The broadcast is along the axis of examples alone.
                (repeated.shape[1..] == graph.node(once).shape[..]).then_some(once)?
            }
            (ConvOutputLayout::ExamplesFirst, _) => return None,
            _ => kernels,
        };
        let shape = &graph.node(kernels).shape;
        if shape.rank() != view.windows.len() + 3 || shape.contains(&0) {
            return None;
        }
        let (groups, outputs, features) = (shape[0], shape[1], shape[2]);
        let is_moved = view.windows.iter().any(|window| *window != WindowAxis::new(1));
        let is_large = groups == 1 || outputs.min(features) >= MIN_GROUP_CHANNELS;
        let feature_groups = if view.has_feature_groups { groups } else { 1 };
        (is_moved && is_large).then_some(ConvolutionMatch {
            source: view.source,
            kernels,
            windows: view.windows,
            feature_groups,
            order,
        })
    };
    of(ConvOutputLayout::OutputsLast, a, b)
        .or_else(|| of(ConvOutputLayout::OutputsFirst, b, a))
        .or_else(|| of(ConvOutputLayout::ExamplesFirst, b, a))
}

/// The dot axes of `[groups, examples, features, positions…, window…]` with `[groups, outputs, features, window…]`,
/// or with the latter broadcast along the examples.
fn expected_axes(order: ConvOutputLayout, space: usize) -> DotAxes {
    let windows: Axes = std::iter::once(2).chain(3 + space..3 + 2 * space).collect();
    let kernels: Axes = (2..3 + space).collect();
    let one = Axes::from_slice(&[0]);
    match order {
        ConvOutputLayout::OutputsLast => {
            DotAxes { a_batch: one.clone(), b_batch: one, a_contract: windows, b_contract: kernels }
        }
        ConvOutputLayout::OutputsFirst => {
            DotAxes { a_batch: one.clone(), b_batch: one, a_contract: kernels, b_contract: windows }
        }
        ConvOutputLayout::ExamplesFirst => DotAxes {
            a_batch: Axes::from_slice(&[0, 1]),
            b_batch: Axes::from_slice(&[1, 0]),
            a_contract: kernels.iter().map(|axis| axis + 1).collect(),
            b_contract: windows,
        },
    }
}

struct WindowView {
    source: NodeId,
    windows: SmallVec<[WindowAxis; 3]>,
    has_feature_groups: bool,
}

/// Matches the view `[groups, examples, features, positions…, window…]` of a tensor.
fn match_window_view(graph: &Graph, split: NodeId) -> Option<WindowView> {
    let data = graph.node(split);
    let (reshaped, has_feature_groups) = match &data.op {
        Op::Permute(order) => {
            let swapped = order.len() > 2 && order[..2] == [1, 0];
            let rest = order.iter().enumerate().skip(2).all(|(to, &from)| to == from);
            (swapped && rest).then_some((data.inputs[0], true))?
        }
        _ => (split, false),
    };
    let reshape = graph.node(reshaped);
    let Op::Reshape(shape) = &reshape.op else { return None };
    let windowed = graph.node(reshape.inputs[0]);
    let Op::Windows(windows) = &windowed.op else { return None };
    let space =
        windows.len().checked_sub(2).filter(|space| (1..=MAX_SPATIAL_RANK).contains(space))?;
    if shape.rank() != 3 + 2 * space || windows[..2] != [WindowAxis::new(1); 2] {
        return None;
    }
    // The windows are `[examples, features, positions…, 1, 1, window…]`; the reshape splits one of the first two
    // axes.
    let is_grouped_reshape = match has_feature_groups {
        true => shape[0] == windowed.shape[0] && shape[1] * shape[2] == windowed.shape[1],
        false => shape[0] * shape[1] == windowed.shape[0] && shape[2] == windowed.shape[1],
    };
    let rest = windowed.shape[2..2 + space].iter().chain(&windowed.shape[4 + space..]);
    (is_grouped_reshape && shape[3..].iter().eq(rest)).then(|| WindowView {
        source: windowed.inputs[0],
        windows: windows[2..].iter().copied().collect(),
        has_feature_groups,
    })
}

/// DCE: the nodes that are reachable from the outputs when convolutions read their sources instead of the windows.
pub fn live_nodes(graph: &Graph, matches: &[Option<ConvolutionMatch>]) -> Vec<bool> {
    let is_any = matches.iter().any(Option::is_some);
    let mut live = vec![!is_any; graph.nodes.len()];
    graph.outputs.iter().for_each(|&output| live[output as usize] = true);
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        if !live[id] {
            // Inputs and scalars are bound by position, so they all stay.
            live[id] = matches!(node.op, Op::Input | Op::Scalar);
            continue;
        }
        match &matches[id] {
            Some(matches) => {
                live[matches.source as usize] = true;
                live[matches.kernels as usize] = true;
            }
            None => node.inputs.iter().for_each(|&input| live[input as usize] = true),
        }
    }
    live
}
