//! Executables: programs compiled for a device.

use super::compile::{Compiled, ResultSource, compile};
use super::sequence::Run;
use super::source::{Declared, Program};
use crate::runtime::dispatcher::{Content, Donated, Held, Segment, Submission};
use crate::runtime::value::Value;
use crate::runtime::wait::{WaitReason, Waiting, wait_for_values};
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

/// A program compiled for a device. Cheap to clone, usable from any thread, several executions at a time.
#[derive(Clone)]
pub struct Executable(Arc<Inner>);

struct Inner {
    device: Device,
    program: Program,
    ready: Ready,
    arguments: Vec<ArgumentType>,
    results: Vec<ResultType>,
}

/// What an executable runs.
enum Ready {
    /// The same for all arguments.
    Fixed(Arc<Compiled>),
    /// What was compiled for arguments of these shapes. Kernels do not depend on sizes, so other shapes are
    /// planned anew, but rarely compiled.
    ByShapes(Mutex<FxHashMap<Vec<Shape>, Arc<Compiled>>>),
}

/// Beyond this many sets of shapes, what was compiled for them is forgotten.
const MOST_SHAPES: usize = 256;

/// What an executable takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    /// What the program calls it: by its location, as JAX's `loc("x")`, or else as it was written, without `%`.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents, outermost first. `None` is any.
    pub extents: Vec<Option<usize>>,
    /// Whether an execution takes the tensor for its own use: the caller cannot use it again.
    pub is_donated: bool,
}

/// What an executable gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultType {
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents, outermost first. `None` depends on those of the arguments.
    pub extents: Vec<Option<usize>>,
}

/// An execution that has started.
pub struct Execution {
    /// What it computes.
    pub results: Vec<Tensor>,
    /// Completed when all of it is done. Its error is that of the first call that failed among those that a
    /// program makes for what they do, such as its checks; an error in computing a result is the result's.
    pub done: Pending<()>,
}

impl Execution {
    /// Waits until all of it is done: one wait, in which this thread does its part of the work.
    ///
    /// # Errors
    /// That of `done`, or else that of the first result that has one.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        let computed = match self.results.first() {
            Some(first) => {
                let mut waiting = Waiting::new(first.device(), WaitReason::Sync, location);
                wait_for_results(&self.results, &mut waiting)
            }
            None => Ok(()),
        };
        outcome(self.done.clone().get(), computed)
    }
}

/// How an execution ended: with the error of `done`, or else that of a result. A promise that was given up says less
/// than the result that it was given up for.
fn outcome(done: Result<()>, computed: Result<()>) -> Result<()> {
    match done {
        Err(Error::Abandoned { .. }) => computed.and(done),
        done => done.and(computed),
    }
}

/// An execution on its way.
struct Submitted {
    results: Vec<Tensor>,
    /// Its stream, if nobody was told yet that it has something to run.
    held: Option<Held>,
    submission: Arc<Submission>,
}

/// Waits until results are in memory. The error is that of the first that has one.
fn wait_for_results(results: &[Tensor], waiting: &mut Waiting) -> Result<()> {
    let mut values = SmallVec::<[_; 8]>::new();
    for tensor in results {
        tensor.check()?;
        values.push((tensor.device(), tensor.node().value().expect("a result has a value")));
    }
    wait_for_values(values.iter().map(|(device, value)| (*device, &***value)), waiting)
}

