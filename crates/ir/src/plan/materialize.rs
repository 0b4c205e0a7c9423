//! Which values are written to memory: those somebody asked for, those that an op can only read from
//! memory, and those that several kernels need and that are dearer to compute again than to store.

use super::Reason;
use super::gemm::{reads_in_place, without_aliases};
use crate::BinaryOp;
use crate::graph::{Graph, Node, NodeId, Op};
use smallvec::SmallVec;

/// For each node of a graph, whether its value is in memory when the plan has run.
pub type Written = Vec<bool>;

/// What is written, and why.
pub struct Choice {
    /// The decision for each node.
    pub written: Written,
    /// Why, for those that are.
    pub reasons: Vec<Option<Reason>>,
    /// Values that are written only to end a kernel: none should go on past them.
    pub cuts: Vec<NodeId>,
}

/// More operands than this are joined by writing each to its place.
pub const FUSED_CONCAT: usize = 4;

impl Choice {
    /// Has a value written. The first reason stays.
    pub fn write(&mut self, node: NodeId, reason: Reason) {
        self.written[node as usize] = true;
        self.reasons[node as usize].get_or_insert(reason);
    }
}

/// Decides for every node. Those that are `repeated` are read more often than they have elements.
pub fn choose(graph: &Graph, repeated: &[NodeId]) -> Choice {
    let count = graph.nodes.len();
    let mut choice =
        Choice { written: vec![false; count], reasons: vec![None; count], cuts: Vec::new() };
    for &output in &graph.outputs {
        choice.write(output, Reason::Requested);
    }
    for (id, node) in graph.nodes.iter().enumerate() {
        if always_written(node) {
            choice.write(id as NodeId, own_reason(&node.op));
        }
    }
    for node in &graph.nodes {
        if node.op.is_routine() {
            for &operand in &node.inputs {
                choice.write(operand, Reason::RoutineOperand);
            }
        } else if matches!(node.op, Op::Dot(_)) {
            for &operand in &node.inputs {
                let base = operand_to_write(graph, &mut choice.written, operand);
                choice.write(base, Reason::ContractionOperand);
            }
        }
    }
    cut_long_chains(graph, &mut choice);
    write_before_windows(graph, &mut choice);
    write_repeated(graph, repeated, &mut choice);
    write_before_broadcasts(graph, &mut choice);
    write_shared(graph, &mut choice);
    choice
}

fn own_reason(op: &Op) -> Reason {
    match op {
        Op::Dot(_) => Reason::Contraction,
        op if op.is_routine() => Reason::Routine,
        Op::Scatter { .. } => Reason::Scatter,
        Op::Scan { .. } => Reason::Scan,
        _ => Reason::Parts,
    }
}

/// The value to write so that a product can read an operand: what it is a view of; but where the view cannot be
/// read in place, the view itself, so that nothing is written twice.
fn operand_to_write(graph: &Graph, written: &mut Written, operand: NodeId) -> NodeId {
    let base = base_of_view(graph, written, operand);
    if base == operand || written[base as usize] {
        return base;
    }
    written[base as usize] = true;
    let in_place = reads_in_place(graph, written, operand);
    written[base as usize] = false;
    if in_place { base } else { without_aliases(graph, operand) }
}

/// The value to write so that `node` can be read in place: what it is a view of, unless the view takes
/// less than all of it.
fn base_of_view(graph: &Graph, written: &Written, node: NodeId) -> NodeId {
    let mut base = node;
    loop {
        let view = graph.node(base);
        if written[base as usize] || !view.op.is_view() {
            return base;
        }
        let operand = view.inputs[0];
        let partial = matches!(view.op, Op::Slice(_)) && !written[operand as usize];
        if partial || graph.node(operand).op == Op::Scalar {
            return base;
        }
        base = operand;
    }
}

