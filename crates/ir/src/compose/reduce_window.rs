//! Window reductions (pooling), as StableHLO's `reduce_window`.

use super::{ComposeError, GraphBuilder};
use crate::Scalar;
use crate::elementwise::CombineOp;
use crate::graph::{Graph, NodeId, Op, PadAxis, SliceAxis, WindowAxis};
use smallvec::SmallVec;

/// The window along one axis, with the parameters of StableHLO's `reduce_window`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReduceWindow {
    /// The number of elements of the window.
    pub size: usize,
    /// The distance between window positions.
    pub stride: usize,
    /// The distance between elements of the window.
    pub dilation: usize,
    /// The distance between elements of the operand, with initial values in between.
    pub base_dilation: usize,
    /// Initial values before the first element; negative padding crops.
    pub low: isize,
    /// Initial values after the last element; negative padding crops.
    pub high: isize,
}

impl ReduceWindow {
    /// A window of `size` adjacent elements, with this stride.
    pub fn new(size: usize, stride: usize) -> ReduceWindow {
        ReduceWindow { size, stride, dilation: 1, base_dilation: 1, low: 0, high: 0 }
    }

    fn pad(&self) -> PadAxis {
        PadAxis { low: self.low, high: self.high, interior: self.base_dilation - 1 }
    }

    fn window(&self) -> WindowAxis {
        WindowAxis { size: self.size, stride: self.stride, dilation: self.dilation }
    }
}

/// Windows of more elements than this are reduced by doubling, in a logarithmic number of steps.
const MAX_DIRECT_WINDOW: usize = 64;

/// Appends the reduction of every window of `x`, with one entry for each axis. Each window starts from `init`, which
/// also pads `x`.
pub fn reduce_window(
    graph: &mut Graph,
    x: NodeId,
    init: NodeId,
    op: CombineOp,
    windows: &[ReduceWindow],
) -> Result<NodeId, ComposeError> {
    let mut build = GraphBuilder(graph);
    check(&build, &[x], &[init], windows)?;
    let elements = window_elements(windows);
    let is_identity = constant(build.0, init) == Some(Scalar::identity(op, build.dtype(init)));
    // Windows that reach into the padding combine several initial values; a scan would drop them.
    let repeats_init = !is_identity && !is_idempotent(op);
    let scanned = if repeats_init { None } else { reduce_as_scan(&mut build, x, op, windows)? };
    let reduced = if let Some(scanned) = scanned {
        scanned
    } else if elements > MAX_DIRECT_WINDOW {
        let combine = |graph: &mut Graph, a: &[NodeId], b: &[NodeId]| {
            Ok(vec![graph.push(Op::Binary(op.binary()), &[a[0], b[0]])?])
        };
        reduce_by_doubling(&mut build, &[x], &[init], windows, combine)?[0]
    } else {
        let padded = build.pad(x, init, windows.iter().map(ReduceWindow::pad).collect())?;
        let windowed = build.windows(padded, windows.iter().map(ReduceWindow::window).collect())?;
        let rank = windows.len();
        build.0.push(Op::Reduce { op, axes: (rank..2 * rank).collect() }, &[windowed])?
    };
    // Combining with the identity changes nothing.
    if is_identity {
        return Ok(reduced);
    }
    Ok(build.0.push(Op::Binary(op.binary()), &[init, reduced])?)
}

