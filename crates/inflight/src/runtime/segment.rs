//! Takes a part out of the recorded graph and submits it.
//!
//! Which values are written is decided here, on the thread that submits, from the program and the handles
//! that are alive: never from how far a device has come.

use super::Device;
use super::device::DeviceStream;
use super::dispatcher::{Content, Segment, Submission};
use super::value::Value;
use crate::tensor::{Inputs, Node};
use inflight_backend::{LabelOp, SourceLocation};
use inflight_ir::BinaryOp;
use inflight_ir::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which live values are written, beside those that are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Those that are dearer to compute again than to store.
    WorthStoring,
    /// All of them.
    EveryLive,
}

/// The operands of nodes that were scheduled.
type Released = SmallVec<[Inputs; 2]>;

/// Schedules `wanted`, and of `live` what `choice` says, on a stream.
pub(crate) fn submit(
    device: &Device,
    stream: &Arc<DeviceStream>,
    wanted: &[Arc<Node>],
    live: &[Arc<Node>],
    choice: Choice,
    assisted: bool,
) {
    let mut released = Released::new();
    let _scheduling = device.scheduling().lock();
    let mut builder = Builder::new();
    for node in wanted {
        builder.want(node);
    }
    builder.walk();
    // The latest first: what they are computed from is then known to be computed on the way.
    let is_wanted = |node: &Arc<Node>| wanted.iter().any(|wanted| Arc::ptr_eq(wanted, node));
    for node in live.iter().rev().filter(|node| !is_wanted(node)) {
        if choice == Choice::EveryLive && !node.is_constant() || builder.is_worth_storing(node) {
            builder.want(node);
            builder.walk();
        }
    }
    if builder.outputs.is_empty() {
        builder.share(&mut released);
        return;
    }
    device.dispatcher().submit(assisted, |dispatched| {
        // Where the host computes, whoever submits more only takes its time.
        let weight = match device.capabilities().host_visible {
            true => Submission::WEIGHT,
            false => builder.weight(),
        };
        let submission = Submission::new(dispatched, weight);
        let segment = builder.finish(stream, &submission, &mut released);
        stream.note(submission);
        segment
    });
    // `released` holds the operands of nodes that are scheduled now: they go after the lock does.
}

/// The graph that reading these nodes would submit, and the op and line of each of its nodes. Nothing is
/// scheduled.
pub(crate) fn preview(wanted: &[Arc<Node>]) -> (Graph, Vec<LabelOp>) {
    let mut devices: Vec<&Device> = wanted.iter().map(|node| node.device()).collect();
    // Whoever locks several does so in the same order.
    devices.sort_unstable_by_key(|device| device.address());
    devices.dedup_by_key(|device| device.address());
    let _scheduling: Vec<_> = devices.iter().map(|device| device.scheduling().lock()).collect();
    let mut builder = Builder::new();
    for node in wanted {
        builder.want(node);
    }
    builder.walk();
    let outputs = builder.outputs.iter().map(|node| builder.position(node));
    builder.graph.outputs = outputs.collect();
    (builder.graph, builder.labels)
}

/// What computing a value again costs, against storing and reading it.
#[derive(PartialEq, Eq)]
enum Recomputing {
    /// No more than storing it. It never need be stored.
    Free,
    /// A few times as much. It is stored when it is computed for the second time: temporaries of an
    /// expression, which are alive when its end is read but never looked at, are not stored at all.
    Affordable,
    /// Much more. It is stored at once.
    Expensive,
}

/// Weighs a recorded value by counted bytes, and by work in bytes that could be moved in the same time.
fn weigh(node: &Arc<Node>) -> Recomputing {
    const MOST_NODES: usize = 64;
    const AFFORDABLE: usize = 8;
    let mut work = 0;
    let mut largest = node.elements();
    let mut stack: SmallVec<[Arc<Node>; 8]> = SmallVec::new();
    let mut seen: SmallVec<[*const Node; 64]> = SmallVec::new();
    let mut leaves: SmallVec<[Arc<Node>; 8]> = SmallVec::new();
    stack.push(node.clone());
    while let Some(node) = stack.pop() {
        if seen.contains(&Arc::as_ptr(&node)) || node.is_constant() {
            continue;
        }
        seen.push(Arc::as_ptr(&node));
        if seen.len() > MOST_NODES {
            return Recomputing::Expensive;
        }
        if node.value().is_some() {
            leaves.push(node);
            continue;
        }
        largest = largest.max(node.elements());
        // Four for each byte that could be moved instead.
        work += match node.op() {
            Op::Unary(op) if op.is_transcendental() => 16 * node.elements(),
            Op::Binary(BinaryOp::Pow | BinaryOp::Atan2) => 32 * node.elements(),
            Op::Dot(_) | Op::Scatter { .. } | Op::Scan { .. } => return Recomputing::Expensive,
            op if op.is_routine() => return Recomputing::Expensive,
            op if op.is_view() => 0,
            _ => node.elements(),
        };
        stack.extend(node.inputs().iter().cloned());
    }
    // A view reads no more of a value than it has elements itself.
    let read: usize =
        leaves.iter().map(|leaf| leaf.bytes().min(largest * leaf.dtype().size())).sum();
    let (again, store) = (read + work / 4, 2 * node.bytes());
    match again {
        again if again <= store => Recomputing::Free,
        again if again <= AFFORDABLE * store => Recomputing::Affordable,
        _ => Recomputing::Expensive,
    }
}

