//! Command emission: turns a compiled plan and its buffers into stream commands. Recorded segments and StableHLO
//! programs share this code.

use super::compilation_cache::CompiledPlan;
use super::stats::Counters;
use inflight_backend::{
    Batch, BlockLaunch, Buffer, ChainedGemmLaunch, Command, Epilogue, Fault, GemmLaunch,
    GemmOperand, Label, LabelOp, Launch, PlannedLaunch, Producer, Prologue, RoutineCall,
};
use inflight_ir::Scalar;
use inflight_ir::plan::{self, BufferId, GemmStep, LaunchStep, MatrixOperand, ScalarSource, Step};
use smallvec::SmallVec;
use std::sync::Arc;

/// Receives the commands of a plan in stream order.
pub(crate) trait CommandSink {
    /// Appends a command.
    fn push_command(&mut self, command: Command);

    /// Reports that the commands so far write these outputs (positions), and that more commands follow.
    fn outputs_written(&mut self, outputs: &[usize]);
}

/// Collects commands; ignores reports of written outputs.
impl CommandSink for Vec<Command> {
    fn push_command(&mut self, command: Command) {
        self.push(command);
    }

    fn outputs_written(&mut self, _: &[usize]) {}
}

/// Counter updates of emitted commands, accumulated locally and flushed in one go. Updating the shared atomics per
/// command is a measurable part of emission. Dropping flushes the rest.
struct BatchedCounters<'a> {
    counters: &'a Counters,
    launches: u64,
    read: u64,
    written: u64,
}

impl<'a> BatchedCounters<'a> {
    fn new(counters: &'a Counters) -> BatchedCounters<'a> {
        BatchedCounters { counters, launches: 0, read: 0, written: 0 }
    }

    fn flush(&mut self) {
        Counters::add(&self.counters.launches, std::mem::take(&mut self.launches));
        Counters::add(&self.counters.bytes_read, std::mem::take(&mut self.read));
        Counters::add(&self.counters.bytes_written, std::mem::take(&mut self.written));
    }
}

impl Drop for BatchedCounters<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A compiled plan, bound to the scalars and labels of one graph.
pub(crate) struct BoundPlan<'a> {
    pub ready: &'a CompiledPlan,
    /// Values of the graph's scalars.
    pub scalars: &'a [Scalar],
    /// Op name and source location of each graph node.
    pub labels: &'a Arc<[LabelOp]>,
}

