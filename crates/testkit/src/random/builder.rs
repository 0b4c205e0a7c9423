//! Builder of random graphs: selects operands and adds nodes.

use super::Random;
use super::shapes;
use super::values::{self, Profile};
use inflight_ir::elementwise::{BinaryOp, CombineOp, UnaryOp};
use inflight_ir::graph::{DTypeSet, Graph, NodeId, Op, SliceAxis};
use inflight_ir::interpret::Array;
use inflight_ir::{Axes, DType, Shape};

/// A graph under construction, with its inputs.
pub struct Builder {
    /// The source of random choices.
    pub random: Random,
    graph: Graph,
    inputs: Vec<Array>,
    /// Limit on the number of elements of a value.
    pub limit: usize,
}

impl Builder {
    /// An empty graph.
    pub fn new(random: Random, limit: usize) -> Builder {
        Builder { random, graph: Graph::default(), inputs: Vec::new(), limit }
    }

    /// Returns the graph, its inputs and the random generator.
    pub fn finish(mut self) -> (Graph, Vec<Array>, Random) {
        if self.graph.nodes.iter().all(|node| matches!(node.op, Op::Input | Op::Scalar)) {
            let x = self.fresh(DTypeSet::FLOATS);
            self.unary(UnaryOp::Neg, x);
        }
        (self.graph, self.inputs, self.random)
    }

    pub fn shape(&self, node: NodeId) -> Shape {
        self.graph.node(node).shape.clone()
    }

    pub fn rank(&self, node: NodeId) -> usize {
        self.graph.node(node).shape.rank()
    }

    pub fn dtype(&self, node: NodeId) -> DType {
        self.graph.node(node).dtype
    }

    /// Appends a node if it is valid and not too large.
    pub fn push(&mut self, op: Op, operands: &[NodeId]) -> Option<NodeId> {
        let node = self.graph.push(op, operands).ok()?;
        if self.graph.node(node).shape.element_count() > self.limit {
            self.graph.nodes.pop();
            return None;
        }
        Some(node)
    }

    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> Option<NodeId> {
        self.push(Op::Unary(op), &[x])
    }

    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Option<NodeId> {
        self.push(Op::Binary(op), &[a, b])
    }

    pub fn reshape(&mut self, x: NodeId, shape: &Shape) -> Option<NodeId> {
        self.push(Op::Reshape(shape.clone()), &[x])
    }

    /// A reduction that keeps the reduced axes with extent 1.
    pub fn reduce_keep(&mut self, op: CombineOp, x: NodeId, axes: &[usize]) -> Option<NodeId> {
        let kept = self.shape(x).reduced(axes, true);
        let reduced = self.push(Op::Reduce { op, axes: Axes::from_slice(axes) }, &[x])?;
        self.reshape(reduced, &kept)
    }

    /// A slice of one axis.
    pub fn slice(&mut self, x: NodeId, axis: usize, slice: SliceAxis) -> Option<NodeId> {
        let mut slices: smallvec::SmallVec<[SliceAxis; 4]> =
            self.shape(x).iter().map(|&extent| SliceAxis::full(extent)).collect();
        slices[axis] = slice;
        self.push(Op::Slice(slices), &[x])
    }

    /// A constant near 1 that keeps values in range.
    pub fn constant(&mut self, dtype: DType) -> NodeId {
        let profile = Profile::random(&mut self.random);
        let value = values::element(&mut self.random, dtype, profile);
        self.graph.scalar(value)
    }

    /// A constant with this value.
    pub fn scalar(&mut self, value: f64, dtype: DType) -> NodeId {
        self.graph.scalar(inflight_ir::Scalar::from(value).cast(dtype))
    }

    /// A new input of this shape and dtype.
    pub fn input(&mut self, shape: &Shape, dtype: DType) -> NodeId {
        let profile = Profile::random(&mut self.random);
        self.input_like(shape, dtype, profile)
    }

    /// A new input with values of this profile.
    pub fn input_like(&mut self, shape: &Shape, dtype: DType, profile: Profile) -> NodeId {
        let array = values::array(&mut self.random, shape, dtype, profile);
        self.input_of(array)
    }

    /// A new input with this value.
    pub fn input_of(&mut self, array: Array) -> NodeId {
        let node = self.graph.input(&array.shape, array.dtype);
        self.inputs.push(array);
        node
    }

    /// A random dtype of the set, weighted towards common ones.
    pub fn dtype_of(&mut self, set: DTypeSet) -> DType {
        let common = [DType::F32, DType::F32, DType::F32, DType::I32, DType::I64, DType::F64];
        let often: Vec<DType> = common.into_iter().filter(|&dtype| set.contains(dtype)).collect();
        if !often.is_empty() && self.random.chance(60) {
            return self.random.pick(&often);
        }
        let all: Vec<DType> = set.iter().collect();
        self.random.pick(&all)
    }

