//! Program compilation: from a lowered program to plans, kernels and host functions.

use super::control::{Case, While};
use super::custom_call;
use super::device_loop::LoopPlan;
use super::merge;
use super::sequence::{Action, Call, Compute, Sequence, Step, StepResult};
use crate::runtime::Device;
use crate::runtime::compilation_cache::CompiledPlan;
use crate::runtime::value::Value;
use crate::{Error, Result, Tensor};
use inflight_backend::{Label, LabelOp, SourceLocation};
use inflight_hlo::module::{Attribute, Location, attribute};
use inflight_hlo::program as lowered;
use inflight_ir::graph::{Graph, NodeId, Op};
use inflight_ir::plan::Work;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::{Arc, LazyLock};

/// A program compiled for one set of argument types and one device.
pub(super) struct CompiledProgram {
    pub arguments: Vec<lowered::Argument>,
    pub results: Vec<lowered::ValueType>,
    /// Constants; their upload to the device may still be in progress.
    pub constants: Vec<Arc<Value>>,
    /// Computes the results from the arguments and constants, except results that are arguments.
    pub body: Sequence,
    /// The source of each result.
    pub sources: Vec<ResultSource>,
    /// Label of the whole program, for faults that belong to no specific op.
    pub labels: Arc<[LabelOp]>,
}

/// Source of a program's result.
#[derive(Clone, Copy)]
pub(super) enum ResultSource {
    /// An output of the body.
    Output(usize),
    /// An argument, passed through.
    Argument(usize),
}

/// Plans a program for a device and compiles its kernels.
pub(super) fn compile(
    program: &lowered::Program,
    name: &Arc<str>,
    device: &Device,
) -> Result<CompiledProgram> {
    let mut constants = Vec::with_capacity(program.constants.len());
    for constant in &program.constants {
        let (shape, dtype) = (constant.ty.shape.clone(), constant.ty.dtype);
        let tensor = Tensor::from_bytes(&constant.bytes, shape, dtype, device)?;
        constants.push(tensor.node().value().expect("host data is a value").clone());
    }
    let device_loops = device.capabilities().device_loops;
    let mut compiler = Compiler {
        name,
        device_loops,
        problems: Vec::new(),
        graphs: Vec::new(),
        plans: Vec::new(),
    };
    compiler.collect(&program.body);
    compiler.plans = compile_graphs(&compiler.graphs, device);
    for plan in &compiler.plans {
        if let Some(fault) = plan.fault() {
            compiler.problems.push(format!("{name}: a kernel failed to compile: {fault}"));
        }
    }
    let mut plans = std::mem::take(&mut compiler.plans).into_iter();
    let mut body = compiler.sequence(&program.body, &mut plans);
    if !compiler.problems.is_empty() {
        return Err(Error::Program(compiler.problems.join("\n").into()));
    }
    // A passed-through argument shares its value, unless a failing side effect may still fail all results.
    let arguments = program.arguments.len();
    let mut sources = Vec::with_capacity(body.outputs.len());
    let mut outputs = Vec::new();
    for &slot in &body.outputs {
        sources.push(match slot < arguments && !body.has_effects {
            true => ResultSource::Argument(slot),
            false => {
                outputs.push(slot);
                ResultSource::Output(outputs.len() - 1)
            }
        });
    }
    body.outputs = outputs;
    let labels = [label_op(name, "program", Location::default())];
    Ok(CompiledProgram {
        arguments: program.arguments.clone(),
        results: program.results.clone(),
        constants,
        body,
        sources,
        labels: labels.into(),
    })
}

/// Programs of up to this many commands are enqueued by the calling thread, because waking the dispatcher thread
/// takes as long.
const MAX_INLINE_COMMANDS: usize = 32;

impl CompiledProgram {
    /// Whether the initial commands are few enough for the calling thread to enqueue.
    pub fn is_short(&self) -> bool {
        let commands = |step: &Step| match &step.action {
            Action::Compute(compute) => compute.ready.plan.batches.len(),
            _ => 1,
        };
        self.body.steps.iter().map(commands).sum::<usize>() <= MAX_INLINE_COMMANDS
    }

