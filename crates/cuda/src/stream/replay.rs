//! CUDA graph replay of launch batches.
//!
//! A launch batch is submitted launch by launch when its sequence of kernels is first seen. When the same kernels
//! come again in the same order, they are captured into a CUDA graph, and from then on the batch is replayed with one
//! driver call. Only the arguments that have changed since the last replay are updated in the graph.

use crate::background::with_label;
use crate::driver::{Context, Function};
use crate::gemm::LibraryGemm;
use crate::graph::{Capture, Graph, KernelLaunch, Step};
use cudarc::driver::sys;
use inflight_backend::{Buffer, Fault, FaultKind, Label};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// How launches of this process were submitted to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    /// Launches submitted one by one.
    pub single_launches: u64,
    /// CUDA graphs replayed unchanged.
    pub unchanged_graphs: u64,
    /// CUDA graphs replayed after an argument update.
    pub updated_graphs: u64,
    /// Kernels and GEMMs whose arguments were updated.
    pub updated_arguments: u64,
    /// CUDA graphs instantiated.
    pub captured_graphs: u64,
}

static SINGLE_LAUNCHES: AtomicU64 = AtomicU64::new(0);
static UNCHANGED_GRAPHS: AtomicU64 = AtomicU64::new(0);
static UPDATED_GRAPHS: AtomicU64 = AtomicU64::new(0);
static UPDATED_ARGUMENTS: AtomicU64 = AtomicU64::new(0);
static CAPTURED_GRAPHS: AtomicU64 = AtomicU64::new(0);

/// Counts of this process so far, over all devices.
pub fn replay_counts() -> ReplayCounts {
    let counts = [
        &SINGLE_LAUNCHES,
        &UNCHANGED_GRAPHS,
        &UPDATED_GRAPHS,
        &UPDATED_ARGUMENTS,
        &CAPTURED_GRAPHS,
    ]
    .map(|count| count.load(Ordering::Relaxed));
    let [single_launches, unchanged_graphs, updated_graphs, updated_arguments, captured_graphs] =
        counts;
    ReplayCounts {
        single_launches,
        unchanged_graphs,
        updated_graphs,
        updated_arguments,
        captured_graphs,
    }
}

/// Shorter sequences are not worth a graph.
const MIN_LAUNCHES: usize = 3;

/// Graphs cached per sequence of kernels: a program that alternates among a few sets of buffers finds all of its
/// arguments unchanged.
const MAX_GRAPHS_PER_SEQUENCE: usize = 4;

/// Launches of all cached graphs together.
const MAX_CACHED_LAUNCHES: usize = 1 << 14;

/// Longest period of a repeating sequence. Such a sequence is split at power-of-two counts of its period: how many
/// launches a batch holds depends on timing, but its parts come again.
const MAX_PERIOD: usize = 8;

/// Fewest periods of a part.
const MIN_PERIODS: usize = 4;

/// A periodic sequence that comes this often as a whole gets a graph of its own.
const FREQUENT: u32 = 8;

/// Sequences that are remembered as seen, or as impossible to capture.
const MAX_SEQUENCES: usize = 1 << 12;

/// Launches not yet submitted to the driver stream, in order.
#[derive(Default)]
pub struct LaunchBatch {
    launches: Vec<BatchedLaunch>,
    /// The arguments of all launches.
    words: Vec<u64>,
    /// The buffers that the launches write.
    results: Vec<Weak<Buffer>>,
    /// Hash of the kernel sequence.
    hash: u64,
}

/// A kernel launch or a GEMM, without its arguments and results.
#[derive(Clone)]
struct BatchedLaunch {
    operation: Operation,
    words: Range<usize>,
    /// Index of its first result.
    results: usize,
}

#[derive(Clone)]
enum Operation {
    Kernel { function: Arc<Function>, grid: [u32; 2], threads: u32 },
    Gemm { gemm: LibraryGemm, label: Label },
}

