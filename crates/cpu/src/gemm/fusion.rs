//! What runs with a product: a kernel that takes it in panel by panel, and kernels that compute an operand
//! block by block, on the threads that compute the panels.

use super::Matrix;
use super::partition::Unit;
use crate::call::{Call, Part, with_scratch};
use crate::launch::CompiledKernel;
use inflight_backend::{BlockLaunch, Epilogue};
use inflight_ir::Scalar;
use inflight_ir::kernel::{LaunchShape, VectorAxis};
use smallvec::SmallVec;
use std::ops::Range;

/// A kernel with its buffers, to be run on parts of its domain.
struct Bound<'a> {
    compiled: &'a CompiledKernel,
    buffers: SmallVec<[*mut u8; 8]>,
    scalars: &'a [Scalar],
    shape: &'a LaunchShape,
}

// SAFETY: what is at the addresses is, by the contract of those who make it, for this contraction to use, from
// any thread.
unsafe impl Sync for Bound<'_> {}

/// A launch that takes a product in, panel by panel.
///
/// The product's param has no buffer. Each panel is computed in memory of the thread, and the kernel, run on
/// the panel's rows and columns, is told an address and strides with which it finds the panel there.
pub struct EpilogueRunner<'a> {
    kernel: Bound<'a>,
    product: usize,
    /// Bytes of an element of the product.
    size: usize,
    /// The product's access.
    access: usize,
    whole_rows: bool,
}

/// Where a follower puts what it writes, if that is not in the memory of its buffers: for this param, the
/// address of the first element of the first row that is taken in, and the bytes of an element.
#[derive(Clone, Copy)]
pub struct Redirected {
    pub param: usize,
    pub address: *mut u8,
    pub size: usize,
}

impl<'a> EpilogueRunner<'a> {
    /// # Safety
    /// As for [`launch::run`](crate::launch::run), but for the buffer of the product's param, whose address
    /// does not matter.
    pub unsafe fn new(
        compiled: &'a CompiledKernel,
        epilogue: &'a Epilogue,
        buffers: SmallVec<[*mut u8; 8]>,
    ) -> EpilogueRunner<'a> {
        let (launch, product) = (&epilogue.launch, epilogue.gemm_result);
        let accesses = &launch.planned.kernel.accesses;
        let access = accesses.iter().position(|access| access.param == Some(product as u32));
        EpilogueRunner {
            kernel: Bound {
                compiled,
                buffers,
                scalars: &launch.scalars,
                shape: &launch.planned.shape,
            },
            product,
            size: launch.planned.kernel.params[product].dtype.size(),
            access: access.expect("a follower reads the product"),
            whole_rows: launch.planned.kernel.vector == VectorAxis::Reduced,
        }
    }

    /// Whether a panel must have all columns: the kernel reduces rows.
    pub fn needs_whole_rows(&self) -> bool {
        self.whole_rows
    }

    /// Has a panel of these rows and columns computed, and takes it in. `width` is the largest number of
    /// columns a panel has.
    ///
    /// # Safety
    /// No other thread may take in the same rows and columns. A redirected param must be written densely, row
    /// by row, in memory that holds all these rows, and the panel must have all columns.
    pub unsafe fn take_in<T>(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        width: usize,
        redirected: Option<Redirected>,
        multiply: impl FnOnce(Matrix<T>),
    ) {
        let whole = |start: *mut u8| Matrix { start: start.cast(), row: width as isize, column: 1 };
        // SAFETY: what is taken in was just computed there.
        unsafe {
            match redirected {
                Some(to) if self.may_overwrite(to.param) => {
                    multiply(whole(to.address));
                    self.follow(rows, columns, width, to.address, redirected);
                }
                _ => with_scratch(|panel| {
                    let start = panel.bytes(rows.len() * width * self.size);
                    multiply(whole(start));
                    self.follow(rows, columns, width, start, redirected);
                }),
            }
        }
    }

    /// Whether what is written to a param may be where the product is.
    fn may_overwrite(&self, param: usize) -> bool {
        self.kernel.compiled.in_place_pairs().iter().any(|reuse| {
            (reuse.read as usize, reuse.written as usize) == (self.product, param)
                && reuse.suits(self.kernel.shape)
        })
    }

    /// Takes in a panel that is at an address.
    ///
    /// # Safety
    /// As for [`take_in`](EpilogueRunner::take_in), and the panel must be there.
    unsafe fn follow(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        width: usize,
        panel: *mut u8,
        redirected: Option<Redirected>,
    ) {
        let mut shape = self.kernel.shape.clone();
        let (_, strides) = shape.accesses[self.access].strides.split_last_mut().expect("a lane");
        let lanes = *self.kernel.shape.extents.last().expect("a lane") as isize;
        strides.iter_mut().for_each(|stride| *stride = *stride / lanes * width as isize);
        // Where the first element would be if the panel were a part of the whole.
        let before = (rows.start * width + columns.start) * self.size;
        let mut buffers = self.kernel.buffers.clone();
        buffers[self.product] = panel.wrapping_sub(before);
        if let Some(Redirected { param, address, size }) = redirected {
            buffers[param] = address.wrapping_sub(rows.start * width * size);
        }
        let call = Call { buffers: &buffers, scalars: self.kernel.scalars, shape: &shape };
        let part = Part { grid: rows, vector: columns };
        // SAFETY: promised when this was made; the panel holds the product's elements at the rows and columns
        // of this part, where the strides lead to.
        unsafe {
            match redirected {
                Some(_) => self.kernel.compiled.run_part_in_cache(&call, &part),
                None => self.kernel.compiled.run_part(&call, &part),
            }
        }
    }
}

