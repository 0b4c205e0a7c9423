//! Products of matrices.

use super::Tensor;
use super::record::{mistake, record_at};
use crate::Shape;
use inflight_ir::graph::{DotAxes, Op};
use smallvec::smallvec;
use std::panic::Location;

impl Tensor {
    /// The matrix product, as NumPy's `matmul`: the last axis of this tensor is contracted with the last
    /// but one of `other`, and the axes before these broadcast. A vector has only the axis that is
    /// contracted.
    #[track_caller]
    pub fn matmul(&self, other: &Tensor) -> Tensor {
        let location = Location::caller();
        let (a, b) = (self.shape(), other.shape());
        let shapes = match Product::of(a, b) {
            Ok(shapes) => shapes,
            Err(message) => {
                let (shape, dtype) = (plausible(a, b), self.dtype());
                return mistake("matmul", message, &[self, other], shape, dtype, location);
            }
        };
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
        let left = repeated(left, &shapes.batch, location);
        let right = repeated(other.clone(), &shapes.batch, location);
        let rank = shapes.batch.rank();
        let axes = DotAxes {
            a_batch: (0..rank).collect(),
            b_batch: (0..rank).collect(),
            a_contract: smallvec![rank + 1],
            b_contract: smallvec![rank],
        };
        let product = record_at(Op::Dot(axes), &[&left, &right], location);
        match a.rank() {
            1 => record_at(Op::Reshape(shapes.result()), &[&product], location),
            _ => product,
        }
    }

    /// The general contraction, as StableHLO's `dot_general`: the result's axes are the batch axes, this
    /// tensor's free axes, and `other`'s free axes.
    #[track_caller]
    pub fn dot_general(&self, other: &Tensor, axes: DotAxes) -> Tensor {
        record_at(Op::Dot(axes), &[self, other], Location::caller())
    }
}

/// The parts of a product's shape.
struct Product {
    batch: Shape,
    /// The extents of the rows and columns that the result has.
    matrix: Shape,
}

impl Product {
    fn of(a: &Shape, b: &Shape) -> Result<Product, String> {
        if a.rank() == 0 || b.rank() == 0 {
            return Err(
                "expected operands of at least one axis, found a scalar; multiply with * instead"
                    .to_owned(),
            );
        }
        let contracted = (a[a.rank() - 1], b[b.rank().saturating_sub(2)]);
        if contracted.0 != contracted.1 {
            return Err(format!(
                "expected the last axis of the first to be as long as the {} of the second, found {} \
                 and {} in shapes {a} and {b}; transpose or slice one of them",
                if b.rank() == 1 { "only one" } else { "last but one" },
                contracted.0,
                contracted.1,
            ));
        }
        let (a_batch, b_batch) = (batch(a), batch(b));
        let batch = a_batch.broadcast(&b_batch).ok_or_else(|| {
            format!(
                "expected axes before the last two that broadcast, found {a_batch} and {b_batch}; \
                 aligned at the last, extents must be equal or 1"
            )
        })?;
        Ok(Product { batch, matrix: matrix(a, b) })
    }

    fn result(&self) -> Shape {
        self.batch.iter().chain(self.matrix.iter()).copied().collect()
    }
}

/// The axes before the matrices.
fn batch(shape: &Shape) -> Shape {
    Shape::new(&shape[..shape.rank().saturating_sub(2)])
}

/// The rows of the first and the columns of the second, as far as they have any.
fn matrix(a: &Shape, b: &Shape) -> Shape {
    let rows = a.rank().checked_sub(2).map(|axis| a[axis]);
    let columns = if b.rank() < 2 { None } else { b.last().copied() };
    rows.into_iter().chain(columns).collect()
}

/// The shape of a product that failed: batches that do not fit are those of the operand with more axes.
fn plausible(a: &Shape, b: &Shape) -> Shape {
    let (a_batch, b_batch) = (batch(a), batch(b));
    let batch = a_batch.broadcast(&b_batch).unwrap_or_else(|| {
        if a_batch.rank() >= b_batch.rank() { a_batch.clone() } else { b_batch.clone() }
    });
    let shape = Product { batch, matrix: matrix(a, b) }.result();
    if shape.checked_elements().is_some() { shape } else { a.clone() }
}

/// A view of the matrices of `x`, repeated over the batch.
fn repeated(x: Tensor, batch: &Shape, location: &'static Location<'static>) -> Tensor {
    let matrix = &x.shape()[x.rank() - 2..];
    let shape: Shape = batch.iter().chain(matrix).copied().collect();
    match shape == *x.shape() {
        true => x,
        false => record_at(Op::Broadcast(shape), &[&x], location),
    }
}
