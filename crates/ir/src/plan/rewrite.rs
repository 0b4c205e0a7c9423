//! Graph rewrites before planning: equivalent graphs that plan to faster code.
//!
//! - Split reductions: a reduction of many elements to few results becomes two, so that many programs share it, and
//!   so that chains of additions are short ([`MAX_UNSPLIT_ROW`], [`REDUCTION_SPLITS`], [`MAX_SUM_CHAIN`]). Scans
//!   split likewise.
//! - Canonical GEMM form: each dot becomes `[batch…, m, k] · [batch…, k, n]` on views of its operands; a transposed
//!   dot swaps its operands instead.
//! - Implicit GEMM convolution, where the target supports it.
//! - Scatter-to-select, for scatters of one update per line.
//! - Arg-reductions become plain reductions, where those are faster.
//! - The gradient of ReLU compares the clamped value, so that its input need not be materialized.

use super::implicit_gemm::{self, ConvolutionMatch};
use super::{FEATURE_BYTES, PlanTarget, scatter_to_select};
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::graph::{Combine, DotAxes, Graph, ImplicitGemm, Node, NodeId, Op, PadAxis, SliceAxis};
use crate::{Axes, DType, Shape};
use rustc_hash::FxHashMap;

/// A rewritten graph, with the original node of each of its nodes.
pub struct Rewritten {
    /// The new graph. Its inputs and scalars are the original's, in the same order.
    pub graph: Graph,
    /// Index and update operands of scatters that became selects: a select reads each of their elements once for
    /// every element along the scattered axis.
    pub select_operands: Vec<NodeId>,
    original: Vec<NodeId>,
}

impl Rewritten {
    /// Maps nodes of the rewritten graph back to the original nodes.
    pub fn restore_original_ids(&self, nodes: &mut Vec<NodeId>) {
        for node in nodes.iter_mut() {
            *node = self.original[*node as usize];
        }
        nodes.sort_unstable();
        nodes.dedup();
    }
}

/// A reduction of more elements per result than this is split in two, so that more than a few programs can share it.
/// Shorter rows are not split: they fit a cache, and their consumers fuse with them.
pub const MAX_UNSPLIT_ROW: usize = 1 << 16;

/// The longest chain of sequential additions on a backend that adds one element after another.
pub const MAX_SUM_CHAIN: usize = 1 << 14;

/// The minimum number of splits of a large reduction to one result.
pub const REDUCTION_SPLITS: usize = 256;

/// Applies every rewrite in one pass, operands first.
pub fn rewrite(graph: &Graph, plan_target: PlanTarget) -> Rewritten {
    let mut rewriter = Rewriter {
        graph: Graph { scalars: graph.scalars.clone(), ..Graph::default() },
        original: Vec::with_capacity(graph.nodes.len()),
        select_operands: Vec::new(),
        current: 0,
        reduction_splits: plan_target.reduction_splits,
        max_sum_chain: plan_target.max_sum_chain,
    };
    let mut transposed = find_transposed_dots(graph);
    let convolutions = match plan_target.implicit_gemm {
        true => implicit_gemm::find_convolutions(graph),
        false => vec![None; graph.nodes.len()],
    };
    let live = implicit_gemm::live_nodes(graph, &convolutions);
    transposed.iter_mut().zip(&convolutions).for_each(|(transposed, found)| {
        *transposed = transposed.filter(|_| found.is_none());
    });
    let clamped = find_clamped_operands(graph);
    let select_scatters = scatter_to_select::find_select_scatters(graph);
    let mut new_ids: Vec<NodeId> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        rewriter.current = id as NodeId;
        if !live[id] {
            // DCE: no output needs it.
            new_ids.push(NodeId::MAX);
            continue;
        }
        if let Some(found) = &convolutions[id] {
            let operands = [found.source, found.kernels].map(|node| new_ids[node as usize]);
            new_ids.push(rewriter.implicit_gemm(found, operands, node));
            continue;
        }
        let mut inputs: Vec<NodeId> =
            node.inputs.iter().map(|&input| new_ids[input as usize]).collect();
        if let Some((operand, clamped)) = clamped[id]
            && live[clamped as usize]
        {
            inputs[operand] = new_ids[clamped as usize];
        }
        let id = match &node.op {
            Op::Reduce { op, axes } => rewriter.split_reduction(*op, axes, inputs[0], node),
            Op::Scan { op, axis } => rewriter.split_scan(*op, *axis, inputs[0], node),
            Op::ArgReduce { op, axis } if !plan_target.arg_reductions => {
                rewriter.expand_arg_reduce(*op, *axis, inputs[0], node)
            }
            // The only user transposes the dot: compute it transposed.
            Op::Dot(axes) if let Some(user) = transposed[id] => {
                let swapped = DotAxes {
                    a_batch: axes.b_batch.clone(),
                    b_batch: axes.a_batch.clone(),
                    a_contract: axes.b_contract.clone(),
                    b_contract: axes.a_contract.clone(),
                };
                rewriter.canonical_gemm(&swapped, inputs[1], inputs[0], graph.node(user))
            }
            Op::Permute(_) if transposed[node.inputs[0] as usize].is_some() => inputs[0],
            Op::Scatter { axis, combine } if select_scatters[id] => rewriter.scatter_as_select(
                *axis,
                combine.as_ref(),
                [inputs[0], inputs[1], inputs[2]],
                node,
            ),
            Op::Dot(axes) => rewriter.canonical_gemm(axes, inputs[0], inputs[1], node),
            op => rewriter.append(op.clone(), &inputs, node.shape.clone(), node),
        };
        new_ids.push(id);
    }
    rewriter.graph.outputs = graph.outputs.iter().map(|&output| new_ids[output as usize]).collect();
    Rewritten {
        graph: rewriter.graph,
        select_operands: rewriter.select_operands,
        original: rewriter.original,
    }
}

