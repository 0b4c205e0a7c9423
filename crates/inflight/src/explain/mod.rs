//! What would run, and why it is cut the way it is.

mod page;

use crate::runtime::segment;
use crate::{DType, Tensor};
use inflight_backend::LabelOp;
use inflight_ir::graph::Graph;
use inflight_ir::kernel::Kind;
use inflight_ir::plan::{
    BufferId, GemmStep, LaunchStep, Plan, PlanTarget, Producer, Prologue, Side, Step, plan_for,
};
use std::fmt;

/// The kernels that reading some tensors would run.
///
/// Printed with `{}` it is text for a terminal; [`to_html`](Explanation::to_html) is a page to look at;
/// [`to_json`](Explanation::to_json) is for tools.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// In the order they would run.
    pub kernels: Vec<ExplainedKernel>,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct ExplainedKernel {
    /// The recorded ops it computes, with the caller's lines.
    pub ops: Vec<ExplainedOp>,
    /// The values it reads from memory.
    pub reads: Vec<ExplainedValue>,
    /// The values it writes, with why each is written: why the kernel ends here.
    pub writes: Vec<ExplainedValue>,
    /// Bytes read, each distinct element once.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Arithmetic instructions times the points they are done at; two for each step of a product's sums.
    pub arithmetic: u64,
    /// The kernel as text, and, for a matrix product, its extents.
    pub text: String,
}

/// An op of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedOp {
    /// The op's name.
    pub name: &'static str,
    /// The caller's file and line.
    pub location: String,
}

/// A value in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedValue {
    /// Distinguishes values of one explanation: a value read by one kernel was written by the one that
    /// names the same number, or was there before.
    pub value: u32,
    /// The type of its elements.
    pub dtype: DType,
    /// How many there are.
    pub elements: usize,
    /// Why it is in memory.
    pub reason: String,
}

/// Explains what reading the tensors that a closure returns would run. Nothing runs.
///
/// ```
/// use inflight::{Device, Tensor, explain};
///
/// let device = Device::cpu();
/// let x = Tensor::ones::<f32>([64, 100], &device);
/// let explanation = explain(|| [x.softmax(1)]);
/// assert_eq!(explanation.kernels.len(), 1);
/// println!("{explanation}");
/// ```
pub fn explain<T: AsRef<[Tensor]>>(f: impl FnOnce() -> T) -> Explanation {
    let tensors = f();
    let nodes: Vec<_> = tensors.as_ref().iter().map(|tensor| tensor.node().clone()).collect();
    let (graph, ops) = segment::preview(&nodes);
    let device = tensors.as_ref().first().map(|tensor| tensor.device());
    let plan_target = device.map_or_else(PlanTarget::default, |device| device.plan_target());
    explain_plan(&graph, &plan_for(&graph, plan_target), &ops)
}

impl Tensor {
    /// Explains what reading this tensor would run. Nothing runs.
    pub fn explain(&self) -> Explanation {
        explain(|| [self.clone()])
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
        let unwritten = step.internal_buffers();
        reads.retain(|id| !results.contains(id) && !unwritten.contains(id));
        reads.sort_unstable();
        reads.dedup();
        let named = work.nodes.iter().filter(|&&node| !graph.node(node).inputs.is_empty());
        ExplainedKernel {
            ops: named
                .map(|&node| ExplainedOp {
                    name: ops[node as usize].name,
                    location: ops[node as usize].location.to_string(),
                })
                .collect(),
            reads: reads.into_iter().map(value).collect(),
            writes: results.iter().map(|&id| value(id)).collect(),
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            arithmetic: arithmetic(step),
            text: text(step),
        }
    });
    Explanation { kernels: kernels.collect() }
}

fn arithmetic(step: &Step) -> u64 {
    let products = match step {
        Step::Gemm(step) => product_arithmetic(step),
        Step::Launch(_) | Step::Routine(_) => 0,
    };
    products + step.launches().into_iter().map(launch_arithmetic).sum::<u64>()
}

fn product_arithmetic(step: &GemmStep) -> u64 {
    let batches: usize = step.batch.iter().product();
    let own = 2 * (batches * step.m * step.n * step.k) as u64;
    match step.prologue.as_ref().map(|prologue| &prologue.producer) {
        Some(Producer::Gemm(chained)) => own + product_arithmetic(&chained.gemm),
        _ => own,
    }
}

