//! Products by cuBLASLt.

use super::autotune::Trial;
use super::description::{Algorithm, Key, Numbers, Plan, Tail, alignment, check};
use super::{Batches, Layout};
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

/// Products by cuBLASLt, each shape of which is looked up once.
pub struct Products {
    pub(super) options: Options,
    context: Arc<Context>,
    /// Where choices are kept for processes that come later.
    disk: LazyLock<Option<DiskCache>>,
    handle: OnceLock<Arc<BackgroundTask<Arc<Handle>>>>,
    plans: Mutex<FxHashMap<Key, AwaitedPlan>>,
}

/// A plan that is being chosen, or is chosen; `None` if the library has no way to compute the product.
type AwaitedPlan = Arc<BackgroundTask<Option<Arc<Plan>>>>;

/// Plans beyond this many are forgotten.
const MOST_PLANS: usize = 4096;

/// The library, opened.
pub struct Handle {
    raw: sys::cublasLtHandle_t,
    /// What it has is of this one.
    context: Arc<Context>,
}

// SAFETY: the library's handle may be used by several threads at once.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    fn open(context: &Arc<Context>) -> Result<Arc<Handle>, Fault> {
        library::open(CudaLibrary::CublasLt).map_err(FaultKind::Unsupported)?;
        let _entered = context.enter();
        let mut raw = null_mut();
        // SAFETY: the library is open; the place is there to be written.
        check(unsafe { sys::cublasLtCreate(&mut raw) }, "opening cuBLASLt")?;
        let handle = Handle { raw, context: context.clone() };
        // The first question of all takes the library a tenth of a second. So it is asked here; the answer is not
        // used.
        let square = Layout { turned: false, leading: 64 };
        let key = Key {
            numbers: Numbers { dtype: DType::F32, tf32: false, f16_accumulate: false },
            extents: [64; 3],
            layouts: [square; 3],
            batch: (1, [0; 3]),
            alignments: [256; 3],
            tail: None,
        };
        Plan::new(handle.raw, &key, None)?;
        Ok(Arc::new(handle))
    }

    /// The library's own handle, valid as long as this is.
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

/// Where a product will run.
pub struct Site<'a> {
    pub shared: &'a Arc<Shared>,
    /// Where algorithms are timed. It is held back meanwhile.
    pub stream: CUstream,
    /// Puts all that comes before the product on the stream.
    pub settle: &'a mut dyn FnMut(),
    /// Memory for the product alone.
    pub workspace: &'a dyn Fn(usize) -> Result<u64, Fault>,
}

impl Products {
    /// Products on a device.
    pub fn new(options: Options, context: &Arc<Context>) -> Products {
        Products {
            options,
            context: context.clone(),
            disk: LazyLock::new(DiskCache::from_env),
            handle: OnceLock::new(),
            plans: Mutex::default(),
        }
    }

    /// The library, which is opened in the background if nobody has asked for it before.
    pub fn opening(&self) -> &Arc<BackgroundTask<Arc<Handle>>> {
        self.handle.get_or_init(|| {
            let context = self.context.clone();
            BackgroundTask::start(move || Handle::open(&context))
        })
    }

