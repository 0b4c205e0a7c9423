//! Kernels as CUDA C++ text.
//!
//! How the points of a domain are spread over threads is a [`Mapping`]:
//!
//! - `Points`: no point needs another, so each thread takes some, a few neighbours at a time;
//! - `Rows`: the lanes are reduced. A warp or a block walks a row, whose elements stay in registers from one
//!   reduction to the next if they fit;
//! - `Columns`: the lanes are parallel and other axes are reduced. Each thread walks some columns, and threads
//!   that share columns fold what they have in shared memory, or, in slices of the domain, in memory;
//! - `Product`: as `Points`, in the tiles of a matrix product that is computed on the way.
//!
//! A kernel's text depends on nothing but the kernel and its [`Variant`]. Extents, strides and offsets are
//! arguments.

mod address;
mod body;
mod columns;
mod complex;
pub(crate) mod gemm;
pub(crate) mod groups;
pub(crate) mod operation;
pub(crate) mod packed;
mod points;
mod prelude;
mod rows;
pub(crate) mod split;
mod tiles;
pub(crate) mod types;
mod writer;

pub use columns::shared_bytes as column_shared_bytes;
pub(crate) use gemm::shared_bytes;
pub use gemm::{
    BF16X3_DEPTH, LINE_BYTES as PRODUCT_LINE_BYTES, MOST_HELD, Numbers as ProductNumbers,
    PART as PRODUCT_PART, ROUNDED_COLUMNS, ROWS as PRODUCT_ROWS, THREADS as PRODUCT_THREADS, Tiled,
};
pub(crate) use prelude::{waits, with_functions};

use inflight_ir::elementwise::UnaryOp;
use inflight_ir::kernel::{Kernel, Kind, Level, Value, VectorAxis, expand_except};

/// Threads of a block of the `Points` mapping.
pub const POINT_THREADS: u32 = 256;

/// Lanes of a block of the `Columns` mapping.
pub const COLUMN_LANES: u32 = 32;

/// Threads along the slow side of such a tile.
pub const TILE_THREADS: u32 = 8;

/// What is fixed when a kernel's text is written, beside the kernel: few choices, so that few are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Neighbouring elements that a thread loads and stores at once.
    pub width: u32,
    /// Whether positions need 64 bits.
    pub wide: bool,
    /// The params that are larger than a cache, as bits: what is moved of them need not stay in one.
    pub streamed: u64,
    /// How points are spread over threads.
    pub mapping: Mapping,
}

/// How the points of a domain are spread over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// A thread takes points that need no other.
    Points {
        /// Groups of neighbours that a thread has under way at once.
        unroll: u32,
        /// The grid axis along which threads are next to each other, if it is not the lanes'.
        along: Option<u32>,
    },
    /// As `Points`, on square tiles, so that accesses along the other axis are turned in shared memory.
    Tiles {
        /// The grid axis that the turned accesses run along.
        axis: u32,
        /// The accesses that are turned, as bits.
        turned: u64,
        /// The side of a tile.
        side: u32,
        /// Whether each tile comes next to the one across the diagonal, which reads the same memory.
        paired: bool,
        /// Whether all tiles are whole, so that nothing need be checked: the compiler has then all loads under
        /// way at once.
        whole: bool,
    },
    /// Threads walk a row together.
    Rows {
        /// Threads for each row: 1, 32, or a multiple of 32.
        threads: u32,
        /// Rows of a block.
        rows: u32,
        /// Groups of neighbours that each thread keeps in registers; zero if rows are walked again instead.
        kept: u32,
    },
    /// Threads walk columns, side by side.
    Columns {
        /// Threads that share a column.
        threads: u32,
        /// Whether blocks share columns as well.
        sliced: bool,
    },
    /// As `Points`, in the tiles of a product.
    Product(Tiled),
}

/// What a kernel does, as far as the choice of a mapping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing but independent points.
    Points,
    /// Rows are reduced or scanned.
    Rows {
        /// Whether what is stored last stays.
        ordered: bool,
        /// Bytes of the values that are worth keeping for each element.
        kept_bytes: usize,
    },
    /// Columns are reduced or scanned.
    Columns {
        /// Whether columns must be walked in order.
        ordered: bool,
        /// Whether one walk is all.
        one_walk: bool,
        /// Bytes of all the reductions' partial results, for one column.
        partial_bytes: usize,
    },
}

/// A kernel in the instructions that have a text. The hyperbolic tangent and the logistic function stay: here,
/// they have a cheap division.
pub fn expanded(kernel: &Kernel) -> Kernel {
    expand_except(kernel, &[UnaryOp::Tanh, UnaryOp::Sigmoid])
}