    /// All plans of the program, including those of loops and branches.
    pub fn plans(&self) -> Vec<&Arc<CompiledPlan>> {
        let mut plans = Vec::new();
        let mut open = vec![&self.body];
        while let Some(sequence) = open.pop() {
            for step in &sequence.steps {
                match &step.action {
                    Action::Compute(compute) => plans.push(&compute.ready),
                    Action::While(while_loop) => {
                        open.extend([&while_loop.condition, &while_loop.iteration])
                    }
                    Action::Case(case) => open.extend(&case.branches),
                    Action::Call(_) => {}
                }
            }
        }
        plans
    }
}

/// Plans graphs and compiles their kernels, in parallel if there are many.
fn compile_graphs(graphs: &[Arc<Graph>], device: &Device) -> Vec<Arc<CompiledPlan>> {
    const MIN_GRAPHS_PER_THREAD: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let each = graphs.len().div_ceil(threads).max(MIN_GRAPHS_PER_THREAD);
    let compile_graphs = |graph: &Arc<Graph>| device.dispatcher().compile_graph(graph);
    if graphs.len() <= each {
        return graphs.iter().map(compile_graphs).collect();
    }
    std::thread::scope(|scope| {
        let parts: Vec<_> = graphs
            .chunks(each)
            .map(|part| scope.spawn(move || part.iter().map(compile_graphs).collect::<Vec<_>>()))
            .collect();
        let done = parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.flatten().collect()
    })
}

struct Compiler<'a> {
    name: &'a Arc<str>,
    /// Whether the device's streams run loops themselves.
    device_loops: bool,
    /// All errors found so far.
    problems: Vec<String>,
    /// Graphs of all sequences, in the order in which [`sequence`](Compiler::sequence) visits them.
    graphs: Vec<Arc<Graph>>,
    plans: Vec<Arc<CompiledPlan>>,
}

impl Compiler<'_> {
    /// Collects all graphs of a sequence.
    fn collect(&mut self, sequence: &lowered::Sequence) {
        for step in &sequence.steps {
            match &step.action {
                lowered::Action::Compute { graph, .. } => {
                    let (graph, _) = dedup_outputs(graph);
                    self.graphs.push(Arc::new(graph));
                }
                lowered::Action::While { condition, body, carried } => {
                    self.collect(condition);
                    self.collect(&merge::loop_iteration(body, condition, *carried));
                }
                lowered::Action::Case { branches } => {
                    branches.iter().for_each(|branch| self.collect(branch));
                }
                lowered::Action::Call(_) => {}
            }
        }
    }

    fn sequence(
        &mut self,
        sequence: &lowered::Sequence,
        plans: &mut impl Iterator<Item = Arc<CompiledPlan>>,
    ) -> Sequence {
        let mut has_effects = false;
        let mut steps = Vec::with_capacity(sequence.steps.len());
        for step in &sequence.steps {
            let action = match &step.action {
                lowered::Action::Compute { graph, origins } => {
                    let ready = plans.next().expect("a plan for each graph");
                    Action::Compute(Box::new(self.compute(graph, origins, ready)))
                }
                lowered::Action::While { condition, body, carried } => {
                    let label = self.label("stablehlo.while", step.location);
                    let iteration = merge::loop_iteration(body, condition, *carried);
                    let condition = self.sequence(condition, plans);
                    let iteration = self.sequence(&iteration, plans);
                    has_effects |= iteration.has_effects;
                    let inputs = step.inputs.len();
                    let device_loop = self
                        .device_loops
                        .then(|| LoopPlan::for_iteration(&iteration, inputs))
                        .flatten();
                    let carried = *carried;
                    Action::While(Arc::new(While {
                        condition,
                        iteration,
                        carried,
                        device_loop,
                        label,
                    }))
                }
                lowered::Action::Case { branches } => {
                    let label = self.label("stablehlo.case", step.location);
                    let branches: Vec<Sequence> =
                        branches.iter().map(|branch| self.sequence(branch, plans)).collect();
                    has_effects |= branches.iter().any(|branch| branch.has_effects);
                    Action::Case(Arc::new(Case { branches, label }))
                }
                lowered::Action::Call(call) => {
                    let types = |slots: &[lowered::Slot]| {
                        slots.iter().map(|&slot| sequence.values[slot].clone()).collect()
                    };
                    let (inputs, outputs) = (types(&step.inputs), types(&step.results));
                    let resolved =
                        custom_call::resolve(&call.target, &call.attributes, inputs, outputs);
                    let function = match resolved {
                        Ok(function) => function,
                        Err(message) => {
                            let location = source_location(self.name, step.location);
                            self.problems.push(format!("{location}: {message}"));
                            continue;
                        }
                    };
                    let is_effect = step.results.is_empty()
                        || attribute(&call.attributes, "has_side_effect")
                            == Some(&Attribute::Bool(true));
                    has_effects |= is_effect;
                    let label = self.label(&call.target, step.location);
                    Action::Call(Call { function, label, has_effects: is_effect })
                }
            };
            steps.push(Step {
                action,
                inputs: step.inputs.iter().copied().collect(),
                results: step.results.iter().copied().collect(),
            });
        }
        Sequence {
            bytes: sequence
                .values
                .iter()
                .map(|ty| ty.shape.element_count() * ty.dtype.size())
                .collect(),
            steps,
            outputs: sequence.outputs.clone(),
            has_effects,
        }
    }

    fn compute(
        &self,
        graph: &Graph,
        origins: &[lowered::Origin],
        ready: Arc<CompiledPlan>,
    ) -> Compute {
        let (_, results) = dedup_outputs(graph);
        let mut outputs = SmallVec::new();
        for (position, source) in results.iter().enumerate() {
            if matches!(source, StepResult::PlanOutput) {
                outputs.push(position);
            }
        }
        Compute {
            ready,
            scalars: graph.scalars.clone(),
            labels: labels(self.name, origins),
            results,
            outputs,
        }
    }

    /// Label of a single op.
    fn label(&self, name: &str, location: Location) -> Label {
        let work = Arc::new(Work { nodes: vec![0], ..Work::default() });
        Label { segment: [label_op(self.name, name, location)].into(), work }
    }
}

