//! Lowering of `select_and_scatter`: each window selects one of its elements, which receives the source element.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use super::control_flow::regions;
use super::reduce_window::{Windows, windows};
use super::scatter::ScatterOperands;
use super::shape::padded;
use crate::module::{Operation, Region};
use inflight_ir::graph::{NodeId, Op, PadAxis, SliceAxis};
use inflight_ir::interpret::Array;
use inflight_ir::{BinaryOp, CompareOp, DType, Scalar, Shape};
use std::ops::Range;

/// `select_and_scatter`
pub(super) fn select_and_scatter<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let [x, source, initial] = lowering.expect_operands(operation)?;
    let [select, scatter] = regions::<2>(operation)?;
    let shape = lowering.builder().shape(x).clone();
    let windows = windows(AttributeView::of(operation), shape.rank())?;
    let selected = select_offsets(lowering, select, x, &windows)?;
    let builder = lowering.builder();
    let source_shape = builder.shape(source).clone();
    if *builder.shape(selected) != source_shape {
        return Err(format!(
            "expected a source of shape {}, the number of windows, found {source_shape}",
            builder.shape(selected)
        )
        .into());
    }
    let result = if source_shape.contains(&0) {
        builder.broadcast(initial, &shape)?
    } else if let Some(table) = Table::new(&windows, &source_shape, &shape) {
        result_by_lookup(lowering, scatter, source, selected, initial, table, &shape)?
    } else {
        result_by_scatter(lowering, scatter, source, selected, initial, &windows, &shape)?
    };
    Ok(vec![lowering.bound(result)])
}

impl Windows {
    /// Whether every element is in at most one window.
    fn are_disjoint(&self) -> bool {
        let axes = self.sizes.iter().zip(&self.strides).zip(&self.dilations);
        let is_disjoint = |((&size, &stride), &dilation): ((&usize, &usize), &usize)| {
            size <= stride && (dilation == 1 || size == 1)
        };
        axes.into_iter().all(is_disjoint) && self.pads.iter().all(|pad| pad.interior == 0)
    }
}

/// The row-major offset of the element that each window selects; -1 if the window covers only padding.
fn select_offsets<'a>(
    lowering: &mut Lowering<'a>,
    select: &'a Region,
    x: NodeId,
    windows: &Windows,
) -> Lowered<NodeId> {
    let moves = windows.moves();
    let rank = moves.len();
    let builder = lowering.builder();
    let (shape, dtype) = (builder.shape(x).clone(), builder.dtype(x));
    let window_elements: usize = windows.sizes.iter().product();
    let view = |builder: &mut Builder, value: NodeId| {
        let view = builder.push(Op::Windows(moves.iter().copied().collect()), &[value])?;
        let extents: Shape =
            builder.shape(view)[..rank].iter().copied().chain([window_elements]).collect();
        builder.reshape(view, &extents)
    };
    let is_padded = windows.pads.iter().any(|pad| *pad != PadAxis::default());
    let zero = builder.scalar(Scalar::zero(dtype));
    let values = padded(lowering, x, zero, &windows.pads)?;
    let values = view(lowering.builder(), values)?;
    let builder = lowering.builder();
    let positions = builder.shape(values).clone();
    let mut offsets = builder.iota(rank, &positions, DType::I32)?;
    if is_padded {
        let (inside, outside) = (builder.scalar(true), builder.scalar(false));
        let inside = builder.broadcast(inside, &shape)?;
        let is_inside = padded(lowering, inside, outside, &windows.pads)?;
        let is_inside = view(lowering.builder(), is_inside)?;
        let builder = lowering.builder();
        let none = builder.scalar(-1i32);
        offsets = builder.select(is_inside, offsets, none)?;
    }
    // Tree reduction: select between neighbours until one element is left. Padding always loses.
    let mut views = [values, offsets];
    loop {
        let builder = lowering.builder();
        let count = builder.shape(views[0])[rank];
        if count <= 1 {
            let extents = Shape::new(&positions.extents()[..rank]);
            return builder.reshape(views[1], &extents);
        }
        let half = count / 2;
        let mut sides = Vec::new();
        for start in 0..2 {
            let slice = SliceAxis { start, step: 2, len: half };
            for view in views {
                sides.push(builder.slice_axis(view, rank, slice)?);
            }
        }
        let [left, left_at, right, right_at] = sides[..] else {
            unreachable!("two slices of two views")
        };
        let shape = builder.shape(left).clone();
        let chosen = lowering.apply_elementwise(select, &[left, right], &shape)?;
        let &[mut picks_left] = &*chosen else {
            return Err("expected `select` to return one value".into());
        };
        let builder = lowering.builder();
        if is_padded {
            let zero = builder.scalar(0i32);
            let left_counts = builder.compare(CompareOp::Ge, left_at, zero)?;
            let right_is_none = builder.compare(CompareOp::Lt, right_at, zero)?;
            picks_left = builder.binary(BinaryOp::Or, picks_left, right_is_none)?;
            picks_left = builder.binary(BinaryOp::And, picks_left, left_counts)?;
        }
        let mut next = [
            builder.select(picks_left, left, right)?,
            builder.select(picks_left, left_at, right_at)?,
        ];
        if count % 2 == 1 {
            let slice = SliceAxis { start: count - 1, step: 1, len: 1 };
            for (next, view) in next.iter_mut().zip(views) {
                let last = builder.slice_axis(view, rank, slice)?;
                *next = builder.concat(&[*next, last], rank)?;
            }
        }
        views = next;
    }
}

