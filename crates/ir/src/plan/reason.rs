//! Why a value is written to memory, and so why a kernel ends where it ends.

use std::fmt;

/// Why a value is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Somebody asked for it.
    Requested,
    /// It is a matrix product.
    Contraction,
    /// A matrix product reads it from memory.
    ContractionOperand,
    /// It is computed by a routine, such as a sort.
    Routine,
    /// A routine, such as a sort, reads it from memory.
    RoutineOperand,
    /// It is scattered into, in place.
    Scatter,
    /// Each of its elements needs the one before.
    Scan,
    /// It is put together from parts, each written to its place.
    Parts,
    /// The chain of ops before it is as long as a kernel should be.
    LongChain,
    /// Several kernels read it, and it is dearer to compute in each of them.
    Shared,
    /// It is read through windows that overlap, and dear to compute in each of them.
    Windows,
    /// It is put somewhere along a line, which is decided at each place of it, and dear to compute at each.
    AlongLine,
    /// It is broadcast to many places, and dear to compute at each.
    Broadcast,
    /// What reads it walks other axes than the reduction does.
    OtherAxes,
    /// It is reduced, and read only where a condition holds.
    GuardedReduction,
    /// Its rows are too long to be kept while they are reduced and read again.
    LongRow,
    /// It is reshaped in a way that no index map expresses.
    Reshaped,
    /// It is looked up through two indices at once.
    TwoIndices,
    /// The kernel that reads it is large enough already.
    LargeKernel,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Requested => "asked for",
            Reason::Contraction => "matrix product",
            Reason::ContractionOperand => "operand of a matrix product",
            Reason::Routine => "computed by a routine",
            Reason::RoutineOperand => "operand of a routine",
            Reason::Scatter => "scattered into",
            Reason::Scan => "scan",
            Reason::Parts => "written in parts",
            Reason::LongChain => "long chain of ops",
            Reason::Shared => "read by several kernels and dearer to recompute",
            Reason::Windows => "read through windows that overlap",
            Reason::AlongLine => "put somewhere along a line and dear to compute at each place",
            Reason::Broadcast => "broadcast to many places and dear to compute at each",
            Reason::OtherAxes => "reduction over other axes than its reader walks",
            Reason::GuardedReduction => "reduction read under a condition",
            Reason::LongRow => "rows too long to keep",
            Reason::Reshaped => "reshaped across axes",
            Reason::TwoIndices => "looked up through two indices",
            Reason::LargeKernel => "its reader is large enough",
        })
    }
}