fn launch_arithmetic(launch: &LaunchStep) -> u64 {
    let counts = |kind: &Kind| {
        matches!(
            kind,
            Kind::Unary(..)
                | Kind::Binary(..)
                | Kind::Compare(..)
                | Kind::Reduce(..)
                | Kind::Scan(..)
        )
    };
    let instructions = launch.kernel.body.iter().filter(|i| counts(&i.kind)).count();
    let points: usize = launch.shape.extents.iter().product();
    (instructions * points) as u64
}

fn text(step: &Step) -> String {
    match step {
        Step::Routine(step) => format!("{:?}\n", step.routine),
        Step::Launch(step) => launch_text(step),
        Step::Gemm(step) => contract_text(step),
    }
}

fn launch_text(launch: &LaunchStep) -> String {
    format!("domain {:?}\n{}", &launch.shape.extents[..], launch.kernel)
}

/// A product between what computes an operand and what takes it in.
fn contract_text(step: &GemmStep) -> String {
    let mut text = String::new();
    if let Some(Prologue { side, producer }) = step.prologue.as_deref() {
        text = match producer {
            Producer::Kernel(kernel) => launch_text(&kernel.launch),
            Producer::Gemm(chained) => contract_text(&chained.gemm),
        };
        let side = if *side == Side::A { "left" } else { "right" };
        text.push_str(&format!("block by block the {side} operand of the\n"));
    }
    let batches: usize = step.batch.iter().product();
    let GemmStep { m, n, k, .. } = step;
    text.push_str(&format!("product of {batches} × [{m}, {k}] · [{k}, {n}]\n"));
    if let Some(epilogue) = &step.epilogue {
        text.push_str(&launch_text(&epilogue.launch));
    }
    text
}

impl Explanation {
    /// Adds the kernels of something else that runs after these.
    pub(crate) fn append(&mut self, mut other: Explanation) {
        let values = |kernel: &ExplainedKernel| {
            kernel.reads.iter().chain(&kernel.writes).map(|value| value.value + 1).max()
        };
        let known = self.kernels.iter().filter_map(values).max().unwrap_or(0);
        for kernel in &mut other.kernels {
            let all = kernel.reads.iter_mut().chain(&mut kernel.writes);
            all.for_each(|value| value.value += known);
        }
        self.kernels.extend(other.kernels);
    }

    /// The explanation as JSON: an object with one array, `kernels`, whose objects have the fields of
    /// [`ExplainedKernel`].
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
                        .map(|op| serde_json::json!({ "name": op.name, "location": op.location }))
                        .collect::<Vec<_>>(),
                    "reads": kernel.reads.iter().map(value).collect::<Vec<_>>(),
                    "writes": kernel.writes.iter().map(value).collect::<Vec<_>>(),
                    "bytes_read": kernel.bytes_read,
                    "bytes_written": kernel.bytes_written,
                    "arithmetic": kernel.arithmetic,
                    "text": kernel.text,
                })
            })
            .collect();
        serde_json::json!({ "kernels": kernels }).to_string()
    }

    /// The explanation as one self-contained HTML page: kernels are boxes, edges are the bytes between
    /// them, and each kernel's text stands below.
    pub fn to_html(&self) -> String {
        page::page(self)
    }
}

/// How many kernels there are, in words.
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
            "{}, {} bytes read, {} bytes written",
            count_kernels(self),
            total(|kernel| kernel.bytes_read),
            total(|kernel| kernel.bytes_written),
        )?;
        for (position, kernel) in self.kernels.iter().enumerate() {
            writeln!(
                f,
                "\n{position}: {} bytes read, {} bytes written, {} operations",
                kernel.bytes_read, kernel.bytes_written, kernel.arithmetic
            )?;
            for op in &kernel.ops {
                writeln!(f, "    {:16} {}", op.name, op.location)?;
            }
            for value in &kernel.writes {
                let ExplainedValue { value, dtype, elements, reason } = value;
                writeln!(f, "    writes value {value}, {elements} × {dtype}: {reason}")?;
            }
            for line in kernel.text.lines() {
                writeln!(f, "    | {line}")?;
            }
        }
        Ok(())
    }
}