/// The result for disjoint windows: each element gathers the selection of its own window, so that no scatter is needed.
fn result_by_lookup<'a>(
    lowering: &mut Lowering<'a>,
    scatter: &'a Region,
    source: NodeId,
    selected: NodeId,
    initial: NodeId,
    table: Table,
    shape: &Shape,
) -> Lowered<NodeId> {
    let positions = lowering.builder().shape(source).clone();
    let start = lowering.builder().broadcast(initial, &positions)?;
    let written = lowering.apply_elementwise(scatter, &[start, source], &positions)?;
    let &[written] = &*written else { return Err("expected `scatter` to return one value".into()) };
    // Merge the axes that windows move along into one, and likewise those before and after them.
    let Table { axes, windows, offsets } = table;
    let merged = |shape: &Shape| -> Shape {
        let extents = shape.extents();
        let product = |axes: &[usize]| axes.iter().product();
        Shape::new(&[
            product(&extents[..axes.start]),
            product(&extents[axes.clone()]),
            product(&extents[axes.end..]),
        ])
    };
    let (from, to) = (merged(&positions), merged(shape));
    let column = |entries: Vec<i32>| {
        let bytes = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        Array { shape: Shape::new(&[entries.len(), 1]), dtype: DType::I32, bytes }
    };
    let (index, offset) = (column(windows), column(offsets));
    let (index, offset) = (lowering.constant(index)?, lowering.constant(offset)?);
    let builder = lowering.builder();
    let index = builder.broadcast(index, &to)?;
    let mut found = Vec::new();
    for value in [selected, written] {
        let value = builder.reshape(value, &from)?;
        found.push(builder.push(Op::Gather { axis: 1 }, &[value, index])?);
    }
    let is_selected = builder.compare(CompareOp::Eq, found[0], offset)?;
    let result = builder.select(is_selected, found[1], initial)?;
    builder.reshape(result, shape)
}

/// The window that each element is in, and its offset in that window, over the axes that windows move along.
struct Table {
    /// From the first axis that windows move along to the last.
    axes: Range<usize>,
    /// The row-major index of the element's window.
    windows: Vec<i32>,
    /// The element's offset in its window, as in [`select_offsets`]; less than -1 if it is in no window.
    offsets: Vec<i32>,
}

/// The maximum size of a table, which is embedded in the program as a constant.
const MAX_TABLE_ENTRIES: usize = 1 << 20;

