//! GEMM (matrix multiplication): cuBLASLt with autotuning where it supports the dtype and the layouts, a SIMT kernel
//! elsewhere, and fused-epilogue kernels on Hopper.

mod autotune;
mod cublaslt;
mod descriptor;
pub mod epilogue;
pub mod fused_epilogue;
pub mod operand_split;
mod simt_gemm;
pub mod transpose;

use crate::background::EnqueueError;
use crate::device::Shared;
use inflight_backend::{Fault, GemmLaunch, GemmOperand};
use inflight_ir::DType;
use smallvec::SmallVec;
use std::sync::Arc;

pub use cublaslt::{Cublaslt, LibraryGemm, PrepareContext, version as library_version};
use descriptor::LibraryEpilogue;
use epilogue::MatchedEpilogue;
pub use simt_gemm::{GemmKernelLaunch, source as simt_gemm_source};

/// A prepared GEMM and its arguments.
pub enum PreparedGemm {
    /// By cuBLASLt.
    Library(LibraryGemm, Vec<u64>),
    /// By a kernel of the backend.
    Kernel(GemmKernelLaunch),
}

/// A matrix layout that cuBLASLt supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Whether columns, not rows, are contiguous.
    column_major: bool,
    /// The leading dimension: the distance from one row (or, column-major, column) to the next.
    leading: usize,
}

/// The layout of a matrix, if cuBLASLt supports it.
fn matrix_layout(rows: usize, columns: usize, row: isize, column: isize) -> Option<Layout> {
    let fits = |inner: usize, inner_stride: isize, outer: usize, outer_stride: isize| {
        let is_contiguous = inner == 1 || inner_stride == 1;
        match outer {
            1 => is_contiguous.then_some(inner.max(1)),
            _ => (is_contiguous && outer_stride >= inner as isize && outer_stride > 0)
                .then_some(outer_stride as usize),
        }
    };
    match fits(columns, column, rows, row) {
        Some(leading) => Some(Layout { column_major: false, leading }),
        None => {
            fits(rows, row, columns, column).map(|leading| Layout { column_major: true, leading })
        }
    }
}

/// The batch axes of a GEMM: at most one for the library's strided batch, and the outer ones.
struct BatchAxes {
    /// Extent and strides of A, B and C, outermost first.
    outer: SmallVec<[(usize, [isize; 3]); 4]>,
    inner: (usize, [isize; 3]),
}

impl BatchAxes {
    fn new(gemm: &GemmLaunch) -> BatchAxes {
        let operands = [&gemm.a, &gemm.b, &gemm.c];
        let mut axes: SmallVec<[(usize, [isize; 3]); 4]> = SmallVec::new();
        for (axis, &extent) in gemm.batch.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let strides = operands.map(|operand: &GemmOperand| operand.batch_strides[axis]);
            match axes.last_mut() {
                // Merge axes that are contiguous with each other.
                Some((outer, before))
                    if before.iter().zip(strides).all(|(b, s)| *b == s * extent as isize) =>
                {
                    *outer *= extent;
                    *before = strides;
                }
                _ => axes.push((extent, strides)),
            }
        }
        let inner = axes.pop().unwrap_or((1, [0; 3]));
        BatchAxes { outer: axes, inner }
    }

    /// The offsets of A, B and C for each point of the outer axes.
    fn offsets(&self) -> impl Iterator<Item = [isize; 3]> + '_ {
        let total: usize = self.outer.iter().map(|(extent, _)| extent).product();
        (0..total).map(|mut position| {
            let mut offsets = [0; 3];
            for (extent, strides) in self.outer.iter().rev() {
                let at = (position % extent) as isize;
                position /= extent;
                offsets.iter_mut().zip(strides).for_each(|(offset, stride)| *offset += at * stride);
            }
            offsets
        })
    }
}

/// Starts opening cuBLASLt or compiling the SIMT kernel, ahead of the first GEMM of a dtype.
pub fn precompile(shared: &Arc<Shared>, dtype: DType) {
    if descriptor::supports(dtype) {
        shared.cublaslt.handle();
    } else {
        shared.function(&simt_gemm::source(dtype));
    }
}

