//! Launches and products that are gathered and started together, and graphs of those that come again.
//!
//! What was gathered is launched one by one when it is first seen. When the same kernels come again in the
//! same order, a graph of them is made, and from then on they start with one call; only the arguments that have
//! changed since are told to the driver.

use crate::background::with_label;
use crate::driver::{Context, Function};
use crate::gemm::Product;
use crate::graph::{Capture, Graph, KernelLaunch, Step};
use cudarc::driver::sys;
use inflight_backend::{Buffer, Fault, FaultKind, Label};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// How launches of this process got to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    /// Launches that were made one by one.
    pub single: u64,
    /// Graphs that were launched as they were.
    pub same: u64,
    /// Graphs of which some arguments were changed first.
    pub changed: u64,
    /// Arguments of a kernel or a product that were changed.
    pub changes: u64,
    /// Graphs that were made.
    pub made: u64,
}

static SINGLE: AtomicU64 = AtomicU64::new(0);
static SAME: AtomicU64 = AtomicU64::new(0);
static CHANGED: AtomicU64 = AtomicU64::new(0);
static CHANGES: AtomicU64 = AtomicU64::new(0);
static MADE: AtomicU64 = AtomicU64::new(0);

/// How launches of this process got to the device so far, on all devices.
pub fn replay_counts() -> ReplayCounts {
    let [single, same, changed, changes, made] =
        [&SINGLE, &SAME, &CHANGED, &CHANGES, &MADE].map(|count| count.load(Ordering::Relaxed));
    ReplayCounts { single, same, changed, changes, made }
}

/// Fewer launches are not worth a graph.
const LEAST: usize = 3;

/// So many graphs of the same kernels are kept: a program that goes round among a few sets of buffers finds all
/// of its arguments again.
const MOST_ALIKE: usize = 4;

/// Graphs of so many launches in all are kept.
const MOST_KEPT: usize = 1 << 14;

/// Launches that come again and again, so many or fewer of them at a time, are cut into parts whose lengths are
/// powers of two: how many of them are gathered depends on who was faster, and the parts come again.
const MOST_PERIOD: usize = 8;

/// A part has so many periods at least.
const LEAST_PERIODS: usize = 4;

/// A sequence that could be cut is worth a graph of its own when it came so often.
const OFTEN: u32 = 8;

/// So many sequences that came before, or of which there can be no graph, are remembered.
const MOST_SEEN: usize = 1 << 12;

/// Launches that are not on the driver's stream yet, in order.
#[derive(Default)]
pub struct LaunchBatch {
    launches: Vec<Launched>,
    /// The arguments of all.
    words: Vec<u64>,
    /// What all of them write.
    results: Vec<Weak<Buffer>>,
    /// Of the kernels, in order.
    hash: u64,
}

/// A launch or a product, less its arguments and results.
#[derive(Clone)]
struct Launched {
    what: What,
    words: Range<usize>,
    /// Where its results begin.
    results: usize,
}

#[derive(Clone)]
enum What {
    Kernel { function: Arc<Function>, grid: [u32; 2], threads: u32 },
    Product { product: Product, label: Label },
}

impl Launched {
    /// Whether both are launches of the same kernel on the same grid, or the same product.
    fn is_like(&self, other: &Launched) -> bool {
        let alike = match (&self.what, &other.what) {
            (
                What::Kernel { function, grid, threads },
                What::Kernel { function: other, grid: other_grid, threads: other_threads },
            ) => Arc::ptr_eq(function, other) && (grid, threads) == (other_grid, other_threads),
            (What::Product { product, .. }, What::Product { product: other, .. }) => {
                product.is_like(other)
            }
            _ => false,
        };
        alike && self.words.len() == other.words.len()
    }

    /// Of the kernels up to this one, given that of those before it.
    fn mixed_into(&self, before: u64) -> u64 {
        let mut hasher = FxHasher::default();
        match &self.what {
            What::Kernel { function, grid, threads } => {
                (before, Arc::as_ptr(function), grid, threads).hash(&mut hasher);
            }
            What::Product { product, .. } => (before, product.id()).hash(&mut hasher),
        }
        (self.words.len() as u64).hash(&mut hasher);
        hasher.finish()
    }