/// Whether an op's result is written wherever it appears: no kernel computes it on the way to another.
pub fn always_written(node: &Node) -> bool {
    match &node.op {
        Op::Input | Op::Dot(_) | Op::Scatter { .. } | Op::Scan { .. } => true,
        Op::Concat { .. } => node.inputs.len() > FUSED_CONCAT,
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
const LONGEST_CHAIN: usize = 128;

fn cut_long_chains(graph: &Graph, choice: &mut Choice) {
    let mut lengths = vec![0; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        let operands = node.inputs.iter().map(|&input| lengths[input as usize]);
        let length = operands.max().unwrap_or(0) + 1;
        let alias = is_alias(graph, id as NodeId);
        if length > LONGEST_CHAIN && !alias {
            choice.write(id as NodeId, Reason::LongChain);
            choice.cuts.push(id as NodeId);
            continue;
        }
        // A value written for other reasons may still be computed on the way to the next.
        lengths[id] = if always_written(node) { 0 } else { length };
    }
}

/// A value of at least this many ops is not computed again in each of several windows.
const MOST_OPS_IN_WINDOWS: usize = 6;

/// Has values written that are dear to compute and read through windows that overlap: what is fused with a window is
/// computed once for each place of it.
fn write_before_windows(graph: &Graph, choice: &mut Choice) {
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
            while !choice.written[base as usize] {
                let data = graph.node(base);
                if !data.op.is_view() && !matches!(data.op, Op::Pad(_)) {
                    break;
                }
                base = data.inputs[0];
            }
            if ops[base as usize] >= MOST_OPS_IN_WINDOWS {
                choice.write(base, Reason::Windows);
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
        ops.push(match choice.written[id] {
            true => 0,
            false => operands.fold(own, usize::saturating_add),
        });
    }
}

/// A value of at least this many ops is not computed again at each place of a line.
const MOST_OPS_ALONG_LINES: usize = 6;

/// Has those of the `repeated` values written that are dear to compute.
fn write_repeated(graph: &Graph, repeated: &[NodeId], choice: &mut Choice) {
    if repeated.is_empty() {
        return;
    }
    // The ops between each value and what is there once for each line; none where it is the same everywhere.
    let mut ops: Vec<Option<usize>> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        let operands = || node.inputs.iter().map(|&input| ops[input as usize]);
        let own = match &node.op {
            Op::Scalar => None,
            Op::Input | Op::Iota { .. } | Op::Reduce { .. } | Op::ArgReduce { .. } => Some(0),
            _ if choice.written[id] => Some(0),
            _ if operands().all(|operand| operand.is_none()) => None,
            op => {
                let own = match op {
                    Op::Gather { .. } => 4,
                    op if op.is_view() => 0,
                    _ if own_work(node) > 0 => MOST_OPS_ALONG_LINES,
                    Op::Binary(BinaryOp::Div | BinaryOp::Rem) if !node.dtype.is_float() => {
                        MOST_OPS_ALONG_LINES
                    }
                    _ => 1,
                };
                Some(operands().flatten().fold(own, usize::saturating_add))
            }
        };
        ops.push(own);
    }
    for &node in repeated {
        // What it repeats itself, if it does.
        let mut base = node;
        while graph.node(base).op.is_view() && !choice.written[base as usize] {
            let operand = graph.node(base).inputs[0];
            if graph.node(operand).shape.elements() > graph.node(base).shape.elements() {
                break;
            }
            base = operand;
        }
        if ops[base as usize].is_some_and(|ops| ops >= MOST_OPS_ALONG_LINES) {
            choice.write(base, Reason::AlongLine);
        }
    }
}

/// A value is not computed again at so many places for each of its elements or more, ...
const MOST_PLACES_EACH: usize = 16;

/// ... if there are at least so many, and that costs as much as moving so many bytes.
const MOST_PLACES: usize = 1 << 18;
const MOST_AGAIN: usize = 8 << 20;

/// Has values written that transcendental functions compute and that are broadcast to many places: a kernel may compute
/// what it reads at each of its points. A scalar such as Adam's `1 - β^step` is one.
fn write_before_broadcasts(graph: &Graph, choice: &mut Choice) {
    let is_large = |node: &Node| {
        let places = node.shape.elements();
        matches!(node.op, Op::Broadcast(_))
            && places >= MOST_PLACES
            && places / MOST_PLACES_EACH >= graph.node(node.inputs[0]).shape.elements()
    };
    if !graph.nodes.iter().any(is_large) {
        return;
    }
    let mut again: Vec<Again> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        if is_large(node) {
            let base = base_of_view(graph, &choice.written, node.inputs[0]);
            if let Again::Costs(each) = again[base as usize]
                && each.saturating_mul(node.shape.elements()) >= MOST_AGAIN
            {
                choice.write(base, Reason::Broadcast);
                // What was computed of it costs less now.
                for later in base as usize..id {
                    again[later] = Again::of(graph, &choice.written, &again, later);
                }
            }
        }
        again.push(Again::of(graph, &choice.written, &again, id));
    }
}

/// What it takes to compute an element of a value again, from what is in memory.
#[derive(Clone, Copy, PartialEq)]
enum Again {
    /// Nothing: it is the same everywhere.
    Constant,
    /// It follows a reduction, and may be computed where that ends, once for each row.
    Reduced,
    /// Functions that cost as much as moving so many bytes.
    Costs(usize),
}