impl Table {
    /// The table for disjoint windows. `None` if windows overlap or the table would be too large.
    fn new(windows: &Windows, positions: &Shape, shape: &Shape) -> Option<Table> {
        if !windows.are_disjoint() {
            return None;
        }
        let moves = |&axis: &usize| {
            let is_padded = windows.pads[axis] != PadAxis::default();
            windows.sizes[axis] > 1 || windows.strides[axis] > 1 || is_padded
        };
        let moving: Vec<usize> = (0..shape.rank()).filter(moves).collect();
        let axes = match (moving.first(), moving.last()) {
            (Some(&first), Some(&last)) => first..last + 1,
            _ => 0..0,
        };
        let entries =
            shape.extents()[axes.clone()].iter().try_fold(1usize, |entries, &extent| {
                entries.checked_mul(extent).filter(|&entries| entries <= MAX_TABLE_ENTRIES)
            })?;
        // With large padding there may be more windows than elements.
        let count = |extents: &[usize]| {
            let all = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
            all.and_then(|count| i32::try_from(count).ok())
        };
        count(&positions.extents()[axes.clone()])?;
        count(&windows.sizes[axes.clone()])?;
        let mut table = Table { axes, windows: vec![0; entries], offsets: vec![0; entries] };
        // From the innermost axis outwards: the strides of the axis in elements, in windows and in window offsets.
        // Windows have extent 1 along axes outside of the range.
        let (mut stride, mut window_weight, mut offset_weight) = (1, 1, 1);
        for axis in table.axes.clone().rev() {
            for entry in 0..entries {
                let element = (entry / stride % shape[axis]) as isize + windows.pads[axis].low;
                let step = windows.strides[axis] as isize;
                let (window, offset) = (element.div_euclid(step), element.rem_euclid(step));
                let is_inside = (0..positions[axis] as isize).contains(&window)
                    && (offset as usize) < windows.sizes[axis];
                if is_inside && table.offsets[entry] >= 0 {
                    table.windows[entry] += window as i32 * window_weight;
                    table.offsets[entry] += offset as i32 * offset_weight;
                } else {
                    (table.windows[entry], table.offsets[entry]) = (0, i32::MIN);
                }
            }
            stride *= shape[axis];
            window_weight *= positions[axis] as i32;
            offset_weight *= windows.sizes[axis] as i32;
        }
        Some(table)
    }
}

/// The result for overlapping windows: a scatter, in which an element that several windows select receives all of
/// their source elements in order.
fn result_by_scatter<'a>(
    lowering: &mut Lowering<'a>,
    scatter: &'a Region,
    source: NodeId,
    selected: NodeId,
    initial: NodeId,
    windows: &Windows,
    shape: &Shape,
) -> Lowered<NodeId> {
    let builder = lowering.builder();
    let positions = builder.shape(source).clone();
    // The coordinates of each selected element: the window's start plus the offset in the window.
    let selected = builder.cast(selected, DType::I64)?;
    let mut rest = selected;
    let mut flat = builder.scalar(0i64);
    let strides = shape.strides();
    for axis in (0..positions.rank()).rev() {
        let size = builder.scalar(windows.sizes[axis] as i64);
        let offset = builder.binary(BinaryOp::Rem, rest, size)?;
        rest = builder.div(rest, size)?;
        let count = builder.iota(axis, &positions, DType::I64)?;
        let factors = [windows.strides[axis] as i64, windows.dilations[axis] as i64];
        let [stride, dilation] = factors.map(|factor| builder.scalar(factor));
        let (begin, offset) = (builder.mul(count, stride)?, builder.mul(offset, dilation)?);
        let at = builder.add(begin, offset)?;
        let PadAxis { low, interior, .. } = windows.pads[axis];
        let low = builder.scalar(low as i64);
        let mut at = builder.sub(at, low)?;
        if interior > 0 {
            // Base dilation spaces the operand's elements; interior padding is never selected.
            let distance = builder.scalar(interior as i64 + 1);
            at = builder.div(at, distance)?;
        }
        let stride = builder.scalar(strides[axis] as i64);
        let at = builder.mul(at, stride)?;
        flat = builder.add(flat, at)?;
    }
    let (zero, out_of_range) = (builder.scalar(0i64), builder.scalar(-1i64));
    let is_none = builder.compare(CompareOp::Lt, selected, zero)?;
    let index = builder.select(is_none, out_of_range, flat)?;
    let line = Shape::new(&[positions.element_count()]);
    let whole = Shape::new(&[shape.element_count()]);
    let target = ScatterOperands {
        inputs: vec![builder.broadcast(initial, &whole)?],
        index: builder.reshape(index, &line)?,
        updates: vec![builder.reshape(source, &line)?],
        axis: 0,
        order: Vec::new(),
    };
    let written = target.write(lowering, scatter, false)?;
    lowering.builder().reshape(written[0], shape)
}
