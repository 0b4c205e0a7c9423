//! Lowering of `reduce_window`, with library reductions, scans, or an arbitrary body.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use super::control_flow::regions;
use super::reduce::{combine, inputs_and_initial, is_identity};
use super::scalar_body::lower_body;
use super::shape::{padded, reversed};
use crate::module::{Operation, Region};
use inflight_ir::compose::{self, ReduceWindow};
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{NodeId, Op, PadAxis, SliceAxis, WindowAxis};
use inflight_ir::{DType, Shape};

/// Window sizes, strides, dilations and padding of each axis.
pub(super) struct Windows {
    pub sizes: Vec<usize>,
    pub strides: Vec<usize>,
    pub dilations: Vec<usize>,
    pub pads: Vec<PadAxis>,
}

/// Reads the window attributes of an operation.
pub(super) fn windows(fields: AttributeView<'_>, rank: usize) -> Lowered<Windows> {
    let sizes = positive(fields, "window_dimensions", rank)?;
    let strides = positive(fields, "window_strides", rank)?;
    let dilations = positive(fields, "window_dilations", rank)?;
    let base = positive(fields, "base_dilations", rank)?;
    let padding = padding(fields, rank)?;
    let pads = padding
        .iter()
        .zip(base)
        .map(|(&(low, high), base)| PadAxis {
            low: low as isize,
            high: high as isize,
            interior: base - 1,
        })
        .collect();
    Ok(Windows { sizes, strides, dilations, pads })
}

/// A list of one positive integer per axis; all are 1 by default.
pub(super) fn positive(fields: AttributeView<'_>, name: &str, rank: usize) -> Lowered<Vec<usize>> {
    let values = fields.per_axis(name, rank, 1)?;
    values
        .into_iter()
        .map(|value| match usize::try_from(value) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(format!("expected positive entries in `{name}`, found {value}").into()),
        })
        .collect()
}

/// The low and high padding of each axis.
pub(super) fn padding(fields: AttributeView<'_>, rank: usize) -> Lowered<Vec<(i64, i64)>> {
    let flat = fields.integers("padding")?.unwrap_or_else(|| vec![0; 2 * rank]);
    if flat.len() != 2 * rank {
        return Err(
            format!("expected `padding` of shape {rank}x2, found {} entries", flat.len()).into()
        );
    }
    Ok(flat.chunks(2).map(|pair| (pair[0], pair[1])).collect())
}

/// `reduce_window`
pub(super) fn reduce_window<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let (inputs, initial) = inputs_and_initial(lowering, operation)?;
    let [region] = regions::<1>(operation)?;
    let builder = lowering.builder();
    let shape = builder.shape(inputs[0]).clone();
    let windows = windows(AttributeView::of(operation), shape.rank())?;
    let dtypes: Vec<DType> =
        initial.iter().chain(&initial).map(|&value| builder.dtype(value)).collect();
    let function = lower_body(lowering, region, &dtypes)?;
    let mut values = Vec::new();
    for (&input, &dtype) in inputs.iter().zip(&dtypes) {
        values.push(lowering.builder().cast(input, dtype)?);
    }

    let known = match (function.combine(), &*initial) {
        (Some(op), [only]) => Some((op, *only)),
        _ => None,
    };
    // The order of combination matters only for sums and products of floats, and for unknown bodies.
    let is_order_sensitive = known
        .is_none_or(|(op, _)| matches!(op, CombineOp::Sum | CombineOp::Product))
        && dtypes.iter().any(|dtype| dtype.is_float() || dtype.is_complex());
    if let Some((axis, is_backward)) = cumulative(&shape, &windows) {
        // Padding contributes initial values. A window extends the previous one by one element only if the initial
        // value is the identity of the reduction.
        let with_identity = known.filter(|&(op, first)| is_identity(lowering.builder(), op, first));
        if is_order_sensitive && shape[axis] <= MAX_SEQUENTIAL_ELEMENTS {
            let results = match with_identity.is_some() && !is_backward {
                true => scan_sequentially(lowering, region, &values, &initial, axis)?,
                false => reduce_sequentially(lowering, region, values, &initial, &windows)?,
            };
            return Ok(results.into_iter().map(|node| lowering.bound(node)).collect());
        }
        if let Some((op, _)) = with_identity {
            let scanned = scan(lowering, op, values[0], axis, is_backward)?;
            return Ok(vec![lowering.bound(scanned)]);
        }
    }
    if is_order_sensitive
        && windows.should_reduce_sequentially(&shape, function.builder.entries.len())
    {
        let results = reduce_sequentially(lowering, region, values, &initial, &windows)?;
        return Ok(results.into_iter().map(|node| lowering.bound(node)).collect());
    }

    if let Some((op, initial)) = known {
        let axes: Vec<ReduceWindow> = (0..shape.rank()).map(|axis| windows.axis(axis)).collect();
        let reduced = lowering.builder().compose(&[values[0], initial], |graph, operands| {
            compose::reduce_window(graph, operands[0], operands[1], op, &axes)
        })?;
        return Ok(vec![lowering.bound(reduced)]);
    }
    let results = reduce_axis_by_axis(lowering, region, values, &initial, &windows)?;
    Ok(results.into_iter().map(|node| lowering.bound(node)).collect())
}

