//! Explanations: the kernels that reading tensors would launch, what each fuses, and why a kernel ends where it does.
//!
//! An explanation comes from the plan alone: nothing is launched. [`profile`](crate::profile()) says how long kernels
//! take.

mod outputs;
mod page;

pub use outputs::ExplainOutputs;

use crate::runtime::segment;
use crate::units::bytes;
use crate::{DType, Tensor};
use inflight_backend::{LabelCall, LabelOp};
use inflight_ir::graph::Graph;
use inflight_ir::plan::{
    BufferId, GemmStep, LaunchStep, Plan, PlanTarget, Producer, Prologue, Side, Step, plan_for,
};
use std::fmt;

/// The kernels that reading some tensors would launch.
///
/// `{}` prints it as text for a terminal, `{:#}` with each kernel's tile IR. [`to_html`](Explanation::to_html) is a page
/// for a browser, [`to_json`](Explanation::to_json) is for tools.
#[derive(Clone, Debug)]
#[must_use = "an explanation runs nothing: print it or look at its kernels"]
pub struct Explanation {
    /// In launch order.
    pub kernels: Vec<ExplainedKernel>,
    prints_ir: bool,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct ExplainedKernel {
    /// The calls in the caller's code that it computes.
    pub ops: Vec<ExplainedOp>,
    /// The values it reads from memory.
    pub reads: Vec<ExplainedValue>,
    /// The values it writes, and why each is materialized: why the kernel ends here.
    pub writes: Vec<ExplainedValue>,
    /// Bytes read, each distinct element of each operand once.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Arithmetic operations: two for each step of a GEMM's sums; for other instructions, one for each element that they
    /// are applied to. A transcendental function such as `exp` is one operation.
    pub flops: u64,
    /// The tile IR, and for a GEMM its extents.
    pub text: String,
}

/// A call in the caller's code, with the primitive ops that it recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedOp {
    /// The method that was called, such as `softmax`, or the op of an operator.
    pub name: &'static str,
    /// The caller's file and line.
    pub location: String,
    /// The primitive ops that the kernel computes of it, in recording order: `max`, `sub`, `exp`, …
    pub primitives: Vec<&'static str>,
}

impl From<LabelCall> for ExplainedOp {
    fn from(call: LabelCall) -> ExplainedOp {
        let location = call.location.to_string();
        ExplainedOp { name: call.name, location, primitives: call.ops }
    }
}

impl fmt::Display for ExplainedOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.location)
    }
}

/// A value in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedValue {
    /// The value's id within the explanation. A value that one kernel writes and another reads has one id.
    pub value: u32,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The number of elements.
    pub elements: usize,
    /// Why it is materialized.
    pub reason: String,
}

/// Explains what reading the tensors that a closure returns would launch. Nothing runs.
///
/// The closure returns one tensor, or several as an array, a `Vec`, a slice or a tuple.
///
/// ```
/// use inflight::{Device, Tensor, explain};
///
/// let device = Device::cpu();
/// let x = Tensor::ones::<f32>([64, 100], &device);
/// let explanation = explain(|| x.softmax(1));
/// assert_eq!(explanation.kernels.len(), 1);
/// assert_eq!(explanation.kernels[0].ops.last().unwrap().name, "softmax");
/// println!("{explanation}");
/// let both = explain(|| (x.max(1), x.sum(1)));
/// assert!(!both.kernels.is_empty());
/// ```
pub fn explain<T: ExplainOutputs>(f: impl FnOnce() -> T) -> Explanation {
    let outputs = f();
    let mut tensors = Vec::new();
    outputs.for_each_tensor(&mut |tensor| tensors.push(tensor.clone()));
    let nodes: Vec<_> = tensors.iter().map(|tensor| tensor.node().clone()).collect();
    let (graph, ops) = segment::preview(&nodes);
    let device = tensors.first().map(|tensor| tensor.device());
    let plan_target = device.map_or_else(PlanTarget::default, |device| device.plan_target());
    explain_plan(&graph, &plan_for(&graph, plan_target), &ops)
}

impl Tensor {
    /// Explains what reading this tensor would launch. Nothing runs.
    pub fn explain(&self) -> Explanation {
        explain(|| self)
    }
}

pub(crate) fn explain_plan(graph: &Graph, plan: &Plan, ops: &[LabelOp]) -> Explanation {
    let value = |id: BufferId| {
        let buffer = plan.buffers[id as usize];
        let reason = buffer.reason.map_or("in memory".to_owned(), |reason| reason.to_string());
        ExplainedValue { value: id, dtype: buffer.dtype, elements: buffer.elements, reason }
    };
    let kernels = plan.steps.iter().map(|step| {
        let work = step.work();
        let results = step.results();
        let mut reads: Vec<BufferId> = step.operands().to_vec();
        let internal = step.internal_buffers();
        reads.retain(|id| !results.contains(id) && !internal.contains(id));
        reads.sort_unstable();
        reads.dedup();
        // Constants and positions are no calls of interest beside the ops that use them.
        let named = work.nodes.iter().filter(|&&node| !graph.node(node).inputs.is_empty());
        let calls = LabelCall::group(named.map(|&node| ops[node as usize].clone()));
        ExplainedKernel {
            ops: calls.into_iter().map(ExplainedOp::from).collect(),
            reads: reads.into_iter().map(value).collect(),
            writes: results.iter().map(|&id| value(id)).collect(),
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            flops: work.flops,
            text: text(step),
        }
    });
    Explanation::of(kernels.collect())
}

