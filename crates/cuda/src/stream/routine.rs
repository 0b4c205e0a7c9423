//! Routines on a stream.

use super::run::{caught, check_faults};
use super::{Core, MOST_GATHERED, Queue, replay};
use crate::background::{EnqueueError, with_label};
use crate::driver::Function;
use crate::routine::{self, Launch, Site};
use inflight_backend::RoutineCall;
use smallvec::SmallVec;
use std::sync::Arc;

impl Core {
    pub(super) fn routine(
        &self,
        queue: &mut Queue,
        call: &RoutineCall,
    ) -> Result<(), EnqueueError> {
        caught(&call.label, || {
            check_faults(call.operands.iter())?;
            self.run_routine(queue, call)
        })
    }

    /// Gathers a routine's kernels. If one of them is not there yet, all are gathered again when it is: each writes
    /// what only the routine has.
    fn run_routine(&self, queue: &mut Queue, call: &RoutineCall) -> Result<(), EnqueueError> {
        let (label, until) = (&call.label, self.until(queue));
        self.raw()?;
        let addresses = call.operands.iter();
        let addresses = addresses.map(|buffer| self.address(buffer, false, None, label, &until));
        let operands = addresses.collect::<Result<SmallVec<[u64; 4]>, _>>()?;
        let result = self.address(&call.result, true, None, label, &until)?;
        // Kept until all is gathered: what is let go of may be given to the next who asks.
        let mut kept = Vec::new();
        let mut temporary = |bytes: usize| {
            kept.push(self.temporary(bytes, label, &until)?);
            Ok(kept[kept.len() - 1].ptr() as u64)
        };
        let mut launch = |function: Arc<Function>, launch: &Launch| {
            if let Some(fault) = replay::too_many_threads(&function, launch.threads) {
                return Err(fault);
            }
            let grid = [launch.blocks as u32, 1];
            let results = std::iter::once(&call.result);
            queue.gathered.push(function, grid, launch.threads, &launch.words, results);
            queue.launched += 1;
            if queue.gathered.len() >= MOST_GATHERED {
                self.settle(queue);
            }
            Ok(())
        };
        let mut site = Site {
            shared: &self.shared,
            temporary: &mut temporary,
            launch: &mut launch,
            awaited: None,
        };
        let run = routine::run(&mut site, &call.routine, &operands, result);
        if let Some(event) = site.awaited {
            return Err(EnqueueError::NotReady(event));
        }
        run.map_err(|fault| self.noted(with_label(fault, label)))?;
        let buffers = call.operands.iter().chain([&call.result]);
        queue.moved += buffers.map(|buffer| buffer.bytes()).sum::<usize>();
        Ok(())
    }
}
