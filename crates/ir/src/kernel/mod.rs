//! The tile IR: an SSA representation of one kernel launch. Fusion emits it; every backend compiles it.
//!
//! Here are the IR itself, its [verifier](fn@verify), its [printer and parser](fn@parse), its reference
//! [evaluator](fn@evaluate), function expansion with CSE and DCE ([`expand()`]), the [schedule](fn@schedule) of
//! passes over a tile, and the in-place reuse analysis ([`in_place_pairs`]).
//!
//! A kernel runs over a *domain*, an index space with three kinds of axes, outermost first:
//!
//! - `grid_rank` **grid** axes: each point is a *program*, independent of all others;
//! - `reduce_rank` **reduce** axes: iterated inside a program, in order;
//! - one **vector** axis, mapped to SIMD lanes. It is either [`Parallel`](VectorAxis::Parallel) (its points are
//!   independent) or [`Reduced`](VectorAxis::Reduced) (iterated inside a program, as the innermost reduce axis).
//!
//! A program is a list of [`Instruction`]s in SSA form. Each operates on the program's whole tile: the points of
//! the reduce axes and the vector axis. A [`Reduce`](Kind::Reduce) folds the tile along the reduced axes; its
//! result may be combined with tile values again, which broadcasts it. So a row softmax is one kernel: maximum,
//! exponential, sum and division, with the row as the tile.
//!
//! Extents, strides and offsets are launch parameters ([`LaunchShape`]), not part of the kernel, so a new size
//! compiles nothing. A kernel fixes only the rank of its domain and each access's [`Stride`] class along the vector
//! axis.

mod evaluate;
mod expand;
mod in_place;
mod math;
mod schedule;
mod text;
mod verify;

pub use evaluate::evaluate;
pub use expand::{expand, expand_except};
pub use in_place::{InPlacePair, in_place_pairs, is_copy};
pub use schedule::{Pass, Schedule, Storage, schedule};
pub use text::{ParseError, parse};
pub use verify::{InstructionError, VerifyError, verify};

use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{DType, Scalar};
use smallvec::SmallVec;

/// The result of an instruction: its index in [`Kernel::body`].
pub type Value = u32;

/// An index into [`Kernel::accesses`].
pub type AccessId = u32;

/// The computation of one launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// The buffers it reads and writes, in binding order.
    pub params: Vec<Param>,
    /// The dtypes of the scalar launch arguments.
    pub scalars: Vec<DType>,
    /// The affine maps used by loads, stores and positions.
    pub accesses: Vec<Access>,
    /// The number of grid axes.
    pub grid_rank: usize,
    /// The number of reduce axes.
    pub reduce_rank: usize,
    /// The kind of the vector axis.
    pub vector: VectorAxis,
    /// The instructions. Operands are defined before they are used.
    pub body: Vec<Instruction>,
}

/// A buffer parameter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// The dtype of its elements.
    pub dtype: DType,
    /// Whether the kernel stores to it.
    pub writes: bool,
}

/// The kind of a domain's innermost axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VectorAxis {
    /// Its points are independent.
    Parallel,
    /// Reductions fold it as well.
    Reduced,
}

/// An affine map from the domain to elements: `offset + Σ stride · coordinate`. Offset and strides are launch
/// parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The buffer addressed, or `None` if the result of the map is itself the value ([`Kind::Position`]).
    pub param: Option<u32>,
    /// Whether a stride along a reduce axis may be nonzero.
    pub reduce: bool,
    /// The stride along the vector axis.
    pub vector: Stride,
}

/// Stride class: what the compiler knows about a stride.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stride {
    /// Zero: the same element at all points of the axis.
    Zero,
    /// One: contiguous elements.
    One,
    /// Known at launch only.
    Any,
}

/// One instruction and the dtype of its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// The operation and its operands.
    pub kind: Kind,
    /// The dtype of the result; for a [`Kind::Store`], of the stored value.
    pub dtype: DType,
}

