//! Work of a step: the nodes it computes, the bytes it moves and the operations it performs.
//!
//! Explanations, counters, traces and profiles show these counts. They follow from the plan alone: nothing is measured.

use super::lower::{RawAccess, RawKernel};
use super::{GemmStep, ImplicitGemmOperands, LaunchStep, Producer, Routine, Step};
use crate::DType;
use crate::graph::NodeId;
use crate::kernel::{AccessShape, Kernel, Kind, LaunchShape, Level};

/// The work of a step, for explanations, messages and counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The graph nodes that the step computes, ascending.
    pub nodes: Vec<NodeId>,
    /// Bytes read, each distinct element of each operand once.
    pub bytes_read: u64,
    /// Bytes written, each element once.
    pub bytes_written: u64,
    /// Arithmetic operations. A GEMM counts a multiplication and an addition for each step of its sums. A kernel counts
    /// each arithmetic instruction, comparison and reduction step once for each element that it is applied to, and a
    /// fused multiply-add twice; a transcendental function such as `exp` is one operation. Integer operations count as
    /// well. Loads, stores, conversions, selections and the routines of a library other than implicit GEMM count
    /// nothing.
    pub flops: u64,
    /// The dtype of the step's GEMM or implicit GEMM, if it is one.
    pub gemm: Option<DType>,
}

/// The nodes that a kernel computes and the bytes that it moves.
pub fn count_work(raw: &RawKernel, shape: &LaunchShape) -> Work {
    let mut nodes = raw.nodes.clone();
    nodes.sort_unstable();
    nodes.dedup();
    let mut work = Work { nodes, ..Work::default() };
    for (param, (_, data)) in raw.params.iter().enumerate() {
        let accesses = raw.accesses.iter().zip(&shape.accesses);
        let (mut read, mut written, mut elements) = (0, 0, 0);
        for (raw_access, access) in accesses.filter(|(raw, _)| raw.param == Some(param as u32)) {
            elements = raw_access.elements;
            let touched = touched_elements(raw_access, access, &shape.extents);
            if raw_access.stores {
                written += touched;
            } else {
                read += touched;
            }
            if has_combining_store(raw, raw_access) {
                read += touched;
            }
        }
        // Several accesses may touch the same elements, as those of a stencil do: the operand bounds them together.
        let bytes = |touched: usize| (touched.min(elements) * data.dtype.size()) as u64;
        work.bytes_read += bytes(read);
        work.bytes_written += bytes(written);
    }
    work
}

/// An upper bound of the distinct elements that an access touches.
fn touched_elements(raw: &RawAccess, access: &AccessShape, extents: &[usize]) -> usize {
    // The indices of a gather are unknown: each may select another element.
    let touched = match access.index_stride != 0 {
        true => extents.iter().product(),
        false => {
            let axes = extents.iter().copied().zip(access.strides.iter().copied());
            // A store runs once for each point that it varies over, also where the axis of a reduction is empty.
            distinct_elements(axes.filter(|&(_, stride)| !raw.stores || stride != 0))
        }
    };
    touched.min(raw.elements)
}

