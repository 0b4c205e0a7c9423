//! Every elementwise instruction on every dtype that has it.

use super::*;
use inflight_ir::graph::{
    binary_accepts, binary_dtype, compare_accepts, unary_accepts, unary_dtype,
};
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};

/// One full block and a partial one.
const SIZE: usize = 700;

/// Checks an instruction on loaded operands of these dtypes.
fn check_instruction(
    operands: &[DType],
    tolerance: Tolerance,
    result: impl Fn(&mut KernelBuilder, &[Value]) -> Value,
) {
    // With block operands only, and with each operand splat.
    for splat in 0..=operands.len() {
        let mut builder = KernelBuilder::new(&[2], &[], SIZE, VectorAxis::Parallel);
        let accesses: Vec<AccessId> = operands
            .iter()
            .enumerate()
            .map(|(i, &dtype)| builder.row_major(dtype, &[true, i != splat]))
            .collect();
        let loads: Vec<Value> = accesses.into_iter().map(|access| builder.load(access)).collect();
        let value = result(&mut builder, &loads);
        let dtype = builder.dtype(value);
        let output = builder.row_major(dtype, &[true, true]);
        builder.store(output, value);
        let mut random = Random(1 + operands.len() as u64);
        let buffers = builder.buffers(&mut random);
        check(&builder, &buffers, &[], tolerance);
    }
}

#[test]
fn unary_ops_match_the_evaluator() {
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
            check_instruction(&[dtype], tolerance, |builder, operands| {
                builder.push(Kind::Unary(op, operands[0]), unary_dtype(op, dtype))
            });
        }
    }
}

#[test]
fn binary_ops_match_the_evaluator() {
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
            check_instruction(&[dtype, dtype], tolerance, |builder, operands| {
                let kind = Kind::Binary(op, operands[0], operands[1]);
                builder.push(kind, binary_dtype(op, dtype))
            });
        }
    }
}

#[test]
fn comparisons_match_the_evaluator() {
    for op in CompareOp::ALL {
        for dtype in DType::ALL {
            if !compare_accepts(op).contains(dtype) {
                continue;
            }
            check_instruction(&[dtype, dtype], EXACT, |builder, operands| {
                builder.push(Kind::Compare(op, operands[0], operands[1]), DType::Bool)
            });
        }
    }
}

#[test]
fn casts_match_the_evaluator() {
    for from in DType::ALL {
        for to in DType::ALL {
            check_instruction(&[from], EXACT, |builder, operands| {
                builder.push(Kind::Cast(operands[0]), to)
            });
        }
    }
}

#[test]
fn bitcasts_reinterpret_bits() {
    for (from, to) in [
        (DType::F32, DType::I32),
        (DType::U64, DType::F64),
        (DType::C64, DType::F64),
        (DType::BF16, DType::U16),
        (DType::Bool, DType::I8),
    ] {
        check_instruction(&[from], EXACT, |builder, operands| {
            let twice = builder.push(Kind::Bitcast(operands[0]), to);
            builder.push(Kind::Bitcast(twice), to)
        });
    }
}

#[test]
fn selects_match_the_evaluator() {
    for dtype in DType::ALL {
        check_instruction(&[DType::Bool, dtype, dtype], EXACT, |builder, operands| {
            builder.push(Kind::Select(operands[0], operands[1], operands[2]), dtype)
        });
    }
}

#[test]
fn fused_multiply_add_rounds_once() {
    for dtype in [DType::F32, DType::F64] {
        check_instruction(&[dtype, dtype, dtype], EXACT, |builder, operands| {
            builder.push(Kind::Fma(operands[0], operands[1], operands[2]), dtype)
        });
        // One block and two splat operands.
        for position in 0..3 {
            check_instruction(&[dtype], EXACT, |builder, operands| {
                let constant = builder.push(Kind::Constant(0.3f64.to_scalar().cast(dtype)), dtype);
                let mut all = [constant; 3];
                all[position] = operands[0];
                builder.push(Kind::Fma(all[0], all[1], all[2]), dtype)
            });
        }
    }
}

#[test]
fn launch_scalars_and_constants_are_splat() {
    let mut builder = KernelBuilder::new(&[3], &[], 1000, VectorAxis::Parallel);
    let scalar = builder.scalar(DType::I16);
    let factor = builder.constant(3i16);
    let scaled = builder.like(factor, Kind::Binary(BinaryOp::Mul, scalar, factor));
    let input = builder.row_major(DType::I16, &[true, true]);
    let loaded = builder.load(input);
    let sum = builder.like(loaded, Kind::Binary(BinaryOp::Sub, scaled, loaded));
    let output = builder.row_major(DType::I16, &[true, true]);
    builder.store(output, sum);
    let buffers = builder.buffers(&mut Random(5));
    check(&builder, &buffers, &[(-7i16).to_scalar()], EXACT);
}
