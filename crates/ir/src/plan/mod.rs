//! The planner: compiles a graph into a list of steps (kernel launches, GEMMs and routines) with assigned buffers.
//!
//! Planning is a list of passes over plain data. [`plan_for`] runs them top to bottom:
//!
//! 1. [`rewrite`]: graph rewrites. Split reductions and scans, canonical GEMM form, swapped operands for transposed
//!    dots, implicit GEMM convolution ([`implicit_gemm`]), scatter-to-select ([`scatter_to_select`]), and DCE of the
//!    nodes that these leave without a use;
//! 2. [`materialize`]: materialization decisions. Which values are stored to memory, by a bytes-moved cost model;
//! 3. [`fusion`]: fusion groups. Each materialized value becomes a kernel, which fuses every producer that it can.
//!    [`lower`] turns a group into a kernel: views become index maps ([`index`]), the other ops instructions, with
//!    CSE;
//! 4. [`buffer_assignment`]: buffer assignment. A buffer for each materialized value; then each group, in topological
//!    order, becomes steps that are bound to buffers;
//! 5. [`gemm_fusion`]: GEMM epilogue and prologue fusion, and chained GEMMs ([`gemm`], [`prologue`]);
//! 6. [`layout`]: axis merging and vectorization. The axes of a kernel's domain are merged, ordered and assigned to
//!    grid, reduction and vector;
//! 7. [`batch`]: launch batching. Independent launches are reordered to be adjacent and share a command.
//!
//! [`work`] counts the bytes and operations of each step, for explanations and profiles.
//!
//! The result depends on the graph and the target alone, so plans are cached by the structure of the graph.

mod batch;
mod buffer_assignment;
mod fusion;
mod gemm;
mod gemm_fusion;
mod implicit_gemm;
mod index;
mod layout;
mod lower;
mod materialize;
mod prologue;
mod reason;
mod rewrite;
mod routine;
mod scatter_to_select;
mod work;

use crate::graph::Graph;
use crate::kernel::{Kernel, LaunchShape, VectorAxis};
use crate::{DType, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

pub use prologue::{BlockKernel, ChainedGemm, Producer, Prologue, Side};
pub use reason::Reason;
pub use rewrite::MAX_SUM_CHAIN;
pub use routine::{ImplicitGemmOperands, Lines, Routine, RoutineStep, TriangularSystems};
pub use work::Work;

/// Alignment of the feature axis of implicit GEMM operands: features are contiguous and padded to a multiple of this
/// many bytes.
pub const FEATURE_BYTES: usize = 16;

/// The index of a buffer in [`Plan::buffers`].
pub type BufferId = u32;

/// Steps in execution order, and the buffers they are bound to.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Every buffer that a step reads or writes.
    pub buffers: Vec<PlanBuffer>,
    /// The buffer of each graph output, row-major.
    pub outputs: Vec<BufferId>,
    /// The steps. Each reads inputs of the graph or results of earlier steps.
    pub steps: Vec<Step>,
    /// Launch batches: the number of consecutive steps in each command. The launches of a batch are independent.
    pub batches: Vec<usize>,
}

/// A buffer of a plan: row-major and contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanBuffer {
    /// The position among the graph's inputs whose value it holds, or `None` if a step writes it.
    pub input: Option<usize>,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The number of elements.
    pub elements: usize,
    /// Why the value is materialized, if a step writes it.
    pub reason: Option<Reason>,
}

/// One command.
#[derive(Clone, Debug)]
pub enum Step {
    /// Launches a kernel.
    Launch(LaunchStep),
    /// Runs a batched GEMM.
    Gemm(GemmStep),
    /// Runs a routine.
    Routine(RoutineStep),
}

/// A kernel launch: the kernel, its shape and its arguments.
#[derive(Clone, Debug)]
pub struct LaunchStep {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The extents of the domain, and the access maps.
    pub shape: Arc<LaunchShape>,
    /// The buffer bound to each kernel param.
    pub buffers: SmallVec<[BufferId; 6]>,
    /// The source of each scalar argument.
    pub scalars: SmallVec<[ScalarSource; 4]>,
    /// Nodes computed and bytes moved.
    pub work: Work,
}

/// The source of a scalar kernel argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarSource {
    /// The value at this index of [`Graph::scalars`].
    Graph(usize),
    /// A value derived from the shapes.
    Fixed(Scalar),
}