impl Windows {
    fn axis(&self, axis: usize) -> ReduceWindow {
        let PadAxis { low, high, interior } = self.pads[axis];
        let (size, stride) = (self.sizes[axis], self.strides[axis]);
        let dilation = self.dilations[axis];
        ReduceWindow { size, stride, dilation, base_dilation: interior + 1, low, high }
    }

    /// Whether to combine the elements of a window one by one: windows are short, or they are of moderate size, few,
    /// and their body of `body` nodes is small.
    fn should_reduce_sequentially(&self, shape: &Shape, body: usize) -> bool {
        let moves = self.moves();
        let axes = moves.iter().zip(shape.iter()).zip(&self.pads);
        let windows = axes.fold(1, |windows: usize, ((axis, &extent), pad)| {
            let inside = extent.saturating_sub(1) as i128 * pad.interior as i128;
            let padded = extent as i128 + inside + pad.low as i128 + pad.high as i128;
            windows.saturating_mul(axis.positions(usize::try_from(padded.max(0)).unwrap_or(0)))
        });
        match self.element_count() {
            elements if elements <= MAX_SEQUENTIAL_ELEMENTS => true,
            elements => {
                elements <= MAX_SEQUENTIAL_FEW
                    && windows <= MAX_SEQUENTIAL_FEW
                    && elements.saturating_mul(body) <= MAX_SEQUENTIAL_NODES
            }
        }
    }

    /// The number of elements of a window.
    fn element_count(&self) -> usize {
        self.sizes.iter().fold(1, |elements: usize, &size| elements.saturating_mul(size))
    }

    pub fn moves(&self) -> Vec<WindowAxis> {
        let axes = self.sizes.iter().zip(&self.strides).zip(&self.dilations);
        axes.map(|((&size, &stride), &dilation)| WindowAxis { size, stride, dilation }).collect()
    }
}

/// Pads the inputs. Returns the number of windows along each axis, and the initial value of each window.
fn pad_inputs(
    lowering: &mut Lowering<'_>,
    values: &mut [NodeId],
    initial: &[NodeId],
    windows: &Windows,
) -> Lowered<(Shape, Vec<NodeId>)> {
    for (value, &initial) in values.iter_mut().zip(initial) {
        *value = padded(lowering, *value, initial, &windows.pads)?;
    }
    let builder = lowering.builder();
    let (moves, extents) = (windows.moves(), builder.shape(values[0]));
    let positions: Shape =
        moves.iter().zip(extents.iter()).map(|(axis, &extent)| axis.positions(extent)).collect();
    let initial = initial.iter().map(|&value| builder.broadcast(value, &positions));
    let initial = initial.collect::<Lowered<_>>()?;
    Ok((positions, initial))
}

/// Reduces windows with an arbitrary body, in row-major order after the initial value. Each intermediate result is
/// rounded to its dtype, as in the specification.
fn reduce_sequentially<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    mut values: Vec<NodeId>,
    initial: &[NodeId],
    windows: &Windows,
) -> Lowered<Vec<NodeId>> {
    let moves = windows.moves();
    let (positions, mut state) = pad_inputs(lowering, &mut values, initial, windows)?;
    if positions.contains(&0) {
        return Ok(state);
    }
    for element in 0..windows.element_count() {
        let builder = lowering.builder();
        let mut next = values.clone();
        let mut rest = element;
        for (axis, window) in moves.iter().enumerate().rev() {
            let start = rest % window.size * window.dilation;
            rest /= window.size;
            let slice = SliceAxis { start, step: window.stride as isize, len: positions[axis] };
            for value in &mut next {
                *value = builder.slice_axis(*value, axis, slice)?;
            }
        }
        state = combine(lowering, region, &state, &next)?;
    }
    Ok(state)
}

/// Reduces windows with an arbitrary body, one axis at a time.
fn reduce_axis_by_axis<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    mut values: Vec<NodeId>,
    initial: &[NodeId],
    windows: &Windows,
) -> Lowered<Vec<NodeId>> {
    let moves = windows.moves();
    let (positions, initial) = pad_inputs(lowering, &mut values, initial, windows)?;
    if positions.contains(&0) {
        return Ok(initial);
    }
    for axis in (0..moves.len()).rev() {
        values = reduce_by_doubling(lowering, region, values, axis, moves[axis])?;
    }
    combine(lowering, region, &initial, &values)
}