impl BatchedLaunch {
    /// Whether both launch the same kernel with the same grid, or the same GEMM.
    fn is_same_kernel(&self, other: &BatchedLaunch) -> bool {
        let is_same = match (&self.operation, &other.operation) {
            (
                Operation::Kernel { function, grid, threads },
                Operation::Kernel { function: other, grid: other_grid, threads: other_threads },
            ) => Arc::ptr_eq(function, other) && (grid, threads) == (other_grid, other_threads),
            (Operation::Gemm { gemm, .. }, Operation::Gemm { gemm: other, .. }) => {
                gemm.has_same_plan(other)
            }
            _ => false,
        };
        is_same && self.words.len() == other.words.len()
    }

    /// Extends the hash of the sequence before this launch.
    fn extend_hash(&self, before: u64) -> u64 {
        let mut hasher = FxHasher::default();
        match &self.operation {
            Operation::Kernel { function, grid, threads } => {
                (before, Arc::as_ptr(function), grid, threads).hash(&mut hasher);
            }
            Operation::Gemm { gemm, .. } => (before, gemm.id()).hash(&mut hasher),
        }
        (self.words.len() as u64).hash(&mut hasher);
        hasher.finish()
    }

    fn with_arguments<'a>(&'a self, words: &'a [u64]) -> Step<'a> {
        let arguments = &words[self.words.clone()];
        match &self.operation {
            Operation::Kernel { function, grid, threads } => {
                Step::Kernel(KernelLaunch { function, grid: *grid, threads: *threads, arguments })
            }
            Operation::Gemm { gemm, .. } => Step::Gemm(gemm, arguments),
        }
    }

    /// Submits the launch to a stream.
    ///
    /// # Safety
    /// As for [`GraphCache::launch`].
    unsafe fn launch(&self, stream: sys::CUstream, words: &[u64]) -> Result<(), Fault> {
        let arguments = &words[self.words.clone()];
        // SAFETY: promised by the caller.
        unsafe {
            match &self.operation {
                Operation::Kernel { function, grid, threads } => {
                    function.launch(stream, *grid, *threads, arguments)
                }
                Operation::Gemm { gemm, label } => {
                    gemm.run(stream, arguments).map_err(|fault| with_label(fault, label))
                }
            }
        }
    }
}