    /// A new input of a random shape.
    pub fn fresh(&mut self, set: DTypeSet) -> NodeId {
        let shape = shapes::random(&mut self.random, self.limit);
        let dtype = self.dtype_of(set);
        self.input(&shape, dtype)
    }

    /// A value with a dtype of the set: usually a recent one, sometimes a new input.
    pub fn operand(&mut self, set: DTypeSet) -> NodeId {
        self.operand_if(|builder, node| set.contains(builder.dtype(node)))
            .unwrap_or_else(|| self.fresh(set))
    }

    /// An operand of at least this rank.
    pub fn operand_of_rank(&mut self, set: DTypeSet, rank: usize) -> NodeId {
        let found = self.operand_if(|builder, node| {
            set.contains(builder.dtype(node)) && builder.graph.node(node).shape.rank() >= rank
        });
        found.unwrap_or_else(|| {
            let mut shape = shapes::random(&mut self.random, self.limit).to_vec();
            while shape.len() < rank {
                shape.push(1 + self.random.below(4));
            }
            while shape.iter().product::<usize>() > self.limit {
                let largest = (0..shape.len()).max_by_key(|&axis| shape[axis]).expect("an axis");
                shape[largest] /= 2;
            }
            let dtype = self.dtype_of(set);
            self.input(&Shape::from(shape), dtype)
        })
    }

    /// A value accepted by `fits`, weighted towards recent ones.
    pub fn operand_if(&mut self, fits: impl Fn(&Builder, NodeId) -> bool) -> Option<NodeId> {
        if self.random.chance(8) {
            return None;
        }
        let all: Vec<NodeId> =
            (0..self.graph.nodes.len() as NodeId).filter(|&node| fits(self, node)).collect();
        if all.is_empty() {
            return None;
        }
        let recent = &all[all.len().saturating_sub(3)..];
        Some(match self.random.chance(60) {
            true => self.random.pick(recent),
            false => self.random.pick(&all),
        })
    }

    /// A second operand for an elementwise op with `a`: the same dtype, and a shape that broadcasts with its shape.
    pub fn partner(&mut self, a: NodeId) -> NodeId {
        let (shape, dtype) = (self.shape(a), self.dtype(a));
        match self.random.below(10) {
            0..4 => {
                let found = self.operand_if(|builder, node| {
                    let other = builder.graph.node(node);
                    let joined = other.shape.broadcast(&shape);
                    joined.is_some_and(|joined| joined.element_count() <= builder.limit)
                });
                if let Some(found) = found {
                    if self.dtype(found) == dtype {
                        return found;
                    }
                    if let Some(cast) = self.push(Op::Cast(dtype), &[found]) {
                        return cast;
                    }
                }
            }
            4 if shape.rank() > 0 => {
                let axis = self.random.below(shape.rank());
                let reversed =
                    SliceAxis { start: shape[axis].saturating_sub(1), step: -1, len: shape[axis] };
                if let Some(view) = self.slice(a, axis, reversed) {
                    return view;
                }
            }
            5 => return self.constant(dtype),
            6 if shape.rank() > 0 => {
                let axis = self.random.below(shape.rank());
                let op = self.random.pick(&[CombineOp::Sum, CombineOp::Max, CombineOp::Or]);
                if let Some(reduced) = self.reduce_keep(op, a, &[axis]) {
                    return reduced;
                }
            }
            _ => {}
        }
        let shape = shapes::broadcastable(&mut self.random, &shape);
        self.input(&shape, dtype)
    }

    /// A value of exactly this shape and dtype: an existing one or a new input.
    pub fn exactly(&mut self, shape: &Shape, dtype: DType) -> NodeId {
        let found = self.operand_if(|builder, node| {
            builder.dtype(node) == dtype && builder.graph.node(node).shape == *shape
        });
        found.unwrap_or_else(|| self.input(shape, dtype))
    }

    /// Integers of this shape that are mostly valid indices of an axis of `extent`.
    pub fn index(&mut self, shape: &Shape, extent: usize) -> NodeId {
        if self.random.chance(15) {
            let found = self.operand_if(|builder, node| {
                builder.dtype(node).is_integer() && builder.graph.node(node).shape == *shape
            });
            if let Some(found) = found {
                return found;
            }
        }
        let dtype = self.random.pick(&[
            DType::I32,
            DType::I64,
            DType::I64,
            DType::U8,
            DType::U32,
            DType::U64,
            DType::I8,
            DType::I16,
        ]);
        let array = values::positions(&mut self.random, shape, dtype, extent);
        self.input_of(array)
    }
}