    fn with_arguments<'a>(&'a self, words: &'a [u64]) -> Step<'a> {
        let arguments = &words[self.words.clone()];
        match &self.what {
            What::Kernel { function, grid, threads } => {
                Step::Kernel(KernelLaunch { function, grid: *grid, threads: *threads, arguments })
            }
            What::Product { product, .. } => Step::Gemm(product, arguments),
        }
    }

    /// Puts it on a stream.
    ///
    /// # Safety
    /// As for [`Replays::launch`].
    unsafe fn launch(&self, stream: sys::CUstream, words: &[u64]) -> Result<(), Fault> {
        let arguments = &words[self.words.clone()];
        // SAFETY: promised by the caller.
        unsafe {
            match &self.what {
                What::Kernel { function, grid, threads } => {
                    function.launch(stream, *grid, *threads, arguments)
                }
                What::Product { product, label } => {
                    product.run(stream, arguments).map_err(|fault| with_label(fault, label))
                }
            }
        }
    }
}

impl LaunchBatch {
    /// Adds a launch with these arguments to the end.
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
        self.add(What::Kernel { function, grid, threads }, start, results);
    }

    /// Adds a product to the end.
    pub fn push_product<'a>(
        &mut self,
        product: Product,
        label: &Label,
        words: &[u64],
        results: impl Iterator<Item = &'a Arc<Buffer>>,
    ) {
        let start = self.words.len();
        self.words.extend(words);
        self.add(What::Product { product, label: label.clone() }, start, results);
    }

    fn add<'a>(
        &mut self,
        what: What,
        start: usize,
        results: impl Iterator<Item = &'a Arc<Buffer>>,
    ) {
        let (words, first) = (start..self.words.len(), self.results.len());
        self.results.extend(results.map(Arc::downgrade));
        let launch = Launched { what, words, results: first };
        self.hash = launch.mixed_into(self.hash);
        self.launches.push(launch);
    }

    /// After how many launches the same come again, to the end; the last time they may be fewer. `None` if that is
    /// not so, or they come seldom.
    fn period(&self) -> Option<usize> {
        let periods = 1..=MOST_PERIOD.min(self.launches.len() / LEAST_PERIODS);
        periods.into_iter().find(|&period| {
            let again = self.launches[period..].iter().zip(&self.launches);
            again.into_iter().all(|(a, b)| a.is_like(b))
        })
    }

    /// Takes the launches from this one on away.
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
            part.hash = part.launches.iter().fold(0, |hash, launch| launch.mixed_into(hash));
        }
        rest
    }

    /// Tells sequences of kernels apart.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// How many launches there are.
    pub fn len(&self) -> usize {
        self.launches.len()
    }

    /// Empties it. What is returned is what must be kept until the launches are done, and it is little: results
    /// that nobody has any more are forgotten here, by the thread that made them.
    fn take(&mut self, replayed: Option<Arc<[Launched]>>) -> InFlight {
        self.results.retain(|buffer| buffer.strong_count() > 0);
        let launches = replayed.unwrap_or_else(|| self.launches.drain(..).collect());
        self.launches.clear();
        self.words.clear();
        self.hash = 0;
        InFlight { _launches: launches, results: std::mem::take(&mut self.results) }
    }

    /// Marks all that the launches should have written as failed.
    fn fail(&self, fault: &Fault) {
        self.fail_from(0, fault);
    }

    /// Marks what the launches from this one on should have written as failed.
    fn fail_from(&self, first: usize, fault: &Fault) {
        let first = self.launches.get(first).map_or(self.results.len(), |launch| launch.results);
        let results = self.results[first..].iter();
        results.filter_map(Weak::upgrade).for_each(|buffer| buffer.fail(fault.clone()));
    }

    /// Puts all launches on a stream, one by one. If one cannot be, the results of all from there on fail: what
    /// comes after it may need it.
    ///
    /// # Safety
    /// As for [`Replays::launch`].
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

