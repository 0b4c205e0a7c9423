//! `select_and_scatter`: each window selects one of its elements, and the source is scattered there.

use super::attributes::Fields;
use super::builder::{Builder, Lowered};
use super::control::regions;
use super::lowering::{Bound, Lowering};
use super::scatter::Target;
use super::shape::padded;
use super::window::{Windows, windows};
use crate::module::{Operation, Region};
use inflight_ir::graph::{NodeId, Op, PadAxis, SliceAxis};
use inflight_ir::{BinaryOp, CompareOp, DType, Scalar, Shape};

/// `select_and_scatter`
pub(super) fn select_and_scatter<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let [x, source, initial] = lowering.exactly(operation)?;
    let [select, scatter] = regions::<2>(operation)?;
    let shape = lowering.builder().shape(x).clone();
    let windows = windows(Fields::of(operation), shape.rank())?;
    let selected = select_places(lowering, select, x, &windows)?;
    let builder = lowering.builder();
    let source_shape = builder.shape(source).clone();
    if *builder.shape(selected) != source_shape {
        return Err(format!(
            "the source is of shape {source_shape}, but there are windows of shape {}",
            builder.shape(selected)
        )
        .into());
    }
    let result = if source_shape.contains(&0) {
        builder.broadcast(initial, &shape)?
    } else if windows.are_apart() {
        spread(lowering, scatter, source, selected, initial, &windows, &shape)?
    } else {
        scattered(lowering, scatter, source, selected, initial, &windows, &shape)?
    };
    Ok(vec![lowering.bound(result)])
}

impl Windows {
    /// Whether no element is in two windows.
    fn are_apart(&self) -> bool {
        let axes = self.sizes.iter().zip(&self.strides).zip(&self.dilations);
        let apart = |((&size, &stride), &dilation): ((&usize, &usize), &usize)| {
            size <= stride && (dilation == 1 || size == 1)
        };
        axes.into_iter().all(apart) && self.pads.iter().all(|pad| pad.interior == 0)
    }
}

/// Which of its elements each window selects, by their places in row-major order; -1 where all are padding.
fn select_places<'a>(
    lowering: &mut Lowering<'a>,
    select: &'a Region,
    x: NodeId,
    windows: &Windows,
) -> Lowered<NodeId> {
    let moves = windows.moves();
    let rank = moves.len();
    let builder = lowering.builder();
    let (shape, dtype) = (builder.shape(x).clone(), builder.dtype(x));
    let places: usize = windows.sizes.iter().product();
    let view = |builder: &mut Builder, value: NodeId| {
        let view = builder.push(Op::Windows(moves.iter().copied().collect()), &[value])?;
        let extents: Shape = builder.shape(view)[..rank].iter().copied().chain([places]).collect();
        builder.reshape(view, &extents)
    };
    let is_padded = windows.pads.iter().any(|pad| *pad != PadAxis::default());
    let zero = builder.scalar(Scalar::zero(dtype));
    let values = padded(lowering, x, zero, &windows.pads)?;
    let values = view(lowering.builder(), values)?;
    let builder = lowering.builder();
    let positions = builder.shape(values).clone();
    let mut numbers = builder.iota(rank, &positions, DType::I32)?;
    if is_padded {
        let (inside, outside) = (builder.scalar(true), builder.scalar(false));
        let inside = builder.broadcast(inside, &shape)?;
        let is_inside = padded(lowering, inside, outside, &windows.pads)?;
        let is_inside = view(lowering.builder(), is_inside)?;
        let builder = lowering.builder();
        let none = builder.scalar(-1i32);
        numbers = builder.select(is_inside, numbers, none)?;
    }
    // Two neighbours become the one selected, until one is left; the first wins over what is padded.
    let mut views = [values, numbers];
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
        let [left, left_at, right, right_at] = sides[..] else { unreachable!("two pairs") };
        let shape = builder.shape(left).clone();
        let chosen = lowering.apply_elementwise(select, &[left, right], &shape)?;
        let &[mut keeps] = &*chosen else { return Err("`select` gives one value".into()) };
        let builder = lowering.builder();
        if is_padded {
            let zero = builder.scalar(0i32);
            let left_counts = builder.compare(CompareOp::Ge, left_at, zero)?;
            let right_is_none = builder.compare(CompareOp::Lt, right_at, zero)?;
            keeps = builder.binary(BinaryOp::Or, keeps, right_is_none)?;
            keeps = builder.binary(BinaryOp::And, keeps, left_counts)?;
        }
        let mut next =
            [builder.select(keeps, left, right)?, builder.select(keeps, left_at, right_at)?];
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

/// The result where every element is in one window at most: each looks at its own window, and nothing is
/// scattered.
fn spread<'a>(
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
    let rank = positions.rank();
    // A window and the gap after it, along each axis: [positions, strides] for all of them in turn.
    let axes = positions.iter().zip(&windows.strides);
    let split: Shape = axes.clone().flat_map(|(&extent, &stride)| [extent, stride]).collect();
    let single: Shape = positions.iter().flat_map(|&extent| [extent, 1]).collect();
    let mut number = builder.scalar(0i32);
    let mut weight = 1;
    for axis in (0..rank).rev() {
        let (size, stride) = (windows.sizes[axis], windows.strides[axis]);
        let mut extents = vec![1; 2 * rank];
        extents[2 * axis + 1] = stride;
        if stride > 1 {
            let place = builder.iota(2 * axis + 1, &Shape::new(&extents), DType::I32)?;
            let factor = builder.scalar(weight as i32);
            let mut offset = builder.mul(place, factor)?;
            if size < stride {
                // No window selects what is between windows.
                let (end, nowhere) = (builder.scalar(size as i32), builder.scalar(i32::MIN / 2));
                let is_inside = builder.compare(CompareOp::Lt, place, end)?;
                offset = builder.select(is_inside, offset, nowhere)?;
            }
            number = builder.add(number, offset)?;
        }
        weight *= size;
    }
    let selected = builder.reshape(selected, &single)?;
    let is_selected = builder.compare(CompareOp::Eq, selected, number)?;
    let start = builder.broadcast(initial, &positions)?;
    let written = lowering.apply_elementwise(scatter, &[start, source], &positions)?;
    let &[written] = &*written else { return Err("`scatter` gives one value".into()) };
    let builder = lowering.builder();
    let written = builder.reshape(written, &single)?;
    let result = builder.select(is_selected, written, initial)?;
    let result = builder.broadcast(result, &split)?;
    let joined: Shape = axes.map(|(&extent, &stride)| extent * stride).collect();
    let result = builder.reshape(result, &joined)?;
    // From the padded operand back to the operand.
    let back: Vec<PadAxis> = (0..rank)
        .map(|axis| {
            let low = windows.pads[axis].low;
            let high = shape[axis] as isize + low - joined[axis] as isize;
            PadAxis { low: -low, high, interior: 0 }
        })
        .collect();
    padded(lowering, result, initial, &back)
}