/// For each dot whose only user swaps the free axes of its operands: that user. The dot with swapped operands
/// computes the transposed result.
fn find_transposed_dots(graph: &Graph) -> Vec<Option<NodeId>> {
    let mut uses = vec![0; graph.nodes.len()];
    let operands = graph.nodes.iter().flat_map(|node| &node.inputs);
    operands.chain(&graph.outputs).for_each(|&node| uses[node as usize] += 1);
    let mut transposed = vec![None; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        let Op::Permute(order) = &node.op else { continue };
        let dot = node.inputs[0];
        let Op::Dot(axes) = &graph.node(dot).op else { continue };
        let batch = axes.a_batch.len();
        let rank = graph.node(dot).shape.rank();
        let rows = axes.a_free(graph.node(graph.node(dot).inputs[0]).shape.rank()).len();
        let exchanged = (0..batch).chain(batch + rows..rank).chain(batch..batch + rows);
        if uses[dot as usize] == 1 && order.iter().copied().eq(exchanged) {
            transposed[dot as usize] = Some(id as NodeId);
        }
    }
    transposed
}

/// For each comparison `x > c` that follows a `max(x, c)`: the operand index of `x`, and the maximum. The maximum is
/// greater than `c` exactly where `x` is; likewise for `x < c` and a minimum. So the gradient of ReLU needs only the
/// clamped value, and its input need not be materialized.
fn find_clamped_operands(graph: &Graph) -> Vec<Option<(usize, NodeId)>> {
    let bound = |mut id: NodeId| {
        while let Op::Broadcast(_) | Op::Reshape(_) = graph.node(id).op {
            id = graph.node(id).inputs[0];
        }
        id
    };
    let is_scalar = |id: NodeId| matches!(graph.node(id).op, Op::Scalar);
    let mut known: FxHashMap<(BinaryOp, NodeId, NodeId), NodeId> = FxHashMap::default();
    let mut clamped = vec![None; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        match node.op {
            Op::Binary(op @ (BinaryOp::Max | BinaryOp::Min)) => {
                for (x, c) in [(0, 1), (1, 0)] {
                    let c = bound(node.inputs[c]);
                    if is_scalar(c) {
                        known.entry((op, node.inputs[x], c)).or_insert(id as NodeId);
                    }
                }
            }
            Op::Compare(compare @ (CompareOp::Gt | CompareOp::Lt)) => {
                clamped[id] = [(0, 1), (1, 0)].into_iter().find_map(|(x, c)| {
                    let op = match (compare == CompareOp::Gt) == (x == 0) {
                        true => BinaryOp::Max,
                        false => BinaryOp::Min,
                    };
                    let found = known.get(&(op, node.inputs[x], bound(node.inputs[c])))?;
                    let same = graph.node(*found).shape == graph.node(node.inputs[x]).shape;
                    same.then_some((x, *found))
                });
            }
            _ => {}
        }
    }
    clamped
}

