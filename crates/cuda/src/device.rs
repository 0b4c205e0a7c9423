//! The CUDA [`Backend`]: device discovery, capabilities, precompilation, kernel variants, and the state that a device's
//! streams share.

use crate::background::BackgroundTask;
use crate::codegen::{self, Variant};
use crate::compile::Compiler;
use crate::driver::{self, Context, Function};
use crate::event::{EventPool, RecordedEvent};
use crate::gemm::{Cublaslt, epilogue, fused_epilogue, transpose};
use crate::launch_config::AnalyzedKernel;
use crate::library::{self, CudaLibrary};
use crate::memory::{self, StagingPool};
use crate::options::Options;
use crate::peak::peak_rates;
use crate::stream::{CopyThreads, CudaStream, Waiters};
use crate::{gemm, routine};
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUresult};
use inflight_backend::{
    Backend, Capabilities, Compiled, DiskCache, Event, Fault, FaultKind, PeakRates, Pool, Priority,
    Stream,
};
use inflight_ir::kernel::{InPlacePair, Kernel, in_place_pairs};
use inflight_ir::plan::{GemmStep, LaunchStep, Plan, Step};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// The number of CUDA devices.
///
/// # Errors
/// If there is no usable driver; the error lists what was tried.
pub fn count() -> Result<usize, String> {
    driver::count()
}

/// A CUDA device.
pub struct CudaBackend {
    capabilities: Capabilities,
    shared: Arc<Shared>,
}

/// The compute capability of Hopper, whose wgmma and TMA our own GEMM kernels need.
const HOPPER: (i32, i32) = (9, 0);

/// The values that a timeline will reach, ascending, and the recorded events that they wait for.
type Signals = VecDeque<(u64, Arc<RecordedEvent>)>;

/// The state that a device's streams share.
pub struct Shared {
    pub context: Arc<Context>,
    pub pool: Arc<Pool>,
    pub staging: Arc<StagingPool>,
    pub events: Arc<EventPool>,
    pub compiler: Compiler,
    pub cublaslt: Cublaslt,
    pub(crate) routines: crate::routine::Cache,
    pub processors: usize,
    /// Whether the device has wgmma and TMA (Hopper), which GEMM kernels with fused epilogues need
    /// ([`codegen::Mapping::FusedGemm`]).
    pub has_wgmma: bool,
    /// Whether GEMMs of `f32` may round their operands to TF32.
    pub uses_tf32: bool,
    /// The epilogue that only stores the GEMM's result.
    pub store_epilogue: CudaKernel,
    /// The fault that made the device unusable, if any.
    pub lost: OnceLock<Fault>,
    /// For each timeline, the recorded events after which streams of this device signal its values.
    signals: Mutex<FxHashMap<usize, Signals>>,
    /// Threads that copy uploads into staging buffers.
    pub(crate) copy_threads: Arc<CopyThreads>,
    /// Streams that wait until an event's signal is recorded.
    pub(crate) waiters: Waiters,
    functions: Mutex<FxHashMap<String, FunctionTask>>,
}

/// A background task that compiles and loads a kernel.
pub type FunctionTask = Arc<BackgroundTask<Arc<Function>>>;

