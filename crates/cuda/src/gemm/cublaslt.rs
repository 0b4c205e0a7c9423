//! GEMMs by cuBLASLt: the library handle, the cache of plans, and prepared GEMMs.

use super::autotune::Autotuner;
use super::descriptor::{
    Algorithm, GemmKey, GemmPlan, LibraryEpilogue, Precision, alignment, check,
};
use super::{BatchAxes, Layout};
use crate::background::{BackgroundTask, EnqueueError};
use crate::device::Shared;
use crate::driver::{Context, enter};
use crate::library::{self, CudaLibrary};
use crate::options::Options;
use cudarc::cublaslt::sys;
use cudarc::driver::sys::CUstream;
use inflight_backend::{DiskCache, Fault, FaultKind, GemmLaunch};
use inflight_ir::DType;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock, OnceLock};

/// GEMMs by cuBLASLt. Plans are cached per problem.
pub struct Cublaslt {
    pub(super) options: Options,
    context: Arc<Context>,
    /// Autotuned choices, kept on disk for later processes.
    disk: LazyLock<Option<DiskCache>>,
    handle: OnceLock<Arc<BackgroundTask<Arc<Handle>>>>,
    plans: Mutex<FxHashMap<GemmKey, AwaitedPlan>>,
}

/// A plan, possibly still being autotuned. `None` if cuBLASLt does not support the GEMM.
type AwaitedPlan = Arc<BackgroundTask<Option<Arc<GemmPlan>>>>;

/// The cache of plans is cleared at this size.
const MAX_PLANS: usize = 4096;

/// An open library handle.
pub struct Handle {
    raw: sys::cublasLtHandle_t,
    /// The context that the handle belongs to.
    context: Arc<Context>,
}

// SAFETY: cuBLASLt allows several threads to use a handle at once.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    fn open(context: &Arc<Context>) -> Result<Arc<Handle>, Fault> {
        library::open(CudaLibrary::CublasLt).map_err(FaultKind::Unsupported)?;
        let _entered = context.enter();
        let mut raw = null_mut();
        // SAFETY: the library is open, and the output location is valid.
        check(unsafe { sys::cublasLtCreate(&mut raw) }, "a cuBLASLt handle")?;
        let handle = Handle { raw, context: context.clone() };
        // The first heuristic query takes the library a tenth of a second. Make it here and discard the answer.
        let square = Layout { column_major: false, leading: 64 };
        let key = GemmKey {
            precision: Precision { dtype: DType::F32, tf32: false, f16_accumulate: false },
            extents: [64; 3],
            layouts: [square; 3],
            batch: (1, [0; 3]),
            alignments: [256; 3],
            epilogue: None,
        };
        GemmPlan::new(handle.raw, &key, None)?;
        Ok(Arc::new(handle))
    }

    /// The library's handle, valid as long as `self`.
    pub fn raw(&self) -> sys::cublasLtHandle_t {
        self.raw
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        let _entered = self.context.enter();
        // SAFETY: created once.
        unsafe { sys::cublasLtDestroy(self.raw) };
    }
}

/// The stream and the memory that a GEMM is prepared for.
pub struct PrepareContext<'a> {
    pub shared: &'a Arc<Shared>,
    /// The stream on which algorithms are timed. It is stalled meanwhile.
    pub stream: CUstream,
    /// Submits everything that comes before the GEMM.
    pub flush_batch: &'a mut dyn FnMut(),
    /// Allocates the workspace of the GEMM.
    pub workspace: &'a dyn Fn(usize) -> Result<u64, Fault>,
}

impl Cublaslt {
    /// Opens nothing yet: the first use does.
    pub fn new(options: Options, context: &Arc<Context>) -> Cublaslt {
        Cublaslt {
            options,
            context: context.clone(),
            disk: LazyLock::new(DiskCache::from_env),
            handle: OnceLock::new(),
            plans: Mutex::default(),
        }
    }

    /// The library handle, opened in the background on first use.
    pub fn handle(&self) -> &Arc<BackgroundTask<Arc<Handle>>> {
        self.handle.get_or_init(|| {
            let context = self.context.clone();
            BackgroundTask::start(move || Handle::open(&context))
        })
    }