struct Rewriter {
    graph: Graph,
    original: Vec<NodeId>,
    select_operands: Vec<NodeId>,
    current: NodeId,
    /// As [`PlanTarget::reduction_splits`].
    reduction_splits: usize,
    /// As [`PlanTarget::max_sum_chain`].
    max_sum_chain: Option<usize>,
}

impl Rewriter {
    /// Appends a node with the dtype of `like`.
    fn append(&mut self, op: Op, inputs: &[NodeId], shape: Shape, like: &Node) -> NodeId {
        self.original.push(self.current);
        self.graph.append(op, inputs, shape, like.dtype)
    }

    fn shape(&self, node: NodeId) -> Shape {
        self.graph.node(node).shape.clone()
    }

    /// Splits a reduction of many elements to few results: first within splits of its outermost axis, then over the
    /// splits.
    fn split_reduction(&mut self, op: CombineOp, axes: &Axes, x: NodeId, node: &Node) -> NodeId {
        let shape = self.shape(x);
        let plain = Op::Reduce { op, axes: axes.clone() };
        let results = node.shape.element_count();
        let row: usize = axes.iter().map(|&axis| shape[axis]).product();
        // The number of splits that bounds the rounding error; parallelism may ask for more if there are few results.
        let exact = self
            .max_chain_length(op, node.dtype)
            .map_or(1, |max_chain_length| row.div_ceil(max_chain_length));
        let is_narrow = results < REDUCTION_SPLITS * 16;
        if results == 0 || row <= MAX_UNSPLIT_ROW || !is_narrow && exact == 1 {
            return self.append(plain, &[x], node.shape.clone(), node);
        }
        let splits = match is_narrow {
            true => (self.reduction_splits / results)
                .max(REDUCTION_SPLITS)
                .min(row.div_ceil(4096))
                .max(exact),
            false => exact,
        };
        // Split the outermost axis that is long enough: each split is then contiguous in memory.
        let outermost = axes.iter().find(|&&axis| shape[axis] / 2 >= splits.min(REDUCTION_SPLITS));
        let max_chain_length = || axes.iter().max_by_key(|&&axis| shape[axis]);
        let Some(&axis) = outermost.or_else(max_chain_length) else {
            return self.append(plain, &[x], node.shape.clone(), node);
        };
        let extent = shape[axis];
        let splits = splits.min(extent / 2).max(1);
        if splits == 1 {
            return self.append(plain, &[x], node.shape.clone(), node);
        }
        // Reduce 16-bit floats in f32, and round once at the end rather than once per stage.
        if node.dtype.is_half() {
            let wide = Node { dtype: DType::F32, ..node.clone() };
            let x = self.append(Op::Cast(DType::F32), &[x], shape, &wide);
            let folded = self.split_reduction(op, axes, x, &wide);
            return self.append(Op::Cast(node.dtype), &[folded], node.shape.clone(), node);
        }
        // The largest number of equal splits near the target; otherwise equal splits and a remainder.
        let equal = (splits / 2..=splits).rev().find(|&n| n > 1 && extent.is_multiple_of(n));
        match equal {
            Some(splits) => self.reduce_splits(op, axes, axis, splits, x, node),
            None => {
                let divisible = extent / splits * splits;
                let head = self.slice(x, axis, 0, divisible, node);
                let tail = self.slice(x, axis, divisible, extent - divisible, node);
                let head = self.reduce_splits(op, axes, axis, splits, head, node);
                // The remainder may be long, and have other axes to split.
                let tail = self.split_reduction(op, axes, tail, node);
                self.append(Op::Binary(op.binary()), &[head, tail], node.shape.clone(), node)
            }
        }
    }

    /// The maximum length of a sequential chain of this op, if the op rounds.
    fn max_chain_length(&self, op: CombineOp, dtype: DType) -> Option<usize> {
        let rounds = matches!(op, CombineOp::Sum | CombineOp::Product);
        self.max_sum_chain.filter(|_| rounds && (dtype.is_float() || dtype.is_complex()))
    }