impl Again {
    /// That of a node, given that of those before it.
    fn of(graph: &Graph, written: &Written, before: &[Again], node: usize) -> Again {
        let data = &graph.nodes[node];
        let operands = || data.inputs.iter().map(|&input| before[input as usize]);
        match &data.op {
            _ if written[node] => Again::Costs(0),
            Op::Scalar => Again::Constant,
            Op::Reduce { .. } | Op::ArgReduce { .. } => Again::Reduced,
            _ if operands().any(|operand| operand == Again::Reduced) => Again::Reduced,
            _ if !data.inputs.is_empty()
                && operands().all(|operand| operand == Again::Constant) =>
            {
                Again::Constant
            }
            op => {
                Again::Costs(operands().fold(work_of_element(op), |sum, operand| match operand {
                    Again::Costs(bytes) => sum.saturating_add(bytes),
                    _ => sum,
                }))
            }
        }
    }
}

/// What a transcendental function costs, in bytes that could be moved in the same time.
const TRANSCENDENTAL_BYTES: usize = 2;

/// What it takes to compute a node's value from values in memory.
#[derive(Clone, Default)]
struct Cost {
    /// The values in memory that it reads. Beyond a few, it is too dear to repeat.
    leaves: SmallVec<[NodeId; 8]>,
    /// Work other than reading, in bytes that could be moved in the same time.
    work: usize,
}

impl Cost {
    const MOST_LEAVES: usize = 8;

    fn bytes(&self, graph: &Graph) -> usize {
        match self.leaves.len() > Cost::MOST_LEAVES {
            true => usize::MAX / 1024,
            false => {
                self.leaves.iter().map(|&leaf| bytes(graph.node(leaf))).sum::<usize>() + self.work
            }
        }
    }
}

fn bytes(node: &Node) -> usize {
    node.shape.elements() * node.dtype.size()
}

fn own_work(node: &Node) -> usize {
    node.shape.elements() * work_of_element(&node.op)
}

fn work_of_element(op: &Op) -> usize {
    match op {
        Op::Unary(op) if op.is_transcendental() => TRANSCENDENTAL_BYTES,
        Op::Binary(BinaryOp::Pow | BinaryOp::Atan2) => TRANSCENDENTAL_BYTES * 2,
        _ => 0,
    }
}