impl Device {
    /// Compiles a program for this device: all planning and compilation is done here, and none when it is
    /// executed.
    ///
    /// # Errors
    /// All that the device cannot do, each with its line.
    pub fn compile(&self, program: &Program) -> Result<Executable> {
        let inner = match program.open_types() {
            // What depends on shapes is found out when they are known; that there is no such operation, now.
            Some(declared) => Inner {
                arguments: declared_arguments(program, &declared)?,
                results: declared.results.iter().map(declared_result).collect::<Result<_>>()?,
                ready: program.check_operations().map(|()| Ready::ByShapes(Mutex::default()))?,
                device: self.clone(),
                program: program.clone(),
            },
            None => {
                let compiled = compile(&*program.lower(None)?, &program.name, self)?;
                Inner {
                    arguments: compiled.arguments.iter().map(ArgumentType::fixed).collect(),
                    results: compiled.results.iter().map(ResultType::fixed).collect(),
                    ready: Ready::Fixed(Arc::new(compiled)),
                    device: self.clone(),
                    program: program.clone(),
                }
            }
        };
        Ok(Executable(Arc::new(inner)))
    }
}

fn declared_arguments(program: &Program, declared: &Declared) -> Result<Vec<ArgumentType>> {
    let all = declared.arguments.iter().zip(&declared.donated).enumerate();
    all.map(|(number, (tensor, &is_donated))| {
        let ResultType { dtype, extents } = declared_result(tensor).map_err(|error| {
            Error::Program(format!("{}: argument {number}: {error}", program.name).into())
        })?;
        let name = declared.names[number].clone();
        Ok(ArgumentType { name, dtype, extents, is_donated })
    })
    .collect()
}

fn declared_result(tensor: &TensorType) -> Result<ResultType> {
    let ElementType::Core(dtype) = tensor.element else {
        return Err(Error::Invalid(format!("no dtype is {:?}", tensor.element)));
    };
    let extents = tensor.dimensions.iter().map(|dimension| dimension.map(|extent| extent as usize));
    Ok(ResultType { dtype, extents: extents.collect() })
}

impl Executable {
    /// The device it was compiled for.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// What messages call its program.
    pub fn name(&self) -> &str {
        &self.0.program.name
    }

    /// What it takes.
    pub fn arguments(&self) -> &[ArgumentType] {
        &self.0.arguments
    }

    /// What it gives.
    pub fn results(&self) -> &[ResultType] {
        &self.0.results
    }

    /// Executes the program on this thread's stream. Returns at once, unless too much is in flight: the results
    /// are tensors like any other, and the arguments may be recorded, in flight or there.
    ///
    /// A tensor given for a donated argument cannot be used again; clones of it can.
    ///
    /// # Errors
    /// If there are more or fewer arguments than the program has, or if one is not what it takes. Then nothing
    /// runs, and every tensor is as it was. What fails later is the error of the results.
    #[track_caller]
    pub fn execute(&self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let location = Location::caller();
        Ok(self.enqueue(arguments, None, None, false, location)?.results)
    }

    /// Executes the program and waits until all of it is done: one wait, in which this thread does its part of the
    /// work. Of short programs that is all of it, and no other thread is woken.
    ///
    /// # Errors
    /// As for [`execute`](Executable::execute), and then as for [`Execution::wait`]: after such an error donated
    /// arguments are gone, and there are no results.
    #[track_caller]
    pub fn execute_and_wait(&self, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let location = Location::caller();
        let device = &self.0.device;
        let mut waiting = Waiting::new(device, WaitReason::Sync, location);
        waiting.begin()?;
        let (promise, done) = Promise::of("execution", device, location);
        let Submitted { results, held, submission } =
            self.enqueue(arguments, None, Some(promise), true, location)?;
        waiting.hold(held);
        // Arguments that were recorded only have been queued before.
        if !submission.dispatched.is_reached() {
            device.dispatcher().assist();
        }
        waiting.on(&submission.dispatched, None)?;
        let finished = submission.finished.get().expect("a dispatched segment has its end");
        waiting.on(&finished.event, finished.stream.as_ref())?;
        let computed = wait_for_results(&results, &mut waiting);
        outcome(done.get(), computed)?;
        Ok(results)
    }

    /// As [`execute`](Executable::execute), on another stream.
    #[track_caller]
    pub fn execute_on(&self, stream: &Stream, arguments: &[&Tensor]) -> Result<Vec<Tensor>> {
        let location = Location::caller();
        Ok(self.enqueue(arguments, Some(stream), None, false, location)?.results)
    }

