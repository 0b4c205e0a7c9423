//! Nested Rust arrays as tensors.

use super::Tensor;
use crate::Shape;
use crate::lists::for_elements;
use crate::runtime::Device;

/// A scalar, or a nested array of scalars of any depth: `[[1.0, 2.0], [3.0, 4.0]]`. The array lengths are the shape.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array of elements that a tensor can hold",
    note = "expected nested arrays of one element type, such as `[[1.0, 2.0], [3.0, 4.0]]`; a `Vec` needs a shape: `Tensor::from_vec(data, shape, &device)`"
)]
pub trait NestedArray: sealed::Sealed {}

mod sealed {
    /// Seals [`NestedArray`](super::NestedArray): only scalars and arrays implement it.
    pub trait Sealed {
        /// The type of the innermost elements.
        type Item: crate::Element;

        /// Appends the array lengths, outermost first.
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
            /// Creates a rank-1 tensor on the CPU.
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
    /// Creates a tensor on the CPU. [`Tensor::from_array`] takes a device.
    #[track_caller]
    fn from(array: [A; N]) -> Tensor {
        Tensor::from_array(array, &Device::cpu())
    }
}

impl Tensor {
    /// Creates a tensor from a nested array. The array lengths are the shape.
    ///
    /// ```
    /// use inflight::{Device, Shape, Tensor};
    ///
    /// let x = Tensor::from_array([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::cpu());
    /// assert_eq!(x.shape(), &Shape::from([2, 3]));
    /// let y = Tensor::from([[1., 2.], [3., 4.]]); // f64, on the CPU
    /// ```
    #[doc(alias("new", "tensor", "array", "asarray"))]
    #[track_caller]
    pub fn from_array<A: NestedArray>(array: A, device: &Device) -> Tensor {
        let (mut extents, mut elements) = (Vec::new(), Vec::new());
        A::extents(&mut extents);
        array.flatten(&mut elements);
        Tensor::from_vec(elements, Shape::from(extents), device)
            .expect("one element for each index")
    }
}
