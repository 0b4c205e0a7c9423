//! Lowering of `scatter` and `dynamic_update_slice`.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use super::control_flow::regions;
use super::gather::{
    Addressing, Lookup, addressing, append_window_axes, clamped_start, in_range, index_dtype,
    linear,
};
use super::scalar_body::lower_body;
use crate::module::{Operation, Region};
use inflight_ir::graph::{Combine, NodeId, Op, SliceAxis};
use inflight_ir::{BinaryOp, DType, Shape};
use smallvec::SmallVec;

mod serialized;

/// `scatter`
pub(super) fn scatter<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let operands = lowering.operands(operation)?;
    let count = operands.len() / 2;
    if operands.len() % 2 == 0 || count == 0 {
        return Err(format!(
            "expected inputs, indices, and as many updates as inputs, found {} operands",
            operands.len()
        )
        .into());
    }
    let (inputs, indices, updates) = (&operands[..count], operands[count], &operands[count + 1..]);
    let [region] = regions::<1>(operation)?;
    let fields = AttributeView::of(operation);
    let numbers = fields.structured("scatter_dimension_numbers")?;
    let window_axes = numbers.axes("update_window_dims")?;
    let inserted = numbers.axes("inserted_window_dims")?;
    let batching = numbers.axes("input_batching_dims")?;
    let index_batching = numbers.axes("scatter_indices_batching_dims")?;
    let indexed = numbers.axes("scatter_dims_to_operand_dims")?;
    let vector_axis = numbers.integer("index_vector_dim")?.unwrap_or(0) as usize;
    let is_unique = fields.boolean("unique_indices")?;

    let builder = lowering.builder();
    let shape = builder.shape(inputs[0]).clone();
    let at = addressing(builder, indices, indexed, batching, index_batching, vector_axis, &shape)?;
    let kept: Vec<usize> = (0..shape.rank())
        .filter(|axis| !inserted.contains(axis) && !at.batching.contains(axis))
        .collect();
    let update_shape = builder.shape(updates[0]).clone();
    if kept.len() != window_axes.len()
        || window_axes.iter().any(|&axis| axis >= update_shape.rank())
        || update_shape.rank() != at.index_shape.rank() + kept.len()
    {
        return Err(format!(
            "updates of shape {update_shape} do not match `scatter_dimension_numbers`"
        )
        .into());
    }
    // Permute the updates to index axes first, then window axes.
    let order: Vec<usize> = (0..update_shape.rank())
        .filter(|axis| !window_axes.contains(axis))
        .chain(window_axes.iter().copied())
        .collect();
    let updates: Vec<NodeId> =
        updates.iter().map(|&update| builder.permute(update, &order)).collect::<Lowered<_>>()?;
    let window: Vec<usize> = window_axes.iter().map(|&axis| update_shape[axis]).collect();
    let mut sizes = vec![1; shape.rank()];
    for (&axis, &size) in kept.iter().zip(&window) {
        if size > shape[axis] {
            return Err(format!("an update window of {window:?} does not fit in {shape}").into());
        }
        sizes[axis] = size;
    }
    let canonical: Shape = at.index_shape.iter().copied().chain(window.iter().copied()).collect();
    if *builder.shape(updates[0]) != canonical {
        return Err(format!("updates of shape {update_shape} do not match the indices").into());
    }

    let results = if canonical.contains(&0) || shape.contains(&0) {
        inputs.to_vec()
    } else if let Some(slices) = constant_window(builder, &at, &shape, &sizes) {
        assign(lowering, region, inputs, &updates, &slices)?
    } else {
        let builder = lowering.builder();
        let target = match is_along_one_axis(builder, inputs, &at, &shape, &sizes) {
            true => along_axis(builder, inputs, &updates, &at)?,
            false => flat(builder, inputs, &updates, &at, &sizes, &kept)?,
        };
        let written = target.write(lowering, region, is_unique)?;
        target.restore(lowering.builder(), &shape, written)?
    };
    Ok(results.into_iter().map(|node| lowering.bound(node)).collect())
}

/// The slice of a single window whose start index is a constant in bounds.
fn constant_window(
    builder: &mut Builder,
    at: &Addressing,
    shape: &Shape,
    sizes: &[usize],
) -> Option<Vec<SliceAxis>> {
    let index = at.single_constant_index(builder)?;
    (0..shape.rank())
        .map(|axis| {
            let start = match at.indexed.iter().position(|&indexed| indexed == axis) {
                Some(number) => index[number],
                None => 0,
            };
            let last = (shape[axis] - sizes[axis]) as i64;
            (0..=last).contains(&start).then_some(SliceAxis {
                start: start as usize,
                step: 1,
                len: sizes[axis],
            })
        })
        .collect()
}

