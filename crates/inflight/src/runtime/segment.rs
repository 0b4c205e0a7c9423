//! Segment submission: extracts a segment (the part of the recorded graph that the requested values need) as a flat
//! `Graph` and submits it to the dispatcher.
//!
//! The choice of materialized values, which are stored to memory, is made here, on the submitting thread. It
//! depends only on the program and on live handles, never on the device's progress, so results are deterministic.

use super::Device;
use super::device::DeviceStream;
use super::dispatcher::{Segment, SegmentBody, Submission};
use super::value::Value;
use crate::tensor::{Inputs, Node};
use inflight_backend::{LabelOp, SourceLocation};
use inflight_ir::BinaryOp;
use inflight_ir::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which live values to materialize, besides the requested ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Materialize {
    /// Values that are more expensive to recompute than to store.
    WorthStoring,
    /// All live values.
    AllLive,
}

/// Operands of nodes that this submission scheduled.
type Released = SmallVec<[Inputs; 2]>;

/// Submits a segment that computes `requested`, and those of `live` that `materialize` selects, on a stream.
pub(crate) fn submit(
    device: &Device,
    stream: &Arc<DeviceStream>,
    requested: &[Arc<Node>],
    live: &[Arc<Node>],
    materialize: Materialize,
    assisted: bool,
) {
    let mut released = Released::new();
    let _scheduling = device.scheduling().lock();
    let mut builder = SegmentBuilder::new();
    for node in requested {
        builder.request(node);
    }
    builder.visit_outputs();
    // Latest first, so that their operands are already known to be computed by this segment.
    let is_requested =
        |node: &Arc<Node>| requested.iter().any(|requested| Arc::ptr_eq(requested, node));
    for node in live.iter().rev().filter(|node| !is_requested(node)) {
        if materialize == Materialize::AllLive && !node.is_constant()
            || builder.is_worth_storing(node)
        {
            builder.request(node);
            builder.visit_outputs();
        }
    }
    if builder.outputs.is_empty() {
        builder.alias_reshapes(&mut released);
        return;
    }
    device.dispatcher().submit(assisted, |dispatched| {
        // All segments weigh the same on a device that shares the host's cores: submitting further ahead would only
        // compete with the computation.
        let weight = match device.capabilities().host_visible {
            true => Submission::DEFAULT_WEIGHT,
            false => builder.weight(),
        };
        let submission = Submission::new(dispatched, weight);
        let segment = builder.finish(stream, &submission, &mut released);
        stream.track(submission);
        segment
    });
    // The scheduling lock is released before `released`: dropping operands may free whole subgraphs.
}

/// Returns the graph that reading these nodes would submit, with the op and source location of each node. Submits
/// nothing.
pub(crate) fn preview(requested: &[Arc<Node>]) -> (Graph, Vec<LabelOp>) {
    let mut devices: Vec<&Device> = requested.iter().map(|node| node.device()).collect();
    // Lock order by address prevents deadlocks between threads that lock several devices.
    devices.sort_unstable_by_key(|device| device.address());
    devices.dedup_by_key(|device| device.address());
    let _scheduling: Vec<_> = devices.iter().map(|device| device.scheduling().lock()).collect();
    let mut builder = SegmentBuilder::new();
    for node in requested {
        builder.request(node);
    }
    builder.visit_outputs();
    let outputs = builder.outputs.iter().map(|node| builder.position(node));
    builder.graph.outputs = outputs.collect();
    (builder.graph, builder.labels)
}

/// Cost of recomputing a value, relative to storing and loading it.
#[derive(PartialEq, Eq)]
enum RecomputeCost {
    /// At most the cost of storing: never materialized unless requested.
    Free,
    /// A few times the cost of storing: materialized when it would be computed a second time. Temporaries of an
    /// expression, which are alive at submission but never read, are therefore not stored.
    Affordable,
    /// Much more than storing: materialized at once.
    Expensive,
}

