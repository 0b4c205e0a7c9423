//! cuBLASLt. It has columns next to each other where we have rows, so it is asked for the transposed product of
//! the transposed operands, in the other order.

use super::{Batches, Layout};
use crate::driver::is_ending;
use crate::library::{self, Part};
use crate::options::Options;
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t as Compute, cublasLtEpilogue_t as After,
    cublasLtMatmulDescAttributes_t as Attribute,
    cublasLtMatmulPreferenceAttributes_t as Preference,
    cublasLtMatrixLayoutAttribute_t as LayoutAttribute, cublasStatus_t as Status,
    cudaDataType_t as Kind,
};
use cudarc::driver::sys::{self as driver, CUresult, CUstream};
use inflight_backend::{Contract, DiskCache, Fault, FaultKind};
use inflight_ir::DType;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// The most memory that a product may use beside its operands.
const WORKSPACE: usize = 32 << 20;

/// Products by cuBLASLt, each shape of which is looked up once.
pub struct Products {
    pub(super) options: Options,
    /// The device's name, on which the choice of an algorithm depends.
    device: String,
    /// Where choices are kept for processes that come later.
    disk: OnceLock<Option<DiskCache>>,
    handle: OnceLock<Result<Handle, Fault>>,
    plans: Mutex<FxHashMap<Key, Option<Arc<Plan>>>>,
}

/// A product of at least this many multiplications is computed by several algorithms, and then by the fastest.
const LARGE: f64 = 4e9;

/// So many algorithms are looked at.
const ALGORITHMS: usize = 12;

/// How often each of them runs; the first time warms up.
const ROUNDS: usize = 4;

/// Plans beyond this many are forgotten.
const MOST_PLANS: usize = 4096;

struct Handle(sys::cublasLtHandle_t);

// SAFETY: the library's handle may be used by several threads at once.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        if is_ending() {
            return;
        }
        // SAFETY: created once.
        unsafe { sys::cublasLtDestroy(self.0) };
    }
}

/// What a choice of an algorithm depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    dtype: DType,
    tf32: bool,
    extents: [usize; 3],
    layouts: [Layout; 3],
    batch: (usize, [isize; 3]),
    /// The alignment of each operand.
    alignments: [u32; 3],
    tail: Option<TailKind>,
}

/// What is done with a product before it is stored.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    pub scale: f32,
    /// The address of a value for each column.
    pub bias: Option<u64>,
    /// The address of a matrix that is added, its factor, and the distance of its rows.
    pub residual: Option<(u64, f32, usize)>,
    pub gelu: bool,
}

/// The part of it that a choice of an algorithm depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TailKind {
    bias: bool,
    gelu: bool,
    /// The distance of the added matrix's rows, and its alignment.
    residual: Option<(usize, u32)>,
}

impl Tail {
    fn kind(&self) -> TailKind {
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
fn alignment(address: u64) -> u32 {
    1 << address.trailing_zeros().min(8)
}

/// A product that is described and whose algorithm is chosen.
struct Plan {
    dtype: DType,
    tf32: bool,
    /// Whether each operand is turned, `b` first, and what follows: enough to describe the product again.
    turned: [bool; 2],
    tail: Option<TailKind>,
    product: sys::cublasLtMatmulDesc_t,
    /// Of `b`, `a`, the result and what is added to it.
    matrices: [sys::cublasLtMatrixLayout_t; 4],
    algorithm: sys::cublasLtMatmulAlgo_t,
    workspace: usize,
}

// SAFETY: descriptions that are only read once they are made.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        if is_ending() {
            return;
        }
        // SAFETY: each was created once, or is null, which the library refuses without harm.
        unsafe {
            sys::cublasLtMatmulDescDestroy(self.product);
            for matrix in self.matrices {
                sys::cublasLtMatrixLayoutDestroy(matrix);
            }
        }
    }
}

impl Products {
    /// Products on a device of this name.
    pub fn new(options: Options, device: &str) -> Products {
        Products {
            options,
            device: device.to_owned(),
            disk: OnceLock::new(),
            handle: OnceLock::new(),
            plans: Mutex::default(),
        }
    }

