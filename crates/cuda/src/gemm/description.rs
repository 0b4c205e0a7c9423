//! A product as cuBLASLt is told of it. The library has columns next to each other where we have rows, so it is
//! asked for the transposed product of the transposed operands, in the other order.

use super::Layout;
use crate::driver::enter;
use crate::shutdown;
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t as Compute, cublasLtEpilogue_t as After,
    cublasLtMatmulDescAttributes_t as Attribute,
    cublasLtMatmulPreferenceAttributes_t as Preference,
    cublasLtMatrixLayoutAttribute_t as LayoutAttribute, cublasStatus_t as Status,
    cudaDataType_t as Kind,
};
use cudarc::driver::sys::CUstream;
use half::f16;
use inflight_backend::{Fault, FaultKind};
use inflight_ir::DType;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Once;

/// The most memory that a product may use beside its operands.
const WORKSPACE: usize = 32 << 20;

/// A product of at least this many multiplications is computed by several algorithms, and then by the fastest.
const LARGE: f64 = 4e9;

/// So many algorithms are asked for.
const ALGORITHMS: usize = 32;

/// How numbers are multiplied and summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    pub dtype: DType,
    /// Whether `f32` operands are rounded to TF32.
    pub tf32: bool,
    /// Whether sums of `f16` are kept in `f16`.
    pub f16_accumulate: bool,
}

impl Numbers {
    /// How the library multiplies, scales and stores them. `None` if it does not.
    fn types(self) -> Option<(Compute, Kind, Kind)> {
        let compute = match self.dtype {
            DType::F32 if self.tf32 => Compute::CUBLAS_COMPUTE_32F_FAST_TF32,
            DType::F16 if self.f16_accumulate => Compute::CUBLAS_COMPUTE_16F,
            DType::F64 | DType::C128 => Compute::CUBLAS_COMPUTE_64F,
            _ => Compute::CUBLAS_COMPUTE_32F,
        };
        let stored = match self.dtype {
            DType::F16 => Kind::CUDA_R_16F,
            DType::BF16 => Kind::CUDA_R_16BF,
            DType::F32 => Kind::CUDA_R_32F,
            DType::F64 => Kind::CUDA_R_64F,
            DType::C64 => Kind::CUDA_C_32F,
            DType::C128 => Kind::CUDA_C_64F,
            _ => return None,
        };
        let scale = match self.dtype {
            DType::F16 | DType::BF16 if !self.f16_accumulate => Kind::CUDA_R_32F,
            _ => stored,
        };
        Some((compute, scale, stored))
    }

    /// A factor as the library takes it: the first part, or all, of a number.
    fn factor(self, factor: f32) -> [u64; 2] {
        let bits = match self.dtype {
            DType::F64 | DType::C128 => f64::from(factor).to_bits(),
            DType::F16 if self.f16_accumulate => u64::from(f16::from_f32(factor).to_bits()),
            _ => u64::from(factor.to_bits()),
        };
        [bits, 0]
    }
}

/// Whether the library has products of a dtype.
pub fn multiplies(dtype: DType) -> bool {
    Numbers { dtype, tf32: false, f16_accumulate: false }.types().is_some()
}

/// What a choice of an algorithm depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub numbers: Numbers,
    /// Rows, columns, and the length of each sum.
    pub extents: [usize; 3],
    /// Of `a`, `b` and the result.
    pub layouts: [Layout; 3],
    /// How many products there are, and the distances of their operands.
    pub batch: (usize, [isize; 3]),
    /// The alignment of each operand.
    pub alignments: [u32; 3],
    pub tail: Option<TailKind>,
}

/// What is done with a product before it is stored.
#[derive(Clone, Copy)]
pub struct Tail {
    pub scale: f32,
    /// The address of a value for each column.
    pub bias: Option<u64>,
    /// The address of a matrix that is added, its factor, and the distance of its rows.
    pub residual: Option<(u64, f32, usize)>,
    pub gelu: bool,
}

