//! Routines on a stream.

use super::run::{caught, check_faults, with_label};
use super::{Core, MOST_GATHERED, Queue, replay};
use crate::driver::Function;
use crate::routine::{self, Launch, Site};
use inflight_backend::{Fault, RoutineCall};
use smallvec::SmallVec;
use std::sync::Arc;

impl Core {
    pub(super) fn routine(&self, queue: &mut Queue, call: &RoutineCall) {
        let result = self.with_memory(queue, |queue| {
            caught(&call.label, || {
                check_faults(call.operands.iter())?;
                self.run_routine(queue, call)
            })
        });
        if let Err(fault) = result {
            call.result.fail(fault);
        }
    }

    /// Gathers a routine's kernels.
    fn run_routine(&self, queue: &mut Queue, call: &RoutineCall) -> Result<(), Fault> {
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
            let arguments = |words: &mut Vec<u64>| words.extend(&launch.words);
            queue.gathered.push(function, grid, launch.threads, arguments, results);
            queue.launched += 1;
            if queue.gathered.len() >= MOST_GATHERED {
                self.settle(queue);
            }
            Ok(())
        };
        let mut site =
            Site { shared: &self.shared, temporary: &mut temporary, launch: &mut launch };
        routine::run(&mut site, &call.routine, &operands, result)
            .map_err(|fault| self.noted(with_label(fault, label)))?;
        let buffers = call.operands.iter().chain([&call.result]);
        queue.moved += buffers.map(|buffer| buffer.bytes()).sum::<usize>();
        Ok(())
    }
}