impl Cublaslt {
    /// Whether to transpose both operands of a GEMM first.
    pub fn should_transpose(&self, gemm: &GemmLaunch) -> bool {
        self.options.tf32 && transpose::is_worthwhile(gemm)
    }

    /// Prepares a GEMM. `addresses` are those of the three buffers. `None` if there is nothing to compute.
    pub fn prepare(
        &self,
        context: &mut PrepareContext<'_>,
        gemm: &GemmLaunch,
        addresses: [u64; 3],
    ) -> Result<Option<PreparedGemm>, EnqueueError> {
        let empty = gemm.m * gemm.n * gemm.batch.iter().product::<usize>() == 0;
        if empty {
            return Ok(None);
        }
        let operand = |operand: &GemmOperand, rows: usize, columns: usize| {
            matrix_layout(rows, columns, operand.row_stride, operand.column_stride)
        };
        let layouts = (
            operand(&gemm.a, gemm.m, gemm.k),
            operand(&gemm.b, gemm.k, gemm.n),
            operand(&gemm.c, gemm.m, gemm.n),
        );
        if let (Some(a), Some(b), Some(c)) = layouts
            && descriptor::supports(gemm.dtype)
            && !c.column_major
            && gemm.k > 0
        {
            let prepared = self.prepare_library(context, gemm, addresses, [a, b, c], None)?;
            if let Some((library_gemm, words)) = prepared {
                return Ok(Some(PreparedGemm::Library(library_gemm, words)));
            }
        }
        let launch = simt_gemm::launch(context.shared, gemm, addresses)?;
        Ok(Some(PreparedGemm::Kernel(launch)))
    }

    /// Prepares a GEMM with a library epilogue. `None` if cuBLASLt does not support it.
    ///
    /// `address` returns the address of a param of the epilogue's kernel; `true` says that it is written.
    pub fn prepare_with_epilogue(
        &self,
        context: &mut PrepareContext<'_>,
        gemm: &GemmLaunch,
        matched: &MatchedEpilogue,
        [a, b]: [u64; 2],
        address: impl Fn(usize, bool) -> Result<u64, Fault>,
    ) -> Result<Option<PreparedGemm>, EnqueueError> {
        let operand = |operand: &GemmOperand, rows: usize, columns: usize| {
            matrix_layout(rows, columns, operand.row_stride, operand.column_stride)
        };
        let (Some(left), Some(right)) =
            (operand(&gemm.a, gemm.m, gemm.k), operand(&gemm.b, gemm.k, gemm.n))
        else {
            return Ok(None);
        };
        if gemm.m * gemm.n * gemm.k == 0 {
            return Ok(None);
        }
        let bias = matched.bias.map(|param| address(param, false)).transpose()?;
        let residual = match matched.residual {
            Some((param, factor, leading)) => Some((address(param, false)?, factor, leading)),
            None => None,
        };
        let arguments =
            LibraryEpilogue { scale: matched.scale, bias, residual, gelu: matched.gelu };
        let (result, leading) = matched.result;
        let addresses = [a, b, address(result, true)?];
        let layouts = [left, right, Layout { column_major: false, leading }];
        let prepared = self.prepare_library(context, gemm, addresses, layouts, Some(&arguments))?;
        Ok(prepared.map(|(library_gemm, words)| PreparedGemm::Library(library_gemm, words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_major_and_column_major_layouts_are_recognized() {
        let row_major = |leading| Some(Layout { column_major: false, leading });
        let column_major = |leading| Some(Layout { column_major: true, leading });
        assert_eq!(matrix_layout(4, 5, 5, 1), row_major(5));
        assert_eq!(matrix_layout(4, 5, 8, 1), row_major(8));
        assert_eq!(matrix_layout(4, 5, 1, 4), column_major(4));
        assert_eq!(matrix_layout(1, 5, 0, 1), row_major(5));
        assert_eq!(matrix_layout(4, 1, 1, 0), row_major(1));
        assert_eq!(matrix_layout(4, 5, 0, 1), None);
        assert_eq!(matrix_layout(4, 5, 10, 2), None);
        assert_eq!(matrix_layout(4, 5, -5, 1), None);
    }
}