/// Marks values that several kernels need and that cost fewer bytes to store and read than to compute in
/// each of them.
fn write_shared(graph: &Graph, choice: &mut Choice) {
    let costs = costs(graph, &choice.written);
    // The kernels, named by the value they write, that a node's value is needed in. Users come after
    // their operands, so from back to front every user has been decided.
    let mut kernels: Vec<SmallVec<[NodeId; 4]>> = vec![SmallVec::new(); graph.nodes.len()];
    for id in (0..graph.nodes.len()).rev() {
        let node = &graph.nodes[id];
        if !choice.written[id]
            && kernels[id].len() > 1
            && !node.op.is_view()
            && node.op != Op::Scalar
        {
            let uses = kernels[id].len();
            let store = costs[id].bytes(graph).saturating_add(bytes(node) * (1 + uses));
            let again = costs[id].bytes(graph).saturating_mul(uses);
            if again > store {
                choice.write(id as NodeId, Reason::Shared);
            }
        }
        let own: SmallVec<[NodeId; 4]> = match choice.written[id] {
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
fn costs(graph: &Graph, written: &Written) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let mut cost = Cost { work: own_work(node), ..Cost::default() };
        for &input in &node.inputs {
            if written[input as usize] {
                add_leaf(&mut cost.leaves, input);
                continue;
            }
            let operand: &Cost = &costs[input as usize];
            cost.work += operand.work;
            for &leaf in &operand.leaves {
                add_leaf(&mut cost.leaves, leaf);
            }
        }
        costs.push(cost);
    }
    costs
}

fn add_leaf(leaves: &mut SmallVec<[NodeId; 8]>, leaf: NodeId) {
    if leaves.len() <= Cost::MOST_LEAVES && !leaves.contains(&leaf) {
        leaves.push(leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::CombineOp;
    use crate::graph::WindowAxis;
    use crate::{Axes, DType, UnaryOp};

    /// The sums of windows of a value that so many ops compute.
    fn windows_of(ops: usize, window: WindowAxis) -> Vec<Option<Reason>> {
        let mut graph = Graph::default();
        let x = graph.input([64usize], DType::F32);
        let value = (0..ops).fold(x, |x, _| graph.push(Op::Unary(UnaryOp::Sqrt), &[x]).unwrap());
        let view = graph.push(Op::Windows([window].into_iter().collect()), &[value]).unwrap();
        let axes = Axes::from_slice(&[1]);
        let sum = graph.push(Op::Reduce { op: CombineOp::Sum, axes }, &[view]).unwrap();
        graph.outputs.push(sum);
        choose(&graph, &[]).reasons
    }

    #[test]
    fn what_is_dear_is_not_computed_in_each_of_several_windows() {
        let written = |ops, window| windows_of(ops, window).contains(&Some(Reason::Windows));
        assert!(written(MOST_OPS_IN_WINDOWS, WindowAxis::new(3)));
        assert!(!written(MOST_OPS_IN_WINDOWS - 1, WindowAxis::new(3)));
        // Windows side by side compute nothing twice.
        assert!(!written(20, WindowAxis { size: 2, stride: 2, dilation: 1 }));
    }

    /// What is written where a value is broadcast to so many rows.
    fn before_broadcast(rows: usize, of: impl FnOnce(&mut Graph) -> NodeId) -> Vec<Reason> {
        let mut graph = Graph::default();
        let value = of(&mut graph);
        graph.outputs = vec![broadcast(&mut graph, value, rows)];
        let reasons = choose(&graph, &[]).reasons;
        let made = graph.nodes.iter().zip(reasons).filter(|(node, _)| node.op != Op::Input);
        made.filter_map(|(_, reason)| reason).collect()
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
    fn what_is_dear_is_not_computed_at_each_place_it_is_broadcast_to() {
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
        let (dear, cheap) = ([Reason::Broadcast, Reason::Requested], [Reason::Requested]);
        let most = MOST_AGAIN / TRANSCENDENTAL_BYTES;
        assert_eq!(before_broadcast(most, unary(UnaryOp::Exp)), dear);
        assert_eq!(before_broadcast(most - 1, unary(UnaryOp::Exp)), cheap);
        assert_eq!(before_broadcast(most / 2, power(1)), dear, "a power is twice as dear");
        assert_eq!(before_broadcast(most, unary(UnaryOp::Neg)), cheap);
        // Few places for each element.
        assert_eq!(before_broadcast(MOST_PLACES_EACH, power(most)), dear);
        assert_eq!(before_broadcast(MOST_PLACES_EACH - 1, power(most)), cheap);
        // What follows a reduction is computed where that ends, and what is constant is so everywhere.
        let of_sum = |graph: &mut Graph| {
            let x = graph.input([64, 1], DType::F32);
            let axes = Axes::from_slice(&[0]);
            let sum = graph.push(Op::Reduce { op: CombineOp::Sum, axes }, &[x]).unwrap();
            graph.push(Op::Unary(UnaryOp::Exp), &[sum]).unwrap()
        };
        assert_eq!(before_broadcast(most, of_sum), cheap);
        let of_constant = |graph: &mut Graph| {
            let two = graph.scalar(2f32);
            graph.push(Op::Unary(UnaryOp::Exp), &[two]).unwrap()
        };
        assert_eq!(before_broadcast(most, of_constant), cheap);
    }

    #[test]
    fn what_is_cheap_to_compute_of_what_is_written_is_not_written() {
        let mut graph = Graph::default();
        let x = graph.input([1usize], DType::F32);
        let exp = graph.push(Op::Unary(UnaryOp::Exp), &[x]).unwrap();
        let negated = graph.push(Op::Unary(UnaryOp::Neg), &[exp]).unwrap();
        let outputs = [exp, negated].map(|value| broadcast(&mut graph, value, MOST_AGAIN));
        graph.outputs = outputs.to_vec();
        let reasons = choose(&graph, &[]).reasons;
        assert_eq!(reasons[exp as usize], Some(Reason::Broadcast));
        assert_eq!(reasons[negated as usize], None);
    }

    /// What is written where the updates of the lines of `[32, 10]` are computed from values in memory.
    fn put_along_lines(update: impl FnOnce(&mut Graph, NodeId) -> NodeId) -> Vec<Reason> {
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
    fn what_is_dear_is_not_computed_at_each_place_of_a_line() {
        let unary =
            |op| move |graph: &mut Graph, x: NodeId| graph.push(Op::Unary(op), &[x]).unwrap();
        assert_eq!(put_along_lines(|_, weights| weights), [Reason::Requested]);
        assert_eq!(put_along_lines(unary(UnaryOp::Neg)), [Reason::Requested]);
        let dear = [Reason::AlongLine, Reason::Requested];
        assert_eq!(put_along_lines(unary(UnaryOp::Exp)), dear);
        let many = |graph: &mut Graph, x: NodeId| {
            (0..MOST_OPS_ALONG_LINES).fold(x, |x, _| unary(UnaryOp::Neg)(graph, x))
        };
        assert_eq!(put_along_lines(many), dear);
        // One value for all lines is computed once.
        let constant = |graph: &mut Graph, _| {
            let two = graph.scalar(2f32);
            let exp = unary(UnaryOp::Exp)(graph, two);
            graph.push(Op::Broadcast([32].into()), &[exp]).unwrap()
        };
        assert_eq!(put_along_lines(constant), [Reason::Requested]);
    }
}