    /// Splits the scan of a long axis: scans each split, scans the last elements of the splits, and combines each
    /// split with the total before it.
    fn split_scan(&mut self, op: CombineOp, axis: usize, x: NodeId, node: &Node) -> NodeId {
        let shape = self.shape(x);
        let (plain, extent) = (Op::Scan { op, axis }, shape[axis]);
        let max_chain_length =
            self.max_chain_length(op, node.dtype).filter(|_| extent > MAX_UNSPLIT_ROW);
        let Some(max_chain_length) = max_chain_length else {
            return self.append(plain, &[x], shape, node);
        };
        let combine = Op::Binary(op.binary());
        let Some(length) =
            (max_chain_length / 4..=max_chain_length).rev().find(|&n| extent.is_multiple_of(n))
        else {
            // No equal splits: scan the divisible part, then combine the remainder with its last element.
            let divisible = extent / max_chain_length * max_chain_length;
            let head = self.slice(x, axis, 0, divisible, node);
            let head = self.split_scan(op, axis, head, node);
            let rest = shape.with(axis, extent - divisible);
            let tail = self.slice(x, axis, divisible, extent - divisible, node);
            let tail = self.append(plain, &[tail], rest.clone(), node);
            let last = self.slice(head, axis, divisible - 1, 1, node);
            let last = self.append(Op::Broadcast(rest.clone()), &[last], rest.clone(), node);
            let tail = self.append(combine, &[last, tail], rest, node);
            return self.append(Op::Concat { axis }, &[head, tail], shape, node);
        };
        let splits = extent / length;
        let x = self.split_axis(x, axis, splits, node);
        let split = self.shape(x);
        let inner = self.append(Op::Scan { op, axis: axis + 1 }, &[x], split.clone(), node);
        let ends = self.slice(inner, axis + 1, length - 1, 1, node);
        let ends = self.reshape(ends, shape.with(axis, splits), node);
        let ends = self.split_scan(op, axis, ends, node);
        let before = self.slice(ends, axis, 0, splits - 1, node);
        let later = split.with(axis, splits - 1);
        let before = self.reshape(before, later.with(axis + 1, 1), node);
        let before = self.append(Op::Broadcast(later.clone()), &[before], later.clone(), node);
        let first = self.slice(inner, axis, 0, 1, node);
        let others = self.slice(inner, axis, 1, splits - 1, node);
        let others = self.append(combine, &[before, others], later, node);
        let all = self.append(Op::Concat { axis }, &[first, others], split, node);
        self.reshape(all, shape, node)
    }

    /// Expands an arg-reduction to the position of the first extreme element, or of the first NaN: a reduction for
    /// the extreme, then the minimum position of the elements equal to it. The order of both reductions is free,
    /// where an arg-reduction kernel carries the best element along a serial chain.
    fn expand_arg_reduce(&mut self, op: ArgOp, axis: usize, x: NodeId, node: &Node) -> NodeId {
        let shape = self.shape(x);
        let dtype = self.graph.node(x).dtype;
        // The highest bit tells positions from their complements.
        if shape[axis] < 2 || shape[axis] > i32::MAX as usize || shape.element_count() == 0 {
            let plain = Op::ArgReduce { op, axis };
            return self.append(plain, &[x], node.shape.clone(), node);
        }
        let op = match op {
            ArgOp::Min => CombineOp::Min,
            ArgOp::Max => CombineOp::Max,
        };
        let like = |dtype: DType| Node { dtype, ..node.clone() };
        let axes = Axes::from_slice(&[axis]);
        let extreme = self.split_reduction(op, &axes, x, &like(dtype));
        let extreme = self.reshape(extreme, shape.with(axis, 1), &like(dtype));
        let is_extreme = Op::Compare(CompareOp::Eq);
        let mut is_extreme =
            self.append(is_extreme, &[x, extreme], shape.clone(), &like(DType::Bool));
        if dtype.is_float() {
            let nan = Op::Unary(UnaryOp::IsNan);
            let nan = self.append(nan, &[x], shape.clone(), &like(DType::Bool));
            let either = Op::Binary(BinaryOp::Or);
            is_extreme = self.append(either, &[is_extreme, nan], shape.clone(), &like(DType::Bool));
        }
        let position = like(DType::U32);
        let iota = Op::Iota { shape: shape.clone(), axis, dtype: DType::U32 };
        let here = self.append(iota, &[], shape.clone(), &position);
        let beyond = self.append(Op::Unary(UnaryOp::Not), &[here], shape.clone(), &position);
        let positions = self.append(Op::Select, &[is_extreme, here, beyond], shape, &position);
        let first = self.split_reduction(CombineOp::Min, &axes, positions, &position);
        self.append(Op::Cast(node.dtype), &[first], node.shape.clone(), node)
    }

