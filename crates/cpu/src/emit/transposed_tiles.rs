//! Transposed access through cache tiles: for kernels with an access that is strided along the vector axis but
//! contiguous along the innermost grid axis.
//!
//! The driver iterates over the plane of these two axes in tiles. It copies each transposed operand into a
//! scratch tile with the axes exchanged, and copies transposed results back from one. Memory is then accessed in
//! full cache lines, and the kernel, compiled for contiguous accesses, runs at full vector width. A pure
//! transpose goes from memory to memory without scratch tiles.

use super::argument_layout;
use super::driver::{ArgumentBlock, CallBlock, split_range};
use super::transpose::{StorePolicy, StridedMatrix, fence, prefetch_rows, transpose};
use super::{Code, Unsupported};
use crate::call::{Call, Scratch};
use inflight_ir::kernel::{Kernel, Kind, Stride, VectorAxis};
use std::ops::Range;

/// Side of a tile in elements.
const TILE_SIDE: usize = 64;
/// Size in bytes of a tile of the largest elements.
const TILE_BYTES: usize = TILE_SIDE * TILE_SIDE * 8;

/// Variant of a kernel whose strided accesses go through transposed tiles.
pub(super) struct TransposedTiles {
    code: Box<Code>,
    tiled: Vec<TiledAccess>,
    /// Contiguous loads beside them, which are prefetched: access and element size.
    contiguous_loads: Vec<(usize, usize)>,
    /// Load and store of a kernel that does nothing else.
    pure_transpose: Option<(usize, usize)>,
}

/// An access that goes through a tile.
struct TiledAccess {
    access: usize,
    size: usize,
    is_read: bool,
    is_written: bool,
}

impl TransposedTiles {
    /// Compiles the tiled variant of a kernel that has strided accesses.
    pub(super) fn compile(
        kernel: &Kernel,
        compile: &mut dyn FnMut(Kernel) -> Result<Code, Unsupported>,
    ) -> Result<Option<TransposedTiles>, Unsupported> {
        let is_plane = kernel.grid_rank > 0 && kernel.reduce_rank == 0;
        if !is_plane || kernel.vector != VectorAxis::Parallel {
            return Ok(None);
        }
        let mut contiguous = kernel.clone();
        let mut tiled: Vec<TiledAccess> = Vec::new();
        for instruction in &kernel.body {
            let (access, mask, writes) = match instruction.kind {
                // An indexed access does not form a tile, and a combining store would need the previous contents.
                Kind::Load { index: Some(_), .. }
                | Kind::Store { index: Some(_), .. }
                | Kind::Store { combine: Some(_), .. } => return Ok(None),
                Kind::Load { access, mask, .. } => (access as usize, mask, false),
                Kind::Store { access, mask, .. } => (access as usize, mask, true),
                _ => continue,
            };
            if kernel.accesses[access].vector != Stride::Any {
                continue;
            }
            // Copying a full tile would access memory that the mask protects.
            if mask.is_some() {
                return Ok(None);
            }
            contiguous.accesses[access].vector = Stride::One;
            let index = tiled
                .iter()
                .position(|tiled_access| tiled_access.access == access)
                .unwrap_or_else(|| {
                    let size = instruction.dtype.size();
                    tiled.push(TiledAccess { access, size, is_read: false, is_written: false });
                    tiled.len() - 1
                });
            tiled[index].is_read |= !writes;
            tiled[index].is_written |= writes;
        }
        if tiled.is_empty() {
            return Ok(None);
        }
        let code = compile(contiguous)?;
        let contiguous_loads =
            kernel.body.iter().filter_map(|instruction| match instruction.kind {
                Kind::Load { access, .. } => {
                    let access = access as usize;
                    let is_contiguous = kernel.accesses[access].vector == Stride::One;
                    is_contiguous.then_some((access, instruction.dtype.size()))
                }
                _ => None,
            });
        let contiguous_loads = contiguous_loads.collect();
        Ok(Some(TransposedTiles {
            code: Box::new(code),
            tiled,
            contiguous_loads,
            pure_transpose: as_pure_transpose(kernel),
        }))
    }

    /// Code for contiguous accesses.
    pub(super) fn code(&self) -> &Code {
        &self.code
    }

    /// Whether a launch has strides that this variant supports.
    pub(super) fn applies_to(&self, call: &Call) -> bool {
        let inner = self.code.kernel.grid_rank - 1;
        let step = |tiled_access: &TiledAccess, axis: usize| {
            call.shape.accesses[tiled_access.access].strides[axis]
        };
        let all_contiguous = self.tiled.iter().all(|tiled_access| step(tiled_access, inner) == 1);
        // Very short rows are not worth a copy.
        all_contiguous && call.shape.extents[inner] >= 4
    }

    /// Whether the kernel is a pure transpose.
    pub(super) fn is_pure_transpose(&self) -> bool {
        self.pure_transpose.is_some()
    }

    /// Whether large results can use non-temporal stores: those that go through a tile cannot.
    pub(super) fn can_stream(&self) -> bool {
        self.pure_transpose.is_some()
            || !self.tiled.iter().any(|tiled_access| tiled_access.is_written)
    }