    /// A product that is ready to run. `None` if the library has no way to compute it.
    pub(super) fn prepare(
        &self,
        site: &mut Site<'_>,
        contract: &Contract,
        addresses: [u64; 3],
        layouts: [Layout; 3],
        tail: Option<&Tail>,
    ) -> Result<Option<(Product, Vec<u64>)>, Fault> {
        let handle = match self.handle.get_or_init(open) {
            Ok(handle) => handle.0,
            Err(fault) => return Err(fault.clone()),
        };
        let size = contract.dtype.size() as i64;
        // What follows a product stores it from the first element on.
        let result = if tail.is_some() { 0 } else { contract.c.offset };
        let offsets = [contract.a.offset, contract.b.offset, result];
        let mut starts = addresses;
        for (start, offset) in starts.iter_mut().zip(offsets) {
            *start = start.wrapping_add_signed(offset as i64 * size);
        }
        let batches = Batches::new(contract);
        let alignments = std::array::from_fn(|operand| {
            let strides = batches.outer.iter().chain([&batches.inner]).map(|(_, s)| s[operand]);
            let step = strides.fold(starts[operand], |all, s| all | (s as i64 * size) as u64);
            alignment(step)
        });
        let key = Key {
            dtype: contract.dtype,
            tf32: self.options.tf32 && contract.dtype == DType::F32,
            extents: [contract.m, contract.n, contract.k],
            layouts,
            batch: batches.inner,
            alignments,
            tail: tail.map(Tail::kind),
        };
        let known = self.plans.lock().get(&key).cloned();
        let plan = match known {
            Some(plan) => plan,
            None => {
                let plan = plan(handle, &key, tail)?;
                let plan = match plan {
                    Some((plan, algorithms)) => {
                        let (tail, stream) = (tail.copied(), site.stream);
                        let call = Call { handle, plan, starts, tail, stream };
                        Some(Arc::new(self.chosen(call, algorithms, &key, site)?))
                    }
                    None => None,
                };
                let mut plans = self.plans.lock();
                if plans.len() >= MOST_PLANS {
                    plans.clear();
                }
                plans.insert(key, plan.clone());
                plan
            }
        };
        let Some(plan) = plan else { return Ok(None) };
        let work = match plan.workspace {
            0 => 0,
            bytes => (site.workspace)(bytes)?,
        };
        let factor = |factor: f32| factor.to_bits() as u64;
        let residual = tail.and_then(|tail| tail.residual);
        let mut words = vec![
            work,
            tail.map_or(0, |tail| factor(tail.scale)),
            tail.and_then(|tail| tail.bias).unwrap_or(0),
            residual.map_or(0, |(address, _, _)| address),
            residual.map_or(0, |(_, by, _)| factor(by)),
        ];
        for offsets in batches.offsets() {
            let at =
                |(start, offset): (&u64, isize)| start.wrapping_add_signed(offset as i64 * size);
            words.extend(starts.iter().zip(offsets).map(at));
        }
        Ok(Some((Product { handle: RawHandle(handle), plan }, words)))
    }
}

/// Where a product will run.
pub struct Site<'a> {
    /// Where algorithms are timed.
    pub stream: CUstream,
    /// Puts all that comes before the product on the stream.
    pub settle: &'a mut dyn FnMut(),
    /// Memory for the product alone.
    pub workspace: &'a dyn Fn(usize) -> Result<u64, Fault>,
}

/// A product of the library, less its addresses and factors.
#[derive(Clone)]
pub struct Product {
    handle: RawHandle,
    plan: Arc<Plan>,
}

/// The library's handle, which [`Products`] keeps.
#[derive(Clone, Copy)]
struct RawHandle(sys::cublasLtHandle_t);

// SAFETY: the library's handle may be used by several threads at once.
unsafe impl Send for RawHandle {}
// SAFETY: as above.
unsafe impl Sync for RawHandle {}

/// The words of a product that come before its addresses: the workspace, the factor, the bias, what is added,
/// and its factor.
const HEAD: usize = 5;

impl Product {
    /// Whether both are the same but for their addresses and factors.
    pub fn is_like(&self, other: &Product) -> bool {
        Arc::ptr_eq(&self.plan, &other.plan)
    }

    /// Tells products apart that are not alike.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.plan).addr()
    }

    /// Puts it on a stream.
    ///
    /// # Safety
    /// The words must be those that it was prepared with, or such as another that is like it was. The operands
    /// and the workspace that they name, and the device's products, must be there until the stream has passed it.
    pub unsafe fn run(&self, stream: CUstream, words: &[u64]) -> Result<(), Fault> {
        let factor = |word: u64| f32::from_bits(word as u32);
        let tail = self.plan.tail.map(|kind| Tail {
            scale: factor(words[1]),
            bias: kind.bias.then_some(words[2]),
            residual: kind.residual.map(|(leading, _)| (words[3], factor(words[4]), leading)),
            gelu: kind.gelu,
        });
        for at in words[HEAD..].chunks_exact(3) {
            let at = [at[0], at[1], at[2]];
            // SAFETY: promised by the caller.
            let run = unsafe { self.plan.run(self.handle.0, at, tail.as_ref(), words[0], stream) };
            check(run, "a matrix product")?;
        }
        Ok(())
    }
}