    /// Scatter-to-select, for one update per line: `select(position == index, combine(x, update), x)`.
    fn scatter_as_select(
        &mut self,
        axis: usize,
        combine: Option<&Combine>,
        [x, index, update]: [NodeId; 3],
        node: &Node,
    ) -> NodeId {
        let shape = &node.shape;
        if shape[axis] > 1 {
            self.select_operands.extend([index, update]);
        }
        let like = |dtype: DType| Node { dtype, ..node.clone() };
        let given = self.graph.node(index).dtype;
        let dtype = scatter_to_select::position_dtype(given, shape, axis);
        let index = match dtype == given {
            true => index,
            false => self.append(Op::Cast(dtype), &[index], self.shape(index), &like(dtype)),
        };
        let iota = Op::Iota { axis, shape: shape.clone(), dtype };
        let position = self.append(iota, &[], shape.clone(), &like(dtype));
        let is_here = Op::Compare(CompareOp::Eq);
        let is_here = self.append(is_here, &[position, index], shape.clone(), &like(DType::Bool));
        let value = match combine {
            Some(Combine::With(op)) => {
                self.append(Op::Binary(op.binary()), &[x, update], shape.clone(), node)
            }
            Some(Combine::Function(_)) => unreachable!("a scatter by a function is a routine"),
            None => update,
        };
        self.append(Op::Select, &[is_here, value, x], shape.clone(), node)
    }

    fn slice(&mut self, x: NodeId, axis: usize, start: usize, len: usize, node: &Node) -> NodeId {
        let shape = self.shape(x);
        let mut slices: smallvec::SmallVec<[SliceAxis; 4]> =
            shape.iter().map(|&extent| SliceAxis::full(extent)).collect();
        slices[axis] = SliceAxis { start, step: 1, len };
        self.append(Op::Slice(slices), &[x], shape.with(axis, len), node)
    }

    /// The same elements, with the axis split in two: the splits, and the elements of each.
    fn split_axis(&mut self, x: NodeId, axis: usize, splits: usize, node: &Node) -> NodeId {
        let mut extents: Vec<usize> = self.shape(x).to_vec();
        extents.insert(axis + 1, extents[axis] / splits);
        extents[axis] = splits;
        let shape = Shape::from(extents);
        self.append(Op::Reshape(shape.clone()), &[x], shape, node)
    }

    fn reduce_splits(
        &mut self,
        op: CombineOp,
        axes: &Axes,
        axis: usize,
        splits: usize,
        x: NodeId,
        node: &Node,
    ) -> NodeId {
        let x = self.split_axis(x, axis, splits, node);
        let inner: Axes =
            axes.iter().map(|&reduced| reduced + (reduced >= axis) as usize).collect();
        let partial = self.shape(x).reduced(&inner, false);
        let x = self.append(Op::Reduce { op, axes: inner.clone() }, &[x], partial, node);
        let before = (0..axis).filter(|axis| !inner.contains(axis)).count();
        let outer = Op::Reduce { op, axes: Axes::from_slice(&[before]) };
        self.append(outer, &[x], node.shape.clone(), node)
    }

