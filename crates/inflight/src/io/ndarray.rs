//! Arrays of the crate `ndarray`.

use crate::{Device, Element, Error, Result, Shape, Tensor};
use ::ndarray::{Array, ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl Tensor {
    /// A tensor with an array's elements, which are copied. Whatever the array's layout, the tensor has its
    /// axes; a column-major one is copied in one piece.
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

    /// A tensor with an array's elements, which are not copied if the array is row-major or column-major.
    #[track_caller]
    pub fn from_ndarray_owned<T: Element, D: Dimension>(
        array: Array<T, D>,
        device: &Device,
    ) -> Result<Tensor> {
        let shape = Shape::new(array.shape());
        let rows = array.is_standard_layout();
        if !rows && !array.t().is_standard_layout() {
            return Tensor::from_ndarray(&array, device);
        }
        let (len, (mut elements, offset)) = (array.len(), array.into_raw_vec_and_offset());
        // The array may have been cut out of a larger one.
        elements.truncate(offset.unwrap_or(0) + len);
        elements.drain(..offset.unwrap_or(0));
        match rows {
            true => Tensor::from_vec(elements, shape, device),
            false => Tensor::from_vec_column_major(elements, shape, device),
        }
    }

    /// The elements as an array, row-major. Waits as [`to_vec`](Tensor::to_vec) does.
    #[track_caller]
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec::<T>()?;
        ArrayD::from_shape_vec(IxDyn(self.shape()), elements).map_err(|error| {
            Error::Invalid(format!("no array has the shape {}: {error}", self.shape()))
        })
    }
}
