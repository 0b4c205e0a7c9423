//! Code generation: tile-IR kernels as CUDA C++ text for NVRTC.
//!
//! A [`Mapping`] says how the points of a kernel's domain are spread over threads and blocks:
//!
//! - `Elementwise`: points are independent. Each thread computes vectors of neighbouring elements (a grid-stride loop);
//! - `TransposedTiles`: elementwise as well, with square tiles that transpose some operands in shared memory;
//! - `RowReduction`: the vector axis is reduced. A warp or a block reduces a row with shuffles and keeps its elements in
//!   registers from one pass to the next if they fit;
//! - `ColumnReduction`: the vector axis is parallel and other axes are reduced. Each thread reduces some columns, threads
//!   that share columns combine partial results in shared memory, and blocks combine them in global memory (split
//!   reduction);
//! - `FusedGemm`: an elementwise kernel as the fused epilogue of a GEMM on Hopper's tensor cores (TMA, mbarrier, wgmma).
//!   See `gemm`.
//!
//! A kernel's text depends on nothing but the kernel and its [`Variant`]. Extents, strides and offsets are arguments,
//! so that a new shape compiles nothing. [`launch_config`](crate::launch_config) chooses the variant of a launch.

mod address;
pub(crate) mod bf16x3_split;
mod body;
mod column_reduction;
mod complex;
mod elementwise;
pub(crate) mod gemm;
pub(crate) mod operation;
mod prelude;
mod row_reduction;
pub(crate) mod scaled_f16_split;
pub(crate) mod split_groups;
mod transposed_tiles;
pub(crate) mod types;
mod writer;

pub use column_reduction::shared_bytes as column_shared_bytes;
pub(crate) use gemm::shared_bytes;
pub use gemm::{
    BF16X3_STAGE_K, EPILOGUE_COLUMNS, GemmPrecision, GemmTiling, MAX_STAGED_OPERANDS,
    STAGE_K_BYTES as GEMM_STAGE_K_BYTES, TF32_TILE_COLUMNS, THREADS as GEMM_THREADS,
    TILE_ROWS as GEMM_TILE_ROWS,
};
#[doc(hidden)]
pub use prelude::{waits_for_dependencies, with_functions};

use inflight_ir::elementwise::UnaryOp;
use inflight_ir::kernel::{Kernel, Kind, Level, Value, VectorAxis, expand_except};

/// Threads of a block of the `Elementwise` mapping.
pub const ELEMENTWISE_THREADS: u32 = 256;

/// Threads side by side in a block of the `ColumnReduction` mapping.
pub const COLUMN_LANES: u32 = 32;

/// Threads along the slow side of a tile of the `TransposedTiles` mapping.
pub const TILE_THREADS: u32 = 8;

/// Compile-time parameters of a kernel's text, beside the kernel. They have few values, so that few variants are
/// compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Vector width: neighbouring elements of one load or store.
    pub width: u32,
    /// Whether element indices need 64 bits.
    pub index64: bool,
    /// Bit set of the params that exceed the cache and are accessed with streaming (evict-first) loads and stores.
    pub streamed: u64,
    /// How points are spread over threads.
    pub mapping: Mapping,
}

/// How the points of a domain are spread over threads and blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// Independent points: a grid-stride loop over vectors.
    Elementwise {
        /// Vectors that a thread has in flight at once.
        unroll: u32,
        /// The grid axis along which consecutive threads lie, if it is not the vector axis.
        minor_axis: Option<u32>,
    },
    /// Independent points in square tiles; loads that are contiguous along another axis are transposed in shared
    /// memory.
    TransposedTiles {
        /// The grid axis along which the transposed loads are contiguous.
        axis: u32,
        /// Bit set of the transposed accesses.
        transposed: u64,
        /// The side of a tile.
        side: u32,
        /// Whether each tile is followed by its mirror across the diagonal, which reads the same memory.
        paired: bool,
        /// Whether all tiles are full. Without bounds checks the compiler issues all loads before the first use.
        full: bool,
    },
    /// The threads of a warp or block reduce a row together.
    RowReduction {
        /// Threads of a row: 1, 32, or a multiple of 32.
        threads: u32,
        /// Rows of a block.
        rows: u32,
        /// Vectors of a row that each thread caches in registers between passes; zero if passes reload the row.
        cached: u32,
    },
    /// Threads reduce columns, side by side.
    ColumnReduction {
        /// Threads that share a column.
        threads: u32,
        /// Whether blocks share columns, too (split reduction).
        split: bool,
    },
    /// The points of a GEMM's result, tile by tile, as its fused epilogue.
    FusedGemm(GemmTiling),
}

