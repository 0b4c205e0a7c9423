//! Strided, indexed (gather and scatter), masked and combining loads and stores between memory and blocks.

use super::elementwise::Bits128;

/// Combines the operand of a [`Kind::Store`](inflight_ir::kernel::Kind::Store) with the value in memory.
pub trait Combine<T>: Copy + 'static {
    /// The combined value.
    fn combine(a: T, b: T) -> T;
}

/// A transfer between memory and a block. Strides are in bytes.
pub struct Transfer {
    /// Number of elements.
    pub count: usize,
    /// Address of the first element, before any index is added.
    pub memory: *mut u8,
    /// Stride in memory.
    pub stride: isize,
    /// Address of the block.
    pub block: *mut u8,
    /// Whether the block is one splat element. Stores only.
    pub splat: bool,
    /// Index operand.
    pub index: Option<Index>,
    /// Mask operand.
    pub mask: Option<Mask>,
}

/// Index operand of a gather or scatter.
#[derive(Clone, Copy)]
pub struct Index {
    /// Address of `i32` or `i64` elements.
    pub source: *const u8,
    /// Whether they are `i64`.
    pub is_i64: bool,
    /// Whether it is one splat element.
    pub splat: bool,
    /// Bytes per index unit.
    pub stride: isize,
}

/// Mask operand.
#[derive(Clone, Copy)]
pub struct Mask {
    /// Address of `bool` elements.
    pub source: *const u8,
    /// Whether it is one splat element.
    pub splat: bool,
}

/// Loads a block from memory. Every address that the mask leaves active must be valid.
pub type LoadFunction = unsafe fn(&Transfer);

/// Stores a block to memory. Every address that the mask leaves active must be valid.
pub type StoreFunction = unsafe fn(&Transfer);

/// Load loop for elements of this many bytes.
pub fn load(size: usize) -> LoadFunction {
    match size {
        1 => load_of::<u8>,
        2 => load_of::<u16>,
        4 => load_of::<u32>,
        8 => load_of::<u64>,
        _ => load_of::<Bits128>,
    }
}

/// Store loop for elements of this many bytes.
pub fn store(size: usize) -> StoreFunction {
    match size {
        1 => store_of::<u8>,
        2 => store_of::<u16>,
        4 => store_of::<u32>,
        8 => store_of::<u64>,
        _ => store_of::<Bits128>,
    }
}

/// Combining store loop.
pub fn store_combine<T: Copy, C: Combine<T>>() -> StoreFunction {
    store_combine_of::<T, C>
}

/// How much of a block a mask leaves active.
enum MaskCoverage {
    Full,
    Empty,
    Partial,
}

impl Transfer {
    /// # Safety
    /// The mask is valid.
    unsafe fn mask_coverage(&self) -> MaskCoverage {
        let Some(mask) = self.mask else { return MaskCoverage::Full };
        let count = if mask.splat { 1 } else { self.count };
        // SAFETY: guaranteed by the caller.
        let flags = unsafe { std::slice::from_raw_parts(mask.source, count) };
        let active = flags.iter().map(|&flag| flag as usize).sum::<usize>();
        match active {
            0 => MaskCoverage::Empty,
            active if active == count => MaskCoverage::Full,
            _ => MaskCoverage::Partial,
        }
    }

    /// Calls `f` with the position and address of each active element.
    ///
    /// # Safety
    /// Index and mask are valid.
    #[inline(always)]
    unsafe fn for_each_active(&self, mut f: impl FnMut(usize, *mut u8)) {
        // SAFETY: guaranteed by the caller, for every closure below.
        unsafe {
            let mask = match self.mask_coverage() {
                MaskCoverage::Empty => return,
                MaskCoverage::Full => std::ptr::null(),
                MaskCoverage::Partial => self.mask.map_or(std::ptr::null(), |mask| mask.source),
            };
            let is_active = |i: usize| mask.is_null() || *mask.add(i) != 0;
            let Index { source, is_i64, splat, stride } = match self.index {
                Some(index) => index,
                None => {
                    for i in 0..self.count {
                        if is_active(i) {
                            f(i, self.memory.wrapping_offset(i as isize * self.stride));
                        }
                    }
                    return;
                }
            };
            let step = !splat as usize;
            if is_i64 {
                let source = source.cast::<i64>();
                for i in 0..self.count {
                    if is_active(i) {
                        let index_offset = *source.add(i * step) as isize * stride;
                        f(i, self.memory.wrapping_offset(i as isize * self.stride + index_offset));
                    }
                }
            } else {
                let source = source.cast::<i32>();
                for i in 0..self.count {
                    if is_active(i) {
                        let index_offset = *source.add(i * step) as isize * stride;
                        f(i, self.memory.wrapping_offset(i as isize * self.stride + index_offset));
                    }
                }
            }
        }
    }
}

unsafe fn load_of<T: Copy>(transfer: &Transfer) {
    let target = transfer.block.cast::<T>();
    // SAFETY: guaranteed by the caller: active addresses are valid.
    unsafe {
        let coverage = transfer.mask_coverage();
        if !matches!(coverage, MaskCoverage::Full) {
            // All-zero bits represent zero in every dtype.
            target.write_bytes(0, transfer.count);
        }
        if matches!(coverage, MaskCoverage::Empty) {
            return;
        }
        let contiguous = transfer.stride == size_of::<T>() as isize;
        if transfer.index.is_none() && contiguous && matches!(coverage, MaskCoverage::Full) {
            std::ptr::copy_nonoverlapping(transfer.memory.cast::<T>(), target, transfer.count);
            return;
        }
        transfer.for_each_active(|i, address| *target.add(i) = *address.cast::<T>());
    }
}

unsafe fn store_of<T: Copy>(transfer: &Transfer) {
    let source = transfer.block.cast::<T>();
    let step = !transfer.splat as usize;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let contiguous = transfer.stride == size_of::<T>() as isize;
        if transfer.index.is_none() && transfer.mask.is_none() && contiguous && !transfer.splat {
            // The block may itself be buffer memory and overlap the destination.
            std::ptr::copy(source, transfer.memory.cast::<T>(), transfer.count);
            return;
        }
        transfer.for_each_active(|i, address| *address.cast::<T>() = *source.add(i * step));
    }
}

unsafe fn store_combine_of<T: Copy, C: Combine<T>>(transfer: &Transfer) {
    let source = transfer.block.cast::<T>();
    let step = !transfer.splat as usize;
    // SAFETY: guaranteed by the caller.
    unsafe {
        transfer.for_each_active(|i, address| {
            let address = address.cast::<T>();
            *address = C::combine(*address, *source.add(i * step));
        });
    }
}
