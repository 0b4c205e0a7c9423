//! Routines: operations that are not loops over index maps, such as sort, top-k, scatter, Cholesky factorization and
//! triangular solve (TRSM). Workers share independent lines and matrices; long lines and large matrices are
//! partitioned themselves.

mod cholesky;
mod element;
mod merge_sort;
mod radix_sort;
mod scatter;
mod sort;
mod sort_key;
mod top_k;
mod triangular_solve;

use crate::workers::Workers;
use half::{bf16, f16};
use inflight_backend::{Fault, FaultKind, Memory, Pool};
use inflight_ir::DType;
use inflight_ir::plan::Routine;
use num_complex::Complex;
use std::sync::Arc;

/// Resources of a routine: threads, and the pool for its workspace.
pub struct Device<'a> {
    pub workers: &'a Workers,
    pub pool: &'a Arc<Pool>,
}

impl Device<'_> {
    /// Runs `body` for each chunk, on this thread and on idle workers.
    fn parallel_for(&self, chunks: usize, body: impl Fn(usize) + Sync) -> Result<(), Fault> {
        let run = self.workers.parallel_for(chunks, &body);
        run.map_err(Fault::from)
    }

    /// Allocates uninitialized memory for this many elements.
    fn workspace<T>(&self, elements: usize) -> Result<Workspace<T>, Fault> {
        let memory = self.pool.allocate(elements * size_of::<T>())?;
        let start = SharedPtr(memory.ptr().cast());
        Ok(Workspace { start, _memory: memory })
    }
}

/// Temporary memory of a routine, released on drop.
struct Workspace<T> {
    start: SharedPtr<T>,
    _memory: Memory,
}

/// An address that several threads use, each for elements of its own.
struct SharedPtr<T>(*mut T);

impl<T> Clone for SharedPtr<T> {
    fn clone(&self) -> SharedPtr<T> {
        *self
    }
}

impl<T> Copy for SharedPtr<T> {}

impl<T> SharedPtr<T> {
    /// The address of an element.
    fn at(self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

// SAFETY: it is an address. Code that reads or writes there guarantees that no two threads use one element.
unsafe impl<T> Sync for SharedPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Send for SharedPtr<T> {}

/// Runs a routine.
///
/// # Safety
/// `operands` and `result` must be the addresses of the routine's buffers, with the number of elements and the dtypes
/// that the routine specifies; no other thread may access the result meanwhile, or write the operands.
pub unsafe fn run(
    device: &Device,
    routine: &Routine,
    operands: &[*mut u8],
    result: *mut u8,
) -> Result<(), Fault> {
    // SAFETY: promised by the caller in each case; the types are the dtypes' host forms.
    unsafe {
        match routine {
            Routine::Sort { lines, keys, order, result: output } => {
                sort::sort(device, *lines, keys, order, *output, operands, result)
            }
            Routine::Scatter { lines, updates, dtype, index, combine } => {
                let [x, index_at, update] = operands else {
                    return Err(operand_count_fault(routine, operands.len()));
                };
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
                let &[x] = operands else {
                    return Err(operand_count_fault(routine, operands.len()));
                };
                let run = match dtype {
                    DType::F16 => cholesky::cholesky::<f16>,
                    DType::BF16 => cholesky::cholesky::<bf16>,
                    DType::F32 => cholesky::cholesky::<f32>,
                    DType::F64 => cholesky::cholesky::<f64>,
                    DType::C64 => cholesky::cholesky::<Complex<f32>>,
                    DType::C128 => cholesky::cholesky::<Complex<f64>>,
                    _ => return Err(dtype_fault(routine, dtype)),
                };
                run(device, batch, n, lower, x, result)
            }
            // `Capabilities::implicit_gemm` is false: plans for this device have none.
            Routine::ImplicitGemm(_) => Err(FaultKind::Unsupported(
                "expected no implicit GEMM on the CPU, got one; plan for this device's plan_target"
                    .into(),
            )
            .into()),
            Routine::TriangularSolve { dtype, systems } => {
                let &[a, b] = operands else {
                    return Err(operand_count_fault(routine, operands.len()));
                };
                let run = match *dtype {
                    DType::F16 => triangular_solve::triangular_solve::<f16>,
                    DType::BF16 => triangular_solve::triangular_solve::<bf16>,
                    DType::F32 => triangular_solve::triangular_solve::<f32>,
                    DType::F64 => triangular_solve::triangular_solve::<f64>,
                    DType::C64 => triangular_solve::triangular_solve::<Complex<f32>>,
                    DType::C128 => triangular_solve::triangular_solve::<Complex<f64>>,
                    _ => return Err(dtype_fault(routine, *dtype)),
                };
                run(device, systems, [a, b], result)
            }
        }
    }
}

fn operand_count_fault(routine: &Routine, found: usize) -> Fault {
    let expected = match routine {
        Routine::Sort { keys, .. } => keys.len(),
        Routine::Scatter { .. } => 3,
        Routine::ImplicitGemm(_) | Routine::TriangularSolve { .. } => 2,
        Routine::Cholesky { .. } => 1,
    };
    let name = routine.name();
    FaultKind::Unsupported(format!("{name}: expected {expected} operands, found {found}")).into()
}

fn dtype_fault(routine: &Routine, dtype: DType) -> Fault {
    FaultKind::Unsupported(format!("{}: dtype {dtype} is not supported", routine.name())).into()
}
