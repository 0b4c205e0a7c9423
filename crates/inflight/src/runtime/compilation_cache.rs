//! Compilation cache: plans by graph structure (the plan cache), and compiled kernels by kernel text, in memory and
//! on disk (the kernel cache).

use super::dispatcher::panic_message;
use inflight_backend::{
    Backend, Capabilities, Compiled, DiskCache, Fault, FaultKind, PlannedLaunch,
};
use inflight_ir::graph::{Graph, Node, NodeId};
use inflight_ir::kernel::Kernel;
use inflight_ir::plan::{Plan, PlanTarget, Step, Work, plan_for};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use super::stats::Counters;
use super::trace::{self, Span};

/// A step's compiled kernels, in launch order.
type StepKernels = SmallVec<[Result<Compiled, Fault>; 1]>;

/// A step's launches in order; an error for a kernel that failed to compile.
pub(crate) type StepLaunches = SmallVec<[Result<Arc<PlannedLaunch>, Fault>; 1]>;

/// A plan with compiled kernels: everything that all executions share.
pub(crate) struct CompiledPlan {
    pub plan: Plan,
    /// The launches of each step.
    pub planned: Vec<StepLaunches>,
    /// Ops and bytes of each step.
    pub work: Vec<Arc<Work>>,
    /// Ops and bytes of each launch batch of more than one step.
    pub batch_work: Vec<Option<Arc<Work>>>,
    /// Number of uses of each buffer.
    pub uses: Vec<u32>,
    /// For each step, the positions of the outputs that are complete after it.
    pub outputs_written: Vec<SmallVec<[usize; 2]>>,
}

impl CompiledPlan {
    fn new(plan: Plan, kernels: Vec<StepKernels>) -> CompiledPlan {
        let work = plan.steps.iter().map(|step| Arc::new(step.work().clone())).collect();
        let planned = plan.steps.iter().zip(kernels).map(|(step, kernels)| {
            let launches = step.launches().into_iter().zip(kernels);
            let planned = launches.map(|(step, compiled)| {
                Ok(PlannedLaunch::new(compiled?, step.kernel.clone(), step.shape.clone()))
            });
            planned.collect()
        });
        let planned = planned.collect();
        let mut first = 0;
        let batch_work = plan.batches.iter().map(|&size| {
            let steps = &plan.steps[first..first + size];
            first += size;
            (size > 1).then(|| Arc::new(total_work(steps)))
        });
        let batch_work = batch_work.collect();
        let mut uses = vec![0; plan.buffers.len()];
        // Last step that writes each buffer.
        let mut last: Vec<Option<usize>> = vec![None; plan.buffers.len()];
        for (position, step) in plan.steps.iter().enumerate() {
            step.operands().iter().for_each(|&id| uses[id as usize] += 1);
            step.results().iter().for_each(|&id| last[id as usize] = Some(position));
        }
        // A batch completes as a whole.
        let batch_ends = plan.batches.iter().scan(0, |end, &size| {
            *end += size;
            Some(std::iter::repeat_n(*end - 1, size))
        });
        let last_of_batch: Vec<usize> = batch_ends.flatten().collect();
        let mut outputs_written = vec![SmallVec::new(); plan.steps.len()];
        for (output, &buffer) in plan.outputs.iter().enumerate() {
            if let Some(position) = last[buffer as usize] {
                outputs_written[last_of_batch[position]].push(output);
            }
        }
        CompiledPlan { plan, planned, work, batch_work, uses, outputs_written }
    }

    /// First compilation fault, if any.
    pub fn fault(&self) -> Option<&Fault> {
        self.planned.iter().flatten().find_map(|launch| launch.as_ref().err())
    }
}

/// Sums the ops and bytes of several steps.
fn total_work(steps: &[Step]) -> Work {
    let mut sum = Work::default();
    for work in steps.iter().map(Step::work) {
        sum.nodes.extend(&work.nodes);
        sum.bytes_read += work.bytes_read;
        sum.bytes_written += work.bytes_written;
    }
    sum.nodes.sort_unstable();
    sum.nodes.dedup();
    sum
}