/// A launch that computes an operand block by block.
///
/// A block is a range of rows. The operand's param has no buffer: each block is computed in memory of the
/// thread, by running the kernel on a part of its domain with an address and strides that lead there.
pub struct Blocks<'a> {
    kernel: Bound<'a>,
    block: &'a BlockLaunch,
    /// The operand's access.
    access: usize,
    /// The axes of the domain that a row's number depends on, outermost first.
    axes: SmallVec<[usize; 6]>,
    grid_rank: usize,
    /// Bytes of an element of the operand.
    size: usize,
}

impl<'a> Blocks<'a> {
    /// # Safety
    /// As for [`launch::run`](crate::launch::run), but for the buffer of the operand's param, whose address
    /// does not matter.
    pub unsafe fn new(
        compiled: &'a CompiledKernel,
        block: &'a BlockLaunch,
        buffers: SmallVec<[*mut u8; 8]>,
    ) -> Blocks<'a> {
        let launch = &block.launch;
        let accesses = &launch.planned.kernel.accesses;
        let access =
            accesses.iter().position(|access| access.param == Some(block.operand_param as u32));
        let mut axes: SmallVec<[usize; 6]> =
            (0..block.rows.len()).filter(|&axis| block.rows[axis] != 0).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(block.rows[axis]));
        Blocks {
            kernel: Bound {
                compiled,
                buffers,
                scalars: &launch.scalars,
                shape: &launch.planned.shape,
            },
            block,
            access: access.expect("a block's kernel writes the operand"),
            axes,
            grid_rank: launch.planned.kernel.grid_rank,
            size: launch.planned.kernel.params[block.operand_param].dtype.size(),
        }
    }

    /// How many rows are best computed together: vectors should not be cut short.
    pub fn unit(&self) -> Unit {
        let vector = self.block.rows.len() - 1;
        match self.block.rows[vector] {
            0 => Unit::Multiple(1),
            rows => Unit::Multiple(rows * self.kernel.shape.extents[vector]),
        }
    }

    /// The distances, in elements, to the next row and column of a block of so many rows, each of `k` elements, and how
    /// many elements it takes.
    pub fn layout(&self, rows: usize, k: usize) -> (isize, isize, usize) {
        match self.block.row_major {
            true => {
                // Rows that all begin at the same place of a page would all want the same lines of the cache.
                let is_aliased = (k * self.size).is_multiple_of(4096);
                let row = if is_aliased { k + 64 / self.size.min(64) } else { k };
                (row as isize, 1, rows * row)
            }
            false => (1, rows as isize, k * rows),
        }
    }

    /// Bytes of an element.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Calls `f` with a block of these rows, each of `k` elements.
    ///
    /// # Safety
    /// The rows must be rows of the operand, and `k` the length they have.
    pub unsafe fn with_block<T, R>(
        &self,
        rows: Range<usize>,
        k: usize,
        f: impl FnOnce(Matrix<T>) -> R,
    ) -> R {
        let (row, column, elements) = self.layout(rows.len(), k);
        with_scratch(|scratch| {
            let start = scratch.bytes(elements * self.size);
            // SAFETY: promised by the caller; the block has room for these rows.
            unsafe { self.compute(rows, Matrix { start, row, column }) };
            f(Matrix { start: start.cast(), row, column })
        })
    }

    /// Computes these rows to where the first of them begins; distances are in elements.
    ///
    /// # Safety
    /// The rows must be rows of the operand, and there must be memory for them, which nobody else accesses.
    pub unsafe fn compute(&self, rows: Range<usize>, to: Matrix<u8>) {
        let Matrix { start, row, column } = to;
        let mut shape = self.kernel.shape.clone();
        let access = &mut shape.accesses[self.access];
        access.offset = -(rows.start as isize * row);
        let weights = self.block.rows.iter().zip(&self.block.columns);
        for (stride, (&rows, &columns)) in access.strides.iter_mut().zip(weights) {
            *stride = rows as isize * row + columns as isize * column;
        }
        let mut buffers = self.kernel.buffers.clone();
        buffers[self.block.operand_param] = start;
        // SAFETY: promised by the caller.
        unsafe { self.cover(&buffers, shape, &self.axes, rows) };
    }

    /// Runs the kernel on the rows of a range, counted within the axes that are left: as few boxes of the
    /// domain as there must be.
    ///
    /// # Safety
    /// The shape must lead to memory for these rows.
    unsafe fn cover(
        &self,
        buffers: &[*mut u8],
        mut shape: LaunchShape,
        axes: &[usize],
        rows: Range<usize>,
    ) {
        let Some((&axis, inner)) = axes.split_first() else {
            // SAFETY: promised by the caller.
            return unsafe { self.run(buffers, &shape) };
        };
        let weight = self.block.rows[axis];
        let (first, last) = (rows.start.div_ceil(weight), rows.end / weight);
        // SAFETY: each part is within the rows, which the caller vouches for.
        unsafe {
            if first > last {
                // Within one step of the axis.
                let step = last;
                restrict(&mut shape, axis, step..step + 1);
                let within = rows.start - step * weight..rows.end - step * weight;
                return self.cover(buffers, shape, inner, within);
            }
            if rows.start < first * weight {
                let mut head = shape.clone();
                restrict(&mut head, axis, first - 1..first);
                self.cover(buffers, head, inner, rows.start - (first - 1) * weight..weight);
            }
            if last * weight < rows.end {
                let mut tail = shape.clone();
                restrict(&mut tail, axis, last..last + 1);
                self.cover(buffers, tail, inner, 0..rows.end - last * weight);
            }
            if first < last {
                restrict(&mut shape, axis, first..last);
                self.run(buffers, &shape);
            }
        }
    }

    /// # Safety
    /// The shape must lead to memory for what it names.
    unsafe fn run(&self, buffers: &[*mut u8], shape: &LaunchShape) {
        let programs = shape.extents[..self.grid_rank].iter().product();
        let lanes = *shape.extents.last().expect("a lane");
        let call = Call { buffers, scalars: self.kernel.scalars, shape };
        let part = Part { grid: 0..programs, vector: 0..lanes };
        // SAFETY: promised by the caller.
        unsafe { self.kernel.compiled.run_part_in_cache(&call, &part) };
    }
}

/// Leaves only these points of an axis.
fn restrict(shape: &mut LaunchShape, axis: usize, points: Range<usize>) {
    shape.extents[axis] = points.len();
    for access in &mut shape.accesses {
        access.offset += points.start as isize * access.strides[axis];
    }
}