/// A batched GEMM on strided operands, with its fused prologue and epilogue.
#[derive(Clone, Debug)]
pub struct GemmStep {
    /// The dtype of `a`, `b` and `c`.
    pub dtype: DType,
    /// The extents of the batch axes.
    pub batch: SmallVec<[usize; 4]>,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// The contracted extent.
    pub k: usize,
    /// The left operand, `m` × `k`.
    pub a: MatrixOperand,
    /// The right operand, `k` × `n`.
    pub b: MatrixOperand,
    /// The result, `m` × `n`.
    pub c: MatrixOperand,
    /// A fused producer that computes an operand block by block, when the GEMM needs the block.
    pub prologue: Option<Box<Prologue>>,
    /// A fused consumer that processes each tile of the result while it is in cache. The GEMM result itself is then
    /// never stored to memory that other steps see.
    pub epilogue: Option<Box<Epilogue>>,
    /// Nodes computed and bytes moved, including the fused kernels.
    pub work: Work,
}

/// A fused GEMM epilogue: a kernel that consumes the GEMM result as it is computed.
///
/// The kernel's flat grid index is the row of the GEMM, counted over all batches, and its vector axis runs over the
/// columns of the GEMM. It has no reduce axes.
#[derive(Clone, Debug)]
pub struct Epilogue {
    /// The kernel and its arguments.
    pub launch: LaunchStep,
    /// The index of the kernel param that is bound to the GEMM result.
    pub gemm_result: usize,
}

/// A batch of strided matrices in a buffer. Offsets and strides are in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixOperand {
    /// The buffer.
    pub buffer: BufferId,
    /// The offset of the first element.
    pub offset: isize,
    /// The stride of each batch axis.
    pub batch_strides: SmallVec<[isize; 4]>,
    /// The stride between rows.
    pub row_stride: isize,
    /// The stride between columns.
    pub column_stride: isize,
}

impl Step {
    /// The kernel that the step launches, or the epilogue of its GEMM.
    pub fn launch(&self) -> Option<&LaunchStep> {
        match self {
            Step::Launch(step) => Some(step),
            Step::Gemm(step) => step.epilogue.as_ref().map(|epilogue| &epilogue.launch),
            Step::Routine(_) => None,
        }
    }

    /// All kernels of the step: the one it launches, or those of its GEMMs, innermost first, each prologue before its
    /// epilogue.
    pub fn launches(&self) -> SmallVec<[&LaunchStep; 2]> {
        let mut launches = SmallVec::new();
        match self {
            Step::Launch(step) => launches.push(step),
            Step::Gemm(step) => step.push_launches(&mut launches),
            Step::Routine(_) => {}
        }
        launches
    }

    /// The bound buffers; a buffer that is bound twice is listed twice.
    pub fn operands(&self) -> SmallVec<[BufferId; 8]> {
        let mut operands = SmallVec::new();
        match self {
            Step::Gemm(step) => step.push_operands(&mut operands),
            Step::Routine(step) => {
                operands.extend(step.operands.iter().copied().chain([step.result]));
            }
            Step::Launch(_) => {}
        }
        let launches = self.launches();
        operands.extend(launches.iter().flat_map(|launch| launch.buffers.iter().copied()));
        operands
    }

    /// Bound buffers that are internal to the step: fused GEMM operands and results, of which only blocks ever exist.
    /// They need no memory.
    pub fn internal_buffers(&self) -> SmallVec<[BufferId; 4]> {
        let mut internal_buffers = SmallVec::new();
        if let Step::Gemm(step) = self {
            step.push_internal_buffers(&mut internal_buffers);
        }
        internal_buffers
    }

    /// The buffers that the step writes and other steps may read.
    pub fn results(&self) -> SmallVec<[BufferId; 4]> {
        let mut results = SmallVec::new();
        match self {
            Step::Gemm(step) if step.epilogue.is_none() => results.push(step.c.buffer),
            Step::Routine(step) => results.push(step.result),
            _ => {}
        }
        for launch in self.launches() {
            let params = launch.kernel.params.iter().zip(&launch.buffers);
            results.extend(params.filter(|(param, _)| param.writes).map(|(_, &buffer)| buffer));
        }
        let internal_buffers = self.internal_buffers();
        results.retain(|result| !internal_buffers.contains(result));
        results
    }