impl BoundPlan<'_> {
    /// Emits the commands that compute `outputs` from `inputs`. The results of steps whose kernel failed to compile
    /// get the compilation fault immediately.
    pub fn emit(
        &self,
        inputs: &[Arc<Buffer>],
        outputs: &[Arc<Buffer>],
        counters: &Counters,
        sink: &mut dyn CommandSink,
    ) {
        let plan = &self.ready.plan;
        // Plan buffers: inputs bound to their values; outputs and temporaries are bound on first use.
        let mut buffers: SmallVec<[Option<Arc<Buffer>>; 8]> = plan
            .buffers
            .iter()
            .map(|buffer| buffer.input.map(|input| inputs[input].clone()))
            .collect();
        for (output, &buffer) in outputs.iter().zip(&plan.outputs) {
            // An output aliases an input (reshape) or an earlier output: share its memory.
            match &buffers[buffer as usize] {
                Some(same) => output.adopt(same),
                None => buffers[buffer as usize] = Some(output.clone()),
            }
        }
        let mut remaining_uses: SmallVec<[u32; 16]> = SmallVec::from_slice(&self.ready.uses);
        let mut batched_counters = BatchedCounters::new(counters);
        // Launches of the current launch batch.
        let mut batch_launches: Vec<Launch> = Vec::new();
        let mut batches = plan.batches.iter().enumerate();
        let (mut batch, mut remaining_in_batch) = (0, 0);
        for (position, step) in plan.steps.iter().enumerate() {
            if remaining_in_batch == 0
                && let Some((next, &size)) = batches.next()
            {
                (batch, remaining_in_batch) = (next, size);
                batched_counters.launches += 1;
            }
            remaining_in_batch -= 1;
            let batch_work = self.ready.batch_work[batch].as_ref();
            let mut bind = |id: BufferId| {
                let index = id as usize;
                let described = plan.buffers[index];
                let bytes = described.elements * described.dtype.size();
                let buffer = buffers[index].get_or_insert_with(|| Buffer::declare(bytes)).clone();
                // Drop the local reference at the last use, so that only the commands keep a temporary alive.
                remaining_uses[index] -= 1;
                if remaining_uses[index] == 0 {
                    buffers[index] = None;
                }
                buffer
            };
            let work = self.ready.work[position].clone();
            let label = Label { segment: self.labels.clone(), work };
            batched_counters.read += label.work.bytes_read;
            batched_counters.written += label.work.bytes_written;
            let kernels = &self.ready.planned[position];
            // A step without a kernel is skipped; `launch` has marked its results with the fault.
            match step {
                Step::Launch(step) => {
                    let buffers = step.buffers.iter().map(|&id| bind(id)).collect();
                    match (self.launch(step, &kernels[0], buffers, label), batch_work) {
                        (Err(_), _) => {}
                        (Ok(launch), Some(_)) => batch_launches.push(launch),
                        (Ok(launch), None) => sink.push_command(Command::Launch(launch)),
                    }
                }
                Step::Gemm(gemm) => {
                    // In the order of `GemmStep::launches`.
                    let mut launches: SmallVec<[Result<Launch, MissingKernel>; 2]> =
                        SmallVec::new();
                    for (step, kernel) in step.launches().iter().zip(kernels) {
                        let buffers = step.buffers.iter().map(|&id| bind(id)).collect();
                        launches.push(self.launch(step, kernel, buffers, label.clone()));
                    }
                    let mut launches = launches.into_iter();
                    if let Ok(gemm) = gemm_launch(gemm, &mut launches, &mut bind, &label) {
                        sink.push_command(Command::Gemm(Box::new(gemm)));
                    }
                }
                Step::Routine(step) => {
                    sink.push_command(Command::Routine(Box::new(RoutineCall {
                        routine: step.routine.clone(),
                        operands: step.operands.iter().map(|&id| bind(id)).collect(),
                        result: bind(step.result),
                        label,
                    })));
                }
            }
            if let (Some(work), 0) = (batch_work, remaining_in_batch) {
                let launches = std::mem::take(&mut batch_launches);
                let label = Label { segment: self.labels.clone(), work: work.clone() };
                sink.push_command(Command::Batch(Batch { launches, label }));
            }
            // Signal outputs as soon as they are written, so that readers need not wait for the whole plan.
            let outputs_written = &self.ready.outputs_written[position];
            if !outputs_written.is_empty() && position + 1 < plan.steps.len() {
                // A reader may look at the counters as soon as the output is signaled.
                batched_counters.flush();
                sink.outputs_written(outputs_written);
            }
        }
    }

    fn launch(
        &self,
        step: &LaunchStep,
        planned: &Result<Arc<PlannedLaunch>, Fault>,
        buffers: SmallVec<[Arc<Buffer>; 6]>,
        label: Label,
    ) -> Result<Launch, MissingKernel> {
        let planned = planned.as_ref().map_err(|fault| {
            let fault = Fault { label: Some(label.clone()), ..fault.clone() };
            let results = step.kernel.params.iter().zip(&buffers).filter(|(param, _)| param.writes);
            results.for_each(|(_, buffer)| buffer.fail(fault.clone()));
            MissingKernel(fault)
        })?;
        let scalars = step.scalars.iter().map(|source| match source {
            ScalarSource::Graph(position) => self.scalars[*position],
            ScalarSource::Fixed(value) => *value,
        });
        Ok(Launch { planned: planned.clone(), scalars: scalars.collect(), buffers, label })
    }
}

/// Marks a launch whose kernel failed to compile. The launch's results carry the fault.
struct MissingKernel(Fault);

/// Builds a GEMM launch. Takes the launches of the step's prologue and epilogue from `launches`, in order. If one
/// of their kernels is missing, marks the results with its fault and returns an error.
fn gemm_launch(
    step: &GemmStep,
    launches: &mut dyn Iterator<Item = Result<Launch, MissingKernel>>,
    bind: &mut dyn FnMut(BufferId) -> Arc<Buffer>,
    label: &Label,
) -> Result<GemmLaunch, MissingKernel> {
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
            let first = gemm_launch(&chained.gemm, launches, bind, label);
            Some(first.map(|gemm| {
                Producer::Gemm(ChainedGemmLaunch { gemm, operand_param: chained.value })
            }))
        }
    };
    let epilogue = step.epilogue.as_ref().map(|epilogue| {
        let launch = launches.next().expect("a launch for each kernel");
        launch.map(|launch| Box::new(Epilogue { launch, gemm_result: epilogue.gemm_result }))
    });
    // Bind all operands even on error: `remaining_uses` counts every binding.
    let [a, b, c] = [&step.a, &step.b, &step.c].map(|matrix| gemm_operand(matrix, bind));
    let (producer, epilogue) = (producer.transpose(), epilogue.transpose());
    if let Err(MissingKernel(fault)) = &producer {
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

fn gemm_operand(
    operand: &MatrixOperand,
    bind: &mut dyn FnMut(BufferId) -> Arc<Buffer>,
) -> GemmOperand {
    GemmOperand {
        buffer: bind(operand.buffer),
        offset: operand.offset,
        batch_strides: operand.batch_strides.clone(),
        row_stride: operand.row_stride,
        column_stride: operand.column_stride,
    }
}
