//! Autotune of cuBLASLt algorithms: runs the heuristic's candidates on the device and picks the fastest.

use super::cublaslt::Handle;
use super::descriptor::{Algorithm, GemmKey, GemmPlan, LibraryEpilogue};
use crate::device::Shared;
use crate::driver::{check, is_shutting_down};
use crate::shutdown;
use cudarc::driver::sys::{self, CUresult, CUstream};
use inflight_backend::Memory;
use std::ptr::null_mut;
use std::sync::Arc;

/// Runs of each candidate, the first of which is a warm-up.
const ROUNDS: usize = 5;

/// A candidate slower than the fastest by this factor is not run again.
const PRUNE_RATIO: f32 = 1.5;

/// A GEMM that is about to run for the first time, and its candidate algorithms.
pub struct Autotuner {
    handle: Arc<Handle>,
    plan: GemmPlan,
    algorithms: Vec<Algorithm>,
    epilogue: Option<LibraryEpilogue>,
    stream: CUstream,
    /// Copies of the operands, a result and a workspace. The GEMM's own memory may be needed by other work, or be
    /// gone by the time the candidates run.
    memory: [Memory; 4],
}

// SAFETY: the driver allows any thread to use a stream handle. The stream outlives the autotuner: its creator keeps
// it.
unsafe impl Send for Autotuner {}

impl Autotuner {
    /// Prepares the autotuning of a GEMM whose operands are at these addresses at this point of the stream. Without
    /// memory for it, returns the plan as it is.
    pub fn new(
        shared: &Shared,
        handle: &Arc<Handle>,
        key: &GemmKey,
        (plan, algorithms): (GemmPlan, Vec<Algorithm>),
        operands: [u64; 2],
        epilogue: Option<LibraryEpilogue>,
        stream: CUstream,
    ) -> Result<Autotuner, Box<GemmPlan>> {
        let workspace = algorithms.iter().map(|algorithm| algorithm.workspace).max().unwrap_or(0);
        let sizes = [key.span(0), key.span(1), key.span(2), Some(workspace)];
        // Autotuning must not push other work out of memory.
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
            // SAFETY: both sides have this many bytes and stay valid until the stream has passed the copy: the
            // operand belongs to the GEMM that comes next, and the copy's memory is released after the timed runs.
            let copied = unsafe {
                sys::cuMemcpyDtoDAsync_v2(copy.ptr() as u64, operand, copy.bytes(), stream)
            };
            if check(copied, "copying a GEMM operand for autotuning").is_err() {
                // The earlier copy must be done before its memory is released.
                // SAFETY: the stream exists.
                unsafe { sys::cuStreamSynchronize(stream) };
                return Err(plan.into());
            }
        }
        let memory = [a, b, result, workspace];
        Ok(Autotuner { handle: handle.clone(), plan, algorithms, epilogue, stream, memory })
    }

    /// Picks the fastest algorithm on this device. Blocks on the device. `false` if nothing could be timed.
    pub fn select_fastest(mut self, shared: &Shared) -> (GemmPlan, bool) {
        let _entered = shared.context.enter();
        let mut times = vec![f32::INFINITY; self.algorithms.len()];
        let mut best_time = f32::INFINITY;
        // Interleave the candidates over several rounds: the device's clock changes meanwhile.
        for round in 0..ROUNDS {
            for (position, best) in times.iter_mut().enumerate() {
                if is_shutting_down() {
                    return (self.plan, false);
                }
                if round > 1 && *best > PRUNE_RATIO * best_time {
                    continue;
                }
                self.plan.algorithm = self.algorithms[position];
                let time = self.milliseconds();
                // The first round is a warm-up.
                if round > 0 {
                    *best = best.min(time.unwrap_or(f32::INFINITY));
                    best_time = best_time.min(*best);
                }
            }
        }
        // Each candidate has run for the first time.
        shutdown::register_exit_handler();
        if best_time.is_infinite() {
            // No timed run has waited for the copies, whose memory is released now.
            // SAFETY: the stream exists.
            unsafe { sys::cuStreamSynchronize(self.stream) };
        }
        let timed = times.iter().zip(&self.algorithms);
        let fastest = timed.min_by(|a, b| a.0.total_cmp(b.0)).map(|(_, algorithm)| *algorithm);
        self.plan.algorithm = fastest.unwrap_or(self.plan.algorithm);
        (self.plan, best_time.is_finite())
    }

    /// The time of the GEMM with the plan's algorithm, in milliseconds, if it runs. Afterwards, everything on the
    /// stream has completed.
    fn milliseconds(&self) -> Option<f32> {
        let [a, b, c, workspace] = [0, 1, 2, 3].map(|at| self.memory[at].ptr() as u64);
        let (epilogue, handle, stream) = (self.epilogue.as_ref(), self.handle.raw(), self.stream);
        let mut events = [null_mut(); 2];
        // SAFETY: the events are created here, used on a stream that exists, and destroyed. The memory belongs to the
        // autotuner and is as large as the plan requires.
        unsafe {
            let made = events.each_mut().map(|event| sys::cuEventCreate(event, 0));
            if made != [CUresult::CUDA_SUCCESS; 2] {
                events.iter().filter(|event| !event.is_null()).for_each(|&event| {
                    sys::cuEventDestroy_v2(event);
                });
                return None;
            }
            sys::cuEventRecord(events[0], stream);
            let run = self.plan.run(handle, [a, b, c], epilogue, workspace, stream);
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