    /// The canonical GEMM form `[batch…, m, k] · [batch…, k, n]`, through views of the operands and of the result.
    fn canonical_gemm(&mut self, axes: &DotAxes, a: NodeId, b: NodeId, node: &Node) -> NodeId {
        let (a_shape, b_shape) = (self.shape(a), self.shape(b));
        let a_free = axes.a_free(a_shape.rank());
        let b_free = axes.b_free(b_shape.rank());
        let extent = |shape: &Shape, axes: &Axes| axes.iter().map(|&axis| shape[axis]).product();
        let m: usize = extent(&a_shape, &a_free);
        let n: usize = extent(&b_shape, &b_free);
        let k: usize = extent(&a_shape, &axes.a_contract);
        let batch: Vec<usize> = axes.a_batch.iter().map(|&axis| a_shape[axis]).collect();
        let matrix = |rows: usize, columns: usize| -> Shape {
            batch.iter().copied().chain([rows, columns]).collect()
        };
        let a = self.as_matrix(a, [&axes.a_batch, &a_free, &axes.a_contract], matrix(m, k), node);
        let b = self.as_matrix(b, [&axes.b_batch, &axes.b_contract, &b_free], matrix(k, n), node);
        let rank = batch.len() + 2;
        let every: Axes = (0..batch.len()).collect();
        let canonical = DotAxes {
            a_batch: every.clone(),
            b_batch: every,
            a_contract: Axes::from_slice(&[rank - 1]),
            b_contract: Axes::from_slice(&[rank - 2]),
        };
        let gemm = self.append(Op::Dot(canonical), &[a, b], matrix(m, n), node);
        self.reshape(gemm, node.shape.clone(), node)
    }

    /// An implicit GEMM convolution, on operands with the features last, padded to [`FEATURE_BYTES`].
    fn implicit_gemm(
        &mut self,
        found: &ConvolutionMatch,
        [x, kernels]: [NodeId; 2],
        node: &Node,
    ) -> NodeId {
        let shape = self.shape(x);
        let (examples, groups, space) = (shape[0], found.feature_groups, &shape[2..]);
        let split: Shape =
            [examples, groups, shape[1] / groups].into_iter().chain(space.to_vec()).collect();
        let x = self.reshape(x, split, node);
        let rank = space.len() + 3;
        let x = self.permuted(x, std::iter::once(0).chain(3..rank).chain([1, 2]).collect(), node);
        let kernels =
            self.permuted(kernels, [0, 1].into_iter().chain(3..rank).chain([2]).collect(), node);
        let (x, kernels) = (self.pad_features(x, node), self.pad_features(kernels, node));
        let op = ImplicitGemm { windows: found.windows.clone(), order: found.order };
        self.append(Op::ImplicitGemm(Box::new(op)), &[x, kernels], node.shape.clone(), node)
    }

    /// An operand with permuted axes, composed with any permutation that it already is.
    fn permuted(&mut self, mut x: NodeId, mut order: Axes, node: &Node) -> NodeId {
        while let Op::Permute(before) = &self.graph.node(x).op {
            order = order.iter().map(|&axis| before[axis]).collect();
            x = self.graph.node(x).inputs[0];
        }
        if order.iter().copied().eq(0..order.len()) {
            return x;
        }
        let old = self.shape(x);
        let shape: Shape = order.iter().map(|&axis| old[axis]).collect();
        self.append(Op::Permute(order), &[x], shape, node)
    }

    /// An operand whose last axis is zero-padded to a multiple of [`FEATURE_BYTES`].
    fn pad_features(&mut self, x: NodeId, node: &Node) -> NodeId {
        let shape = self.shape(x);
        let last = shape.rank() - 1;
        let padded = shape[last].next_multiple_of(FEATURE_BYTES / node.dtype.size());
        if padded == shape[last] {
            return x;
        }
        // A graph scalar is bound at launch, so the zero is the first element of an iota, a constant.
        let (first, none) = (Shape::from([1]), Shape::scalar());
        let counted = Op::Iota { axis: 0, shape: first.clone(), dtype: DType::U32 };
        let zero =
            self.append(counted, &[], first.clone(), &Node { dtype: DType::U32, ..node.clone() });
        let zero = self.append(Op::Cast(node.dtype), &[zero], first, node);
        let zero = self.reshape(zero, none, node);
        let mut pads: smallvec::SmallVec<[PadAxis; 4]> =
            smallvec::SmallVec::from_elem(PadAxis::default(), shape.rank());
        pads[last].high = (padded - shape[last]) as isize;
        self.append(Op::Pad(pads), &[x, zero], shape.with(last, padded), node)
    }

