//! GEMM prologues: fused producers that compute an operand block by block, when the GEMM needs the block.
//!
//! An operand is seen as rows of `k` elements: the rows of `a`, or the columns of `b`, counted over all batches. A
//! block is a range of rows, so a kernel can compute blocks if none of its reductions crosses rows.

use super::layout::{
    Axis, Domain, build_launch, choose_vector_axis, domain_axes, merge_axes, merge_into_vector,
};
use super::lower::RawKernel;
use super::{BufferId, GemmStep, LaunchStep};
use crate::graph::NodeId;
use crate::kernel::Kind;
use smallvec::SmallVec;

/// A fused producer of a GEMM operand. The operand is never stored to memory that other steps see.
#[derive(Clone, Debug)]
pub struct Prologue {
    /// The operand it computes.
    pub side: Side,
    /// The producer.
    pub producer: Producer,
}

/// An operand of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The left operand.
    A,
    /// The right operand.
    B,
}

/// A producer of a GEMM operand.
#[derive(Clone, Debug)]
pub enum Producer {
    /// A kernel.
    Kernel(BlockKernel),
    /// Another GEMM with an epilogue.
    Gemm(ChainedGemm),
}

/// A kernel that can be launched on a block of an operand's rows: the rows of `a`, or the columns of `b`, counted
/// over all batches.
///
/// A point of the domain computes the element in row `Σ rows[axis] · coordinate` and column `Σ columns[axis] ·
/// coordinate`. Launched whole, it writes the operand densely, and the strides of the GEMM step describe that. A
/// block of rows is a box of the domain; it can be written elsewhere with other strides, as long as those along the
/// vector axis keep their access class.
#[derive(Clone, Debug)]
pub struct BlockKernel {
    /// The kernel and its arguments.
    pub launch: LaunchStep,
    /// The index of the kernel param that is the operand.
    pub value: usize,
    /// For each axis of the domain, the number of rows that one step along it advances.
    pub rows: SmallVec<[usize; 6]>,
    /// For each axis of the domain, the number of columns that one step along it advances.
    pub columns: SmallVec<[usize; 6]>,
    /// Whether the elements of a row are contiguous; otherwise, those of a column are.
    pub row_major: bool,
}

/// A chained GEMM: its epilogue computes the rows of an operand of another GEMM.
#[derive(Clone, Debug)]
pub struct ChainedGemm {
    /// The GEMM. Its epilogue writes the operand row by row, densely.
    pub gemm: GemmStep,
    /// The index of the param of the epilogue's kernel that is the operand.
    pub value: usize,
}

/// The layout of a GEMM operand in the memory of the dense value it is a view of: its modes, sorted by stride.
pub struct OperandLayout {
    /// The modes, innermost first.
    modes: SmallVec<[Mode; 6]>,
    /// The number of rows.
    rows: usize,
    /// The number of columns of each row.
    columns: usize,
}

/// A mode of a layout: an extent and a stride, with the rows and columns that one step along it advances.
struct Mode {
    extent: usize,
    stride: isize,
    rows: usize,
    columns: usize,
}

impl OperandLayout {
    /// The layout of an operand with these batch axes, rows and columns, each an extent and a stride. `None` unless
    /// it covers each element of a dense value exactly once.
    pub fn new(
        batch: &[(usize, isize)],
        row: (usize, isize),
        column: (usize, isize),
    ) -> Option<OperandLayout> {
        let mut modes: SmallVec<[Mode; 6]> = SmallVec::new();
        modes.push(Mode { extent: column.0, stride: column.1, rows: 0, columns: 1 });
        let mut rows = 1;
        for &(extent, stride) in [row].iter().chain(batch.iter().rev()) {
            modes.push(Mode { extent, stride, rows, columns: 0 });
            rows *= extent;
        }
        modes.retain(|mode| mode.extent != 1);
        modes.sort_by_key(|mode| mode.stride);
        let mut expected = 1;
        for &Mode { extent, stride, .. } in &modes {
            if stride != expected {
                return None;
            }
            expected *= extent as isize;
        }
        let is_empty = expected == 0;
        (!is_empty).then_some(OperandLayout { modes, rows, columns: column.0 })
    }

    /// Whether the rows of the operand follow one another in memory.
    pub fn is_row_major(&self) -> bool {
        // Modes are sorted by stride, and the column mode advances no rows.
        self.modes.is_sorted_by_key(|mode| mode.rows)
    }

