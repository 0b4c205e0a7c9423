//! Lowering of `gather`, `dynamic_slice` and `torch_index_select`, and the index arithmetic shared with `scatter`.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::Lowering;
use super::shape::require_constant_integers;
use crate::module::Operation;
use inflight_ir::graph::{NodeId, Op, SliceAxis};
use inflight_ir::{BinaryOp, CompareOp, DType, Scalar, Shape};

/// The indices of a gather or scatter in canonical layout, and the operand axes they address.
pub(super) struct Addressing {
    /// The operand axis that each component of an index vector addresses (`start_index_map`).
    pub indexed: Vec<usize>,
    /// The batching axes of the operand.
    pub batching: Vec<usize>,
    /// The corresponding batching axes of the indices, counted without the index vector axis.
    pub index_batching: Vec<usize>,
    /// The indices, permuted so that the index vectors are along the last axis.
    pub indices: NodeId,
    /// The shape of the indices without the index vector axis.
    pub index_shape: Shape,
}

/// Builds the addressing from the dimension numbers of a gather or scatter.
pub(super) fn addressing(
    builder: &mut Builder,
    indices: NodeId,
    indexed: Vec<usize>,
    batching: Vec<usize>,
    index_batching: Vec<usize>,
    vector_axis: usize,
    operand: &Shape,
) -> Lowered<Addressing> {
    let shape = builder.shape(indices).clone();
    if vector_axis > shape.rank() {
        return Err(format!(
            "expected `index_vector_dim` to be an axis of {shape}, found {vector_axis}"
        )
        .into());
    }
    let order: Vec<usize> = (0..shape.rank())
        .filter(|&axis| axis != vector_axis)
        .chain((vector_axis < shape.rank()).then_some(vector_axis))
        .collect();
    let mut moved = builder.permute(indices, &order)?;
    if vector_axis == shape.rank() {
        let mut extents = shape.extents().to_vec();
        extents.push(1);
        moved = builder.reshape(moved, &Shape::new(&extents))?;
    }
    let extents = builder.shape(moved).extents();
    let (count, index_shape) =
        (extents[extents.len() - 1], Shape::new(&extents[..extents.len() - 1]));
    if count != indexed.len() {
        return Err(format!(
            "expected index vectors of {} elements, one per indexed axis, found {count}",
            indexed.len()
        )
        .into());
    }
    let index_batching: Vec<usize> = index_batching
        .into_iter()
        .map(|axis| if axis > vector_axis { axis - 1 } else { axis })
        .collect();
    let known = |axis: &usize| *axis < operand.rank();
    if !indexed.iter().chain(&batching).all(known)
        || index_batching.len() != batching.len()
        || index_batching.iter().any(|&axis| axis >= index_shape.rank())
    {
        return Err("its dimension numbers name axes that are out of range".into());
    }
    Ok(Addressing { indexed, batching, index_batching, indices: moved, index_shape })
}

/// The dtype of index arithmetic in a tensor of `elements` elements.
pub(super) fn index_dtype(indices: DType, elements: usize) -> DType {
    let is_wide = matches!(indices, DType::I64 | DType::U64 | DType::U32);
    if is_wide || elements > i32::MAX as usize { DType::I64 } else { DType::I32 }
}

impl Addressing {
    /// The start indices along one operand axis, in a signed dtype. Unsigned values that do not fit saturate.
    pub fn starts(&self, builder: &mut Builder, axis: usize, to: DType) -> Lowered<Option<NodeId>> {
        let Some(number) = self.indexed.iter().position(|&indexed| indexed == axis) else {
            return Ok(None);
        };
        let slice = SliceAxis { start: number, step: 1, len: 1 };
        let index = builder.slice_axis(self.indices, self.index_shape.rank(), slice)?;
        let index = builder.reshape(index, &self.index_shape)?;
        if builder.dtype(index) == DType::U64 {
            let most = builder.scalar(Scalar::from(i64::MAX as u64));
            let index = builder.binary(BinaryOp::Min, index, most)?;
            return builder.cast(index, to).map(Some);
        }
        builder.cast(index, to).map(Some)
    }

    /// The positions along a batching axis of the operand.
    pub fn batch(&self, builder: &mut Builder, axis: usize, to: DType) -> Lowered<Option<NodeId>> {
        match self.batching.iter().position(|&batching| batching == axis) {
            Some(i) => builder.iota(self.index_batching[i], &self.index_shape, to).map(Some),
            None => Ok(None),
        }
    }

