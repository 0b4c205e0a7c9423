//! Legalization of LAPACK custom calls, which JAX exports for CPUs, to `cholesky` and `triangular_solve`.

use super::attributes::AttributeView;
use super::builder::Lowered;
use super::context::{Bound, Lowering, only};
use crate::module::Operation;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{Op, Transpose};
use inflight_ir::{DType, UnaryOp};

/// Lowers `lapack_?potrf_ffi` and `lapack_?trsm_ffi` of any precision. `None` for other targets.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
    target: &str,
) -> Lowered<Option<Vec<Bound>>> {
    let routine = target.strip_prefix("lapack_").and_then(|name| name.strip_suffix("_ffi"));
    let routine = routine.and_then(|name| name.strip_prefix(['s', 'd', 'c', 'z']));
    match routine {
        Some("potrf") => cholesky(lowering, operation).map(Some),
        Some("trsm") => triangular_solve(lowering, operation).map(Some),
        _ => Ok(None),
    }
}

/// A LAPACK option, which is a character.
fn character_option(operation: &Operation, name: &str) -> Lowered<char> {
    let options = AttributeView::of(operation).structured("mhlo.backend_config")?;
    let code = options
        .integer(name)?
        .ok_or_else(|| format!("expected the LAPACK option `{name}`, found none"))?;
    u8::try_from(code)
        .map(char::from)
        .map_err(|_| format!("expected `{name}` to be a character, found {code}").into())
}

/// `potrf`: the factor, and a failure flag for each matrix.
fn cholesky(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<Vec<Bound>> {
    let [x] = lowering.expect_operands(operation)?;
    let lower = character_option(operation, "uplo")? == 'L';
    let builder = lowering.builder();
    let factor = builder.push(Op::Cholesky { lower }, &[x])?;
    let rank = builder.shape(factor).rank();
    let is_nan = builder.unary(UnaryOp::IsNan, factor)?;
    let axes = [rank - 2, rank - 1].into_iter().collect();
    let failed = builder.push(Op::Reduce { op: CombineOp::Or, axes }, &[is_nan])?;
    let failed = builder.cast(failed, DType::I32)?;
    Ok(vec![lowering.bound(factor), lowering.bound(failed)])
}

fn triangular_solve(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<Vec<Bound>> {
    let [a, b] = lowering.expect_operands(operation)?;
    let transpose = match character_option(operation, "trans_x")? {
        'N' => Transpose::No,
        'T' => Transpose::Transpose,
        'C' => Transpose::Adjoint,
        other => return Err(format!("expected `trans_x` to be N, T or C, found {other}").into()),
    };
    let op = Op::TriangularSolve {
        left_side: character_option(operation, "side")? == 'L',
        lower: character_option(operation, "uplo")? == 'L',
        unit_diagonal: character_option(operation, "diag")? == 'U',
        transpose,
    };
    let solution = lowering.builder().push(op, &[a, b])?;
    Ok(only(lowering, solution))
}