/// The part of it that a choice of an algorithm depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TailKind {
    pub bias: bool,
    pub gelu: bool,
    /// The distance of the added matrix's rows, and its alignment.
    pub residual: Option<(usize, u32)>,
}

impl Key {
    /// Whether there is so much to compute that a choice among algorithms pays.
    pub fn is_large(&self) -> bool {
        let one = self.extents.iter().map(|&extent| extent as f64).product::<f64>();
        one * self.batch.0 as f64 >= LARGE
    }

    /// From an operand's first element to its last, in bytes. `None` if some lie before the first.
    pub fn span(&self, operand: usize) -> Option<usize> {
        let [m, n, k] = self.extents;
        let (rows, columns) = [(m, k), (k, n), (m, n)][operand];
        let Layout { turned, leading } = self.layouts[operand];
        let (lines, length) = if turned { (columns, rows) } else { (rows, columns) };
        let stride = usize::try_from(self.batch.1[operand]).ok()?;
        let elements = (self.batch.0 - 1) * stride + (lines - 1) * leading + length;
        Some(elements * self.numbers.dtype.size())
    }
}

impl Tail {
    pub fn kind(&self) -> TailKind {
        let residual = self.residual.map(|(address, _, leading)| (leading, alignment(address)));
        TailKind { bias: self.bias.is_some(), gelu: self.gelu, residual }
    }
}

impl TailKind {
    fn after(self) -> After {
        match (self.bias, self.gelu) {
            (false, false) => After::CUBLASLT_EPILOGUE_DEFAULT,
            (true, false) => After::CUBLASLT_EPILOGUE_BIAS,
            (false, true) => After::CUBLASLT_EPILOGUE_GELU,
            (true, true) => After::CUBLASLT_EPILOGUE_GELU_BIAS,
        }
    }
}

/// How well an address is aligned, as far as the library cares.
pub fn alignment(address: u64) -> u32 {
    1 << address.trailing_zeros().min(8)
}

/// A product that is described and whose algorithm is chosen.
pub struct Plan {
    numbers: Numbers,
    /// Whether each operand is turned, `b` first, and what follows: enough to describe the product again.
    turned: [bool; 2],
    pub tail: Option<TailKind>,
    product: sys::cublasLtMatmulDesc_t,
    /// Of `b`, `a`, the result and what is added to it.
    matrices: [sys::cublasLtMatrixLayout_t; 4],
    pub algorithm: Algorithm,
    /// Done when it has run.
    ran: Once,
}

/// An algorithm of the library.
#[derive(Clone, Copy)]
pub struct Algorithm {
    raw: sys::cublasLtMatmulAlgo_t,
    /// The memory that it needs.
    pub workspace: usize,
}

impl Algorithm {
    /// What it is told from others by.
    pub fn bytes(&self) -> Vec<u8> {
        self.raw.data.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

// SAFETY: descriptions that are only read once they are made.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        // SAFETY: each was created once, or is null, which the library refuses without harm.
        unsafe {
            sys::cublasLtMatmulDescDestroy(self.product);
            for matrix in self.matrices {
                sys::cublasLtMatrixLayoutDestroy(matrix);
            }
        }
    }
}

impl Plan {
    /// Describes a product and asks for the best ways to compute it, the first of which is the plan's. `None` if
    /// there is none.
    pub fn new(
        handle: sys::cublasLtHandle_t,
        key: &Key,
        bias: Option<u64>,
    ) -> Result<Option<(Plan, Vec<Algorithm>)>, Fault> {
        let Some((_, _, kind)) = key.numbers.types() else { return Ok(None) };
        let [a, b, _] = key.layouts;
        let turned = [b.turned, a.turned];
        let Some(product) = describe(key.numbers, turned, key.tail, bias)? else {
            return Ok(None);
        };
        let mut plan = Plan {
            numbers: key.numbers,
            turned,
            tail: key.tail,
            product,
            matrices: [null_mut(); 4],
            // SAFETY: zeros are numbers.
            algorithm: Algorithm { raw: unsafe { std::mem::zeroed() }, workspace: 0 },
            ran: Once::new(),
        };
        plan.describe_matrices(key, kind)?;
        let algorithms = plan.algorithms(handle, key)?;
        shutdown::register_exit_handler();
        let Some(first) = algorithms.first() else { return Ok(None) };
        plan.algorithm = *first;
        Ok(Some((plan, algorithms)))
    }

