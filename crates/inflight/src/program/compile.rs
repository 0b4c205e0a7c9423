//! From a lowered program to plans, kernels and functions.

use super::calls;
use super::control::{Case, While};
use super::join;
use super::repeat::Small;
use super::sequence::{Action, Call, Compute, Sequence, Source, Step};
use crate::runtime::Device;
use crate::runtime::cache::ReadyPlan;
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

/// A program for one set of argument types, ready to run on one device.
pub(super) struct Compiled {
    pub arguments: Vec<lowered::Argument>,
    pub results: Vec<lowered::ValueType>,
    /// Some may still be on their way to the device.
    pub constants: Vec<Arc<Value>>,
    /// Takes the arguments and the constants, and gives the results that are not passed through.
    pub body: Sequence,
    /// What each result is.
    pub sources: Vec<ResultSource>,
    /// Names the whole program, for faults that belong to no part of it.
    pub labels: Arc<[LabelOp]>,
}

/// What a result of a program is.
#[derive(Clone, Copy)]
pub(super) enum ResultSource {
    /// An output of the body.
    Output(usize),
    /// An argument, as it is.
    Argument(usize),
}

/// Plans a program for a device and compiles its kernels.
pub(super) fn compile(
    program: &lowered::Program,
    name: &Arc<str>,
    device: &Device,
) -> Result<Compiled> {
    let mut constants = Vec::with_capacity(program.constants.len());
    for constant in &program.constants {
        let (shape, dtype) = (constant.ty.shape.clone(), constant.ty.dtype);
        let tensor = Tensor::from_bytes(&constant.bytes, shape, dtype, device)?;
        constants.push(tensor.node().value().expect("host data is a value").clone());
    }
    let repeats = device.capabilities().device_loops;
    let mut compiler =
        Compiler { name, repeats, problems: Vec::new(), graphs: Vec::new(), plans: Vec::new() };
    compiler.collect(&program.body);
    compiler.plans = prepare(&compiler.graphs, device);
    for plan in &compiler.plans {
        if let Some(fault) = plan.fault() {
            compiler.problems.push(format!("{name}: a kernel could not be compiled: {fault}"));
        }
    }
    let mut plans = std::mem::take(&mut compiler.plans).into_iter();
    let mut body = compiler.sequence(&program.body, &mut plans);
    if !compiler.problems.is_empty() {
        return Err(Error::Program(compiler.problems.join("\n").into()));
    }
    // A result that is an argument shares its value, unless the result may fail for another reason.
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
    Ok(Compiled {
        arguments: program.arguments.clone(),
        results: program.results.clone(),
        constants,
        body,
        sources,
        labels: labels.into(),
    })
}

/// A program of up to so many commands is put on its stream by whoever executes it: to wake the dispatcher takes as
/// long.
const FEW_COMMANDS: usize = 32;

impl Compiled {
    /// Whether its execution begins with so few commands that nobody else need be asked to emit them.
    pub fn is_short(&self) -> bool {
        let commands = |step: &Step| match &step.action {
            Action::Compute(compute) => compute.ready.plan.batches.len(),
            _ => 1,
        };
        self.body.steps.iter().map(commands).sum::<usize>() <= FEW_COMMANDS
    }

    /// The plans of all that it computes.
    pub fn plans(&self) -> Vec<&Arc<ReadyPlan>> {
        let mut plans = Vec::new();
        let mut open = vec![&self.body];
        while let Some(sequence) = open.pop() {
            for step in &sequence.steps {
                match &step.action {
                    Action::Compute(compute) => plans.push(&compute.ready),
                    Action::While(repeated) => open.extend([&repeated.condition, &repeated.turn]),
                    Action::Case(case) => open.extend(&case.branches),
                    Action::Call(_) => {}
                }
            }
        }
        plans
    }
}