impl CudaBackend {
    /// Opens the device with this ordinal.
    ///
    /// # Errors
    /// If there is no driver, no such device, or no NVRTC; the error lists what was tried.
    pub fn new(ordinal: usize, options: Options) -> Result<Arc<CudaBackend>, Fault> {
        let missing = |message: String| Fault::from(FaultKind::Missing(message));
        let count = driver::count().map_err(|message| missing(format!("CUDA: {message}")))?;
        if ordinal >= count {
            let message = format!(
                "CUDA device {ordinal} was requested, but there are {count}; `inflight devices` lists them, and \
                 CUDA_VISIBLE_DEVICES may hide some"
            );
            return Err(missing(message));
        }
        // Load libraries concurrently with the creation of the context, which takes a tenth of a second and does not
        // need the loader. Errors show below, and at the first GEMM.
        for library in [CudaLibrary::Nvrtc, CudaLibrary::CublasLt] {
            BackgroundTask::start(move || library::open(library).map_err(missing));
        }
        let context = Context::new(ordinal)?;
        let cublaslt = Cublaslt::new(options, &context);
        // Most programs have GEMMs, and cuBLASLt takes a tenth of a second to initialize.
        cublaslt.handle();
        let major = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let processors =
            context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).max(1) as usize;
        let target = match (major, minor) {
            // The `a` target has the architecture-specific instructions: wgmma, setmaxnreg.
            HOPPER => format!("sm_{major}{minor}a"),
            _ => format!("sm_{major}{minor}"),
        };
        let compiler = Compiler::new(target.clone(), DiskCache::from_env);
        let (version, release) = compiler.version()?;
        let capabilities = Capabilities {
            name: context.name(),
            target: format!("{target}, NVRTC {version}.{release}"),
            parallelism: processors,
            vector_bytes: 16,
            memory_bytes: context.memory() as u64,
            host_visible: false,
            prologues: false,
            device_loops: false,
            arg_reductions: true,
            // `mma` of both 16-bit float dtypes came with Ampere.
            implicit_gemm: major >= 8,
            // Several waves of blocks at full occupancy, so that few SMs are idle in the last wave.
            reduction_splits: (processors * 32).next_power_of_two() / 2,
            // Sums are spread over many threads, so that no chain of additions is long.
            max_sum_chain: None,
        };
        let has_wgmma = (major, minor) == HOPPER;
        let shared = Shared {
            pool: memory::pool(&context),
            staging: StagingPool::new(&context),
            events: EventPool::new(&context),
            compiler,
            cublaslt,
            routines: Default::default(),
            processors,
            has_wgmma,
            uses_tf32: options.tf32,
            store_epilogue: CudaKernel::new(&fused_epilogue::store_kernel()),
            lost: OnceLock::new(),
            signals: Mutex::default(),
            copy_threads: Arc::default(),
            waiters: Waiters::default(),
            functions: Mutex::default(),
            context,
        };
        Ok(Arc::new(CudaBackend { capabilities, shared: Arc::new(shared) }))
    }
}

impl Backend for CudaBackend {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn peak_rates(&self) -> Option<PeakRates> {
        Some(peak_rates(&self.shared.context, self.shared.uses_tf32))
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        Ok(Arc::new(CudaKernel::new(kernel)))
    }

    fn precompile(&self, plan: &Plan, step: &Step, kernels: &[Result<Compiled, Fault>]) {
        let launches = match step {
            // cuBLASLt computes the epilogue: there is no launch.
            Step::Gemm(step)
                if epilogue::is_library_epilogue(step) && !self.splits_operands(step) =>
            {
                SmallVec::new()
            }
            Step::Gemm(step) if self.precompile_fused(plan, step, kernels) => SmallVec::new(),
            step => step.launches(),
        };
        for (launch, compiled) in launches.iter().zip(kernels) {
            let Ok(compiled) = compiled else { continue };
            let Some(kernel) = compiled.downcast_ref::<CudaKernel>() else { continue };
            let buffers = expected_buffers(plan, launch);
            let processors = self.shared.processors;
            let config = kernel.analyzed.configure(&launch.shape, &buffers, processors);
            if let Ok(Some(config)) = config {
                kernel.variant(&self.shared, config.variant);
            }
        }
        match step {
            Step::Launch(_) => {}
            Step::Gemm(step) => gemm::precompile(&self.shared, step.dtype),
            Step::Routine(step) => routine::precompile(&self.shared, &step.routine),
        }
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        Arc::new(CudaStream::new(self.shared.clone(), priority))
    }

    fn libraries(&self) -> Vec<(&'static str, Result<String, String>)> {
        let missing = |reason| format!("GEMMs fall back to slow generic kernels: {reason}");
        vec![("cuBLASLt", gemm::library_version().map_err(missing))]
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.shared.pool
    }
}