impl LaunchBatch {
    /// Appends a kernel launch.
    pub fn push<'a>(
        &mut self,
        function: Arc<Function>,
        grid: [u32; 2],
        threads: u32,
        words: &[u64],
        results: impl Iterator<Item = &'a Arc<Buffer>>,
    ) {
        let start = self.words.len();
        self.words.extend_from_slice(words);
        self.add(Operation::Kernel { function, grid, threads }, start, results);
    }

    /// Appends a cuBLASLt GEMM.
    pub fn push_gemm<'a>(
        &mut self,
        gemm: LibraryGemm,
        label: &Label,
        words: &[u64],
        results: impl Iterator<Item = &'a Arc<Buffer>>,
    ) {
        let start = self.words.len();
        self.words.extend(words);
        self.add(Operation::Gemm { gemm, label: label.clone() }, start, results);
    }

    fn add<'a>(
        &mut self,
        operation: Operation,
        start: usize,
        results: impl Iterator<Item = &'a Arc<Buffer>>,
    ) {
        let (words, first) = (start..self.words.len(), self.results.len());
        self.results.extend(results.map(Arc::downgrade));
        let launch = BatchedLaunch { operation, words, results: first };
        self.hash = launch.extend_hash(self.hash);
        self.launches.push(launch);
    }

    /// The period with which the launches repeat to the end of the batch; the last period may be incomplete. `None`
    /// if they do not repeat, or too rarely.
    fn period(&self) -> Option<usize> {
        let periods = 1..=MAX_PERIOD.min(self.launches.len() / MIN_PERIODS);
        periods.into_iter().find(|&period| {
            let shifted = self.launches[period..].iter().zip(&self.launches);
            shifted.into_iter().all(|(a, b)| a.is_same_kernel(b))
        })
    }

    /// Splits off the launches from `at` on.
    fn split_off(&mut self, at: usize) -> LaunchBatch {
        let (word, result) = match self.launches.get(at) {
            Some(first) => (first.words.start, first.results),
            None => (self.words.len(), self.results.len()),
        };
        let mut rest = LaunchBatch {
            launches: self.launches.split_off(at),
            words: self.words.split_off(word),
            results: self.results.split_off(result),
            hash: 0,
        };
        for launch in &mut rest.launches {
            launch.words = launch.words.start - word..launch.words.end - word;
            launch.results -= result;
        }
        for part in [self, &mut rest] {
            part.hash = part.launches.iter().fold(0, |hash, launch| launch.extend_hash(hash));
        }
        rest
    }

    /// Identifies the sequence of kernels.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The number of launches.
    pub fn len(&self) -> usize {
        self.launches.len()
    }

    /// Empties the batch. The returned value must be retained until the launches have completed, and is small:
    /// results that no handle refers to any more are dropped here, by the thread that made them.
    fn take(&mut self, replayed: Option<Arc<[BatchedLaunch]>>) -> InFlight {
        self.results.retain(|buffer| buffer.strong_count() > 0);
        let launches = replayed.unwrap_or_else(|| self.launches.drain(..).collect());
        self.launches.clear();
        self.words.clear();
        self.hash = 0;
        InFlight { _launches: launches, results: std::mem::take(&mut self.results) }
    }

    /// Fails the results of all launches.
    fn fail(&self, fault: &Fault) {
        self.fail_from(0, fault);
    }

    /// Fails the results of the launches from `first` on.
    fn fail_from(&self, first: usize, fault: &Fault) {
        let first = self.launches.get(first).map_or(self.results.len(), |launch| launch.results);
        let results = self.results[first..].iter();
        results.filter_map(Weak::upgrade).for_each(|buffer| buffer.fail(fault.clone()));
    }

    /// Submits all launches one by one. If one cannot be submitted, the results of it and of all later launches fail:
    /// they may depend on it.
    ///
    /// # Safety
    /// As for [`GraphCache::launch`].
    unsafe fn launch_each(&self, stream: sys::CUstream) -> Result<(), Fault> {
        for (position, launch) in self.launches.iter().enumerate() {
            // SAFETY: promised by the caller.
            let launched = unsafe { launch.launch(stream, &self.words) };
            if let Err(fault) = launched {
                self.fail_from(position, &fault);
                return Err(fault);
            }
        }
        Ok(())
    }
}

/// Launches on the driver stream.
pub struct InFlight {
    /// Retains the kernels.
    _launches: Arc<[BatchedLaunch]>,
    results: Vec<Weak<Buffer>>,
}

impl InFlight {
    /// Fails the results of all launches.
    pub fn fail(&self, fault: &Fault) {
        let results = self.results.iter().filter_map(Weak::upgrade);
        results.for_each(|buffer| buffer.fail(fault.clone()));
    }
}

/// The CUDA graphs of a stream.
#[derive(Default)]
pub struct GraphCache {
    /// Keyed by the hash of the kernel sequence.
    graphs: FxHashMap<u64, Vec<CachedGraph>>,
    /// Occurrences of sequences that have no graph, keyed by their hash.
    occurrences: FxHashMap<u64, u32>,
    /// Launches of all cached graphs.
    cached_launches: usize,
    /// Number of replays so far.
    clock: u64,
    /// Hashes of the sequences that the driver failed to capture or to update.
    uncapturable: FxHashSet<u64>,
    /// True iff the driver could capture only graphs without programmatic dependent launch.
    overlap_is_unsupported: bool,
    /// Stream on which GEMMs are captured.
    capture: Capture,
}

