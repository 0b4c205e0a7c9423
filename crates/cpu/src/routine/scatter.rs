//! Scatter with a user-defined combine function.

use super::{Device, SharedPtr};
use inflight_backend::Fault;
use inflight_ir::graph::ScalarFunction;
use inflight_ir::interpret::ScalarFunctionEvaluator;
use inflight_ir::plan::Lines;
use inflight_ir::{DType, DTypeClass, Scalar};

/// The arguments of a scatter.
pub struct Scatter<'a> {
    /// The lines of the tensor that is scattered into.
    pub lines: Lines,
    /// Number of updates per line.
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
    /// Elements and updates of a chunk.
    const PART: usize = 1 << 13;
    let Scatter { lines, updates, dtype, index, combine } = scatter;
    let (size, index_size) = (dtype.size(), index.size());
    let [x, index_at, update] = operands.map(SharedPtr);
    let result = SharedPtr(result);
    let count = lines.count();
    let step = (PART / (lines.extent + updates).max(1)).max(1);
    device.parallel_for(count.div_ceil(step), |chunk| {
        let mut combine = ScalarFunctionEvaluator::new(combine);
        for line in chunk * step..((chunk + 1) * step).min(count) {
            let (outer, inner) = (line / lines.inner, line % lines.inner);
            let element = |i: usize| ((outer * lines.extent + i) * lines.inner + inner) * size;
            for i in 0..lines.extent {
                // SAFETY: promised by the caller; only this thread writes this line.
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
                let Some(position) = position(index).filter(|&i| i < lines.extent) else {
                    continue;
                };
                let slot = result.at(element(position));
                // SAFETY: the slot is in this line, all of which has been copied, and only this thread accesses it.
                unsafe {
                    let value = combine.call(&[load(dtype, slot), update]).to_bytes();
                    value.as_ptr().copy_to_nonoverlapping(slot, size);
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

/// Converts an index to a position; `None` if it is negative or out of range.
fn position(index: Scalar) -> Option<usize> {
    let wide = match index.dtype().class() {
        DTypeClass::Signed => usize::try_from(index.cast(DType::I64).bits()[0] as i64).ok(),
        _ => usize::try_from(index.cast(DType::U64).bits()[0]).ok(),
    };
    wide.filter(|&position| position <= isize::MAX as usize)
}