/// Launches that are on the driver's stream.
pub struct InFlight {
    /// Kept with their kernels.
    _launches: Arc<[Launched]>,
    results: Vec<Weak<Buffer>>,
}

impl InFlight {
    /// Marks all that is to be written as failed.
    pub fn fail(&self, fault: &Fault) {
        let results = self.results.iter().filter_map(Weak::upgrade);
        results.for_each(|buffer| buffer.fail(fault.clone()));
    }
}

/// A stream's graphs.
#[derive(Default)]
pub struct Replays {
    /// By the hash of their kernels.
    known: FxHashMap<u64, Vec<Replay>>,
    /// How often others came, by their hashes.
    seen: FxHashMap<u64, u32>,
    /// Launches of all graphs.
    kept: usize,
    /// How often a graph was launched.
    clock: u64,
    /// The hashes of those of which the driver could not make or change a graph.
    unable: FxHashSet<u64>,
    /// True iff the driver could make a graph only of kernels that are started one after another.
    is_strict: bool,
    /// Where products are captured.
    capture: Capture,
}

/// A graph, and what it was last launched with.
struct Replay {
    graph: Graph,
    launches: Arc<[Launched]>,
    words: Vec<u64>,
    last_used: u64,
}

impl Replays {
    /// Cuts what was gathered, if that is likely to come again in parts only. What is left is returned.
    pub fn cut(&mut self, gathered: &mut LaunchBatch) -> Option<LaunchBatch> {
        if self.known.contains_key(&gathered.hash) {
            return None;
        }
        let period = gathered.period()?;
        let whole = period << (gathered.len() / period).ilog2();
        if whole == gathered.len() || self.note(gathered.hash) >= OFTEN {
            return None;
        }
        Some(gathered.split_off(whole))
    }

    /// Notes that a sequence came. Says how often it had come before.
    fn note(&mut self, hash: u64) -> u32 {
        if self.seen.len() >= MOST_SEEN {
            self.seen.clear();
        }
        let count = self.seen.entry(hash).or_insert(0);
        *count += 1;
        *count - 1
    }

    /// Puts what was gathered on a stream. If that cannot be, the results of what is not there have the fault,
    /// which is also returned. Nothing is gathered any more then; what is returned must be kept until the stream
    /// has passed the launches.
    ///
    /// # Safety
    /// Each launch's arguments must be those of its kernel, laid out as it declares them. What they point to
    /// must stay valid until the stream has passed the launches.
    pub unsafe fn launch(
        &mut self,
        context: &Arc<Context>,
        gathered: &mut LaunchBatch,
        stream: Result<sys::CUstream, Fault>,
    ) -> (InFlight, Result<(), Fault>) {
        let mut replayed = None;
        let launched = match stream {
            Err(fault) => {
                gathered.fail(&fault);
                Err(fault)
            }
            Ok(stream) => match self.find(context, gathered) {
                Some(replay) => {
                    replayed = Some(replay.launches.clone());
                    // SAFETY: promised by the caller; the graph's launches are those that were gathered.
                    unsafe { replay.graph.launch(stream) }.inspect_err(|fault| gathered.fail(fault))
                }
                None => {
                    SINGLE.fetch_add(gathered.len() as u64, Ordering::Relaxed);
                    // SAFETY: promised by the caller.
                    unsafe { gathered.launch_each(stream) }
                }
            },
        };
        (gathered.take(replayed), launched)
    }

