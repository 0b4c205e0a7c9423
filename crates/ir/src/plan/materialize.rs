//! Materialization decisions: which values are stored to memory.
//!
//! A value is materialized if it is an output, if an op can only read or write it in memory, or if recomputing it in
//! each fused consumer costs more than a store and loads. Costs are in bytes moved; expensive arithmetic counts as
//! the bytes that could be moved in the same time.

use super::Reason;
use super::gemm::{reads_in_place, resolve_alias};
use crate::BinaryOp;
use crate::graph::{Graph, Node, NodeId, Op};
use smallvec::SmallVec;

/// For each node of a graph, whether its value is materialized.
pub type MaterializedSet = Vec<bool>;

/// The materialized values, with reasons.
pub struct Materialization {
    /// The decision for each node.
    pub materialized: MaterializedSet,
    /// The reason for each materialized node.
    pub reasons: Vec<Option<Reason>>,
    /// Values that are materialized only to end a long chain: other groups must not fuse them.
    pub chain_breaks: Vec<NodeId>,
}

/// A concatenation of more operands than this is written in parts, one kernel for each operand.
pub const MAX_FUSED_CONCAT: usize = 4;

impl Materialization {
    /// Materializes a value. The first reason stays.
    pub fn add(&mut self, node: NodeId, reason: Reason) {
        self.materialized[node as usize] = true;
        self.reasons[node as usize].get_or_insert(reason);
    }
}

/// Decides for every node. `select_operands` are operands of scatters that were rewritten as selects: a fused select
/// reads each of their elements several times.
pub fn decide_materialization(graph: &Graph, select_operands: &[NodeId]) -> Materialization {
    let count = graph.nodes.len();
    let mut materialization = Materialization {
        materialized: vec![false; count],
        reasons: vec![None; count],
        chain_breaks: Vec::new(),
    };
    for &output in &graph.outputs {
        materialization.add(output, Reason::Requested);
    }
    for (id, node) in graph.nodes.iter().enumerate() {
        if always_materialized(node) {
            materialization.add(id as NodeId, reason_of_op(&node.op));
        }
    }
    for node in &graph.nodes {
        if node.op.is_routine() {
            for &operand in &node.inputs {
                materialization.add(operand, Reason::RoutineOperand);
            }
        } else if matches!(node.op, Op::Dot(_)) {
            for &operand in &node.inputs {
                let base =
                    operand_to_materialize(graph, &mut materialization.materialized, operand);
                materialization.add(base, Reason::GemmOperand);
            }
        }
    }
    break_long_chains(graph, &mut materialization);
    materialize_before_windows(graph, &mut materialization);
    materialize_select_operands(graph, select_operands, &mut materialization);
    materialize_before_broadcasts(graph, &mut materialization);
    materialize_shared(graph, &mut materialization);
    materialization
}

fn reason_of_op(op: &Op) -> Reason {
    match op {
        Op::Dot(_) => Reason::Gemm,
        op if op.is_routine() => Reason::Routine,
        Op::Scatter { .. } => Reason::Scatter,
        Op::Scan { .. } => Reason::Scan,
        _ => Reason::PartialWrites,
    }
}

/// The value to materialize so that a GEMM can read an operand: the base of its view; or the view itself, if it
/// cannot be read as strides, so that nothing is stored twice.
fn operand_to_materialize(
    graph: &Graph,
    materialized: &mut MaterializedSet,
    operand: NodeId,
) -> NodeId {
    let base = view_base(graph, materialized, operand);
    if base == operand || materialized[base as usize] {
        return base;
    }
    materialized[base as usize] = true;
    let in_place = reads_in_place(graph, materialized, operand);
    materialized[base as usize] = false;
    if in_place { base } else { resolve_alias(graph, operand) }
}

/// The value to materialize so that `node` can be read in place: the base of its view, unless a slice takes only part
/// of an unmaterialized base.
fn view_base(graph: &Graph, materialized: &MaterializedSet, node: NodeId) -> NodeId {
    let mut base = node;
    loop {
        let view = graph.node(base);
        if materialized[base as usize] || !view.op.is_view() {
            return base;
        }
        let operand = view.inputs[0];
        let partial = matches!(view.op, Op::Slice(_)) && !materialized[operand as usize];
        if partial || graph.node(operand).op == Op::Scalar {
            return base;
        }
        base = operand;
    }
}