    /// The index vector, if there is exactly one and it is constant.
    pub fn single_constant_index(&self, builder: &mut Builder) -> Option<Vec<i64>> {
        if self.index_shape.element_count() != 1 {
            return None;
        }
        builder.constant_integers(self.indices)
    }
}

/// Reshapes a value of the index shape to the index shape followed by `window` axes of extent 1.
pub(super) fn append_window_axes(
    builder: &mut Builder,
    x: NodeId,
    index_shape: &Shape,
    window: usize,
) -> Lowered<NodeId> {
    let mut extents = index_shape.extents().to_vec();
    extents.extend(std::iter::repeat_n(1, window));
    builder.reshape(x, &Shape::new(&extents))
}

/// `gather` and `dynamic_gather`
pub(super) fn gather(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    let indices = lowering.operand(operation, 1)?;
    let fields = AttributeView::of(operation);
    let sizes = match operation.operands.len() {
        2 => fields.integers("slice_sizes")?.ok_or("the attribute `slice_sizes` is missing")?,
        _ => {
            let sizes = lowering.operand(operation, 2)?;
            require_constant_integers(lowering, sizes, "the size of its slices")?
        }
    };
    let numbers = fields.structured("dimension_numbers")?;
    let offset_axes = numbers.axes("offset_dims")?;
    let collapsed = numbers.axes("collapsed_slice_dims")?;
    let batching = numbers.axes("operand_batching_dims")?;
    let index_batching = numbers.axes("start_indices_batching_dims")?;
    let indexed = numbers.axes("start_index_map")?;
    let vector_axis = numbers.integer("index_vector_dim")?.unwrap_or(0) as usize;
    let builder = lowering.builder();
    let shape = builder.shape(x).clone();
    if sizes.len() != shape.rank()
        || sizes.iter().zip(shape.iter()).any(|(&size, &extent)| size < 0 || size > extent as i64)
    {
        return Err(format!("slices of {sizes:?} do not fit a tensor of shape {shape}").into());
    }
    let sizes: Vec<usize> = sizes.into_iter().map(|size| size as usize).collect();
    let at = addressing(builder, indices, indexed, batching, index_batching, vector_axis, &shape)?;
    let dropped = |axis: &usize| collapsed.contains(axis) || at.batching.contains(axis);
    let kept: Vec<usize> = (0..shape.rank()).filter(|axis| !dropped(axis)).collect();
    let offsets: Vec<usize> = kept.iter().map(|&axis| sizes[axis]).collect();
    let canonical: Shape = at.index_shape.iter().copied().chain(offsets.iter().copied()).collect();

    let gathered = if canonical.contains(&0) {
        let dtype = builder.dtype(x);
        builder.full(Scalar::zero(dtype), &canonical)?
    } else if let Some(gathered) = constant_slice(builder, x, &at, &sizes)? {
        builder.reshape(gathered, &canonical)?
    } else if let Some(gathered) = along_one_axis(builder, x, &at, &sizes)? {
        builder.reshape(gathered, &canonical)?
    } else {
        flat(builder, x, &at, &sizes, &kept, &canonical)?
    };

    // Permute from index axes and offset axes to the axis order of the result.
    let (index_rank, rank) = (at.index_shape.rank(), canonical.rank());
    if offset_axes.len() != kept.len() || offset_axes.iter().any(|&axis| axis >= rank) {
        return Err(format!(
            "expected `offset_dims` to name {} axes of the result, found {offset_axes:?}",
            kept.len()
        )
        .into());
    }
    let mut next_index_axis = 0;
    let order: Vec<usize> = (0..rank)
        .map(|axis| match offset_axes.iter().position(|&offset| offset == axis) {
            Some(offset) => index_rank + offset,
            None => {
                next_index_axis += 1;
                next_index_axis - 1
            }
        })
        .collect();
    builder.permute(gathered, &order)
}

