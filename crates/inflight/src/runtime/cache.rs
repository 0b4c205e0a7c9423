//! Plans found again by structure, kernels found again by their text.

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

/// A step's kernels in the order of its launches, each compiled, or why it is not.
type Kernels = SmallVec<[Result<Compiled, Fault>; 1]>;

/// A step's launches in order, or why one has no kernel.
pub(crate) type Launches = SmallVec<[Result<Arc<PlannedLaunch>, Fault>; 1]>;

/// A plan with its kernels compiled.
pub(crate) struct ReadyPlan {
    pub plan: Plan,
    /// For each step, what it launches.
    pub planned: Vec<Launches>,
    /// For each step, what it does.
    pub work: Vec<Arc<Work>>,
    /// For each batch of more than one step, what all of them do.
    pub batch_work: Vec<Option<Arc<Work>>>,
    /// How often the steps use each buffer.
    pub uses: Vec<u32>,
    /// For each step, the outputs, by position, that are written when it is done.
    pub finished: Vec<SmallVec<[usize; 2]>>,
}

impl ReadyPlan {
    fn new(plan: Plan, kernels: Vec<Kernels>) -> ReadyPlan {
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
            (size > 1).then(|| Arc::new(sum_of_work(steps)))
        });
        let batch_work = batch_work.collect();
        let mut uses = vec![0; plan.buffers.len()];
        // The last step to write each buffer.
        let mut last: Vec<Option<usize>> = vec![None; plan.buffers.len()];
        for (position, step) in plan.steps.iter().enumerate() {
            step.operands().iter().for_each(|&id| uses[id as usize] += 1);
            step.results().iter().for_each(|&id| last[id as usize] = Some(position));
        }
        // A batch is done when all of it is.
        let ends = plan.batches.iter().scan(0, |end, &size| {
            *end += size;
            Some(std::iter::repeat_n(*end - 1, size))
        });
        let last_of_batch: Vec<usize> = ends.flatten().collect();
        let mut finished = vec![SmallVec::new(); plan.steps.len()];
        for (output, &buffer) in plan.outputs.iter().enumerate() {
            if let Some(position) = last[buffer as usize] {
                finished[last_of_batch[position]].push(output);
            }
        }
        ReadyPlan { plan, planned, work, batch_work, uses, finished }
    }

    /// Why a kernel could not be compiled, if one could not.
    pub fn fault(&self) -> Option<&Fault> {
        self.planned.iter().flatten().find_map(|launch| launch.as_ref().err())
    }
}