/// Key of the plan cache: the graph without the values of its inputs and scalars.
#[derive(PartialEq, Eq, Hash)]
struct GraphKey {
    nodes: Vec<Node>,
    outputs: Vec<NodeId>,
}

/// A device's plan cache and kernel cache.
#[derive(Default)]
pub(crate) struct CompilationCache {
    plans: Mutex<FxHashMap<GraphKey, Arc<CompiledPlan>>>,
    kernels: Mutex<FxHashMap<Arc<Kernel>, Result<Compiled, Fault>>>,
    disk: OnceLock<DiskCache>,
    /// Serialized kernels that were loaded with executables, by kernel key.
    preloaded: Mutex<FxHashMap<Vec<u8>, Arc<[u8]>>>,
}

/// A serialized kernel: its cache key (compiler identity and kernel text) and its machine code.
pub(crate) type SerializedKernel = (Vec<u8>, Arc<[u8]>);

/// Capacity of the plan cache; it is cleared when full. Bounds memory for programs whose shapes never repeat.
const MAX_PLANS: usize = 4096;

/// Capacity of the kernel cache; it is cleared when full.
const MAX_KERNELS: usize = 4096;

/// Capacity of the preloaded kernels in bytes; they are cleared when full and compiled again if needed.
const MAX_PRELOADED_BYTES: usize = 64 << 20;

/// Derives the plan target of a backend.
pub fn plan_target(capabilities: &Capabilities) -> PlanTarget {
    PlanTarget {
        prologues: capabilities.prologues,
        arg_reductions: capabilities.arg_reductions,
        implicit_gemm: capabilities.implicit_gemm,
        reduction_splits: capabilities.reduction_splits,
        max_sum_chain: capabilities.max_sum_chain,
    }
}

impl CompilationCache {
    /// Enables the kernel cache on disk. Returns `false` if one is set already.
    pub fn set_disk_cache(&self, disk: DiskCache) -> bool {
        self.disk.set(disk).is_ok()
    }

    /// Adds serialized kernels, such as those of a saved executable.
    pub fn preload_kernels(&self, kernels: impl Iterator<Item = SerializedKernel>) {
        let mut preloaded = self.preloaded.lock();
        let size = |(kernel_key, bytes): (&Vec<u8>, &Arc<[u8]>)| kernel_key.len() + bytes.len();
        let mut bytes: usize = preloaded.iter().map(size).sum();
        for (kernel_key, saved) in kernels {
            bytes += size((&kernel_key, &saved));
            if preloaded.len() >= MAX_KERNELS || bytes > MAX_PRELOADED_BYTES {
                preloaded.clear();
                bytes = size((&kernel_key, &saved));
            }
            preloaded.insert(kernel_key, saved);
        }
    }

    /// Serializes the kernels of a plan; empty if the device does not support it.
    pub fn serialized_kernels(
        &self,
        ready: &CompiledPlan,
        backend: &dyn Backend,
    ) -> Vec<SerializedKernel> {
        let Some(compiler) = backend.compiler() else { return Vec::new() };
        let mut serialized = Vec::new();
        for launch in ready.planned.iter().flatten().flatten() {
            if let Some(bytes) = backend.save(&launch.compiled) {
                serialized.push((kernel_key(&compiler, &launch.kernel), bytes.into()));
            }
        }
        serialized
    }

    /// Looks up or creates the plan of a graph. Takes the graph's nodes and outputs.
    pub fn plan(
        &self,
        graph: &mut Graph,
        backend: &dyn Backend,
        counters: &Counters,
    ) -> Arc<CompiledPlan> {
        self.plan_with_callback(graph, backend, counters, || {})
    }

