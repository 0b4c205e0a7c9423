//! cuBLASLt descriptors: the matmul descriptor, matrix layouts, and the algorithm heuristic of a GEMM.
//!
//! cuBLASLt is column-major and our matrices are row-major. So it computes the transposed GEMM, with the transposed
//! operands in reverse order.

use super::Layout;
use crate::driver::enter;
use crate::shutdown;
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t as Compute, cublasLtEpilogue_t as LtEpilogue,
    cublasLtMatmulDescAttributes_t as Attribute,
    cublasLtMatmulPreferenceAttributes_t as Preference,
    cublasLtMatrixLayoutAttribute_t as LayoutAttribute, cublasStatus_t as Status,
    cudaDataType_t as DataType,
};
use cudarc::driver::sys::CUstream;
use half::f16;
use inflight_backend::{Fault, FaultKind};
use inflight_ir::DType;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Once;

/// Upper bound of the workspace of a GEMM, in bytes.
const MAX_WORKSPACE: usize = 32 << 20;

/// GEMMs of at least this many multiply-adds are autotuned.
const AUTOTUNE_MULTIPLY_ADDS: f64 = 4e9;

/// Algorithms requested from the heuristic.
const MAX_ALGORITHMS: usize = 32;

/// The precision of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Precision {
    pub dtype: DType,
    /// Whether `f32` operands are rounded to TF32.
    pub tf32: bool,
    /// Whether `f16` GEMMs accumulate in `f16`.
    pub f16_accumulate: bool,
}

impl Precision {
    /// The compute, scale and storage types. `None` if cuBLASLt does not support the dtype.
    fn types(self) -> Option<(Compute, DataType, DataType)> {
        let compute = match self.dtype {
            DType::F32 if self.tf32 => Compute::CUBLAS_COMPUTE_32F_FAST_TF32,
            DType::F16 if self.f16_accumulate => Compute::CUBLAS_COMPUTE_16F,
            DType::F64 | DType::C128 => Compute::CUBLAS_COMPUTE_64F,
            _ => Compute::CUBLAS_COMPUTE_32F,
        };
        let stored = match self.dtype {
            DType::F16 => DataType::CUDA_R_16F,
            DType::BF16 => DataType::CUDA_R_16BF,
            DType::F32 => DataType::CUDA_R_32F,
            DType::F64 => DataType::CUDA_R_64F,
            DType::C64 => DataType::CUDA_C_32F,
            DType::C128 => DataType::CUDA_C_64F,
            _ => return None,
        };
        let scale = match self.dtype {
            DType::F16 | DType::BF16 if !self.f16_accumulate => DataType::CUDA_R_32F,
            _ => stored,
        };
        Some((compute, scale, stored))
    }

    /// The bits of a factor in the scale type; the imaginary part is zero.
    fn factor(self, factor: f32) -> [u64; 2] {
        let bits = match self.dtype {
            DType::F64 | DType::C128 => f64::from(factor).to_bits(),
            DType::F16 if self.f16_accumulate => u64::from(f16::from_f32(factor).to_bits()),
            _ => u64::from(factor.to_bits()),
        };
        [bits, 0]
    }
}

/// Whether cuBLASLt supports GEMMs of a dtype.
pub fn supports(dtype: DType) -> bool {
    Precision { dtype, tf32: false, f16_accumulate: false }.types().is_some()
}

/// What the choice of an algorithm depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GemmKey {
    pub precision: Precision,
    /// M, N and K.
    pub extents: [usize; 3],
    /// Of A, B and C.
    pub layouts: [Layout; 3],
    /// The batch count, and the batch strides of the operands.
    pub batch: (usize, [isize; 3]),
    /// The alignment of each operand, in bytes.
    pub alignments: [u32; 3],
    pub epilogue: Option<EpilogueKind>,
}

/// The arguments of a library epilogue.
#[derive(Clone, Copy)]
pub struct LibraryEpilogue {
    pub scale: f32,
    /// The address of the bias, one value per column.
    pub bias: Option<u64>,
    /// The address of the residual matrix, its factor, and its row stride.
    pub residual: Option<(u64, f32, usize)>,
    pub gelu: bool,
}

/// The part of a library epilogue that the choice of an algorithm depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EpilogueKind {
    pub bias: bool,
    pub gelu: bool,
    /// The row stride of the residual and its alignment.
    pub residual: Option<(usize, u32)>,
}

impl GemmKey {
    /// Whether the GEMM is large enough for autotuning to pay.
    pub fn is_large(&self) -> bool {
        let one = self.extents.iter().map(|&extent| extent as f64).product::<f64>();
        one * self.batch.0 as f64 >= AUTOTUNE_MULTIPLY_ADDS
    }