    /// A graph of what was gathered, if it came before.
    fn find(&mut self, context: &Arc<Context>, gathered: &LaunchBatch) -> Option<&mut Replay> {
        if gathered.len() < LEAST || self.unable.contains(&gathered.hash) {
            return None;
        }
        if !self.known.contains_key(&gathered.hash) && self.note(gathered.hash) == 0 {
            return None;
        }
        self.clock += 1;
        if self.capture.open(context).is_err() {
            return None;
        }
        let Replays { known, capture, .. } = self;
        let alike = known.entry(gathered.hash).or_default();
        let same = alike.iter().position(|replay| replay.is_same(gathered));
        // Only to make or change a graph something is captured.
        let _capturing = match same {
            Some(_) => None,
            None => Some(context.try_lock_capture()?),
        };
        let position = match same {
            Some(position) => {
                SAME.fetch_add(1, Ordering::Relaxed);
                position
            }
            None if alike.len() >= MOST_ALIKE => {
                let differing = alike.iter().enumerate().filter_map(|(position, replay)| {
                    replay.differences(gathered).map(|count| (count, replay.last_used, position))
                });
                let (changes, _, position) = differing.min()?;
                CHANGED.fetch_add(1, Ordering::Relaxed);
                CHANGES.fetch_add(changes as u64, Ordering::Relaxed);
                if alike[position].update(capture, gathered).is_err() {
                    self.give_up(gathered.hash);
                    return None;
                }
                position
            }
            // Other arguments are likely to come again, too.
            None => {
                let mut made = Replay::new(context, capture, gathered, !self.is_strict);
                if made.is_err() && !self.is_strict {
                    made = Replay::new(context, capture, gathered, false);
                    self.is_strict = made.is_ok();
                }
                let Ok(replay) = made else {
                    self.give_up(gathered.hash);
                    return None;
                };
                MADE.fetch_add(1, Ordering::Relaxed);
                alike.push(replay);
                self.kept += gathered.len();
                alike.len() - 1
            }
        };
        alike[position].last_used = self.clock;
        if self.kept > MOST_KEPT {
            self.forget_some();
        }
        self.known.get_mut(&gathered.hash)?.iter_mut().find(|r| r.last_used == self.clock)
    }

    /// Launches of these kernels one by one from now on.
    fn give_up(&mut self, hash: u64) {
        let replays = self.known.remove(&hash).unwrap_or_default();
        self.kept -= replays.iter().map(|replay| replay.launches.len()).sum::<usize>();
        if self.unable.len() >= MOST_SEEN {
            self.unable.clear();
        }
        self.unable.insert(hash);
    }

    /// Forgets those that were not used for the longest time, but not the one used last.
    fn forget_some(&mut self) {
        let mut all: Vec<(u64, usize)> = self
            .known
            .values()
            .flatten()
            .map(|replay| (replay.last_used, replay.launches.len()))
            .filter(|(last_used, _)| *last_used != self.clock)
            .collect();
        all.sort_unstable();
        let mut oldest_kept = 0;
        for (last_used, launches) in all {
            if self.kept <= MOST_KEPT / 2 {
                break;
            }
            self.kept -= launches;
            oldest_kept = last_used + 1;
        }
        for alike in self.known.values_mut() {
            alike.retain(|replay| replay.last_used >= oldest_kept);
        }
        self.known.retain(|_, alike| !alike.is_empty());
    }
}

impl Replay {
    fn new(
        context: &Arc<Context>,
        capture: &mut Capture,
        gathered: &LaunchBatch,
        overlaps: bool,
    ) -> Result<Replay, Fault> {
        let all = gathered.launches.iter();
        let steps = all.map(|launch| launch.with_arguments(&gathered.words));
        let graph = Graph::new(context, capture, steps, overlaps)?;
        let (launches, words) = (gathered.launches.clone().into(), gathered.words.clone());
        Ok(Replay { graph, launches, words, last_used: 0 })
    }

    /// Whether these are the same kernels.
    fn is_like(&self, gathered: &LaunchBatch) -> bool {
        self.launches.len() == gathered.launches.len()
            && self.launches.iter().zip(&gathered.launches).all(|(a, b)| a.is_like(b))
    }

    /// Whether these are the same kernels with the same arguments.
    fn is_same(&self, gathered: &LaunchBatch) -> bool {
        self.words == gathered.words && self.is_like(gathered)
    }

