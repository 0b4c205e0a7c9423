//! Executables: programs compiled for a device, and their asynchronous execution with buffer donation.

use super::compile::{CompiledProgram, ResultSource, compile};
use super::sequence::ProgramRun;
use super::source::{DeclaredTypes, Program};
use crate::runtime::dispatcher::{DonatedInput, Segment, SegmentBody, Submission, UnflushedStream};
use crate::runtime::value::Value;
use crate::runtime::wait::{HostWait, WaitReason, wait_for_values};
use crate::runtime::{Device, Pending, Promise, Stream, recorder, scope};
use crate::tensor::Node;
use crate::{DType, Error, Result, Shape, Tensor};
use inflight_backend::{Fault, FaultKind};
use inflight_hlo::module::{ElementType, TensorType};
use inflight_hlo::program::{Argument, ValueType};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A program compiled for a device. Cheap to clone; any position of threads may execute it concurrently.
///
/// - [`execute`](Executable::execute) and [`execute_on`](Executable::execute_on) return at once (asynchronous
///   dispatch);
/// - [`submit`](Executable::submit) returns at once, with a promise of completion;
/// - [`execute_and_wait`](Executable::execute_and_wait) waits until the execution is done.
///
/// All of them may wait for back-pressure, when too much work is in flight.
#[derive(Clone)]
pub struct Executable(Arc<ExecutableInner>);

struct ExecutableInner {
    device: Device,
    program: Program,
    compilation: Compilation,
    arguments: Vec<ArgumentType>,
    results: Vec<ResultType>,
}

/// Compiled variants of an executable.
enum Compilation {
    /// One variant for all arguments: all shapes are static.
    Static(Arc<CompiledProgram>),
    /// One variant per set of argument shapes (dynamic shapes). Kernels do not depend on extents, so a new set of
    /// shapes needs planning, but rarely compilation.
    PerShape(Mutex<FxHashMap<Vec<Shape>, Arc<CompiledProgram>>>),
}

/// Capacity of the variant cache; it is cleared when full.
const MAX_SHAPE_VARIANTS: usize = 256;

/// Name and type of an executable's argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    /// Name in the program: from its location, such as JAX's `loc("x")`, or else as written, without `%`.
    pub name: String,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Extents, outermost first. `None` accepts any extent.
    pub extents: Vec<Option<usize>>,
    /// Whether the argument's buffer is donated: the execution may reuse its memory, and the caller cannot use the
    /// tensor again.
    pub is_donated: bool,
}

/// Type of an executable's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultType {
    /// Dtype of the elements.
    pub dtype: DType,
    /// Extents, outermost first. `None` depends on the arguments.
    pub extents: Vec<Option<usize>>,
}

/// An execution that has started, as returned by [`Executable::submit`].
pub struct Execution {
    /// The results; tensors like any other.
    pub results: Vec<Tensor>,
    /// Completed when the whole execution is done. Its error is that of the first failed call with side effects,
    /// such as a check. A failure to compute a result is that result's error.
    pub done: Pending<()>,
}

impl Execution {
    /// Waits until the whole execution is done, as a single wait. This thread helps with the work.
    ///
    /// # Errors
    /// The error of `done`, or else that of the first failed result. [`Error::WaitDenied`] if a
    /// [`SyncGuard`](crate::SyncGuard) denies the wait.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        let computed = match self.results.first() {
            Some(first) => {
                let mut waiting = HostWait::new(first.device(), WaitReason::Sync, location);
                wait_for_results(&self.results, &mut waiting)
            }
            None => Ok(()),
        };
        execution_result(self.done.clone().get(), computed)
    }
}

/// Combines the outcomes of an execution: the error of `done` first, unless `done` was merely abandoned because a
/// result failed.
fn execution_result(done: Result<()>, computed: Result<()>) -> Result<()> {
    match done {
        Err(Error::Abandoned { .. }) => computed.and(done),
        done => done.and(computed),
    }
}

/// An execution that was submitted.
struct SubmittedExecution {
    results: Vec<Tensor>,
    /// The stream, if its worker was not notified yet.
    unflushed: Option<UnflushedStream>,
    submission: Arc<Submission>,
}