/// What an expanded kernel does.
pub fn shape(kernel: &Kernel) -> Shape {
    let folds = |kind: &Kind| kind.is_reduction() || matches!(kind, Kind::Scan(..));
    let meets = |kind: &Kind| match *kind {
        Kind::Store { index, combine, .. } => index.is_some() || combine.is_some(),
        _ => false,
    };
    let any = |what: &dyn Fn(&Kind) -> bool| kernel.body.iter().any(|i| what(&i.kind));
    let is_walked = any(&folds) || (kernel.reduces() && any(&meets));
    if !is_walked {
        return Shape::Points;
    }
    let scans = any(&|kind| matches!(kind, Kind::Scan(..)));
    if kernel.vector == VectorAxis::Reduced {
        let replaces = |kind: &Kind| match *kind {
            Kind::Store { index, combine, .. } => {
                combine.is_some_and(|op| !body::is_atomic(op, kernel, kind))
                    || (index.is_some() && combine.is_none())
            }
            _ => false,
        };
        let kept = body::Stages::new(kernel).kept;
        let kept_bytes = kept.iter().map(|&v| kernel.body[v as usize].dtype.size().max(4)).sum();
        return Shape::Rows { ordered: any(&replaces), kept_bytes };
    }
    let stages = body::Stages::new(kernel);
    let levels = kernel.levels();
    let tile_store =
        |at: usize| matches!(kernel.body[at].kind, Kind::Store { .. }) && levels[at] == Level::Tile;
    // What is stored in the first walk needs no result of it.
    let walks_again =
        |at: usize| (tile_store(at) || kernel.body[at].kind.is_reduction()) && stages.of[at] > 0;
    let one_walk = !(0..kernel.body.len()).any(walks_again);
    let partial = |value: Value| body::partial_bytes(kernel, value);
    let partial_bytes = (0..kernel.body.len() as Value)
        .filter(|&value| kernel.body[value as usize].kind.is_reduction())
        .map(partial)
        .sum();
    let ordered = scans || any(&meets);
    Shape::Columns { ordered, one_walk: one_walk && !ordered, partial_bytes }
}

/// How often an expanded kernel walks over its tile.
pub fn walks(kernel: &Kernel) -> usize {
    body::Stages::new(kernel).roots.iter().filter(|roots| !roots.is_empty()).count()
}

/// The text of a kernel, whose entry is called `entry`. The kernel must be expanded.
pub fn source(kernel: &Kernel, variant: Variant) -> String {
    let body = match variant.mapping {
        Mapping::Points { unroll, along } => points::text(kernel, variant, unroll, along),
        Mapping::Tiles { axis, turned, side, paired, whole } => {
            let tile = tiles::Tile { axis: axis as usize, side, paired, whole };
            tiles::text(kernel, variant, &tile, turned)
        }
        Mapping::Rows { threads, rows, kept } => rows::text(kernel, variant, threads, rows, kept),
        Mapping::Columns { threads, sliced } => columns::text(kernel, variant, threads, sliced),
        Mapping::Product(tiled) => gemm::text(kernel, variant, tiled),
    };
    prelude::with_functions(&body)
}

/// The widest accesses that a kernel's neighbours allow, in elements: 16 bytes of its largest dtype.
pub fn widest(kernel: &Kernel) -> u32 {
    let sizes = kernel.accesses.iter().filter_map(|access| match access.vector {
        inflight_ir::kernel::Stride::One => {
            access.param.map(|param| kernel.params[param as usize].dtype.size())
        }
        _ => None,
    });
    match (sizes.max(), kernel.body.len()) {
        // So much code is not worth repeating.
        (_, 1500..) => 1,
        (Some(size), _) => (16 / size as u32).clamp(1, 8),
        (None, _) => 1,
    }
}

/// Whether a walk of an expanded kernel may load from one param after an earlier walk has stored to another. What is
/// worth keeping is not always kept: then it is computed again, from what it was computed from.
pub fn loads_after_store(kernel: &Kernel, loaded: u32, stored: u32) -> bool {
    let stages = body::Stages::new(kernel);
    let is_of = |access: u32, param: u32| kernel.accesses[access as usize].param == Some(param);
    let stores = |value: usize| match kernel.body[value].kind {
        Kind::Store { access, .. } => is_of(access, stored),
        _ => false,
    };
    let loads = |value: &Value| match kernel.body[*value as usize].kind {
        Kind::Load { access, .. } => is_of(access, loaded),
        _ => false,
    };
    let stored_at = (0..kernel.body.len()).filter(|&value| stores(value)).map(|at| stages.of[at]);
    let Some(first) = stored_at.min() else { return false };
    (first + 1..stages.roots.len()).any(|at| stages.walk(kernel, at, &[]).iter().any(loads))
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

/// What the arguments of a kernel are, in the order of their fields.
pub struct Arguments;

impl Arguments {
    /// The declaration of the struct that every kernel takes.
    pub fn declaration(kernel: &Kernel) -> String {
        let at_least_one = |n: usize| n.max(1);
        let (rank, accesses) = (kernel.rank(), at_least_one(kernel.accesses.len()));
        format!(
            "struct Arguments {{\n    long long items, slices;\n    void* scratch;\n    unsigned* arrived;\n    \
             void* buffer[{}];\n    long long extent[{rank}];\n    long long offset[{accesses}];\n    \
             long long stride[{}];\n    long long index_stride[{accesses}];\n    \
             unsigned long long scalar[{}];\n}};\n",
            at_least_one(kernel.params.len()),
            accesses * rank,
            at_least_one(2 * kernel.scalars.len()),
        )
    }
}
