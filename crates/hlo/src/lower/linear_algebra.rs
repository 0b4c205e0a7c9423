//! Lowering of `cholesky`, `triangular_solve` and `fft`.

use super::attributes::AttributeView;
use super::builder::Lowered;
use super::context::Lowering;
use crate::module::Operation;
use inflight_ir::compose::{self, FftKind};
use inflight_ir::graph::{NodeId, Op, Transpose};

/// `cholesky`
pub(super) fn cholesky(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let lower = AttributeView::of(operation).boolean("lower")?;
    lowering.builder().push(Op::Cholesky { lower }, &[x])
}

/// `triangular_solve`
pub(super) fn triangular_solve(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<NodeId> {
    let [a, b] = lowering.expect_operands(operation)?;
    let fields = AttributeView::of(operation);
    let transpose = match fields.enum_case("transpose_a")? {
        None | Some("NO_TRANSPOSE" | "TRANSPOSE_INVALID") => Transpose::No,
        Some("TRANSPOSE") => Transpose::Transpose,
        Some("ADJOINT") => Transpose::Adjoint,
        Some(other) => {
            return Err(format!(
                "expected `transpose_a` to be NO_TRANSPOSE, TRANSPOSE or ADJOINT, found {other}"
            )
            .into());
        }
    };
    let op = Op::TriangularSolve {
        left_side: fields.boolean("left_side")?,
        lower: fields.boolean("lower")?,
        unit_diagonal: fields.boolean("unit_diagonal")?,
        transpose,
    };
    lowering.builder().push(op, &[a, b])
}

/// `fft`
pub(super) fn fft(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let fields = AttributeView::of(operation);
    let kind = match fields.enum_case("fft_type")? {
        Some("FFT") => FftKind::Forward,
        Some("IFFT") => FftKind::Inverse,
        Some("RFFT") => FftKind::RealForward,
        Some("IRFFT") => FftKind::RealInverse,
        _ => return Err("expected `fft_type` to be one of FFT, IFFT, RFFT, IRFFT".into()),
    };
    let lengths = fields.axes("fft_length")?;
    lowering
        .builder()
        .compose(&[x], |graph, operands| compose::fft(graph, operands[0], kind, &lengths))
}
