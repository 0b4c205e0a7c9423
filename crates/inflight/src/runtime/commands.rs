//! From a plan and its buffers to commands: the same for what was recorded and for programs.

use super::cache::ReadyPlan;
use super::stats::Counters;
use inflight_backend::{
    Batch, Buffer, Command, Compiled, Contract, ContractOperand, Epilogue, Fault, Label, LabelOp,
    Launch, RoutineCall,
};
use inflight_ir::Scalar;
use inflight_ir::plan::{BufferId, LaunchStep, MatrixOperand, ScalarSource, Step};
use smallvec::SmallVec;
use std::sync::Arc;

/// What running a plan asks of a stream, in order.
#[expect(clippy::large_enum_variant, reason = "handed on at once, never kept")]
pub(crate) enum Emitted<'a> {
    /// To be run.
    Command(Command),
    /// The commands so far have written these outputs, by their positions, and more commands follow.
    Written(&'a [usize]),
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
        emit: &mut dyn FnMut(Emitted<'_>),
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
        // The launches of the batch that is being gathered.
        let mut gathered: Vec<Launch> = Vec::new();
        let mut batches = plan.batches.iter().enumerate();
        let (mut batch, mut left) = (0, 0);
        for (position, step) in plan.steps.iter().enumerate() {
            if left == 0
                && let Some((number, &size)) = batches.next()
            {
                (batch, left) = (number, size);
                Counters::add(&counters.launches, 1);
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
            Counters::add(&counters.bytes_read, label.work.bytes_read);
            Counters::add(&counters.bytes_written, label.work.bytes_written);
            let launch = step.launch().map(|step| {
                let buffers = step.buffers.iter().map(|&id| bind(id)).collect();
                let kernel = self.ready.kernels[position].clone().expect("a launch has a kernel");
                self.launch(step, kernel, buffers, label.clone())
            });
            match (step, launch.transpose()) {
                // Its results have the fault: the step is not run.
                (_, Err(Unlaunched)) => {}
                (Step::Launch(_), Ok(launch)) => {
                    let launch = launch.expect("a launch step has a launch");
                    match batched {
                        Some(_) => gathered.push(launch),
                        None => emit(Emitted::Command(Command::Launch(launch))),
                    }
                }
                (Step::Contract(step), Ok(launch)) => {
                    let product = step.epilogue.as_ref().map(|epilogue| epilogue.product);
                    let epilogue = launch.zip(product);
                    emit(Emitted::Command(Command::Contract(Contract {
                        dtype: step.dtype,
                        batch: step.batch.clone(),
                        m: step.m,
                        n: step.n,
                        k: step.k,
                        a: operand(&step.a, &mut bind),
                        b: operand(&step.b, &mut bind),
                        c: operand(&step.c, &mut bind),
                        epilogue: epilogue
                            .map(|(launch, product)| Box::new(Epilogue { launch, product })),
                        label,
                    })));
                }
                (Step::Routine(step), Ok(_)) => {
                    emit(Emitted::Command(Command::Routine(RoutineCall {
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
                emit(Emitted::Command(Command::Batch(Batch { launches, label })));
            }
            // A value that is done is announced at once: its reader need not wait for the rest.
            let finished = &self.ready.finished[position];
            if !finished.is_empty() && position + 1 < plan.steps.len() {
                emit(Emitted::Written(finished));
            }
        }
    }

    fn launch(
        &self,
        step: &LaunchStep,
        kernel: Result<Compiled, Fault>,
        buffers: SmallVec<[Arc<Buffer>; 6]>,
        label: Label,
    ) -> Result<Launch, Unlaunched> {
        let compiled = kernel.map_err(|fault| {
            let fault = Fault { label: Some(label.clone()), ..fault };
            let results = step.kernel.params.iter().zip(&buffers).filter(|(param, _)| param.writes);
            results.for_each(|(_, buffer)| buffer.fail(fault.clone()));
            Unlaunched
        })?;
        let scalars = step.scalars.iter().map(|source| match source {
            ScalarSource::Graph(position) => self.scalars[*position],
            ScalarSource::Fixed(value) => *value,
        });
        Ok(Launch {
            compiled,
            kernel: step.kernel.clone(),
            shape: step.shape.clone(),
            scalars: scalars.collect(),
            buffers,
            label,
        })
    }
}

/// A launch that has no kernel. Its results carry the fault.
struct Unlaunched;

fn operand(
    operand: &MatrixOperand,
    bind: &mut impl FnMut(BufferId) -> Arc<Buffer>,
) -> ContractOperand {
    ContractOperand {
        buffer: bind(operand.buffer),
        offset: operand.offset,
        batch_strides: operand.batch_strides.clone(),
        row_stride: operand.row_stride,
        column_stride: operand.column_stride,
    }
}
