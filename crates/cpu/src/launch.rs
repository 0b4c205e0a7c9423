//! Kernel launches: partition of a launch's domain among threads, and execution of the parts as machine code or by the
//! block interpreter.

use crate::call::{Call, Part, Scratch, with_scratch};
use crate::device::Path;
use crate::workers::{Workers, panic_fault};
use crate::{block, emit};
use inflight_backend::{FaultKind, Pool};
use inflight_ir::Scalar;
use inflight_ir::kernel::{
    AccessId, InPlacePair, Kernel, Kind, LaunchShape, VectorAxis, expand, in_place_pairs,
};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A launch of less work than this runs on one thread: handing a part to another thread costs as much. About 16 Ki
/// elements of `a + b`.
const MIN_PARALLEL_WORK: usize = 64 << 10;

/// Minimum work of a part, except the last.
const MIN_PART_WORK: usize = MIN_PARALLEL_WORK / 4;

/// Parts for each thread, for load balance: a delayed thread does not delay the launch.
const PARTS_PER_THREAD: usize = 4;

/// Parts of the vector axis begin at multiples of this, so that two never write to one cache line.
const VECTOR_ALIGNMENT: usize = 64;

/// Minimum columns of a part of a column reduction: it reads this many adjacent elements of each row.
const MIN_COLUMNS: usize = 512;

/// A compiled kernel, with the properties that its launches are partitioned by.
pub struct CompiledKernel {
    code: KernelCode,
    /// Work per point of the domain, in simple vector instructions.
    cost: usize,
    grid_rank: usize,
    /// Whether the points of the vector axis are independent, so that threads may share them.
    has_parallel_vector: bool,
    /// Scattering or combining stores: several points of the vector axis may write one address.
    colliding_stores: Vec<AccessId>,
    /// Whether it is a column reduction: each point of the vector axis is a column.
    reduces_columns: bool,
    /// Operands and results that may share memory (in-place reuse).
    in_place_pairs: Vec<InPlacePair>,
    /// The source of the launches' scratch memory.
    pool: Arc<Pool>,
}

/// The executable form of a kernel.
enum KernelCode {
    /// Machine code.
    Native(emit::Code),
    /// The block interpreter.
    Block(block::Program),
}

/// Compiles a kernel to machine code, or for the block interpreter if the emitter does not support it.
pub fn compile(kernel: &Kernel, path: Path, pool: &Arc<Pool>) -> CompiledKernel {
    let native = path.isa().and_then(|isa| emit::compile(kernel, isa).ok());
    CompiledKernel::new(kernel, native, pool)
}

/// Loads a kernel that [`CompiledKernel::save`] serialized on the same path. `None` if the bytes are not valid.
pub fn load(kernel: &Kernel, path: Path, saved: &[u8], pool: &Arc<Pool>) -> Option<CompiledKernel> {
    let native = match saved {
        [] => None,
        code => Some(emit::load(kernel, path.isa()?, code)?),
    };
    Some(CompiledKernel::new(kernel, native, pool))
}

impl CompiledKernel {
    fn new(kernel: &Kernel, native: Option<emit::Code>, pool: &Arc<Pool>) -> CompiledKernel {
        let code = match native {
            Some(code) => KernelCode::Native(code),
            None => KernelCode::Block(block::Program::new(kernel)),
        };
        CompiledKernel {
            code,
            cost: cost(kernel),
            grid_rank: kernel.grid_rank,
            has_parallel_vector: kernel.vector == VectorAxis::Parallel,
            colliding_stores: colliding_stores(kernel),
            reduces_columns: kernel.reduces_columns(),
            in_place_pairs: portable_in_place_pairs(kernel),
            pool: pool.clone(),
        }
    }

    /// Operands and results that may share memory (in-place reuse).
    pub fn in_place_pairs(&self) -> &[InPlacePair] {
        &self.in_place_pairs
    }

    /// The source of the launches' scratch memory.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Whether threads may share a launch's vector axis: its points are independent, and no two write one address.
    fn can_split_vector(&self, shape: &LaunchShape) -> bool {
        self.has_parallel_vector
            && self
                .colliding_stores
                .iter()
                .all(|&access| is_disjoint(shape, self.grid_rank, access))
    }

    /// Serializes the machine code; empty for the block interpreter, whose program is rebuilt on load.
    pub fn save(&self) -> Vec<u8> {
        match &self.code {
            KernelCode::Native(code) => code.save(),
            KernelCode::Block(_) => Vec::new(),
        }
    }
}