/// Waits until results are written. Returns the first error among them.
fn wait_for_results(results: &[Tensor], waiting: &mut HostWait) -> Result<()> {
    let mut values = SmallVec::<[_; 8]>::new();
    for tensor in results {
        tensor.check()?;
        values.push((tensor.device(), tensor.node().value().expect("a result has a value")));
    }
    wait_for_values(values.iter().map(|(device, value)| (*device, &***value)), waiting)
}

impl Device {
    /// Compiles a program for this device. Blocks for all planning and kernel compilation, so that executions do
    /// neither. A program with dynamic shapes is compiled when arguments of new shapes first come.
    ///
    /// # Errors
    /// [`Error::Program`] with everything that the device does not support, each with its source line.
    pub fn compile(&self, program: &Program) -> Result<Executable> {
        let inner = match program.open_types() {
            // Shape-dependent errors wait for concrete shapes; unknown operations are reported now.
            Some(declared) => ExecutableInner {
                arguments: declared_arguments(program, &declared)?,
                results: declared.results.iter().map(declared_result).collect::<Result<_>>()?,
                compilation: program
                    .check_operations()
                    .map(|()| Compilation::PerShape(Mutex::default()))?,
                device: self.clone(),
                program: program.clone(),
            },
            None => {
                let compiled = compile(&*program.lower(None)?, &program.name, self)?;
                ExecutableInner {
                    arguments: compiled.arguments.iter().map(ArgumentType::of_static).collect(),
                    results: compiled.results.iter().map(ResultType::of_static).collect(),
                    compilation: Compilation::Static(Arc::new(compiled)),
                    device: self.clone(),
                    program: program.clone(),
                }
            }
        };
        Ok(Executable(Arc::new(inner)))
    }
}

fn declared_arguments(program: &Program, declared: &DeclaredTypes) -> Result<Vec<ArgumentType>> {
    let arguments = declared.arguments.iter().zip(&declared.donated).enumerate();
    arguments
        .map(|(position, (tensor, &is_donated))| {
            let ResultType { dtype, extents } = declared_result(tensor).map_err(|error| {
                Error::Program(format!("{}: argument {position}: {error}", program.name).into())
            })?;
            let name = declared.names[position].clone();
            Ok(ArgumentType { name, dtype, extents, is_donated })
        })
        .collect()
}

fn declared_result(tensor: &TensorType) -> Result<ResultType> {
    let ElementType::Core(dtype) = tensor.element else {
        return Err(Error::Invalid(format!(
            "the element type {:?} is not supported",
            tensor.element
        )));
    };
    let extents = tensor.dimensions.iter().map(|dimension| dimension.map(|extent| extent as usize));
    Ok(ResultType { dtype, extents: extents.collect() })
}

impl Executable {
    /// The device it was compiled for.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The program's name, as error messages give it.
    pub fn name(&self) -> &str {
        &self.0.program.name
    }

    /// The program's arguments, in order.
    pub fn arguments(&self) -> &[ArgumentType] {
        &self.0.arguments
    }

    /// The program's results, in order.
    pub fn results(&self) -> &[ResultType] {
        &self.0.results
    }

    /// Executes the program on this thread's default stream. Returns at once, except for back-pressure: the results
    /// are tensors like any other, and arguments may be recorded, in flight or in memory.
    ///
    /// A tensor passed for a donated argument cannot be used again; its clones can.
    ///
    /// # Errors
    /// [`Error::Argument`] if the arguments do not match the program in count, dtype, shape or device. Then nothing
    /// runs, and no tensor is donated. Later failures are the errors of the results.
    #[track_caller]
    pub fn execute(&self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let location = Location::caller();
        Ok(self.enqueue(arguments, None, None, false, location)?.results)
    }