    /// Runs programs along the innermost grid axis. With `streaming`, results use non-temporal stores and begin
    /// at multiples of a cache line.
    ///
    /// # Safety
    /// As for [`Code::run`].
    pub(super) unsafe fn run(
        &self,
        call: &Call,
        grid: usize,
        inner: Range<usize>,
        vector: Range<usize>,
        streaming: bool,
        scratch: &mut Scratch,
    ) {
        if let Some(accesses) = self.pure_transpose {
            let block = CallBlock { grid, inner, vector };
            // SAFETY: guaranteed by the caller.
            return unsafe { self.transpose_block(call, accesses, &block, streaming) };
        }
        let code = match streaming {
            true => self.code.streaming().unwrap_or(&self.code),
            false => &self.code,
        };
        let rank = code.kernel.grid_rank;
        let arguments_bytes = code.argument_block_bytes();
        let start = scratch.bytes(arguments_bytes + self.tiled.len() * TILE_BYTES);
        let arguments = ArgumentBlock { start };
        let tile = |index: usize| {
            let size = self.tiled[index].size;
            let start = start.wrapping_add(arguments_bytes + index * TILE_BYTES);
            StridedMatrix { start, row_stride: (TILE_SIDE * size) as isize }
        };
        // SAFETY: the argument block has the layout's size.
        unsafe {
            code.write_launch_arguments(&arguments, call);
            for (index, tiled_access) in self.tiled.iter().enumerate() {
                let words = code.layout.access(tiled_access.access);
                arguments.write_word(
                    words + argument_layout::GRID_STEP,
                    tile(index).row_stride as usize,
                );
            }
        }
        // Iterate along the source rows first: their next lines are already prefetched.
        for columns in split_range(vector, TILE_SIDE) {
            for rows in split_range(inner.clone(), TILE_SIDE) {
                let block = CallBlock { grid, inner: rows.clone(), vector: columns.clone() };
                let memory = |tiled_access: &TiledAccess| StridedMatrix {
                    start: code.access_pointer(tiled_access.access, call, &block),
                    row_stride: call.shape.accesses[tiled_access.access].strides[rank]
                        * tiled_access.size as isize,
                };
                let (inner, outer) = (rows.len(), columns.len());
                // These arrive in the cache while the tiles are copied.
                for &(access, size) in &self.contiguous_loads {
                    let start = code.access_pointer(access, call, &block);
                    let step = call.shape.accesses[access].strides[rank - 1] * size as isize;
                    prefetch_rows(StridedMatrix { start, row_stride: step }, inner, outer * size);
                }
                // SAFETY: the block is within the part. Rows in memory run along the innermost grid axis, rows of
                // a tile along the vector axis.
                unsafe {
                    code.write_block_arguments(&arguments, call, &block);
                    for (index, tiled_access) in self.tiled.iter().enumerate() {
                        let row = code.layout.access(tiled_access.access)
                            + argument_layout::PROGRAM_POINTER;
                        arguments.write_word(row, tile(index).start.expose_provenance());
                        if tiled_access.is_read {
                            let (from, to) = (memory(tiled_access), tile(index));
                            transpose(
                                tiled_access.size,
                                from,
                                to,
                                outer,
                                inner,
                                StorePolicy::Cached,
                            );
                        }
                    }
                    code.invoke(&arguments);
                    for (index, tiled_access) in self.tiled.iter().enumerate() {
                        if tiled_access.is_written {
                            let (from, to) = (tile(index), memory(tiled_access));
                            transpose(
                                tiled_access.size,
                                from,
                                to,
                                inner,
                                outer,
                                StorePolicy::Cached,
                            );
                        }
                    }
                }
            }
        }
    }

    /// Transposes a block from memory to memory.
    ///
    /// # Safety
    /// As for [`Code::run`].
    unsafe fn transpose_block(
        &self,
        call: &Call,
        (load, store): (usize, usize),
        block: &CallBlock,
        streaming: bool,
    ) {
        let kernel = &self.code.kernel;
        let (inner, vector) = (kernel.grid_rank - 1, kernel.grid_rank);
        let size = self.tiled[0].size;
        let rows = |access: usize, axis: usize| StridedMatrix {
            start: self.code.access_pointer(access, call, block),
            row_stride: call.shape.accesses[access].strides[axis] * size as isize,
        };
        let (inner_extent, vector_extent) = (block.inner.len(), block.vector.len());
        // The rows of the strided side run along the vector axis.
        let (from, to, height, width) = match self.tiled[0].is_read {
            true => (rows(load, vector), rows(store, inner), vector_extent, inner_extent),
            false => (rows(load, inner), rows(store, vector), inner_extent, vector_extent),
        };
        let is_line_aligned = |start: usize| start.is_multiple_of(64);
        let aligned =
            is_line_aligned(to.start.addr()) && is_line_aligned(to.row_stride.unsigned_abs());
        let stores = if streaming && aligned && size >= 4 {
            StorePolicy::NonTemporal
        } else {
            StorePolicy::Cached
        };
        // SAFETY: guaranteed by the caller: the block is within the part.
        unsafe { transpose(size, from, to, height, width, stores) };
        fence(stores);
    }
}

/// The load and store of a kernel that is a pure transpose.
fn as_pure_transpose(kernel: &Kernel) -> Option<(usize, usize)> {
    let [load, store] = &kernel.body[..] else { return None };
    let Kind::Load { access: load, .. } = load.kind else { return None };
    let Kind::Store { access: store, value: 0, .. } = store.kind else { return None };
    let strided = |access: u32| kernel.accesses[access as usize].vector == Stride::Any;
    // If both are strided, neither side has contiguous rows.
    let one = strided(load) != strided(store);
    let other = if strided(load) { store } else { load };
    let contiguous = kernel.accesses[other as usize].vector == Stride::One;
    (one && contiguous).then_some((load as usize, store as usize))
}
