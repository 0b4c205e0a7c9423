//! Layout of a kernel's domain: axis merging and vectorization. Chooses the vector axis by cost, merges contiguous
//! axes, and assigns the rest to grid and reduction.

use super::lower::{RawAccess, RawKernel};
use super::{BufferId, Epilogue, LaunchStep, work};
use crate::Shape;
use crate::graph::NodeId;
use crate::kernel::{AccessShape, Kernel, Kind, LaunchShape, VectorAxis};
use smallvec::SmallVec;
use std::sync::Arc;

/// An axis of a domain during layout.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The extent.
    pub extent: usize,
    /// Whether reductions fold it.
    pub reduced: bool,
    /// The stride of each access along the axis. Callers may append further strides that must be contiguous for axes
    /// to merge.
    pub strides: SmallVec<[isize; 8]>,
}

/// A domain after layout: its axes by role.
pub struct Domain {
    /// Grid axes, outermost first.
    pub grid: Vec<Axis>,
    /// Reduce axes, outermost first.
    pub reduce: Vec<Axis>,
    /// The vector axis.
    pub vector: Axis,
}

/// Lays out the domain of a kernel, and binds it to buffers.
pub fn lay_out_kernel(raw: &RawKernel, buffer: impl Fn(NodeId) -> BufferId) -> LaunchStep {
    let mut axes = domain_axes(raw);
    let reduces = axes.iter().any(|axis| axis.reduced);
    let mut vector = match choose_vector_axis(&mut axes, raw) {
        Some(vector) => vector,
        // The domain is a single point: vectorize along a parallel axis of extent 1.
        None => Axis { extent: 1, reduced: false, strides: single_point(raw) },
    };
    let (mut grid, mut reduce): (Vec<Axis>, Vec<Axis>) =
        axes.into_iter().partition(|axis| !axis.reduced);
    // Merge contiguous outer axes into the vector axis.
    match vector.reduced {
        true => merge_into_vector(&mut reduce, &mut vector, raw.ordered),
        false => merge_into_vector(&mut grid, &mut vector, false),
    }
    merge_axes(&mut grid, false);
    merge_axes(&mut reduce, raw.ordered);
    debug_assert!(!reduces || vector.reduced || !reduce.is_empty());
    build_launch(raw, Domain { grid, reduce, vector }, buffer)
}

/// Lays a kernel out as the epilogue of a GEMM with a result of this shape. `None` unless the kernel reads the whole
/// GEMM result, row by row, and its domain has no axes but those of the GEMM.
pub fn lay_out_epilogue(
    raw: &RawKernel,
    result: NodeId,
    shape: &Shape,
    buffer: impl Fn(NodeId) -> BufferId,
) -> Option<Epilogue> {
    let columns = *shape.last()?;
    let param = raw.params.iter().position(|(node, _)| *node == result)?;
    let mut reads = (0..raw.accesses.len())
        .filter(|&position| raw.accesses[position].param == Some(param as u32));
    let (access, None) = (reads.next()?, reads.next()) else { return None };
    let read = &raw.accesses[access];
    let indexed = raw.body.iter().any(|instruction| match instruction.kind {
        Kind::Load { access: at, index, mask } => {
            at as usize == access && (index.is_some() || mask.is_some())
        }
        _ => false,
    });
    if read.offset != 0 || indexed || raw.ordered {
        return None;
    }
    let mut axes = domain_axes(raw);
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.strides[access]));
    // The innermost axes are the columns. They must be contiguous in every access.
    let mut vector = axes.pop().filter(|axis| axis.strides[access] == 1)?;
    while vector.extent < columns {
        let outer = axes
            .pop()
            .filter(|outer| outer.reduced == vector.reduced && is_contiguous(outer, &vector))?;
        vector.extent *= outer.extent;
    }
    let mut expected = columns as isize;
    for axis in axes.iter().rev() {
        if axis.reduced || axis.strides[access] != expected {
            return None;
        }
        expected *= axis.extent as isize;
    }
    // An epilogue cannot read only a slice of the result.
    if vector.extent != columns || expected != shape.element_count() as isize {
        return None;
    }
    merge_axes(&mut axes, true);
    let launch = build_launch(raw, Domain { grid: axes, reduce: Vec::new(), vector }, buffer);
    Some(Epilogue { launch, gemm_result: param })
}

/// The axes of the domain as lowered, without those of extent 1.
pub fn domain_axes(raw: &RawKernel) -> Vec<Axis> {
    raw.axes
        .iter()
        .enumerate()
        .map(|(position, axis)| Axis {
            extent: axis.extent,
            reduced: axis.reduced,
            strides: raw.accesses.iter().map(|access| stride(access, position)).collect(),
        })
        .filter(|axis| axis.extent != 1)
        .collect()
}