/// Estimates the recompute cost of a recorded value from bytes loaded, plus compute expressed as equivalent bytes.
fn recompute_cost(node: &Arc<Node>) -> RecomputeCost {
    const MAX_VISITED_NODES: usize = 64;
    const AFFORDABLE_FACTOR: usize = 8;
    let mut work = 0;
    let mut largest = node.element_count();
    let mut stack: SmallVec<[Arc<Node>; 8]> = SmallVec::new();
    let mut seen: SmallVec<[*const Node; 64]> = SmallVec::new();
    let mut leaves: SmallVec<[Arc<Node>; 8]> = SmallVec::new();
    stack.push(node.clone());
    while let Some(node) = stack.pop() {
        if seen.contains(&Arc::as_ptr(&node)) || node.is_constant() {
            continue;
        }
        seen.push(Arc::as_ptr(&node));
        if seen.len() > MAX_VISITED_NODES {
            return RecomputeCost::Expensive;
        }
        if node.value().is_some() {
            leaves.push(node);
            continue;
        }
        largest = largest.max(node.element_count());
        // Four units of work take about as long as one byte of memory traffic.
        work += match node.op() {
            Op::Unary(op) if op.is_transcendental() => 16 * node.element_count(),
            Op::Binary(BinaryOp::Pow | BinaryOp::Atan2) => 32 * node.element_count(),
            Op::Dot(_) | Op::Scatter { .. } | Op::Scan { .. } => return RecomputeCost::Expensive,
            op if op.is_routine() => return RecomputeCost::Expensive,
            op if op.is_view() => 0,
            _ => node.element_count(),
        };
        stack.extend(node.inputs().iter().cloned());
    }
    // A view loads at most as many elements of a value as the view itself has.
    let read: usize =
        leaves.iter().map(|leaf| leaf.bytes().min(largest * leaf.dtype().size())).sum();
    let (recompute, store) = (read + work / 4, 2 * node.bytes());
    match recompute {
        recompute if recompute <= store => RecomputeCost::Free,
        recompute if recompute <= AFFORDABLE_FACTOR * store => RecomputeCost::Affordable,
        _ => RecomputeCost::Expensive,
    }
}

/// Generates traversal ids, which tag visited nodes.
static TRAVERSALS: AtomicU64 = AtomicU64::new(1);

/// Initial capacity: most segments have no more nodes than this.
const TYPICAL_NODES: usize = 12;

/// Builds the flat graph of a segment.
struct SegmentBuilder {
    traversal: u64,
    outputs: SmallVec<[Arc<Node>; 4]>,
    /// Reshapes that share their operand's memory, each with its operand.
    aliased_reshapes: Vec<(Arc<Node>, Arc<Node>)>,
    /// Number of outputs whose operands are already in the graph.
    visited_outputs: usize,
    graph: Graph,
    inputs: Vec<Arc<Value>>,
    labels: Vec<LabelOp>,
    /// Nodes that the graph computes.
    computed: SmallVec<[Arc<Node>; 8]>,
}

impl SegmentBuilder {
    /// Creates an empty builder. The caller holds the scheduling lock of the nodes' device for the builder's
    /// lifetime.
    fn new() -> SegmentBuilder {
        SegmentBuilder {
            traversal: TRAVERSALS.fetch_add(1, Ordering::Relaxed),
            outputs: SmallVec::new(),
            aliased_reshapes: Vec::new(),
            visited_outputs: 0,
            graph: Graph { nodes: Vec::with_capacity(TYPICAL_NODES), ..Graph::default() },
            inputs: Vec::new(),
            labels: Vec::with_capacity(TYPICAL_NODES),
            computed: SmallVec::new(),
        }
    }

    /// Graph id of a node that is already in the graph.
    fn position(&self, node: &Node) -> NodeId {
        node.position_in(self.traversal).expect("operands and outputs are in the graph")
    }

    /// Whether a live value that was not requested should be materialized.
    fn is_worth_storing(&self, node: &Arc<Node>) -> bool {
        if node.value().is_some() {
            return false;
        }
        match recompute_cost(node) {
            RecomputeCost::Free => false,
            RecomputeCost::Expensive => true,
            // Already computed by this segment as an intermediate: defer until it is read. Otherwise start it now.
            RecomputeCost::Affordable => {
                node.position_in(self.traversal).is_none() || node.was_computed()
            }
        }
    }

    /// Requests a node's value as an output.
    fn request(&mut self, node: &Arc<Node>) {
        if node.value().is_some() || node.error().is_some() {
            return;
        }
        // A reshape shares its operand's memory.
        if matches!(node.op(), Op::Reshape(_)) {
            let operand = node.inputs()[0].clone();
            if !operand.is_constant() {
                self.request(&operand);
                self.aliased_reshapes.push((node.clone(), operand));
                return;
            }
        }
        if !self.outputs.iter().any(|known| Arc::ptr_eq(known, node)) {
            self.outputs.push(node.clone());
        }
    }

