//! From a plan and its buffers to commands: the same for what was recorded and for programs.

use super::cache::ReadyPlan;
use super::stats::Counters;
use inflight_backend::{
    Batch, BlockLaunch, Buffer, ChainedGemmLaunch, Command, Epilogue, Fault, GemmLaunch,
    GemmOperand, Label, LabelOp, Launch, PlannedLaunch, Producer, Prologue, RoutineCall,
};
use inflight_ir::Scalar;
use inflight_ir::plan::{self, BufferId, GemmStep, LaunchStep, MatrixOperand, ScalarSource, Step};
use smallvec::SmallVec;
use std::sync::Arc;

/// Takes what running a plan asks of a stream, in order.
pub(crate) trait Emit {
    /// Takes a command that is to be run.
    fn command(&mut self, command: Command);

    /// The commands so far have written these outputs, by their positions, and more commands follow.
    fn written(&mut self, outputs: &[usize]);
}

/// A list of commands, which tells nobody of outputs.
impl Emit for Vec<Command> {
    fn command(&mut self, command: Command) {
        self.push(command);
    }

    fn written(&mut self, _: &[usize]) {}
}

/// What commands do that were emitted and are not counted yet: to count each by itself would be a good part of what
/// emitting it takes. They are counted when this is dropped, at the latest.
struct Uncounted<'a> {
    counters: &'a Counters,
    launches: u64,
    read: u64,
    written: u64,
}

impl<'a> Uncounted<'a> {
    fn new(counters: &'a Counters) -> Uncounted<'a> {
        Uncounted { counters, launches: 0, read: 0, written: 0 }
    }

    fn count(&mut self) {
        Counters::add(&self.counters.launches, std::mem::take(&mut self.launches));
        Counters::add(&self.counters.bytes_read, std::mem::take(&mut self.read));
        Counters::add(&self.counters.bytes_written, std::mem::take(&mut self.written));
    }
}

impl Drop for Uncounted<'_> {
    fn drop(&mut self) {
        self.count();
    }
}

/// A plan, and what is the same whenever it runs.
pub(crate) struct Bound<'a> {
    pub ready: &'a ReadyPlan,
    /// The values of the graph's scalars.
    pub scalars: &'a [Scalar],
    /// The op and the line of each of the graph's nodes.
    pub labels: &'a Arc<[LabelOp]>,
}

impl Bound<'_> {
    /// Emits the commands that compute `outputs` from `inputs`. What has no kernel gets its fault now.
    pub fn emit(
        &self,
        inputs: &[Arc<Buffer>],
        outputs: &[Arc<Buffer>],
        counters: &Counters,
        emit: &mut dyn Emit,
    ) {
        let plan = &self.ready.plan;
        // The value that each buffer of the plan is, or new memory for what only the plan needs.
        let mut buffers: SmallVec<[Option<Arc<Buffer>>; 8]> = plan
            .buffers
            .iter()
            .map(|buffer| buffer.input.map(|input| inputs[input].clone()))
            .collect();
        for (output, &buffer) in outputs.iter().zip(&plan.outputs) {
            // An output may be an input in another shape, or the same as another output.
            match &buffers[buffer as usize] {
                Some(same) => output.adopt(same),
                None => buffers[buffer as usize] = Some(output.clone()),
            }
        }
        let mut uses_left: SmallVec<[u32; 16]> = SmallVec::from_slice(&self.ready.uses);
        let mut uncounted = Uncounted::new(counters);
        // The launches of the batch that is being gathered.
        let mut gathered: Vec<Launch> = Vec::new();
        let mut batches = plan.batches.iter().enumerate();
        let (mut batch, mut left) = (0, 0);
        for (position, step) in plan.steps.iter().enumerate() {
            if left == 0
                && let Some((number, &size)) = batches.next()
            {
                (batch, left) = (number, size);
                uncounted.launches += 1;
            }
            left -= 1;
            let batched = self.ready.batch_work[batch].as_ref();
            let mut bind = |id: BufferId| {
                let index = id as usize;
                let described = plan.buffers[index];
                let bytes = described.elements * described.dtype.size();
                let buffer = buffers[index].get_or_insert_with(|| Buffer::declare(bytes)).clone();
                // Nothing but the commands that use it should keep a temporary alive.
                uses_left[index] -= 1;
                if uses_left[index] == 0 {
                    buffers[index] = None;
                }
                buffer
            };
            let work = self.ready.work[position].clone();
            let label = Label { segment: self.labels.clone(), work };
            uncounted.read += label.work.bytes_read;
            uncounted.written += label.work.bytes_written;
            let kernels = &self.ready.planned[position];
            // Where a kernel is missing, the results have the fault: the step is not run.
            match step {
                Step::Launch(step) => {
                    let buffers = step.buffers.iter().map(|&id| bind(id)).collect();
                    match (self.launch(step, &kernels[0], buffers, label), batched) {
                        (Err(_), _) => {}
                        (Ok(launch), Some(_)) => gathered.push(launch),
                        (Ok(launch), None) => emit.command(Command::Launch(launch)),
                    }
                }
                Step::Gemm(contraction) => {
                    // In the order of the step's launches.
                    let mut launches: SmallVec<[Result<Launch, Unlaunched>; 2]> = SmallVec::new();
                    for (step, kernel) in step.launches().iter().zip(kernels) {
                        let buffers = step.buffers.iter().map(|&id| bind(id)).collect();
                        launches.push(self.launch(step, kernel, buffers, label.clone()));
                    }
                    let mut launches = launches.into_iter();
                    if let Ok(contract) = contract(contraction, &mut launches, &mut bind, &label) {
                        emit.command(Command::Gemm(Box::new(contract)));
                    }
                }
                Step::Routine(step) => {
                    emit.command(Command::Routine(Box::new(RoutineCall {
                        routine: step.routine.clone(),
                        operands: step.operands.iter().map(|&id| bind(id)).collect(),
                        result: bind(step.result),
                        label,
                    })));
                }
            }
            if let (Some(work), 0) = (batched, left) {
                let launches = std::mem::take(&mut gathered);
                let label = Label { segment: self.labels.clone(), work: work.clone() };
                emit.command(Command::Batch(Batch { launches, label }));
            }
            // A value that is done is announced at once: its reader need not wait for the rest.
            let finished = &self.ready.finished[position];
            if !finished.is_empty() && position + 1 < plan.steps.len() {
                // Whoever reads it may look at the counters then.
                uncounted.count();
                emit.written(finished);
            }
        }
    }

    fn launch(
        &self,
        step: &LaunchStep,
        planned: &Result<Arc<PlannedLaunch>, Fault>,
        buffers: SmallVec<[Arc<Buffer>; 6]>,
        label: Label,
    ) -> Result<Launch, Unlaunched> {
        let planned = planned.as_ref().map_err(|fault| {
            let fault = Fault { label: Some(label.clone()), ..fault.clone() };
            let results = step.kernel.params.iter().zip(&buffers).filter(|(param, _)| param.writes);
            results.for_each(|(_, buffer)| buffer.fail(fault.clone()));
            Unlaunched(fault)
        })?;
        let scalars = step.scalars.iter().map(|source| match source {
            ScalarSource::Graph(position) => self.scalars[*position],
            ScalarSource::Fixed(value) => *value,
        });
        Ok(Launch { planned: planned.clone(), scalars: scalars.collect(), buffers, label })
    }
}