/// A CUDA graph and the arguments of its last replay.
struct CachedGraph {
    graph: Graph,
    launches: Arc<[BatchedLaunch]>,
    words: Vec<u64>,
    last_used: u64,
}

impl GraphCache {
    /// Splits a periodic batch at a count that is likely to come again. Returns the rest.
    pub fn split_periodic(&mut self, batch: &mut LaunchBatch) -> Option<LaunchBatch> {
        if self.graphs.contains_key(&batch.hash) {
            return None;
        }
        let period = batch.period()?;
        let length = period << (batch.len() / period).ilog2();
        if length == batch.len() || self.count_occurrence(batch.hash) >= FREQUENT {
            return None;
        }
        Some(batch.split_off(length))
    }

    /// Counts an occurrence of a sequence. Returns how often it had occurred before.
    fn count_occurrence(&mut self, hash: u64) -> u32 {
        if self.occurrences.len() >= MAX_SEQUENCES {
            self.occurrences.clear();
        }
        let count = self.occurrences.entry(hash).or_insert(0);
        *count += 1;
        *count - 1
    }

    /// Submits a batch to a stream and empties it. On failure, the results of what was not submitted get the fault,
    /// which is also returned. The returned launches must be retained until the stream has passed them.
    ///
    /// # Safety
    /// Each launch's arguments must be those of its kernel, laid out as the kernel declares them. Memory that they
    /// point to must stay valid until the stream has passed the launches.
    pub unsafe fn launch(
        &mut self,
        context: &Arc<Context>,
        batch: &mut LaunchBatch,
        stream: Result<sys::CUstream, Fault>,
    ) -> (InFlight, Result<(), Fault>) {
        let mut replayed = None;
        let launched = match stream {
            Err(fault) => {
                batch.fail(&fault);
                Err(fault)
            }
            Ok(stream) => match self.find(context, batch) {
                Some(cached) => {
                    replayed = Some(cached.launches.clone());
                    // SAFETY: promised by the caller; the graph has the launches of this batch.
                    unsafe { cached.graph.launch(stream) }.inspect_err(|fault| batch.fail(fault))
                }
                None => {
                    SINGLE_LAUNCHES.fetch_add(batch.len() as u64, Ordering::Relaxed);
                    // SAFETY: promised by the caller.
                    unsafe { batch.launch_each(stream) }
                }
            },
        };
        (batch.take(replayed), launched)
    }

    /// The graph to replay for a batch, if its sequence has occurred before.
    fn find(&mut self, context: &Arc<Context>, batch: &LaunchBatch) -> Option<&mut CachedGraph> {
        if batch.len() < MIN_LAUNCHES || self.uncapturable.contains(&batch.hash) {
            return None;
        }
        if !self.graphs.contains_key(&batch.hash) && self.count_occurrence(batch.hash) == 0 {
            return None;
        }
        self.clock += 1;
        if self.capture.open(context).is_err() {
            return None;
        }
        let GraphCache { graphs, capture, .. } = self;
        let candidates = graphs.entry(batch.hash).or_default();
        let same = candidates.iter().position(|cached| cached.has_same_arguments(batch));
        // Capturing is needed only to instantiate or update a graph.
        let _capturing = match same {
            Some(_) => None,
            None => Some(context.try_lock_capture()?),
        };
        let position = match same {
            Some(position) => {
                UNCHANGED_GRAPHS.fetch_add(1, Ordering::Relaxed);
                position
            }
            None if candidates.len() >= MAX_GRAPHS_PER_SEQUENCE => {
                let differing = candidates.iter().enumerate().filter_map(|(position, cached)| {
                    cached
                        .count_changed_arguments(batch)
                        .map(|count| (count, cached.last_used, position))
                });
                let (changes, _, position) = differing.min()?;
                UPDATED_GRAPHS.fetch_add(1, Ordering::Relaxed);
                UPDATED_ARGUMENTS.fetch_add(changes as u64, Ordering::Relaxed);
                if candidates[position].update(capture, batch).is_err() {
                    self.give_up(batch.hash);
                    return None;
                }
                position
            }
            // A new set of arguments is likely to come again as well.
            None => {
                let mut captured =
                    CachedGraph::new(context, capture, batch, !self.overlap_is_unsupported);
                if captured.is_err() && !self.overlap_is_unsupported {
                    captured = CachedGraph::new(context, capture, batch, false);
                    self.overlap_is_unsupported = captured.is_ok();
                }
                let Ok(cached) = captured else {
                    self.give_up(batch.hash);
                    return None;
                };
                CAPTURED_GRAPHS.fetch_add(1, Ordering::Relaxed);
                candidates.push(cached);
                self.cached_launches += batch.len();
                candidates.len() - 1
            }
        };
        candidates[position].last_used = self.clock;
        if self.cached_launches > MAX_CACHED_LAUNCHES {
            self.evict();
        }
        self.graphs.get_mut(&batch.hash)?.iter_mut().find(|r| r.last_used == self.clock)
    }

