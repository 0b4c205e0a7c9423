//! Prologue and epilogue fusion: kernels that compute a GEMM operand block by block or consume its result panel by
//! panel, on the threads that compute the panels. What lies between kernel and GEMM stays in cache and is never
//! stored to memory.

use super::Matrix;
use super::partition::BlockRows;
use crate::call::{Call, Part, with_scratch};
use crate::launch::CompiledKernel;
use inflight_backend::{BlockLaunch, Epilogue, Pool};
use inflight_ir::Scalar;
use inflight_ir::kernel::{LaunchShape, VectorAxis};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// A kernel with its buffers, to be run on parts of its domain.
struct BoundKernel<'a> {
    compiled: &'a CompiledKernel,
    buffers: SmallVec<[*mut u8; 8]>,
    scalars: &'a [Scalar],
    shape: &'a LaunchShape,
}

// SAFETY: by the contract of the constructors below, the memory at the addresses is for this GEMM to use, from any
// thread.
unsafe impl Sync for BoundKernel<'_> {}

/// Runs a fused epilogue: a launch that consumes a GEMM result panel by panel.
///
/// The GEMM result's param has no buffer. Each panel is computed in scratch memory of the thread; the kernel then runs
/// on the panel's rows and columns, with an address and strides that map its accesses into the panel.
pub struct EpilogueRunner<'a> {
    kernel: BoundKernel<'a>,
    /// The param that is the GEMM result.
    gemm_param: usize,
    /// Bytes of an element of the GEMM result.
    element_size: usize,
    /// The access that reads the GEMM result.
    access: usize,
    full_rows: bool,
}

/// Overrides the memory of one param that an epilogue writes: the address of the first element of the panel's first
/// row, and the bytes of an element.
#[derive(Clone, Copy)]
pub struct RedirectedOutput {
    pub param: usize,
    pub address: *mut u8,
    pub element_size: usize,
}

impl<'a> EpilogueRunner<'a> {
    /// # Safety
    /// As for [`launch::run`](crate::launch::run), but for the buffer of the GEMM result's param, whose address is
    /// ignored.
    pub unsafe fn new(
        compiled: &'a CompiledKernel,
        epilogue: &'a Epilogue,
        buffers: SmallVec<[*mut u8; 8]>,
    ) -> EpilogueRunner<'a> {
        let (launch, gemm_param) = (&epilogue.launch, epilogue.gemm_result);
        let accesses = &launch.planned.kernel.accesses;
        let access = accesses.iter().position(|access| access.param == Some(gemm_param as u32));
        EpilogueRunner {
            kernel: BoundKernel {
                compiled,
                buffers,
                scalars: &launch.scalars,
                shape: &launch.planned.shape,
            },
            gemm_param,
            element_size: launch.planned.kernel.params[gemm_param].dtype.size(),
            access: access.expect("an epilogue reads the GEMM result"),
            full_rows: launch.planned.kernel.vector == VectorAxis::Reduced,
        }
    }

    /// Whether a panel must have all columns, because the kernel reduces rows.
    pub fn needs_full_rows(&self) -> bool {
        self.full_rows
    }

    /// Computes a panel of these rows and columns with `multiply`, then runs the epilogue on it. `width` is the largest
    /// number of columns of any panel.
    ///
    /// # Safety
    /// No other thread may run the same rows and columns. A redirected param must be written densely, row by row, in
    /// memory that holds all these rows, and the panel must have all columns.
    pub unsafe fn run_panel<T>(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        width: usize,
        redirected: Option<RedirectedOutput>,
        multiply: impl FnOnce(Matrix<T>),
    ) {
        let panel_at =
            |start: *mut u8| Matrix { start: start.cast(), row: width as isize, column: 1 };
        // SAFETY: `multiply` has just computed the panel at the address.
        unsafe {
            match redirected {
                Some(to) if self.can_reuse_in_place(to.param) => {
                    multiply(panel_at(to.address));
                    self.run_kernel(rows, columns, width, to.address, redirected);
                }
                _ => with_scratch(self.pool(), |panel| {
                    let start = panel.bytes(rows.len() * width * self.element_size);
                    multiply(panel_at(start));
                    self.run_kernel(rows, columns, width, start, redirected);
                }),
            }
        }
    }

    /// The source of scratch memory.
    pub fn pool(&self) -> &'a Arc<Pool> {
        self.kernel.compiled.pool()
    }

    /// Whether a param that the kernel writes may share the memory of the GEMM result (in-place reuse).
    fn can_reuse_in_place(&self, param: usize) -> bool {
        self.kernel.compiled.in_place_pairs().iter().any(|pair| {
            (pair.read as usize, pair.written as usize) == (self.gemm_param, param)
                && pair.suits(self.kernel.shape)
        })
    }

    /// Runs the epilogue on a panel at an address.
    ///
    /// # Safety
    /// As for [`run_panel`](EpilogueRunner::run_panel), and the panel must be at the address.
    unsafe fn run_kernel(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        width: usize,
        panel: *mut u8,
        redirected: Option<RedirectedOutput>,
    ) {
        let mut shape = self.kernel.shape.clone();
        let (_, strides) =
            shape.accesses[self.access].strides.split_last_mut().expect("a vector axis");
        let lanes = *self.kernel.shape.extents.last().expect("a vector axis") as isize;
        strides.iter_mut().for_each(|stride| *stride = *stride / lanes * width as isize);
        // The distance from the result's first element to the panel's, if the panel were a part of the full result.
        let before = (rows.start * width + columns.start) * self.element_size;
        let mut buffers = self.kernel.buffers.clone();
        buffers[self.gemm_param] = panel.wrapping_sub(before);
        if let Some(RedirectedOutput { param, address, element_size }) = redirected {
            buffers[param] = address.wrapping_sub(rows.start * width * element_size);
        }
        let call = Call { buffers: &buffers, scalars: self.kernel.scalars, shape: &shape };
        let part = Part { grid: rows, vector: columns };
        // SAFETY: promised to the constructor; the panel holds the result's elements at the rows and columns of this
        // part, at the addresses that the strides reach.
        unsafe {
            match redirected {
                Some(_) => self.kernel.compiled.run_part_in_cache(&call, &part),
                None => self.kernel.compiled.run_part(&call, &part),
            }
        }
    }
}