/// Appends the reduction of every window of several operands by a body. Given the accumulators and the next elements,
/// all of one shape, the body appends elementwise ops and returns the new accumulators. It must be associative. The
/// initial values must be its identity, or apply wherever StableHLO applies them: at the start of each window, and as
/// padding.
pub fn reduce_window_with(
    graph: &mut Graph,
    operands: &[NodeId],
    inits: &[NodeId],
    windows: &[ReduceWindow],
    mut body: impl FnMut(&mut Graph, &[NodeId], &[NodeId]) -> Result<Vec<NodeId>, ComposeError>,
) -> Result<Vec<NodeId>, ComposeError> {
    let mut build = GraphBuilder(graph);
    check(&build, operands, inits, windows)?;
    let elements = window_elements(windows);
    let reduced = if elements > MAX_DIRECT_WINDOW {
        reduce_by_doubling(&mut build, operands, inits, windows, &mut body)?
    } else {
        let padded = pad_all(&mut build, operands, inits, windows)?;
        let mut total: Option<Vec<NodeId>> = None;
        for element in 0..elements {
            let next = padded
                .iter()
                .map(|&x| element_of_each_window(&mut build, x, windows, element))
                .collect::<Result<Vec<_>, _>>()?;
            total = Some(match total {
                None => next,
                Some(total) => apply_body(&mut build, &total, &next, &mut body)?,
            });
        }
        total.expect("a window has at least one element")
    };
    let shape = build.shape(reduced[0]);
    let first = inits
        .iter()
        .map(|&init| build.broadcast(init, shape.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    apply_body(&mut build, &first, &reduced, &mut body)
}

/// The number of elements of a window.
fn window_elements(windows: &[ReduceWindow]) -> usize {
    windows.iter().fold(1usize, |elements, window| elements.saturating_mul(window.size))
}

fn check(
    build: &GraphBuilder,
    operands: &[NodeId],
    inits: &[NodeId],
    windows: &[ReduceWindow],
) -> Result<(), ComposeError> {
    if operands.len() != inits.len() || operands.is_empty() {
        let (values, inits) = (operands.len(), inits.len());
        return Err(ComposeError::InitialValues { values, inits });
    }
    let shape = build.shape(operands[0]);
    for (&operand, &init) in operands.iter().zip(inits) {
        let found = build.shape(init);
        if found.rank() != 0 {
            return Err(ComposeError::InitialNotScalar { found });
        }
        let other = build.shape(operand);
        if other != shape {
            return Err(crate::graph::InferError::KeyShapes { first: shape, other }.into());
        }
    }
    if windows.len() != shape.rank() {
        return Err(crate::graph::InferError::EntryCount { found: windows.len(), shape }.into());
    }
    let zero = |window: &ReduceWindow| {
        [window.size, window.stride, window.dilation, window.base_dilation].contains(&0)
    };
    match windows.iter().position(zero) {
        Some(axis) => Err(ComposeError::ZeroWindow { axis }),
        None => Ok(()),
    }
}

/// Whether combining a value several times is the same as combining it once.
fn is_idempotent(op: CombineOp) -> bool {
    matches!(op, CombineOp::Min | CombineOp::Max | CombineOp::And | CombineOp::Or)
}

/// The value of a constant.
fn constant(graph: &Graph, node: NodeId) -> Option<Scalar> {
    if graph.node(node).op != Op::Scalar {
        return None;
    }
    let before = &graph.nodes[..node as usize];
    graph.scalars.get(before.iter().filter(|node| node.op == Op::Scalar).count()).copied()
}

/// Matches a cumulative reduction along one axis, forwards or backwards, and appends it as a scan: windows as long as
/// the axis that end at each element, or start at it.
fn reduce_as_scan(
    build: &mut GraphBuilder,
    x: NodeId,
    op: CombineOp,
    windows: &[ReduceWindow],
) -> Result<Option<NodeId>, ComposeError> {
    let plain = ReduceWindow::new(1, 1);
    let mut moving = (0..windows.len()).filter(|&axis| windows[axis] != plain);
    let (Some(axis), None) = (moving.next(), moving.next()) else { return Ok(None) };
    let extent = build.shape(x)[axis];
    let Some(around) = (extent as isize).checked_sub(1).filter(|&around| around > 0) else {
        return Ok(None);
    };
    let window = ReduceWindow::new(extent, 1);
    if windows[axis] == (ReduceWindow { low: around, ..window }) {
        return Ok(Some(build.0.push(Op::Scan { op, axis }, &[x])?));
    }
    if windows[axis] == (ReduceWindow { high: around, ..window }) {
        let flipped = build.flip(x, axis)?;
        let scanned = build.0.push(Op::Scan { op, axis }, &[flipped])?;
        return Ok(Some(build.flip(scanned, axis)?));
    }
    Ok(None)
}

fn pad_all(
    build: &mut GraphBuilder,
    operands: &[NodeId],
    inits: &[NodeId],
    windows: &[ReduceWindow],
) -> Result<Vec<NodeId>, ComposeError> {
    let pads: SmallVec<[PadAxis; 4]> = windows.iter().map(ReduceWindow::pad).collect();
    let pairs = operands.iter().zip(inits);
    pairs.map(|(&x, &init)| Ok(build.pad(x, init, pads.clone())?)).collect()
}

/// The element at one offset of every window.
fn element_of_each_window(
    build: &mut GraphBuilder,
    x: NodeId,
    windows: &[ReduceWindow],
    mut element: usize,
) -> Result<NodeId, ComposeError> {
    let mut at = x;
    for (axis, window) in windows.iter().enumerate().rev() {
        let start = element % window.size * window.dilation;
        element /= window.size;
        at = strided_slice(build, at, axis, start, window)?;
    }
    Ok(at)
}

/// The elements of one axis from `start`, one for each window position.
fn strided_slice(
    build: &mut GraphBuilder,
    x: NodeId,
    axis: usize,
    start: usize,
    window: &ReduceWindow,
) -> Result<NodeId, ComposeError> {
    let len = window.window().positions(build.shape(x)[axis]);
    let start = if len == 0 { 0 } else { start };
    Ok(build.slice(x, axis, SliceAxis { start, step: window.stride as isize, len })?)
}

fn apply_body(
    build: &mut GraphBuilder,
    a: &[NodeId],
    b: &[NodeId],
    mut body: impl FnMut(&mut Graph, &[NodeId], &[NodeId]) -> Result<Vec<NodeId>, ComposeError>,
) -> Result<Vec<NodeId>, ComposeError> {
    let result = body(build.0, a, b)?;
    if result.len() != a.len() {
        let (values, inits) = (result.len(), a.len());
        return Err(ComposeError::InitialValues { values, inits });
    }
    for (&found, &expected) in result.iter().zip(a) {
        let (found, expected) = (build.0.node(found), build.0.node(expected));
        if (&found.shape, found.dtype) != (&expected.shape, expected.dtype) {
            return Err(ComposeError::BodyResult {
                expected: expected.shape.clone(),
                dtype: expected.dtype,
                found: found.shape.clone(),
                found_dtype: found.dtype,
            });
        }
    }
    Ok(result)
}

/// Reduces windows axis by axis with binary doubling: runs of 1, 2, 4, … elements, combined according to the bits of
/// the window size.
fn reduce_by_doubling(
    build: &mut GraphBuilder,
    operands: &[NodeId],
    inits: &[NodeId],
    windows: &[ReduceWindow],
    mut body: impl FnMut(&mut Graph, &[NodeId], &[NodeId]) -> Result<Vec<NodeId>, ComposeError>,
) -> Result<Vec<NodeId>, ComposeError> {
    let mut values = pad_all(build, operands, inits, windows)?;
    for (axis, window) in windows.iter().enumerate() {
        let extent = build.shape(values[0])[axis];
        let positions = WindowAxis { stride: 1, ..window.window() }.positions(extent);
        if positions == 0 {
            let none = SliceAxis { start: 0, step: 1, len: 0 };
            for value in &mut values {
                *value = build.slice(*value, axis, none)?;
            }
            continue;
        }
        // `runs` holds, for each start, the reduction of `run` elements of the window.
        let (mut runs, mut run) = (values.clone(), 1);
        let mut total: Option<(Vec<NodeId>, usize)> = None;
        loop {
            if window.size & run != 0 {
                total = Some(match total {
                    None => (slice_all(build, &runs, axis, 0, positions)?, run),
                    Some((total, covered)) => {
                        let next =
                            slice_all(build, &runs, axis, covered * window.dilation, positions)?;
                        (apply_body(build, &total, &next, &mut body)?, covered + run)
                    }
                });
            }
            if run * 2 > window.size {
                break;
            }
            let len = build.shape(runs[0])[axis];
            let shift = run * window.dilation;
            let first = slice_all(build, &runs, axis, 0, len - shift)?;
            let second = slice_all(build, &runs, axis, shift, len - shift)?;
            runs = apply_body(build, &first, &second, &mut body)?;
            run *= 2;
        }
        let (total, _) = total.expect("a window has at least one element");
        let single = ReduceWindow { size: 1, ..*window };
        values = total
            .into_iter()
            .map(|value| strided_slice(build, value, axis, 0, &single))
            .collect::<Result<_, _>>()?;
    }
    Ok(values)
}

fn slice_all(
    build: &mut GraphBuilder,
    values: &[NodeId],
    axis: usize,
    start: usize,
    len: usize,
) -> Result<Vec<NodeId>, ComposeError> {
    let slice = SliceAxis { start, step: 1, len };
    values.iter().map(|&value| Ok(build.slice(value, axis, slice)?)).collect()
}