/// Operation of an instruction. Operands of a lower level than the result are broadcast.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A compile-time constant.
    Constant(Scalar),
    /// A scalar launch argument, by its index in [`Kernel::scalars`].
    Scalar(u32),
    /// The value of an affine map without a buffer, as `i32` or `i64`.
    Position(AccessId),
    /// Loads elements of a buffer.
    Load {
        /// The address.
        access: AccessId,
        /// Gather: adds `index · index_stride` elements to the address. An in-range `i32` or `i64`.
        index: Option<Value>,
        /// Where this `bool` is false, nothing is read and the result is zero.
        mask: Option<Value>,
    },
    /// Elementwise.
    Unary(UnaryOp, Value),
    /// Elementwise.
    Binary(BinaryOp, Value, Value),
    /// Elementwise; the result is `bool`.
    Compare(CompareOp, Value, Value),
    /// `mask ? a : b`, elementwise.
    Select(Value, Value, Value),
    /// `a · b + c` with one rounding (fused multiply-add); `f32` and `f64` only.
    Fma(Value, Value, Value),
    /// Conversion, with the semantics of [`Scalar::cast`].
    Cast(Value),
    /// Reinterprets the bits as another dtype of the same size.
    Bitcast(Value),
    /// Folds the tile along the reduced axes.
    Reduce(CombineOp, Value),
    /// The row-major index, over the reduced axes, of the extreme element; `i64`.
    ArgReduce(ArgOp, Value),
    /// Inclusive scan: folds each element with all before it, in row-major order over the reduced axes.
    Scan(CombineOp, Value),
    /// Stores a value. A program's stores to the same element happen in row-major order.
    Store {
        /// The address.
        access: AccessId,
        /// The value to store.
        value: Value,
        /// Scatter: adds `index · index_stride` elements to the address. An in-range `i32` or `i64`.
        index: Option<Value>,
        /// Where this `bool` is false, nothing is written.
        mask: Option<Value>,
        /// Combines the value with the element in memory (read-modify-write); `None` overwrites it.
        combine: Option<CombineOp>,
    },
}

impl Kind {
    /// The operands.
    pub fn operands(&self) -> SmallVec<[Value; 3]> {
        match *self {
            Kind::Constant(_) | Kind::Scalar(_) | Kind::Position(_) => SmallVec::new(),
            Kind::Load { index, mask, .. } => index.into_iter().chain(mask).collect(),
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::Bitcast(a) => SmallVec::from_slice(&[a]),
            Kind::Reduce(_, a) | Kind::ArgReduce(_, a) | Kind::Scan(_, a) => {
                SmallVec::from_slice(&[a])
            }
            Kind::Binary(_, a, b) | Kind::Compare(_, a, b) => SmallVec::from_slice(&[a, b]),
            Kind::Select(a, b, c) | Kind::Fma(a, b, c) => SmallVec::from_slice(&[a, b, c]),
            Kind::Store { value, index, mask, .. } => {
                [value].into_iter().chain(index).chain(mask).collect()
            }
        }
    }

    /// The same operation with each operand mapped by `f`.
    pub fn map_operands(&self, mut f: impl FnMut(Value) -> Value) -> Kind {
        match *self {
            Kind::Constant(_) | Kind::Scalar(_) | Kind::Position(_) => *self,
            Kind::Load { access, index, mask } => {
                Kind::Load { access, index: index.map(&mut f), mask: mask.map(f) }
            }
            Kind::Unary(op, a) => Kind::Unary(op, f(a)),
            Kind::Binary(op, a, b) => Kind::Binary(op, f(a), f(b)),
            Kind::Compare(op, a, b) => Kind::Compare(op, f(a), f(b)),
            Kind::Select(a, b, c) => Kind::Select(f(a), f(b), f(c)),
            Kind::Fma(a, b, c) => Kind::Fma(f(a), f(b), f(c)),
            Kind::Cast(a) => Kind::Cast(f(a)),
            Kind::Bitcast(a) => Kind::Bitcast(f(a)),
            Kind::Reduce(op, a) => Kind::Reduce(op, f(a)),
            Kind::ArgReduce(op, a) => Kind::ArgReduce(op, f(a)),
            Kind::Scan(op, a) => Kind::Scan(op, f(a)),
            Kind::Store { access, value, index, mask, combine } => Kind::Store {
                access,
                value: f(value),
                index: index.map(&mut f),
                mask: mask.map(f),
                combine,
            },
        }
    }