    /// Submits this sequence one by one from now on.
    fn give_up(&mut self, hash: u64) {
        let removed = self.graphs.remove(&hash).unwrap_or_default();
        self.cached_launches -= removed.iter().map(|cached| cached.launches.len()).sum::<usize>();
        if self.uncapturable.len() >= MAX_SEQUENCES {
            self.uncapturable.clear();
        }
        self.uncapturable.insert(hash);
    }

    /// Evicts the least recently used graphs, but not the one used last.
    fn evict(&mut self) {
        let mut all: Vec<(u64, usize)> = self
            .graphs
            .values()
            .flatten()
            .map(|cached| (cached.last_used, cached.launches.len()))
            .filter(|(last_used, _)| *last_used != self.clock)
            .collect();
        all.sort_unstable();
        let mut oldest_retained = 0;
        for (last_used, launches) in all {
            if self.cached_launches <= MAX_CACHED_LAUNCHES / 2 {
                break;
            }
            self.cached_launches -= launches;
            oldest_retained = last_used + 1;
        }
        for candidates in self.graphs.values_mut() {
            candidates.retain(|cached| cached.last_used >= oldest_retained);
        }
        self.graphs.retain(|_, candidates| !candidates.is_empty());
    }
}

impl CachedGraph {
    fn new(
        context: &Arc<Context>,
        capture: &mut Capture,
        batch: &LaunchBatch,
        overlaps: bool,
    ) -> Result<CachedGraph, Fault> {
        let all = batch.launches.iter();
        let steps = all.map(|launch| launch.with_arguments(&batch.words));
        let graph = Graph::new(context, capture, steps, overlaps)?;
        let (launches, words) = (batch.launches.clone().into(), batch.words.clone());
        Ok(CachedGraph { graph, launches, words, last_used: 0 })
    }

    /// Whether the kernels are the same.
    fn has_same_kernels(&self, batch: &LaunchBatch) -> bool {
        self.launches.len() == batch.launches.len()
            && self.launches.iter().zip(&batch.launches).all(|(a, b)| a.is_same_kernel(b))
    }

    /// Whether both the kernels and their arguments are the same.
    fn has_same_arguments(&self, batch: &LaunchBatch) -> bool {
        self.words == batch.words && self.has_same_kernels(batch)
    }

    /// The number of launches whose arguments differ. `None` if the kernels differ.
    fn count_changed_arguments(&self, batch: &LaunchBatch) -> Option<usize> {
        if !self.has_same_kernels(batch) {
            return None;
        }
        let is_changed = |launch: &&BatchedLaunch| {
            self.words[launch.words.clone()] != batch.words[launch.words.clone()]
        };
        Some(self.launches.iter().filter(is_changed).count())
    }

