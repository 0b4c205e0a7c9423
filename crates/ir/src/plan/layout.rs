//! Lays a kernel's domain out: which axis the vectors run along, which axes merge into one, and what is
//! grid, reduction and vector.

use super::lower::{RawAccess, RawKernel};
use super::{BufferId, Epilogue, LaunchStep, Work};
use crate::Shape;
use crate::graph::NodeId;
use crate::kernel::{AccessShape, Kernel, Kind, LaunchShape, VectorAxis};
use smallvec::SmallVec;
use std::sync::Arc;

/// One axis of the domain while it is laid out.
#[derive(Clone, Debug)]
pub struct Axis {
    /// How many points.
    pub extent: usize,
    /// Whether reductions fold it.
    pub reduced: bool,
    /// The stride of each access along it, and of whatever else must go on where axes are merged.
    pub strides: SmallVec<[isize; 8]>,
}

/// The axes of a domain, sorted into what they are in a kernel.
pub struct Domain {
    /// Grid axes.
    pub grid: Vec<Axis>,
    /// Reduce axes.
    pub reduce: Vec<Axis>,
    /// The vector axis.
    pub vector: Axis,
}

/// The finished step of a raw kernel.
pub fn lay_out_kernel(raw: &RawKernel, buffer: impl Fn(NodeId) -> BufferId) -> LaunchStep {
    let mut axes = domain_axes(raw);
    let reduces = axes.iter().any(|axis| axis.reduced);
    let mut vector = match choose_vector_axis(&mut axes, raw) {
        Some(vector) => vector,
        // A single point: its lane is a parallel axis of one.
        None => Axis { extent: 1, reduced: false, strides: single_point(raw) },
    };
    let (mut grid, mut reduce): (Vec<Axis>, Vec<Axis>) =
        axes.into_iter().partition(|axis| !axis.reduced);
    // What runs on in memory is one axis: inner axes swallow the ones outside of them.
    match vector.reduced {
        true => merge_into_vector(&mut reduce, &mut vector, raw.ordered),
        false => merge_into_vector(&mut grid, &mut vector, false),
    }
    merge_axes(&mut grid, false);
    merge_axes(&mut reduce, raw.ordered);
    debug_assert!(!reduces || vector.reduced || !reduce.is_empty());
    build_launch(raw, Domain { grid, reduce, vector }, buffer)
}

/// The finished step of a raw kernel that takes in a product of this shape part by part, if it can: it reads
/// all of the product, row by row, and nothing but the product's own axes is walked.
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
    // The innermost axes are the columns. They must run on in every access.
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
    // A slice of the product is not all of it.
    if vector.extent != columns || expected != shape.elements() as isize {
        return None;
    }
    merge_axes(&mut axes, true);
    let launch = build_launch(raw, Domain { grid: axes, reduce: Vec::new(), vector }, buffer);
    Some(Epilogue { launch, gemm_result: param })
}

/// The axes of a domain as it was built, but for those of one point.
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

/// The kernel and the launch of a domain that is laid out.
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
    let work = count_work(raw, &shape);
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

/// Strides for the lane of a kernel without axes: stores advance, as stores must.
fn single_point(raw: &RawKernel) -> SmallVec<[isize; 8]> {
    raw.accesses.iter().map(|access| access.stores as isize).collect()
}

/// Takes the axis that vectors should run along out of the list: the one that costs least for each
/// element.
pub fn choose_vector_axis(axes: &mut Vec<Axis>, raw: &RawKernel) -> Option<Axis> {
    let last_reduced = axes.iter().rposition(|axis| axis.reduced);
    let candidates = (0..axes.len()).filter(|&position| {
        // In order along a row means: no other reduced axis may run inside.
        !raw.ordered || !axes[position].reduced || Some(position) == last_reduced
    });
    let best = candidates.min_by(|&a, &b| {
        let (a, b) = (vector_axis_cost(&axes[a], raw), vector_axis_cost(&axes[b], raw));
        // Of equals the innermost.
        a.total_cmp(&b).then(std::cmp::Ordering::Greater)
    })?;
    Some(axes.remove(best))
}

/// Roughly the cycles for one element when vectors of 16 run along an axis.
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

/// Whether `outer` goes on where `inner` ends, for every access.
fn is_contiguous(outer: &Axis, inner: &Axis) -> bool {
    outer
        .strides
        .iter()
        .zip(&inner.strides)
        .all(|(&outer, &within)| outer == within * inner.extent as isize)
}

/// Merges axes into the vector axis where all accesses go on from one to the other.
pub fn merge_into_vector(axes: &mut Vec<Axis>, vector: &mut Axis, adjacent_only: bool) {
    while let Some(position) = match adjacent_only {
        true => axes.len().checked_sub(1).filter(|&last| is_contiguous(&axes[last], vector)),
        false => axes.iter().rposition(|axis| is_contiguous(axis, vector)),
    } {
        vector.extent *= axes.remove(position).extent;
    }
}

/// Merges axes of a list with each other where all accesses go on from one to the other.
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

/// The nodes a kernel computes and the bytes it moves: each distinct element of each operand once.
fn count_work(raw: &RawKernel, shape: &LaunchShape) -> Work {
    let mut nodes = raw.nodes.clone();
    nodes.sort_unstable();
    nodes.dedup();
    let mut work = Work { nodes, ..Work::default() };
    for (param, (_, data)) in raw.params.iter().enumerate() {
        let accesses = raw.accesses.iter().zip(&shape.accesses);
        for (raw_access, access) in accesses.filter(|(raw, _)| raw.param == Some(param as u32)) {
            let points = || shape.extents.iter().zip(&access.strides);
            let visited: usize =
                points().filter(|(_, stride)| **stride != 0).map(|(extent, _)| extent).product();
            // Windows overlap: there are no more elements than lie between the first and the last.
            let reach: usize = points()
                .map(|(extent, stride)| extent.saturating_sub(1) * stride.unsigned_abs())
                .sum();
            let distinct = visited.min(reach + 1).min(raw_access.elements);
            // Looked up elements are counted as often as they are looked up.
            let indexed = access.index_stride != 0;
            let touched = if indexed { shape.extents.iter().product() } else { distinct };
            let bytes = (touched * data.dtype.size()) as u64;
            if raw_access.stores {
                work.bytes_written += bytes;
            } else {
                work.bytes_read += bytes;
            }
            if has_combining_store(raw, raw_access) {
                work.bytes_read += bytes;
            }
        }
    }
    work
}

fn has_combining_store(raw: &RawKernel, access: &RawAccess) -> bool {
    access.stores
        && raw.body.iter().any(|instruction| match instruction.kind {
            Kind::Store { access: stored, combine: Some(_), .. } => {
                raw.accesses[stored as usize] == *access
            }
            _ => false,
        })
}