/// The distinct addresses that a strided access forms, given the extent and the stride of each axis. Exact for
/// broadcasts, slices and windows whose strides divide each other; an upper bound otherwise.
///
/// Windows overlap: a convolution of `ow` positions and `kw` taps forms `ow · kw` addresses, of which only
/// `ow + kw - 1` are distinct if both strides are 1. So axes are taken in the order of their strides, and an axis whose
/// stride is no longer than the contiguous run so far extends the run instead of repeating it.
pub fn distinct_elements(axes: impl Iterator<Item = (usize, isize)>) -> usize {
    let mut axes: Vec<(usize, usize)> =
        axes.map(|(extent, stride)| (extent, stride.unsigned_abs())).collect();
    if axes.iter().any(|&(extent, _)| extent == 0) {
        return 0;
    }
    axes.retain(|&(extent, stride)| extent > 1 && stride != 0);
    axes.sort_unstable_by_key(|&(_, stride)| stride);
    let reach: usize = axes.iter().map(|&(extent, stride)| (extent - 1) * stride).sum();
    // A run of addresses `unit` apart, and how many copies of shorter runs each address of it stands for.
    let (mut unit, mut run, mut copies) = (1, 1, 1usize);
    for (extent, stride) in axes {
        if run > 1 && stride % unit == 0 && stride / unit <= run {
            run += (extent - 1) * (stride / unit);
        } else {
            copies = copies.saturating_mul(run);
            (unit, run) = (stride, extent);
        }
    }
    copies.saturating_mul(run).min(reach + 1)
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

/// Sets the operation counts of a step whose bytes are counted.
pub fn count_operations(step: &mut Step) {
    let (flops, gemm) = match step {
        Step::Launch(launch) => (launch_flops(launch), None),
        Step::Gemm(gemm) => (gemm_flops(gemm), Some(gemm.dtype)),
        Step::Routine(step) => match &step.routine {
            Routine::ImplicitGemm(operands) => {
                (implicit_gemm_flops(operands), Some(operands.dtype))
            }
            _ => (0, None),
        },
    };
    let work = step.work_mut();
    (work.flops, work.gemm) = (flops, gemm);
}

/// The operations of a GEMM with its fused prologue and epilogue.
fn gemm_flops(step: &GemmStep) -> u64 {
    let batches: usize = step.batch.iter().product();
    let own = 2 * (batches * step.m * step.n * step.k) as u64;
    let prologue = match step.prologue.as_ref().map(|prologue| &prologue.producer) {
        None => 0,
        Some(Producer::Kernel(kernel)) => launch_flops(&kernel.launch),
        Some(Producer::Gemm(chained)) => gemm_flops(&chained.gemm),
    };
    own + prologue + step.epilogue.as_ref().map_or(0, |epilogue| launch_flops(&epilogue.launch))
}

/// The operations of a convolution: one GEMM of positions × (features × taps) × outputs for each example and group.
fn implicit_gemm_flops(operands: &ImplicitGemmOperands) -> u64 {
    let extents = &operands.extents;
    let taps: usize = operands.gemm.windows.iter().map(|window| window.size).product();
    let sums = extents.groups()
        * extents.examples
        * extents.outputs
        * extents.positions.iter().product::<usize>();
    2 * (sums * extents.features * taps) as u64
}

/// The operations of a kernel: each instruction times the elements that it is applied to. A value that does not vary
/// along the reduced axes, such as the reciprocal of a row's sum, is computed once for each row.
pub fn launch_flops(launch: &LaunchStep) -> u64 {
    let (kernel, extents) = (&launch.kernel, &launch.shape.extents);
    let levels = kernel.levels();
    let operations = kernel.body.iter().zip(&levels).map(|(instruction, &level)| {
        let (operations, level) = match instruction.kind {
            Kind::Unary(..) | Kind::Binary(..) | Kind::Compare(..) => (1, level),
            Kind::Fma(..) => (2, level),
            // A reduction combines the elements of its operand.
            Kind::Reduce(_, operand) | Kind::ArgReduce(_, operand) | Kind::Scan(_, operand) => {
                (1, levels[operand as usize])
            }
            Kind::Store { combine: Some(_), .. } => (1, level),
            _ => return 0,
        };
        operations * points(kernel, extents, level) as u64
    });
    operations.sum()
}

/// The number of elements of a value of this level, over the whole launch.
fn points(kernel: &Kernel, extents: &[usize], level: Level) -> usize {
    let (grid, tile) = extents.split_at(kernel.grid_rank);
    let programs: usize = grid.iter().product();
    programs
        * match level {
            Level::Program => 1,
            Level::Column => tile.last().copied().unwrap_or(1),
            Level::Tile => tile.iter().product(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axes;
    use crate::elementwise::CombineOp;
    use crate::graph::{DotAxes, Graph, Op};
    use crate::plan::plan;

    #[test]
    fn distinct_elements_of_windows_slices_and_broadcasts() {
        let distinct = |axes: &[(usize, isize)]| distinct_elements(axes.iter().copied());
        // Row-major, broadcast, every second column, reversed, empty, a single point.
        assert_eq!(distinct(&[(4, 10), (10, 1)]), 40);
        assert_eq!(distinct(&[(7, 0), (4, 10), (10, 1)]), 40);
        assert_eq!(distinct(&[(4, 10), (5, 2)]), 20);
        assert_eq!(distinct(&[(4, -10), (10, -1)]), 40);
        assert_eq!(distinct(&[(0, 10), (10, 1)]), 0);
        assert_eq!(distinct(&[]), 1);
        // 8 windows of 3 elements, 1 apart: 8 + 3 - 1. 2 apart: 2 · 7 + 3. 5 apart, without overlap: 24.
        assert_eq!(distinct(&[(8, 1), (3, 1)]), 10);
        assert_eq!(distinct(&[(8, 2), (3, 1)]), 17);
        assert_eq!(distinct(&[(8, 5), (3, 1)]), 24);
        // Windows of 3 × 3 over 2 images of 10 × 10: all of both.
        assert_eq!(distinct(&[(2, 100), (8, 10), (8, 1), (3, 10), (3, 1)]), 200);
        // Windows of 3 × 3 over the left 6 columns of each row: 10 rows of 6.
        assert_eq!(distinct(&[(8, 10), (4, 1), (3, 10), (3, 1)]), 60);
    }

    /// The sum of no elements is stored once. It becomes an operand that a GEMM's prologue computes, whose bytes are taken
    /// off those of the prologue.
    #[test]
    fn the_store_of_an_empty_reduction_counts() {
        let mut graph = Graph::default();
        let x = graph.input([0, 1], DType::U32);
        let w = graph.input([1, 1, 1], DType::C64);
        let sum = Op::Reduce { op: CombineOp::Sum, axes: Axes::from_slice(&[0]) };
        let sum = graph.push(sum, &[x]).unwrap();
        let cast = graph.push(Op::Cast(DType::C64), &[sum]).unwrap();
        let axes = DotAxes {
            a_batch: Axes::from_slice(&[0]),
            b_batch: Axes::from_slice(&[2]),
            ..DotAxes::default()
        };
        let dot = graph.push(Op::Dot(axes), &[cast, w]).unwrap();
        graph.outputs = vec![dot];
        let planned = plan(&graph);
        let [Step::Gemm(gemm)] = &planned.steps[..] else { panic!("{:?}", planned.steps) };
        assert!(gemm.prologue.is_some());
        // Of the operands only `w` is in memory; the result is one element.
        assert_eq!((gemm.work.bytes_read, gemm.work.bytes_written), (8, 8));
    }
}
