//! Tensors as the bytes of their elements, for dtypes that are known at run time only.

use super::Tensor;
use crate::runtime::Device;
use crate::{Complex, DType, Error, Result, Shape, bf16, f16};
use std::panic::Location;

/// Runs `$body` with `$T` as the Rust type of a dtype whose elements may be any bits.
macro_rules! match_plain {
    ($dtype:expr, $T:ident => $body:expr, bool => $bool:expr) => {
        match_plain!(@ $dtype, $T => $body, $bool;
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
    /// A tensor of these elements, given as their bytes: little-endian, in row-major order, one byte for a
    /// `bool`, which is true if it is not zero.
    ///
    /// # Errors
    /// If there are not as many bytes as the elements have.
    #[track_caller]
    pub fn from_bytes(
        bytes: &[u8],
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let size = dtype.size();
        if !bytes.len().is_multiple_of(size) || shape.checked_elements() != Some(bytes.len() / size)
        {
            let location = Location::caller();
            return Err(Error::Invalid(format!(
                "{} bytes do not fill {dtype}{shape}, whose elements have {size} each; at {location}",
                bytes.len()
            )));
        }
        match_plain!(
            dtype,
            T => Tensor::from_vec(bytemuck::pod_collect_to_vec::<u8, T>(bytes), shape, device),
            bool => {
                let elements = bytes.iter().map(|&byte| byte != 0).collect::<Vec<bool>>();
                Tensor::from_vec(elements, shape, device)
            }
        )
    }

    /// The bytes of the elements: little-endian, in row-major order, one byte for a `bool`. Waits as
    /// [`to_vec`](Tensor::to_vec) does.
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        match_plain!(
            self.dtype(),
            T => Ok(bytemuck::cast_slice(&self.to_vec::<T>()?).to_vec()),
            bool => Ok(self.to_vec::<bool>()?.into_iter().map(u8::from).collect())
        )
    }
}