/// A single slice with a constant start index, as a static slice.
fn constant_slice(
    builder: &mut Builder,
    x: NodeId,
    at: &Addressing,
    sizes: &[usize],
) -> Lowered<Option<NodeId>> {
    let Some(index) = at.single_constant_index(builder) else { return Ok(None) };
    let is_u64 = builder.dtype(at.indices) == DType::U64;
    let slices: Vec<SliceAxis> = builder
        .shape(x)
        .iter()
        .enumerate()
        .map(|(axis, &extent)| {
            let last = (extent - sizes[axis]) as i64;
            let start = match at.indexed.iter().position(|&indexed| indexed == axis) {
                Some(number) if is_u64 && index[number] < 0 => last,
                Some(number) => index[number].clamp(0, last),
                None => 0,
            };
            SliceAxis { start: start as usize, step: 1, len: sizes[axis] }
        })
        .collect();
    builder.slice(x, &slices).map(Some)
}

/// A gather of single elements along one axis and full slices along all others. The result has the index axes first,
/// then the operand's axes.
fn along_one_axis(
    builder: &mut Builder,
    x: NodeId,
    at: &Addressing,
    sizes: &[usize],
) -> Lowered<Option<NodeId>> {
    let shape = builder.shape(x).clone();
    let varying: Vec<usize> = (0..shape.rank())
        .filter(|axis| sizes[*axis] != shape[*axis] && !at.batching.contains(axis))
        .collect();
    let [axis] = varying[..] else { return Ok(None) };
    if sizes[axis] != 1 || !at.indexed.contains(&axis) {
        return Ok(None);
    }
    let to = index_dtype(builder.dtype(at.indices), shape[axis]);
    let index = at.starts(builder, axis, to)?.expect("the axis is indexed");
    let rest: Vec<usize> =
        (0..shape.rank()).filter(|other| *other != axis && !at.batching.contains(other)).collect();
    let lookup = Lookup::new(at, &shape, &rest);
    let x_order: Vec<usize> =
        at.batching.iter().copied().chain([axis]).chain(rest.iter().copied()).collect();
    let x = builder.permute(x, &x_order)?;
    let index = lookup.index(builder, index)?;
    let gathered = builder.push(Op::Gather { axis: at.batching.len() }, &[x, index])?;
    lookup.to_index_order(builder, gathered).map(Some)
}

/// Layout of a gather or scatter along one axis: batching axes, all other index axes merged into one, and the rest of
/// the operand.
pub(super) struct Lookup {
    batch_axes: Vec<usize>,
    free_axes: Vec<usize>,
    index_shape: Shape,
    /// The shape of that layout.
    pub shape: Shape,
    rest: Vec<usize>,
}

impl Lookup {
    pub fn new(at: &Addressing, operand: &Shape, rest: &[usize]) -> Lookup {
        let batch_axes = at.index_batching.clone();
        let free_axes: Vec<usize> =
            (0..at.index_shape.rank()).filter(|axis| !batch_axes.contains(axis)).collect();
        let count: usize = free_axes.iter().map(|&axis| at.index_shape[axis]).product();
        let rest: Vec<usize> = rest.iter().map(|&axis| operand[axis]).collect();
        let shape = batch_axes
            .iter()
            .map(|&axis| at.index_shape[axis])
            .chain([count])
            .chain(rest.iter().copied())
            .collect();
        Lookup { batch_axes, free_axes, index_shape: at.index_shape.clone(), shape, rest }
    }

    fn order(&self) -> Vec<usize> {
        self.batch_axes.iter().chain(&self.free_axes).copied().collect()
    }

    /// Broadcasts the indices over the rest of the operand.
    pub fn index(&self, builder: &mut Builder, index: NodeId) -> Lowered<NodeId> {
        let index = builder.permute(index, &self.order())?;
        let mut extents = self.shape.extents()[..=self.batch_axes.len()].to_vec();
        extents.extend(self.rest.iter().map(|_| 1));
        let index = builder.reshape(index, &Shape::new(&extents))?;
        builder.broadcast(index, &self.shape)
    }

    /// Converts from this layout to the index axes' order.
    fn to_index_order(&self, builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
        let order = self.order();
        let extents: Shape = order
            .iter()
            .map(|&axis| self.index_shape[axis])
            .chain(self.rest.iter().copied())
            .collect();
        let x = builder.reshape(x, &extents)?;
        let mut back = vec![0; order.len()];
        for (i, &axis) in order.iter().enumerate() {
            back[axis] = i;
        }
        back.extend(order.len()..extents.rank());
        builder.permute(x, &back)
    }

