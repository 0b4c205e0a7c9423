//! Every elementwise instruction on every dtype that has it.

use super::*;
use inflight_ir::graph::{
    binary_accepts, binary_dtype, compare_accepts, unary_accepts, unary_dtype,
};
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};

/// A size that fills a block, and not the next.
const SIZE: usize = 700;

/// The one vector of a kernel that computes `result` of loaded operands of these dtypes.
fn check_instruction(
    operands: &[DType],
    tolerance: Tolerance,
    result: impl Fn(&mut Draft, &[Value]) -> Value,
) {
    // As blocks, and with one operand the same for all.
    for splat in 0..=operands.len() {
        let mut draft = Draft::new(&[2], &[], SIZE, VectorAxis::Parallel);
        let accesses: Vec<AccessId> = operands
            .iter()
            .enumerate()
            .map(|(i, &dtype)| draft.row_major(dtype, &[true, i != splat]))
            .collect();
        let loads: Vec<Value> = accesses.into_iter().map(|access| draft.load(access)).collect();
        let value = result(&mut draft, &loads);
        let dtype = draft.dtype(value);
        let output = draft.row_major(dtype, &[true, true]);
        draft.store(output, value);
        let mut random = Random(1 + operands.len() as u64);
        let buffers = draft.buffers(&mut random);
        check(&draft, &buffers, &[], tolerance);
    }
}

#[test]
fn unary_ops() {
    for op in UnaryOp::ALL {
        for dtype in DType::ALL {
            let accepted = unary_accepts(op).contains(dtype);
            if !accepted {
                continue;
            }
            let tolerance = match dtype {
                _ if !op.is_transcendental() && op != UnaryOp::Rsqrt => ulps(0.0),
                DType::F64 => ulps(1.0),
                DType::F16 | DType::BF16 => ulps(1.0),
                _ => ulps(4.0),
            };
            check_instruction(&[dtype], tolerance, |draft, operands| {
                draft.push(Kind::Unary(op, operands[0]), unary_dtype(op, dtype))
            });
        }
    }
}

#[test]
fn binary_ops() {
    for op in BinaryOp::ALL {
        for dtype in DType::ALL {
            if !binary_accepts(op).contains(dtype) {
                continue;
            }
            let tolerance = match op {
                BinaryOp::Pow | BinaryOp::Atan2 => ulps(4.0),
                BinaryOp::Mul | BinaryOp::Div if dtype.is_complex() => ulps(4.0),
                _ => EXACT,
            };
            check_instruction(&[dtype, dtype], tolerance, |draft, operands| {
                let kind = Kind::Binary(op, operands[0], operands[1]);
                draft.push(kind, binary_dtype(op, dtype))
            });
        }
    }
}

#[test]
fn comparisons() {
    for op in CompareOp::ALL {
        for dtype in DType::ALL {
            if !compare_accepts(op).contains(dtype) {
                continue;
            }
            check_instruction(&[dtype, dtype], EXACT, |draft, operands| {
                draft.push(Kind::Compare(op, operands[0], operands[1]), DType::Bool)
            });
        }
    }
}

#[test]
fn casts() {
    for from in DType::ALL {
        for to in DType::ALL {
            check_instruction(&[from], EXACT, |draft, operands| {
                draft.push(Kind::Cast(operands[0]), to)
            });
        }
    }
}

#[test]
fn bitcasts() {
    for (from, to) in [
        (DType::F32, DType::I32),
        (DType::U64, DType::F64),
        (DType::C64, DType::F64),
        (DType::BF16, DType::U16),
        (DType::Bool, DType::I8),
    ] {
        check_instruction(&[from], EXACT, |draft, operands| {
            let twice = draft.push(Kind::Bitcast(operands[0]), to);
            draft.push(Kind::Bitcast(twice), to)
        });
    }
}

#[test]
fn selections() {
    for dtype in DType::ALL {
        check_instruction(&[DType::Bool, dtype, dtype], EXACT, |draft, operands| {
            draft.push(Kind::Select(operands[0], operands[1], operands[2]), dtype)
        });
    }
}

#[test]
fn fused_multiply_add() {
    for dtype in [DType::F32, DType::F64] {
        check_instruction(&[dtype, dtype, dtype], EXACT, |draft, operands| {
            draft.push(Kind::Fma(operands[0], operands[1], operands[2]), dtype)
        });
        // One block and two splats.
        for place in 0..3 {
            check_instruction(&[dtype], EXACT, |draft, operands| {
                let constant = draft.push(Kind::Constant(0.3f64.to_scalar().cast(dtype)), dtype);
                let mut all = [constant; 3];
                all[place] = operands[0];
                draft.push(Kind::Fma(all[0], all[1], all[2]), dtype)
            });
        }
    }
}

#[test]
fn scalars_and_constants() {
    let mut draft = Draft::new(&[3], &[], 1000, VectorAxis::Parallel);
    let scalar = draft.scalar(DType::I16);
    let factor = draft.constant(3i16);
    let scaled = draft.like(factor, Kind::Binary(BinaryOp::Mul, scalar, factor));
    let input = draft.row_major(DType::I16, &[true, true]);
    let loaded = draft.load(input);
    let sum = draft.like(loaded, Kind::Binary(BinaryOp::Sub, scaled, loaded));
    let output = draft.row_major(DType::I16, &[true, true]);
    draft.store(output, sum);
    let buffers = draft.buffers(&mut Random(5));
    check(&draft, &buffers, &[(-7i16).to_scalar()], EXACT);
}