    /// As [`execute`](Executable::execute), with a promise that tells when all of it is done: how a program
    /// that checks itself says that a check failed.
    #[track_caller]
    pub fn submit(&self, arguments: &[&Tensor]) -> Result<Execution> {
        let location = Location::caller();
        let (promise, done) = Promise::of("execution", &self.0.device, location);
        let submitted = self.enqueue(arguments, None, Some(promise), false, location)?;
        Ok(Execution { results: submitted.results, done })
    }

    /// With `waits`, the caller goes on to wait, and may be given the stream to run itself.
    fn enqueue(
        &self,
        arguments: &[&Tensor],
        stream: Option<&Stream>,
        done: Option<Promise<()>>,
        waits: bool,
        location: &'static Location<'static>,
    ) -> Result<Submitted> {
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
        // If something is queued before, it may have to be planned, which is no work for this thread.
        let emits = (waits || compiled.is_short()) && device.dispatcher().last().is_reached();
        let mut submitted = None;
        device.dispatcher().submit(emits, |dispatched| {
            let bytes = compiled.body.outputs.iter().map(|&slot| compiled.body.bytes[slot]);
            outputs.extend(bytes.map(|bytes| Value::scheduled(bytes, dispatched.clone())));
            let submission = Submission::new(dispatched, Submission::WEIGHT);
            stream.note(submission.clone());
            submitted = Some(submission.clone());
            Segment {
                labels: compiled.labels.clone(),
                content: Content::Program(Run { program: compiled.clone(), counters, done }),
                inputs,
                donated,
                outputs: outputs.clone(),
                stream: stream.clone(),
                submission,
            }
        });
        // Nobody else begins with it before the results are there for the caller, who may wait for them at once.
        let held = emits.then(|| device.dispatcher().assist_holding(&stream));
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
            return Ok(Submitted { results, held, submission });
        }
        drop(held);
        recorder::hold_back_outside_ops(device, &stream, location);
        Ok(Submitted { results, held: None, submission })
    }

    pub(super) fn program(&self) -> &Program {
        &self.0.program
    }

    /// All that was compiled so far.
    pub(super) fn all_compiled(&self) -> Vec<Arc<Compiled>> {
        match &self.0.ready {
            Ready::Fixed(compiled) => vec![compiled.clone()],
            Ready::ByShapes(known) => known.lock().values().cloned().collect(),
        }
    }

    /// What runs for these arguments, which are known to fit.
    fn compiled_for(&self, arguments: &[&Tensor]) -> Result<Arc<Compiled>> {
        let known = match &self.0.ready {
            Ready::Fixed(compiled) => return Ok(compiled.clone()),
            Ready::ByShapes(known) => known,
        };
        let shapes: Vec<Shape> = arguments.iter().map(|tensor| tensor.shape().clone()).collect();
        if let Some(compiled) = known.lock().get(&shapes) {
            return Ok(compiled.clone());
        }
        let types: Vec<ValueType> = arguments
            .iter()
            .map(|tensor| ValueType { shape: tensor.shape().clone(), dtype: tensor.dtype() })
            .collect();
        let program = &self.0.program;
        let lowered = program.lower(Some(&types))?;
        let compiled = Arc::new(compile(&lowered, &program.name, &self.0.device)?);
        let mut known = known.lock();
        if known.len() >= MOST_SHAPES {
            known.clear();
        }
        Ok(known.entry(shapes).or_insert(compiled).clone())
    }

    /// Whether the program takes these. Nothing is changed.
    fn check_arguments(
        &self,
        arguments: &[&Tensor],
        stream: Option<&Stream>,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let wrong = |message: String| {
            let program = self.0.program.name.clone();
            Err(Error::Argument { program, message, location })
        };
        let (expected, found) = (self.0.arguments.len(), arguments.len());
        if expected != found {
            return wrong(format!("expected {expected} arguments, found {found}"));
        }
        if let Some(other) = stream.map(Stream::device).filter(|device| **device != self.0.device) {
            let own = &self.0.device;
            return wrong(format!("compiled for {own:?}, the stream is one of {other:?}"));
        }
        for (number, (tensor, ty)) in arguments.iter().zip(&self.0.arguments).enumerate() {
            let named = || format!("argument {number} ({})", ty.name);
            tensor.check()?;
            if !ty.takes(tensor) {
                let (dtype, shape) = (tensor.dtype(), tensor.shape());
                return wrong(format!("{}: expected {ty}, found {dtype}{shape}", named()));
            }
            let (own, found) = (&self.0.device, tensor.device());
            if own != found {
                return wrong(format!(
                    "{}: expected a tensor on {own:?} (device {}), found one on {found:?} (device {}); \
                     move it with .to_device(…)",
                    named(),
                    own.id(),
                    found.id()
                ));
            }
            let same = |other: &&Tensor| Arc::ptr_eq(other.node(), tensor.node());
            let earlier = arguments[..number].iter().position(same);
            if let Some(earlier) = earlier
                && (ty.is_donated || self.0.arguments[earlier].is_donated)
            {
                return wrong(format!(
                    "{}: the same tensor is also argument {earlier} ({}), and one that is donated \
                     cannot be passed twice; pass a copy",
                    named(),
                    self.0.arguments[earlier].name
                ));
            }
        }
        Ok(())
    }

    /// Takes the donated arguments from their tensors. Returns those that nobody else can ask for.
    fn donate(
        &self,
        arguments: &[&Tensor],
        location: &'static Location<'static>,
    ) -> Result<Vec<Donated>> {
        let mut donated = Vec::new();
        for (input, (tensor, ty)) in arguments.iter().zip(&self.0.arguments).enumerate() {
            if !ty.is_donated {
                continue;
            }
            let argument = format!("argument {input} ({}) of {}", ty.name, self.0.program.name);
            let error = Error::Donated { argument: argument.into(), location };
            let fault = Fault::from(FaultKind::Donated(error.to_string()));
            match tensor.donate(error, location) {
                Some(true) => donated.push(Donated { input, fault }),
                Some(false) => {}
                // Another thread was faster.
                None => tensor.check()?,
            }
        }
        Ok(donated)
    }
}

