//! Where tensors are, as the device's own copies take them, on Hopper and later.

use crate::driver::check;
use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave,
    CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use inflight_backend::Fault;
use std::ffi::c_void;

/// Words of a map. Arguments that have one among them are as long as several.
pub const MAP_WORDS: usize = 16;

/// A tensor that parts are copied of. What is outside of it is copied as zeros.
pub struct MappedTensor<'a> {
    pub address: u64,
    pub kind: CUtensorMapDataType,
    /// How what is copied lies in shared memory.
    pub swizzle: CUtensorMapSwizzle,
    /// The axis whose elements are next to each other comes first.
    pub extents: &'a [u64],
    /// Along each of the other axes, in bytes.
    pub distances: &'a [u64],
}

impl MappedTensor<'_> {
    /// For copies of boxes of these extents.
    pub fn boxes(&self, part: &[u32]) -> Result<[u64; MAP_WORDS], Fault> {
        assert_eq!(part.len(), self.extents.len());
        let steps = [1u32; 5];
        let mut map = CUtensorMap { opaque: [0; MAP_WORDS] };
        // SAFETY: the driver reads as many numbers as there are axes, less one for distances, and writes the map; it
        // only writes the address down.
        let encoded = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                self.kind,
                self.rank(),
                self.address as *mut c_void,
                self.extents.as_ptr(),
                self.distances.as_ptr(),
                part.as_ptr(),
                steps.as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                self.swizzle,
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        check(encoded, "describing a matrix")?;
        Ok(map.opaque)
    }

    /// For copies of some features of so many windows, which follow each other. The axes of the tensor are features,
    /// those of space, and examples; windows are so far apart along those of space, and `ends` says for each how far
    /// before the end of the axis the last of them begins, at the latest.
    pub fn windows(
        &self,
        strides: &[u32],
        ends: &[i32],
        [features, windows]: [u32; 2],
    ) -> Result<[u64; MAP_WORDS], Fault> {
        let space = self.extents.len() - 2;
        assert!(strides.len() == space && ends.len() == space && (1..=MOST_SPACE).contains(&space));
        let mut steps = [1u32; 2 + MOST_SPACE];
        steps[1..=space].copy_from_slice(strides);
        let (begins, mut limits) = ([0i32; MOST_SPACE], [0i32; MOST_SPACE]);
        limits.iter_mut().zip(ends).for_each(|(limit, end)| *limit = 1 - end);
        let mut map = CUtensorMap { opaque: [0; MAP_WORDS] };
        // SAFETY: as for boxes; the driver reads a begin and a limit for each axis of space.
        let encoded = unsafe {
            sys::cuTensorMapEncodeIm2col(
                &mut map,
                self.kind,
                self.rank(),
                self.address as *mut c_void,
                self.extents.as_ptr(),
                self.distances.as_ptr(),
                begins.as_ptr(),
                limits.as_ptr(),
                features,
                windows,
                steps.as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                self.swizzle,
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        check(encoded, "describing windows")?;
        Ok(map.opaque)
    }

    fn rank(&self) -> u32 {
        assert_eq!(self.distances.len() + 1, self.extents.len());
        self.extents.len() as u32
    }
}

/// Axes of space that copies of windows can walk.
pub const MOST_SPACE: usize = 3;

/// Whether copies can walk windows that are so far apart, with elements that are so far apart, the last of which begins so
/// many elements before the end: for each of at most three axes.
pub fn can_walk(axes: &[WalkedAxis]) -> bool {
    // What is left to an axis of the bits that an instruction has for all.
    let most = match axes.len() {
        1 => 1 << 15,
        2 => 1 << 7,
        3 => 1 << 4,
        _ => return false,
    };
    axes.iter().all(|axis| {
        (1..=MOST_STRIDE).contains(&axis.stride) && axis.reach < most && axis.end <= most
    })
}

/// The largest distance of windows.
const MOST_STRIDE: usize = 8;

/// An axis of space that copies of windows walk.
#[derive(Clone, Copy)]
pub struct WalkedAxis {
    /// From window to window.
    pub stride: usize,
    /// From a window's first element to its last.
    pub reach: usize,
    /// From where the last window begins to the end of the axis, at least one.
    pub end: usize,
}