/// Runs a fused prologue: a launch that computes a GEMM operand block by block.
///
/// A block is a range of rows. The operand's param has no buffer: each block is computed in scratch memory of the
/// thread, by running the kernel on a part of its domain with an address and strides that lead there.
pub struct PrologueRunner<'a> {
    kernel: BoundKernel<'a>,
    block: &'a BlockLaunch,
    /// The access that writes the operand.
    access: usize,
    /// The axes of the domain that a row index depends on, outermost first.
    axes: SmallVec<[usize; 6]>,
    grid_rank: usize,
    /// Bytes of an element of the operand.
    element_size: usize,
}

impl<'a> PrologueRunner<'a> {
    /// # Safety
    /// As for [`launch::run`](crate::launch::run), but for the buffer of the operand's param, whose address is ignored.
    pub unsafe fn new(
        compiled: &'a CompiledKernel,
        block: &'a BlockLaunch,
        buffers: SmallVec<[*mut u8; 8]>,
    ) -> PrologueRunner<'a> {
        let launch = &block.launch;
        let accesses = &launch.planned.kernel.accesses;
        let access =
            accesses.iter().position(|access| access.param == Some(block.operand_param as u32));
        let mut axes: SmallVec<[usize; 6]> =
            (0..block.rows.len()).filter(|&axis| block.rows[axis] != 0).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(block.rows[axis]));
        PrologueRunner {
            kernel: BoundKernel {
                compiled,
                buffers,
                scalars: &launch.scalars,
                shape: &launch.planned.shape,
            },
            block,
            access: access.expect("a prologue writes the operand"),
            axes,
            grid_rank: launch.planned.kernel.grid_rank,
            element_size: launch.planned.kernel.params[block.operand_param].dtype.size(),
        }
    }

    /// The source of scratch memory.
    pub fn pool(&self) -> &'a Arc<Pool> {
        self.kernel.compiled.pool()
    }

    /// Preferred rows of a block: multiples of what one vector axis covers, so that vectors stay full.
    pub fn block_rows(&self) -> BlockRows {
        let vector = self.block.rows.len() - 1;
        match self.block.rows[vector] {
            0 => BlockRows::MultipleOf(1),
            rows => BlockRows::MultipleOf(rows * self.kernel.shape.extents[vector]),
        }
    }

    /// The layout of a block of this many rows of `k` elements: row stride, column stride and size, in elements.
    pub fn layout(&self, rows: usize, k: usize) -> (isize, isize, usize) {
        match self.block.row_major {
            true => {
                // Pad rows of whole pages: they would all map to the same cache sets.
                let is_aliased = (k * self.element_size).is_multiple_of(4096);
                let row = if is_aliased { k + 64 / self.element_size.min(64) } else { k };
                (row as isize, 1, rows * row)
            }
            false => (1, rows as isize, k * rows),
        }
    }

    /// Bytes of an element.
    pub fn element_size(&self) -> usize {
        self.element_size
    }

    /// Computes these rows, each of `k` elements, in scratch memory, and calls `f` with them.
    ///
    /// # Safety
    /// The rows must be rows of the operand, and `k` their length.
    pub unsafe fn with_block<T, R>(
        &self,
        rows: Range<usize>,
        k: usize,
        f: impl FnOnce(Matrix<T>) -> R,
    ) -> R {
        let (row, column, elements) = self.layout(rows.len(), k);
        with_scratch(self.pool(), |scratch| {
            let start = scratch.bytes(elements * self.element_size);
            // SAFETY: promised by the caller; the block has room for these rows.
            unsafe { self.compute(rows, Matrix { start, row, column }) };
            f(Matrix { start: start.cast(), row, column })
        })
    }

    /// Computes these rows to the memory at `to`; its strides are in elements.
    ///
    /// # Safety
    /// The rows must be rows of the operand, and there must be memory for them, which no other thread accesses.
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
        unsafe { self.run_rows(&buffers, shape, &self.axes, rows) };
    }

    /// Runs the kernel on a range of rows, counted within the remaining `axes`, as the smallest number of boxes of the
    /// domain that cover it.
    ///
    /// # Safety
    /// The shape must lead to memory for these rows.
    unsafe fn run_rows(
        &self,
        buffers: &[*mut u8],
        mut shape: LaunchShape,
        axes: &[usize],
        rows: Range<usize>,
    ) {
        let Some((&axis, inner)) = axes.split_first() else {
            // SAFETY: promised by the caller.
            return unsafe { self.run_box(buffers, &shape) };
        };
        let weight = self.block.rows[axis];
        let (first, last) = (rows.start.div_ceil(weight), rows.end / weight);
        // SAFETY: each box is within the rows, which the caller guarantees.
        unsafe {
            if first > last {
                // The range is within one step of the axis.
                let step = last;
                restrict_axis(&mut shape, axis, step..step + 1);
                let within = rows.start - step * weight..rows.end - step * weight;
                return self.run_rows(buffers, shape, inner, within);
            }
            if rows.start < first * weight {
                let mut head = shape.clone();
                restrict_axis(&mut head, axis, first - 1..first);
                self.run_rows(buffers, head, inner, rows.start - (first - 1) * weight..weight);
            }
            if last * weight < rows.end {
                let mut tail = shape.clone();
                restrict_axis(&mut tail, axis, last..last + 1);
                self.run_rows(buffers, tail, inner, 0..rows.end - last * weight);
            }
            if first < last {
                restrict_axis(&mut shape, axis, first..last);
                self.run_box(buffers, &shape);
            }
        }
    }

    /// # Safety
    /// The shape must lead to memory for all its points.
    unsafe fn run_box(&self, buffers: &[*mut u8], shape: &LaunchShape) {
        let programs = shape.extents[..self.grid_rank].iter().product();
        let lanes = *shape.extents.last().expect("a vector axis");
        let call = Call { buffers, scalars: self.kernel.scalars, shape };
        let part = Part { grid: 0..programs, vector: 0..lanes };
        // SAFETY: promised by the caller.
        unsafe { self.kernel.compiled.run_part_in_cache(&call, &part) };
    }
}

/// Restricts a shape to these points of an axis.
fn restrict_axis(shape: &mut LaunchShape, axis: usize, points: Range<usize>) {
    shape.extents[axis] = points.len();
    for access in &mut shape.accesses {
        access.offset += points.start as isize * access.strides[axis];
    }
}