    /// Nodes computed and bytes moved.
    pub fn work(&self) -> &Work {
        match self {
            Step::Launch(step) => &step.work,
            Step::Gemm(step) => &step.work,
            Step::Routine(step) => &step.work,
        }
    }

    fn work_mut(&mut self) -> &mut Work {
        match self {
            Step::Launch(step) => &mut step.work,
            Step::Gemm(step) => &mut step.work,
            Step::Routine(step) => &mut step.work,
        }
    }
}

impl Epilogue {
    /// Whether the epilogue needs whole rows of the GEMM result, because its kernel reduces along them.
    pub fn reduces_rows(&self) -> bool {
        self.launch.kernel.vector == VectorAxis::Reduced
    }
}

impl GemmStep {
    fn push_launches<'a>(&'a self, launches: &mut SmallVec<[&'a LaunchStep; 2]>) {
        match self.prologue.as_ref().map(|prologue| &prologue.producer) {
            None => {}
            Some(Producer::Kernel(kernel)) => launches.push(&kernel.launch),
            Some(Producer::Gemm(chained)) => chained.gemm.push_launches(launches),
        }
        launches.extend(self.epilogue.as_ref().map(|epilogue| &epilogue.launch));
    }

    fn push_operands(&self, operands: &mut SmallVec<[BufferId; 8]>) {
        operands.extend([self.a.buffer, self.b.buffer, self.c.buffer]);
        if let Some(Producer::Gemm(chained)) = self.prologue.as_ref().map(|p| &p.producer) {
            chained.gemm.push_operands(operands);
        }
    }

    fn push_internal_buffers(&self, internal_buffers: &mut SmallVec<[BufferId; 4]>) {
        if let Some(prologue) = &self.prologue {
            internal_buffers.push(match prologue.side {
                Side::A => self.a.buffer,
                Side::B => self.b.buffer,
            });
            if let Producer::Gemm(chained) = &prologue.producer {
                chained.gemm.push_internal_buffers(internal_buffers);
            }
        }
        if self.epilogue.is_some() {
            internal_buffers.push(self.c.buffer);
        }
    }
}

/// The features of a backend that planning depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanTarget {
    /// Whether GEMM prologues are supported ([`GemmStep::prologue`]): operands computed block by block inside the
    /// GEMM.
    pub prologues: bool,
    /// Whether an arg-reduction kernel is at least as fast as two plain reductions, one of the elements and one of
    /// their positions. Otherwise arg-reductions are expanded to those two.
    pub arg_reductions: bool,
    /// Whether implicit GEMM convolution is supported ([`Routine::ImplicitGemm`]), which never materializes the
    /// windows (no im2col). Otherwise a convolution is a GEMM whose windows are materialized or computed by a
    /// prologue.
    pub implicit_gemm: bool,
    /// The number of splits of a reduction of many elements to one result.
    pub reduction_splits: usize,
    /// The longest chain of sequential additions, if the backend adds the elements of a sum one after another. Longer
    /// sums are split: the rounding error grows with the length of the chain.
    pub max_sum_chain: Option<usize>,
}

impl Default for PlanTarget {
    /// The features of the CPU backend, with fast arg-reductions.
    fn default() -> PlanTarget {
        PlanTarget {
            prologues: true,
            arg_reductions: true,
            implicit_gemm: false,
            reduction_splits: rewrite::REDUCTION_SPLITS,
            max_sum_chain: Some(rewrite::MAX_SUM_CHAIN),
        }
    }
}

/// Plans a graph for the default target.
pub fn plan(graph: &Graph) -> Plan {
    plan_for(graph, PlanTarget::default())
}

/// Plans a graph for a target.
pub fn plan_for(graph: &Graph, plan_target: PlanTarget) -> Plan {
    let rewritten = rewrite::rewrite(graph, plan_target);
    let graph = &rewritten.graph;
    let mut materialization =
        materialize::decide_materialization(graph, &rewritten.select_operands);
    let groups = fusion::form_fusion_groups(graph, &mut materialization);
    let assignment = buffer_assignment::assign_buffers(graph, &materialization);
    let mut steps = buffer_assignment::bind_steps(graph, &groups, &assignment, plan_target);
    for step in &mut steps {
        rewritten.restore_original_ids(&mut step.work_mut().nodes);
        work::count_operations(step);
    }
    let (steps, batches) = batch::batch_launches(steps);
    Plan { buffers: assignment.buffers, outputs: assignment.outputs, steps, batches }
}