    /// Executes the program and waits until it is done, as a single wait. This thread helps with the work; it runs
    /// short programs entirely by itself, without waking another thread.
    ///
    /// # Errors
    /// As for [`execute`](Executable::execute), then as for [`Execution::wait`]. After the latter, donated
    /// arguments are gone and there are no results.
    #[track_caller]
    pub fn execute_and_wait(&self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let location = Location::caller();
        let device = &self.0.device;
        let mut waiting = HostWait::new(device, WaitReason::Sync, location);
        waiting.begin()?;
        let (promise, done) = Promise::of("execution", device, location);
        let SubmittedExecution { results, unflushed, submission } =
            self.enqueue(arguments, None, Some(promise), true, location)?;
        waiting.set_unflushed(unflushed);
        // Recorded arguments were queued before this execution.
        if !submission.dispatched.is_reached() {
            device.dispatcher().assist();
        }
        waiting.on(&submission.dispatched, None)?;
        let finished =
            submission.finished.get().expect("a dispatched segment has its completion point");
        waiting.on(&finished.event, finished.stream.as_ref())?;
        let computed = wait_for_results(&results, &mut waiting);
        execution_result(done.get(), computed)?;
        Ok(results)
    }

    /// Executes the program on another stream. Returns at once, as [`execute`](Executable::execute).
    ///
    /// # Errors
    /// As for [`execute`](Executable::execute), and if the stream belongs to another device.
    #[track_caller]
    pub fn execute_on(&self, stream: &Stream, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let location = Location::caller();
        Ok(self.enqueue(arguments, Some(stream), None, false, location)?.results)
    }

    /// Executes the program, and also returns a promise that completes when the whole execution is done. Returns at
    /// once, as [`execute`](Executable::execute). Use it for programs with side effects, such as checks, whose
    /// failures only [`Execution::done`] reports.
    ///
    /// # Errors
    /// As for [`execute`](Executable::execute).
    #[track_caller]
    pub fn submit(&self, arguments: &[&Tensor]) -> Result<Execution> {
        let location = Location::caller();
        let (promise, done) = Promise::of("execution", &self.0.device, location);
        let submitted = self.enqueue(arguments, None, Some(promise), false, location)?;
        Ok(Execution { results: submitted.results, done })
    }

    /// Submits an execution. With `waits`, the caller waits next, and gets the stream unflushed to run it itself.
    fn enqueue(
        &self,
        arguments: &[&Tensor],
        stream: Option<&Stream>,
        done: Option<Promise<()>>,
        waits: bool,
        location: &'static Location<'static>,
    ) -> Result<SubmittedExecution> {
        let device = &self.0.device;
        self.check_arguments(arguments, stream, location)?;
        let compiled = self.compiled_for(arguments)?;
        schedule(arguments, device, location)?;
        let value =
            |tensor: &&Tensor| tensor.node().value().expect("a scheduled node has a value").clone();
        let inputs: Vec<Arc<Value>> =
            arguments.iter().map(value).chain(compiled.constants.iter().cloned()).collect();
        let donated = self.donate(arguments, location)?;
        let stream = stream.map_or_else(|| recorder::stream_of(device), |s| s.inner().clone());
        let counters = device.dispatcher().counters().clone();
        let mut outputs: Vec<Arc<Value>> = Vec::with_capacity(compiled.body.outputs.len());
        let passed: Vec<Option<Arc<Value>>> = compiled
            .sources
            .iter()
            .map(|source| match source {
                ResultSource::Argument(argument) => Some(inputs[*argument].clone()),
                ResultSource::Output(_) => None,
            })
            .collect();
        // If other segments are queued, leave it to the dispatcher thread: they may need planning.
        let dispatches_here =
            (waits || compiled.is_short()) && device.dispatcher().all_dispatched().is_reached();
        let mut submitted = None;
        device.dispatcher().submit(dispatches_here, |dispatched| {
            let bytes = compiled.body.outputs.iter().map(|&slot| compiled.body.bytes[slot]);
            outputs.extend(bytes.map(|bytes| Value::scheduled(bytes, dispatched.clone())));
            let submission = Submission::new(dispatched, Submission::DEFAULT_WEIGHT);
            stream.track(submission.clone());
            submitted = Some(submission.clone());
            Segment {
                labels: compiled.labels.clone(),
                body: SegmentBody::Program(ProgramRun {
                    program: compiled.clone(),
                    counters,
                    done,
                }),
                inputs,
                donated,
                outputs: outputs.clone(),
                stream: stream.clone(),
                submission,
            }
        });
        // The stream's worker is notified only when the results exist, since the caller may wait for them at once.
        let unflushed = dispatches_here.then(|| device.dispatcher().assist_unflushed(&stream));
        let results = compiled.results.iter().zip(&compiled.sources).zip(passed);
        let tensors = results.map(|((ty, source), passed)| {
            let value = match (source, passed) {
                (ResultSource::Output(output), _) => outputs[*output].clone(),
                (_, passed) => passed.expect("a result that is an argument is passed"),
            };
            let (shape, dtype) = (ty.shape.clone(), ty.dtype);
            let node = Node::realized(value, shape, dtype, device, location);
            let tensor = Tensor::from_node(Arc::new(node));
            scope::include(tensor.node());
            tensor
        });
        let results = tensors.collect();
        let submission = submitted.expect("the segment was made when it was submitted");
        if waits {
            return Ok(SubmittedExecution { results, unflushed, submission });
        }
        drop(unflushed);
        recorder::apply_backpressure_outside_ops(device, &stream, location);
        Ok(SubmittedExecution { results, unflushed: None, submission })
    }