    /// An operand with permuted axes, with the axes of each of the last two lists merged into one.
    fn as_matrix(&mut self, x: NodeId, order: [&Axes; 3], shape: Shape, node: &Node) -> NodeId {
        let old = self.shape(x);
        let permutation: Axes = order.into_iter().flatten().copied().collect();
        let permuted: Shape = permutation.iter().map(|&axis| old[axis]).collect();
        let x = match permutation.iter().enumerate().all(|(to, &from)| to == from) {
            true => x,
            false => self.append(Op::Permute(permutation), &[x], permuted, node),
        };
        self.reshape(x, shape, node)
    }

    fn reshape(&mut self, x: NodeId, shape: Shape, node: &Node) -> NodeId {
        match self.graph.node(x).shape == shape {
            true => x,
            false => self.append(Op::Reshape(shape.clone()), &[x], shape, node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Step, plan};

    /// A transposed dot of two matrices over their first axes, as in the gradient of weights.
    fn transposed_dot(is_read_twice: bool) -> Graph {
        let mut graph = Graph::default();
        let x = graph.input([32, 100], DType::F32);
        let dy = graph.input([32, 40], DType::F32);
        let axes = DotAxes {
            a_contract: Axes::from_slice(&[0]),
            b_contract: Axes::from_slice(&[0]),
            ..DotAxes::default()
        };
        let dot = graph.push(Op::Dot(axes), &[dy, x]).unwrap();
        let transposed = graph.push(Op::Permute(Axes::from_slice(&[1, 0])), &[dot]).unwrap();
        graph.outputs = if is_read_twice { vec![transposed, dot] } else { vec![transposed] };
        graph
    }

    #[test]
    fn arg_reductions_expand_to_reductions_when_the_target_asks() {
        let mut graph = Graph::default();
        let x = graph.input([100, 300], DType::F32);
        let op = Op::ArgReduce { op: ArgOp::Max, axis: 1 };
        graph.outputs = vec![graph.push(op, &[x]).unwrap()];
        let is_arg = |arg_reductions: bool| {
            let plan_target = PlanTarget { arg_reductions, ..PlanTarget::default() };
            let planned = crate::plan::plan_for(&graph, plan_target);
            let [Step::Launch(step)] = &planned.steps[..] else { panic!("{:?}", planned.steps) };
            // Either form reads the elements once.
            assert_eq!((step.work.bytes_read, step.work.bytes_written), (4 * 30_000, 8 * 100));
            step.kernel.body.iter().any(|i| matches!(i.kind, crate::kernel::Kind::ArgReduce(..)))
        };
        assert_eq!((is_arg(true), is_arg(false)), (true, false));
    }

    #[test]
    fn large_reductions_split_as_the_target_asks() {
        let mut graph = Graph::default();
        let x = graph.input([4096, 8192], DType::F32);
        let op = Op::Reduce { op: CombineOp::Sum, axes: Axes::from_slice(&[0, 1]) };
        graph.outputs = vec![graph.push(op, &[x]).unwrap()];
        let programs = |splits: usize, max_sum_chain: Option<usize>| {
            let plan_target =
                PlanTarget { reduction_splits: splits, max_sum_chain, ..PlanTarget::default() };
            let planned = crate::plan::plan_for(&graph, plan_target);
            let [Step::Launch(first), Step::Launch(_)] = &planned.steps[..] else {
                panic!("{:?}", planned.steps)
            };
            first.shape.extents[..first.kernel.grid_rank].iter().product::<usize>()
        };
        let many = |splits: usize| programs(splits, None);
        assert_eq!((many(256), many(2048), many(1)), (256, 2048, 256));
        // And as many as make the chains of additions short enough.
        assert_eq!(programs(256, Some(1 << 15)), 1024);
    }

    #[test]
    fn long_column_sums_split_to_bound_rounding_error() {
        for (op, dtype, steps) in [
            (CombineOp::Sum, DType::F32, 2),
            (CombineOp::Max, DType::F32, 1),
            (CombineOp::Sum, DType::I32, 1),
        ] {
            let mut graph = Graph::default();
            let x = graph.input([1 << 17, 8192], dtype);
            let op = Op::Reduce { op, axes: Axes::from_slice(&[0]) };
            graph.outputs = vec![graph.push(op, &[x]).unwrap()];
            assert_eq!(crate::plan::plan(&graph).steps.len(), steps);
        }
    }

    #[test]
    fn the_remainder_of_an_unequal_split_is_split_too() {
        for rows in [767, 4099, 12_287] {
            let mut graph = Graph::default();
            let x = graph.input([rows, 8192], DType::F32);
            let op = Op::Reduce { op: CombineOp::Sum, axes: Axes::from_slice(&[0, 1]) };
            graph.outputs = vec![graph.push(op, &[x]).unwrap()];
            for splits in [256, 4096] {
                let plan_target = PlanTarget { reduction_splits: splits, ..PlanTarget::default() };
                for step in &crate::plan::plan_for(&graph, plan_target).steps {
                    let Step::Launch(step) = step else { panic!("{step:?}") };
                    let (_, row) = step.shape.extents.split_at(step.kernel.grid_rank);
                    let row: usize = row.iter().product();
                    let most = (rows * 8192 / 64).max(MAX_UNSPLIT_ROW);
                    assert!(row <= most, "{rows} rows, {splits} splits: one sum of {row}");
                }
            }
        }
    }

    #[test]
    fn relu_gradients_compare_the_clamped_value() {
        let mut graph = Graph::default();
        let x = graph.input([32, 100], DType::F32);
        let w = graph.input([100, 40], DType::F32);
        let dy = graph.input([32, 40], DType::F32);
        let axes = DotAxes {
            a_contract: Axes::from_slice(&[1]),
            b_contract: Axes::from_slice(&[0]),
            ..DotAxes::default()
        };
        let dot = graph.push(Op::Dot(axes), &[x, w]).unwrap();
        let zero = graph.scalar(0.0f32);
        let zeros = graph.push(Op::Broadcast([32, 40].into()), &[zero]).unwrap();
        let rectified = graph.push(Op::Binary(BinaryOp::Max), &[dot, zeros]).unwrap();
        for (compare, operands, reads_rectified) in [
            (CompareOp::Gt, [dot, zeros], true),
            (CompareOp::Lt, [zeros, dot], true),
            (CompareOp::Lt, [dot, zeros], false),
            (CompareOp::Ge, [dot, zeros], false),
        ] {
            let mut graph = graph.clone();
            let mask = graph.push(Op::Compare(compare), &operands).unwrap();
            let gradient = graph.push(Op::Select, &[mask, dy, zeros]).unwrap();
            graph.outputs = vec![rectified, gradient];
            let clamped = find_clamped_operands(&graph)[mask as usize];
            assert_eq!(clamped.is_some(), reads_rectified, "{compare:?}");
            assert!(clamped.is_none_or(|(x, y)| operands[x] == dot && y == rectified));
        }
    }

    #[test]
    fn transposed_dots_swap_their_operands() {
        let planned = plan(&transposed_dot(false));
        let [Step::Gemm(step)] = &planned.steps[..] else { panic!("{:?}", planned.steps) };
        assert_eq!((step.m, step.n, step.k), (100, 40, 32));
        // With both orders read, one is computed and the other copied.
        assert_eq!(plan(&transposed_dot(true)).steps.len(), 2);
    }

    #[test]
    fn other_permutations_of_a_dot_stay_views() {
        let mut graph = Graph::default();
        let a = graph.input([3, 5, 7], DType::F32);
        let b = graph.input([3, 7, 5], DType::F32);
        let axes = DotAxes {
            a_batch: Axes::from_slice(&[0]),
            b_batch: Axes::from_slice(&[0]),
            a_contract: Axes::from_slice(&[2]),
            b_contract: Axes::from_slice(&[1]),
        };
        let dot = graph.push(Op::Dot(axes), &[a, b]).unwrap();
        let moved = graph.push(Op::Permute(Axes::from_slice(&[1, 0, 2])), &[dot]).unwrap();
        graph.outputs = vec![moved];
        assert_eq!(find_transposed_dots(&graph), [None; 4]);
        let transposed = graph.push(Op::Permute(Axes::from_slice(&[0, 2, 1])), &[dot]).unwrap();
        graph.outputs = vec![transposed];
        assert_eq!(find_transposed_dots(&graph)[2], None, "it has another use");
    }
}