/// Applies the body to one slice of each input and the updates, and writes the results back.
fn assign<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    inputs: &[NodeId],
    updates: &[NodeId],
    slices: &[SliceAxis],
) -> Lowered<Vec<NodeId>> {
    let window: Shape = slices.iter().map(|slice| slice.len).collect();
    let builder = lowering.builder();
    let mut arguments = Vec::new();
    for &input in inputs {
        arguments.push(builder.slice(input, slices)?);
    }
    for &update in updates {
        arguments.push(builder.reshape(update, &window)?);
    }
    let values = lowering.apply_elementwise(region, &arguments, &window)?;
    let builder = lowering.builder();
    inputs
        .iter()
        .zip(values)
        .map(|(&input, value)| {
            if builder.shape(value) == builder.shape(input) {
                return Ok(value);
            }
            builder.push(Op::Assign(SmallVec::from_slice(slices)), &[input, value])
        })
        .collect()
}

/// Whether the windows have extent 1 along the indexed axes and are full along all others, and the indexed axes can be
/// merged into one: there is only one, or each position of the other axes receives one update. The planner turns such
/// a scatter into an elementwise kernel.
fn is_along_one_axis(
    builder: &Builder,
    inputs: &[NodeId],
    at: &Addressing,
    shape: &Shape,
    sizes: &[usize],
) -> bool {
    let is_full = |axis: usize| {
        at.batching.contains(&axis) || at.indexed.contains(&axis) || sizes[axis] == shape[axis]
    };
    if at.indexed.is_empty()
        || at.indexed.iter().any(|&axis| sizes[axis] != 1)
        || !(0..shape.rank()).all(is_full)
    {
        return false;
    }
    let mut others = (0..at.index_shape.rank()).filter(|axis| !at.index_batching.contains(axis));
    let is_in_order = || axis_order(at, shape.rank()).into_iter().eq(0..shape.rank());
    at.indexed.len() == 1
        || (others.all(|axis| at.index_shape[axis] == 1)
            // Merging axes that are not adjacent needs a transposing copy, except for splat inputs.
            && (is_in_order() || inputs.iter().all(|&input| builder.is_splat(input))))
}

/// The axes of an input in the order batching, indexed, rest.
fn axis_order(at: &Addressing, rank: usize) -> Vec<usize> {
    let rest = (0..rank).filter(|axis| !at.indexed.contains(axis) && !at.batching.contains(axis));
    at.batching.iter().chain(&at.indexed).copied().chain(rest).collect()
}

/// Operands arranged for an [`Op::Scatter`] along one axis.
pub(super) struct ScatterOperands {
    pub inputs: Vec<NodeId>,
    pub index: NodeId,
    pub updates: Vec<NodeId>,
    pub axis: usize,
    /// The permutation of the input's axes; empty if they are flattened to one axis.
    pub order: Vec<usize>,
}

/// Arranges the operands with the indexed axes merged into one.
fn along_axis(
    builder: &mut Builder,
    inputs: &[NodeId],
    updates: &[NodeId],
    at: &Addressing,
) -> Lowered<ScatterOperands> {
    let shape = builder.shape(inputs[0]).clone();
    let order = axis_order(at, shape.rank());
    let (axis, indexed) = (at.batching.len(), at.indexed.len());
    let rest = &order[axis + indexed..];
    let line: Shape = at.indexed.iter().map(|&axis| shape[axis]).collect();
    let to = index_dtype(builder.dtype(at.indices), line.element_count());
    let index = match at.indexed[..] {
        [axis] => at.starts(builder, axis, to)?.expect("the axis is indexed"),
        _ => {
            let mut position = LinearIndex::new(builder, to);
            for (&axis, &stride) in at.indexed.iter().zip(line.strides().iter()) {
                let start = at.starts(builder, axis, to)?.expect("the axis is indexed");
                position.restrict(builder, start, shape[axis])?;
                position.add(builder, start, stride)?;
            }
            position.finish(builder)?
        }
    };
    let lookup = Lookup::new(at, &shape, rest);
    let index = lookup.index(builder, index)?;
    let extents = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).collect::<Vec<_>>();
    let merged: Shape = [&extents(&at.batching), &vec![line.element_count()], &extents(rest)]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    let mut arranged_inputs = Vec::new();
    for &input in inputs {
        let input = builder.permute(input, &order)?;
        arranged_inputs.push(builder.reshape(input, &merged)?);
    }
    // An indexed axis may also be a window axis of extent 1.
    let window: Shape = at.index_shape.iter().copied().chain(extents(rest)).collect();
    let mut arranged_updates = Vec::new();
    for &update in updates {
        let update = builder.reshape(update, &window)?;
        arranged_updates.push(lookup.arranged(builder, update)?);
    }
    Ok(ScatterOperands { inputs: arranged_inputs, index, updates: arranged_updates, axis, order })
}