    /// The bytes from an operand's first element to its last. `None` if elements precede the first.
    pub fn span(&self, operand: usize) -> Option<usize> {
        let [m, n, k] = self.extents;
        let (rows, columns) = [(m, k), (k, n), (m, n)][operand];
        let Layout { column_major, leading } = self.layouts[operand];
        let (lines, length) = if column_major { (columns, rows) } else { (rows, columns) };
        let stride = usize::try_from(self.batch.1[operand]).ok()?;
        let elements = (self.batch.0 - 1) * stride + (lines - 1) * leading + length;
        Some(elements * self.precision.dtype.size())
    }
}

impl LibraryEpilogue {
    pub fn kind(&self) -> EpilogueKind {
        let residual = self.residual.map(|(address, _, leading)| (leading, alignment(address)));
        EpilogueKind { bias: self.bias.is_some(), gelu: self.gelu, residual }
    }
}

impl EpilogueKind {
    fn lt_epilogue(self) -> LtEpilogue {
        match (self.bias, self.gelu) {
            (false, false) => LtEpilogue::CUBLASLT_EPILOGUE_DEFAULT,
            (true, false) => LtEpilogue::CUBLASLT_EPILOGUE_BIAS,
            (false, true) => LtEpilogue::CUBLASLT_EPILOGUE_GELU,
            (true, true) => LtEpilogue::CUBLASLT_EPILOGUE_GELU_BIAS,
        }
    }
}

/// The alignment of an address, capped at what cuBLASLt distinguishes.
pub fn alignment(address: u64) -> u32 {
    1 << address.trailing_zeros().min(8)
}

/// The descriptors of a GEMM and its chosen algorithm.
pub struct GemmPlan {
    precision: Precision,
    /// Whether each operand is transposed, B first. With the epilogue, enough to create the descriptor again.
    transposed: [bool; 2],
    pub epilogue: Option<EpilogueKind>,
    descriptor: sys::cublasLtMatmulDesc_t,
    /// The layouts of B, A, C and the residual.
    matrices: [sys::cublasLtMatrixLayout_t; 4],
    pub algorithm: Algorithm,
    /// Completed by the first run.
    ran: Once,
}

/// An algorithm of the heuristic.
#[derive(Clone, Copy)]
pub struct Algorithm {
    raw: sys::cublasLtMatmulAlgo_t,
    /// The workspace it needs, in bytes.
    pub workspace: usize,
}

impl Algorithm {
    /// The opaque bytes that identify the algorithm.
    pub fn bytes(&self) -> Vec<u8> {
        self.raw.data.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

// SAFETY: the descriptors are only read once they are created.
unsafe impl Send for GemmPlan {}
// SAFETY: as above.
unsafe impl Sync for GemmPlan {}

impl Drop for GemmPlan {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        // SAFETY: each was created once, or is null, which the library rejects without harm.
        unsafe {
            sys::cublasLtMatmulDescDestroy(self.descriptor);
            for matrix in self.matrices {
                sys::cublasLtMatrixLayoutDestroy(matrix);
            }
        }
    }
}

impl GemmPlan {
    /// Creates the descriptors of a GEMM and queries the heuristic. The plan has its first algorithm. `None` if there
    /// is none.
    pub fn new(
        handle: sys::cublasLtHandle_t,
        key: &GemmKey,
        bias: Option<u64>,
    ) -> Result<Option<(GemmPlan, Vec<Algorithm>)>, Fault> {
        let Some((_, _, kind)) = key.precision.types() else { return Ok(None) };
        let [a, b, _] = key.layouts;
        let transposed = [b.column_major, a.column_major];
        let Some(descriptor) = create_descriptor(key.precision, transposed, key.epilogue, bias)?
        else {
            return Ok(None);
        };
        let mut plan = GemmPlan {
            precision: key.precision,
            transposed,
            epilogue: key.epilogue,
            descriptor,
            matrices: [null_mut(); 4],
            // SAFETY: all-zero bytes are a valid value.
            algorithm: Algorithm { raw: unsafe { std::mem::zeroed() }, workspace: 0 },
            ran: Once::new(),
        };
        plan.create_layouts(key, kind)?;
        let algorithms = plan.algorithms(handle, key)?;
        shutdown::register_exit_handler();
        let Some(first) = algorithms.first() else { return Ok(None) };
        plan.algorithm = *first;
        Ok(Some((plan, algorithms)))
    }

