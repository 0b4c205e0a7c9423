//! The tile IR: what one launch computes. Fusion writes it, every backend reads it.
//!
//! A kernel runs over a *domain*, an index space of three kinds of axes, outermost first:
//!
//! - `grid_rank` **grid** axes: each point is a *program*, independent of every other;
//! - `reduce_rank` **reduce** axes: walked inside a program, in order;
//! - one **vector** axis: the lanes. It is [`Parallel`](VectorAxis::Parallel) (its points are as
//!   independent as programs are) or [`Reduced`](VectorAxis::Reduced) (walked inside a program, as the
//!   innermost reduce axis).
//!
//! What a program computes is a list of [`Instruction`]s in SSA form, each on the whole tile the program
//! holds: the points of its reduce axes and its vector axis. A [`Reduce`](Kind::Reduce) folds the tile
//! along the reduced axes; its result may be used together with tiles again, which repeats it. So a
//! softmax over rows is one kernel: a maximum, an exponential, a sum and a division, with the row as the
//! tile.
//!
//! Extents, strides and offsets are not in a kernel: they come with the launch ([`LaunchShape`]), so that
//! a new size compiles nothing. Only the rank of the domain and the [`Stride`] class of each access along
//! the vector axis are.

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
pub use verify::{Problem, VerifyError, verify};

use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{DType, Scalar};
use smallvec::SmallVec;

/// The result of an instruction: its position in [`Kernel::body`].
pub type Value = u32;

/// The position of an access in [`Kernel::accesses`].
pub type AccessId = u32;

/// One launch's worth of computation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// The buffers it reads and writes, in binding order.
    pub params: Vec<Param>,
    /// The dtypes of the scalars given at launch.
    pub scalars: Vec<DType>,
    /// Where loads, stores and positions look.
    pub accesses: Vec<Access>,
    /// The number of grid axes.
    pub grid_rank: usize,
    /// The number of reduce axes.
    pub reduce_rank: usize,
    /// What the vector axis is.
    pub vector: VectorAxis,
    /// The instructions; operands come before their users.
    pub body: Vec<Instruction>,
}

/// A buffer of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// The dtype of its elements.
    pub dtype: DType,
    /// Whether the kernel stores to it.
    pub writes: bool,
}

/// What the innermost axis of a domain is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VectorAxis {
    /// Its points are independent of each other.
    Parallel,
    /// Reductions fold it too.
    Reduced,
}

/// An affine map from the domain to elements: `offset + Σ stride · coordinate`, where offset and strides
/// are given at launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The buffer addressed, or `None` for a map whose result is itself the value
    /// ([`Kind::Position`]).
    pub param: Option<u32>,
    /// Whether any stride along the reduce axes may be other than zero.
    pub reduce: bool,
    /// The stride along the vector axis.
    pub vector: Stride,
}

/// What is known of a stride when a kernel is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stride {
    /// Zero: one element for the whole axis.
    Zero,
    /// One: neighbours in memory.
    One,
    /// Given at launch.
    Any,
}

/// One instruction and the dtype of its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// What it does.
    pub kind: Kind,
    /// The dtype of its result; of the stored value for a [`Kind::Store`].
    pub dtype: DType,
}

/// What an instruction does. Operands of lower rank than the tile are repeated along it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A value known when the kernel is compiled.
    Constant(Scalar),
    /// A scalar given at launch, by its position in [`Kernel::scalars`].
    Scalar(u32),
    /// The value of an access map without a buffer, as `i32` or `i64`.
    Position(AccessId),
    /// Elements of a buffer.
    Load {
        /// Where.
        access: AccessId,
        /// Adds `index · index_stride` elements to the address: an `i32` or `i64` value, within range.
        index: Option<Value>,
        /// Where this `bool` is false nothing is read and the result is zero.
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
    /// `a · b + c`, rounded once; `f32` and `f64` only.
    Fma(Value, Value, Value),
    /// Conversion, as [`Scalar::cast`] does.
    Cast(Value),
    /// The same bits as another dtype of the same size.
    Bitcast(Value),
    /// The tile folded along the reduced axes.
    Reduce(CombineOp, Value),
    /// The place, counted in row-major order over the reduced axes, of the extreme element; `i64`.
    ArgReduce(ArgOp, Value),
    /// Each element folded with all before it, in row-major order over the reduced axes.
    Scan(CombineOp, Value),
    /// Writes a value. A program's stores to one place happen in row-major order.
    Store {
        /// Where.
        access: AccessId,
        /// What.
        value: Value,
        /// Adds `index · index_stride` elements to the address: an `i32` or `i64` value, within range.
        index: Option<Value>,
        /// Where this `bool` is false nothing is written.
        mask: Option<Value>,
        /// How the value meets what is there; `None` replaces it.
        combine: Option<CombineOp>,
    },
}

impl Kind {
    /// The values this instruction uses.
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

    /// This instruction with each operand replaced.
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

    /// Whether this folds the tile along the reduced axes.
    pub fn is_reduction(&self) -> bool {
        matches!(self, Kind::Reduce(..) | Kind::ArgReduce(..))
    }
}

/// How much of a program's tile a value spans. A value's level is the largest of its operands'.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// One value for the whole program.
    Program,
    /// One value for each point of a parallel vector axis, the same along the reduce axes.
    Column,
    /// One value for each point of the tile.
    Tile,
}

impl Kernel {
    /// The rank of the domain: grid, reduce and vector axes.
    pub fn rank(&self) -> usize {
        self.grid_rank + self.reduce_rank + 1
    }

    /// Whether there are axes to reduce along, the vector axis or others.
    pub fn reduces(&self) -> bool {
        self.vector == VectorAxis::Reduced || self.reduce_rank > 0
    }

    /// Whether the vector axis is parallel while there are reduce axes: a reduction then ends in one
    /// value for each point of the vector axis.
    pub fn reduces_columns(&self) -> bool {
        self.vector == VectorAxis::Parallel && self.reduce_rank > 0
    }

    /// The level of an access: what part of the tile its address varies over.
    pub fn access_level(&self, access: AccessId) -> Level {
        let access = self.accesses[access as usize];
        match (access.reduce && self.reduce_rank > 0, access.vector) {
            (true, _) => Level::Tile,
            (false, Stride::Zero) => Level::Program,
            (false, _) if self.reduces_columns() => Level::Column,
            (false, _) => Level::Tile,
        }
    }

    /// The stage of each value: how many reductions, one after another, must end before it.
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
                // Done at every point, also where place and value are the same at all of them.
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

/// The extents and the maps of one launch of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LaunchShape {
    /// The domain's extents: grid axes, reduce axes, vector axis.
    pub extents: SmallVec<[usize; 6]>,
    /// One for each of the kernel's accesses.
    pub accesses: Vec<AccessShape>,
}

/// The numbers of one access map, in elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AccessShape {
    /// The address of the domain's origin.
    pub offset: isize,
    /// The distance to the next point along each axis of the domain.
    pub strides: SmallVec<[isize; 6]>,
    /// The weight of the index value of a load or store, if it has one.
    pub index_stride: isize,
}
