//! Conversion between tensors and raw little-endian bytes, for dtypes known only at run time.

use super::Tensor;
use crate::runtime::Device;
use crate::{Complex, DType, Error, Result, Shape, bf16, f16};
use std::panic::Location;

/// Dispatches on a dtype: runs `$body` with `$T` as its Rust type if every bit pattern is a valid element, and `$bool`
/// for `bool`, which allows 0 and 1 only.
macro_rules! match_pod {
    ($dtype:expr, $T:ident => $body:expr, bool => $bool:expr) => {
        match_pod!(@ $dtype, $T => $body, $bool;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64, C64 Complex<f32>, C128 Complex<f64>)
    };
    (@ $dtype:expr, $T:ident => $body:expr, $bool:expr; $($variant:ident $type:ty),*) => {
        match $dtype {
            DType::Bool => $bool,
            $(DType::$variant => {
                type $T = $type;
                $body
            })*
        }
    };
}

impl Tensor {
    /// Creates a tensor from the bytes of its elements: little-endian, in row-major order. A `bool` is one byte, true
    /// if it is not 0.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of bytes is not the size of that many elements.
    ///
    /// ```
    /// use inflight::{DType, Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_bytes(&[1, 0, 2, 0], [2], DType::U16, &Device::cpu())?;
    /// assert_eq!(x.to_vec::<u16>()?, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("frombuffer", "fromstring"))]
    #[track_caller]
    pub fn from_bytes(
        bytes: &[u8],
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let size = dtype.size();
        if !bytes.len().is_multiple_of(size)
            || shape.checked_element_count() != Some(bytes.len() / size)
        {
            let location = Location::caller();
            let expected = match shape.checked_element_count() {
                Some(count) => format!("{} bytes", count * size),
                None => "an addressable number of bytes".to_owned(),
            };
            return Err(Error::Invalid(format!(
                "expected {expected} for {dtype}{shape}, with {size} per element, found {} bytes; pass exactly the \
                 bytes of the shape; at {location}",
                bytes.len()
            )));
        }
        match_pod!(
            dtype,
            T => Tensor::from_vec(bytemuck::pod_collect_to_vec::<u8, T>(bytes), shape, device),
            bool => {
                let elements = bytes.iter().map(|&byte| byte != 0).collect::<Vec<bool>>();
                Tensor::from_vec(elements, shape, device)
            }
        )
    }

    /// Reads the bytes of the elements: little-endian, in row-major order, one byte for a `bool`.
    ///
    /// Waits for this value, as [`to_vec`](Tensor::to_vec) does.
    ///
    /// # Errors
    /// The first error of the value's computation, or [`Error::WaitDenied`] under a [`SyncGuard`](crate::SyncGuard).
    #[doc(alias("tobytes", "tostring"))]
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        match_pod!(
            self.dtype(),
            T => Ok(bytemuck::cast_slice(&self.to_vec::<T>()?).to_vec()),
            bool => Ok(self.to_vec::<bool>()?.into_iter().map(u8::from).collect())
        )
    }
}
