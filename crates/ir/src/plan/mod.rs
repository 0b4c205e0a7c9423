//! From a graph to the launches that compute it.
//!
//! Planning is a list of passes over plain data, top to bottom in [`plan`]:
//!
//! 1. [`rewrite`]: large reductions become two, contractions get one canonical form, or are products of windows
//!    ([`implicit_gemm`]), scatters of one update to each line become elementwise ([`scattered`]);
//! 2. [`materialize`]: which values are written to memory, by counted bytes;
//! 3. [`fusion`]: each written value becomes a kernel, and takes in every value on its way that it can;
//! 4. [`lower`]: a group becomes a kernel: views become index maps, the rest instructions;
//! 5. [`gemm_fusion`]: what runs before and after a product as a part of its step;
//! 6. [`layout`]: the kernel's axes are merged, ordered and given to grid, reduction and vector;
//! 7. [`batch`]: launches that are independent of each other are brought together.
//!
//! The result depends on the graph alone (rule 6), so it is found again by the graph's structure.

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

use crate::graph::{Graph, NodeId};
use crate::kernel::{Kernel, LaunchShape, VectorAxis};
use crate::{DType, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

pub use prologue::{BlockKernel, ChainedGemm, Producer, Prologue, Side};
pub use reason::Reason;
pub use rewrite::MAX_SUM_CHAIN;
pub use routine::{ImplicitGemmOperands, Lines, Routine, RoutineStep, TriangularSystems};

/// Features of a product of windows are next to each other, and as many bytes as a multiple of this.
pub const FEATURE_BYTES: usize = 16;

/// The position of a buffer in [`Plan::buffers`].
pub type BufferId = u32;

/// What runs, in order, and in which memory.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Every buffer that a step reads or writes.
    pub buffers: Vec<PlanBuffer>,
    /// The buffer that holds each of the graph's outputs, row-major.
    pub outputs: Vec<BufferId>,
    /// The steps. Each reads what inputs hold or earlier steps wrote.
    pub steps: Vec<Step>,
    /// How many of the steps, one after the other, run together: launches that are independent of each other.
    pub batches: Vec<usize>,
}

/// Memory of a plan: row-major and contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanBuffer {
    /// The graph input (counted among inputs) whose value it holds, or `None` if a step writes it.
    pub input: Option<usize>,
    /// The dtype of its elements.
    pub dtype: DType,
    /// How many there are.
    pub elements: usize,
    /// Why the value is written, if a step writes it.
    pub reason: Option<Reason>,
}

/// One command.
#[derive(Clone, Debug)]
pub enum Step {
    /// Runs a kernel.
    Launch(LaunchStep),
    /// Runs a contraction.
    Gemm(GemmStep),
    /// Runs a routine.
    Routine(RoutineStep),
}

/// A kernel and what it is bound to.
#[derive(Clone, Debug)]
pub struct LaunchStep {
    /// What runs.
    pub kernel: Arc<Kernel>,
    /// Extents and maps.
    pub shape: Arc<LaunchShape>,
    /// A buffer for each of the kernel's params.
    pub buffers: SmallVec<[BufferId; 6]>,
    /// A value for each of the kernel's scalars.
    pub scalars: SmallVec<[ScalarSource; 4]>,
    /// The nodes computed, and the bytes moved.
    pub work: Work,
}

/// Where a kernel's scalar comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarSource {
    /// The value at this position of [`Graph::scalars`].
    Graph(usize),
    /// A value that follows from the shapes.
    Fixed(Scalar),
}

/// A batch of matrix products on strided operands.
#[derive(Clone, Debug)]
pub struct GemmStep {
    /// The dtype of all operands.
    pub dtype: DType,
    /// The extents of the batch axes.
    pub batch: SmallVec<[usize; 4]>,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Length of each sum.
    pub k: usize,
    /// Rows `m`, columns `k`.
    pub a: MatrixOperand,
    /// Rows `k`, columns `n`.
    pub b: MatrixOperand,
    /// Rows `m`, columns `n`.
    pub c: MatrixOperand,
    /// What computes an operand, block by block, as it is needed.
    pub prologue: Option<Box<Prologue>>,
    /// What is done with each part of the product while it is in cache. The product itself is then in no
    /// memory that anybody else sees.
    pub epilogue: Option<Box<Epilogue>>,
    /// The nodes computed, and the bytes moved.
    pub work: Work,
}