impl Plan {
    /// Puts the product on a stream.
    ///
    /// # Safety
    /// The matrices that the plan describes must be at these addresses of `a`, `b` and `c`, and the workspace
    /// must have as many bytes as the plan needs, until the stream has passed the product.
    unsafe fn run(
        &self,
        handle: sys::cublasLtHandle_t,
        [a, b, c]: [u64; 3],
        tail: Option<&Tail>,
        workspace: u64,
        stream: CUstream,
    ) -> Status {
        // The factors, in whichever type the library takes them: the first part, or all, of each.
        let one = match self.dtype {
            DType::F64 | DType::C128 => [1f64.to_bits(), 0],
            _ => [tail.map_or(1f32, |tail| tail.scale).to_bits() as u64, 0],
        };
        let added = tail.and_then(|tail| tail.residual);
        let zero = [added.map_or(0, |(_, factor, _)| factor.to_bits() as u64), 0];
        // The bias is a part of the description, which several threads may use at once.
        let mut own = null_mut();
        if let Some(bias) = tail.and_then(|tail| tail.bias) {
            match describe((self.dtype, self.tf32), self.turned, self.tail, Some(bias)) {
                Ok(Some(described)) => own = described,
                _ => return Status::CUBLAS_STATUS_NOT_SUPPORTED,
            }
        }
        let product = if own.is_null() { self.product } else { own };
        // SAFETY: promised by the caller; the factors live through the call.
        unsafe {
            let status = sys::cublasLtMatmul(
                handle,
                product,
                one.as_ptr().cast(),
                b as *const c_void,
                self.matrices[0],
                a as *const c_void,
                self.matrices[1],
                zero.as_ptr().cast(),
                added.map_or(c, |(address, _, _)| address) as *const c_void,
                self.matrices[3],
                c as *mut c_void,
                self.matrices[2],
                &self.algorithm,
                workspace as *mut c_void,
                self.workspace,
                stream.cast(),
            );
            if !own.is_null() {
                sys::cublasLtMatmulDescDestroy(own);
            }
            status
        }
    }
}

impl Products {
    /// The plan with the algorithm that is fastest on this device, as was found out now or by a process before.
    /// Small products take the first one: measuring costs more than it gains.
    fn chosen(
        &self,
        call: Call,
        algorithms: Vec<Algorithm>,
        key: &Key,
        site: &mut Site<'_>,
    ) -> Result<Plan, Fault> {
        let operations =
            key.extents.iter().map(|&e| e as f64).product::<f64>() * key.batch.0 as f64;
        if operations < LARGE || algorithms.len() < 2 {
            return Ok(call.plan);
        }
        // SAFETY: the library is open.
        let version = unsafe { sys::cublasLtGetVersion() };
        let entry = format!("cublaslt {version} on {}\n{key:?}", self.device);
        let disk = self.disk.get_or_init(DiskCache::from_env).as_ref();
        let known = disk.and_then(|disk| disk.get(entry.as_bytes()));
        // What is kept is which of the library's answers it was: those are the same every time.
        let same =
            |(algorithm, _): &&Algorithm| known.as_deref() == Some(bytes_of(algorithm).as_slice());
        if let Some(&(algorithm, bytes)) = algorithms.iter().find(same) {
            let mut plan = call.plan;
            (plan.algorithm, plan.workspace) = (algorithm, bytes);
            return Ok(plan);
        }
        // What is timed writes the result's memory, which what comes before may still need.
        (site.settle)();
        let plan = call.fastest(&algorithms, site.workspace)?;
        if let Some(disk) = disk {
            disk.put(entry.as_bytes(), &bytes_of(&plan.algorithm));
        }
        Ok(plan)
    }
}

