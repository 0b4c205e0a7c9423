//! Builder of one sequence: hash-consed nodes (CSE), and the steps between them.
//!
//! The nodes of the whole sequence are in one list. [`sequence`](super::sequence) partitions them into graphs.

use super::contraction;
use super::error::Failure;
use crate::module::Location;
use crate::program::{Action, Origin};
use inflight_ir::compose::ComposeError;
use inflight_ir::graph::{Graph, NodeId, Op, SliceAxis, infer};
use inflight_ir::interpret::Array;
use inflight_ir::{Axes, BinaryOp, CompareOp, DType, Scalar, Shape, UnaryOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Result type of lowering functions.
pub(super) type Lowered<T> = Result<T, Failure>;

/// A node of a sequence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    pub op: Op,
    pub inputs: SmallVec<[NodeId; 3]>,
    pub shape: Shape,
    pub dtype: DType,
    /// The value of an [`Op::Scalar`].
    pub scalar: Option<Scalar>,
    /// The source of an [`Op::Input`].
    pub source: Option<Source>,
}

/// The source of an input node's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    /// An argument of the sequence.
    Argument(usize),
    /// A constant of the program; only in the outermost sequence.
    Constant(usize),
    /// A value of the enclosing sequence, by capture index.
    Capture(usize),
    /// A result of an earlier step.
    Result { step: usize, index: usize },
}

/// A loop, branch or host call.
#[derive(Clone, Debug)]
pub(super) struct PendingStep {
    pub action: Action,
    pub inputs: Vec<NodeId>,
    pub results: Vec<NodeId>,
    pub location: Location,
    /// Whether DCE must keep the step although its results are unused.
    pub has_effect: bool,
}

/// The size of a sequence at some point, for [`Builder::rewind`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub nodes: usize,
    pub steps: usize,
    pub captures: usize,
}

/// A sequence under construction.
#[derive(Default)]
pub(super) struct Builder {
    pub entries: Vec<Entry>,
    pub origins: Vec<Origin>,
    pub steps: Vec<PendingStep>,
    /// The nodes of the enclosing sequence that this one reads, by capture index.
    pub captures: Vec<NodeId>,
    capture_numbers: FxHashMap<NodeId, usize>,
    /// The values of constant and folded nodes.
    pub constants: FxHashMap<NodeId, Arc<Array>>,
    /// Nodes for which constant folding has failed.
    pub not_constant: rustc_hash::FxHashSet<NodeId>,
    interned: FxHashMap<Entry, NodeId>,
    /// The operation that is being lowered.
    pub origin: Option<Origin>,
}

impl Builder {
    /// The node's shape.
    pub fn shape(&self, id: NodeId) -> &Shape {
        &self.entries[id as usize].shape
    }

    /// The node's dtype.
    pub fn dtype(&self, id: NodeId) -> DType {
        self.entries[id as usize].dtype
    }

    /// The node of an entry. Reuses an equal node (CSE).
    pub fn intern(&mut self, entry: Entry) -> NodeId {
        if let Some(&id) = self.interned.get(&entry) {
            return id;
        }
        let id = self.entries.len() as NodeId;
        self.interned.insert(entry.clone(), id);
        self.entries.push(entry);
        self.origins.push(self.origin.clone().unwrap_or_else(|| Origin {
            name: Arc::from("func.func"),
            location: Location::default(),
        }));
        id
    }

    /// Marks the current size.
    pub fn mark(&self) -> Mark {
        Mark { nodes: self.entries.len(), steps: self.steps.len(), captures: self.captures.len() }
    }

    /// Removes everything added since a mark.
    pub fn rewind(&mut self, mark: &Mark) {
        let &Mark { nodes, steps, captures } = mark;
        for entry in self.entries.drain(nodes..) {
            self.interned.remove(&entry);
        }
        self.origins.truncate(nodes);
        self.steps.truncate(steps);
        for capture in self.captures.drain(captures..) {
            self.capture_numbers.remove(&capture);
        }
        self.constants.retain(|&id, _| (id as usize) < nodes);
        self.not_constant.retain(|&id| (id as usize) < nodes);
    }

