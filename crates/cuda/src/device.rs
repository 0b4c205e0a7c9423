//! A GPU as a [`Backend`].

use crate::background::Awaited;
use crate::choose::Described;
use crate::codegen::{self, Variant};
use crate::compile::Compiler;
use crate::driver::{self, Context, Function};
use crate::event::{Events, Point};
use crate::gemm::{Cublaslt, epilogue, fused_epilogue, transpose};
use crate::library::{self, Part};
use crate::memory::{self, Staging};
use crate::options::Options;
use crate::stream::{CopyThreads, CudaStream, Waiters};
use crate::{gemm, routine};
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUresult};
use inflight_backend::{
    Backend, Capabilities, Compiled, DiskCache, Event, Fault, FaultKind, Pool, Priority, Stream,
};
use inflight_ir::kernel::{InPlacePair, Kernel, in_place_pairs};
use inflight_ir::plan::{GemmStep, LaunchStep, Plan, Step};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// How many GPUs there are. The error says what was looked for.
pub fn count() -> Result<usize, String> {
    driver::count()
}

/// A GPU.
pub struct CudaBackend {
    capabilities: Capabilities,
    shared: Arc<Shared>,
}

/// The architecture whose matrix units a kernel of our own uses.
const HOPPER: (i32, i32) = (9, 0);

/// The values that a timeline will reach, ascending, and where.
type Points = VecDeque<(u64, Arc<Point>)>;

/// What a GPU's streams share.
pub struct Shared {
    pub context: Arc<Context>,
    pub pool: Arc<Pool>,
    pub staging: Arc<Staging>,
    pub events: Arc<Events>,
    pub compiler: Compiler,
    pub cublaslt: Cublaslt,
    pub(crate) routines: crate::routine::Cache,
    pub processors: usize,
    /// Whether groups of four warps can multiply, as on Hopper, and so kernels can take in products
    /// ([`codegen::Mapping::Product`]).
    pub has_groups: bool,
    /// Whether numbers of `f32` may be rounded before they are multiplied.
    pub rounds_products: bool,
    /// The kernel that takes a product in and stores it.
    pub stored: CudaKernel,
    /// Why the device does not answer any more, if so.
    pub lost: OnceLock<Fault>,
    /// For each timeline, the points at which streams of this device will signal its values.
    signals: Mutex<FxHashMap<usize, Points>>,
    /// Threads that copy to the device.
    pub(crate) crew: Arc<CopyThreads>,
    /// Streams that wait until such a point is known.
    pub(crate) waiters: Waiters,
    functions: Mutex<FxHashMap<String, AwaitedFunction>>,
}

/// A kernel that is being compiled and loaded, or is there.
pub type AwaitedFunction = Arc<Awaited<Arc<Function>>>;

impl CudaBackend {
    /// The GPU of this number.
    ///
    /// # Errors
    /// If there is no driver, no such GPU, or no NVRTC; the error says what was looked for.
    pub fn new(ordinal: usize, options: Options) -> Result<Arc<CudaBackend>, Fault> {
        let missing = |message: String| Fault::from(FaultKind::Missing(message));
        let count = driver::count().map_err(|message| missing(format!("CUDA: {message}")))?;
        if ordinal >= count {
            let message = format!(
                "CUDA device {ordinal} was asked for, but there are {count}; `inflight devices` lists them, and \
                 CUDA_VISIBLE_DEVICES may hide some"
            );
            return Err(missing(message));
        }
        // While the context is made, which takes a tenth of a second and needs nothing of the loader's. What becomes
        // of it is asked for below, and at the first product.
        for part in [Part::Compiler, Part::MatrixProducts] {
            Awaited::start(move || library::open(part).map_err(missing));
        }
        let context = Context::new(ordinal)?;
        let cublaslt = Cublaslt::new(options, &context);
        // Most programs have products, and the library needs a tenth of a second before its first answer.
        cublaslt.handle();
        let major = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let processors =
            context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).max(1) as usize;
        let target = match (major, minor) {
            // With the instructions that no other architecture has.
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
            repeats: false,
            arg_reductions: true,
            // Products of small matrices of either half came with this generation.
            implicit_gemm: major >= 8,
            // Several for each block that there is room for, so that few of them are idle at the end.
            reduction_splits: (processors * 32).next_power_of_two() / 2,
            // Many threads share a sum.
            max_sum_chain: None,
        };
        let has_groups = (major, minor) == HOPPER;
        let shared = Shared {
            pool: memory::pool(&context),
            staging: Staging::new(&context),
            events: Events::new(&context),
            compiler,
            cublaslt,
            routines: Default::default(),
            processors,
            has_groups,
            rounds_products: options.tf32,
            stored: CudaKernel::new(&fused_epilogue::store_kernel()),
            lost: OnceLock::new(),
            signals: Mutex::default(),
            crew: Arc::default(),
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

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        Ok(Arc::new(CudaKernel::new(kernel)))
    }

