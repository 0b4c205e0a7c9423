//! How a launch is cut into parts, and the parts run.

use crate::call::{Call, Part, Scratch, with_scratch};
use crate::device::Path;
use crate::workers::{Workers, panic_message};
use crate::{block, emit};
use inflight_ir::Scalar;
use inflight_ir::kernel::{
    AccessId, InPlacePair, Kernel, Kind, LaunchShape, VectorAxis, expand, in_place_pairs,
};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A launch of less work than this runs on one thread: handing a part to another costs as much. About
/// 16 Ki elements of `a + b`.
const SERIAL: usize = 64 << 10;

/// No part is smaller than this, unless it is the last.
const MIN_PART: usize = SERIAL / 4;

/// Parts for each thread, so that one that is held up does not hold up the launch.
const PARTS_PER_THREAD: usize = 4;

/// Parts of the vector axis begin at multiples of this, so that two never write to one cache line.
const VECTOR_STEP: usize = 64;

/// A part of a column reduction has at least this many columns: of each row it reads so much that is contiguous.
const MIN_COLUMNS: usize = 512;

/// A kernel that is ready to run, and what its launches need to know of it.
pub struct CompiledKernel {
    code: Compiled,
    /// The work for one point of the domain, in instructions.
    cost: usize,
    grid_rank: usize,
    /// Whether the points of the vector axis may be given to different threads: not if they depend on each other.
    parallel_vector: bool,
    /// Stores that an index or a combination may lead to one place from several points of the vector axis.
    meeting: Vec<AccessId>,
    /// Whether it folds rows, so that each point of the vector axis is a column.
    reduces_columns: bool,
    /// The results that may take over the memory of an operand.
    reuses: Vec<InPlacePair>,
}

/// The two ways to run a kernel.
enum Compiled {
    /// Machine code.
    Native(emit::Code),
    /// The block interpreter.
    Block(block::Program),
}

/// Makes a kernel ready to run: as machine code where that is possible, for the block interpreter
/// otherwise.
pub fn compile(kernel: &Kernel, path: Path) -> CompiledKernel {
    let native = path.isa().and_then(|isa| emit::compile(kernel, isa).ok());
    CompiledKernel::new(kernel, native)
}

/// The kernel that [`CompiledKernel::save`] made these bytes of, on the same path. `None` if they are not such.
pub fn load(kernel: &Kernel, path: Path, saved: &[u8]) -> Option<CompiledKernel> {
    let native = match saved {
        [] => None,
        code => Some(emit::load(kernel, path.isa()?, code)?),
    };
    Some(CompiledKernel::new(kernel, native))
}

impl CompiledKernel {
    fn new(kernel: &Kernel, native: Option<emit::Code>) -> CompiledKernel {
        let code = match native {
            Some(code) => Compiled::Native(code),
            None => Compiled::Block(block::Program::new(kernel)),
        };
        CompiledKernel {
            code,
            cost: cost(kernel),
            grid_rank: kernel.grid_rank,
            parallel_vector: kernel.vector == VectorAxis::Parallel,
            meeting: meeting(kernel),
            reduces_columns: kernel.reduces_columns(),
            reuses: reuses_both_ways(kernel),
        }
    }

    /// The results that may take over the memory of an operand.
    pub fn in_place_pairs(&self) -> &[InPlacePair] {
        &self.reuses
    }

    /// Whether a launch's vector axis may be divided: its points are independent, and none stores to a place that
    /// another leads to as well.
    fn splits_vector(&self, shape: &LaunchShape) -> bool {
        self.parallel_vector
            && self.meeting.iter().all(|&access| is_apart(shape, self.grid_rank, access))
    }

    /// Its machine code; nothing for the block interpreter, which is made anew.
    pub fn save(&self) -> Vec<u8> {
        match &self.code {
            Compiled::Native(code) => code.save(),
            Compiled::Block(_) => Vec::new(),
        }
    }
}

