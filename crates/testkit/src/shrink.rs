//! Test case reduction: finds a small case that fails the same way.

use crate::random::{Case, prune};
use inflight_ir::graph::{Graph, NodeId, Op, SliceAxis};
use inflight_ir::interpret::{Array, interpret};
use inflight_ir::{Axes, Scalar, Shape};
use smallvec::SmallVec;

/// Limit on the number of candidates tried.
const MAX_ATTEMPTS: usize = 3000;

/// Reduces a failing case: drops outputs and nodes, replaces values by inputs that hold them, and shrinks extents.
/// Returns the smallest failing case found.
pub fn shrink(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut best = prune(case);
    if !fails(&best) {
        return case.clone();
    }
    let mut attempts = 0;
    loop {
        let smaller = candidates(&best).find(|candidate| {
            attempts += 1;
            attempts <= MAX_ATTEMPTS && size(candidate) < size(&best) && fails(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// The size to minimize, lexicographically: computing nodes and outputs, all nodes, elements, nonzero input bytes.
fn size(case: &Case) -> (usize, usize, usize, usize) {
    let computed = case.graph.nodes.iter().filter(|node| node.op != Op::Input).count();
    let elements = case.graph.nodes.iter().map(|node| node.shape.element_count()).sum();
    let nonzero =
        case.inputs.iter().flat_map(|input| &input.bytes).filter(|&&byte| byte != 0).count();
    (computed + case.graph.outputs.len(), case.graph.nodes.len(), elements, nonzero)
}

/// Cases reduced in one respect, the largest reductions first.
fn candidates(case: &Case) -> impl Iterator<Item = Case> + '_ {
    let nodes = case.graph.nodes.len();
    let outputs = case.graph.outputs.len();
    let single_outputs = (0..outputs).filter(move |_| outputs > 1).map(move |kept| {
        let mut case = case.clone();
        case.graph.outputs = vec![case.graph.outputs[kept]];
        prune(&case)
    });
    let fewer_outputs = (0..outputs).filter(move |_| outputs > 1).map(move |dropped| {
        let mut case = case.clone();
        case.graph.outputs.remove(dropped);
        prune(&case)
    });
    let frozen = (0..nodes).rev().filter_map(move |node| freeze(case, node as NodeId));
    let bypassed = (0..nodes).rev().flat_map(move |node| {
        let inputs = case.graph.nodes[node].inputs.len();
        (0..inputs).filter_map(move |input| bypass(case, node as NodeId, input))
    });
    let earlier = (0..outputs).filter_map(move |output| observe_operand(case, output));
    let extents = (1..=12).flat_map(move |smaller| {
        let mut all: Vec<usize> =
            case.graph.nodes.iter().flat_map(|node| node.shape.to_vec()).collect();
        all.sort_unstable();
        all.dedup();
        let all = all.into_iter().rev().filter(move |&extent| extent > smaller);
        all.filter_map(move |extent| resize(case, extent, smaller))
    });
    let simple = (0..case.inputs.len()).filter_map(move |input| simplify(case, input));
    single_outputs
        .chain(fewer_outputs)
        .chain(frozen)
        .chain(earlier)
        .chain(bypassed)
        .chain(extents)
        .chain(simple)
}

/// The case with one computed node replaced by an input that holds its value.
fn freeze(case: &Case, node: NodeId) -> Option<Case> {
    if matches!(case.graph.node(node).op, Op::Input) || case.graph.outputs.contains(&node) {
        return None;
    }
    let mut probe = case.graph.clone();
    probe.outputs = vec![node];
    let value = interpret(&probe, &case.inputs).remove(0);
    let mut result = case.clone();
    let before = case.graph.inputs().filter(|&input| input < node).count();
    result.inputs.insert(before, value);
    let changed = &mut result.graph.nodes[node as usize];
    if changed.op == Op::Scalar {
        let scalars = case.graph.nodes[..node as usize].iter();
        result.graph.scalars.remove(scalars.filter(|node| node.op == Op::Scalar).count());
    }
    changed.op = Op::Input;
    changed.inputs.clear();
    Some(prune(&result))
}

/// The case with one node replaced by an operand of the same shape and dtype.
fn bypass(case: &Case, node: NodeId, input: usize) -> Option<Case> {
    let data = case.graph.node(node);
    let operand = data.inputs[input];
    let other = case.graph.node(operand);
    if other.shape != data.shape || other.dtype != data.dtype {
        return None;
    }
    let mut result = case.clone();
    let renamed = |id: NodeId| if id == node { operand } else { id };
    for later in &mut result.graph.nodes[node as usize + 1..] {
        later.inputs.iter_mut().for_each(|input| *input = renamed(*input));
    }
    result.graph.outputs.iter_mut().for_each(|output| *output = renamed(*output));
    if result.graph.outputs.iter().any(|&id| result.graph.node(id).op == Op::Input) {
        return None;
    }
    Some(prune(&result))
}

/// The case with an output replaced by the operands of its node.
fn observe_operand(case: &Case, output: usize) -> Option<Case> {
    let node = case.graph.node(case.graph.outputs[output]);
    let computed = node.inputs.iter().filter(|&&input| case.graph.node(input).op != Op::Input);
    let computed: Vec<NodeId> = computed.copied().collect();
    if computed.is_empty() {
        return None;
    }
    let mut result = case.clone();
    result.graph.outputs.splice(output..output + 1, computed);
    result.graph.outputs.dedup();
    Some(prune(&result))
}

/// The case with every extent equal to `from` changed to `to`, if all ops remain valid.
fn resize(case: &Case, from: usize, to: usize) -> Option<Case> {
    let shape = |shape: &Shape| -> Shape {
        shape.iter().map(|&extent| if extent == from { to } else { extent }).collect()
    };
    let slices = |slices: &SmallVec<[SliceAxis; 4]>| -> SmallVec<[SliceAxis; 4]> {
        let resized = |slice: &SliceAxis| SliceAxis {
            start: if slice.start + 1 == from { to - 1 } else { slice.start },
            len: if slice.len == from { to } else { slice.len },
            ..*slice
        };
        slices.iter().map(resized).collect()
    };
    let mut graph = Graph { scalars: case.graph.scalars.clone(), ..Graph::default() };
    let mut inputs = Vec::new();
    let mut old = case.inputs.iter();
    for node in &case.graph.nodes {
        let op = match &node.op {
            Op::Input => {
                let input = old.next().expect("one value for each input");
                let new = shape(&node.shape);
                inputs.push(corner(input, &new));
                graph.input(new, node.dtype);
                continue;
            }
            Op::Scalar => {
                graph.append(Op::Scalar, &[], Shape::scalar(), node.dtype);
                continue;
            }
            Op::Iota { axis, shape: old, dtype } => {
                Op::Iota { axis: *axis, shape: shape(old), dtype: *dtype }
            }
            Op::Reshape(old) => Op::Reshape(shape(old)),
            Op::Broadcast(old) => Op::Broadcast(shape(old)),
            Op::Slice(old) => Op::Slice(slices(old)),
            Op::Assign(old) => Op::Assign(slices(old)),
            op => op.clone(),
        };
        graph.push(op, &node.inputs).ok()?;
    }
    graph.outputs = case.graph.outputs.clone();
    Some(Case { seed: case.seed, graph, inputs })
}

/// The leading corner of an array, of the given shape.
fn corner(array: &Array, shape: &Shape) -> Array {
    let strides = array.shape.strides();
    let mut values: Vec<Scalar> = Vec::with_capacity(shape.element_count());
    let mut index = Axes::from_elem(0, shape.rank());
    for _ in 0..shape.element_count() {
        let at: usize = index.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
        values.push(array.get(at));
        for axis in (0..shape.rank()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    Array::from_scalars(values, shape, array.dtype)
}

/// The case with the elements of one input replaced by 1, 2, 3, ….
fn simplify(case: &Case, input: usize) -> Option<Case> {
    let old = &case.inputs[input];
    let values = (0..old.element_count()).map(|i| Scalar::from(1 + i as u64 % 100).cast(old.dtype));
    let new = Array::from_scalars(values, &old.shape, old.dtype);
    if new == *old {
        return None;
    }
    let mut result = case.clone();
    result.inputs[input] = new;
    Some(result)
}
