//! Matrix multiplication (GEMM) and general contractions (`dot_general`, einsum-style).

use super::Tensor;
use super::method::method;
use super::record::{mistake, record_at};
use crate::Shape;
use inflight_ir::graph::{DotAxes, Op};
use smallvec::smallvec;
use std::panic::Location;

impl Tensor {
    /// The matrix product, by NumPy's `matmul` rule: contracts the last axis of this tensor with the last but one of
    /// `other`, and broadcasts the axes before these. A vector has the contracted axis only.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let device = Device::cpu();
    /// let (x, w) = (Tensor::ones::<f32>((8, 2, 3), &device), Tensor::ones::<f32>((3, 4), &device));
    /// assert_eq!(x.matmul(&w).shape(), &Shape::from([8, 2, 4]));
    /// ```
    #[doc(alias("mm", "bmm", "mv", "dot", "gemm", "linear", "@"))]
    #[track_caller]
    pub fn matmul(&self, other: &Tensor) -> Tensor {
        let location = Location::caller();
        let (a, b) = (self.shape(), other.shape());
        match MatmulShape::of(a, b) {
            Ok(shape) => {
                method("matmul").of(&[self, other], self.multiplied(other, &shape, location))
            }
            Err(message) => {
                let (shape, dtype) = (plausible(a, b), self.dtype());
                mistake("matmul", message, &[self, other], shape, dtype, location)
            }
        }
    }

    fn multiplied(
        &self,
        other: &Tensor,
        shape: &MatmulShape,
        location: &'static Location<'static>,
    ) -> Tensor {
        let (a, b) = (self.shape(), other.shape());
        // Without batches on the right, all rows on the left make one matrix.
        if b.rank() <= 2 {
            let axes = DotAxes {
                a_contract: smallvec![a.rank() - 1],
                b_contract: smallvec![0],
                ..DotAxes::default()
            };
            return record_at(Op::Dot(axes), &[self, other], location);
        }
        let left = match a.rank() {
            1 => record_at(Op::Reshape(Shape::from([1, a[0]])), &[self], location),
            _ => self.clone(),
        };
        let left = repeated(left, &shape.batch, location);
        let right = repeated(other.clone(), &shape.batch, location);
        let rank = shape.batch.rank();
        let axes = DotAxes {
            a_batch: (0..rank).collect(),
            b_batch: (0..rank).collect(),
            a_contract: smallvec![rank + 1],
            b_contract: smallvec![rank],
        };
        let product = record_at(Op::Dot(axes), &[&left, &right], location);
        match a.rank() {
            1 => record_at(Op::Reshape(shape.result()), &[&product], location),
            _ => product,
        }
    }

    /// The general contraction, by the rule of StableHLO's and JAX's `dot_general`: the result's axes are the batch
    /// axes, this tensor's free axes, and `other`'s free axes.
    #[doc(alias("tensordot", "einsum", "contract", "inner"))]
    #[track_caller]
    pub fn dot_general(&self, other: &Tensor, axes: DotAxes) -> Tensor {
        let method = method("dot_general");
        let operands = [self, other];
        method.of(&operands, record_at(Op::Dot(axes), &operands, Location::caller()))
    }
}

/// The shape of a matmul's result.
struct MatmulShape {
    batch: Shape,
    /// The extents of the rows and columns that the result has.
    matrix: Shape,
}

impl MatmulShape {
    fn of(a: &Shape, b: &Shape) -> Result<MatmulShape, String> {
        if a.rank() == 0 || b.rank() == 0 {
            return Err(
                "expected operands of at least one axis, found a scalar; multiply with * instead"
                    .to_owned(),
            );
        }
        let (k_a, k_b) = (a[a.rank() - 1], b[b.rank().saturating_sub(2)]);
        if k_a != k_b {
            return Err(format!(
                "the contracted extents differ: K = {k_a} in a {a}, K = {k_b} in b {b}; the last axis of a must be as \
                 long as the {} axis of b: transpose or slice one of them",
                if b.rank() == 1 { "only" } else { "last but one" },
            ));
        }
        let (a_batch, b_batch) = (batch(a), batch(b));
        let batch = a_batch.broadcast(&b_batch).ok_or_else(|| {
            format!(
                "expected axes before the last two that broadcast, found {a_batch} and {b_batch}; \
                 aligned at the last, extents must be equal or 1"
            )
        })?;
        Ok(MatmulShape { batch, matrix: matrix(a, b) })
    }

    fn result(&self) -> Shape {
        self.batch.iter().chain(self.matrix.iter()).copied().collect()
    }
}

/// The axes before the matrices.
fn batch(shape: &Shape) -> Shape {
    Shape::new(&shape[..shape.rank().saturating_sub(2)])
}

/// The rows of `a` and the columns of `b`, for operands that have them.
fn matrix(a: &Shape, b: &Shape) -> Shape {
    let rows = a.rank().checked_sub(2).map(|axis| a[axis]);
    let columns = if b.rank() < 2 { None } else { b.last().copied() };
    rows.into_iter().chain(columns).collect()
}

/// The shape of a matmul that failed: batches that do not broadcast are those of the operand with more axes.
fn plausible(a: &Shape, b: &Shape) -> Shape {
    let (a_batch, b_batch) = (batch(a), batch(b));
    let batch = a_batch.broadcast(&b_batch).unwrap_or_else(|| {
        if a_batch.rank() >= b_batch.rank() { a_batch.clone() } else { b_batch.clone() }
    });
    let shape = MatmulShape { batch, matrix: matrix(a, b) }.result();
    if shape.checked_element_count().is_some() { shape } else { a.clone() }
}

/// A view that repeats the matrices of `x` over the batch.
fn repeated(x: Tensor, batch: &Shape, location: &'static Location<'static>) -> Tensor {
    let matrix = &x.shape()[x.rank() - 2..];
    let shape: Shape = batch.iter().chain(matrix).copied().collect();
    match shape == *x.shape() {
        true => x,
        false => record_at(Op::Broadcast(shape), &[&x], location),
    }
}