/// Windows of at most this many elements are reduced sequentially, in the specification's order and rounding.
const MAX_SEQUENTIAL_ELEMENTS: usize = 16;
/// So are windows of at most this many elements, if there are at most this many windows,
const MAX_SEQUENTIAL_FEW: usize = 256;
/// and if the body, which is repeated for each element, expands to at most this many nodes.
const MAX_SEQUENTIAL_NODES: usize = 1024;

/// Recognizes a cumulative reduction. Returns its axis, and whether it runs backward: the window of each element covers
/// all elements up to it or, backward, from it on.
fn cumulative(shape: &Shape, windows: &Windows) -> Option<(usize, bool)> {
    let moving: Vec<usize> = (0..shape.rank()).filter(|&axis| windows.sizes[axis] != 1).collect();
    let [axis] = moving[..] else { return None };
    let none = PadAxis::default();
    let is_plain = (0..shape.rank()).all(|other| {
        windows.strides[other] == 1
            && windows.dilations[other] == 1
            && windows.pads[other].interior == 0
            && (other == axis || windows.pads[other] == none)
    });
    let size = windows.sizes[axis];
    if !is_plain || size != shape[axis] {
        return None;
    }
    let before = (size - 1) as isize;
    match (windows.pads[axis].low, windows.pads[axis].high) {
        (low, 0) if low == before => Some((axis, false)),
        (0, high) if high == before => Some((axis, true)),
        _ => None,
    }
}

/// A cumulative reduction as a scan op.
fn scan(
    lowering: &mut Lowering<'_>,
    op: CombineOp,
    x: NodeId,
    axis: usize,
    is_backward: bool,
) -> Lowered<NodeId> {
    let x = if is_backward { reversed(lowering, x, &[axis])? } else { x };
    let scanned = lowering.builder().push(Op::Scan { op, axis }, &[x])?;
    if is_backward { reversed(lowering, scanned, &[axis]) } else { Ok(scanned) }
}

/// A cumulative reduction with an arbitrary body, unrolled. The initial values are identities.
fn scan_sequentially<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    values: &[NodeId],
    initial: &[NodeId],
    axis: usize,
) -> Lowered<Vec<NodeId>> {
    let builder = lowering.builder();
    let shape = builder.shape(values[0]).clone();
    let one = shape.with(axis, 1);
    let mut state: Vec<NodeId> =
        initial.iter().map(|&value| builder.broadcast(value, &one)).collect::<Lowered<_>>()?;
    let mut columns: Vec<Vec<NodeId>> = vec![Vec::new(); values.len()];
    for start in 0..shape[axis] {
        let slice = SliceAxis { start, step: 1, len: 1 };
        let builder = lowering.builder();
        let next: Vec<NodeId> = values
            .iter()
            .map(|&value| builder.slice_axis(value, axis, slice))
            .collect::<Lowered<_>>()?;
        state = combine(lowering, region, &state, &next)?;
        for (column, &value) in columns.iter_mut().zip(&state) {
            column.push(value);
        }
    }
    let builder = lowering.builder();
    columns.into_iter().map(|column| builder.concat(&column, axis)).collect()
}

/// Reduces windows along one axis with an arbitrary body by doubling: windows of 1, 2, 4, … elements are combined
/// from two smaller ones each, and a window of any size from these powers of two.
fn reduce_by_doubling<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    values: Vec<NodeId>,
    axis: usize,
    window: WindowAxis,
) -> Lowered<Vec<NodeId>> {
    let extent = lowering.builder().shape(values[0])[axis];
    let positions = window.positions(extent);
    let slices = |builder: &mut Builder, values: &[NodeId], slice: SliceAxis| {
        values
            .iter()
            .map(|&value| builder.slice_axis(value, axis, slice))
            .collect::<Lowered<Vec<NodeId>>>()
    };
    let mut powers: Vec<Vec<NodeId>> = vec![values];
    let mut length = extent;
    while 2 << (powers.len() - 1) <= window.size {
        let last = powers.last().expect("windows of one element").clone();
        let distance = window.dilation << (powers.len() - 1);
        length -= distance;
        let builder = lowering.builder();
        let left = slices(builder, &last, SliceAxis { start: 0, step: 1, len: length })?;
        let right = slices(builder, &last, SliceAxis { start: distance, step: 1, len: length })?;
        powers.push(combine(lowering, region, &left, &right)?);
    }
    let mut total: Option<Vec<NodeId>> = None;
    let mut taken = 0;
    for (power, values) in powers.iter().enumerate().rev() {
        if window.size & (1 << power) == 0 {
            continue;
        }
        let (start, step) = (taken * window.dilation, window.stride as isize);
        let next = slices(lowering.builder(), values, SliceAxis { start, step, len: positions })?;
        total = Some(match total {
            Some(total) => combine(lowering, region, &total, &next)?,
            None => next,
        });
        taken += 1 << power;
    }
    total.ok_or_else(|| "expected windows of at least one element".into())
}