    /// The rows and columns that one step of this stride advances, for up to `extent` steps.
    fn advance_of(&self, stride: isize, extent: usize) -> Option<(usize, usize)> {
        if stride == 0 {
            return Some((0, 0));
        }
        self.modes.iter().find_map(|mode| {
            let factor = (stride % mode.stride == 0 && stride > 0)
                .then_some((stride / mode.stride) as usize)?;
            (factor * extent <= mode.extent).then_some((factor * mode.rows, factor * mode.columns))
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns of each row.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// Lays a kernel out so that it can compute `operand` block by block. `None` unless the kernel writes nothing else,
/// writes each element once, and reduces nothing across rows.
pub fn lay_out_block_kernel(
    raw: &RawKernel,
    operand: NodeId,
    layout: &OperandLayout,
    buffer: impl Fn(NodeId) -> BufferId,
) -> Option<BlockKernel> {
    let value = raw.params.iter().position(|(node, _)| *node == operand)?;
    let mut written = raw.params.iter().enumerate().filter(|(_, (_, param))| param.writes);
    if written.next()?.0 != value || written.next().is_some() || raw.ordered {
        return None;
    }
    let mut stores = (0..raw.accesses.len())
        .filter(|&position| raw.accesses[position].param == Some(value as u32));
    let (store, None) = (stores.next()?, stores.next()) else { return None };
    let plain = raw.body.iter().all(|instruction| match instruction.kind {
        Kind::Store { access, index, mask, combine, .. } => {
            access as usize != store || (index.is_none() && mask.is_none() && combine.is_none())
        }
        _ => true,
    });
    if !plain || raw.accesses[store].offset != 0 {
        return None;
    }
    let mut axes = domain_axes(raw);
    let (row, column) = (raw.accesses.len(), raw.accesses.len() + 1);
    for axis in &mut axes {
        let (rows, columns) = layout.advance_of(axis.strides[store], axis.extent)?;
        // An axis without advance would store an element twice, and a reduction must stay within a row.
        let is_repeated = (rows, columns) == (0, 0) && !axis.reduced;
        if is_repeated || (axis.reduced && rows != 0) {
            return None;
        }
        axis.strides.extend([rows as isize, columns as isize]);
        // A block can be row-major or column-major, so the vector axis can run in either direction.
        let is_contiguous = rows == 1 || columns == 1;
        axis.strides[store] = if is_contiguous { 1 } else { rows.max(columns) as isize };
    }
    let mut vector = choose_vector_axis(&mut axes, raw)?;
    let row_major = vector.strides[row] == 0;
    for axis in axes.iter_mut().chain([&mut vector]) {
        let (rows, columns) = (axis.strides[row], axis.strides[column]);
        axis.strides[store] = match row_major {
            true => rows * layout.columns() as isize + columns,
            false => rows + columns * layout.rows() as isize,
        };
    }
    let (mut grid, mut reduce): (Vec<Axis>, Vec<Axis>) =
        axes.into_iter().partition(|axis| !axis.reduced);
    match vector.reduced {
        true => merge_into_vector(&mut reduce, &mut vector, false),
        false => merge_into_vector(&mut grid, &mut vector, false),
    }
    merge_axes(&mut grid, false);
    merge_axes(&mut reduce, false);
    let order = || grid.iter().chain(&reduce).chain([&vector]);
    let rows = order().map(|axis| axis.strides[row] as usize).collect();
    let columns = order().map(|axis| axis.strides[column] as usize).collect();
    let launch = build_launch(raw, Domain { grid, reduce, vector }, buffer);
    Some(BlockKernel { launch, value, rows, columns, row_major })
}

impl GemmStep {
    /// This step with a fused prologue kernel.
    pub fn with_prologue(
        mut self,
        side: Side,
        kernel: BlockKernel,
        layout: &OperandLayout,
    ) -> GemmStep {
        let value = (layout.rows() * layout.columns() * self.dtype.size()) as u64;
        self.work.nodes.extend(&kernel.launch.work.nodes);
        // The operand stays in cache, so its store and its load do not count.
        self.work.bytes_read += kernel.launch.work.bytes_read;
        self.work.bytes_read -= value;
        self.work.bytes_written += kernel.launch.work.bytes_written - value;
        let (row, column) = match kernel.row_major {
            true => (layout.columns() as isize, 1),
            false => (1, layout.rows() as isize),
        };
        let free = if side == Side::A { self.m } else { self.n };
        let operand = if side == Side::A { &mut self.a } else { &mut self.b };
        operand.offset = 0;
        let mut batch = free as isize * row;
        for (stride, &extent) in operand.batch_strides.iter_mut().zip(&self.batch).rev() {
            *stride = batch;
            batch *= extent as isize;
        }
        (operand.row_stride, operand.column_stride) = match side {
            Side::A => (row, column),
            Side::B => (column, row),
        };
        let producer = Producer::Kernel(kernel);
        self.prologue = Some(Box::new(Prologue { side, producer }));
        self
    }

    /// This step with a chained GEMM, which has an epilogue, as the producer of its left operand.
    pub fn with_chained_gemm(mut self, gemm: GemmStep, value: usize) -> GemmStep {
        let operand = (self.batch.iter().product::<usize>() * self.m * self.k) * self.dtype.size();
        self.work.nodes.extend(&gemm.work.nodes);
        self.work.bytes_read += gemm.work.bytes_read;
        self.work.bytes_read -= operand as u64;
        self.work.bytes_written += gemm.work.bytes_written - operand as u64;
        let producer = Producer::Gemm(ChainedGemm { gemm, value });
        self.prologue = Some(Box::new(Prologue { side: Side::A, producer }));
        self
    }
}