/// What kind of kernel this is, as far as the choice of a mapping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelClass {
    /// Points are independent.
    Elementwise,
    /// Rows are reduced or scanned.
    RowReduction {
        /// Whether stores may hit the same element, and the last one must win.
        ordered: bool,
        /// Bytes of the values of one element that are worth caching in registers between passes.
        cached_bytes: usize,
    },
    /// Columns are reduced or scanned.
    ColumnReduction {
        /// Whether the rows of a column must be visited in order.
        ordered: bool,
        /// Whether a single pass over the rows computes everything.
        single_pass: bool,
        /// Bytes of all the reductions' partial results, for one column.
        partial_bytes: usize,
    },
}

/// Expands a kernel into the instructions that code generation supports. `tanh` and `sigmoid` are not expanded: the
/// prelude has versions with an approximate reciprocal.
pub fn expanded(kernel: &Kernel) -> Kernel {
    expand_except(kernel, &[UnaryOp::Tanh, UnaryOp::Sigmoid])
}

/// Classifies an expanded kernel.
pub fn classify(kernel: &Kernel) -> KernelClass {
    let is_fold = |kind: &Kind| kind.is_reduction() || matches!(kind, Kind::Scan(..));
    let may_collide = |kind: &Kind| match *kind {
        Kind::Store { index, combine, .. } => index.is_some() || combine.is_some(),
        _ => false,
    };
    let any = |test: &dyn Fn(&Kind) -> bool| kernel.body.iter().any(|i| test(&i.kind));
    let has_passes = any(&is_fold) || (kernel.reduces() && any(&may_collide));
    if !has_passes {
        return KernelClass::Elementwise;
    }
    let scans = any(&|kind| matches!(kind, Kind::Scan(..)));
    if kernel.vector == VectorAxis::Reduced {
        let overwrites = |kind: &Kind| match *kind {
            Kind::Store { index, combine, .. } => {
                combine.is_some_and(|op| !body::is_atomic(op, kernel, kind))
                    || (index.is_some() && combine.is_none())
            }
            _ => false,
        };
        let cached = body::Passes::new(kernel).cached;
        let cached_bytes =
            cached.iter().map(|&v| kernel.body[v as usize].dtype.size().max(4)).sum();
        return KernelClass::RowReduction { ordered: any(&overwrites), cached_bytes };
    }
    let passes = body::Passes::new(kernel);
    let levels = kernel.levels();
    let tile_store =
        |at: usize| matches!(kernel.body[at].kind, Kind::Store { .. }) && levels[at] == Level::Tile;
    // A tile store of the first pass depends on no result of that pass.
    let needs_second_pass =
        |at: usize| (tile_store(at) || kernel.body[at].kind.is_reduction()) && passes.of[at] > 0;
    let single_pass = !(0..kernel.body.len()).any(needs_second_pass);
    let partial = |value: Value| body::partial_bytes(kernel, value);
    let partial_bytes = (0..kernel.body.len() as Value)
        .filter(|&value| kernel.body[value as usize].kind.is_reduction())
        .map(partial)
        .sum();
    let ordered = scans || any(&may_collide);
    KernelClass::ColumnReduction { ordered, single_pass: single_pass && !ordered, partial_bytes }
}

/// How many passes over its tile an expanded kernel makes.
pub fn pass_count(kernel: &Kernel) -> usize {
    body::Passes::new(kernel).roots.iter().filter(|roots| !roots.is_empty()).count()
}