/// Plans graphs, on several threads if there are several.
fn prepare(graphs: &[Arc<Graph>], device: &Device) -> Vec<Arc<ReadyPlan>> {
    const WORTH_A_THREAD: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let each = graphs.len().div_ceil(threads).max(WORTH_A_THREAD);
    let prepare = |graph: &Arc<Graph>| device.dispatcher().prepare(graph);
    if graphs.len() <= each {
        return graphs.iter().map(prepare).collect();
    }
    std::thread::scope(|scope| {
        let parts: Vec<_> = graphs
            .chunks(each)
            .map(|part| scope.spawn(move || part.iter().map(prepare).collect::<Vec<_>>()))
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
    repeats: bool,
    /// All that is wrong.
    problems: Vec<String>,
    /// The graphs of all sequences, in the order in which [`sequence`](Compiler::sequence) comes to them.
    graphs: Vec<Arc<Graph>>,
    plans: Vec<Arc<ReadyPlan>>,
}

impl Compiler<'_> {
    /// Notes all graphs of a sequence.
    fn collect(&mut self, sequence: &lowered::Sequence) {
        for step in &sequence.steps {
            match &step.action {
                lowered::Action::Compute { graph, .. } => {
                    let (graph, _) = distinct(graph);
                    self.graphs.push(Arc::new(graph));
                }
                lowered::Action::While { condition, body, carried } => {
                    self.collect(condition);
                    self.collect(&join::turn(body, condition, *carried));
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
        plans: &mut impl Iterator<Item = Arc<ReadyPlan>>,
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
                    let turn = join::turn(body, condition, *carried);
                    let condition = self.sequence(condition, plans);
                    let turn = self.sequence(&turn, plans);
                    has_effects |= turn.has_effects;
                    let inputs = step.inputs.len();
                    let small = self.repeats.then(|| Small::of(&turn, inputs)).flatten();
                    let carried = *carried;
                    Action::While(Arc::new(While { condition, turn, carried, small, label }))
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
                    let resolved = calls::resolve(&call.target, &call.attributes, inputs, outputs);
                    let function = match resolved {
                        Ok(function) => function,
                        Err(message) => {
                            let place = place(self.name, step.location);
                            self.problems.push(format!("{place}: {message}"));
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
            bytes: sequence.values.iter().map(|ty| ty.shape.elements() * ty.dtype.size()).collect(),
            steps,
            outputs: sequence.outputs.clone(),
            has_effects,
        }
    }

    fn compute(
        &self,
        graph: &Graph,
        origins: &[lowered::Origin],
        ready: Arc<ReadyPlan>,
    ) -> Compute {
        let (_, results) = distinct(graph);
        let mut outputs = SmallVec::new();
        for (position, source) in results.iter().enumerate() {
            if matches!(source, Source::Output) {
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

    /// The label of something that is one op.
    fn label(&self, name: &str, location: Location) -> Label {
        let work = Arc::new(Work { nodes: vec![0], ..Work::default() });
        Label { segment: [label_op(self.name, name, location)].into(), work }
    }
}

/// The graph with each computed output once, and what each of its outputs is.
fn distinct(graph: &Graph) -> (Graph, SmallVec<[Source; 8]>) {
    let inputs: Vec<NodeId> = graph.inputs().collect();
    let mut result = graph.clone();
    result.outputs.clear();
    let mut sources: SmallVec<[Source; 8]> = SmallVec::new();
    for (position, &output) in graph.outputs.iter().enumerate() {
        let earlier = graph.outputs[..position].iter().position(|&known| known == output);
        sources.push(match (&graph.node(output).op, earlier) {
            (Op::Input, _) => {
                let input = inputs.iter().position(|&input| input == output);
                Source::Input(input.expect("every input is listed"))
            }
            (_, Some(earlier)) => Source::Result(earlier),
            (_, None) => {
                result.outputs.push(output);
                Source::Output
            }
        });
    }
    (result, sources)
}

fn place(name: &Arc<str>, location: Location) -> SourceLocation {
    SourceLocation::Program { name: name.clone(), line: location.line, column: location.column }
}

fn label_op(name: &Arc<str>, op: &str, location: Location) -> LabelOp {
    LabelOp { name: interned(op), method: None, location: place(name, location) }
}

/// The name and the line of each node of a graph.
pub(super) fn labels(name: &Arc<str>, origins: &[lowered::Origin]) -> Arc<[LabelOp]> {
    origins.iter().map(|origin| label_op(name, &origin.name, origin.location)).collect()
}

/// The same text, for as long as the process lives. There are only so many names of ops.
fn interned(name: &str) -> &'static str {
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