/// What may be reused whichever way the kernel runs: machine code is made from the expanded kernel, which may be
/// scheduled in another order.
fn reuses_both_ways(kernel: &Kernel) -> Vec<InPlacePair> {
    let mut both = in_place_pairs(kernel);
    if !both.is_empty() {
        let expanded = in_place_pairs(&expand(kernel));
        let known = |reuse: &InPlacePair| {
            let pair = (reuse.read, reuse.written);
            expanded.iter().any(|other| (other.read, other.written) == pair)
        };
        both.retain(known);
    }
    both
}

/// A launch with everything it needs at hand.
pub struct Prepared<'a> {
    /// The kernel.
    pub compiled: &'a CompiledKernel,
    /// The address of each of its buffers.
    pub buffers: SmallVec<[*mut u8; 6]>,
    /// The values of its scalars.
    pub scalars: &'a [Scalar],
    /// Extents and maps.
    pub shape: &'a LaunchShape,
}

/// A small launch that can be run any number of times on the memory it was bound to.
pub enum BoundLaunch<'a> {
    /// Machine code with its arguments filled in.
    Code(emit::BoundCode<'a>),
    /// All of it, walked anew each time.
    Whole(Prepared<'a>, Part),
    /// One that is worth several threads.
    Shared(Prepared<'a>),
}

impl<'a> BoundLaunch<'a> {
    /// Makes a launch ready to run again and again.
    ///
    /// # Safety
    /// As for [`run`], whenever it is run.
    pub unsafe fn new(launch: Prepared<'a>) -> BoundLaunch<'a> {
        let Prepared { compiled, shape, .. } = launch;
        if work(compiled, shape) >= SERIAL {
            return BoundLaunch::Shared(launch);
        }
        let part = Cut::new(compiled, shape, 1).part(0);
        let call = Call { buffers: &launch.buffers, scalars: launch.scalars, shape };
        let code = match &compiled.code {
            // SAFETY: promised by the caller. The addresses are in the arguments.
            Compiled::Native(code) => unsafe { code.bind(&call, &part) },
            Compiled::Block(_) => None,
        };
        match code {
            Some(code) => BoundLaunch::Code(code),
            None => BoundLaunch::Whole(launch, part),
        }
    }

    /// Runs it, on this thread unless it is worth several.
    ///
    /// # Safety
    /// As for [`run`].
    pub unsafe fn run(&self, workers: &Workers) -> Result<(), String> {
        // SAFETY: promised by the caller.
        unsafe {
            match self {
                BoundLaunch::Code(code) => code.run(),
                BoundLaunch::Whole(launch, part) => {
                    let Prepared { compiled, buffers, scalars, shape } = launch;
                    compiled.run_part(&Call { buffers, scalars, shape }, part);
                }
                BoundLaunch::Shared(launch) => {
                    let mut failed = run(workers, std::slice::from_ref(launch)).into_iter();
                    return failed.next().map_or(Ok(()), |(_, message)| Err(message));
                }
            }
        }
        Ok(())
    }
}

/// Runs kernels on all the points of their launches, all at once. Returns the launches that panicked, and what they
/// said; the others have run.
///
/// # Safety
/// The buffers must be those the kernels were written for: at every address that the shapes' maps lead to
/// there must be an element, which no one else writes meanwhile, nor another of the launches, or, if the kernel
/// does, accesses.
pub unsafe fn run(workers: &Workers, launches: &[Prepared<'_>]) -> Vec<(usize, String)> {
    // Small launches are run on one thread, also if there are many: together they are as small as one.
    let work = launches.iter().map(|launch| work(launch.compiled, launch.shape));
    let threads = match work.fold(0, usize::saturating_add) >= SERIAL {
        true => workers.width(),
        false => 1,
    };
    let cuts: SmallVec<[(Cut, usize); 1]> = launches
        .iter()
        .scan(0, |parts, launch| {
            let cut = Cut::new(launch.compiled, launch.shape, threads);
            *parts += cut.parts();
            Some((cut, *parts))
        })
        .collect();
    let parts = cuts.last().map_or(0, |(_, parts)| *parts);
    let calls: SmallVec<[SharedCall<'_>; 1]> = launches
        .iter()
        .map(|launch| {
            let (buffers, scalars) = (&launch.buffers[..], launch.scalars);
            SharedCall(Call { buffers, scalars, shape: launch.shape })
        })
        .collect();
    let compiled: SmallVec<[&CompiledKernel; 1]> =
        launches.iter().map(|launch| launch.compiled).collect();
    let failed = Mutex::new(Vec::new());
    let run_part = |index: usize| {
        let launch = cuts.partition_point(|(_, parts)| *parts <= index);
        let (cut, end) = &cuts[launch];
        let part = cut.part(index + cut.parts() - end);
        let (kernel, call) = (compiled[launch], calls[launch].get());
        // SAFETY: promised by the caller; the parts of a launch are independent of each other.
        let run = catch_unwind(AssertUnwindSafe(|| unsafe { kernel.run_part(call, &part) }));
        if let Err(panic) = run {
            failed.lock().push((launch, panic_message(&*panic)));
        }
    };
    let run = match threads {
        1 => workers.parallel_for(1, &|_| (0..parts).for_each(run_part)),
        _ => workers.parallel_for(parts, &run_part),
    };
    let mut failed = failed.into_inner();
    if let Err(message) = run {
        failed.extend((0..launches.len()).map(|launch| (launch, message.clone())));
    }
    failed
}

impl CompiledKernel {
    /// Runs a part of a launch on this thread.
    ///
    /// # Safety
    /// As for [`run`]; other threads may run other parts of the same call.
    pub unsafe fn run_part(&self, call: &Call, part: &Part) {
        // SAFETY: promised by the caller.
        with_scratch(|scratch| unsafe { self.code.run(call, part, scratch) });
    }

    /// The same, for results that are read again at once: they stay in the caches.
    ///
    /// # Safety
    /// As for [`run_part`](CompiledKernel::run_part).
    pub unsafe fn run_part_in_cache(&self, call: &Call, part: &Part) {
        // SAFETY: promised by the caller.
        with_scratch(|scratch| unsafe {
            match &self.code {
                Compiled::Native(code) => code.run_in_cache(call, part, scratch),
                Compiled::Block(program) => program.run(call, part, scratch),
            }
        });
    }
}

impl Compiled {
    /// # Safety
    /// As for [`run`]; other threads may run other parts of the same call.
    unsafe fn run(&self, call: &Call, part: &Part, scratch: &mut Scratch) {
        // SAFETY: promised by the caller.
        unsafe {
            match self {
                Compiled::Native(code) => code.run(call, part, scratch),
                Compiled::Block(program) => program.run(call, part, scratch),
            }
        }
    }
}

/// A call whose parts run on several threads.
struct SharedCall<'a>(Call<'a>);

// SAFETY: the call is only read; what is at its addresses is, by the contract of `run`, for this launch
// to use, from any thread.
unsafe impl Sync for SharedCall<'_> {}

impl<'a> SharedCall<'a> {
    fn get(&self) -> &Call<'a> {
        &self.0
    }
}

/// How a launch is divided: into ranges of the grid times ranges of the vector axis, equal but for the
/// last.
#[derive(Debug)]
struct Cut {
    grid: Ranges,
    vector: Ranges,
}

/// The numbers below `extent`, in ranges of `step`.
#[derive(Debug)]
struct Ranges {
    extent: usize,
    step: usize,
}

impl Cut {
    fn new(compiled: &CompiledKernel, shape: &LaunchShape, threads: usize) -> Cut {
        let (grid_extents, tile_extents) = shape.extents.split_at(compiled.grid_rank);
        let programs: usize = grid_extents.iter().product();
        let lanes = tile_extents.last().copied().unwrap_or(1);
        let (mut grid, mut vector) = (Ranges::whole(programs), Ranges::whole(lanes));

        let work = work(compiled, shape);
        if threads > 1 && work >= SERIAL {
            let parts = (threads * PARTS_PER_THREAD).min(work / MIN_PART).max(1);
            grid.step = programs.div_ceil(parts).max(1);
            if programs < parts && compiled.splits_vector(shape) {
                let mut step = lanes.max(1).div_ceil(parts.div_ceil(programs));
                if compiled.reduces_columns {
                    // Rather wide than many, as long as there is one for each thread.
                    let most = lanes.max(1).div_ceil(threads.div_ceil(programs));
                    step = step.max(MIN_COLUMNS.min(most));
                }
                vector.step = step.next_multiple_of(VECTOR_STEP);
            }
        }
        Cut { grid, vector }
    }

    fn parts(&self) -> usize {
        self.grid.count() * self.vector.count()
    }

    fn part(&self, index: usize) -> Part {
        let ranges = self.vector.count();
        Part { grid: self.grid.range(index / ranges), vector: self.vector.range(index % ranges) }
    }
}

impl Ranges {
    fn whole(extent: usize) -> Ranges {
        Ranges { extent, step: extent.max(1) }
    }

    /// At least one, unless there is nothing at all: an empty vector axis is one empty range.
    fn count(&self) -> usize {
        self.extent.div_ceil(self.step).max(1)
    }

    fn range(&self, index: usize) -> Range<usize> {
        index * self.step..((index + 1) * self.step).min(self.extent)
    }
}

/// The work of a launch, in simple vector instructions on one element each.
fn work(compiled: &CompiledKernel, shape: &LaunchShape) -> usize {
    let (grid, tile) = shape.extents.split_at(compiled.grid_rank);
    // A program with an empty tile still stores what its reductions are of nothing.
    let tile = tile.iter().product::<usize>().max(1);
    let programs = grid.iter().product::<usize>();
    programs.saturating_mul(tile).saturating_mul(compiled.cost)
}

/// The work of a kernel for each point, in simple vector instructions.
fn cost(kernel: &Kernel) -> usize {
    let cost = |kind: &Kind| match kind {
        Kind::Constant(_) | Kind::Scalar(_) | Kind::Bitcast(_) => 0,
        Kind::Unary(..) => 4,
        Kind::Load { index: Some(_), .. } | Kind::Store { index: Some(_), .. } => 4,
        _ => 1,
    };
    kernel.body.iter().map(|instruction| cost(&instruction.kind)).sum::<usize>().max(1)
}

/// The stores that an index or a combination may lead to one place from several points.
fn meeting(kernel: &Kernel) -> Vec<AccessId> {
    let meets = |kind: &Kind| match *kind {
        Kind::Store { access, index, combine, .. } => {
            (index.is_some() || combine.is_some()).then_some(access)
        }
        _ => None,
    };
    kernel.body.iter().filter_map(|instruction| meets(&instruction.kind)).collect()
}

/// Whether no two points of the vector axis lead to one place, whatever the index is: what it adds goes beyond all
/// of them, as from row to row.
fn is_apart(shape: &LaunchShape, grid_rank: usize, access: AccessId) -> bool {
    let map = &shape.accesses[access as usize];
    let (Some((vector, others)), Some(&points)) = (map.strides.split_last(), shape.extents.last())
    else {
        return false;
    };
    let reach = vector.unsigned_abs().saturating_mul(points.saturating_sub(1));
    let beyond = map.index_stride == 0 || map.index_stride.unsigned_abs() > reach;
    *vector != 0 && beyond && others[grid_rank..].iter().all(|&stride| stride == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(extents: &[usize], grid_rank: usize, splits_vector: bool, threads: usize) -> Vec<Part> {
        let kernel = Kernel {
            params: vec![],
            scalars: vec![],
            accesses: vec![],
            grid_rank,
            reduce_rank: extents.len() - grid_rank - 1,
            vector: VectorAxis::Parallel,
            body: vec![],
        };
        let code = Compiled::Block(block::Program::new(&kernel));
        let reuses = Vec::new();
        let compiled = CompiledKernel {
            code,
            cost: 4,
            grid_rank,
            parallel_vector: splits_vector,
            meeting: Vec::new(),
            reduces_columns: kernel.reduces_columns(),
            reuses,
        };
        let shape = LaunchShape { extents: extents.into(), accesses: vec![] };
        let cut = Cut::new(&compiled, &shape, threads);
        (0..cut.parts()).map(|index| cut.part(index)).collect()
    }

    /// Every program at every point of the vector axis is in exactly one part.
    fn assert_covers(parts: &[Part], programs: usize, lanes: usize) {
        let mut seen = vec![0u8; programs * lanes];
        for part in parts {
            for program in part.grid.clone() {
                for lane in part.vector.clone() {
                    seen[program * lanes + lane] += 1;
                }
            }
        }
        assert!(seen.iter().all(|&count| count == 1), "{parts:?}");
    }

    #[test]
    fn parts_cover_every_point_once() {
        for programs in [1, 2, 3, 7, 64, 1000] {
            for lanes in [1, 63, 64, 65, 1000, 70_000] {
                if programs * lanes > 5_000_000 {
                    continue;
                }
                for splits in [false, true] {
                    for threads in [1, 2, 3, 16] {
                        let parts = cut(&[programs, lanes], 1, splits, threads);
                        assert_covers(&parts, programs, lanes);
                        assert!(splits || parts.iter().all(|part| part.vector == (0..lanes)));
                        assert!(parts.iter().all(|part| part.vector.start % VECTOR_STEP == 0));
                    }
                }
            }
        }
    }

    #[test]
    fn small_launches_are_one_part_and_large_ones_a_few_for_each_thread() {
        assert_eq!(cut(&[100, 100], 1, true, 8).len(), 1);
        assert_eq!(cut(&[1 << 20], 0, true, 2).len(), 8);
        assert_eq!(cut(&[1 << 10, 1 << 10], 1, false, 2).len(), 8);
        assert_eq!(cut(&[1 << 20], 0, true, 1).len(), 1);
        assert_eq!(cut(&[1 << 20], 0, false, 2).len(), 1);
        // Columns: one part for each thread rather than many narrow ones.
        assert_eq!(cut(&[1 << 10, 1 << 10], 0, true, 2).len(), 2);
        assert_eq!(cut(&[1 << 10, 256], 0, true, 2).len(), 2);
        assert_eq!(cut(&[1 << 10, 1 << 14], 0, true, 2).len(), 8);
    }

    #[test]
    fn rows_that_are_scattered_are_divided_and_elements_are_not() {
        use inflight_ir::kernel::AccessShape;
        let apart = |strides: &[isize], index_stride| {
            let access =
                AccessShape { offset: 0, strides: strides.iter().copied().collect(), index_stride };
            let shape =
                LaunchShape { extents: [5, 100].into_iter().collect(), accesses: vec![access] };
            is_apart(&shape, 0, 0)
        };
        assert!(apart(&[0, 1], 100), "rows of a table");
        assert!(!apart(&[0, 1], 1), "neighbours may be led to one place");
        assert!(!apart(&[0, 0], 1), "all are");
        assert!(!apart(&[99, 1], 100), "a row later the next place is a neighbour's");
    }

    #[test]
    fn an_empty_reduction_still_runs_its_programs() {
        let parts = cut(&[5, 0, 3], 1, true, 2);
        assert_eq!(parts, [Part { grid: 0..5, vector: 0..3 }]);
        assert_eq!(cut(&[0, 3], 1, true, 2), [Part { grid: 0..0, vector: 0..3 }]);
    }
}