impl CudaBackend {
    /// Whether a step's GEMM uses an operand split.
    fn splits_operands(&self, step: &GemmStep) -> bool {
        let config = self.shared.gemm_config(fused_epilogue::GemmProblem::of_step(step));
        config.is_some_and(|config| config.packing.is_some())
    }

    /// Starts to compile the GEMM kernel with the step's fused epilogue, and what it needs besides. Returns whether the
    /// epilogue can be fused.
    fn precompile_fused(
        &self,
        plan: &Plan,
        step: &GemmStep,
        kernels: &[Result<Compiled, Fault>],
    ) -> bool {
        let shared = &self.shared;
        let Some(gemm) = shared.gemm_config(fused_epilogue::GemmProblem::of_step(step)) else {
            return false;
        };
        if let Some(pack) = gemm.packing {
            pack.split.function(shared);
        }
        if gemm.transpose_b {
            shared.function(&transpose::TEXT);
        }
        let Some(epilogue) = &step.epilogue else {
            if gemm.prefers_own_kernel(step.k) {
                let sides = [step.m, step.n];
                let shape =
                    fused_epilogue::store_launch_shape(sides, step.c.row_stride, step.c.offset);
                let buffers = [(ALIGNED, step.m * step.n * 4); 2];
                let (kernel, processors) = (&shared.store_epilogue, shared.processors);
                let analyzed = &kernel.analyzed;
                let chosen =
                    fused_epilogue::choose(analyzed, &shape, 0, sides, gemm, &buffers, processors);
                if let Some((config, _)) = chosen {
                    kernel.variant(shared, config.variant);
                }
            }
            return false;
        };
        let Some(Ok(compiled)) = kernels.first() else { return false };
        let Some(kernel) = compiled.downcast_ref::<CudaKernel>() else { return false };
        let (launch, sides) = (&epilogue.launch, [step.m, step.n]);
        let buffers = expected_buffers(plan, launch);
        let (analyzed, product) = (&kernel.analyzed, epilogue.gemm_result);
        let (shape, processors) = (&launch.shape, shared.processors);
        match fused_epilogue::choose(analyzed, shape, product, sides, gemm, &buffers, processors) {
            Some((config, _)) => drop(kernel.variant(shared, config.variant)),
            None => return false,
        }
        true
    }
}

/// The buffers of a future launch, as far as its configuration depends on them: sizes, and the pool's alignment.
fn expected_buffers(plan: &Plan, launch: &LaunchStep) -> SmallVec<[(u64, usize); 8]> {
    let buffers = launch.buffers.iter().map(|&id| plan.buffers[id as usize]);
    buffers.map(|buffer| (ALIGNED, buffer.elements * buffer.dtype.size())).collect()
}

/// An address with the alignment of the pool's blocks.
const ALIGNED: u64 = 256;

/// A kernel of this backend. The best variant depends on the launch, so each variant is compiled when a launch first
/// needs it.
pub struct CudaKernel {
    pub analyzed: Arc<AnalyzedKernel>,
    /// The pairs of an operand and a result that may share memory (in-place reuse).
    pub reuses: Vec<InPlacePair>,
    variants: Mutex<FxHashMap<Variant, FunctionTask>>,
}

/// The limit of the cache of the backend's own kernels. Programs can define any number of comparators for sorting.
const MAX_FUNCTIONS: usize = 4096;

impl CudaKernel {
    fn new(kernel: &Kernel) -> CudaKernel {
        let expanded = codegen::expanded(kernel);
        let mut reuses = in_place_pairs(kernel);
        reuses.retain(|reuse| !codegen::loads_after_store(&expanded, reuse.read, reuse.written));
        CudaKernel {
            analyzed: Arc::new(AnalyzedKernel::new(expanded)),
            reuses,
            variants: Mutex::default(),
        }
    }

    /// The task that compiles and loads a variant. Starts it on first use, or if it ran out of memory before.
    pub fn variant(&self, shared: &Arc<Shared>, variant: Variant) -> FunctionTask {
        let mut variants = self.variants.lock();
        let start = || {
            let (shared, analyzed) = (shared.clone(), self.analyzed.clone());
            BackgroundTask::start(move || shared.load(&codegen::source(&analyzed.kernel, variant)))
        };
        if variants.get(&variant).is_some_and(|task| task.ran_out_of_memory()) {
            variants.remove(&variant);
        }
        variants.entry(variant).or_insert_with(start).clone()
    }
}

