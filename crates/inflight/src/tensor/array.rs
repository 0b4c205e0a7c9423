//! Nested Rust arrays as tensors.

use super::Tensor;
use crate::Shape;
use crate::lists::for_elements;
use crate::runtime::Device;

/// A scalar, or an array of such arrays: `[[1.0, 2.0], [3.0, 4.0]]`. Its lengths are a shape, whatever its depth.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array of elements that a tensor can hold",
    note = "expected nested arrays of one element type, such as `[[1.0, 2.0], [3.0, 4.0]]`; a `Vec` needs a shape: `Tensor::from_vec(data, shape, &device)`"
)]
pub trait NestedArray: sealed::Sealed {}

mod sealed {
    /// Keeps [`NestedArray`](super::NestedArray) to scalars and arrays.
    pub trait Sealed {
        /// The type of the innermost elements.
        type Item: crate::Element;

        /// Appends the lengths, outermost first.
        fn extents(extents: &mut Vec<usize>);

        /// Appends the elements in row-major order.
        fn flatten(self, elements: &mut Vec<Self::Item>);
    }
}

macro_rules! scalars {
    ($($type:ty),*) => {$(
        impl NestedArray for $type {}
        impl sealed::Sealed for $type {
            type Item = $type;

            fn extents(_: &mut Vec<usize>) {}

            fn flatten(self, elements: &mut Vec<$type>) {
                elements.push(self);
            }
        }

        impl From<Vec<$type>> for Tensor {
            /// The elements on one axis, on the CPU.
            #[track_caller]
            fn from(data: Vec<$type>) -> Tensor {
                let shape = [data.len()];
                Tensor::from_vec(data, shape, &Device::cpu()).expect("one axis of all elements")
            }
        }
    )*};
}

for_elements!(scalars);

impl<A: NestedArray, const N: usize> NestedArray for [A; N] {}
impl<A: NestedArray, const N: usize> sealed::Sealed for [A; N] {
    type Item = A::Item;

    fn extents(extents: &mut Vec<usize>) {
        extents.push(N);
        A::extents(extents);
    }

    fn flatten(self, elements: &mut Vec<A::Item>) {
        self.into_iter().for_each(|array| array.flatten(elements));
    }
}

impl<A: NestedArray, const N: usize> From<[A; N]> for Tensor {
    /// A nested array, on the CPU. [`Tensor::from_array`] makes one on another device.
    #[track_caller]
    fn from(array: [A; N]) -> Tensor {
        Tensor::from_array(array, &Device::cpu())
    }
}

impl Tensor {
    /// A nested array as a tensor: the lengths of the arrays are the shape.
    ///
    /// ```
    /// use inflight::{Device, Shape, Tensor};
    ///
    /// let x = Tensor::from_array([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::cpu());
    /// assert_eq!(x.shape(), &Shape::from([2, 3]));
    /// let y = Tensor::from([[1., 2.], [3., 4.]]); // f64, on the CPU
    /// ```
    #[doc(alias = "new")]
    #[doc(alias = "tensor")]
    #[doc(alias = "array")]
    #[track_caller]
    pub fn from_array<A: NestedArray>(array: A, device: &Device) -> Tensor {
        let (mut extents, mut elements) = (Vec::new(), Vec::new());
        A::extents(&mut extents);
        array.flatten(&mut elements);
        Tensor::from_vec(elements, Shape::from(extents), device)
            .expect("one element for each index")
    }
}