    /// As [`plan`](CompilationCache::plan); calls `before_planning` on a cache miss.
    pub fn plan_with_callback(
        &self,
        graph: &mut Graph,
        backend: &dyn Backend,
        counters: &Counters,
        before_planning: impl FnOnce(),
    ) -> Arc<CompiledPlan> {
        let graph_key = GraphKey {
            nodes: std::mem::take(&mut graph.nodes),
            outputs: std::mem::take(&mut graph.outputs),
        };
        if let Some(ready) = self.plans.lock().get(&graph_key) {
            Counters::add(&counters.plan_hits, 1);
            return ready.clone();
        }
        before_planning();
        Counters::add(&counters.plans, 1);
        let _span = trace::begin(|| Span::Plan);
        // Plans do not depend on scalar values.
        let graph =
            Graph { nodes: graph_key.nodes, outputs: graph_key.outputs, scalars: Vec::new() };
        let plan = plan_for(&graph, plan_target(backend.capabilities()));
        let kernels = plan
            .steps
            .iter()
            .map(|step| {
                let launches = step.launches().into_iter();
                let kernels: StepKernels =
                    launches.map(|step| self.kernel(&step.kernel, backend, counters)).collect();
                backend.precompile(&plan, step, &kernels);
                kernels
            })
            .collect();
        let ready = Arc::new(CompiledPlan::new(plan, kernels));
        let mut plans = self.plans.lock();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        let graph_key = GraphKey { nodes: graph.nodes, outputs: graph.outputs };
        plans.insert(graph_key, ready.clone());
        ready
    }

    /// Looks up a kernel in memory or on disk, or compiles it.
    fn kernel(
        &self,
        kernel: &Arc<Kernel>,
        backend: &dyn Backend,
        counters: &Counters,
    ) -> Result<Compiled, Fault> {
        if let Some(compiled) = self.kernels.lock().get(kernel) {
            return compiled.clone();
        }
        let _span = trace::begin(|| Span::Compile);
        // A panic in the compiler fails only the values that need this kernel.
        let compiled =
            catch_unwind(AssertUnwindSafe(|| self.load_or_compile(kernel, backend, counters)))
                .unwrap_or_else(|panic| Err(FaultKind::Panicked(panic_message(&*panic)).into()));
        let mut kernels = self.kernels.lock();
        if kernels.len() >= MAX_KERNELS {
            kernels.clear();
        }
        kernels.insert(kernel.clone(), compiled.clone());
        compiled
    }

    fn load_or_compile(
        &self,
        kernel: &Kernel,
        backend: &dyn Backend,
        counters: &Counters,
    ) -> Result<Compiled, Fault> {
        let disk = self.disk.get();
        let is_cached = disk.is_some() || !self.preloaded.lock().is_empty();
        let kernel_key = match is_cached {
            true => backend.compiler().map(|compiler| kernel_key(&compiler, kernel)),
            false => None,
        };
        if let Some(kernel_key) = &kernel_key {
            let preloaded = self.preloaded.lock().get(kernel_key).cloned();
            let found = preloaded.or_else(|| disk?.get(kernel_key).map(Arc::from));
            if let Some(loaded) = found.and_then(|saved| backend.load(kernel, &saved)) {
                Counters::add(&counters.loads, 1);
                return Ok(loaded);
            }
        }
        Counters::add(&counters.compiles, 1);
        let compiled = backend.compile(kernel)?;
        if let (Some(disk), Some(kernel_key)) = (disk, &kernel_key)
            && let Some(saved) = backend.save(&compiled)
        {
            disk.put(kernel_key, &saved);
        }
        Ok(compiled)
    }
}

/// Cache key of a compiled kernel. The kernel's text is complete: it parses back to the same kernel.
fn kernel_key(compiler: &str, kernel: &Kernel) -> Vec<u8> {
    format!("{compiler}\n{kernel}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preloaded_kernels_are_bounded_in_bytes_and_count() {
        let cache = CompilationCache::default();
        let large: Arc<[u8]> = vec![0; MAX_PRELOADED_BYTES / 2 - 100].into();
        let count = || cache.preloaded.lock().len();
        for (number, left) in [1, 2, 1, 2].into_iter().enumerate() {
            cache.preload_kernels([(vec![number as u8], large.clone())].into_iter());
            assert_eq!(count(), left, "after {} large ones", number + 1);
        }
        let small = |number: usize| (number.to_le_bytes().to_vec(), Arc::from([]));
        cache.preloaded.lock().clear();
        cache.preload_kernels((0..MAX_KERNELS).map(small));
        assert_eq!(count(), MAX_KERNELS);
        cache.preload_kernels([small(MAX_KERNELS)].into_iter());
        assert_eq!(count(), 1);
    }
}
