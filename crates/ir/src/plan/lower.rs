//! Lowering: turns a fusion group into a kernel.
//!
//! Lowering traverses the graph from the materialized results back to values in memory. It carries an [`IndexMap`]
//! from the kernel's domain to the node it visits: a view rewrites the map, an elementwise op becomes an instruction,
//! a value in memory becomes a load, and a reduction binds the row axes of the domain. Identical instructions are
//! shared (CSE by value numbering). An op that cannot be part of the kernel is a [`LoweringBlocker`], which names the
//! change that unblocks it; lowering then restarts.

use super::fusion::FusionState;
use super::index::{self, Coordinate, IndexMap, UnflattenError};
use super::materialize::{MaterializedSet, always_materialized, is_alias};
use super::rewrite::MAX_UNSPLIT_ROW;
use super::{Reason, ScalarSource};
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp};
use crate::graph::{Graph, NodeId, Op};
use crate::kernel::{Access, Instruction, Kind, Param, Stride, Value};
use crate::{DType, Scalar, Shape};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Why a value cannot be lowered into a kernel, as the change that would unblock it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoweringBlocker {
    /// An axis of the domain must be split so that the inner part has this extent.
    SplitAxis {
        /// The axis.
        axis: usize,
        /// The extent of its inner part.
        inner: usize,
    },
    /// This node must be materialized.
    Materialize(NodeId, Reason),
}

/// An axis of a kernel's domain during lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainAxis {
    /// The extent.
    pub extent: usize,
    /// Whether reductions fold it.
    pub reduced: bool,
}

/// An access map over the domain as lowered, before its axes are merged and ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAccess {
    /// The kernel's param, or `None` for a position.
    pub param: Option<u32>,
    /// The offset at the origin of the domain.
    pub offset: isize,
    /// Strides along the domain's axes; missing ones are zero.
    pub strides: SmallVec<[isize; 6]>,
    /// The index value, for an indirect access. An access has at most one.
    pub index: Option<Value>,
    /// The stride of the index value.
    pub index_stride: isize,
    /// Whether a store uses it.
    pub stores: bool,
    /// The number of elements of the buffer.
    pub elements: usize,
}

/// A kernel before layout.
#[derive(Clone, Debug, Default)]
pub struct RawKernel {
    /// The domain.
    pub axes: Vec<DomainAxis>,
    /// The node whose buffer each param is, and whether the kernel writes it.
    pub params: Vec<(NodeId, Param)>,
    /// The sources of the scalar arguments.
    pub scalars: Vec<ScalarSource>,
    /// The dtypes of the scalar arguments.
    pub scalar_dtypes: Vec<DType>,
    /// The access maps.
    pub accesses: Vec<RawAccess>,
    /// The instructions.
    pub body: Vec<Instruction>,
    /// The nodes computed.
    pub nodes: Vec<NodeId>,
    /// Whether the order along the reduced axes matters.
    pub ordered: bool,
}

/// The state of lowering one kernel.
pub struct Lowering<'a> {
    graph: &'a Graph,
    materialized: &'a MaterializedSet,
    /// The fusion groups so far, if the kernel may fuse materialized producers.
    fusion_state: Option<&'a FusionState>,
    /// The kernel so far.
    pub kernel: RawKernel,
    /// Extents of the domain's axes.
    extents: Vec<usize>,
    computed: FxHashMap<(NodeId, IndexMap, Option<Value>), Value>,
    value_numbers: FxHashMap<Instruction, Value>,
    /// Materialized values that the kernel computes and stores; the first is the root of the group.
    pub members: Vec<NodeId>,
    /// Extents of the axes to create for a reduced row, if their product is the length of the row.
    row_factors: SmallVec<[usize; 4]>,
}

/// A kernel with more nodes than this fuses no further ones.
const MAX_KERNEL_NODES: usize = 512;

type LoweringResult<T> = Result<T, LoweringBlocker>;