    pub(super) fn program(&self) -> &Program {
        &self.0.program
    }

    /// All variants compiled so far.
    pub(super) fn all_compiled(&self) -> Vec<Arc<CompiledProgram>> {
        match &self.0.compilation {
            Compilation::Static(compiled) => vec![compiled.clone()],
            Compilation::PerShape(variants) => variants.lock().values().cloned().collect(),
        }
    }

    /// Returns the variant for the arguments' shapes, compiling it if needed. The arguments were checked before.
    fn compiled_for(&self, arguments: &[&Tensor]) -> Result<Arc<CompiledProgram>> {
        let variants = match &self.0.compilation {
            Compilation::Static(compiled) => return Ok(compiled.clone()),
            Compilation::PerShape(variants) => variants,
        };
        let shapes: Vec<Shape> = arguments.iter().map(|tensor| tensor.shape().clone()).collect();
        if let Some(compiled) = variants.lock().get(&shapes) {
            return Ok(compiled.clone());
        }
        let types: Vec<ValueType> = arguments
            .iter()
            .map(|tensor| ValueType { shape: tensor.shape().clone(), dtype: tensor.dtype() })
            .collect();
        let program = &self.0.program;
        let lowered = program.lower(Some(&types))?;
        let compiled = Arc::new(compile(&lowered, &program.name, &self.0.device)?);
        let mut variants = variants.lock();
        if variants.len() >= MAX_SHAPE_VARIANTS {
            variants.clear();
        }
        Ok(variants.entry(shapes).or_insert(compiled).clone())
    }

    /// Checks the arguments against the program. Changes nothing.
    fn check_arguments(
        &self,
        arguments: &[&Tensor],
        stream: Option<&Stream>,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let error = |message: String| {
            let program = self.0.program.name.clone();
            Err(Error::Argument { program, message, location })
        };
        let (expected, found) = (self.0.arguments.len(), arguments.len());
        if expected != found {
            return error(format!("expected {expected} arguments, found {found}"));
        }
        if let Some(other) = stream.map(Stream::device).filter(|device| **device != self.0.device) {
            let own = &self.0.device;
            return error(format!(
                "expected a stream of {own:?}, the device it was compiled for, found a stream of {other:?}"
            ));
        }
        for (position, (tensor, ty)) in arguments.iter().zip(&self.0.arguments).enumerate() {
            let named = || format!("argument {position} ({})", ty.name);
            tensor.check()?;
            if !ty.accepts(tensor) {
                let (dtype, shape) = (tensor.dtype(), tensor.shape());
                return error(format!("{}: expected {ty}, found {dtype}{shape}", named()));
            }
            let (own, found) = (&self.0.device, tensor.device());
            if own != found {
                return error(format!(
                    "{}: expected a tensor on {own:?} (device {}), found one on {found:?} (device {}); \
                     move it with .to_device(…)",
                    named(),
                    own.id(),
                    found.id()
                ));
            }
            let same = |other: &&Tensor| Arc::ptr_eq(other.node(), tensor.node());
            let earlier = arguments[..position].iter().position(same);
            if let Some(earlier) = earlier
                && (ty.is_donated || self.0.arguments[earlier].is_donated)
            {
                return error(format!(
                    "{}: the same tensor is also argument {earlier} ({}), and one that is donated \
                     cannot be passed twice; pass a copy",
                    named(),
                    self.0.arguments[earlier].name
                ));
            }
        }
        Ok(())
    }

