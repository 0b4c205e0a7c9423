//! Conversion from and to arrays of the `ndarray` crate.

use crate::{Device, Element, Error, Result, Shape, Tensor};
use ::ndarray::{Array, ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl Tensor {
    /// Creates a tensor from a copy of an array with any layout. Row-major and column-major arrays are copied in
    /// one piece.
    #[track_caller]
    pub fn from_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        array: &ArrayBase<S, D>,
        device: &Device,
    ) -> Result<Tensor> {
        let shape = Shape::new(array.shape());
        if let Some(elements) = array.as_slice() {
            return Tensor::from_vec(elements.to_vec(), shape, device);
        }
        if let Some(elements) = array.t().as_slice() {
            return Tensor::from_vec_column_major(elements.to_vec(), shape, device);
        }
        Tensor::from_vec(array.iter().copied().collect(), shape, device)
    }

    /// Creates a tensor from an array's elements without a copy, if the array is row-major or column-major;
    /// otherwise copies.
    #[track_caller]
    pub fn from_ndarray_owned<T: Element, D: Dimension>(
        array: Array<T, D>,
        device: &Device,
    ) -> Result<Tensor> {
        let shape = Shape::new(array.shape());
        let is_row_major = array.is_standard_layout();
        if !is_row_major && !array.t().is_standard_layout() {
            return Tensor::from_ndarray(&array, device);
        }
        let (len, (mut elements, offset)) = (array.len(), array.into_raw_vec_and_offset());
        // The array may be a slice of a larger allocation.
        elements.truncate(offset.unwrap_or(0) + len);
        elements.drain(..offset.unwrap_or(0));
        match is_row_major {
            true => Tensor::from_vec(elements, shape, device),
            false => Tensor::from_vec_column_major(elements, shape, device),
        }
    }

    /// Returns the elements as a row-major array. Waits for the value, as [`to_vec`](Tensor::to_vec).
    #[track_caller]
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec::<T>()?;
        ArrayD::from_shape_vec(IxDyn(self.shape()), elements).map_err(|error| {
            Error::Invalid(format!("ndarray does not support the shape {}: {error}", self.shape()))
        })
    }
}
