//! Materialization reasons: why a value is stored to memory, and so why a fused kernel ends there.

use std::fmt;

/// Why a value is materialized. `explain` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// An output of the graph.
    Requested,
    /// The result of a GEMM.
    Gemm,
    /// A GEMM reads it from memory.
    GemmOperand,
    /// The result of a routine, such as a sort.
    Routine,
    /// A routine, such as a sort, reads it from memory.
    RoutineOperand,
    /// A scatter updates it in place.
    Scatter,
    /// The result of a scan: each element needs the previous one.
    Scan,
    /// Several kernels each write a part of it, as for a concatenation of many operands.
    PartialWrites,
    /// The chain of fusible ops that ends here has the maximum length.
    LongChain,
    /// Several kernels read it, and storing it costs less than recomputing it in each.
    Shared,
    /// It is expensive, and read through overlapping windows, which would recompute it for each window.
    OverlappingWindows,
    /// It is an expensive operand of a scatter rewritten as a select, which would recompute it for each element of
    /// the scattered axis.
    SelectOperand,
    /// It is expensive, and broadcast to many elements, which would each recompute it.
    Broadcast,
    /// It is a reduction over axes that do not match the row axes of the kernel that reads it.
    ReductionAxes,
    /// It is a reduction that is read under a mask.
    MaskedReduction,
    /// Its rows are too long to stay in cache between their reduction and the next read.
    LongRow,
    /// A reshape of it has no affine index map.
    NonAffineReshape,
    /// An access would need two indirect indices.
    TwoIndirectIndices,
    /// The kernel that reads it has the maximum size.
    LargeKernel,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Requested => "requested output",
            Reason::Gemm => "GEMM result",
            Reason::GemmOperand => "GEMM operand",
            Reason::Routine => "result of a routine",
            Reason::RoutineOperand => "operand of a routine",
            Reason::Scatter => "scatter target, updated in place",
            Reason::Scan => "scan",
            Reason::PartialWrites => "written in parts by several kernels",
            Reason::LongChain => "op chain at its maximum length",
            Reason::Shared => "multiple consumers, cheaper to store than to recompute",
            Reason::OverlappingWindows => "expensive to recompute in each overlapping window",
            Reason::SelectOperand => "expensive to recompute along the axis of a scatter",
            Reason::Broadcast => "expensive to recompute for each broadcast element",
            Reason::ReductionAxes => "reduction axes differ from its consumer's",
            Reason::MaskedReduction => "reduction read under a mask",
            Reason::LongRow => "rows too long to stay in cache",
            Reason::NonAffineReshape => "reshape without an affine index map",
            Reason::TwoIndirectIndices => "gathered through two indices",
            Reason::LargeKernel => "consumer kernel at its maximum size",
        })
    }
}