/// Removes duplicate outputs and inputs among the outputs. Returns the graph and the source of each original
/// output.
fn dedup_outputs(graph: &Graph) -> (Graph, SmallVec<[StepResult; 8]>) {
    let inputs: Vec<NodeId> = graph.inputs().collect();
    let mut result = graph.clone();
    result.outputs.clear();
    let mut sources: SmallVec<[StepResult; 8]> = SmallVec::new();
    for (position, &output) in graph.outputs.iter().enumerate() {
        let earlier = graph.outputs[..position].iter().position(|&known| known == output);
        sources.push(match (&graph.node(output).op, earlier) {
            (Op::Input, _) => {
                let input = inputs.iter().position(|&input| input == output);
                StepResult::Input(input.expect("every input is listed"))
            }
            (_, Some(earlier)) => StepResult::Duplicate(earlier),
            (_, None) => {
                result.outputs.push(output);
                StepResult::PlanOutput
            }
        });
    }
    (result, sources)
}

fn source_location(name: &Arc<str>, location: Location) -> SourceLocation {
    SourceLocation::Program { name: name.clone(), line: location.line, column: location.column }
}

fn label_op(name: &Arc<str>, op: &str, location: Location) -> LabelOp {
    LabelOp { name: intern(op), method: None, location: source_location(name, location) }
}

/// Op name and source location of each graph node.
pub(super) fn labels(name: &Arc<str>, origins: &[lowered::Origin]) -> Arc<[LabelOp]> {
    origins.iter().map(|origin| label_op(name, &origin.name, origin.location)).collect()
}

/// Interns a string for the lifetime of the process. The set of op names is small.
fn intern(name: &str) -> &'static str {
    static NAMES: LazyLock<Mutex<FxHashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock();
    match names.get(name) {
        Some(known) => known,
        None => {
            let leaked: &'static str = Box::leak(name.to_owned().into_boxed_str());
            names.insert(leaked);
            leaked
        }
    }
}