/// Builds the kernel and its launch from a domain after layout.
pub fn build_launch(
    raw: &RawKernel,
    domain: Domain,
    buffer: impl Fn(NodeId) -> BufferId,
) -> LaunchStep {
    let Domain { grid, reduce, vector } = domain;
    let order: Vec<&Axis> = grid.iter().chain(&reduce).chain([&vector]).collect();
    let reduce_positions: Vec<usize> = (grid.len()..grid.len() + reduce.len()).collect();
    let extents: SmallVec<[usize; 6]> = order.iter().map(|axis| axis.extent).collect();
    let mut classes = Vec::with_capacity(raw.accesses.len());
    let mut shapes = Vec::with_capacity(raw.accesses.len());
    for (position, access) in raw.accesses.iter().enumerate() {
        let strides: SmallVec<[isize; 6]> =
            order.iter().map(|axis| axis.strides[position]).collect();
        let laid_out = RawAccess { strides: strides.clone(), ..access.clone() };
        classes.push(laid_out.class(&reduce_positions, Some(order.len() - 1)));
        let index_stride = access.index_stride;
        shapes.push(AccessShape { offset: access.offset, strides, index_stride });
    }
    let kernel = Kernel {
        params: raw.params.iter().map(|(_, param)| *param).collect(),
        scalars: raw.scalar_dtypes.clone(),
        accesses: classes,
        grid_rank: grid.len(),
        reduce_rank: reduce.len(),
        vector: if vector.reduced { VectorAxis::Reduced } else { VectorAxis::Parallel },
        body: raw.body.clone(),
    };
    debug_assert_eq!(crate::kernel::verify(&kernel), Ok(()), "{kernel:?}");
    let shape = LaunchShape { extents, accesses: shapes };
    let work = work::count_work(raw, &shape);
    LaunchStep {
        kernel: Arc::new(kernel),
        shape: Arc::new(shape),
        buffers: raw.params.iter().map(|&(node, _)| buffer(node)).collect(),
        scalars: raw.scalars.iter().copied().collect(),
        work,
    }
}

fn stride(access: &RawAccess, axis: usize) -> isize {
    access.strides.get(axis).copied().unwrap_or(0)
}

/// Strides along the vector axis of a kernel without axes. Stores need a nonzero stride there.
fn single_point(raw: &RawKernel) -> SmallVec<[isize; 8]> {
    raw.accesses.iter().map(|access| access.stores as isize).collect()
}

/// Vectorization: removes the axis with the lowest cost per element from the list and returns it as the vector axis.
pub fn choose_vector_axis(axes: &mut Vec<Axis>, raw: &RawKernel) -> Option<Axis> {
    let last_reduced = axes.iter().rposition(|axis| axis.reduced);
    let candidates = (0..axes.len()).filter(|&position| {
        // An ordered reduction visits its elements in order, so its vector axis must be the innermost reduced axis.
        !raw.ordered || !axes[position].reduced || Some(position) == last_reduced
    });
    let best = candidates.min_by(|&a, &b| {
        let (a, b) = (vector_axis_cost(&axes[a], raw), vector_axis_cost(&axes[b], raw));
        // Ties go to the innermost axis.
        a.total_cmp(&b).then(std::cmp::Ordering::Greater)
    })?;
    Some(axes.remove(best))
}

/// Estimated cycles per element with vectors of 16 lanes along an axis.
fn vector_axis_cost(axis: &Axis, raw: &RawKernel) -> f64 {
    const LANES: f64 = 16.0;
    let memory: f64 = axis
        .strides
        .iter()
        .zip(&raw.accesses)
        .filter(|(_, access)| access.param.is_some())
        .map(|(&stride, access)| {
            let weight = if access.stores { 2.0 } else { 1.0 };
            match stride {
                0 if !access.stores => 0.01,
                0 | 1 => weight / LANES,
                _ => weight,
            }
        })
        .sum();
    let arithmetic = raw.body.len() as f64 * 0.5 / LANES;
    let extent = axis.extent.max(1) as f64;
    let used = extent / ((extent / LANES).ceil() * LANES);
    let fold = if axis.reduced { 12.0 / extent } else { 0.0 };
    (memory + arithmetic) / used + fold
}

/// Whether `outer` continues `inner` contiguously in every access, so that the two can merge.
fn is_contiguous(outer: &Axis, inner: &Axis) -> bool {
    outer
        .strides
        .iter()
        .zip(&inner.strides)
        .all(|(&outer, &within)| outer == within * inner.extent as isize)
}

/// Axis merging: merges axes that every access continues contiguously into the vector axis.
pub fn merge_into_vector(axes: &mut Vec<Axis>, vector: &mut Axis, adjacent_only: bool) {
    while let Some(position) = match adjacent_only {
        true => axes.len().checked_sub(1).filter(|&last| is_contiguous(&axes[last], vector)),
        false => axes.iter().rposition(|axis| is_contiguous(axis, vector)),
    } {
        vector.extent *= axes.remove(position).extent;
    }
}

/// Axis merging within a list: merges axes that every access continues contiguously.
pub fn merge_axes(axes: &mut Vec<Axis>, adjacent_only: bool) {
    let mut inner = axes.len();
    while inner > 0 {
        inner -= 1;
        let outer = (0..axes.len()).rev().find(|&outer| {
            let allowed = if adjacent_only { outer + 1 == inner } else { outer != inner };
            allowed && is_contiguous(&axes[outer], &axes[inner])
        });
        if let Some(outer) = outer {
            let extent = axes[outer].extent;
            axes[inner].extent *= extent;
            axes.remove(outer);
            inner = axes.len();
        }
    }
}