impl Shared {
    /// Compiles and loads a text.
    fn load(&self, source: &str) -> Result<Arc<Function>, Fault> {
        let mut code = self.compiler.compile(source)?;
        let load = |code: &[u8]| {
            let shared_bytes = codegen::shared_bytes(source);
            let waits = codegen::waits_for_dependencies(source);
            // SAFETY: if the text contains the wait, it is the first statement of the entry point, which every thread
            // executes.
            unsafe { Function::load(&self.context, code, waits, shared_bytes) }
        };
        let mut loaded = load(&code);
        // A cubin from the disk cache may be incompatible with this driver.
        let no_code = [CUresult::CUDA_ERROR_INVALID_IMAGE, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU];
        if loaded.as_ref().is_err_and(|error| no_code.contains(error)) {
            code = self.compiler.recompile(source)?;
            loaded = load(&code);
        }
        loaded.map(Arc::new).map_err(|error| match error {
            // Reported as out of memory, so that the caller can free cached blocks of the pool and retry.
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let (stats, requested) = (self.pool.stats(), code.len());
                let limit = stats.limit.unwrap_or(self.context.memory());
                FaultKind::OutOfMemory { requested, in_use: stats.in_use, limit }.into()
            }
            error => driver::fault_of(error, "loading a kernel"),
        })
    }

    /// The task that compiles and loads a kernel of the backend's own, by its text. Starts it on first use, or if it
    /// ran out of memory before.
    pub fn function(self: &Arc<Shared>, source: &str) -> FunctionTask {
        let mut functions = self.functions.lock();
        let cached = functions.get(source);
        if let Some(task) = cached.filter(|task| !task.ran_out_of_memory()) {
            return task.clone();
        }
        if functions.len() >= MAX_FUNCTIONS {
            functions.clear();
        }
        let (shared, text) = (self.clone(), source.to_owned());
        let task = BackgroundTask::start(move || shared.load(&text));
        functions.insert(source.to_owned(), task.clone());
        task
    }

    /// The configuration of our own GEMM kernel for these extents, if it is expected to beat cuBLASLt.
    pub fn gemm_config(
        &self,
        extents: Option<fused_epilogue::GemmProblem>,
    ) -> Option<fused_epilogue::GemmConfig> {
        let extents = extents.filter(|_| self.has_wgmma)?;
        match self.uses_tf32 {
            true => extents.tf32_config(self.processors),
            false => extents.bf16x3_config(self.processors),
        }
    }

    /// Records that a stream signals an event after a recorded CUDA event, so that other streams can wait for that on
    /// the device.
    pub fn record_signal(&self, event: &Event, recorded: &Arc<RecordedEvent>) {
        let mut signals = self.signals.lock();
        let of_timeline = signals.entry(event.timeline_id()).or_default();
        of_timeline.push_back((event.value(), recorded.clone()));
        drop(signals);
        self.waiters.announced(event);
    }

    /// Removes the signals of a timeline up to an event that is reached.
    pub fn forget_signal(&self, event: &Event) {
        let mut signals = self.signals.lock();
        if let Some(of_timeline) = signals.get_mut(&event.timeline_id()) {
            while of_timeline.front().is_some_and(|(value, _)| *value <= event.value()) {
                of_timeline.pop_front();
            }
            if of_timeline.is_empty() {
                signals.remove(&event.timeline_id());
            }
        }
    }

    /// The CUDA event after which a stream of this device signals an event, if one is recorded.
    pub fn recorded_event(&self, event: &Event) -> Option<Arc<RecordedEvent>> {
        let signals = self.signals.lock();
        let of_timeline = signals.get(&event.timeline_id())?;
        let signal = of_timeline.iter().find(|(value, _)| *value >= event.value());
        signal.map(|(_, recorded)| recorded.clone())
    }
}