    /// The input node for a captured node of the enclosing sequence.
    pub fn capture(&mut self, outer: NodeId, shape: Shape, dtype: DType) -> NodeId {
        let number = *self.capture_numbers.entry(outer).or_insert_with(|| {
            self.captures.push(outer);
            self.captures.len() - 1
        });
        self.input(Source::Capture(number), shape, dtype)
    }

    /// A node that applies an op.
    pub fn push(&mut self, op: Op, inputs: &[NodeId]) -> Lowered<NodeId> {
        let operands: SmallVec<[(&Shape, DType); 3]> =
            inputs.iter().map(|&input| (self.shape(input), self.dtype(input))).collect();
        let (shape, dtype) = infer(&op, &operands)?;
        drop(operands);
        let inputs = SmallVec::from_slice(inputs);
        Ok(self.intern(Entry { op, inputs, shape, dtype, scalar: None, source: None }))
    }

    /// An input node.
    pub fn input(&mut self, source: Source, shape: Shape, dtype: DType) -> NodeId {
        let inputs = SmallVec::new();
        let (scalar, source) = (None, Some(source));
        self.intern(Entry { op: Op::Input, inputs, shape, dtype, scalar, source })
    }

    /// A rank-0 constant.
    pub fn scalar(&mut self, value: impl Into<Scalar>) -> NodeId {
        let value = value.into();
        let (shape, dtype) = (Shape::scalar(), value.dtype());
        let (scalar, source) = (Some(value), None);
        self.intern(Entry { op: Op::Scalar, inputs: SmallVec::new(), shape, dtype, scalar, source })
    }

    /// A rank-0 constant of this dtype, rounded to it.
    pub fn float(&mut self, value: f64, dtype: DType) -> NodeId {
        self.scalar(Scalar::from(value).cast(dtype))
    }

    /// A rank-0 integer constant of this dtype.
    pub fn integer(&mut self, value: i64, dtype: DType) -> NodeId {
        self.scalar(Scalar::from(value).cast(dtype))
    }