/// What some steps do together.
fn sum_of_work(steps: &[Step]) -> Work {
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

/// What makes two segments the same work: everything but the values of inputs and scalars.
#[derive(PartialEq, Eq, Hash)]
struct Structure {
    nodes: Vec<Node>,
    outputs: Vec<NodeId>,
}

/// A device's plans and kernels.
#[derive(Default)]
pub(crate) struct Cache {
    plans: Mutex<FxHashMap<Structure, Arc<ReadyPlan>>>,
    kernels: Mutex<FxHashMap<Arc<Kernel>, Result<Compiled, Fault>>>,
    disk: OnceLock<DiskCache>,
    /// Kernels that files have brought along, compiled: what they are of, and their bytes.
    brought: Mutex<FxHashMap<Vec<u8>, Arc<[u8]>>>,
}

/// A compiled kernel as it is kept: the compiler and the kernel's text, and what the compiler made of it.
pub(crate) type Kept = (Vec<u8>, Arc<[u8]>);

/// Beyond this many, plans are forgotten: a program whose shapes never repeat must not grow.
const MOST_PLANS: usize = 4096;

/// Beyond this many, so are kernels that no plan holds.
const MOST_KERNELS: usize = 4096;

/// Beyond this many bytes, kernels that files have brought along are forgotten: they can be compiled.
const MOST_BROUGHT: usize = 64 << 20;

/// What can be planned for a backend.
pub fn plan_target(capabilities: &Capabilities) -> PlanTarget {
    PlanTarget {
        prologues: capabilities.prologues,
        arg_reductions: capabilities.arg_reductions,
        implicit_gemm: capabilities.implicit_gemm,
        reduction_splits: capabilities.reduction_splits,
        max_sum_chain: capabilities.max_sum_chain,
    }
}

impl Cache {
    /// Keeps kernels there from now on. `false` if they are kept somewhere already.
    pub fn keep_on(&self, disk: DiskCache) -> bool {
        self.disk.set(disk).is_ok()
    }

    /// Makes compiled kernels known that somebody has kept.
    pub fn bring(&self, kernels: impl Iterator<Item = Kept>) {
        let mut brought = self.brought.lock();
        let size = |(key, bytes): (&Vec<u8>, &Arc<[u8]>)| key.len() + bytes.len();
        let mut bytes: usize = brought.iter().map(size).sum();
        for (key, saved) in kernels {
            bytes += size((&key, &saved));
            if brought.len() >= MOST_KERNELS || bytes > MOST_BROUGHT {
                brought.clear();
                bytes = size((&key, &saved));
            }
            brought.insert(key, saved);
        }
    }

    /// The kernels of a plan as they are kept; none on a device whose kernels are not.
    pub fn kept(&self, ready: &ReadyPlan, backend: &dyn Backend) -> Vec<Kept> {
        let Some(compiler) = backend.compiler() else { return Vec::new() };
        let mut kept = Vec::new();
        for launch in ready.planned.iter().flatten().flatten() {
            if let Some(bytes) = backend.save(&launch.compiled) {
                kept.push((key(&compiler, &launch.kernel), bytes.into()));
            }
        }
        kept
    }

    /// The plan of a graph, made if it is new. The graph's structure is left empty.
    pub fn plan(
        &self,
        graph: &mut Graph,
        backend: &dyn Backend,
        counters: &Counters,
    ) -> Arc<ReadyPlan> {
        self.plan_after(graph, backend, counters, || {})
    }

    /// As [`plan`](Cache::plan). Before one is made, `about_to_plan` is called.
    pub fn plan_after(
        &self,
        graph: &mut Graph,
        backend: &dyn Backend,
        counters: &Counters,
        about_to_plan: impl FnOnce(),
    ) -> Arc<ReadyPlan> {
        let structure = Structure {
            nodes: std::mem::take(&mut graph.nodes),
            outputs: std::mem::take(&mut graph.outputs),
        };
        if let Some(ready) = self.plans.lock().get(&structure) {
            Counters::add(&counters.plan_hits, 1);
            return ready.clone();
        }
        about_to_plan();
        Counters::add(&counters.plans, 1);
        let _span = trace::begin(|| Span::Plan);
        // The values of scalars are no part of a plan.
        let graph =
            Graph { nodes: structure.nodes, outputs: structure.outputs, scalars: Vec::new() };
        let plan = plan_for(&graph, plan_target(backend.capabilities()));
        let kernels = plan
            .steps
            .iter()
            .map(|step| {
                let launches = step.launches().into_iter();
                let kernels: Kernels =
                    launches.map(|step| self.kernel(&step.kernel, backend, counters)).collect();
                backend.precompile(&plan, step, &kernels);
                kernels
            })
            .collect();
        let ready = Arc::new(ReadyPlan::new(plan, kernels));
        let mut plans = self.plans.lock();
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        let structure = Structure { nodes: graph.nodes, outputs: graph.outputs };
        plans.insert(structure, ready.clone());
        ready
    }

    /// A compiled kernel: from memory, from disk, or compiled if it is new.
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
        // A compiler that panics fails this kernel's values, and no others.
        let compiled =
            catch_unwind(AssertUnwindSafe(|| self.load_or_compile(kernel, backend, counters)))
                .unwrap_or_else(|panic| Err(FaultKind::Panicked(panic_message(&*panic)).into()));
        let mut kernels = self.kernels.lock();
        if kernels.len() >= MOST_KERNELS {
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
        let is_kept = disk.is_some() || !self.brought.lock().is_empty();
        let key = match is_kept {
            true => backend.compiler().map(|compiler| key(&compiler, kernel)),
            false => None,
        };
        if let Some(key) = &key {
            let brought = self.brought.lock().get(key).cloned();
            let found = brought.or_else(|| disk?.get(key).map(Arc::from));
            if let Some(loaded) = found.and_then(|saved| backend.load(kernel, &saved)) {
                Counters::add(&counters.loads, 1);
                return Ok(loaded);
            }
        }
        Counters::add(&counters.compiles, 1);
        let compiled = backend.compile(kernel)?;
        if let (Some(disk), Some(key)) = (disk, &key)
            && let Some(saved) = backend.save(&compiled)
        {
            disk.put(key, &saved);
        }
        Ok(compiled)
    }
}

/// What a compiled kernel is found by. The text says all there is to know of a kernel: it can be read back.
fn key(compiler: &str, kernel: &Kernel) -> Vec<u8> {
    format!("{compiler}\n{kernel}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_files_bring_along_are_bounded_in_bytes_and_number() {
        let cache = Cache::default();
        let large: Arc<[u8]> = vec![0; MOST_BROUGHT / 2 - 100].into();
        let count = || cache.brought.lock().len();
        for (number, left) in [1, 2, 1, 2].into_iter().enumerate() {
            cache.bring([(vec![number as u8], large.clone())].into_iter());
            assert_eq!(count(), left, "after {} large ones", number + 1);
        }
        let small = |number: usize| (number.to_le_bytes().to_vec(), Arc::from([]));
        cache.brought.lock().clear();
        cache.bring((0..MOST_KERNELS).map(small));
        assert_eq!(count(), MOST_KERNELS);
        cache.bring([small(MOST_KERNELS)].into_iter());
        assert_eq!(count(), 1);
    }
}