/// A kernel that takes a product in as it is computed.
///
/// Its flat grid index is the product's row, counted over all batches, and its vector axis runs over the
/// product's columns. It has no reduce axes.
#[derive(Clone, Debug)]
pub struct Epilogue {
    /// The kernel and what it is bound to.
    pub launch: LaunchStep,
    /// The kernel's param that is the product.
    pub gemm_result: usize,
}

/// A batch of matrices in a buffer. Offsets and strides are in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixOperand {
    /// The memory.
    pub buffer: BufferId,
    /// The address of the first element.
    pub offset: isize,
    /// The distance along each batch axis.
    pub batch_strides: SmallVec<[isize; 4]>,
    /// The distance to the next row.
    pub row_stride: isize,
    /// The distance to the next column.
    pub column_stride: isize,
}

/// What a step does, for explanations, messages and counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The graph's nodes that the step computes, ascending.
    pub nodes: Vec<NodeId>,
    /// Bytes read, each distinct element of each operand once.
    pub bytes_read: u64,
    /// Bytes written, each element once.
    pub bytes_written: u64,
}

impl Step {
    /// The kernel that the step launches or that follows its product, if there is one.
    pub fn launch(&self) -> Option<&LaunchStep> {
        match self {
            Step::Launch(step) => Some(step),
            Step::Gemm(step) => step.epilogue.as_ref().map(|epilogue| &epilogue.launch),
            Step::Routine(_) => None,
        }
    }

    /// All kernels of the step: the one it launches, or those of its products, innermost first, each before
    /// its product and then after it.
    pub fn launches(&self) -> SmallVec<[&LaunchStep; 2]> {
        let mut launches = SmallVec::new();
        match self {
            Step::Launch(step) => launches.push(step),
            Step::Gemm(step) => step.push_launches(&mut launches),
            Step::Routine(_) => {}
        }
        launches
    }

    /// The buffers it is bound to, each as often as it is bound.
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

    /// The buffers that it is bound to, but that only the step itself sees parts of: they need no memory.
    pub fn internal_buffers(&self) -> SmallVec<[BufferId; 4]> {
        let mut internal_buffers = SmallVec::new();
        if let Step::Gemm(step) = self {
            step.push_internal_buffers(&mut internal_buffers);
        }
        internal_buffers
    }

    /// The buffers it writes that others may read.
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

    /// What the step does.
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
    /// Whether it needs whole rows: its kernel reduces them.
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

/// What a backend can run, which decides what is planned for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanTarget {
    /// Products whose operands are computed as they are needed ([`GemmStep::prologue`]).
    pub prologues: bool,
    /// Arg-reductions that are no slower than two reductions, one of the elements and one of their places. Otherwise
    /// they are planned as those.
    pub arg_reductions: bool,
    /// Products of windows that are not written ([`Routine::ImplicitGemm`]). Otherwise convolutions are contractions
    /// whose windows are computed before, or as they are needed.
    pub implicit_gemm: bool,
    /// How many pieces a reduction of many elements to one result is cut into.
    pub reduction_splits: usize,
    /// Of how many elements a piece of a long sum is at most, if its elements are added one after another: the more
    /// there are, the less the last ones count.
    pub max_sum_chain: Option<usize>,
}

impl Default for PlanTarget {
    /// What the CPU has, and fast arg-reductions.
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

/// Plans a graph for a backend of the default plan_target.
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
    }
    let (steps, batches) = batch::batch_launches(steps);
    Plan { buffers: assignment.buffers, outputs: assignment.outputs, steps, batches }
}