/// A row-major linear index under construction, with its bounds check.
struct LinearIndex {
    sum: NodeId,
    is_inside: Option<NodeId>,
}

impl LinearIndex {
    fn new(builder: &mut Builder, dtype: DType) -> LinearIndex {
        LinearIndex { sum: builder.integer(0, dtype), is_inside: None }
    }

    /// Adds a coordinate along an axis of the given stride.
    fn add(&mut self, builder: &mut Builder, coordinate: NodeId, stride: usize) -> Lowered<()> {
        let dtype = builder.dtype(self.sum);
        let stride = builder.integer(stride as i64, dtype);
        let distance = builder.mul(coordinate, stride)?;
        self.sum = builder.add(self.sum, distance)?;
        Ok(())
    }

    /// Invalidates the index where the coordinate is not in `0..extent`.
    fn restrict(
        &mut self,
        builder: &mut Builder,
        coordinate: NodeId,
        extent: usize,
    ) -> Lowered<()> {
        let inside = in_range(builder, coordinate, extent)?;
        self.is_inside = Some(match self.is_inside {
            Some(others) => builder.binary(BinaryOp::And, others, inside)?,
            None => inside,
        });
        Ok(())
    }

    /// The linear index, or -1 where it is out of bounds.
    fn finish(self, builder: &mut Builder) -> Lowered<NodeId> {
        let Some(is_inside) = self.is_inside else { return Ok(self.sum) };
        let dtype = builder.dtype(self.sum);
        let outside = builder.integer(-1, dtype);
        builder.select(is_inside, self.sum, outside)
    }
}

/// Arranges the operands flattened to one axis in row-major order.
fn flat(
    builder: &mut Builder,
    inputs: &[NodeId],
    updates: &[NodeId],
    at: &Addressing,
    sizes: &[usize],
    kept: &[usize],
) -> Lowered<ScatterOperands> {
    let shape = builder.shape(inputs[0]).clone();
    let canonical = builder.shape(updates[0]).clone();
    let to = index_dtype(builder.dtype(at.indices), shape.element_count());
    let strides = shape.strides();
    let mut position = LinearIndex::new(builder, to);
    for axis in 0..shape.rank() {
        let start = at.starts(builder, axis, to)?;
        let is_addressed = start.is_some();
        let start = match start {
            Some(start) => Some(start),
            None => at.batch(builder, axis, to)?,
        };
        let mut coordinate: Option<NodeId> = None;
        if let Some(start) = start {
            coordinate = Some(append_window_axes(builder, start, &at.index_shape, kept.len())?);
        }
        if let Some(offset) = kept.iter().position(|&kept| kept == axis) {
            let mut extents = vec![1; canonical.rank()];
            extents[at.index_shape.rank() + offset] = sizes[axis];
            let count = builder.iota(at.index_shape.rank() + offset, &Shape::new(&extents), to)?;
            coordinate = Some(match coordinate {
                Some(coordinate) => builder.add(coordinate, count)?,
                None => count,
            });
        }
        let Some(coordinate) = coordinate else { continue };
        if is_addressed {
            position.restrict(builder, coordinate, shape[axis])?;
        }
        position.add(builder, coordinate, strides[axis])?;
    }
    let position = position.finish(builder)?;
    let line = Shape::new(&[canonical.element_count()]);
    let position = builder.broadcast(position, &canonical)?;
    let index = builder.reshape(position, &line)?;
    let updates =
        updates.iter().map(|&update| builder.reshape(update, &line)).collect::<Lowered<_>>()?;
    let whole = Shape::new(&[shape.element_count()]);
    let inputs =
        inputs.iter().map(|&input| builder.reshape(input, &whole)).collect::<Lowered<_>>()?;
    Ok(ScatterOperands { inputs, index, updates, axis: 0, order: Vec::new() })
}

