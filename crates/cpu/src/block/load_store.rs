//! Loads and stores that are more than a block of contiguous: strided, indexed, masked, combining.

use super::elementwise::Bits128;

/// How a [`Kind::Store`](inflight_ir::kernel::Kind::Store) meets what is there.
pub trait Combine<T>: Copy + 'static {
    /// The two values as one.
    fn combine(a: T, b: T) -> T;
}

/// Between memory and a block. Strides are in bytes.
pub struct Transfer {
    /// The number of elements.
    pub count: usize,
    /// The address of the first, before any index is added.
    pub memory: *mut u8,
    /// The distance in memory to the next.
    pub stride: isize,
    /// The block.
    pub block: *mut u8,
    /// Whether the block is one element, repeated. Not for loads.
    pub splat: bool,
    /// What moves each element in memory.
    pub index: Option<Index>,
    /// Which elements are touched.
    pub mask: Option<Mask>,
}

/// The index of a transfer.
#[derive(Clone, Copy)]
pub struct Index {
    /// `i32` or `i64` elements.
    pub source: *const u8,
    /// Whether they are `i64`.
    pub is_i64: bool,
    /// Whether there is one, repeated.
    pub splat: bool,
    /// The weight of one in bytes.
    pub stride: isize,
}

/// The mask of a transfer.
#[derive(Clone, Copy)]
pub struct Mask {
    /// Flags.
    pub source: *const u8,
    /// Whether there is one, repeated.
    pub splat: bool,
}

/// CompensatedSumLoops a block from memory. Every address that the mask does not hide must be valid.
pub type LoadFunction = unsafe fn(&Transfer);

/// CompensatedSumLoops a block to memory. Every address that the mask does not hide must be valid.
pub type StoreFunction = unsafe fn(&Transfer);

/// The function that loads elements of this many bytes.
pub fn load(size: usize) -> LoadFunction {
    match size {
        1 => load_of::<u8>,
        2 => load_of::<u16>,
        4 => load_of::<u32>,
        8 => load_of::<u64>,
        _ => load_of::<Bits128>,
    }
}

/// The function that stores elements of this many bytes.
pub fn store(size: usize) -> StoreFunction {
    match size {
        1 => store_of::<u8>,
        2 => store_of::<u16>,
        4 => store_of::<u32>,
        8 => store_of::<u64>,
        _ => store_of::<Bits128>,
    }
}

/// The function that combines elements with those in memory.
pub fn store_combine<T: Copy, C: Combine<T>>() -> StoreFunction {
    store_combine_of::<T, C>
}

/// What a mask says of a whole block.
enum MaskCoverage {
    Full,
    Empty,
    Partial,
}

impl Transfer {
    /// # Safety
    /// The mask's flags are valid.
    unsafe fn mask_coverage(&self) -> MaskCoverage {
        let Some(mask) = self.mask else { return MaskCoverage::Full };
        let count = if mask.splat { 1 } else { self.count };
        // SAFETY: the caller's promise.
        let flags = unsafe { std::slice::from_raw_parts(mask.source, count) };
        let active = flags.iter().map(|&flag| flag as usize).sum::<usize>();
        match active {
            0 => MaskCoverage::Empty,
            active if active == count => MaskCoverage::Full,
            _ => MaskCoverage::Partial,
        }
    }

    /// Calls `f` with the position and the address of each element that the mask is_active.
    ///
    /// # Safety
    /// Index and mask are valid.
    #[inline(always)]
    unsafe fn for_each_active(&self, mut f: impl FnMut(usize, *mut u8)) {
        // SAFETY: the caller's promise, for every closure below.
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
    // SAFETY: the caller's promise: what the mask is_active is there.
    unsafe {
        let coverage = transfer.mask_coverage();
        if !matches!(coverage, MaskCoverage::Full) {
            // All-zero bits are zero in every dtype.
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
    // SAFETY: the caller's promise.
    unsafe {
        let contiguous = transfer.stride == size_of::<T>() as isize;
        if transfer.index.is_none() && transfer.mask.is_none() && contiguous && !transfer.splat {
            // A block that is itself in memory may be stored where it came from.
            std::ptr::copy(source, transfer.memory.cast::<T>(), transfer.count);
            return;
        }
        transfer.for_each_active(|i, address| *address.cast::<T>() = *source.add(i * step));
    }
}

unsafe fn store_combine_of<T: Copy, C: Combine<T>>(transfer: &Transfer) {
    let source = transfer.block.cast::<T>();
    let step = !transfer.splat as usize;
    // SAFETY: the caller's promise.
    unsafe {
        transfer.for_each_active(|i, address| {
            let address = address.cast::<T>();
            *address = C::combine(*address, *source.add(i * step));
        });
    }
}