/// An algorithm's bits.
fn bytes_of(algorithm: &sys::cublasLtMatmulAlgo_t) -> Vec<u8> {
    algorithm.data.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A product that is about to run for the first time.
struct Call {
    handle: sys::cublasLtHandle_t,
    plan: Plan,
    starts: [u64; 3],
    tail: Option<Tail>,
    stream: CUstream,
}

impl Call {
    /// The plan with the algorithm that is fastest here.
    fn fastest(
        mut self,
        algorithms: &[Algorithm],
        workspace: &dyn Fn(usize) -> Result<u64, Fault>,
    ) -> Result<Plan, Fault> {
        let work = workspace(algorithms.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0))?;
        // All of them in turn, several times: the device's clock changes meanwhile.
        let mut times = vec![f32::INFINITY; algorithms.len()];
        for round in 0..ROUNDS {
            for (best, &(algorithm, bytes)) in times.iter_mut().zip(algorithms) {
                (self.plan.algorithm, self.plan.workspace) = (algorithm, bytes);
                let time = self.milliseconds(work).unwrap_or(f32::INFINITY);
                // The first warms up.
                *best = if round == 0 { f32::INFINITY } else { best.min(time) };
            }
        }
        let timed = times.iter().zip(algorithms);
        let fastest = timed.min_by(|a, b| a.0.total_cmp(b.0)).map_or(algorithms[0], |(_, a)| *a);
        (self.plan.algorithm, self.plan.workspace) = fastest;
        Ok(self.plan)
    }

    /// How long the product takes with the plan's algorithm. The result is written again in the end.
    fn milliseconds(&self, work: u64) -> Option<f32> {
        let mut events = [null_mut(); 2];
        // SAFETY: the events are made here, used on a stream that exists, and destroyed; the operands are
        // those that the product is about to be computed from and to.
        unsafe {
            for event in &mut events {
                let made = driver::cuEventCreate(event, 0);
                if made != CUresult::CUDA_SUCCESS {
                    return None;
                }
            }
            driver::cuEventRecord(events[0], self.stream);
            let tail = self.tail.as_ref();
            let status = self.plan.run(self.handle, self.starts, tail, work, self.stream);
            driver::cuEventRecord(events[1], self.stream);
            let done = driver::cuEventSynchronize(events[1]);
            let mut time = 0.0;
            let timed = driver::cuEventElapsedTime_v2(&mut time, events[0], events[1]);
            for event in events {
                driver::cuEventDestroy_v2(event);
            }
            let all_right = [done, timed].iter().all(|result| *result == CUresult::CUDA_SUCCESS);
            (status == Status::CUBLAS_STATUS_SUCCESS && all_right).then_some(time)
        }
    }
}

fn open() -> Result<Handle, Fault> {
    library::open(Part::MatrixProducts).map_err(FaultKind::Unsupported)?;
    let mut handle = null_mut();
    // SAFETY: the library is open; the place is there to be written.
    check(unsafe { sys::cublasLtCreate(&mut handle) }, "opening cuBLASLt")?;
    Ok(Handle(handle))
}

fn check(status: Status, what: &str) -> Result<(), Fault> {
    match status {
        Status::CUBLAS_STATUS_SUCCESS => Ok(()),
        status => Err(FaultKind::Unsupported(format!("{what}: {status:?}")).into()),
    }
}

/// An algorithm and the workspace it needs.
type Algorithm = (sys::cublasLtMatmulAlgo_t, usize);

/// How numbers of a dtype are multiplied, scaled and stored. `None` if the library does not do that.
fn types((dtype, tf32): (DType, bool)) -> Option<(Compute, Kind, Kind)> {
    Some(match dtype {
        DType::F32 if tf32 => {
            (Compute::CUBLAS_COMPUTE_32F_FAST_TF32, Kind::CUDA_R_32F, Kind::CUDA_R_32F)
        }
        DType::F16 => (Compute::CUBLAS_COMPUTE_32F, Kind::CUDA_R_32F, Kind::CUDA_R_16F),
        DType::BF16 => (Compute::CUBLAS_COMPUTE_32F, Kind::CUDA_R_32F, Kind::CUDA_R_16BF),
        DType::F32 => (Compute::CUBLAS_COMPUTE_32F, Kind::CUDA_R_32F, Kind::CUDA_R_32F),
        DType::F64 => (Compute::CUBLAS_COMPUTE_64F, Kind::CUDA_R_64F, Kind::CUDA_R_64F),
        DType::C64 => (Compute::CUBLAS_COMPUTE_32F, Kind::CUDA_C_32F, Kind::CUDA_C_32F),
        DType::C128 => (Compute::CUBLAS_COMPUTE_64F, Kind::CUDA_C_64F, Kind::CUDA_C_64F),
        _ => return None,
    })
}

