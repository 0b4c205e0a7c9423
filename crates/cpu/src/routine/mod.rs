//! Routines: what is no loop over index maps. Independent lines and matrices are shared among the workers;
//! a long line, or a large matrix, is cut up itself.

mod cholesky;
mod field;
mod merge;
mod order;
mod radix;
mod scatter;
mod select;
mod solve;
mod sort;

use crate::workers::Workers;
use half::{bf16, f16};
use inflight_backend::{Fault, FaultKind, Memory, Pool};
use inflight_ir::DType;
use inflight_ir::plan::Routine;
use num_complex::Complex;
use std::sync::Arc;

/// What a routine may use: threads, and memory for as long as it runs.
pub struct Device<'a> {
    pub workers: &'a Workers,
    pub pool: &'a Arc<Pool>,
}

impl Device<'_> {
    /// Runs `body` for each chunk, on this thread and those that have nothing else to do.
    fn parallel_for(&self, chunks: usize, body: impl Fn(usize) + Sync) -> Result<(), Fault> {
        let run = self.workers.parallel_for(chunks, &body);
        run.map_err(|message| FaultKind::Panicked(message).into())
    }

    /// Uninitialized memory for this many elements.
    fn work<T>(&self, elements: usize) -> Result<Work<T>, Fault> {
        let memory = self.pool.allocate(elements * size_of::<T>())?;
        let start = Shared(memory.ptr().cast());
        Ok(Work { start, _memory: memory })
    }
}

/// Memory of a routine, given back when it is dropped.
struct Work<T> {
    start: Shared<T>,
    _memory: Memory,
}

/// An address that several threads use, each its own part.
struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        *self
    }
}

impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    /// The address of an element.
    fn at(self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

// SAFETY: it is an address. Those who read or write there see to it that no two threads use one element.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

/// Runs a routine.
///
/// # Safety
/// `operands` and `result` must be the addresses of the routine's buffers, with as many elements of the
/// dtypes as the routine says; nobody else may access the result's meanwhile, or write the others'.
pub unsafe fn run(
    device: &Device,
    routine: &Routine,
    operands: &[*mut u8],
    result: *mut u8,
) -> Result<(), Fault> {
    // SAFETY: promised by the caller in each case; the types are the dtypes' host forms.
    unsafe {
        match routine {
            Routine::Sort { lines, keys, order, result: answer } => {
                sort::sort(device, *lines, keys, order, *answer, operands, result)
            }
            Routine::Scatter { lines, updates, dtype, index, combine } => {
                let [x, index_at, update] = operands else { return Err(wrong_operands(routine)) };
                let scatter = scatter::Scatter {
                    lines: *lines,
                    updates: *updates,
                    dtype: *dtype,
                    index: *index,
                    combine,
                };
                scatter::scatter(device, scatter, [*x, *index_at, *update], result)
            }
            &Routine::Cholesky { dtype, batch, n, lower } => {
                let &[x] = operands else { return Err(wrong_operands(routine)) };
                let run = match dtype {
                    DType::F16 => cholesky::cholesky::<f16>,
                    DType::BF16 => cholesky::cholesky::<bf16>,
                    DType::F32 => cholesky::cholesky::<f32>,
                    DType::F64 => cholesky::cholesky::<f64>,
                    DType::C64 => cholesky::cholesky::<Complex<f32>>,
                    DType::C128 => cholesky::cholesky::<Complex<f64>>,
                    _ => return Err(wrong_dtype(routine, dtype)),
                };
                run(device, batch, n, lower, x, result)
            }
            // Its capabilities say that there is none.
            Routine::ImplicitGemm(_) => Err(FaultKind::Unsupported(
                "a product of windows that are not written; plan for this device's plan_target"
                    .into(),
            )
            .into()),
            Routine::TriangularSolve { dtype, systems } => {
                let &[a, b] = operands else { return Err(wrong_operands(routine)) };
                let run = match *dtype {
                    DType::F16 => solve::solve::<f16>,
                    DType::BF16 => solve::solve::<bf16>,
                    DType::F32 => solve::solve::<f32>,
                    DType::F64 => solve::solve::<f64>,
                    DType::C64 => solve::solve::<Complex<f32>>,
                    DType::C128 => solve::solve::<Complex<f64>>,
                    _ => return Err(wrong_dtype(routine, *dtype)),
                };
                run(device, systems, [a, b], result)
            }
        }
    }
}

fn wrong_operands(routine: &Routine) -> Fault {
    FaultKind::Unsupported(format!("{} of that many operands", routine.name())).into()
}

fn wrong_dtype(routine: &Routine, dtype: DType) -> Fault {
    FaultKind::Unsupported(format!("{} of {dtype}", routine.name())).into()
}