    /// Puts the product on a stream.
    ///
    /// # Safety
    /// The matrices that the plan describes must be at these addresses of `a`, `b` and `c`, and the workspace
    /// must have as many bytes as the plan needs, until the stream has passed the product.
    pub unsafe fn run(
        &self,
        handle: sys::cublasLtHandle_t,
        [a, b, c]: [u64; 3],
        tail: Option<&Tail>,
        workspace: u64,
        stream: CUstream,
    ) -> Result<(), Fault> {
        let scale = self.numbers.factor(tail.map_or(1.0, |tail| tail.scale));
        let added = tail.and_then(|tail| tail.residual);
        let added_scale = self.numbers.factor(added.map_or(0.0, |(_, factor, _)| factor));
        // The bias is a part of the description, which several threads may use at once.
        let mut own = null_mut();
        if let Some(bias) = tail.and_then(|tail| tail.bias) {
            let described = describe(self.numbers, self.turned, self.tail, Some(bias))?;
            own = described.expect("what was described can be described again");
        }
        let product = if own.is_null() { self.product } else { own };
        // SAFETY: promised by the caller; the factors live through the call.
        let status = unsafe {
            let status = sys::cublasLtMatmul(
                handle,
                product,
                scale.as_ptr().cast(),
                b as *const c_void,
                self.matrices[0],
                a as *const c_void,
                self.matrices[1],
                added_scale.as_ptr().cast(),
                added.map_or(c, |(address, _, _)| address) as *const c_void,
                self.matrices[3],
                c as *mut c_void,
                self.matrices[2],
                &self.algorithm.raw,
                workspace as *mut c_void,
                self.algorithm.workspace,
                stream.cast(),
            );
            if !own.is_null() {
                sys::cublasLtMatmulDescDestroy(own);
            }
            status
        };
        // What the library has done for the first time, it may have to undo.
        self.ran.call_once(shutdown::register_exit_handler);
        check(status, "a matrix product")
    }