    /// A GEMM that is ready to run. `None` if cuBLASLt does not support it.
    pub(super) fn prepare_library(
        &self,
        context: &mut PrepareContext<'_>,
        gemm: &GemmLaunch,
        addresses: [u64; 3],
        layouts: [Layout; 3],
        epilogue: Option<&LibraryEpilogue>,
    ) -> Result<Option<(LibraryGemm, Vec<u64>)>, EnqueueError> {
        let handle = match self.handle().poll() {
            Ok(handle) => handle,
            // Without the library, GEMMs run on the SIMT kernel.
            Err(EnqueueError::Failed(fault)) if !fault.is_lost() && !fault.is_out_of_memory() => {
                return Ok(None);
            }
            Err(stop) => return Err(stop),
        };
        let size = gemm.dtype.size() as i64;
        // An epilogue stores its result from the first element on.
        let result = if epilogue.is_some() { 0 } else { gemm.c.offset };
        let offsets = [gemm.a.offset, gemm.b.offset, result];
        let mut starts = addresses;
        for (start, offset) in starts.iter_mut().zip(offsets) {
            *start = start.wrapping_add_signed(offset as i64 * size);
        }
        let batch_axes = BatchAxes::new(gemm);
        let alignments = std::array::from_fn(|operand| {
            let strides =
                batch_axes.outer.iter().chain([&batch_axes.inner]).map(|(_, s)| s[operand]);
            let step = strides.fold(starts[operand], |all, s| all | (s as i64 * size) as u64);
            alignment(step)
        });
        let precision = Precision {
            dtype: gemm.dtype,
            tf32: self.options.tf32 && gemm.dtype == DType::F32,
            f16_accumulate: self.options.f16_accumulate && gemm.dtype == DType::F16,
        };
        let key = GemmKey {
            precision,
            extents: [gemm.m, gemm.n, gemm.k],
            layouts,
            batch: batch_axes.inner,
            alignments,
            epilogue: epilogue.map(LibraryEpilogue::kind),
        };
        let Some(plan) = self.find_plan(context, &handle, key, [starts[0], starts[1]], epilogue)?
        else {
            return Ok(None);
        };
        let workspace = match plan.algorithm.workspace {
            0 => 0,
            bytes => (context.workspace)(bytes)?,
        };
        let factor = |factor: f32| factor.to_bits() as u64;
        let residual = epilogue.and_then(|epilogue| epilogue.residual);
        let mut words = vec![
            workspace,
            epilogue.map_or(0, |epilogue| factor(epilogue.scale)),
            epilogue.and_then(|epilogue| epilogue.bias).unwrap_or(0),
            residual.map_or(0, |(address, _, _)| address),
            residual.map_or(0, |(_, by, _)| factor(by)),
        ];
        for offsets in batch_axes.offsets() {
            let at =
                |(start, offset): (&u64, isize)| start.wrapping_add_signed(offset as i64 * size);
            words.extend(starts.iter().zip(offsets).map(at));
        }
        Ok(Some((LibraryGemm { handle, plan }, words)))
    }

    /// The plan of a GEMM. `None` if cuBLASLt does not support it.
    fn find_plan(
        &self,
        context: &mut PrepareContext<'_>,
        handle: &Arc<Handle>,
        key: GemmKey,
        operands: [u64; 2],
        epilogue: Option<&LibraryEpilogue>,
    ) -> Result<Option<Arc<GemmPlan>>, EnqueueError> {
        let cached = self.plans.lock().get(&key).cloned();
        if let Some(cached) = cached {
            return cached.poll();
        }
        let bias = epilogue.and_then(|epilogue| epilogue.bias);
        let plan = match GemmPlan::new(handle.raw(), &key, bias)? {
            None => BackgroundTask::completed(None),
            Some((plan, _)) if !key.is_large() => BackgroundTask::completed(Some(Arc::new(plan))),
            Some(found) => self.autotune(context, handle, &key, found, operands, epilogue),
        };
        let mut plans = self.plans.lock();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        // If two streams autotune the same GEMM at once, the second choice is discarded. Its stream waits for its own
        // autotuning all the same, which uses the stream and its memory.
        plans.entry(key).or_insert_with(|| plan.clone());
        drop(plans);
        plan.poll()
    }