/// The in-place pairs that are valid both for machine code and for the block interpreter: machine code is compiled from
/// the expanded kernel, which may be scheduled in another order.
fn portable_in_place_pairs(kernel: &Kernel) -> Vec<InPlacePair> {
    let mut both = in_place_pairs(kernel);
    if !both.is_empty() {
        let expanded = in_place_pairs(&expand(kernel));
        let is_in_expanded = |pair: &InPlacePair| {
            let pair = (pair.read, pair.written);
            expanded.iter().any(|other| (other.read, other.written) == pair)
        };
        both.retain(is_in_expanded);
    }
    both
}

/// A launch with its kernel and the addresses of its buffers.
pub struct PreparedLaunch<'a> {
    /// The kernel.
    pub compiled: &'a CompiledKernel,
    /// The address of each of its buffers.
    pub buffers: SmallVec<[*mut u8; 6]>,
    /// The values of its scalars.
    pub scalars: &'a [Scalar],
    /// Extents and maps.
    pub shape: &'a LaunchShape,
}

/// A launch bound to its memory, to be run any number of times.
pub enum BoundLaunch<'a> {
    /// Machine code with its argument block.
    NativeCode(emit::BoundCode<'a>),
    /// A launch that runs as one part on the current thread.
    SinglePart(PreparedLaunch<'a>, Part),
    /// A launch with enough work for several threads.
    Parallel(PreparedLaunch<'a>),
}

impl<'a> BoundLaunch<'a> {
    /// Binds a launch.
    ///
    /// # Safety
    /// As for [`run`], each time it runs.
    pub unsafe fn new(launch: PreparedLaunch<'a>) -> BoundLaunch<'a> {
        let PreparedLaunch { compiled, shape, .. } = launch;
        if work(compiled, shape) >= MIN_PARALLEL_WORK {
            return BoundLaunch::Parallel(launch);
        }
        let part = Partition::new(compiled, shape, 1).part(0);
        let call = Call { buffers: &launch.buffers, scalars: launch.scalars, shape };
        let code = match &compiled.code {
            // SAFETY: promised by the caller. The argument block holds the addresses.
            KernelCode::Native(code) => unsafe { code.bind(&call, &part, &compiled.pool) },
            KernelCode::Block(_) => None,
        };
        match code {
            Some(code) => BoundLaunch::NativeCode(code),
            None => BoundLaunch::SinglePart(launch, part),
        }
    }

    /// Runs the launch, on the current thread unless it has enough work for several.
    ///
    /// # Safety
    /// As for [`run`].
    pub unsafe fn run(&self, workers: &Workers) -> Result<(), FaultKind> {
        // SAFETY: promised by the caller.
        unsafe {
            match self {
                BoundLaunch::NativeCode(code) => code.run(),
                BoundLaunch::SinglePart(launch, part) => {
                    let PreparedLaunch { compiled, buffers, scalars, shape } = launch;
                    compiled.run_part(&Call { buffers, scalars, shape }, part);
                }
                BoundLaunch::Parallel(launch) => {
                    let mut failed = run(workers, std::slice::from_ref(launch)).into_iter();
                    return failed.next().map_or(Ok(()), |(_, fault)| Err(fault));
                }
            }
        }
        Ok(())
    }
}

/// Runs a batch of independent launches in one parallel loop. Returns the indices of the launches that failed, with
/// their faults; the others have run.
///
/// # Safety
/// The buffers must match the kernels: at every address that the shapes' maps reach there must be an element. No other
/// thread and no other launch of the batch may write it meanwhile, nor access it at all if the kernel writes it.
pub unsafe fn run(workers: &Workers, launches: &[PreparedLaunch<'_>]) -> Vec<(usize, FaultKind)> {
    // A batch of small launches runs on one thread if their total work is small.
    let work = launches.iter().map(|launch| work(launch.compiled, launch.shape));
    let threads = match work.fold(0, usize::saturating_add) >= MIN_PARALLEL_WORK {
        true => workers.thread_count(),
        false => 1,
    };
    let partitions: SmallVec<[(Partition, usize); 1]> = launches
        .iter()
        .scan(0, |parts, launch| {
            let partition = Partition::new(launch.compiled, launch.shape, threads);
            *parts += partition.parts();
            Some((partition, *parts))
        })
        .collect();
    let parts = partitions.last().map_or(0, |(_, parts)| *parts);
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
        let launch = partitions.partition_point(|(_, parts)| *parts <= index);
        let (partition, end) = &partitions[launch];
        let part = partition.part(index + partition.parts() - end);
        let (kernel, call) = (compiled[launch], calls[launch].get());
        // SAFETY: promised by the caller; the parts of a launch are independent of each other.
        let run = catch_unwind(AssertUnwindSafe(|| unsafe { kernel.run_part(call, &part) }));
        if let Err(panic) = run {
            failed.lock().push((launch, panic_fault(panic)));
        }
    };
    let run = match threads {
        1 => workers.parallel_for(1, &|_| (0..parts).for_each(run_part)),
        _ => workers.parallel_for(parts, &run_part),
    };
    let mut failed = failed.into_inner();
    if let Err(fault) = run {
        failed.extend((0..launches.len()).map(|launch| (launch, fault.clone())));
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
        with_scratch(&self.pool, |scratch| unsafe { self.code.run(call, part, scratch) });
    }

    /// Like [`run_part`](CompiledKernel::run_part), without non-temporal stores: the results stay in the caches, because
    /// the GEMM reads them next.
    ///
    /// # Safety
    /// As for [`run_part`](CompiledKernel::run_part).
    pub unsafe fn run_part_in_cache(&self, call: &Call, part: &Part) {
        // SAFETY: promised by the caller.
        with_scratch(&self.pool, |scratch| unsafe {
            match &self.code {
                KernelCode::Native(code) => code.run_in_cache(call, part, scratch),
                KernelCode::Block(program) => program.run(call, part, scratch),
            }
        });
    }
}

impl KernelCode {
    /// # Safety
    /// As for [`run`]; other threads may run other parts of the same call.
    unsafe fn run(&self, call: &Call, part: &Part, scratch: &mut Scratch) {
        // SAFETY: promised by the caller.
        unsafe {
            match self {
                KernelCode::Native(code) => code.run(call, part, scratch),
                KernelCode::Block(program) => program.run(call, part, scratch),
            }
        }
    }
}

/// A call whose parts run on several threads.
struct SharedCall<'a>(Call<'a>);

// SAFETY: the call is only read; by the contract of `run`, the memory at its addresses is for this launch to use, from
// any thread.
unsafe impl Sync for SharedCall<'_> {}

impl<'a> SharedCall<'a> {
    fn get(&self) -> &Call<'a> {
        &self.0
    }
}

/// The partition of a launch: ranges of the grid times ranges of the vector axis, of equal length except the last.
#[derive(Debug)]
struct Partition {
    grid: Ranges,
    vector: Ranges,
}

/// `0..extent`, divided into ranges of `step`.
#[derive(Debug)]
struct Ranges {
    extent: usize,
    step: usize,
}

impl Partition {
    fn new(compiled: &CompiledKernel, shape: &LaunchShape, threads: usize) -> Partition {
        let (grid_extents, tile_extents) = shape.extents.split_at(compiled.grid_rank);
        let programs: usize = grid_extents.iter().product();
        let lanes = tile_extents.last().copied().unwrap_or(1);
        let (mut grid, mut vector) = (Ranges::undivided(programs), Ranges::undivided(lanes));

        let work = work(compiled, shape);
        if threads > 1 && work >= MIN_PARALLEL_WORK {
            let parts = (threads * PARTS_PER_THREAD).min(work / MIN_PART_WORK).max(1);
            grid.step = programs.div_ceil(parts).max(1);
            if programs < parts && compiled.can_split_vector(shape) {
                let mut step = lanes.max(1).div_ceil(parts.div_ceil(programs));
                if compiled.reduces_columns {
                    // Prefer wide parts to many, as long as there is one for each thread.
                    let most = lanes.max(1).div_ceil(threads.div_ceil(programs));
                    step = step.max(MIN_COLUMNS.min(most));
                }
                vector.step = step.next_multiple_of(VECTOR_ALIGNMENT);
            }
        }
        Partition { grid, vector }
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
    fn undivided(extent: usize) -> Ranges {
        Ranges { extent, step: extent.max(1) }
    }

    /// The number of ranges, at least one: an empty axis is one empty range, so that programs with an empty tile run.
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
    // A program with an empty tile still stores the identity elements of its reductions.
    let tile = tile.iter().product::<usize>().max(1);
    let programs = grid.iter().product::<usize>();
    programs.saturating_mul(tile).saturating_mul(compiled.cost)
}

/// The work of a kernel per point of its domain, in simple vector instructions.
fn cost(kernel: &Kernel) -> usize {
    let cost = |kind: &Kind| match kind {
        Kind::Constant(_) | Kind::Scalar(_) | Kind::Bitcast(_) => 0,
        Kind::Unary(..) => 4,
        Kind::Load { index: Some(_), .. } | Kind::Store { index: Some(_), .. } => 4,
        _ => 1,
    };
    kernel.body.iter().map(|instruction| cost(&instruction.kind)).sum::<usize>().max(1)
}

/// Scattering or combining stores: several points may write one address.
fn colliding_stores(kernel: &Kernel) -> Vec<AccessId> {
    let colliding_access = |kind: &Kind| match *kind {
        Kind::Store { access, index, combine, .. } => {
            (index.is_some() || combine.is_some()).then_some(access)
        }
        _ => None,
    };
    kernel.body.iter().filter_map(|instruction| colliding_access(&instruction.kind)).collect()
}

/// Whether no two points of the vector axis write one address, whatever the index: one index step exceeds the axis, as
/// when whole rows are scattered.
fn is_disjoint(shape: &LaunchShape, grid_rank: usize, access: AccessId) -> bool {
    let map = &shape.accesses[access as usize];
    let (Some((vector, others)), Some(&points)) = (map.strides.split_last(), shape.extents.last())
    else {
        return false;
    };
    let reach = vector.unsigned_abs().saturating_mul(points.saturating_sub(1));
    let exceeds_axis = map.index_stride == 0 || map.index_stride.unsigned_abs() > reach;
    *vector != 0 && exceeds_axis && others[grid_rank..].iter().all(|&stride| stride == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(
        extents: &[usize],
        grid_rank: usize,
        can_split_vector: bool,
        threads: usize,
    ) -> Vec<Part> {
        let kernel = Kernel {
            params: vec![],
            scalars: vec![],
            accesses: vec![],
            grid_rank,
            reduce_rank: extents.len() - grid_rank - 1,
            vector: VectorAxis::Parallel,
            body: vec![],
        };
        let code = KernelCode::Block(block::Program::new(&kernel));
        let compiled = CompiledKernel {
            code,
            cost: 4,
            grid_rank,
            has_parallel_vector: can_split_vector,
            colliding_stores: Vec::new(),
            reduces_columns: kernel.reduces_columns(),
            in_place_pairs: Vec::new(),
            pool: crate::memory::pool(),
        };
        let shape = LaunchShape { extents: extents.into(), accesses: vec![] };
        let partition = Partition::new(&compiled, &shape, threads);
        (0..partition.parts()).map(|index| partition.part(index)).collect()
    }

    /// Asserts that every program at every point of the vector axis is in exactly one part.
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
                        let parts = partition(&[programs, lanes], 1, splits, threads);
                        assert_covers(&parts, programs, lanes);
                        assert!(splits || parts.iter().all(|part| part.vector == (0..lanes)));
                        assert!(parts.iter().all(|part| part.vector.start % VECTOR_ALIGNMENT == 0));
                    }
                }
            }
        }
    }

    #[test]
    fn small_launches_are_one_part_and_large_ones_several_per_thread() {
        assert_eq!(partition(&[100, 100], 1, true, 8).len(), 1);
        assert_eq!(partition(&[1 << 20], 0, true, 2).len(), 8);
        assert_eq!(partition(&[1 << 10, 1 << 10], 1, false, 2).len(), 8);
        assert_eq!(partition(&[1 << 20], 0, true, 1).len(), 1);
        assert_eq!(partition(&[1 << 20], 0, false, 2).len(), 1);
        // Column reductions: one part for each thread rather than many narrow ones.
        assert_eq!(partition(&[1 << 10, 1 << 10], 0, true, 2).len(), 2);
        assert_eq!(partition(&[1 << 10, 256], 0, true, 2).len(), 2);
        assert_eq!(partition(&[1 << 10, 1 << 14], 0, true, 2).len(), 8);
    }

    #[test]
    fn scattered_rows_split_the_vector_axis_and_scattered_elements_do_not() {
        use inflight_ir::kernel::AccessShape;
        let disjoint = |strides: &[isize], index_stride| {
            let access =
                AccessShape { offset: 0, strides: strides.iter().copied().collect(), index_stride };
            let shape =
                LaunchShape { extents: [5, 100].into_iter().collect(), accesses: vec![access] };
            is_disjoint(&shape, 0, 0)
        };
        assert!(disjoint(&[0, 1], 100), "rows of a table");
        assert!(!disjoint(&[0, 1], 1), "adjacent points may write one address");
        assert!(!disjoint(&[0, 0], 1), "all points may write one address");
        assert!(!disjoint(&[99, 1], 100), "consecutive rows overlap");
    }

    #[test]
    fn a_reduction_over_an_empty_axis_runs_every_program() {
        let parts = partition(&[5, 0, 3], 1, true, 2);
        assert_eq!(parts, [Part { grid: 0..5, vector: 0..3 }]);
        assert_eq!(partition(&[0, 3], 1, true, 2), [Part { grid: 0..0, vector: 0..3 }]);
    }
}