/// Whether the result of an op is always materialized, because no kernel can compute it for a consumer.
pub fn always_materialized(node: &Node) -> bool {
    match &node.op {
        Op::Input | Op::Dot(_) | Op::Scatter { .. } | Op::Scan { .. } => true,
        Op::Concat { .. } => node.inputs.len() > MAX_FUSED_CONCAT,
        Op::Pad(axes) => axes.iter().any(|axis| axis.interior > 0),
        Op::Assign(axes) => axes.iter().any(|axis| axis.step.abs() != 1),
        op => op.is_routine(),
    }
}

/// Whether a materialized value is an alias: a reshape that shares the memory of its operand.
pub fn is_alias(graph: &Graph, node: NodeId) -> bool {
    let data = graph.node(node);
    matches!(data.op, Op::Reshape(_)) && graph.node(data.inputs[0]).op != Op::Scalar
}

/// The maximum length of a chain of fused ops, after which a value is materialized. It bounds the size of kernels,
/// which keeps compilation fast, and the recursion depth of lowering.
const MAX_CHAIN_LENGTH: usize = 128;

fn break_long_chains(graph: &Graph, materialization: &mut Materialization) {
    let mut lengths = vec![0; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        let operands = node.inputs.iter().map(|&input| lengths[input as usize]);
        let length = operands.max().unwrap_or(0) + 1;
        let alias = is_alias(graph, id as NodeId);
        if length > MAX_CHAIN_LENGTH && !alias {
            materialization.add(id as NodeId, Reason::LongChain);
            materialization.chain_breaks.push(id as NodeId);
            continue;
        }
        // A value materialized for other reasons may still be fused, so the chain continues through it.
        lengths[id] = if always_materialized(node) { 0 } else { length };
    }
}

/// A value of at least this many fused ops is materialized instead of recomputed in each of several windows.
const MAX_OPS_PER_WINDOW_READ: usize = 6;

/// Materializes expensive values that are read through overlapping windows: a producer fused with a window is
/// recomputed for each window that covers an element.
fn materialize_before_windows(graph: &Graph, materialization: &mut Materialization) {
    let is_overlapping = |node: &Node| {
        matches!(node.op, Op::Windows(_))
            && node.shape.element_count() > graph.node(node.inputs[0]).shape.element_count()
    };
    if !graph.nodes.iter().any(is_overlapping) {
        return;
    }
    // The number of fused ops between each value and memory, counting repeated computation.
    let mut ops: Vec<usize> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        if is_overlapping(node) {
            let mut base = node.inputs[0];
            while !materialization.materialized[base as usize] {
                let data = graph.node(base);
                if !data.op.is_view() && !matches!(data.op, Op::Pad(_)) {
                    break;
                }
                base = data.inputs[0];
            }
            if ops[base as usize] >= MAX_OPS_PER_WINDOW_READ {
                materialization.add(base, Reason::OverlappingWindows);
                ops[base as usize] = 0;
            }
        }
        let own = match &node.op {
            Op::Scalar | Op::Iota { .. } | Op::Input => 0,
            Op::Gather { .. } => 4,
            op if op.is_view() => 0,
            _ => 1,
        };
        let operands = node.inputs.iter().map(|&input| ops[input as usize]);
        ops.push(match materialization.materialized[id] {
            true => 0,
            false => operands.fold(own, usize::saturating_add),
        });
    }
}

/// An operand of at least this many fused ops is materialized instead of recomputed along the axis of a select.
const MAX_OPS_PER_SELECT: usize = 6;