impl ScatterOperands {
    /// Scatters the updates into the inputs.
    pub fn write<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        region: &'a Region,
        is_unique: bool,
    ) -> Lowered<Vec<NodeId>> {
        let axis = self.axis;
        let builder = lowering.builder();
        let dtypes: Vec<DType> =
            self.inputs.iter().chain(&self.updates).map(|&x| builder.dtype(x)).collect();
        let function = lower_body(lowering, region, &dtypes)?;
        if let ([input], [update]) = (&*self.inputs, &*self.updates) {
            let combine = match function.combine() {
                Some(op) => Some(Some(op.into())),
                None if function.returns_update() => Some(None),
                None if is_unique || !function.captured_values().is_empty() => None,
                None => Some(Some(Combine::Function(function.scalar_function()?))),
            };
            if let Some(combine) = combine {
                let op = Op::Scatter { axis, combine };
                return Ok(vec![lowering.builder().push(op, &[*input, self.index, *update])?]);
            }
        }
        if !is_unique {
            return serialized::write(lowering, region, self);
        }
        self.write_unique(lowering, region, &self.inputs, self.index, &self.updates)
    }

    /// Scatters updates whose indices are unique: gathers the old elements, applies the body, and writes the results.
    fn write_unique<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        region: &'a Region,
        inputs: &[NodeId],
        index: NodeId,
        updates: &[NodeId],
    ) -> Lowered<Vec<NodeId>> {
        let axis = self.axis;
        let builder = lowering.builder();
        let shape = builder.shape(index).clone();
        let mut arguments = Vec::new();
        for &input in inputs {
            arguments.push(builder.push(Op::Gather { axis }, &[input, index])?);
        }
        arguments.extend(updates);
        let values = lowering.apply_elementwise(region, &arguments, &shape)?;
        let builder = lowering.builder();
        let op = Op::Scatter { axis, combine: None };
        inputs
            .iter()
            .zip(values)
            .map(|(&input, value)| builder.push(op.clone(), &[input, index, value]))
            .collect()
    }

    /// Restores the axis order and the shape of the original inputs.
    fn restore(
        &self,
        builder: &mut Builder,
        shape: &Shape,
        written: Vec<NodeId>,
    ) -> Lowered<Vec<NodeId>> {
        let ordered: Shape = self.order.iter().map(|&axis| shape[axis]).collect();
        let mut back = vec![0; self.order.len()];
        for (i, &axis) in self.order.iter().enumerate() {
            back[axis] = i;
        }
        let restore = |node| match back.is_empty() {
            true => builder.reshape(node, shape),
            false => {
                let node = builder.reshape(node, &ordered)?;
                builder.permute(node, &back)
            }
        };
        written.into_iter().map(restore).collect()
    }
}

/// `dynamic_update_slice`
pub(super) fn dynamic_update_slice(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<NodeId> {
    let operands = lowering.operands(operation)?;
    let [x, update, starts @ ..] = &*operands else {
        return Err(format!(
            "expected an operand and an update, found {} operands",
            operands.len()
        )
        .into());
    };
    let (x, update) = (*x, *update);
    let builder = lowering.builder();
    let (shape, sizes) = (builder.shape(x).clone(), builder.shape(update).clone());
    let fits = sizes.rank() == shape.rank()
        && starts.len() == shape.rank()
        && sizes.iter().zip(shape.iter()).all(|(size, extent)| size <= extent);
    if !fits {
        return Err(format!("an update of shape {sizes} does not fit in {shape}").into());
    }
    if sizes == shape {
        return Ok(update);
    }
    if sizes.contains(&0) {
        return Ok(x);
    }
    let mut slices: Vec<SliceAxis> = Vec::new();
    let mut nonzero: Vec<(usize, NodeId)> = Vec::new();
    for axis in 0..shape.rank() {
        let start = clamped_start(builder, starts[axis], shape[axis] - sizes[axis])?;
        let known = builder.constant_scalar(start).map(|start| start.to_i64() as usize);
        slices.push(SliceAxis { start: known.unwrap_or(0), step: 1, len: sizes[axis] });
        if known.is_none() || slices[axis].start != 0 {
            nonzero.push((axis, start));
        }
    }
    if nonzero.iter().all(|&(_, start)| builder.constant_scalar(start).is_some()) {
        return builder.push(Op::Assign(slices.into()), &[x, update]);
    }
    let scatter = |axis| Op::Scatter { axis, combine: None };
    if let [(axis, start)] = nonzero[..]
        && (0..shape.rank()).all(|other| other == axis || sizes[other] == shape[other])
    {
        let dtype = builder.dtype(start);
        let count = builder.iota(axis, &sizes, dtype)?;
        let index = builder.add(count, start)?;
        return builder.push(scatter(axis), &[x, index, update]);
    }
    let position = linear(builder, &shape, &sizes, &nonzero)?;
    let line = Shape::new(&[sizes.element_count()]);
    let (index, update) = (builder.reshape(position, &line)?, builder.reshape(update, &line)?);
    let whole = builder.reshape(x, &Shape::new(&[shape.element_count()]))?;
    let written = builder.push(scatter(0), &[whole, index, update])?;
    builder.reshape(written, &shape)
}