    /// Submits the GEMM to a stream.
    ///
    /// # Safety
    /// The matrices that the plan describes must be at these addresses of A, B and C, and the workspace must have as
    /// many bytes as the plan needs, until the stream has passed the GEMM.
    pub unsafe fn run(
        &self,
        handle: sys::cublasLtHandle_t,
        [a, b, c]: [u64; 3],
        epilogue: Option<&LibraryEpilogue>,
        workspace: u64,
        stream: CUstream,
    ) -> Result<(), Fault> {
        let scale = self.precision.factor(epilogue.map_or(1.0, |epilogue| epilogue.scale));
        let addend = epilogue.and_then(|epilogue| epilogue.residual);
        let addend_scale = self.precision.factor(addend.map_or(0.0, |(_, factor, _)| factor));
        // The bias pointer is an attribute of the descriptor, which several threads may use at once.
        let mut own_descriptor = null_mut();
        if let Some(bias) = epilogue.and_then(|epilogue| epilogue.bias) {
            let described =
                create_descriptor(self.precision, self.transposed, self.epilogue, Some(bias))?;
            own_descriptor = described.expect("a descriptor that was created can be created again");
        }
        let descriptor = if own_descriptor.is_null() { self.descriptor } else { own_descriptor };
        // SAFETY: promised by the caller. The factors outlive the call.
        let status = unsafe {
            let status = sys::cublasLtMatmul(
                handle,
                descriptor,
                scale.as_ptr().cast(),
                b as *const c_void,
                self.matrices[0],
                a as *const c_void,
                self.matrices[1],
                addend_scale.as_ptr().cast(),
                addend.map_or(c, |(address, _, _)| address) as *const c_void,
                self.matrices[3],
                c as *mut c_void,
                self.matrices[2],
                &self.algorithm.raw,
                workspace as *mut c_void,
                self.algorithm.workspace,
                stream.cast(),
            );
            if !own_descriptor.is_null() {
                sys::cublasLtMatmulDescDestroy(own_descriptor);
            }
            status
        };
        // The first run may create library state that shutdown has to release.
        self.ran.call_once(shutdown::register_exit_handler);
        check(status, "a GEMM by cuBLASLt")
    }

    fn create_layouts(&mut self, key: &GemmKey, kind: DataType) -> Result<(), Fault> {
        let [m, n, k] = key.extents;
        let [a, b, c] = key.layouts;
        let residual = key.epilogue.and_then(|epilogue| epilogue.residual);
        let addend = residual.map_or(c, |(leading, _)| Layout { column_major: false, leading });
        let operands = [(b, k, n, 1), (a, m, k, 0), (c, m, n, 2), (addend, m, n, 2)];
        for (position, (layout, rows, columns, batch)) in operands.into_iter().enumerate() {
            // The library sees row-major matrices as transposed.
            let (rows, columns) =
                if layout.column_major { (rows, columns) } else { (columns, rows) };
            let (rows, columns, leading) = (rows as u64, columns as u64, layout.leading as i64);
            let matrix = &mut self.matrices[position];
            // SAFETY: the output location is valid.
            let made =
                unsafe { sys::cublasLtMatrixLayoutCreate(matrix, kind, rows, columns, leading) };
            check(made, "a cuBLASLt matrix layout")?;
            if key.batch.0 == 1 {
                continue;
            }
            let (count, stride) = (key.batch.0 as i32, key.batch.1[batch] as i64);
            let attributes: [(LayoutAttribute, *const c_void, usize); 2] = [
                (
                    LayoutAttribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                    (&raw const count).cast(),
                    size_of::<i32>(),
                ),
                (
                    LayoutAttribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                    (&raw const stride).cast(),
                    size_of::<i64>(),
                ),
            ];
            for (attribute, value, bytes) in attributes {
                // SAFETY: the values outlive the call and have the types of the attributes.
                let set = unsafe {
                    sys::cublasLtMatrixLayoutSetAttribute(*matrix, attribute, value, bytes)
                };
                check(set, "the batch of a cuBLASLt matrix layout")?;
            }
        }
        Ok(())
    }