    fn precompile(&self, plan: &Plan, step: &Step, kernels: &[Result<Compiled, Fault>]) {
        let launches = match step {
            // The library does it: there is no launch.
            Step::Gemm(step) if epilogue::is_library_epilogue(step) && !self.packs(step) => {
                SmallVec::new()
            }
            Step::Gemm(step) if self.takes_in(plan, step, kernels) => SmallVec::new(),
            step => step.launches(),
        };
        for (launch, compiled) in launches.iter().zip(kernels) {
            let Ok(compiled) = compiled else { continue };
            let Some(kernel) = compiled.downcast_ref::<CudaKernel>() else { continue };
            let buffers = anticipated(plan, launch);
            let processors = self.shared.processors;
            if let Ok(Some(choice)) = kernel.described.choose(&launch.shape, &buffers, processors) {
                kernel.variant(&self.shared, choice.variant);
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
        let missing = |reason| format!("most products are plain kernels, which are slow: {reason}");
        vec![("cuBLASLt", gemm::library_version().map_err(missing))]
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.shared.pool
    }
}

impl CudaBackend {
    /// Whether the operands of a step's product are packed.
    fn packs(&self, step: &GemmStep) -> bool {
        let lie = self.shared.lie(fused_epilogue::GemmProblem::of_step(step));
        lie.is_some_and(|lie| lie.packing.is_some())
    }

    /// Begins to make the kernel that takes a product in. Says whether there is one.
    fn takes_in(&self, plan: &Plan, step: &GemmStep, kernels: &[Result<Compiled, Fault>]) -> bool {
        let shared = &self.shared;
        let Some(lie) = shared.lie(fused_epilogue::GemmProblem::of_step(step)) else {
            return false;
        };
        if let Some(pack) = lie.packing {
            pack.split.function(shared);
        }
        if lie.transpose_b {
            shared.function(&transpose::TEXT);
        }
        let Some(epilogue) = &step.epilogue else {
            if lie.prefers_own_kernel(step.k) {
                let sides = [step.m, step.n];
                let shape =
                    fused_epilogue::store_launch_shape(sides, step.c.row_stride, step.c.offset);
                let (stored, buffers) = (&shared.stored, [(ALIGNED, step.m * step.n * 4); 2]);
                let (described, processors) = (&stored.described, shared.processors);
                let chosen =
                    fused_epilogue::choose(described, &shape, 0, sides, lie, &buffers, processors);
                if let Some((choice, _)) = chosen {
                    stored.variant(shared, choice.variant);
                }
            }
            return false;
        };
        let Some(Ok(compiled)) = kernels.first() else { return false };
        let Some(kernel) = compiled.downcast_ref::<CudaKernel>() else { return false };
        let (launch, sides) = (&epilogue.launch, [step.m, step.n]);
        let buffers = anticipated(plan, launch);
        let (described, product) = (&kernel.described, epilogue.product);
        let (shape, processors) = (&launch.shape, shared.processors);
        match fused_epilogue::choose(described, shape, product, sides, lie, &buffers, processors) {
            Some((choice, _)) => drop(kernel.variant(shared, choice.variant)),
            None => return false,
        }
        true
    }
}

/// The buffers of a launch that has not been made yet, as far as a choice depends on them.
fn anticipated(plan: &Plan, launch: &LaunchStep) -> SmallVec<[(u64, usize); 8]> {
    let buffers = launch.buffers.iter().map(|&id| plan.buffers[id as usize]);
    buffers.map(|buffer| (ALIGNED, buffer.elements * buffer.dtype.size())).collect()
}

/// An address like those of the pool's blocks, as far as alignment goes.
const ALIGNED: u64 = 256;

/// A kernel of this backend. How it is best run depends on the launch, so each variant is compiled when a
/// launch first needs it.
pub struct CudaKernel {
    pub described: Arc<Described>,
    /// Which operands' memory results may have.
    pub reuses: Vec<InPlacePair>,
    variants: Mutex<FxHashMap<Variant, AwaitedFunction>>,
}

/// Kernels of the backend's own beyond this many are forgotten: comparators are as many as programs make up.
const MOST_FUNCTIONS: usize = 4096;

impl CudaKernel {
    fn new(kernel: &Kernel) -> CudaKernel {
        let expanded = codegen::expanded(kernel);
        let mut reuses = in_place_pairs(kernel);
        reuses.retain(|reuse| !codegen::loads_after_store(&expanded, reuse.read, reuse.written));
        CudaKernel {
            described: Arc::new(Described::new(expanded)),
            reuses,
            variants: Mutex::default(),
        }
    }

    /// The machine code of a variant, which is made in the background if nobody has asked for it before.
    pub fn variant(&self, shared: &Arc<Shared>, variant: Variant) -> AwaitedFunction {
        let mut variants = self.variants.lock();
        let start = || {
            let (shared, described) = (shared.clone(), self.described.clone());
            Awaited::start(move || shared.load(&codegen::source(&described.kernel, variant)))
        };
        if variants.get(&variant).is_some_and(|known| known.was_short()) {
            variants.remove(&variant);
        }
        variants.entry(variant).or_insert_with(start).clone()
    }
}

impl Shared {
    fn load(&self, source: &str) -> Result<Arc<Function>, Fault> {
        let mut code = self.compiler.compile(source)?;
        let load = |code: &[u8]| {
            let shared_bytes = codegen::shared_bytes(source);
            // SAFETY: where a text says so, every thread of its kernel waits first.
            unsafe { Function::load(&self.context, code, codegen::waits(source), shared_bytes) }
        };
        let mut loaded = load(&code);
        // What is on disk may be of no use to this driver.
        let no_code = [CUresult::CUDA_ERROR_INVALID_IMAGE, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU];
        if loaded.as_ref().is_err_and(|error| no_code.contains(error)) {
            code = self.compiler.compile_anew(source)?;
            loaded = load(&code);
        }
        loaded.map(Arc::new).map_err(|error| match error {
            // What the pool keeps can be given back.
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let (stats, requested) = (self.pool.stats(), code.len());
                let limit = stats.limit.unwrap_or(self.context.memory());
                FaultKind::OutOfMemory { requested, in_use: stats.in_use, limit }.into()
            }
            error => driver::fault_of(error, "loading a kernel"),
        })
    }

    /// A kernel of the backend's own, by its text, made in the background if nobody has asked for it before.
    pub fn function(self: &Arc<Shared>, source: &str) -> AwaitedFunction {
        let mut functions = self.functions.lock();
        if let Some(known) = functions.get(source).filter(|known| !known.was_short()) {
            return known.clone();
        }
        if functions.len() >= MOST_FUNCTIONS {
            functions.clear();
        }
        let (shared, text) = (self.clone(), source.to_owned());
        let function = Awaited::start(move || shared.load(&text));
        functions.insert(source.to_owned(), function.clone());
        function
    }

    /// How a kernel takes a product of these extents in, if one does.
    pub fn lie(
        &self,
        extents: Option<fused_epilogue::GemmProblem>,
    ) -> Option<fused_epilogue::GemmConfig> {
        let extents = extents.filter(|_| self.has_groups)?;
        match self.rounds_products {
            true => extents.tf32_config(self.processors),
            false => extents.bf16x3_config(self.processors),
        }
    }

    /// Notes where a stream signals an event.
    pub fn announce(&self, event: &Event, point: &Arc<Point>) {
        let mut signals = self.signals.lock();
        let points = signals.entry(event.timeline_id()).or_default();
        points.push_back((event.value(), point.clone()));
        drop(signals);
        self.waiters.announced(event);
    }

    /// Forgets an event that is reached.
    pub fn withdraw(&self, event: &Event) {
        let mut signals = self.signals.lock();
        if let Some(points) = signals.get_mut(&event.timeline_id()) {
            while points.front().is_some_and(|(value, _)| *value <= event.value()) {
                points.pop_front();
            }
            if points.is_empty() {
                signals.remove(&event.timeline_id());
            }
        }
    }

    /// The point at which a stream of this device reaches an event, if one is known.
    pub fn point_of(&self, event: &Event) -> Option<Arc<Point>> {
        let signals = self.signals.lock();
        let points = signals.get(&event.timeline_id())?;
        points.iter().find(|(value, _)| *value >= event.value()).map(|(_, point)| point.clone())
    }
}