/// Materializes the expensive operands of scatters rewritten as selects.
fn materialize_select_operands(
    graph: &Graph,
    select_operands: &[NodeId],
    materialization: &mut Materialization,
) {
    if select_operands.is_empty() {
        return;
    }
    // The number of fused ops between each value and memory; `None` for uniform values, which are computed once.
    let mut ops: Vec<Option<usize>> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        let operands = || node.inputs.iter().map(|&input| ops[input as usize]);
        let own = match &node.op {
            Op::Scalar => None,
            Op::Input | Op::Iota { .. } | Op::Reduce { .. } | Op::ArgReduce { .. } => Some(0),
            _ if materialization.materialized[id] => Some(0),
            _ if operands().all(|operand| operand.is_none()) => None,
            op => {
                let own = match op {
                    Op::Gather { .. } => 4,
                    op if op.is_view() => 0,
                    _ if node_work(node) > 0 => MAX_OPS_PER_SELECT,
                    Op::Binary(BinaryOp::Div | BinaryOp::Rem) if !node.dtype.is_float() => {
                        MAX_OPS_PER_SELECT
                    }
                    _ => 1,
                };
                Some(operands().flatten().fold(own, usize::saturating_add))
            }
        };
        ops.push(own);
    }
    for &node in select_operands {
        // Look through views to the value before a broadcast of its own.
        let mut base = node;
        while graph.node(base).op.is_view() && !materialization.materialized[base as usize] {
            let operand = graph.node(base).inputs[0];
            if graph.node(operand).shape.element_count() > graph.node(base).shape.element_count() {
                break;
            }
            base = operand;
        }
        if ops[base as usize].is_some_and(|ops| ops >= MAX_OPS_PER_SELECT) {
            materialization.add(base, Reason::SelectOperand);
        }
    }
}

/// Broadcasts by a smaller factor than this do not materialize their operand.
const MIN_BROADCAST_FACTOR: usize = 16;

/// Nor do broadcasts to fewer elements than this, or whose recomputation costs less than moving
/// [`MIN_RECOMPUTE_BYTES`].
const MIN_BROADCAST_ELEMENTS: usize = 1 << 18;
const MIN_RECOMPUTE_BYTES: usize = 8 << 20;

/// Materializes transcendental values before they are broadcast to many elements: a kernel may recompute its fused
/// operands at each point. An example is the scalar `1 - β^step` of Adam.
fn materialize_before_broadcasts(graph: &Graph, materialization: &mut Materialization) {
    let is_large = |node: &Node| {
        let elements = node.shape.element_count();
        matches!(node.op, Op::Broadcast(_))
            && elements >= MIN_BROADCAST_ELEMENTS
            && elements / MIN_BROADCAST_FACTOR >= graph.node(node.inputs[0]).shape.element_count()
    };
    if !graph.nodes.iter().any(is_large) {
        return;
    }
    let mut recompute: Vec<RecomputeCost> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        if is_large(node) {
            let base = view_base(graph, &materialization.materialized, node.inputs[0]);
            if let RecomputeCost::Bytes(each) = recompute[base as usize]
                && each.saturating_mul(node.shape.element_count()) >= MIN_RECOMPUTE_BYTES
            {
                materialization.add(base, Reason::Broadcast);
                // Its consumers cost less now, because they load it.
                for later in base as usize..id {
                    recompute[later] =
                        RecomputeCost::of(graph, &materialization.materialized, &recompute, later);
                }
            }
        }
        recompute.push(RecomputeCost::of(graph, &materialization.materialized, &recompute, id));
    }
}

/// The cost of recomputing an element of a value from values in memory.
#[derive(Clone, Copy, PartialEq)]
enum RecomputeCost {
    /// None: the value is uniform, and computed once.
    Uniform,
    /// The value depends on a reduction, so it is computed once for each row, where the reduction ends.
    AfterReduction,
    /// Transcendental functions, as the bytes that could be moved in the same time.
    Bytes(usize),
}