    /// The algorithms that the heuristic suggests, best first.
    fn algorithms(
        &self,
        handle: sys::cublasLtHandle_t,
        key: &GemmKey,
    ) -> Result<Vec<Algorithm>, Fault> {
        let residual = key.epilogue.and_then(|epilogue| epilogue.residual);
        let addend = residual.map_or(key.alignments[2], |(_, alignment)| alignment);
        let aligned = [
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignments[1]),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignments[0]),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, addend),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignments[2]),
        ];
        let mut preference = null_mut();
        // SAFETY: every output location is valid, and every value read has the type of its attribute. All-zero bytes
        // are valid heuristic results.
        unsafe {
            check(sys::cublasLtMatmulPreferenceCreate(&mut preference), "a cuBLASLt preference")?;
            let set = |attribute: Preference, value: *const c_void, bytes: usize| {
                sys::cublasLtMatmulPreferenceSetAttribute(preference, attribute, value, bytes)
            };
            let workspace = MAX_WORKSPACE;
            let max_workspace = Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            set(max_workspace, (&raw const workspace).cast(), size_of::<usize>());
            for (attribute, alignment) in aligned {
                set(attribute, (&raw const alignment).cast(), size_of::<u32>());
            }
            let mut found: [sys::cublasLtMatmulHeuristicResult_t; MAX_ALGORITHMS] =
                std::mem::zeroed();
            let mut count = 0;
            let status = sys::cublasLtMatmulAlgoGetHeuristic(
                handle,
                self.descriptor,
                self.matrices[0],
                self.matrices[1],
                self.matrices[3],
                self.matrices[2],
                preference,
                MAX_ALGORITHMS as i32,
                found.as_mut_ptr(),
                &mut count,
            );
            sys::cublasLtMatmulPreferenceDestroy(preference);
            let count = match status {
                Status::CUBLAS_STATUS_SUCCESS => count.max(0) as usize,
                _ => 0,
            };
            let found = found.iter().take(count);
            let usable = found.filter(|found| found.state == Status::CUBLAS_STATUS_SUCCESS);
            let algorithm = |found: &sys::cublasLtMatmulHeuristicResult_t| Algorithm {
                raw: found.algo,
                workspace: found.workspaceSize,
            };
            Ok(usable.map(algorithm).collect())
        }
    }
}

pub fn check(status: Status, what: &str) -> Result<(), Fault> {
    match status {
        Status::CUBLAS_STATUS_SUCCESS => Ok(()),
        status => Err(FaultKind::Unsupported(format!("{what}: {status:?}")).into()),
    }
}

/// Creates the matmul descriptor of a GEMM with these transposed operands and this epilogue. The caller destroys it.
/// `None` if cuBLASLt does not support the GEMM.
fn create_descriptor(
    precision: Precision,
    transposed: [bool; 2],
    epilogue: Option<EpilogueKind>,
    bias: Option<u64>,
) -> Result<Option<sys::cublasLtMatmulDesc_t>, Fault> {
    let Some((compute, scale, _)) = precision.types() else { return Ok(None) };
    let mut descriptor = null_mut();
    // SAFETY: every location written to or read from is valid and has the type of its attribute.
    unsafe {
        check(
            sys::cublasLtMatmulDescCreate(&mut descriptor, compute, scale),
            "a cuBLASLt matmul descriptor",
        )?;
        let set = |attribute: Attribute, value: *const c_void, bytes: usize| {
            sys::cublasLtMatmulDescSetAttribute(descriptor, attribute, value, bytes)
        };
        let operations = transposed.map(|transposed| transposed as i32);
        let lt_epilogue = epilogue.map(EpilogueKind::lt_epilogue);
        let mut attributes = vec![
            (Attribute::CUBLASLT_MATMUL_DESC_TRANSA, (&raw const operations[0]).cast(), 4),
            (Attribute::CUBLASLT_MATMUL_DESC_TRANSB, (&raw const operations[1]).cast(), 4),
        ];
        if let Some(lt_epilogue) = &lt_epilogue {
            let lt_epilogue: *const LtEpilogue = lt_epilogue;
            attributes.push((
                Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE,
                lt_epilogue.cast(),
                size_of::<LtEpilogue>(),
            ));
        }
        if let Some(bias) = &bias {
            let bias: *const u64 = bias;
            attributes.push((Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.cast(), 8));
        }
        for (attribute, value, bytes) in attributes {
            if let Err(fault) = check(set(attribute, value, bytes), "a cuBLASLt matmul descriptor")
            {
                sys::cublasLtMatmulDescDestroy(descriptor);
                return Err(fault);
            }
        }
    }
    Ok(Some(descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operand_spans_cover_all_batches() {
        let precision = Precision { dtype: DType::F32, tf32: false, f16_accumulate: false };
        let layout = |column_major: bool, leading: usize| Layout { column_major, leading };
        let mut key = GemmKey {
            precision,
            extents: [2, 3, 5],
            layouts: [layout(false, 5), layout(true, 7), layout(false, 4)],
            batch: (1, [0; 3]),
            alignments: [4; 3],
            epilogue: None,
        };
        assert_eq!([0, 1, 2].map(|operand| key.span(operand)), [Some(40), Some(76), Some(28)]);
        key.batch = (3, [10, 0, -8]);
        assert_eq!([0, 1, 2].map(|operand| key.span(operand)), [Some(120), Some(76), None]);
    }
}
