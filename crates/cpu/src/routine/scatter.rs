//! Scatters whose updates are combined by a function.

use super::{Device, Shared};
use inflight_backend::Fault;
use inflight_ir::graph::ScalarFunction;
use inflight_ir::interpret::ScalarFunctionEvaluator;
use inflight_ir::plan::Lines;
use inflight_ir::{DType, DTypeClass, Scalar};

/// What is scattered.
pub struct Scatter<'a> {
    /// The lines of what is scattered into.
    pub lines: Lines,
    /// Updates of each line.
    pub updates: usize,
    pub dtype: DType,
    pub index: DType,
    pub combine: &'a ScalarFunction,
}

/// Copies `x` and applies the updates of each line in order. Lines are independent of each other.
///
/// # Safety
/// As for [`run`](super::run); the operands are `x`, `index`, `update`.
pub unsafe fn scatter(
    device: &Device,
    scatter: Scatter,
    operands: [*mut u8; 3],
    result: *mut u8,
) -> Result<(), Fault> {
    /// Elements and updates that one thread takes at a time.
    const PART: usize = 1 << 13;
    let Scatter { lines, updates, dtype, index, combine } = scatter;
    let (size, index_size) = (dtype.size(), index.size());
    let [x, index_at, update] = operands.map(Shared);
    let result = Shared(result);
    let count = lines.count();
    let step = (PART / (lines.extent + updates).max(1)).max(1);
    device.parallel_for(count.div_ceil(step), |chunk| {
        let mut combine = ScalarFunctionEvaluator::new(combine);
        for number in chunk * step..((chunk + 1) * step).min(count) {
            let (outer, inner) = (number / lines.inner, number % lines.inner);
            let element = |i: usize| ((outer * lines.extent + i) * lines.inner + inner) * size;
            for i in 0..lines.extent {
                // SAFETY: promised by the caller; this thread alone writes this line.
                unsafe {
                    x.at(element(i)).copy_to_nonoverlapping(result.at(element(i)), size);
                }
            }
            for i in 0..updates {
                let at = (outer * updates + i) * lines.inner + inner;
                // SAFETY: promised by the caller; there are as many indices as updates.
                let (index, update) = unsafe {
                    (load(index, index_at.at(at * index_size)), load(dtype, update.at(at * size)))
                };
                let Some(place) = place(index).filter(|&place| place < lines.extent) else {
                    continue;
                };
                let place = result.at(element(place));
                // SAFETY: the place is in this line, all of which is copied, and this thread's alone.
                unsafe {
                    let value = combine.call(&[load(dtype, place), update]).to_bytes();
                    value.as_ptr().copy_to_nonoverlapping(place, size);
                }
            }
        }
    })
}

/// # Safety
/// There must be an element of this dtype.
unsafe fn load(dtype: DType, at: *mut u8) -> Scalar {
    // SAFETY: promised by the caller.
    Scalar::from_bytes(dtype, unsafe { std::slice::from_raw_parts(at, dtype.size()) })
}

/// An index as a position, if it is one.
fn place(index: Scalar) -> Option<usize> {
    let wide = match index.dtype().class() {
        DTypeClass::Signed => usize::try_from(index.cast(DType::I64).bits()[0] as i64).ok(),
        _ => usize::try_from(index.cast(DType::U64).bits()[0]).ok(),
    };
    wide.filter(|&place| place <= isize::MAX as usize)
}