    /// Appends the outputs and everything they need, operands first (post-order).
    fn visit_outputs(&mut self) {
        // The traversal may add live bases to `outputs`.
        while self.visited_outputs < self.outputs.len() {
            let root = self.outputs[self.visited_outputs].clone();
            self.visited_outputs += 1;
            let mut stack = SmallVec::<[(Arc<Node>, bool); 16]>::new();
            stack.push((root, false));
            while let Some((node, operands_done)) = stack.pop() {
                if node.position_in(self.traversal).is_some() {
                    continue;
                }
                if operands_done || node.value().is_some() {
                    self.append(&node);
                    continue;
                }
                let inputs = node.inputs();
                stack.push((node.clone(), true));
                for input in inputs.iter().rev() {
                    stack.push((input.clone(), false));
                }
                if node.op().is_routine() {
                    for input in inputs.iter() {
                        self.request_live_base(input);
                    }
                }
            }
        }
    }

    /// Materializes the live base of an operand that a routine loads from memory, so that later readers can use it
    /// too.
    fn request_live_base(&mut self, operand: &Arc<Node>) {
        let mut base = operand.clone();
        while base.value().is_none() && base.op().is_view() {
            if base.is_live() {
                break;
            }
            let inner = base.inputs()[0].clone();
            base = inner;
        }
        if base.value().is_none() && base.is_live() && !base.is_constant() && !base.op().is_view() {
            self.request(&base);
        }
    }

    fn append(&mut self, node: &Arc<Node>) {
        let id = match node.value() {
            Some(value) => {
                self.inputs.push(value.clone());
                self.graph.input(node.shape().clone(), node.dtype())
            }
            None => match node.constant() {
                Some(value) => self.graph.scalar(value),
                None => {
                    self.computed.push(node.clone());
                    let inputs: SmallVec<[NodeId; 3]> =
                        node.inputs().iter().map(|input| self.position(input)).collect();
                    self.graph.append(
                        node.op().clone(),
                        &inputs,
                        node.shape().clone(),
                        node.dtype(),
                    )
                }
            },
        };
        self.labels.push(LabelOp {
            name: node.op().name(),
            method: node.method(),
            location: SourceLocation::Caller(node.location()),
        });
        node.set_position_in(self.traversal, id);
    }

    /// The segment's back-pressure weight.
    fn weight(&self) -> usize {
        const MAX_LIGHT_NODES: usize = 16;
        const MAX_LIGHT_BYTES: usize = 1 << 20;
        let nodes = &self.graph.nodes;
        let bytes = nodes.iter().map(|node| node.shape.element_count() * node.dtype.size());
        match nodes.len() <= MAX_LIGHT_NODES && bytes.sum::<usize>() <= MAX_LIGHT_BYTES {
            true => Submission::LIGHT_WEIGHT,
            false => Submission::DEFAULT_WEIGHT,
        }
    }

    /// Assigns a value to every output and builds the segment.
    fn finish(
        mut self,
        stream: &Arc<DeviceStream>,
        submission: &Arc<Submission>,
        released: &mut Released,
    ) -> Segment {
        self.computed.iter().for_each(|node| node.note_computed());
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for node in &self.outputs {
            let value = Value::scheduled(node.bytes(), submission.dispatched.clone());
            self.graph.outputs.push(self.position(node));
            outputs.push(value.clone());
            released.push(node.realize(value));
        }
        self.alias_reshapes(released);
        Segment {
            body: SegmentBody::Recorded(self.graph),
            inputs: self.inputs,
            donated: Vec::new(),
            outputs,
            labels: self.labels.into(),
            stream: stream.clone(),
            submission: submission.clone(),
        }
    }

    /// Makes reshapes share their operand's value.
    fn alias_reshapes(&mut self, released: &mut Released) {
        // Inner reshapes come first.
        for (node, operand) in std::mem::take(&mut self.aliased_reshapes) {
            if let (None, Some(value)) = (node.value(), operand.value()) {
                released.push(node.realize(value.clone()));
            }
        }
    }
}