/// The result where windows overlap: an element that several select gets the source of all of them, in their
/// order.
fn scattered<'a>(
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
    // The coordinates of the element that each window selects, from the window's place and the element's in it.
    let selected = builder.cast(selected, DType::I64)?;
    let mut rest = selected;
    let mut flat = builder.scalar(0i64);
    let strides = shape.strides();
    for axis in (0..positions.rank()).rev() {
        let size = builder.scalar(windows.sizes[axis] as i64);
        let place = builder.binary(BinaryOp::Rem, rest, size)?;
        rest = builder.div(rest, size)?;
        let count = builder.iota(axis, &positions, DType::I64)?;
        let factors = [windows.strides[axis] as i64, windows.dilations[axis] as i64];
        let [stride, dilation] = factors.map(|factor| builder.scalar(factor));
        let (begin, offset) = (builder.mul(count, stride)?, builder.mul(place, dilation)?);
        let at = builder.add(begin, offset)?;
        let PadAxis { low, interior, .. } = windows.pads[axis];
        let low = builder.scalar(low as i64);
        let mut at = builder.sub(at, low)?;
        if interior > 0 {
            // The operand's elements are so far apart; no window selects what is in between.
            let distance = builder.scalar(interior as i64 + 1);
            at = builder.div(at, distance)?;
        }
        let stride = builder.scalar(strides[axis] as i64);
        let at = builder.mul(at, stride)?;
        flat = builder.add(flat, at)?;
    }
    let (zero, nowhere) = (builder.scalar(0i64), builder.scalar(-1i64));
    let is_none = builder.compare(CompareOp::Lt, selected, zero)?;
    let index = builder.select(is_none, nowhere, flat)?;
    let line = Shape::new(&[positions.elements()]);
    let whole = Shape::new(&[shape.elements()]);
    let target = Target {
        inputs: vec![builder.broadcast(initial, &whole)?],
        index: builder.reshape(index, &line)?,
        updates: vec![builder.reshape(source, &line)?],
        axis: 0,
        order: Vec::new(),
    };
    let written = target.write(lowering, scatter, false)?;
    lowering.builder().reshape(written[0], shape)
}