    /// Donates arguments: invalidates their tensors. Returns the inputs that no other tensor can read.
    fn donate(
        &self,
        arguments: &[&Tensor],
        location: &'static Location<'static>,
    ) -> Result<Vec<DonatedInput>> {
        let mut donated = Vec::new();
        for (input, (tensor, ty)) in arguments.iter().zip(&self.0.arguments).enumerate() {
            if !ty.is_donated {
                continue;
            }
            let argument = format!("argument {input} ({}) of {}", ty.name, self.0.program.name);
            let error = Error::Donated { argument: argument.into(), location };
            let fault = Fault::from(FaultKind::Donated(error.to_string()));
            match tensor.donate(error, location) {
                Some(true) => donated.push(DonatedInput { input, fault }),
                Some(false) => {}
                // Another thread donated it first.
                None => tensor.check()?,
            }
        }
        Ok(donated)
    }
}

impl ArgumentType {
    fn of_static(argument: &Argument) -> ArgumentType {
        ArgumentType {
            name: argument.name.clone(),
            dtype: argument.ty.dtype,
            extents: argument.ty.shape.iter().map(|&extent| Some(extent)).collect(),
            is_donated: argument.is_donated,
        }
    }

    fn accepts(&self, tensor: &Tensor) -> bool {
        let fits = |(extent, found): (&Option<usize>, &usize)| {
            extent.is_none_or(|extent| extent == *found)
        };
        self.dtype == tensor.dtype()
            && self.extents.len() == tensor.rank()
            && self.extents.iter().zip(tensor.shape().iter()).all(fits)
    }
}

impl ResultType {
    fn of_static(ty: &ValueType) -> ResultType {
        let extents = ty.shape.iter().map(|&extent| Some(extent)).collect();
        ResultType { dtype: ty.dtype, extents }
    }
}

/// Submits arguments that are only recorded.
fn schedule(
    tensors: &[&Tensor],
    device: &Device,
    location: &'static Location<'static>,
) -> Result<()> {
    let recorded = tensors.iter().filter(|tensor| tensor.node().value().is_none());
    let recorded_nodes: Vec<Arc<Node>> = recorded.map(|tensor| tensor.node().clone()).collect();
    if recorded_nodes.is_empty() {
        return Ok(());
    }
    recorder::submit(device, &recorded_nodes, recorder::Materialize::WorthStoring, false, location);
    match recorded_nodes.iter().all(|node| node.value().is_some()) {
        true => Ok(()),
        false => Err(Error::Invalid(format!(
            "cannot execute on a thread that is shutting down; at {location}"
        ))),
    }
}

fn write_type(f: &mut fmt::Formatter<'_>, dtype: DType, extents: &[Option<usize>]) -> fmt::Result {
    write!(f, "{dtype}[")?;
    for (axis, extent) in extents.iter().enumerate() {
        let separator = if axis > 0 { ", " } else { "" };
        match extent {
            Some(extent) => write!(f, "{separator}{extent}")?,
            None => write!(f, "{separator}?")?,
        }
    }
    write!(f, "]")
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self.dtype, &self.extents)
    }
}

impl fmt::Display for ResultType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self.dtype, &self.extents)
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (arguments, results) = (self.0.arguments.len(), self.0.results.len());
        write!(f, "Executable({}, {arguments} arguments, {results} results)", self.name())
    }
}