    /// Converts from the index axes' order to this layout.
    pub fn arranged(&self, builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
        let mut order = self.order();
        order.extend(order.len()..order.len() + self.rest.len());
        let x = builder.permute(x, &order)?;
        builder.reshape(x, &self.shape)
    }
}

/// The general case: gathers each element of the result by its row-major linear index.
fn flat(
    builder: &mut Builder,
    x: NodeId,
    at: &Addressing,
    sizes: &[usize],
    kept: &[usize],
    canonical: &Shape,
) -> Lowered<NodeId> {
    let shape = builder.shape(x).clone();
    let to = index_dtype(builder.dtype(at.indices), shape.element_count());
    let strides = shape.strides();
    let zero = builder.integer(0, to);
    let mut position = zero;
    for axis in 0..shape.rank() {
        let start = match at.starts(builder, axis, to)? {
            Some(start) => {
                let last = builder.integer((shape[axis] - sizes[axis]) as i64, to);
                let start = builder.binary(BinaryOp::Max, start, zero)?;
                Some(builder.binary(BinaryOp::Min, start, last)?)
            }
            None => at.batch(builder, axis, to)?,
        };
        let stride = builder.integer(strides[axis] as i64, to);
        if let Some(start) = start {
            let start = append_window_axes(builder, start, &at.index_shape, kept.len())?;
            let start = builder.mul(start, stride)?;
            position = builder.add(position, start)?;
        }
        if let Some(offset) = kept.iter().position(|&kept| kept == axis) {
            let mut extents = vec![1; canonical.rank()];
            extents[at.index_shape.rank() + offset] = sizes[axis];
            let count = builder.iota(at.index_shape.rank() + offset, &Shape::new(&extents), to)?;
            let count = builder.mul(count, stride)?;
            position = builder.add(position, count)?;
        }
    }
    gather_flat(builder, x, position, canonical)
}

/// Gathers elements of `x` by their row-major linear index.
fn gather_flat(
    builder: &mut Builder,
    x: NodeId,
    position: NodeId,
    shape: &Shape,
) -> Lowered<NodeId> {
    let position = builder.broadcast(position, shape)?;
    let position = builder.reshape(position, &Shape::new(&[shape.element_count()]))?;
    let elements = builder.shape(x).element_count();
    let x = builder.reshape(x, &Shape::new(&[elements]))?;
    let gathered = builder.push(Op::Gather { axis: 0 }, &[x, position])?;
    builder.reshape(gathered, shape)
}

/// `dynamic_slice`
pub(super) fn dynamic_slice(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let operands = lowering.operands(operation)?;
    let Some((&x, starts)) = operands.split_first() else {
        return Err("expected an operand and start indices, found no operands".into());
    };
    let sizes = AttributeView::of(operation).axes("slice_sizes")?;
    let builder = lowering.builder();
    let shape = builder.shape(x).clone();
    let fits = sizes.len() == shape.rank()
        && starts.len() == shape.rank()
        && sizes.iter().zip(shape.iter()).all(|(size, extent)| size <= extent);
    if !fits {
        return Err(format!("slices of {sizes:?} do not fit a tensor of shape {shape}").into());
    }
    // Apply constant starts as a static slice first, then gather along the dynamic axes.
    let mut slices: Vec<SliceAxis> = Vec::new();
    let mut dynamic: Vec<(usize, NodeId)> = Vec::new();
    for axis in 0..shape.rank() {
        let start = clamped_start(builder, starts[axis], shape[axis] - sizes[axis])?;
        slices.push(match builder.constant_scalar(start) {
            Some(start) => SliceAxis { start: start.to_i64() as usize, step: 1, len: sizes[axis] },
            None => {
                dynamic.push((axis, start));
                SliceAxis::full(shape[axis])
            }
        });
    }
    let x = builder.slice(x, &slices)?;
    let result = Shape::new(&sizes);
    match dynamic[..] {
        [] => Ok(x),
        [(axis, start)] => {
            let dtype = builder.dtype(start);
            let count = builder.iota(axis, &result, dtype)?;
            let index = builder.add(count, start)?;
            builder.push(Op::Gather { axis }, &[x, index])
        }
        _ => {
            let shape = builder.shape(x).clone();
            let position = linear(builder, &shape, &result, &dynamic)?;
            gather_flat(builder, x, position, &result)
        }
    }
}