impl RecomputeCost {
    /// The cost of a node, given the costs of the nodes before it.
    fn of(
        graph: &Graph,
        materialized: &MaterializedSet,
        before: &[RecomputeCost],
        node: usize,
    ) -> RecomputeCost {
        let data = &graph.nodes[node];
        let operands = || data.inputs.iter().map(|&input| before[input as usize]);
        match &data.op {
            _ if materialized[node] => RecomputeCost::Bytes(0),
            Op::Scalar => RecomputeCost::Uniform,
            Op::Reduce { .. } | Op::ArgReduce { .. } => RecomputeCost::AfterReduction,
            _ if operands().any(|operand| operand == RecomputeCost::AfterReduction) => {
                RecomputeCost::AfterReduction
            }
            _ if !data.inputs.is_empty()
                && operands().all(|operand| operand == RecomputeCost::Uniform) =>
            {
                RecomputeCost::Uniform
            }
            op => RecomputeCost::Bytes(operands().fold(work_per_element(op), |sum, operand| {
                match operand {
                    RecomputeCost::Bytes(bytes) => sum.saturating_add(bytes),
                    _ => sum,
                }
            })),
        }
    }
}

/// The cost of a transcendental function, as the bytes that could be moved in the same time.
const TRANSCENDENTAL_BYTES: usize = 2;

/// The cost of computing a value from values in memory.
#[derive(Clone, Default)]
struct FusedCost {
    /// The values it loads. Beyond [`Self::MAX_LOADS`], the value is too expensive to recompute.
    loads: SmallVec<[NodeId; 8]>,
    /// Arithmetic, as the bytes that could be moved in the same time.
    work: usize,
}

impl FusedCost {
    const MAX_LOADS: usize = 8;

    fn bytes(&self, graph: &Graph) -> usize {
        match self.loads.len() > FusedCost::MAX_LOADS {
            true => usize::MAX / 1024,
            false => {
                self.loads.iter().map(|&load| bytes(graph.node(load))).sum::<usize>() + self.work
            }
        }
    }
}

fn bytes(node: &Node) -> usize {
    node.shape.element_count() * node.dtype.size()
}

fn node_work(node: &Node) -> usize {
    node.shape.element_count() * work_per_element(&node.op)
}

fn work_per_element(op: &Op) -> usize {
    match op {
        Op::Unary(op) if op.is_transcendental() => TRANSCENDENTAL_BYTES,
        Op::Binary(BinaryOp::Pow | BinaryOp::Atan2) => TRANSCENDENTAL_BYTES * 2,
        _ => 0,
    }
}

/// Materializes values with several consumer kernels if a store and loads move fewer bytes than recomputing the value
/// in each.
fn materialize_shared(graph: &Graph, materialization: &mut Materialization) {
    let costs = costs(graph, &materialization.materialized);
    // For each node, the kernels that need its value, named by the value they store. Users come after their operands,
    // so from back to front every user is already decided.
    let mut kernels: Vec<SmallVec<[NodeId; 4]>> = vec![SmallVec::new(); graph.nodes.len()];
    for id in (0..graph.nodes.len()).rev() {
        let node = &graph.nodes[id];
        if !materialization.materialized[id]
            && kernels[id].len() > 1
            && !node.op.is_view()
            && node.op != Op::Scalar
        {
            let uses = kernels[id].len();
            let store = costs[id].bytes(graph).saturating_add(bytes(node) * (1 + uses));
            let recompute = costs[id].bytes(graph).saturating_mul(uses);
            if recompute > store {
                materialization.add(id as NodeId, Reason::Shared);
            }
        }
        let own: SmallVec<[NodeId; 4]> = match materialization.materialized[id] {
            true => SmallVec::from_slice(&[id as NodeId]),
            false => std::mem::take(&mut kernels[id]),
        };
        for &input in &node.inputs {
            for &kernel in &own {
                if !kernels[input as usize].contains(&kernel) {
                    kernels[input as usize].push(kernel);
                }
            }
        }
    }
}

/// The cost of each node, given the materialized values.
fn costs(graph: &Graph, materialized: &MaterializedSet) -> Vec<FusedCost> {
    let mut costs: Vec<FusedCost> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let mut cost = FusedCost { work: node_work(node), ..FusedCost::default() };
        for &input in &node.inputs {
            if materialized[input as usize] {
                add_load(&mut cost.loads, input);
                continue;
            }
            let operand: &FusedCost = &costs[input as usize];
            cost.work += operand.work;
            for &load in &operand.loads {
                add_load(&mut cost.loads, load);
            }
        }
        costs.push(cost);
    }
    costs
}

