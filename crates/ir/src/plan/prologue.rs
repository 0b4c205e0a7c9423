//! What computes an operand of a product block by block, as the product needs it: the layout of such kernels,
//! and when they are worth it.
//!
//! An operand is seen as rows of `k` elements: the rows of `a`, or the columns of `b`, counted over all
//! batches. A block of it is a range of rows, so a kernel can compute blocks if none of its reductions crosses
//! rows.

use super::layout::{
    Axis, Domain, build_launch, choose_vector_axis, domain_axes, merge_axes, merge_into_vector,
};
use super::lower::RawKernel;
use super::{BufferId, GemmStep, LaunchStep};
use crate::graph::NodeId;
use crate::kernel::Kind;
use smallvec::SmallVec;

/// What computes an operand of a product as the product needs it. The operand is then in no memory that
/// anybody else sees.
#[derive(Clone, Debug)]
pub struct Prologue {
    /// The operand.
    pub side: Side,
    /// What computes it.
    pub producer: Producer,
}

/// An operand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The left one.
    A,
    /// The right one.
    B,
}

/// What computes an operand.
#[derive(Clone, Debug)]
pub enum Producer {
    /// A kernel.
    Kernel(BlockKernel),
    /// Another product with an epilogue.
    Gemm(ChainedGemm),
}

/// A kernel that can be run on a block of an operand's rows: the rows of `a`, or the columns of `b`, counted
/// over all batches.
///
/// A point of the domain is for the row `Σ rows[axis] · coordinate` and the place `Σ columns[axis] · coordinate`
/// within it. As it stands, the launch writes the whole operand densely, and the step's strides are those of
/// that; a block of rows is a part of the domain, and can be written anywhere else with other strides, as long
/// as those along the vector axis stay what the kernel takes them for.
#[derive(Clone, Debug)]
pub struct BlockKernel {
    /// The kernel and what it is bound to.
    pub launch: LaunchStep,
    /// The kernel's param that is the operand.
    pub value: usize,
    /// For each axis of the domain, how many rows a step along it is.
    pub rows: SmallVec<[usize; 6]>,
    /// For each axis of the domain, how many places within a row a step along it is.
    pub columns: SmallVec<[usize; 6]>,
    /// Whether the elements of a row are neighbours; otherwise, those of a column are.
    pub row_major: bool,
}

/// A product whose rows are, when its epilogue has taken them in, the rows of an operand of another product.
#[derive(Clone, Debug)]
pub struct ChainedGemm {
    /// The product. It has an epilogue, which writes the operand row by row, densely.
    pub gemm: GemmStep,
    /// The param of the epilogue's kernel that is the operand.
    pub value: usize,
}

/// An operand's place in the memory of the value it is a view of: extents and strides, and what a step means.
pub struct OperandLayout {
    /// Extent, stride, and what a step along it is in rows and in places within a row.
    layout: SmallVec<[(usize, isize, usize, usize); 6]>,
    /// How many rows.
    rows: usize,
    /// How many places a row has.
    columns: usize,
}

impl OperandLayout {
    /// The digits of an operand with these batch axes, rows and places within a row, each an extent and a
    /// stride. `None` unless it takes each element of a dense value exactly once.
    pub fn new(
        batch: &[(usize, isize)],
        row: (usize, isize),
        column: (usize, isize),
    ) -> Option<OperandLayout> {
        let mut layout: SmallVec<[(usize, isize, usize, usize); 6]> = SmallVec::new();
        layout.push((column.0, column.1, 0, 1));
        let mut rows = 1;
        for &(extent, stride) in [row].iter().chain(batch.iter().rev()) {
            layout.push((extent, stride, rows, 0));
            rows *= extent;
        }
        layout.retain(|digit| digit.0 != 1);
        layout.sort_by_key(|digit| digit.1);
        let mut expected = 1;
        for &(extent, stride, ..) in &layout {
            if stride != expected {
                return None;
            }
            expected *= extent as isize;
        }
        let is_empty = expected == 0;
        (!is_empty).then_some(OperandLayout { layout, rows, columns: column.0 })
    }

    /// Whether the value's rows, one after another, are the operand's.
    pub fn is_row_major(&self) -> bool {
        // Digits are in the order of their strides; a place within a row is no row.
        self.layout.is_sorted_by_key(|&(_, _, row, _)| row)
    }

    /// What a step of this stride, taken up to `extent` times, is in rows and in places within a row.
    fn step(&self, stride: isize, extent: usize) -> Option<(usize, usize)> {
        if stride == 0 {
            return Some((0, 0));
        }
        self.layout.iter().find_map(|&(length, unit, row, column)| {
            let factor = (stride % unit == 0 && stride > 0).then_some((stride / unit) as usize)?;
            (factor * extent <= length).then_some((factor * row, factor * column))
        })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many places a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// The finished step of a raw kernel that can compute `operand` block by block, if it can: it writes nothing
/// else, each element once, and reduces nothing across rows.
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
        let (rows, columns) = layout.step(axis.strides[store], axis.extent)?;
        // A step that leads nowhere would store an element twice; reductions must stay within a row.
        let is_repeated = (rows, columns) == (0, 0) && !axis.reduced;
        if is_repeated || (axis.reduced && rows != 0) {
            return None;
        }
        axis.strides.extend([rows as isize, columns as isize]);
        // Blocks may be laid out either way, so that either may be the direction of vectors.
        let neighbours = rows == 1 || columns == 1;
        axis.strides[store] = if neighbours { 1 } else { rows.max(columns) as isize };
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
    /// This step with a kernel that computes one of its operands.
    pub fn with_prologue(
        mut self,
        side: Side,
        kernel: BlockKernel,
        layout: &OperandLayout,
    ) -> GemmStep {
        let value = (layout.rows() * layout.columns() * self.dtype.size()) as u64;
        self.work.nodes.extend(&kernel.launch.work.nodes);
        // The operand stays in cache: neither its writing nor its reading counts.
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

    /// This step with another product, which has an epilogue, that computes its left operand.
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