    /// How many launches have other arguments. `None` if these are other kernels.
    fn differences(&self, gathered: &LaunchBatch) -> Option<usize> {
        if !self.is_like(gathered) {
            return None;
        }
        let differ = |launch: &&Launched| {
            self.words[launch.words.clone()] != gathered.words[launch.words.clone()]
        };
        Some(self.launches.iter().filter(differ).count())
    }

    /// Gives the graph the arguments of what was gathered.
    fn update(&mut self, capture: &mut Capture, gathered: &LaunchBatch) -> Result<(), Fault> {
        for (position, launch) in self.launches.iter().enumerate() {
            let range = launch.words.clone();
            if self.words[range.clone()] != gathered.words[range] {
                self.graph.set(capture, position, &launch.with_arguments(&gathered.words))?;
            }
        }
        self.words.copy_from_slice(&gathered.words);
        Ok(())
    }
}

/// The fault of a launch that no device of this kind can run.
pub fn too_many_threads(function: &Function, threads: u32) -> Option<Fault> {
    let most = function.max_threads();
    (threads > most).then(|| {
        let message =
            format!("a kernel that has room for {most} threads of the {threads} it needs");
        FaultKind::Unsupported(message).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches of these kernels; the arguments of each are its position, as often as its kernel's number says.
    fn gathered(functions: &[Arc<Function>], kernels: &[usize]) -> LaunchBatch {
        let mut gathered = LaunchBatch::default();
        for (position, &kernel) in kernels.iter().enumerate() {
            let words = vec![position as u64; kernel + 1];
            let results = Buffer::declare(4);
            let function = functions[kernel].clone();
            gathered.push(function, [1, 1], 32, &words, std::iter::once(&results));
        }
        gathered
    }

    #[test]
    fn what_comes_again_is_cut_into_parts_that_come_again() {
        let functions = [Function::unloaded(), Function::unloaded(), Function::unloaded()];
        let gathered = |kernels: &[usize]| gathered(&functions, kernels);
        assert_eq!(gathered(&[0; 7]).period(), Some(1));
        assert_eq!(gathered(&[0, 1, 0, 1, 0, 1, 0, 1, 0]).period(), Some(2));
        assert_eq!(gathered(&[0, 1, 0, 1, 0, 1]).period(), None);
        assert_eq!(gathered(&[0, 0, 0, 0, 1]).period(), None);
        let lengths = |kernels: &[usize]| {
            let (mut replays, mut part) = (Replays::default(), gathered(kernels));
            let mut lengths = Vec::new();
            loop {
                let rest = replays.cut(&mut part);
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
    fn a_sequence_that_comes_often_is_not_cut() {
        let functions = [Function::unloaded()];
        let mut replays = Replays::default();
        for _ in 0..OFTEN {
            assert!(replays.cut(&mut gathered(&functions, &[0; 6])).is_some());
        }
        assert!(replays.cut(&mut gathered(&functions, &[0; 6])).is_none());
    }

    #[test]
    fn a_part_is_what_it_would_be_by_itself() {
        let functions = [Function::unloaded(), Function::unloaded()];
        let mut whole = gathered(&functions, &[0, 1, 0, 1, 1]);
        let rest = whole.split_off(2);
        let [first, second] =
            [&[0, 1][..], &[0, 1, 1]].map(|kernels| gathered(&functions, kernels));
        assert_eq!((whole.hash, rest.hash), (first.hash, second.hash));
        assert_ne!(whole.hash, rest.hash);
        assert_eq!(whole.words, [0, 1, 1]);
        assert_eq!(rest.words, [2, 3, 3, 4, 4]);
        assert_eq!((whole.results.len(), rest.results.len()), (2, 3));
        let places = rest.launches.iter().map(|launch| (launch.words.clone(), launch.results));
        assert_eq!(places.collect::<Vec<_>>(), [(0..1, 0), (1..3, 1), (3..5, 2)]);
    }
}
