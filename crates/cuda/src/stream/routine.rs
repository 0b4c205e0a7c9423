//! Submission of routines (sort, scatter, convolution, Cholesky, TRSM) to a stream.

use super::submit::{catch_panics, check_faults};
use super::{Core, MAX_BATCHED_LAUNCHES, Queue, replay};
use crate::background::{EnqueueError, with_label};
use crate::driver::Function;
use crate::routine::{self, Launch, RoutineContext};
use inflight_backend::RoutineCall;
use smallvec::SmallVec;
use std::sync::Arc;

impl Core {
    pub(super) fn routine(
        &self,
        queue: &mut Queue,
        call: &RoutineCall,
    ) -> Result<(), EnqueueError> {
        catch_panics(&call.label, || {
            check_faults(call.operands.iter())?;
            self.run_routine(queue, call)
        })
    }

    /// Adds the kernels of a routine to the launch batch. If one of them is still being compiled, all are added again
    /// later: each writes nothing but memory of the routine.
    fn run_routine(&self, queue: &mut Queue, call: &RoutineCall) -> Result<(), EnqueueError> {
        let (label, until) = (&call.label, self.batch_event(queue));
        self.raw()?;
        let addresses = call.operands.iter();
        let addresses = addresses.map(|buffer| self.address(buffer, false, None, label, &until));
        let operands = addresses.collect::<Result<SmallVec<[u64; 4]>, _>>()?;
        let result = self.address(&call.result, true, None, label, &until)?;
        // Retained until all kernels are in the batch: released memory may be handed out again at once.
        let mut scratch = Vec::new();
        let mut allocate_scratch = |bytes: usize| {
            scratch.push(self.allocate_scratch(bytes, label, &until)?);
            Ok(scratch[scratch.len() - 1].ptr() as u64)
        };
        let mut launch = |function: Arc<Function>, launch: &Launch| {
            if let Some(fault) = replay::too_many_threads(&function, launch.threads) {
                return Err(fault);
            }
            let grid = [launch.blocks as u32, 1];
            let results = std::iter::once(&call.result);
            queue.launch_batch.push(function, grid, launch.threads, &launch.words, results);
            queue.launch_count += 1;
            if queue.launch_batch.len() >= MAX_BATCHED_LAUNCHES {
                self.flush_batch(queue);
            }
            Ok(())
        };
        let mut context = RoutineContext {
            shared: &self.shared,
            allocate_scratch: &mut allocate_scratch,
            launch: &mut launch,
            pending: None,
        };
        let run = routine::run(&mut context, &call.routine, &operands, result);
        if let Some(event) = context.pending {
            return Err(EnqueueError::NotReady(event));
        }
        run.map_err(|fault| self.record_fault(with_label(fault, label)))?;
        let buffers = call.operands.iter().chain([&call.result]);
        queue.bytes_moved += buffers.map(|buffer| buffer.bytes()).sum::<usize>();
        Ok(())
    }
}