/// Describes a product: which operands are turned, and what follows. It is the caller's to destroy.
fn describe(
    numbers: (DType, bool),
    turned: [bool; 2],
    tail: Option<TailKind>,
    bias: Option<u64>,
) -> Result<Option<sys::cublasLtMatmulDesc_t>, Fault> {
    let Some((compute, scale, _)) = types(numbers) else { return Ok(None) };
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

/// Describes a product and asks for the best ways to compute it, the first of which is the plan's. `None` if
/// there is none.
fn plan(
    handle: sys::cublasLtHandle_t,
    key: &Key,
    tail: Option<&Tail>,
) -> Result<Option<(Plan, Vec<Algorithm>)>, Fault> {
    let numbers = (key.dtype, key.tf32);
    let Some((_, _, kind)) = types(numbers) else { return Ok(None) };
    let [m, n, k] = key.extents;
    let [a, b, c] = key.layouts;
    let turned = [b.turned, a.turned];
    let bias = tail.and_then(|tail| tail.bias);
    let Some(product) = describe(numbers, turned, key.tail, bias)? else { return Ok(None) };
    let residual = key.tail.and_then(|tail| tail.residual);
    // SAFETY: every place written to exists and has the type that the attribute has.
    unsafe {
        let mut plan = Plan {
            dtype: key.dtype,
            tf32: key.tf32,
            turned,
            tail: key.tail,
            product,
            matrices: [null_mut(); 4],
            algorithm: std::mem::zeroed(),
            workspace: 0,
        };
        let added = residual.map_or(c, |(leading, _)| Layout { turned: false, leading });
        let operands = [(b, k, n, 1), (a, m, k, 0), (c, m, n, 2), (added, m, n, 2)];
        for (position, (layout, rows, columns, batch)) in operands.into_iter().enumerate() {
            // With rows next to each other, the library sees the transposed matrix.
            let (rows, columns) = if layout.turned { (rows, columns) } else { (columns, rows) };
            let matrix = &mut plan.matrices[position];
            let made = sys::cublasLtMatrixLayoutCreate(
                matrix,
                kind,
                rows as u64,
                columns as u64,
                layout.leading as i64,
            );
            check(made, "a matrix")?;
            if key.batch.0 > 1 {
                let (count, stride) = (key.batch.0 as i32, key.batch.1[batch] as i64);
                check(
                    sys::cublasLtMatrixLayoutSetAttribute(
                        *matrix,
                        LayoutAttribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                        (&raw const count).cast(),
                        size_of::<i32>(),
                    ),
                    "a batch",
                )?;
                check(
                    sys::cublasLtMatrixLayoutSetAttribute(
                        *matrix,
                        LayoutAttribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                        (&raw const stride).cast(),
                        size_of::<i64>(),
                    ),
                    "a batch",
                )?;
            }
        }
        let mut preference = null_mut();
        check(sys::cublasLtMatmulPreferenceCreate(&mut preference), "a preference")?;
        let set = |attribute: Preference, value: *const c_void, bytes: usize| {
            sys::cublasLtMatmulPreferenceSetAttribute(preference, attribute, value, bytes)
        };
        let workspace = WORKSPACE;
        set(
            Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
            (&raw const workspace).cast(),
            size_of::<usize>(),
        );
        let aligned = [
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignments[1]),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignments[0]),
            (
                Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                residual.map_or(key.alignments[2], |(_, alignment)| alignment),
            ),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignments[2]),
        ];
        for (attribute, alignment) in aligned {
            set(attribute, (&raw const alignment).cast(), size_of::<u32>());
        }
        let mut found: [sys::cublasLtMatmulHeuristicResult_t; ALGORITHMS] = std::mem::zeroed();
        let mut count = 0;
        let status = sys::cublasLtMatmulAlgoGetHeuristic(
            handle,
            plan.product,
            plan.matrices[0],
            plan.matrices[1],
            plan.matrices[3],
            plan.matrices[2],
            preference,
            ALGORITHMS as i32,
            found.as_mut_ptr(),
            &mut count,
        );
        sys::cublasLtMatmulPreferenceDestroy(preference);
        let found = found.iter().take(count.max(0) as usize);
        let usable = found.filter(|found| found.state == Status::CUBLAS_STATUS_SUCCESS);
        let algorithms: Vec<Algorithm> =
            usable.map(|found| (found.algo, found.workspaceSize)).collect();
        match algorithms.first() {
            Some(&(algorithm, workspace)) if status == Status::CUBLAS_STATUS_SUCCESS => {
                (plan.algorithm, plan.workspace) = (algorithm, workspace);
                Ok(Some((plan, algorithms)))
            }
            _ => Ok(None),
        }
    }
}