    /// A constant whose elements are all `value`.
    pub fn full(&mut self, value: Scalar, shape: &Shape) -> Lowered<NodeId> {
        let scalar = self.scalar(value);
        self.broadcast(scalar, shape)
    }

    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> Lowered<NodeId> {
        self.push(Op::Unary(op), &[x])
    }

    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.push(Op::Binary(op), &[a, b])
    }

    pub fn add(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub fn div(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.binary(BinaryOp::Div, a, b)
    }

    pub fn neg(&mut self, x: NodeId) -> Lowered<NodeId> {
        self.unary(UnaryOp::Neg, x)
    }

    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.push(Op::Compare(op), &[a, b])
    }

    pub fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.push(Op::Select, &[condition, a, b])
    }

    pub fn cast(&mut self, x: NodeId, dtype: DType) -> Lowered<NodeId> {
        if self.dtype(x) == dtype { Ok(x) } else { self.push(Op::Cast(dtype), &[x]) }
    }

    pub fn bitcast(&mut self, x: NodeId, dtype: DType) -> Lowered<NodeId> {
        if self.dtype(x) == dtype { Ok(x) } else { self.push(Op::Bitcast(dtype), &[x]) }
    }

    pub fn reshape(&mut self, x: NodeId, shape: &Shape) -> Lowered<NodeId> {
        if self.shape(x) == shape { Ok(x) } else { self.push(Op::Reshape(shape.clone()), &[x]) }
    }

    pub fn broadcast(&mut self, x: NodeId, shape: &Shape) -> Lowered<NodeId> {
        if self.shape(x) == shape { Ok(x) } else { self.push(Op::Broadcast(shape.clone()), &[x]) }
    }

    pub fn permute(&mut self, x: NodeId, axes: &[usize]) -> Lowered<NodeId> {
        if axes.len() == self.shape(x).rank() && axes.iter().enumerate().all(|(i, &axis)| i == axis)
        {
            return Ok(x);
        }
        self.push(Op::Permute(Axes::from_slice(axes)), &[x])
    }

    pub fn slice(&mut self, x: NodeId, slices: &[SliceAxis]) -> Lowered<NodeId> {
        let shape = self.shape(x);
        if slices.len() == shape.rank()
            && slices.iter().zip(shape.iter()).all(|(s, &extent)| *s == SliceAxis::full(extent))
        {
            return Ok(x);
        }
        self.push(Op::Slice(SmallVec::from_slice(slices)), &[x])
    }

    /// A slice along one axis.
    pub fn slice_axis(&mut self, x: NodeId, axis: usize, slice: SliceAxis) -> Lowered<NodeId> {
        let mut slices: SmallVec<[SliceAxis; 4]> =
            self.shape(x).iter().map(|&extent| SliceAxis::full(extent)).collect();
        slices[axis] = slice;
        self.slice(x, &slices)
    }

    pub fn iota(&mut self, axis: usize, shape: &Shape, dtype: DType) -> Lowered<NodeId> {
        self.push(Op::Iota { axis, shape: shape.clone(), dtype }, &[])
    }

    /// The concatenation of operands along an axis.
    pub fn concat(&mut self, operands: &[NodeId], axis: usize) -> Lowered<NodeId> {
        match operands {
            [only] => Ok(*only),
            _ => self.push(Op::Concat { axis }, operands),
        }
    }

    /// Imports the nodes that `append` adds to a scratch graph with these operands.
    pub fn compose(
        &mut self,
        operands: &[NodeId],
        append: impl FnOnce(&mut Graph, &[NodeId]) -> Result<NodeId, ComposeError>,
    ) -> Lowered<NodeId> {
        let mut graph = Graph::default();
        // Scalars stay scalars, so that `append` can inspect their values.
        let inputs: Vec<NodeId> = operands
            .iter()
            .map(|&operand| match self.entries[operand as usize].scalar {
                Some(value) => graph.scalar(value),
                None => graph.input(self.shape(operand).clone(), self.dtype(operand)),
            })
            .collect();
        let result = append(&mut graph, &inputs)?;
        let mut nodes: Vec<NodeId> = Vec::with_capacity(graph.nodes.len());
        let mut scalars = graph.scalars.into_iter();
        for (i, node) in graph.nodes.into_iter().enumerate() {
            let scalar =
                (node.op == Op::Scalar).then(|| scalars.next().expect("one value per scalar"));
            let given = inputs.iter().position(|&input| input as usize == i);
            let own: SmallVec<[NodeId; 3]> =
                node.inputs.iter().map(|&input| nodes[input as usize]).collect();
            nodes.push(match (given, node.op) {
                (Some(operand), _) => operands[operand],
                (None, Op::Dot(axes)) => contraction::push_dot(self, own[0], own[1], axes)?,
                (None, op) => {
                    let (shape, dtype) = (node.shape, node.dtype);
                    self.intern(Entry { op, inputs: own, shape, dtype, scalar, source: None })
                }
            });
        }
        Ok(nodes[result as usize])
    }

    /// Adds a step, and input nodes for its results.
    pub fn step(
        &mut self,
        action: Action,
        inputs: Vec<NodeId>,
        results: Vec<(Shape, DType)>,
        location: Location,
        has_effect: bool,
    ) -> Vec<NodeId> {
        let step = self.steps.len();
        let results: Vec<NodeId> = results
            .into_iter()
            .enumerate()
            .map(|(index, (shape, dtype))| self.input(Source::Result { step, index }, shape, dtype))
            .collect();
        let nodes = results.clone();
        self.steps.push(PendingStep { action, inputs, results, location, has_effect });
        nodes
    }
}