impl ArgumentType {
    fn fixed(argument: &Argument) -> ArgumentType {
        ArgumentType {
            name: argument.name.clone(),
            dtype: argument.ty.dtype,
            extents: argument.ty.shape.iter().map(|&extent| Some(extent)).collect(),
            is_donated: argument.is_donated,
        }
    }

    fn takes(&self, tensor: &Tensor) -> bool {
        let fits = |(extent, found): (&Option<usize>, &usize)| {
            extent.is_none_or(|extent| extent == *found)
        };
        self.dtype == tensor.dtype()
            && self.extents.len() == tensor.rank()
            && self.extents.iter().zip(tensor.shape().iter()).all(fits)
    }
}

impl ResultType {
    fn fixed(ty: &ValueType) -> ResultType {
        let extents = ty.shape.iter().map(|&extent| Some(extent)).collect();
        ResultType { dtype: ty.dtype, extents }
    }
}

/// Submits what is only recorded of some tensors.
fn schedule(
    tensors: &[&Tensor],
    device: &Device,
    location: &'static Location<'static>,
) -> Result<()> {
    let recorded = tensors.iter().filter(|tensor| tensor.node().value().is_none());
    let wanted: Vec<Arc<Node>> = recorded.map(|tensor| tensor.node().clone()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    recorder::submit(device, &wanted, recorder::Choice::WorthStoring, false, location);
    match wanted.iter().all(|node| node.value().is_some()) {
        true => Ok(()),
        false => Err(Error::Invalid(format!(
            "nothing can be executed while its thread is ending; at {location}"
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