    /// Updates the graph to the arguments of a batch.
    fn update(&mut self, capture: &mut Capture, batch: &LaunchBatch) -> Result<(), Fault> {
        for (position, launch) in self.launches.iter().enumerate() {
            let range = launch.words.clone();
            if self.words[range.clone()] != batch.words[range] {
                self.graph.set(capture, position, &launch.with_arguments(&batch.words))?;
            }
        }
        self.words.copy_from_slice(&batch.words);
        Ok(())
    }
}

/// The fault of a launch with more threads than the kernel's registers leave room for.
pub fn too_many_threads(function: &Function, threads: u32) -> Option<Fault> {
    let most = function.max_threads();
    (threads > most).then(|| {
        let message =
            format!("a kernel whose registers leave room for {most} threads per block, of the {threads} it needs");
        FaultKind::Unsupported(message).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch of these kernels. The arguments of each are its position, repeated once more than its kernel's index.
    fn batch_of(functions: &[Arc<Function>], kernels: &[usize]) -> LaunchBatch {
        let mut batch = LaunchBatch::default();
        for (position, &kernel) in kernels.iter().enumerate() {
            let words = vec![position as u64; kernel + 1];
            let results = Buffer::declare(4);
            let function = functions[kernel].clone();
            batch.push(function, [1, 1], 32, &words, std::iter::once(&results));
        }
        batch
    }

    #[test]
    fn periodic_batches_are_split_at_powers_of_two() {
        let functions = [Function::unloaded(), Function::unloaded(), Function::unloaded()];
        let batch = |kernels: &[usize]| batch_of(&functions, kernels);
        assert_eq!(batch(&[0; 7]).period(), Some(1));
        assert_eq!(batch(&[0, 1, 0, 1, 0, 1, 0, 1, 0]).period(), Some(2));
        assert_eq!(batch(&[0, 1, 0, 1, 0, 1]).period(), None);
        assert_eq!(batch(&[0, 0, 0, 0, 1]).period(), None);
        let lengths = |kernels: &[usize]| {
            let (mut graph_cache, mut part) = (GraphCache::default(), batch(kernels));
            let mut lengths = Vec::new();
            loop {
                let rest = graph_cache.split_periodic(&mut part);
                lengths.push(part.len());
                let Some(rest) = rest else { return lengths };
                part = rest;
            }
        };
        assert_eq!(lengths(&[0; 23]), [16, 4, 3]);
        assert_eq!(lengths(&[1; 8]), [8]);
        assert_eq!(lengths(&[0, 1, 2].repeat(7)), [12, 9]);
        assert_eq!(lengths(&[0, 1, 2, 2, 1, 0]), [6]);
    }

    #[test]
    fn frequent_sequences_are_not_split() {
        let functions = [Function::unloaded()];
        let mut graph_cache = GraphCache::default();
        for _ in 0..FREQUENT {
            assert!(graph_cache.split_periodic(&mut batch_of(&functions, &[0; 6])).is_some());
        }
        assert!(graph_cache.split_periodic(&mut batch_of(&functions, &[0; 6])).is_none());
    }

    #[test]
    fn split_batches_equal_batches_built_alone() {
        let functions = [Function::unloaded(), Function::unloaded()];
        let mut front = batch_of(&functions, &[0, 1, 0, 1, 1]);
        let rest = front.split_off(2);
        let [first, second] =
            [&[0, 1][..], &[0, 1, 1]].map(|kernels| batch_of(&functions, kernels));
        assert_eq!((front.hash, rest.hash), (first.hash, second.hash));
        assert_ne!(front.hash, rest.hash);
        assert_eq!(front.words, [0, 1, 1]);
        assert_eq!(rest.words, [2, 3, 3, 4, 4]);
        assert_eq!((front.results.len(), rest.results.len()), (2, 3));
        let offsets = rest.launches.iter().map(|launch| (launch.words.clone(), launch.results));
        assert_eq!(offsets.collect::<Vec<_>>(), [(0..1, 0), (1..3, 1), (3..5, 2)]);
    }
}