/// A launch that has no kernel. Its results carry the fault.
struct Unlaunched(Fault);

/// The command of a contraction, whose launches, and those of what surrounds it, are the next of `launches`. If
/// one of those has no kernel, there is no command, and its results have the fault.
fn contract(
    step: &GemmStep,
    launches: &mut dyn Iterator<Item = Result<Launch, Unlaunched>>,
    bind: &mut dyn FnMut(BufferId) -> Arc<Buffer>,
    label: &Label,
) -> Result<GemmLaunch, Unlaunched> {
    let producer = match step.prologue.as_ref().map(|prologue| &prologue.producer) {
        None => None,
        Some(plan::Producer::Kernel(kernel)) => {
            let launch = launches.next().expect("a launch for each kernel");
            Some(launch.map(|launch| {
                Producer::Kernel(BlockLaunch {
                    launch,
                    operand_param: kernel.value,
                    rows: kernel.rows.clone(),
                    columns: kernel.columns.clone(),
                    row_major: kernel.row_major,
                })
            }))
        }
        Some(plan::Producer::Gemm(chained)) => {
            let first = contract(&chained.gemm, launches, bind, label);
            Some(first.map(|contract| {
                Producer::Gemm(ChainedGemmLaunch { gemm: contract, operand_param: chained.value })
            }))
        }
    };
    let epilogue = step.epilogue.as_ref().map(|epilogue| {
        let launch = launches.next().expect("a launch for each kernel");
        launch.map(|launch| Box::new(Epilogue { launch, gemm_result: epilogue.gemm_result }))
    });
    // Whatever comes of it, all buffers are bound: each binding is counted.
    let [a, b, c] = [&step.a, &step.b, &step.c].map(|matrix| operand(matrix, bind));
    let (producer, epilogue) = (producer.transpose(), epilogue.transpose());
    if let Err(Unlaunched(fault)) = &producer {
        match &epilogue {
            Ok(Some(epilogue)) => epilogue.launch.fail(fault),
            Ok(None) => c.buffer.fail(fault.clone()),
            Err(_) => {}
        }
    }
    let side = step.prologue.as_ref().map(|prologue| prologue.side);
    let prologue =
        side.zip(producer?).map(|(side, producer)| Box::new(Prologue { side, producer }));
    Ok(GemmLaunch {
        dtype: step.dtype,
        batch: step.batch.clone(),
        m: step.m,
        n: step.n,
        k: step.k,
        a,
        b,
        c,
        prologue,
        epilogue: epilogue?,
        label: label.clone(),
    })
}

fn operand(operand: &MatrixOperand, bind: &mut dyn FnMut(BufferId) -> Arc<Buffer>) -> GemmOperand {
    GemmOperand {
        buffer: bind(operand.buffer),
        offset: operand.offset,
        batch_strides: operand.batch_strides.clone(),
        row_stride: operand.row_stride,
        column_stride: operand.column_stride,
    }
}
