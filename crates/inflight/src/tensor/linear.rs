//! Linear algebra of triangular matrices: Cholesky factorization and triangular solves.

use super::Tensor;
use super::method::method;
use super::record::record_at;
use inflight_ir::graph::{Op, Transpose};
use std::panic::Location;

/// Options of [`Tensor::solve_triangular`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TriangularOptions {
    /// Whether the matrix is its lower triangle; the other one is ignored.
    pub lower: bool,
    /// Whether to solve `a·x = b` rather than `x·a = b`. The default is true.
    pub left_side: bool,
    /// Whether the diagonal is taken as ones and ignored. The default is false.
    pub unit_diagonal: bool,
    /// Whether the matrix is transposed first. The default is not.
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

    /// Solves `x·a = b` if this is false.
    #[must_use]
    pub fn left_side(self, left_side: bool) -> TriangularOptions {
        TriangularOptions { left_side, ..self }
    }

    /// With a diagonal of ones if this is true.
    #[must_use]
    pub fn unit_diagonal(self, unit_diagonal: bool) -> TriangularOptions {
        TriangularOptions { unit_diagonal, ..self }
    }

    /// With the matrix transposed first.
    #[must_use]
    pub fn transpose(self, transpose: Transpose) -> TriangularOptions {
        TriangularOptions { transpose, ..self }
    }
}

impl Tensor {
    /// The Cholesky factorization of each positive definite matrix in the last two axes: the lower triangular factor,
    /// which times its adjoint is the matrix. Only the lower triangle is read. A matrix that is not positive definite
    /// gives NaN.
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
    #[doc(alias("cho_factor", "linalg"))]
    #[track_caller]
    pub fn cholesky(&self) -> Tensor {
        record_at(Op::Cholesky { lower: true }, &[self], Location::caller())
    }

    /// Solves `a·x = b` for `x`, where `a`, this tensor, has triangular matrices in its last two axes and `b` has the
    /// same axes before these. Only one triangle is read.
    #[doc(alias("triangular_solve", "trsm", "solve", "linalg"))]
    #[track_caller]
    pub fn solve_triangular(&self, b: &Tensor, options: TriangularOptions) -> Tensor {
        let TriangularOptions { lower, left_side, unit_diagonal, transpose } = options;
        let op = Op::TriangularSolve { left_side, lower, unit_diagonal, transpose };
        let operands = [self, b];
        method("solve_triangular").of(&operands, record_at(op, &operands, Location::caller()))
    }
}