/// Tells walks through recorded graphs apart.
static WALKS: AtomicU64 = AtomicU64::new(1);

/// How many nodes most segments have no more than.
const SMALL: usize = 12;

/// Builds the flat graph of a segment.
struct Builder {
    walk: u64,
    outputs: SmallVec<[Arc<Node>; 4]>,
    /// Reshapes that share the value of what they reshape, and that.
    shared: Vec<(Arc<Node>, Arc<Node>)>,
    /// How many of the outputs the graph holds, with all they need.
    walked: usize,
    graph: Graph,
    inputs: Vec<Arc<Value>>,
    labels: Vec<LabelOp>,
    /// The nodes that the graph computes.
    computed: SmallVec<[Arc<Node>; 8]>,
}

impl Builder {
    /// Nothing yet. The scheduling lock of the nodes' device is held as long as this exists.
    fn new() -> Builder {
        Builder {
            walk: WALKS.fetch_add(1, Ordering::Relaxed),
            outputs: SmallVec::new(),
            shared: Vec::new(),
            walked: 0,
            graph: Graph { nodes: Vec::with_capacity(SMALL), ..Graph::default() },
            inputs: Vec::new(),
            labels: Vec::with_capacity(SMALL),
            computed: SmallVec::new(),
        }
    }

    /// The position of a node that the graph holds.
    fn position(&self, node: &Node) -> NodeId {
        node.position_in(self.walk).expect("operands and outputs are in the graph")
    }

    /// Whether a live value that nobody asked for should be stored.
    fn is_worth_storing(&self, node: &Arc<Node>) -> bool {
        if node.value().is_some() {
            return false;
        }
        match weigh(node) {
            Recomputing::Free => false,
            Recomputing::Expensive => true,
            // Computed on the way to something else, it may wait to be asked for; computed for itself,
            // it is best started now.
            Recomputing::Affordable => node.position_in(self.walk).is_none() || node.was_computed(),
        }
    }

    /// Asks for a node's value.
    fn want(&mut self, node: &Arc<Node>) {
        if node.value().is_some() || node.error().is_some() {
            return;
        }
        // Another shape over the same elements is the same memory.
        if matches!(node.op(), Op::Reshape(_)) {
            let operand = node.inputs()[0].clone();
            if !operand.is_constant() {
                self.want(&operand);
                self.shared.push((node.clone(), operand));
                return;
            }
        }
        if !self.outputs.iter().any(|known| Arc::ptr_eq(known, node)) {
            self.outputs.push(node.clone());
        }
    }

    /// Puts the outputs and all they need into the graph, operands first.
    fn walk(&mut self) {
        // The walk may find that more live values are best written.
        while self.walked < self.outputs.len() {
            let root = self.outputs[self.walked].clone();
            self.walked += 1;
            let mut stack = SmallVec::<[(Arc<Node>, bool); 16]>::new();
            stack.push((root, false));
            while let Some((node, operands_done)) = stack.pop() {
                if node.position_in(self.walk).is_some() {
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
                        self.want_live_base(input);
                    }
                }
            }
        }
    }

    /// A live value that is read from memory only is written for its later readers too.
    fn want_live_base(&mut self, operand: &Arc<Node>) {
        let mut base = operand.clone();
        while base.value().is_none() && base.op().is_view() {
            if base.is_live() {
                break;
            }
            let inner = base.inputs()[0].clone();
            base = inner;
        }
        if base.value().is_none() && base.is_live() && !base.is_constant() && !base.op().is_view() {
            self.want(&base);
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
        node.set_position_in(self.walk, id);
    }

    /// What the segment weighs in flight.
    fn weight(&self) -> usize {
        const FEW: usize = 16;
        const SMALL: usize = 1 << 20;
        let nodes = &self.graph.nodes;
        let bytes = nodes.iter().map(|node| node.shape.elements() * node.dtype.size());
        match nodes.len() <= FEW && bytes.sum::<usize>() <= SMALL {
            true => Submission::LIGHT,
            false => Submission::WEIGHT,
        }
    }

    /// Gives every output its value and makes the segment.
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
        self.share(released);
        Segment {
            content: Content::Recorded(self.graph),
            inputs: self.inputs,
            donated: Vec::new(),
            outputs,
            labels: self.labels.into(),
            stream: stream.clone(),
            submission: submission.clone(),
        }
    }

    /// Lets reshapes share the value of what they reshape.
    fn share(&mut self, released: &mut Released) {
        // Inner reshapes were pushed before the ones around them.
        for (node, operand) in std::mem::take(&mut self.shared) {
            if let (None, Some(value)) = (node.value(), operand.value()) {
                released.push(node.realize(value.clone()));
            }
        }
    }
}
