//! Triangular matrices: factors and solutions.

use super::Tensor;
use super::record::record_at;
use inflight_ir::graph::{Op, Transpose};
use std::panic::Location;

/// How a triangular matrix is solved with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TriangularOptions {
    /// Whether it is the lower triangle that is looked at.
    pub lower: bool,
    /// Whether the matrix stands on the left of what is solved for; so unless said otherwise.
    pub left_side: bool,
    /// Whether its diagonal counts as ones, and is not looked at; not unless said otherwise.
    pub unit_diagonal: bool,
    /// What is done to it first; nothing unless said otherwise.
    pub transpose: Transpose,
}

impl TriangularOptions {
    /// The lower triangle, on the left.
    pub fn lower() -> TriangularOptions {
        TriangularOptions {
            lower: true,
            left_side: true,
            unit_diagonal: false,
            transpose: Transpose::No,
        }
    }

    /// The upper triangle, on the left.
    pub fn upper() -> TriangularOptions {
        TriangularOptions { lower: false, ..TriangularOptions::lower() }
    }
}

impl Tensor {
    /// The lower triangular factor of each positive definite matrix in the last two axes: the matrix is the
    /// factor times its adjoint. Only the lower triangle is looked at. A matrix that is not positive definite
    /// has NaN in its factor.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Device, Tensor, TriangularOptions};
    ///
    /// let device = Device::cpu();
    /// let a = Tensor::from_vec(vec![4.0f32, 2.0, 2.0, 10.0], [2, 2], &device)?;
    /// let factor = a.cholesky();
    /// assert_eq!(factor.to_vec::<f32>()?, [2.0, 0.0, 1.0, 3.0]);
    /// let b = Tensor::from_vec(vec![2.0f32, 7.0], [2, 1], &device)?;
    /// let x = factor.solve_triangular(&b, TriangularOptions::lower());
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn cholesky(&self) -> Tensor {
        record_at(Op::Cholesky { lower: true }, &[self], Location::caller())
    }

    /// The `x` with `a·x = b`, where `a`, this tensor, has triangular matrices in its last two axes and `b` the
    /// same axes before. Only one triangle is looked at.
    #[track_caller]
    pub fn solve_triangular(&self, b: &Tensor, options: TriangularOptions) -> Tensor {
        let TriangularOptions { lower, left_side, unit_diagonal, transpose } = options;
        let op = Op::TriangularSolve { left_side, lower, unit_diagonal, transpose };
        record_at(op, &[self, b], Location::caller())
    }
}
