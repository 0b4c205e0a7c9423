//! Array values in host memory.

use crate::{DType, Element, Scalar, Shape};

/// A dense array of any shape and dtype, in row-major order.
#[derive(Clone, PartialEq, Eq)]
pub struct Array {
    /// The extents.
    pub shape: Shape,
    /// The dtype of the elements.
    pub dtype: DType,
    /// The elements: `shape.element_count() * dtype.size()` bytes, little-endian.
    pub bytes: Vec<u8>,
}

impl Array {
    /// An array with these elements.
    ///
    /// # Panics
    /// If the number of elements does not match the shape.
    pub fn from_vec<T: Element>(values: Vec<T>, shape: impl Into<Shape>) -> Array {
        let shape = shape.into();
        assert_eq!(values.len(), shape.element_count(), "elements of an array of shape {shape}");
        let mut array = Array::with_capacity(shape, T::DTYPE);
        values.into_iter().for_each(|value| array.push(value.to_scalar()));
        array
    }

    /// An array with these elements.
    ///
    /// # Panics
    /// If the number of elements does not match the shape, or an element has another dtype.
    pub fn from_scalars(
        values: impl IntoIterator<Item = Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
    ) -> Array {
        let mut array = Array::with_capacity(shape.into(), dtype);
        for value in values {
            assert_eq!(value.dtype(), dtype, "an element's dtype");
            array.push(value);
        }
        let expected = array.shape.element_count() * dtype.size();
        assert_eq!(array.bytes.len(), expected, "bytes of an array of shape {}", array.shape);
        array
    }

    /// An array filled with one value.
    pub fn full(shape: impl Into<Shape>, value: Scalar) -> Array {
        let shape = shape.into();
        let bytes = value.to_bytes()[..value.dtype().size()].repeat(shape.element_count());
        Array { shape, dtype: value.dtype(), bytes }
    }

    /// The elements, converted with [`Scalar::cast`] if they have another dtype.
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        self.scalars().map(T::from_scalar).collect()
    }

    /// The elements, in row-major order.
    pub fn scalars(&self) -> impl ExactSizeIterator<Item = Scalar> + '_ {
        (0..self.element_count()).map(|i| self.get(i))
    }

    /// The number of elements.
    pub fn element_count(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// The element at a row-major index.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn get(&self, i: usize) -> Scalar {
        Scalar::from_bytes(self.dtype, &self.bytes[i * self.dtype.size()..])
    }

    /// Replaces the element at a row-major index.
    ///
    /// # Panics
    /// If the index is out of range, or the value has another dtype.
    pub fn set(&mut self, i: usize, value: Scalar) {
        assert_eq!(value.dtype(), self.dtype, "an element's dtype");
        let size = self.dtype.size();
        self.bytes[i * size..(i + 1) * size].copy_from_slice(&value.to_bytes()[..size]);
    }

    fn with_capacity(shape: Shape, dtype: DType) -> Array {
        let bytes = Vec::with_capacity(shape.element_count() * dtype.size());
        Array { shape, dtype, bytes }
    }

    fn push(&mut self, value: Scalar) {
        self.bytes.extend_from_slice(&value.to_bytes()[..self.dtype.size()]);
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{} [", self.dtype, self.shape)?;
        for (i, value) in self.scalars().enumerate() {
            write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;
    use num_complex::Complex;

    #[test]
    fn elements_round_trip() {
        let array = Array::from_vec(vec![1i16, -2, 3, 4, 5, 6], [2, 3]);
        assert_eq!(array.get(1), (-2i16).to_scalar());
        assert_eq!(array.to_vec::<i16>(), [1, -2, 3, 4, 5, 6]);
        assert_eq!(array.to_vec::<f64>()[1], -2.0);
        assert_eq!(array.bytes.len(), 12);
        assert_eq!(format!("{array:?}"), "i16[2, 3] [1, -2, 3, 4, 5, 6]");
        let complex = vec![Complex::new(1.0, 2.0), Complex::new(3.0, -4.0)];
        assert_eq!(Array::from_vec(complex.clone(), 2).to_vec::<Complex<f64>>(), complex);
    }

    #[test]
    fn full_arrays() {
        let half = bf16::from_f32(0.5);
        assert_eq!(Array::full([2, 2], half.to_scalar()).to_vec::<bf16>(), [half; 4]);
        assert_eq!(Array::full((), 7u8.to_scalar()).to_vec::<u8>(), [7]);
        assert_eq!(Array::full([3, 0], 7u8.to_scalar()).element_count(), 0);
    }

    #[test]
    fn set_replaces_an_element() {
        let mut array = Array::full([3], 1u32.to_scalar());
        array.set(1, 9u32.to_scalar());
        assert_eq!(array.to_vec::<u32>(), [1, 9, 1]);
    }

    #[test]
    #[should_panic(expected = "elements of an array of shape [3]")]
    fn the_wrong_number_of_elements_panics() {
        Array::from_vec(vec![1.0f32], [3]);
    }
}
