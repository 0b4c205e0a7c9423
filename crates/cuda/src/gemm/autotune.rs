//! Which of the library's algorithms is fastest for a product, found out by running all of them.

use super::cublaslt::Handle;
use super::description::{Algorithm, Key, Plan, Tail};
use crate::device::Shared;
use crate::driver::{check, is_shutting_down};
use crate::shutdown;
use cudarc::driver::sys::{self, CUresult, CUstream};
use inflight_backend::Memory;
use std::ptr::null_mut;
use std::sync::Arc;

/// How often each of them runs; the first time warms up.
const ROUNDS: usize = 5;

/// One that is slower than the fastest by this factor is not looked at again.
const HOPELESS: f32 = 1.5;

/// A product that is about to run for the first time, and the ways to do it.
pub struct Trial {
    handle: Arc<Handle>,
    plan: Plan,
    algorithms: Vec<Algorithm>,
    tail: Option<Tail>,
    stream: CUstream,
    /// Of copies of the operands, of a result and of a workspace. What the product has itself may be needed by
    /// others, or be gone by the time of the trial.
    memory: [Memory; 4],
}

// SAFETY: a stream is a handle that the driver lets any thread use; whoever made the trial keeps it until its end.
unsafe impl Send for Trial {}

impl Trial {
    /// A trial of a product whose operands are at these addresses when the stream has come so far. Without memory
    /// for it there is none, and the plan is returned.
    pub fn new(
        shared: &Shared,
        handle: &Arc<Handle>,
        key: &Key,
        (plan, algorithms): (Plan, Vec<Algorithm>),
        operands: [u64; 2],
        tail: Option<Tail>,
        stream: CUstream,
    ) -> Result<Trial, Box<Plan>> {
        let workspace = algorithms.iter().map(|algorithm| algorithm.workspace).max().unwrap_or(0);
        let sizes = [key.span(0), key.span(1), key.span(2), Some(workspace)];
        // A trial is not worth anybody's memory.
        let (stats, total) = (shared.pool.stats(), sizes.iter().flatten().sum::<usize>());
        let limit = stats.limit.unwrap_or(shared.context.memory());
        if stats.in_use.saturating_add(total) > limit / 4 * 3 {
            return Err(plan.into());
        }
        let memory = sizes.map(|bytes| shared.pool.allocate(bytes?).ok());
        let [Some(a), Some(b), Some(result), Some(workspace)] = memory else {
            return Err(plan.into());
        };
        for (copy, operand) in [&a, &b].into_iter().zip(operands) {
            // SAFETY: both have this many bytes, and are there until the stream has passed the copy: the operand
            // is the product's that comes next, the copy is waited for with the trial.
            let copied = unsafe {
                sys::cuMemcpyDtoDAsync_v2(copy.ptr() as u64, operand, copy.bytes(), stream)
            };
            if check(copied, "copying an operand").is_err() {
                // What was copied before must be done when its memory is given back.
                // SAFETY: the stream exists.
                unsafe { sys::cuStreamSynchronize(stream) };
                return Err(plan.into());
            }
        }
        let memory = [a, b, result, workspace];
        Ok(Trial { handle: handle.clone(), plan, algorithms, tail, stream, memory })
    }

    /// The plan with the algorithm that is fastest on this device. Waits for the device. `false` says that nothing
    /// was found out.
    pub fn fastest(mut self, shared: &Shared) -> (Plan, bool) {
        let _entered = shared.context.enter();
        let mut times = vec![f32::INFINITY; self.algorithms.len()];
        let mut fastest = f32::INFINITY;
        // All of them in turn, several times: the device's clock changes meanwhile.
        for round in 0..ROUNDS {
            for (position, best) in times.iter_mut().enumerate() {
                if is_shutting_down() {
                    return (self.plan, false);
                }
                if round > 1 && *best > HOPELESS * fastest {
                    continue;
                }
                self.plan.algorithm = self.algorithms[position];
                let time = self.milliseconds();
                // The first warms up.
                if round > 0 {
                    *best = best.min(time.unwrap_or(f32::INFINITY));
                    fastest = fastest.min(*best);
                }
            }
        }
        // Each of them was run for the first time.
        shutdown::register_exit_handler();
        if fastest.is_infinite() {
            // Nothing that was timed has waited for the copies, whose memory goes now.
            // SAFETY: the stream exists.
            unsafe { sys::cuStreamSynchronize(self.stream) };
        }
        let timed = times.iter().zip(&self.algorithms);
        let first = timed.min_by(|a, b| a.0.total_cmp(b.0)).map(|(_, algorithm)| *algorithm);
        self.plan.algorithm = first.unwrap_or(self.plan.algorithm);
        (self.plan, fastest.is_finite())
    }

    /// How long the product takes with the plan's algorithm, if it can be computed. All that is on the stream is done
    /// then.
    fn milliseconds(&self) -> Option<f32> {
        let [a, b, c, workspace] = [0, 1, 2, 3].map(|at| self.memory[at].ptr() as u64);
        let (tail, handle, stream) = (self.tail.as_ref(), self.handle.raw(), self.stream);
        let mut events = [null_mut(); 2];
        // SAFETY: the events are made here, used on a stream that exists, and destroyed; the memory is the trial's
        // own, and as large as the plan says.
        unsafe {
            let made = events.each_mut().map(|event| sys::cuEventCreate(event, 0));
            if made != [CUresult::CUDA_SUCCESS; 2] {
                events.iter().filter(|event| !event.is_null()).for_each(|&event| {
                    sys::cuEventDestroy_v2(event);
                });
                return None;
            }
            sys::cuEventRecord(events[0], stream);
            let run = self.plan.run(handle, [a, b, c], tail, workspace, stream);
            sys::cuEventRecord(events[1], stream);
            let done = sys::cuEventSynchronize(events[1]);
            let mut time = 0.0;
            let timed = sys::cuEventElapsedTime_v2(&mut time, events[0], events[1]);
            for event in events {
                sys::cuEventDestroy_v2(event);
            }
            let all_right = [done, timed].iter().all(|result| *result == CUresult::CUDA_SUCCESS);
            (run.is_ok() && all_right).then_some(time)
        }
    }
}