fn text(step: &Step) -> String {
    match step {
        Step::Routine(step) => format!("{:?}\n", step.routine),
        Step::Launch(step) => launch_text(step),
        Step::Gemm(step) => gemm_text(step),
    }
}

fn launch_text(launch: &LaunchStep) -> String {
    format!("domain {:?}\n{}", &launch.shape.extents[..], launch.kernel)
}

/// A GEMM between its prologue and its epilogue.
fn gemm_text(step: &GemmStep) -> String {
    let mut text = String::new();
    if let Some(Prologue { side, producer }) = step.prologue.as_deref() {
        text = match producer {
            Producer::Kernel(kernel) => launch_text(&kernel.launch),
            Producer::Gemm(chained) => gemm_text(&chained.gemm),
        };
        let side = if *side == Side::A { "left" } else { "right" };
        text.push_str(&format!("prologue: computes the {side} operand block by block\n"));
    }
    let batches: usize = step.batch.iter().product();
    let GemmStep { m, n, k, .. } = step;
    text.push_str(&format!("GEMM: {batches} × [{m}, {k}] · [{k}, {n}]\n"));
    if let Some(epilogue) = &step.epilogue {
        text.push_str("epilogue\n");
        text.push_str(&launch_text(&epilogue.launch));
    }
    text
}

impl Explanation {
    pub(crate) fn of(kernels: Vec<ExplainedKernel>) -> Explanation {
        Explanation { kernels, prints_ir: false }
    }

    /// The same explanation, printed with each kernel's tile IR.
    pub fn with_ir(mut self) -> Explanation {
        self.prints_ir = true;
        self
    }

    /// Appends the kernels of work that runs after these.
    pub(crate) fn append(&mut self, mut other: Explanation) {
        let values = |kernel: &ExplainedKernel| {
            kernel.reads.iter().chain(&kernel.writes).map(|value| value.value + 1).max()
        };
        let used = self.kernels.iter().filter_map(values).max().unwrap_or(0);
        for kernel in &mut other.kernels {
            let ids = kernel.reads.iter_mut().chain(&mut kernel.writes);
            ids.for_each(|value| value.value += used);
        }
        self.kernels.extend(other.kernels);
    }

    /// The explanation as JSON: an object with one array, `kernels`, whose objects have the fields of
    /// [`ExplainedKernel`]. Each op has the name of the method and its primitives.
    pub fn to_json(&self) -> String {
        let value = |value: &ExplainedValue| {
            serde_json::json!({
                "value": value.value,
                "dtype": value.dtype.name(),
                "elements": value.elements,
                "reason": value.reason,
            })
        };
        let kernels: Vec<serde_json::Value> = self
            .kernels
            .iter()
            .map(|kernel| {
                let ops = kernel.ops.iter();
                serde_json::json!({
                    "ops": ops
                        .map(|op| {
                            serde_json::json!({
                                "name": op.name,
                                "location": op.location,
                                "primitives": op.primitives,
                            })
                        })
                        .collect::<Vec<_>>(),
                    "reads": kernel.reads.iter().map(value).collect::<Vec<_>>(),
                    "writes": kernel.writes.iter().map(value).collect::<Vec<_>>(),
                    "bytes_read": kernel.bytes_read,
                    "bytes_written": kernel.bytes_written,
                    "flops": kernel.flops,
                    "text": kernel.text,
                })
            })
            .collect();
        serde_json::json!({ "kernels": kernels }).to_string()
    }

    /// The explanation as one self-contained HTML page: a box for each kernel, edges with the bytes between them, and
    /// each kernel's tile IR below.
    pub fn to_html(&self) -> String {
        page::page(self)
    }
}

/// The number of kernels with its noun.
fn count_kernels(explanation: &Explanation) -> String {
    match explanation.kernels.len() {
        1 => "1 kernel".to_owned(),
        count => format!("{count} kernels"),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total =
            |bytes: fn(&ExplainedKernel) -> u64| self.kernels.iter().map(bytes).sum::<u64>();
        writeln!(
            f,
            "{}, {} read, {} written",
            count_kernels(self),
            bytes(total(|kernel| kernel.bytes_read)),
            bytes(total(|kernel| kernel.bytes_written)),
        )?;
        for (position, kernel) in self.kernels.iter().enumerate() {
            let (read, written) = (bytes(kernel.bytes_read), bytes(kernel.bytes_written));
            writeln!(
                f,
                "\n{position}: {read} read, {written} written, {} operations",
                kernel.flops
            )?;
            for op in &kernel.ops {
                writeln!(f, "    {:16} {}", op.name, op.location)?;
            }
            for value in &kernel.writes {
                let ExplainedValue { value, dtype, elements, reason } = value;
                writeln!(f, "    writes value {value}, {elements} × {dtype}: {reason}")?;
            }
            if self.prints_ir || f.alternate() {
                for line in kernel.text.lines() {
                    writeln!(f, "    | {line}")?;
                }
            }
        }
        Ok(())
    }
}