    /// The plan with the fastest algorithm: the one that an earlier process has found, or autotuned in the background
    /// now.
    fn autotune(
        &self,
        context: &mut PrepareContext<'_>,
        handle: &Arc<Handle>,
        key: &GemmKey,
        (mut plan, algorithms): (GemmPlan, Vec<Algorithm>),
        operands: [u64; 2],
        epilogue: Option<&LibraryEpilogue>,
    ) -> AwaitedPlan {
        // SAFETY: the library is open.
        let version = unsafe { sys::cublasLtGetVersion() };
        let entry = format!("cublaslt {version} on {}\n{key:?}", self.context.name());
        let stored = self.disk.as_ref().and_then(|disk| disk.get(entry.as_bytes()));
        // The heuristic returns the same algorithms every time, so the stored choice is one of them.
        let is_stored = |algorithm: &&Algorithm| stored.as_ref() == Some(&algorithm.bytes());
        if let Some(&algorithm) = algorithms.iter().find(is_stored) {
            plan.algorithm = algorithm;
            return BackgroundTask::completed(Some(Arc::new(plan)));
        }
        // Autotuning reads the operands, which earlier work writes.
        (context.flush_batch)();
        let (epilogue, shared) = (epilogue.copied(), context.shared.clone());
        let found = (plan, algorithms);
        match Autotuner::new(&shared, handle, key, found, operands, epilogue, context.stream) {
            Err(plan) => BackgroundTask::completed(Some(Arc::from(plan))),
            Ok(autotuner) => BackgroundTask::start(move || {
                let (plan, is_timed) = autotuner.select_fastest(&shared);
                if let Some(disk) = shared.cublaslt.disk.as_ref().filter(|_| is_timed) {
                    disk.put(entry.as_bytes(), &plan.algorithm.bytes());
                }
                Ok(Some(Arc::new(plan)))
            }),
        }
    }
}

/// A cuBLASLt GEMM without its addresses and factors.
#[derive(Clone)]
pub struct LibraryGemm {
    handle: Arc<Handle>,
    plan: Arc<GemmPlan>,
}

/// Words before the addresses of a GEMM: workspace, scale, bias, residual, and the residual's factor.
const EPILOGUE_WORDS: usize = 5;

impl LibraryGemm {
    /// Whether both differ in nothing but addresses and factors.
    pub fn has_same_plan(&self, other: &LibraryGemm) -> bool {
        Arc::ptr_eq(&self.plan, &other.plan)
    }

    /// Identifies the plan.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.plan).addr()
    }

    /// Submits the GEMM to a stream.
    ///
    /// # Safety
    /// `words` must be those that the GEMM was prepared with, or those of another GEMM with the same plan. The
    /// operands and the workspace that they name, and the library handle, must stay valid until the stream has passed
    /// the GEMM.
    pub unsafe fn run(&self, stream: CUstream, words: &[u64]) -> Result<(), Fault> {
        let factor = |word: u64| f32::from_bits(word as u32);
        let epilogue = self.plan.epilogue.map(|kind| LibraryEpilogue {
            scale: factor(words[1]),
            bias: kind.bias.then_some(words[2]),
            residual: kind.residual.map(|(leading, _)| (words[3], factor(words[4]), leading)),
            gelu: kind.gelu,
        });
        for at in words[EPILOGUE_WORDS..].chunks_exact(3) {
            let at = [at[0], at[1], at[2]];
            // SAFETY: promised by the caller.
            unsafe { self.plan.run(self.handle.raw(), at, epilogue.as_ref(), words[0], stream)? };
        }
        Ok(())
    }
}

/// The version of the library. The error names the files that were tried.
pub fn version() -> Result<String, String> {
    library::open(CudaLibrary::CublasLt)?;
    // SAFETY: the library is open.
    let version = unsafe { sys::cublasLtGetVersion() };
    Ok(format!("{}.{}.{}", version / 10000, version / 100 % 100, version % 100))
}