/// The CUDA C++ text of an expanded kernel, with the functions it calls. Its entry point is `entry`.
pub fn source(kernel: &Kernel, variant: Variant) -> String {
    let body = match variant.mapping {
        Mapping::Elementwise { unroll, minor_axis } => {
            elementwise::text(kernel, variant, unroll, minor_axis)
        }
        Mapping::TransposedTiles { axis, transposed, side, paired, full } => {
            let tile = transposed_tiles::Tile { axis: axis as usize, side, paired, full };
            transposed_tiles::text(kernel, variant, &tile, transposed)
        }
        Mapping::RowReduction { threads, rows, cached } => {
            row_reduction::text(kernel, variant, threads, rows, cached)
        }
        Mapping::ColumnReduction { threads, split } => {
            column_reduction::text(kernel, variant, threads, split)
        }
        Mapping::FusedGemm(tiling) => gemm::text(kernel, variant, tiling),
    };
    prelude::with_functions(&body)
}

/// The largest vector width that a kernel's contiguous accesses allow, in elements: 16 bytes of its largest dtype.
pub fn max_vector_width(kernel: &Kernel) -> u32 {
    let sizes = kernel.accesses.iter().filter_map(|access| match access.vector {
        inflight_ir::kernel::Stride::One => {
            access.param.map(|param| kernel.params[param as usize].dtype.size())
        }
        _ => None,
    });
    match (sizes.max(), kernel.body.len()) {
        // Unrolling such a long body over a vector costs more compile time than it gains.
        (_, 1500..) => 1,
        (Some(size), _) => (16 / size as u32).clamp(1, 8),
        (None, _) => 1,
    }
}

/// Whether a pass of an expanded kernel may load from param `loaded` after an earlier pass has stored to `stored`.
/// Values that are worth caching in registers do not always fit; then a later pass recomputes them from its loads, so
/// in-place reuse of `loaded`'s memory for `stored` would be wrong.
pub fn loads_after_store(kernel: &Kernel, loaded: u32, stored: u32) -> bool {
    let passes = body::Passes::new(kernel);
    let is_of = |access: u32, param: u32| kernel.accesses[access as usize].param == Some(param);
    let stores = |value: usize| match kernel.body[value].kind {
        Kind::Store { access, .. } => is_of(access, stored),
        _ => false,
    };
    let loads = |value: &Value| match kernel.body[*value as usize].kind {
        Kind::Load { access, .. } => is_of(access, loaded),
        _ => false,
    };
    let stored_at = (0..kernel.body.len()).filter(|&value| stores(value)).map(|at| passes.of[at]);
    let Some(first) = stored_at.min() else { return false };
    (first + 1..passes.roots.len()).any(|pass| passes.values(kernel, pass, &[]).iter().any(loads))
}

/// Whether a kernel loads from a buffer that it stores to.
pub fn is_in_place(kernel: &Kernel) -> bool {
    let of = |access: u32| kernel.accesses[access as usize].param;
    kernel.body.iter().any(|instruction| match instruction.kind {
        Kind::Load { access, .. } => {
            of(access).is_some_and(|param| kernel.params[param as usize].writes)
        }
        _ => false,
    })
}

/// The argument struct of a generated kernel. [`append_arguments`](crate::launch_config::append_arguments) packs its
/// fields in this order.
pub struct Arguments;

impl Arguments {
    /// The C++ declaration of the struct.
    pub fn declaration(kernel: &Kernel) -> String {
        let at_least_one = |n: usize| n.max(1);
        let (rank, accesses) = (kernel.rank(), at_least_one(kernel.accesses.len()));
        format!(
            "struct Arguments {{\n    long long items, splits;\n    void* scratch;\n    unsigned* arrivals;\n    \
             void* buffer[{}];\n    long long extent[{rank}];\n    long long offset[{accesses}];\n    \
             long long stride[{}];\n    long long index_stride[{accesses}];\n    \
             unsigned long long scalar[{}];\n}};\n",
            at_least_one(kernel.params.len()),
            accesses * rank,
            at_least_one(2 * kernel.scalars.len()),
        )
    }
}