/// The row-major linear index in a tensor of `shape` of each element of a block of `sizes`. The block starts at the
/// given indices along some axes and at 0 along the others.
pub(super) fn linear(
    builder: &mut Builder,
    shape: &Shape,
    sizes: &Shape,
    starts: &[(usize, NodeId)],
) -> Lowered<NodeId> {
    let to = if shape.element_count() > i32::MAX as usize { DType::I64 } else { DType::I32 };
    let strides = shape.strides();
    let mut position = builder.integer(0, to);
    for axis in 0..shape.rank() {
        let stride = builder.integer(strides[axis] as i64, to);
        let mut extents = vec![1; sizes.rank()];
        extents[axis] = sizes[axis];
        let mut at = builder.iota(axis, &Shape::new(&extents), to)?;
        if let Some(&(_, start)) = starts.iter().find(|(known, _)| *known == axis) {
            let start = builder.cast(start, to)?;
            at = builder.add(at, start)?;
        }
        let at = builder.mul(at, stride)?;
        position = builder.add(position, at)?;
    }
    builder.broadcast(position, sizes)
}

/// A start index clamped to `0..=last`, in a signed dtype.
pub(super) fn clamped_start(builder: &mut Builder, start: NodeId, last: usize) -> Lowered<NodeId> {
    let dtype = builder.dtype(start);
    if !dtype.is_integer() {
        return Err(format!("expected an integer start index, found {dtype}").into());
    }
    let one = Shape::scalar();
    let start = builder.reshape(start, &one)?;
    // Widen first: `last` may exceed the range of a narrow dtype.
    let start = match dtype {
        DType::U64 => {
            let most = builder.scalar(Scalar::from(i64::MAX as u64));
            let start = builder.binary(BinaryOp::Min, start, most)?;
            builder.cast(start, DType::I64)?
        }
        DType::U32 | DType::I64 => builder.cast(start, DType::I64)?,
        _ => builder.cast(start, index_dtype(dtype, last))?,
    };
    let dtype = builder.dtype(start);
    let (zero, last) = (builder.integer(0, dtype), builder.integer(last as i64, dtype));
    let start = builder.binary(BinaryOp::Max, start, zero)?;
    builder.binary(BinaryOp::Min, start, last)
}

/// `torch_index_select`: slices along `dim` by index, with leading batch axes.
pub(super) fn index_select(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x, index] = lowering.expect_operands(operation)?;
    let fields = AttributeView::of(operation);
    let (axis, batch) = (fields.axis("dim")?, fields.axis("batch_dims")?);
    let builder = lowering.builder();
    let (shape, index_shape) = (builder.shape(x).clone(), builder.shape(index).clone());
    if axis >= shape.rank() || batch > axis || batch > index_shape.rank() {
        return Err("`dim` and `batch_dims` are out of range for its operands".into());
    }
    let batches: Vec<usize> = (0..batch).collect();
    let at = addressing(
        builder,
        index,
        vec![axis],
        batches.clone(),
        batches,
        index_shape.rank(),
        &shape,
    )?;
    let sizes: Vec<usize> = (0..shape.rank())
        .map(|other| if other == axis || other < batch { 1 } else { shape[other] })
        .collect();
    let kept: Vec<usize> =
        (0..shape.rank()).filter(|&other| other >= batch && other != axis).collect();
    let canonical: Shape =
        at.index_shape.iter().copied().chain(kept.iter().map(|&other| shape[other])).collect();
    let gathered = flat(builder, x, &at, &sizes, &kept, &canonical)?;
    // Batch axes, the operand's axes before `dim`, the index axes, the operand's axes after `dim`.
    let (index_rank, before) = (at.index_shape.rank(), axis - batch);
    let order: Vec<usize> = (0..batch)
        .chain(index_rank..index_rank + before)
        .chain(batch..index_rank)
        .chain(index_rank + before..canonical.rank())
        .collect();
    builder.permute(gathered, &order)
}

/// Whether each index is in `0..extent`.
pub(super) fn in_range(builder: &mut Builder, at: NodeId, extent: usize) -> Lowered<NodeId> {
    let dtype = builder.dtype(at);
    let (zero, extent) = (builder.integer(0, dtype), builder.integer(extent as i64, dtype));
    let low = builder.compare(CompareOp::Ge, at, zero)?;
    let high = builder.compare(CompareOp::Lt, at, extent)?;
    builder.binary(BinaryOp::And, low, high)
}