    /// A product that is ready to run. `None` if the library has no way to compute it.
    pub(super) fn prepare(
        &self,
        site: &mut Site<'_>,
        contract: &GemmLaunch,
        addresses: [u64; 3],
        layouts: [Layout; 3],
        tail: Option<&Tail>,
    ) -> Result<Option<(Product, Vec<u64>)>, EnqueueError> {
        let handle = match self.opening().poll() {
            Ok(handle) => handle,
            // Without the library, products are kernels of our own.
            Err(EnqueueError::Failed(fault)) if !fault.is_lost() && !fault.is_short() => {
                return Ok(None);
            }
            Err(stop) => return Err(stop),
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
        let numbers = Numbers {
            dtype: contract.dtype,
            tf32: self.options.tf32 && contract.dtype == DType::F32,
            f16_accumulate: self.options.f16_accumulate && contract.dtype == DType::F16,
        };
        let key = Key {
            numbers,
            extents: [contract.m, contract.n, contract.k],
            layouts,
            batch: batches.inner,
            alignments,
            tail: tail.map(Tail::kind),
        };
        let Some(plan) = self.plan(site, &handle, key, [starts[0], starts[1]], tail)? else {
            return Ok(None);
        };
        let work = match plan.algorithm.workspace {
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
        Ok(Some((Product { handle, plan }, words)))
    }

    /// The plan of a product. `None` if the library has no way to compute it.
    fn plan(
        &self,
        site: &mut Site<'_>,
        handle: &Arc<Handle>,
        key: Key,
        operands: [u64; 2],
        tail: Option<&Tail>,
    ) -> Result<Option<Arc<Plan>>, EnqueueError> {
        let known = self.plans.lock().get(&key).cloned();
        if let Some(known) = known {
            return known.poll();
        }
        let bias = tail.and_then(|tail| tail.bias);
        let chosen = match Plan::new(handle.raw(), &key, bias)? {
            None => BackgroundTask::completed(None),
            Some((plan, _)) if !key.is_large() => BackgroundTask::completed(Some(Arc::new(plan))),
            Some(found) => self.choose(site, handle, &key, found, operands, tail),
        };
        let mut plans = self.plans.lock();
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        // Of two streams that come at once, one has chosen for nothing. It waits for its own trial all the same, which
        // uses its memory and its stream, and then takes the other's choice.
        plans.entry(key).or_insert_with(|| chosen.clone());
        drop(plans);
        chosen.poll()
    }

    /// The plan with the algorithm that is fastest on this device, as a process before has found out, or as is found
    /// out in the background now.
    fn choose(
        &self,
        site: &mut Site<'_>,
        handle: &Arc<Handle>,
        key: &Key,
        (mut plan, algorithms): (Plan, Vec<Algorithm>),
        operands: [u64; 2],
        tail: Option<&Tail>,
    ) -> AwaitedPlan {
        // SAFETY: the library is open.
        let version = unsafe { sys::cublasLtGetVersion() };
        let entry = format!("cublaslt {version} on {}\n{key:?}", self.context.name());
        let known = self.disk.as_ref().and_then(|disk| disk.get(entry.as_bytes()));
        // What is kept is which of the library's answers it was: those are the same every time.
        let same = |algorithm: &&Algorithm| known.as_ref() == Some(&algorithm.bytes());
        if let Some(&algorithm) = algorithms.iter().find(same) {
            plan.algorithm = algorithm;
            return BackgroundTask::completed(Some(Arc::new(plan)));
        }
        // The operands are what comes before the product writes.
        (site.settle)();
        let (tail, shared) = (tail.copied(), site.shared.clone());
        let found = (plan, algorithms);
        match Trial::new(&shared, handle, key, found, operands, tail, site.stream) {
            Err(plan) => BackgroundTask::completed(Some(Arc::from(plan))),
            Ok(trial) => BackgroundTask::start(move || {
                let (plan, is_found) = trial.fastest(&shared);
                if let Some(disk) = shared.products.disk.as_ref().filter(|_| is_found) {
                    disk.put(entry.as_bytes(), &plan.algorithm.bytes());
                }
                Ok(Some(Arc::new(plan)))
            }),
        }
    }
}

/// A product of the library, less its addresses and factors.
#[derive(Clone)]
pub struct Product {
    handle: Arc<Handle>,
    plan: Arc<Plan>,
}

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
            unsafe { self.plan.run(self.handle.raw(), at, tail.as_ref(), words[0], stream)? };
        }
        Ok(())
    }
}

/// The version of the library. The error says what was looked for.
pub fn version() -> Result<String, String> {
    library::open(CudaLibrary::CublasLt)?;
    // SAFETY: the library is open.
    let version = unsafe { sys::cublasLtGetVersion() };
    Ok(format!("{}.{}.{}", version / 10000, version / 100 % 100, version % 100))
}
