//! Which values are written to memory: those somebody asked for, those that an op can only read from
//! memory, and those that several kernels need and that are dearer to compute again than to store.

use super::Reason;
use super::gemm::{reads_in_place, resolve_alias};
use crate::BinaryOp;
use crate::graph::{Graph, Node, NodeId, Op};
use smallvec::SmallVec;

/// For each node of a graph, whether its value is in memory when the plan has run.
pub type MaterializedSet = Vec<bool>;

/// What is written, and why.
pub struct Materialization {
    /// The decision for each node.
    pub materialized: MaterializedSet,
    /// Why, for those that are.
    pub reasons: Vec<Option<Reason>>,
    /// Values that are written only to end a kernel: none should go on past them.
    pub chain_breaks: Vec<NodeId>,
}

/// More operands than this are joined by writing each to its place.
pub const MAX_FUSED_CONCAT: usize = 4;

impl Materialization {
    /// Has a value written. The first reason stays.
    pub fn add(&mut self, node: NodeId, reason: Reason) {
        self.materialized[node as usize] = true;
        self.reasons[node as usize].get_or_insert(reason);
    }
}

/// Decides for every node. Those that are `repeated` are read more often than they have elements.
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

/// The value to write so that a product can read an operand: what it is a view of; but where the view cannot be
/// read in place, the view itself, so that nothing is written twice.
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

/// The value to write so that `node` can be read in place: what it is a view of, unless the view takes
/// less than all of it.
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

/// Whether an op's result is written wherever it appears: no kernel computes it on the way to another.
pub fn always_materialized(node: &Node) -> bool {
    match &node.op {
        Op::Input | Op::Dot(_) | Op::Scatter { .. } | Op::Scan { .. } => true,
        Op::Concat { .. } => node.inputs.len() > MAX_FUSED_CONCAT,
        Op::Pad(axes) => axes.iter().any(|axis| axis.interior > 0),
        Op::Assign(axes) => axes.iter().any(|axis| axis.step.abs() != 1),
        op => op.is_routine(),
    }
}

/// Whether a written value shares the memory of its operand: a reshape of something that has memory.
pub fn is_alias(graph: &Graph, node: NodeId) -> bool {
    let data = graph.node(node);
    matches!(data.op, Op::Reshape(_)) && graph.node(data.inputs[0]).op != Op::Scalar
}

/// A value at the end of a longer chain of unwritten ones is written: kernels stay of a size that
/// compiles fast, and lowering does not recurse deeply.
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
        // A value written for other reasons may still be computed on the way to the next.
        lengths[id] = if always_materialized(node) { 0 } else { length };
    }
}

/// A value of at least this many ops is not computed again in each of several windows.
const MAX_OPS_PER_WINDOW_READ: usize = 6;

/// Has values written that are dear to compute and read through windows that overlap: what is fused with a window is
/// computed once for each place of it.
fn materialize_before_windows(graph: &Graph, materialization: &mut Materialization) {
    let is_overlapping = |node: &Node| {
        matches!(node.op, Op::Windows(_))
            && node.shape.elements() > graph.node(node.inputs[0]).shape.elements()
    };
    if !graph.nodes.iter().any(is_overlapping) {
        return;
    }
    // The ops between each value and what is in memory, each as often as it is computed.
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

/// A value of at least this many ops is not computed again at each place of a line.
const MAX_OPS_PER_SELECT: usize = 6;

/// Has those of the `repeated` values written that are dear to compute.
fn materialize_select_operands(
    graph: &Graph,
    select_operands: &[NodeId],
    materialization: &mut Materialization,
) {
    if select_operands.is_empty() {
        return;
    }
    // The ops between each value and what is there once for each line; none where it is the same everywhere.
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
        // What it repeats itself, if it does.
        let mut base = node;
        while graph.node(base).op.is_view() && !materialization.materialized[base as usize] {
            let operand = graph.node(base).inputs[0];
            if graph.node(operand).shape.elements() > graph.node(base).shape.elements() {
                break;
            }
            base = operand;
        }
        if ops[base as usize].is_some_and(|ops| ops >= MAX_OPS_PER_SELECT) {
            materialization.add(base, Reason::SelectOperand);
        }
    }
}

/// A value is not computed again at so many places for each of its elements or more, ...
const MIN_BROADCAST_FACTOR: usize = 16;

/// ... if there are at least so many, and that costs as much as moving so many bytes.
const MIN_BROADCAST_ELEMENTS: usize = 1 << 18;
const MIN_RECOMPUTE_BYTES: usize = 8 << 20;