fn add_load(loads: &mut SmallVec<[NodeId; 8]>, load: NodeId) {
    if loads.len() <= FusedCost::MAX_LOADS && !loads.contains(&load) {
        loads.push(load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::CombineOp;
    use crate::graph::WindowAxis;
    use crate::{Axes, DType, UnaryOp};

    /// Materialization reasons for the window sum of a value that takes this many ops.
    fn reasons_for_window_sum(ops: usize, window: WindowAxis) -> Vec<Option<Reason>> {
        let mut graph = Graph::default();
        let x = graph.input([64usize], DType::F32);
        let value = (0..ops).fold(x, |x, _| graph.push(Op::Unary(UnaryOp::Sqrt), &[x]).unwrap());
        let view = graph.push(Op::Windows([window].into_iter().collect()), &[value]).unwrap();
        let axes = Axes::from_slice(&[1]);
        let sum = graph.push(Op::Reduce { op: CombineOp::Sum, axes }, &[view]).unwrap();
        graph.outputs.push(sum);
        decide_materialization(&graph, &[]).reasons
    }

    #[test]
    fn expensive_values_are_materialized_before_overlapping_windows() {
        let materialized = |ops, window| {
            reasons_for_window_sum(ops, window).contains(&Some(Reason::OverlappingWindows))
        };
        assert!(materialized(MAX_OPS_PER_WINDOW_READ, WindowAxis::new(3)));
        assert!(!materialized(MAX_OPS_PER_WINDOW_READ - 1, WindowAxis::new(3)));
        // Adjacent windows that do not overlap recompute nothing.
        assert!(!materialized(20, WindowAxis { size: 2, stride: 2, dilation: 1 }));
    }

    /// Materialization reasons when a value is broadcast to this many rows.
    fn reasons_for_broadcast(rows: usize, of: impl FnOnce(&mut Graph) -> NodeId) -> Vec<Reason> {
        let mut graph = Graph::default();
        let value = of(&mut graph);
        graph.outputs = vec![broadcast(&mut graph, value, rows)];
        let reasons = decide_materialization(&graph, &[]).reasons;
        let computed = graph.nodes.iter().zip(reasons).filter(|(node, _)| node.op != Op::Input);
        computed.filter_map(|(_, reason)| reason).collect()
    }

    /// A value that is broadcast to this many rows, and multiplied.
    fn broadcast(graph: &mut Graph, value: NodeId, rows: usize) -> NodeId {
        let elements = graph.node(value).shape.element_count();
        let row = graph.push(Op::Reshape([1, elements].into()), &[value]).unwrap();
        let wide = graph.push(Op::Broadcast([rows, elements].into()), &[row]).unwrap();
        let x = graph.input([rows, elements], DType::F32);
        graph.push(Op::Binary(BinaryOp::Mul), &[wide, x]).unwrap()
    }

    #[test]
    fn expensive_values_are_materialized_before_broadcasts() {
        let power = |elements: usize| {
            move |graph: &mut Graph| {
                let [base, count] = [0, 1].map(|_| graph.input([elements], DType::F32));
                graph.push(Op::Binary(BinaryOp::Pow), &[base, count]).unwrap()
            }
        };
        let unary = |op| {
            move |graph: &mut Graph| {
                let x = graph.input([1usize], DType::F32);
                graph.push(Op::Unary(op), &[x]).unwrap()
            }
        };
        let (expensive, cheap) = ([Reason::Broadcast, Reason::Requested], [Reason::Requested]);
        let most = MIN_RECOMPUTE_BYTES / TRANSCENDENTAL_BYTES;
        assert_eq!(reasons_for_broadcast(most, unary(UnaryOp::Exp)), expensive);
        assert_eq!(reasons_for_broadcast(most - 1, unary(UnaryOp::Exp)), cheap);
        assert_eq!(
            reasons_for_broadcast(most / 2, power(1)),
            expensive,
            "a power is twice as expensive"
        );
        assert_eq!(reasons_for_broadcast(most, unary(UnaryOp::Neg)), cheap);
        // A small broadcast factor.
        assert_eq!(reasons_for_broadcast(MIN_BROADCAST_FACTOR, power(most)), expensive);
        assert_eq!(reasons_for_broadcast(MIN_BROADCAST_FACTOR - 1, power(most)), cheap);
        // Values that depend on a reduction are computed once for each row, and constants once.
        let of_sum = |graph: &mut Graph| {
            let x = graph.input([64, 1], DType::F32);
            let axes = Axes::from_slice(&[0]);
            let sum = graph.push(Op::Reduce { op: CombineOp::Sum, axes }, &[x]).unwrap();
            graph.push(Op::Unary(UnaryOp::Exp), &[sum]).unwrap()
        };
        assert_eq!(reasons_for_broadcast(most, of_sum), cheap);
        let of_constant = |graph: &mut Graph| {
            let two = graph.scalar(2f32);
            graph.push(Op::Unary(UnaryOp::Exp), &[two]).unwrap()
        };
        assert_eq!(reasons_for_broadcast(most, of_constant), cheap);
    }

    #[test]
    fn cheap_consumers_of_materialized_values_are_recomputed() {
        let mut graph = Graph::default();
        let x = graph.input([1usize], DType::F32);
        let exp = graph.push(Op::Unary(UnaryOp::Exp), &[x]).unwrap();
        let negated = graph.push(Op::Unary(UnaryOp::Neg), &[exp]).unwrap();
        let outputs = [exp, negated].map(|value| broadcast(&mut graph, value, MIN_RECOMPUTE_BYTES));
        graph.outputs = outputs.to_vec();
        let reasons = decide_materialization(&graph, &[]).reasons;
        assert_eq!(reasons[exp as usize], Some(Reason::Broadcast));
        assert_eq!(reasons[negated as usize], None);
    }

    /// Materialization reasons for a scatter along the rows of `[32, 10]`, with an update computed from values in
    /// memory.
    fn reasons_for_scatter(update: impl FnOnce(&mut Graph, NodeId) -> NodeId) -> Vec<Reason> {
        let mut graph = Graph::default();
        let zero = graph.scalar(0f32);
        let zeros = graph.push(Op::Broadcast([32, 10].into()), &[zero]).unwrap();
        let index = graph.input([32, 1], DType::I32);
        let weights = graph.input([32], DType::F32);
        let update = update(&mut graph, weights);
        let update = graph.push(Op::Reshape([32, 1].into()), &[update]).unwrap();
        let op = Op::Scatter { axis: 1, combine: Some(CombineOp::Sum.into()) };
        let put = graph.push(op, &[zeros, index, update]).unwrap();
        graph.outputs = vec![graph.push(Op::Unary(UnaryOp::Neg), &[put]).unwrap()];
        let plan = crate::plan::plan(&graph);
        plan.buffers.iter().filter_map(|buffer| buffer.reason).collect()
    }

    #[test]
    fn expensive_operands_of_a_select_scatter_are_materialized() {
        let unary =
            |op| move |graph: &mut Graph, x: NodeId| graph.push(Op::Unary(op), &[x]).unwrap();
        assert_eq!(reasons_for_scatter(|_, weights| weights), [Reason::Requested]);
        assert_eq!(reasons_for_scatter(unary(UnaryOp::Neg)), [Reason::Requested]);
        let expensive = [Reason::SelectOperand, Reason::Requested];
        assert_eq!(reasons_for_scatter(unary(UnaryOp::Exp)), expensive);
        let many = |graph: &mut Graph, x: NodeId| {
            (0..MAX_OPS_PER_SELECT).fold(x, |x, _| unary(UnaryOp::Neg)(graph, x))
        };
        assert_eq!(reasons_for_scatter(many), expensive);
        // A uniform update is computed once.
        let constant = |graph: &mut Graph, _| {
            let two = graph.scalar(2f32);
            let exp = unary(UnaryOp::Exp)(graph, two);
            graph.push(Op::Broadcast([32].into()), &[exp]).unwrap()
        };
        assert_eq!(reasons_for_scatter(constant), [Reason::Requested]);
    }
}
