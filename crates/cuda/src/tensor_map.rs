//! TMA tensor maps (`CUtensorMap`), which describe a tensor to bulk tensor copies on Hopper and later: tiled maps for
//! boxes, and im2col maps for the windows of convolutions.

use crate::driver::check;
use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave,
    CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use inflight_backend::Fault;
use std::ffi::c_void;

/// 64-bit words of a tensor map. Argument structs that contain one are a multiple of this long, because a map is
/// aligned to 128 bytes.
pub const TENSOR_MAP_WORDS: usize = 16;

/// A tensor in device memory to be copied by TMA. Elements outside of it are copied as zeros.
pub struct TmaTensor<'a> {
    pub address: u64,
    pub kind: CUtensorMapDataType,
    /// The swizzle of the copy in shared memory.
    pub swizzle: CUtensorMapSwizzle,
    /// The contiguous axis comes first.
    pub extents: &'a [u64],
    /// Strides of the other axes, in bytes.
    pub distances: &'a [u64],
}

impl TmaTensor<'_> {
    /// The tiled tensor map for copies of boxes of these extents.
    pub fn tiled(&self, box_extents: &[u32]) -> Result<[u64; TENSOR_MAP_WORDS], Fault> {
        assert_eq!(box_extents.len(), self.extents.len());
        let steps = [1u32; 5];
        let mut map = CUtensorMap { opaque: [0; TENSOR_MAP_WORDS] };
        // SAFETY: the driver reads `rank` extents, box extents and steps, and `rank - 1` strides, which the slices
        // have, and writes the map. It stores the address without accessing it.
        let encoded = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                self.kind,
                self.rank(),
                self.address as *mut c_void,
                self.extents.as_ptr(),
                self.distances.as_ptr(),
                box_extents.as_ptr(),
                steps.as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                self.swizzle,
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        check(encoded, "encoding a tiled tensor map")?;
        Ok(map.opaque)
    }

    /// The im2col tensor map for copies of `features` channels of `windows` consecutive windows. The axes of the tensor
    /// are channels, the spatial axes, and examples. For each spatial axis, `strides` has the distance of windows, and
    /// `ends` the distance from the start of the last window to the end of the axis.
    pub fn im2col(
        &self,
        strides: &[u32],
        ends: &[i32],
        [features, windows]: [u32; 2],
    ) -> Result<[u64; TENSOR_MAP_WORDS], Fault> {
        let spatial = self.extents.len() - 2;
        assert!(
            strides.len() == spatial
                && ends.len() == spatial
                && (1..=MAX_SPATIAL_AXES).contains(&spatial)
        );
        let mut steps = [1u32; 2 + MAX_SPATIAL_AXES];
        steps[1..=spatial].copy_from_slice(strides);
        let (lower_corner, mut upper_corner) = ([0i32; MAX_SPATIAL_AXES], [0i32; MAX_SPATIAL_AXES]);
        upper_corner.iter_mut().zip(ends).for_each(|(corner, end)| *corner = 1 - end);
        let mut map = CUtensorMap { opaque: [0; TENSOR_MAP_WORDS] };
        // SAFETY: as in `tiled`; the driver also reads a lower and an upper corner for each spatial axis.
        let encoded = unsafe {
            sys::cuTensorMapEncodeIm2col(
                &mut map,
                self.kind,
                self.rank(),
                self.address as *mut c_void,
                self.extents.as_ptr(),
                self.distances.as_ptr(),
                lower_corner.as_ptr(),
                upper_corner.as_ptr(),
                features,
                windows,
                steps.as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                self.swizzle,
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        check(encoded, "encoding an im2col tensor map")?;
        Ok(map.opaque)
    }

    fn rank(&self) -> u32 {
        assert_eq!(self.distances.len() + 1, self.extents.len());
        self.extents.len() as u32
    }
}

/// The most spatial axes of an im2col tensor map.
pub const MAX_SPATIAL_AXES: usize = 3;

/// Whether im2col copies support windows with these strides and extents along each of at most three spatial axes.
pub fn supports_im2col(axes: &[Im2colAxis]) -> bool {
    // The instruction's offset bits are shared by all spatial axes.
    let max_offset = match axes.len() {
        1 => 1 << 15,
        2 => 1 << 7,
        3 => 1 << 4,
        _ => return false,
    };
    axes.iter().all(|axis| {
        (1..=MAX_STRIDE).contains(&axis.stride) && axis.reach < max_offset && axis.end <= max_offset
    })
}

/// The largest window stride of an im2col tensor map.
const MAX_STRIDE: usize = 8;

/// A spatial axis of an im2col tensor map.
#[derive(Clone, Copy)]
pub struct Im2colAxis {
    /// The distance of consecutive windows.
    pub stride: usize,
    /// The distance of a window's first and last element.
    pub reach: usize,
    /// The distance from the start of the last window to the end of the axis, at least one.
    pub end: usize,
}