/// Has values written that transcendental functions compute and that are broadcast to many places: a kernel may compute
/// what it reads at each of its points. A scalar such as Adam's `1 - β^step` is one.
fn materialize_before_broadcasts(graph: &Graph, materialization: &mut Materialization) {
    let is_large = |node: &Node| {
        let elements = node.shape.elements();
        matches!(node.op, Op::Broadcast(_))
            && elements >= MIN_BROADCAST_ELEMENTS
            && elements / MIN_BROADCAST_FACTOR >= graph.node(node.inputs[0]).shape.elements()
    };
    if !graph.nodes.iter().any(is_large) {
        return;
    }
    let mut recompute: Vec<RecomputeCost> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        if is_large(node) {
            let base = view_base(graph, &materialization.materialized, node.inputs[0]);
            if let RecomputeCost::Bytes(each) = recompute[base as usize]
                && each.saturating_mul(node.shape.elements()) >= MIN_RECOMPUTE_BYTES
            {
                materialization.add(base, Reason::Broadcast);
                // What was computed of it costs less now.
                for later in base as usize..id {
                    recompute[later] =
                        RecomputeCost::of(graph, &materialization.materialized, &recompute, later);
                }
            }
        }
        recompute.push(RecomputeCost::of(graph, &materialization.materialized, &recompute, id));
    }
}

/// What it takes to compute an element of a value again, from what is in memory.
#[derive(Clone, Copy, PartialEq)]
enum RecomputeCost {
    /// Nothing: it is the same everywhere.
    Uniform,
    /// It follows a reduction, and may be computed where that ends, once for each row.
    AfterReduction,
    /// Functions that cost as much as moving so many bytes.
    Bytes(usize),
}

impl RecomputeCost {
    /// That of a node, given that of those before it.
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

/// What a transcendental function costs, in bytes that could be moved in the same time.
const TRANSCENDENTAL_BYTES: usize = 2;

/// What it takes to compute a node's value from values in memory.
#[derive(Clone, Default)]
struct FusedCost {
    /// The values in memory that it reads. Beyond a few, it is too dear to repeat.
    loads: SmallVec<[NodeId; 8]>,
    /// Work other than reading, in bytes that could be moved in the same time.
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
    node.shape.elements() * node.dtype.size()
}

fn node_work(node: &Node) -> usize {
    node.shape.elements() * work_per_element(&node.op)
}

fn work_per_element(op: &Op) -> usize {
    match op {
        Op::Unary(op) if op.is_transcendental() => TRANSCENDENTAL_BYTES,
        Op::Binary(BinaryOp::Pow | BinaryOp::Atan2) => TRANSCENDENTAL_BYTES * 2,
        _ => 0,
    }
}

/// Marks values that several kernels need and that cost fewer bytes to store and read than to compute in
/// each of them.
fn materialize_shared(graph: &Graph, materialization: &mut Materialization) {
    let costs = costs(graph, &materialization.materialized);
    // The kernels, named by the value they write, that a node's value is needed in. Users come after
    // their operands, so from back to front every user has been decided.
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

/// The cost of each node, given what is written.
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

    /// The sums of windows of a value that so many ops compute.
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
        // Windows side by side compute nothing twice.
        assert!(!materialized(20, WindowAxis { size: 2, stride: 2, dilation: 1 }));
    }

    /// What is written where a value is broadcast to so many rows.
    fn reasons_for_broadcast(rows: usize, of: impl FnOnce(&mut Graph) -> NodeId) -> Vec<Reason> {
        let mut graph = Graph::default();
        let value = of(&mut graph);
        graph.outputs = vec![broadcast(&mut graph, value, rows)];
        let reasons = decide_materialization(&graph, &[]).reasons;
        let computed = graph.nodes.iter().zip(reasons).filter(|(node, _)| node.op != Op::Input);
        computed.filter_map(|(_, reason)| reason).collect()
    }

    /// A value that is broadcast to so many rows, and multiplied.
    fn broadcast(graph: &mut Graph, value: NodeId, rows: usize) -> NodeId {
        let elements = graph.node(value).shape.elements();
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
        // Few places for each element.
        assert_eq!(reasons_for_broadcast(MIN_BROADCAST_FACTOR, power(most)), expensive);
        assert_eq!(reasons_for_broadcast(MIN_BROADCAST_FACTOR - 1, power(most)), cheap);
        // What follows a reduction is computed where that ends, and what is constant is so everywhere.
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

    /// What is written where the updates of the lines of `[32, 10]` are computed from values in memory.
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
        // One value for all lines is computed once.
        let constant = |graph: &mut Graph, _| {
            let two = graph.scalar(2f32);
            let exp = unary(UnaryOp::Exp)(graph, two);
            graph.push(Op::Broadcast([32].into()), &[exp]).unwrap()
        };
        assert_eq!(reasons_for_scatter(constant), [Reason::Requested]);
    }
}