    fn describe_matrices(&mut self, key: &Key, kind: Kind) -> Result<(), Fault> {
        let [m, n, k] = key.extents;
        let [a, b, c] = key.layouts;
        let residual = key.tail.and_then(|tail| tail.residual);
        let added = residual.map_or(c, |(leading, _)| Layout { turned: false, leading });
        let operands = [(b, k, n, 1), (a, m, k, 0), (c, m, n, 2), (added, m, n, 2)];
        for (position, (layout, rows, columns, batch)) in operands.into_iter().enumerate() {
            // With rows next to each other, the library sees the transposed matrix.
            let (rows, columns) = if layout.turned { (rows, columns) } else { (columns, rows) };
            let (rows, columns, leading) = (rows as u64, columns as u64, layout.leading as i64);
            let matrix = &mut self.matrices[position];
            // SAFETY: the place is there to be written.
            let made =
                unsafe { sys::cublasLtMatrixLayoutCreate(matrix, kind, rows, columns, leading) };
            check(made, "a matrix")?;
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
                // SAFETY: the values live through the call and have the types that the attributes have.
                let set = unsafe {
                    sys::cublasLtMatrixLayoutSetAttribute(*matrix, attribute, value, bytes)
                };
                check(set, "a batch")?;
            }
        }
        Ok(())
    }

    /// The ways to compute it that the library thinks best, the best first.
    fn algorithms(
        &self,
        handle: sys::cublasLtHandle_t,
        key: &Key,
    ) -> Result<Vec<Algorithm>, Fault> {
        let residual = key.tail.and_then(|tail| tail.residual);
        let added = residual.map_or(key.alignments[2], |(_, alignment)| alignment);
        let aligned = [
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignments[1]),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignments[0]),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, added),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignments[2]),
        ];
        let mut preference = null_mut();
        // SAFETY: every place that is written exists, and what is read has the type that the attribute has; zeros
        // are answers.
        unsafe {
            check(sys::cublasLtMatmulPreferenceCreate(&mut preference), "a preference")?;
            let set = |attribute: Preference, value: *const c_void, bytes: usize| {
                sys::cublasLtMatmulPreferenceSetAttribute(preference, attribute, value, bytes)
            };
            let workspace = WORKSPACE;
            let most = Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            set(most, (&raw const workspace).cast(), size_of::<usize>());
            for (attribute, alignment) in aligned {
                set(attribute, (&raw const alignment).cast(), size_of::<u32>());
            }
            let mut found: [sys::cublasLtMatmulHeuristicResult_t; ALGORITHMS] = std::mem::zeroed();
            let mut count = 0;
            let status = sys::cublasLtMatmulAlgoGetHeuristic(
                handle,
                self.product,
                self.matrices[0],
                self.matrices[1],
                self.matrices[3],
                self.matrices[2],
                preference,
                ALGORITHMS as i32,
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

/// Describes a product: which operands are turned, and what follows. It is the caller's to destroy. `None` if the
/// library has no such product.
fn describe(
    numbers: Numbers,
    turned: [bool; 2],
    tail: Option<TailKind>,
    bias: Option<u64>,
) -> Result<Option<sys::cublasLtMatmulDesc_t>, Fault> {
    let Some((compute, scale, _)) = numbers.types() else { return Ok(None) };
    let mut product = null_mut();
    // SAFETY: every place written to or read from exists and has the type that the attribute has.
    unsafe {
        check(sys::cublasLtMatmulDescCreate(&mut product, compute, scale), "a product")?;
        let set = |attribute: Attribute, value: *const c_void, bytes: usize| {
            sys::cublasLtMatmulDescSetAttribute(product, attribute, value, bytes)
        };
        let operations = turned.map(|turned| turned as i32);
        let after = tail.map(TailKind::after);
        let mut all = vec![
            (Attribute::CUBLASLT_MATMUL_DESC_TRANSA, (&raw const operations[0]).cast(), 4),
            (Attribute::CUBLASLT_MATMUL_DESC_TRANSB, (&raw const operations[1]).cast(), 4),
        ];
        if let Some(after) = &after {
            let after: *const After = after;
            all.push((Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, after.cast(), size_of::<After>()));
        }
        if let Some(bias) = &bias {
            let bias: *const u64 = bias;
            all.push((Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.cast(), 8));
        }
        for (attribute, value, bytes) in all {
            if let Err(fault) = check(set(attribute, value, bytes), "a product") {
                sys::cublasLtMatmulDescDestroy(product);
                return Err(fault);
            }
        }
    }
    Ok(Some(product))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_reach_from_their_first_element_to_their_last() {
        let numbers = Numbers { dtype: DType::F32, tf32: false, f16_accumulate: false };
        let layout = |turned: bool, leading: usize| Layout { turned, leading };
        let mut key = Key {
            numbers,
            extents: [2, 3, 5],
            layouts: [layout(false, 5), layout(true, 7), layout(false, 4)],
            batch: (1, [0; 3]),
            alignments: [4; 3],
            tail: None,
        };
        assert_eq!([0, 1, 2].map(|operand| key.span(operand)), [Some(40), Some(76), Some(28)]);
        key.batch = (3, [10, 0, -8]);
        assert_eq!([0, 1, 2].map(|operand| key.span(operand)), [Some(120), Some(76), None]);
    }
}