impl<'a> Lowering<'a> {
    /// An empty kernel over this domain, whose root is `node`.
    pub fn new(
        graph: &'a Graph,
        materialized: &'a MaterializedSet,
        fusion_state: Option<&'a FusionState>,
        node: NodeId,
        axes: Vec<DomainAxis>,
        row_factors: SmallVec<[usize; 4]>,
    ) -> Lowering<'a> {
        let extents = axes.iter().map(|axis| axis.extent).collect();
        Lowering {
            graph,
            materialized,
            fusion_state,
            kernel: RawKernel { axes, ..RawKernel::default() },
            extents,
            computed: FxHashMap::default(),
            value_numbers: FxHashMap::default(),
            members: vec![node],
            row_factors,
        }
    }

    /// Computes the root at the points of a map and stores it.
    pub fn store_root(&mut self, map: &IndexMap) -> LoweringResult<()> {
        let node = self.members[0];
        let value = self.compute(node, map, None)?;
        self.store(node, map, value, None, None)
    }

    /// Stores a value to the buffer of `node`.
    pub fn store(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        value: Value,
        mask: Option<Value>,
        combine: Option<CombineOp>,
    ) -> LoweringResult<()> {
        let shape = &self.graph.node(node).shape;
        let (access, index) = self
            .access(node, map, shape, true)
            .ok_or(LoweringBlocker::Materialize(node, Reason::TwoIndirectIndices))?;
        let dtype = self.graph.node(node).dtype;
        let kind = Kind::Store { access, value, index, mask, combine };
        self.kernel.body.push(Instruction { kind, dtype });
        Ok(())
    }

    /// The value of a node at the points of a map: loaded if it is materialized and not fused here, computed
    /// otherwise.
    pub fn value(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        let key = (node, map.clone(), mask);
        if let Some(&value) = self.computed.get(&key) {
            return Ok(value);
        }
        let value = if !self.materialized[node as usize] || is_alias(self.graph, node) {
            self.compute(node, map, mask)?
        } else if mask.is_none() && self.can_fuse(node, map) {
            self.members.push(node);
            let value = self.compute(node, map, None)?;
            self.store(node, map, value, None, None)?;
            value
        } else {
            self.load(node, map, mask)?
        };
        self.computed.insert(key, value);
        Ok(value)
    }

    /// Whether this kernel can compute and store a materialized producer instead of loading it.
    fn can_fuse(&self, node: NodeId, map: &IndexMap) -> bool {
        let is_read = self.kernel.params.iter().any(|(param, _)| *param == node);
        // The group of a value without elements has no steps.
        !is_read
            && self.graph.node(node).shape.element_count() > 0
            && self.kernel.nodes.len() < MAX_KERNEL_NODES / 2
            && self.is_covered_exactly_once(node, map)
            && self
                .fusion_state
                .is_some_and(|fusion_state| fusion_state.can_fuse(node, &self.members))
    }

    /// Whether the map visits each element of a node exactly once, over all axes or over those that are not reduced,
    /// and a kernel can compute the node.
    fn is_covered_exactly_once(&self, node: NodeId, map: &IndexMap) -> bool {
        if always_materialized(self.graph.node(node)) {
            return false;
        }
        let shape = &self.graph.node(node).shape;
        let all: SmallVec<[usize; 6]> = (0..self.extents.len()).collect();
        let parallel: SmallVec<[usize; 6]> =
            all.iter().copied().filter(|&axis| !self.kernel.axes[axis].reduced).collect();
        let bijective = |axes: &[usize]| index::is_bijective(map, shape, axes, &self.extents);
        bijective(&all) || (parallel.len() < all.len() && bijective(&parallel))
    }

    fn compute(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        let graph = self.graph;
        let data = graph.node(node);
        let is_free = data.op == Op::Scalar || data.op.is_view();
        if self.kernel.nodes.len() > MAX_KERNEL_NODES
            && !is_free
            && !self.materialized[node as usize]
        {
            return Err(LoweringBlocker::Materialize(node, Reason::LargeKernel));
        }
        if data.op != Op::Scalar {
            self.kernel.nodes.push(node);
        }
        match &data.op {
            Op::Input | Op::Dot(_) | Op::Scatter { .. } | Op::Scan { .. } => {
                unreachable!("{} is always materialized", data.op.name())
            }
            Op::Sort { .. }
            | Op::ImplicitGemm(_)
            | Op::Cholesky { .. }
            | Op::TriangularSolve { .. } => {
                unreachable!("{} is always materialized", data.op.name())
            }
            Op::Scalar => Ok(self.graph_scalar(node)),
            Op::Iota { axis, dtype, .. } => self.iota(node, &map[*axis], *dtype),
            Op::Unary(op) => {
                let x = self.operand(node, 0, map, mask)?;
                Ok(self.push(Kind::Unary(*op, x), data.dtype))
            }
            Op::Binary(op) => {
                let a = self.operand(node, 0, map, mask)?;
                let b = self.operand(node, 1, map, mask)?;
                Ok(self.push(Kind::Binary(*op, a, b), data.dtype))
            }
            Op::Compare(op) => {
                let a = self.operand(node, 0, map, mask)?;
                let b = self.operand(node, 1, map, mask)?;
                Ok(self.push(Kind::Compare(*op, a, b), DType::Bool))
            }
            Op::Select => {
                let condition = self.operand(node, 0, map, mask)?;
                let on_true = self.operand(node, 1, map, mask)?;
                let on_false = self.operand(node, 2, map, mask)?;
                Ok(self.push(Kind::Select(condition, on_true, on_false), data.dtype))
            }
            Op::Cast(dtype) => {
                let x = self.operand(node, 0, map, mask)?;
                Ok(self.cast(x, *dtype))
            }
            Op::Bitcast(dtype) => {
                let x = self.operand(node, 0, map, mask)?;
                Ok(self.push(Kind::Bitcast(x), *dtype))
            }
            Op::Broadcast(_) => self.operand(node, 0, map, mask),
            Op::Permute(axes) => self.value(data.inputs[0], &index::permute(map, axes), mask),
            Op::Slice(axes) => self.value(data.inputs[0], &index::slice(map, axes), mask),
            // A window that does not fit has no positions to load.
            Op::Windows(_) if data.shape.element_count() == 0 => {
                Ok(self.constant(Scalar::zero(data.dtype)))
            }
            Op::Windows(axes) => {
                let inner = index::windows(map, axes)
                    .ok_or(LoweringBlocker::Materialize(node, Reason::TwoIndirectIndices))?;
                self.value(data.inputs[0], &inner, mask)
            }
            Op::Reshape(shape) => {
                let operand = data.inputs[0];
                let from = &graph.node(operand).shape;
                // A value in memory is contiguous under any shape.
                let map = match index::reshape(map, shape, from, &self.extents) {
                    Ok(map) => map,
                    Err(UnflattenError::SplitAxis { axis, inner }) => {
                        return Err(LoweringBlocker::SplitAxis { axis, inner });
                    }
                    Err(UnflattenError::NotAffine) if self.materialized[operand as usize] => {
                        return self.load_reshaped(operand, map, shape, mask);
                    }
                    Err(UnflattenError::NotAffine) => {
                        return Err(LoweringBlocker::Materialize(
                            operand,
                            Reason::NonAffineReshape,
                        ));
                    }
                };
                self.value(operand, &map, mask)
            }
            Op::Pad(axes) => {
                let x = data.inputs[0];
                let shape = graph.node(x).shape.clone();
                let inner: IndexMap = map
                    .iter()
                    .zip(axes)
                    .map(|(coordinate, axis)| coordinate.stepped(-axis.low, 1))
                    .collect();
                let inside = self.bounds_mask(node, &inner, &shape)?;
                let fill = self.value(data.inputs[1], &IndexMap::new(), None)?;
                self.masked_value(x, &inner, inside, fill, mask)
            }
            Op::Concat { axis } => self.concat(node, *axis, map, mask),
            Op::Assign(axes) => {
                let (x, update) = (data.inputs[0], data.inputs[1]);
                let shape = graph.node(update).shape.clone();
                let inner: IndexMap = map
                    .iter()
                    .zip(axes)
                    .map(|(coordinate, axis)| {
                        // The step is 1 or -1, its own inverse.
                        coordinate.stepped(-(axis.start as isize) * axis.step, axis.step)
                    })
                    .collect();
                let inside = self.bounds_mask(node, &inner, &shape)?;
                let rest = self.value(x, map, mask)?;
                self.masked_value(update, &inner, inside, rest, mask)
            }
            Op::Gather { axis } => self.gather(node, *axis, map, mask),
            Op::Reduce { op, axes } => {
                let op = *op;
                match self.bind_row(node, axes, map, mask)? {
                    (x, 1) => Ok(x),
                    (x, _) => Ok(self.push(Kind::Reduce(op, x), data.dtype)),
                }
            }
            Op::ArgReduce { op, axis } => {
                let op: ArgOp = *op;
                match self.bind_row(node, &[*axis], map, mask)? {
                    (_, 1) => Ok(self.constant(Scalar::from(0i64))),
                    (x, _) => {
                        self.kernel.ordered = true;
                        Ok(self.push(Kind::ArgReduce(op, x), DType::I64))
                    }
                }
            }
        }
    }

    /// The value of an operand of an elementwise op, broadcast to the shape of the op.
    fn operand(
        &mut self,
        node: NodeId,
        position: usize,
        map: &IndexMap,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        let operand = self.graph.node(node).inputs[position];
        let shape = &self.graph.node(operand).shape;
        self.value(operand, &index::broadcast(map, shape), mask)
    }

    fn concat(
        &mut self,
        node: NodeId,
        axis: usize,
        map: &IndexMap,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        let inputs = self.graph.node(node).inputs.clone();
        let mut start = 0;
        let mut result: Option<Value> = None;
        for &input in &inputs {
            let shape = self.graph.node(input).shape.clone();
            let mut inner = map.clone();
            inner[axis] = inner[axis].stepped(-start, 1);
            start += shape[axis] as isize;
            if shape[axis] == 0 {
                continue;
            }
            let inside = self.bounds_mask(node, &inner, &shape)?;
            result = Some(match (result, inside) {
                (None, inside) => {
                    let mask = inside.map(|inside| self.and(mask, inside)).or(mask);
                    self.value(input, &inner, mask)?
                }
                (Some(before), inside) => self.masked_value(input, &inner, inside, before, mask)?,
            });
        }
        match result {
            Some(value) => Ok(value),
            None => Ok(self.constant(Scalar::zero(self.graph.node(node).dtype))),
        }
    }

    /// `inside ? node[map] : otherwise`, with a masked load of the node.
    fn masked_value(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        inside: Option<Value>,
        otherwise: Value,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        let Some(inside) = inside else { return self.value(node, map, mask) };
        if self.graph.node(node).shape.element_count() == 0 {
            return Ok(otherwise);
        }
        let both = self.and(mask, inside);
        let value = self.value(node, map, Some(both))?;
        let dtype = self.graph.node(node).dtype;
        Ok(self.push(Kind::Select(inside, value, otherwise), dtype))
    }

    /// The mask of points whose coordinates are in bounds of a shape; `None` if all are. `node` is the op to
    /// materialize if the bounds depend on an index value.
    pub fn bounds_mask(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        shape: &Shape,
    ) -> LoweringResult<Option<Value>> {
        let mut result = None;
        for (coordinate, &extent) in map.iter().zip(shape.iter()) {
            if coordinate.index().is_some() {
                return Err(LoweringBlocker::Materialize(node, Reason::TwoIndirectIndices));
            }
            let (low, high) = coordinate.range(&self.extents);
            for (outside, op, bound) in [
                (low < 0, CompareOp::Ge, 0),
                (high >= extent as isize, CompareOp::Lt, extent as isize),
            ] {
                if outside {
                    let position = self.position(coordinate);
                    let dtype = self.kernel.body[position as usize].dtype;
                    let bound = self.fixed_scalar(Scalar::from(bound as i64).cast(dtype));
                    let within = self.push(Kind::Compare(op, position, bound), DType::Bool);
                    result = Some(self.and(result, within));
                }
            }
        }
        Ok(result)
    }

    fn and(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            None => b,
            Some(a) if a == b => b,
            Some(a) => self.push(Kind::Binary(BinaryOp::And, a, b), DType::Bool),
        }
    }

    fn gather(
        &mut self,
        node: NodeId,
        axis: usize,
        map: &IndexMap,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        let (x, indices) = (self.graph.node(node).inputs[0], self.graph.node(node).inputs[1]);
        let extent = self.graph.node(x).shape[axis];
        let index = self.value(indices, map, mask)?;
        let index = self.clamped_index(index, extent);
        let mut inner = map.clone();
        inner[axis] = Coordinate::indirect(index);
        if inner.iter().filter(|coordinate| coordinate.index().is_some()).count() > 1 {
            return Err(LoweringBlocker::Materialize(node, Reason::TwoIndirectIndices));
        }
        self.value(x, &inner, mask)
    }

    /// An index clamped to `0..extent`, as `i32` or `i64`.
    fn clamped_index(&mut self, index: Value, extent: usize) -> Value {
        let dtype = self.kernel.body[index as usize].dtype;
        let wide = match dtype {
            DType::I64 | DType::U64 | DType::U32 => DType::I64,
            _ if extent > i32::MAX as usize => DType::I64,
            _ => DType::I32,
        };
        // A large u64 would become negative, so clamp from above before the conversion.
        let last = Scalar::from(extent.saturating_sub(1) as i64);
        let mut value = index;
        if dtype == DType::U64 {
            let bound = self.fixed_scalar(last.cast(DType::U64));
            value = self.push(Kind::Binary(BinaryOp::Min, value, bound), DType::U64);
        }
        value = self.cast(value, wide);
        let bound = self.fixed_scalar(last.cast(wide));
        value = self.push(Kind::Binary(BinaryOp::Min, value, bound), wide);
        let zero = self.constant(Scalar::zero(wide));
        self.push(Kind::Binary(BinaryOp::Max, value, zero), wide)
    }

    /// Binds the row of a reduction to the reduced axes of the domain. Returns the operand at the points of the row,
    /// and the length of the row.
    ///
    /// If no axis is reduced yet, the axes along which the result does not vary become reduced; if there are none,
    /// the domain gets new axes.
    fn bind_row(
        &mut self,
        node: NodeId,
        axes: &[usize],
        map: &IndexMap,
        mask: Option<Value>,
    ) -> LoweringResult<(Value, usize)> {
        let blocker = LoweringBlocker::Materialize(node, Reason::ReductionAxes);
        let x = self.graph.node(node).inputs[0];
        let (shape, result) = (self.graph.node(x).shape.clone(), &self.graph.node(node).shape);
        let row_shape: SmallVec<[usize; 4]> = axes.iter().map(|&axis| shape[axis]).collect();
        let row: usize = row_shape.iter().product();
        let row_at = |row: IndexMap| -> IndexMap {
            let mut kept = map.iter();
            let mut folded = row.into_iter();
            (0..shape.rank())
                .map(|axis| match axes.contains(&axis) {
                    true => folded.next().expect("one for each reduced axis"),
                    false => kept.next().expect("one for each kept axis").clone(),
                })
                .collect()
        };
        if row == 1 {
            let first = axes.iter().map(|_| Coordinate::default()).collect();
            return Ok((self.value(x, &row_at(first), mask)?, 1));
        }
        if mask.is_some() {
            return Err(LoweringBlocker::Materialize(node, Reason::MaskedReduction));
        }
        let (_, strides, None) = index::flatten(map, result, self.extents.len()).ok_or(blocker)?
        else {
            return Err(blocker);
        };
        let has_reduced = self.kernel.axes.iter().any(|axis| axis.reduced);
        let rank = self.extents.len();
        let bound: SmallVec<[usize; 6]> = match has_reduced {
            true => (0..rank).filter(|&axis| self.kernel.axes[axis].reduced).collect(),
            false => (0..rank).filter(|&a| strides[a] == 0 && self.extents[a] != 1).collect(),
        };
        let parallel: SmallVec<[usize; 6]> =
            (0..rank).filter(|axis| !bound.contains(axis)).collect();
        if !index::is_bijective(map, result, &parallel, &self.extents) {
            return Err(blocker);
        }
        let bound = match bound.is_empty() {
            // No axis of the domain runs along the row: add axes.
            true => {
                let use_factors = self.row_factors.iter().product::<usize>() == row;
                let factors =
                    if use_factors { self.row_factors.clone() } else { row_shape.clone() };
                for extent in factors.into_iter().filter(|&extent| extent != 1) {
                    self.kernel.axes.push(DomainAxis { extent, reduced: true });
                    self.extents.push(extent);
                }
                (rank..self.extents.len()).collect()
            }
            false => bound,
        };
        let bound_points: usize = bound.iter().map(|&axis| self.extents[axis]).product();
        if bound_points != row {
            return Err(blocker);
        }
        if bound.iter().any(|&axis| axis < rank) && row > MAX_UNSPLIT_ROW {
            return Err(LoweringBlocker::Materialize(node, Reason::LongRow));
        }
        let mut flat = Coordinate::default();
        let mut stride = 1;
        for &axis in bound.iter().rev() {
            flat.add_axis(axis, stride);
            stride *= self.extents[axis] as isize;
        }
        let row_map = match flat.unflatten(&row_shape, &self.extents) {
            Ok(map) => map,
            Err(UnflattenError::SplitAxis { axis, inner }) => {
                return Err(LoweringBlocker::SplitAxis { axis, inner });
            }
            Err(UnflattenError::NotAffine) => return Err(blocker),
        };
        for &axis in &bound {
            self.kernel.axes[axis].reduced = true;
        }
        Ok((self.value(x, &row_at(row_map), None)?, row))
    }

    fn iota(
        &mut self,
        node: NodeId,
        coordinate: &Coordinate,
        dtype: DType,
    ) -> LoweringResult<Value> {
        if coordinate.index().is_some() {
            return Err(LoweringBlocker::Materialize(node, Reason::TwoIndirectIndices));
        }
        let position = self.position(coordinate);
        Ok(self.cast(position, dtype))
    }

    /// A coordinate as a value.
    fn position(&mut self, coordinate: &Coordinate) -> Value {
        let (low, high) = coordinate.range(&self.extents);
        let fits = low > i32::MIN as isize && high < i32::MAX as isize;
        let strides = (0..self.extents.len()).map(|axis| coordinate.coefficient(axis)).collect();
        let access = self.intern(RawAccess {
            param: None,
            offset: coordinate.offset(),
            strides,
            index: None,
            index_stride: 0,
            stores: false,
            elements: 0,
        });
        self.push(Kind::Position(access), if fits { DType::I32 } else { DType::I64 })
    }

    fn load(&mut self, node: NodeId, map: &IndexMap, mask: Option<Value>) -> LoweringResult<Value> {
        let shape = &self.graph.node(node).shape;
        self.load_as(node, map, shape, mask)
    }

    /// A load of a value in memory under another shape.
    fn load_reshaped(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        shape: &Shape,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        self.load_as(node, map, shape, mask)
    }

    fn load_as(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        shape: &Shape,
        mask: Option<Value>,
    ) -> LoweringResult<Value> {
        // The kernel's own results are not in memory until it has run.
        if self.members.contains(&node) {
            return Err(LoweringBlocker::Materialize(node, Reason::ReductionAxes));
        }
        let dtype = self.graph.node(node).dtype;
        if shape.element_count() == 0 {
            return Ok(self.constant(Scalar::zero(dtype)));
        }
        let (access, index) = self
            .access(node, map, shape, false)
            .ok_or(LoweringBlocker::Materialize(node, Reason::TwoIndirectIndices))?;
        Ok(self.push(Kind::Load { access, index, mask }, dtype))
    }

    fn access(
        &mut self,
        node: NodeId,
        map: &IndexMap,
        shape: &Shape,
        stores: bool,
    ) -> Option<(u32, Option<Value>)> {
        let (offset, strides, index) = index::flatten(map, shape, self.extents.len())?;
        let param = self.param(node, stores);
        let index_stride = index.map_or(0, |(_, factor)| factor);
        let index = index.map(|(value, _)| value);
        let raw = RawAccess {
            param: Some(param),
            offset,
            strides,
            index,
            index_stride,
            stores,
            elements: shape.element_count(),
        };
        Some((self.intern(raw), index))
    }

    fn intern(&mut self, access: RawAccess) -> u32 {
        match self.kernel.accesses.iter().position(|existing| *existing == access) {
            Some(existing) => existing as u32,
            None => {
                self.kernel.accesses.push(access);
                self.kernel.accesses.len() as u32 - 1
            }
        }
    }

    fn param(&mut self, node: NodeId, writes: bool) -> u32 {
        let dtype = self.graph.node(node).dtype;
        if let Some(existing) =
            self.kernel.params.iter().position(|(existing, _)| *existing == node)
        {
            self.kernel.params[existing].1.writes |= writes;
            return existing as u32;
        }
        self.kernel.params.push((node, Param { dtype, writes }));
        self.kernel.params.len() as u32 - 1
    }

    /// A scalar of the graph: a launch argument.
    fn graph_scalar(&mut self, node: NodeId) -> Value {
        let before = &self.graph.nodes[..node as usize];
        let position = before.iter().filter(|node| node.op == Op::Scalar).count();
        self.scalar(ScalarSource::Graph(position), self.graph.node(node).dtype)
    }

    /// A scalar derived from extents: a launch argument, so that the kernel does not depend on sizes.
    pub fn fixed_scalar(&mut self, value: Scalar) -> Value {
        self.scalar(ScalarSource::Fixed(value), value.dtype())
    }

    fn scalar(&mut self, source: ScalarSource, dtype: DType) -> Value {
        let existing = self.kernel.scalars.iter().position(|existing| *existing == source);
        let position = existing.unwrap_or_else(|| {
            self.kernel.scalars.push(source);
            self.kernel.scalar_dtypes.push(dtype);
            self.kernel.scalars.len() - 1
        });
        self.push(Kind::Scalar(position as u32), dtype)
    }

    fn constant(&mut self, value: Scalar) -> Value {
        self.push(Kind::Constant(value), value.dtype())
    }

    /// A cast, unless the dtype is the same.
    pub fn cast(&mut self, value: Value, dtype: DType) -> Value {
        match self.kernel.body[value as usize].dtype == dtype {
            true => value,
            false => self.push(Kind::Cast(value), dtype),
        }
    }

    /// Appends an instruction, or returns the value of an identical one (CSE).
    pub fn push(&mut self, kind: Kind, dtype: DType) -> Value {
        let instruction = Instruction { kind, dtype };
        if let Some(&existing) = self.value_numbers.get(&instruction) {
            return existing;
        }
        self.kernel.body.push(instruction);
        let value = self.kernel.body.len() as Value - 1;
        self.value_numbers.insert(instruction, value);
        value
    }

    /// The mask of indices within `0..extent`, and the index as `i32` or `i64`.
    pub fn index_and_bounds_mask(&mut self, index: Value, extent: usize) -> (Value, Value) {
        let dtype = self.kernel.body[index as usize].dtype;
        let mut within = None;
        if dtype.class() == crate::DTypeClass::Signed {
            let zero = self.constant(Scalar::zero(dtype));
            let above = self.push(Kind::Compare(CompareOp::Ge, index, zero), DType::Bool);
            within = Some(above);
        }
        // If the bound does not fit the index dtype, no index exceeds it.
        let bound = Scalar::from(extent as u64).cast(dtype);
        if bound.cast(DType::U64) == Scalar::from(extent as u64) && bound.to_f64() >= 0.0 {
            let bound = self.fixed_scalar(bound);
            let below = self.push(Kind::Compare(CompareOp::Lt, index, bound), DType::Bool);
            within = Some(self.and(within, below));
        }
        let within = within.unwrap_or_else(|| self.constant(Scalar::from(true)));
        // A narrow index stays narrow: masked lanes do not access memory.
        let wide = match dtype {
            DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => DType::I32,
            _ => DType::I64,
        };
        (self.cast(index, wide), within)
    }
}

impl RawAccess {
    /// The access class, the compile-time part of this map, for these reduce axes and this vector axis.
    pub fn class(&self, reduce: &[usize], vector: Option<usize>) -> Access {
        let stride = |axis: usize| self.strides.get(axis).copied().unwrap_or(0);
        Access {
            param: self.param,
            reduce: reduce.iter().any(|&axis| stride(axis) != 0),
            vector: match vector.map(stride) {
                None | Some(0) => Stride::Zero,
                Some(1) => Stride::One,
                Some(_) => Stride::Any,
            },
        }
    }
}