    /// Whether this reduces the tile along the reduced axes.
    pub fn is_reduction(&self) -> bool {
        matches!(self, Kind::Reduce(..) | Kind::ArgReduce(..))
    }
}

/// The part of a tile over which a value varies. A value's level is the maximum of its operands' levels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// One value for the program.
    Program,
    /// One value for each point of a parallel vector axis, invariant along the reduce axes.
    Column,
    /// One value for each point of the tile.
    Tile,
}

impl Kernel {
    /// The rank of the domain: grid, reduce and vector axes.
    pub fn rank(&self) -> usize {
        self.grid_rank + self.reduce_rank + 1
    }

    /// Whether there is an axis to reduce along: reduce axes or a reduced vector axis.
    pub fn reduces(&self) -> bool {
        self.vector == VectorAxis::Reduced || self.reduce_rank > 0
    }

    /// Whether reductions produce one value for each point of the vector axis: it is parallel, and there are reduce
    /// axes.
    pub fn reduces_columns(&self) -> bool {
        self.vector == VectorAxis::Parallel && self.reduce_rank > 0
    }

    /// The level of an access: the part of the tile over which its address varies.
    pub fn access_level(&self, access: AccessId) -> Level {
        let access = self.accesses[access as usize];
        match (access.reduce && self.reduce_rank > 0, access.vector) {
            (true, _) => Level::Tile,
            (false, Stride::Zero) => Level::Program,
            (false, _) if self.reduces_columns() => Level::Column,
            (false, _) => Level::Tile,
        }
    }

    /// The stage of each value: the number of reductions on the longest dependency chain before it.
    pub fn stages(&self) -> Vec<usize> {
        let mut stages: Vec<usize> = Vec::with_capacity(self.body.len());
        for instruction in &self.body {
            let operands = instruction.kind.operands();
            let stage = operands.iter().map(|&operand| {
                let after = self.body[operand as usize].kind.is_reduction();
                stages[operand as usize] + after as usize
            });
            stages.push(stage.max().unwrap_or(0));
        }
        stages
    }

    /// The level of each value.
    pub fn levels(&self) -> Vec<Level> {
        let mut levels: Vec<Level> = Vec::with_capacity(self.body.len());
        let reduces = self.body.iter().any(|instruction| instruction.kind.is_reduction());
        for instruction in &self.body {
            let operands = instruction.kind.operands();
            let operands = operands.iter().map(|&v| levels[v as usize]).max();
            let level = match instruction.kind {
                Kind::Reduce(..) | Kind::ArgReduce(..) if self.reduces_columns() => Level::Column,
                Kind::Reduce(..) | Kind::ArgReduce(..) => Level::Program,
                Kind::Scan(..) => Level::Tile,
                // A combining store runs at every point, even if address and value are the same at all of them.
                Kind::Store { combine: Some(_), .. } if !reduces => Level::Tile,
                Kind::Position(access) | Kind::Load { access, .. } | Kind::Store { access, .. } => {
                    self.access_level(access).max(operands.unwrap_or(Level::Program))
                }
                _ => operands.unwrap_or(Level::Program),
            };
            levels.push(level);
        }
        levels
    }
}

/// Launch parameters of a kernel: extents and affine maps.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LaunchShape {
    /// The domain's extents: grid axes, reduce axes, vector axis.
    pub extents: SmallVec<[usize; 6]>,
    /// One for each access of the kernel.
    pub accesses: Vec<AccessShape>,
}

/// Launch parameters of an access, in elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AccessShape {
    /// The offset of the domain's origin.
    pub offset: isize,
    /// The stride along each axis of the domain.
    pub strides: SmallVec<[isize; 6]>,
    /// The factor of the index value of a load or store, if it has one.
    pub index_stride: isize,
}
