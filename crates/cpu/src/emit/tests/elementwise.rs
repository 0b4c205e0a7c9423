//! Every op on every supported dtype, at every tail length.

use super::*;
use inflight_ir::Scalar;
use inflight_ir::kernel::Kind;

const REAL_DTYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

fn is_valid(kernel: &Kernel) -> bool {
    verify(kernel).is_ok()
}

/// Checks a kernel on the instruction sets that support it, and returns those.
fn check_where_supported(builder: &Builder) -> Vec<Isa> {
    let part = whole_launch(&builder.shape, builder.kernel.grid_rank);
    [Isa::Avx512, Isa::Avx2]
        .into_iter()
        .filter(|isa| isa.is_present())
        .filter(|&isa| builder.check_on(isa, 0.0, &[], std::slice::from_ref(&part)).is_ok())
        .collect()
}

#[test]
fn f32_add_at_every_tail_length() {
    for count in 0..70 {
        let mut b = Builder::flat(count);
        let (x, y) = (b.load(DType::F32, 3, &[1]), b.load(DType::F32, 0, &[1]));
        let sum = b.binary(BinaryOp::Add, x, y);
        b.store(sum, 5, &[1]);
        b.check(0.0);
    }
}

#[test]
fn every_dtype_at_every_tail_length() {
    for dtype in REAL_DTYPES {
        for count in 0..40 {
            let mut b = Builder::flat(count);
            let (x, y) = (b.load(dtype, 1, &[1]), b.load(dtype, 0, &[1]));
            let largest = b.binary(BinaryOp::Max, x, y);
            b.store(largest, 2, &[1]);
            b.store(y, 0, &[1]);
            b.check(0.0);
        }
    }
}

#[test]
fn unary_ops_match_the_evaluator() {
    let mut refused = Vec::new();
    for op in UnaryOp::ALL {
        for dtype in REAL_DTYPES {
            let mut b = Builder::flat(77);
            let x = b.load(dtype, 0, &[1]);
            let y = b.unary(op, x);
            b.store(y, 0, &[1]);
            if !is_valid(&b.kernel) {
                continue;
            }
            let supported = check_where_supported(&b);
            if supported.len() < 2 {
                refused.push((op, dtype, supported));
            }
        }
    }
    for (op, dtype, supported) in refused {
        let library = op.is_transcendental() && dtype == DType::F64;
        let counts = matches!(op, UnaryOp::PopulationCount | UnaryOp::LeadingZeros);
        let logic = dtype == DType::Bool && op != UnaryOp::Not;
        assert!(library || counts || logic, "{op:?} of {dtype} is emitted for {supported:?} only");
    }
}

#[test]
fn binary_ops_match_the_evaluator() {
    let mut refused = Vec::new();
    for op in BinaryOp::ALL {
        for dtype in REAL_DTYPES {
            let mut b = Builder::flat(77);
            let (x, y) = (b.load(dtype, 0, &[1]), b.load(dtype, 0, &[1]));
            let z = b.binary(op, x, y);
            b.store(z, 0, &[1]);
            let w = b.binary(op, y, x);
            let w = b.binary(op, w, y);
            b.store(w, 0, &[1]);
            if op == BinaryOp::Complex || !is_valid(&b.kernel) {
                continue;
            }
            let supported = check_where_supported(&b);
            if supported.len() < 2 {
                refused.push((op, dtype, supported));
            }
        }
    }
    for (op, dtype, supported) in refused {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow);
        let library = op == BinaryOp::Atan2 || op == BinaryOp::Pow || op == BinaryOp::Rem;
        let wide = matches!(dtype, DType::I64 | DType::U64) && supported == [Isa::Avx512];
        let arithmetic = dtype == DType::Bool && matches!(op, BinaryOp::Sub | BinaryOp::Div);
        let through_wide = dtype.is_float() && op == BinaryOp::Pow;
        assert!(
            (divides && dtype.is_integer()) || library || wide || through_wide || arithmetic,
            "{op:?} of {dtype} is emitted for {supported:?} only"
        );
    }
}

#[test]
fn comparisons_and_selects_match_the_evaluator() {
    for op in CompareOp::ALL {
        for dtype in REAL_DTYPES {
            let mut b = Builder::flat(77);
            let (x, y) = (b.load(dtype, 0, &[1]), b.load(dtype, 0, &[1]));
            let c = b.compare(op, x, y);
            b.store(c, 0, &[1]);
            let z = b.select(c, x, y);
            b.store(z, 0, &[1]);
            let not = b.unary(UnaryOp::Not, c);
            let either = b.load(DType::Bool, 0, &[1]);
            let both = b.binary(BinaryOp::And, not, either);
            let w = b.select(both, y, x);
            b.store(w, 0, &[1]);
            b.check(0.0);
        }
    }
}

#[test]
fn comparisons_with_nan_operands() {
    for dtype in [DType::F32, DType::F64] {
        for op in CompareOp::ALL {
            let mut b = Builder::flat(37);
            let x = b.load(dtype, 0, &[1]);
            let zero = b.constant(0f64.into_scalar(dtype));
            let nan = b.binary(BinaryOp::Div, zero, zero);
            let positive = b.compare(CompareOp::Gt, x, zero);
            let sometimes = b.select(positive, nan, x);
            let y = b.load(dtype, 0, &[1]);
            let c = b.compare(op, sometimes, y);
            b.store(c, 0, &[1]);
            for op in [BinaryOp::Min, BinaryOp::Max] {
                let z = b.binary(op, sometimes, y);
                b.store(z, 0, &[1]);
                let z = b.binary(op, y, sometimes);
                b.store(z, 0, &[1]);
            }
            b.check(0.0);
        }
    }
}

/// Values at and around the boundaries of every dtype.
fn boundary_values(dtype: DType) -> Vec<Scalar> {
    let mut values = vec![0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, f64::NAN];
    values.extend([f64::INFINITY, f64::NEG_INFINITY]);
    for power in [7, 8, 11, 15, 16, 23, 24, 25, 31, 32, 52, 53, 63, 64] {
        let boundary = (power as f64).exp2();
        for delta in [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 129.0, 257.0] {
            values.extend([boundary + delta, -boundary + delta]);
        }
        values.push(boundary * (1.0 + 1.0 / 256.0 + 1.0 / (1u64 << 40) as f64));
        values.push(boundary * (1.0 + 1.0 / 2048.0 + 1.0 / (1u64 << 35) as f64));
    }
    let mut scalars: Vec<Scalar> = values.into_iter().map(|n| n.into_scalar(dtype)).collect();
    for power in 0..64 {
        for low in [0u64, 1, 0x7f, 0x80, 0x81, 0xff] {
            let bits = (1u64 << power) | low;
            scalars.push(bits.into_scalar(dtype));
            scalars.push((bits as i64).wrapping_neg().into_scalar(dtype));
            scalars.push((bits | (1u64 << power) >> 8).into_scalar(dtype));
        }
    }
    scalars
}

#[test]
fn casts_round_and_saturate() {
    let mut refused = Vec::new();
    for from in REAL_DTYPES {
        let values = boundary_values(from);
        for to in REAL_DTYPES {
            let mut b = Builder::flat(values.len());
            let x = b.load(from, 0, &[1]);
            let y = b.cast(x, to);
            b.store(y, 0, &[1]);
            for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
                let Ok(code) = compile(&b.kernel, isa) else {
                    refused.push((from, to, isa));
                    continue;
                };
                let mut input: Vec<u8> =
                    values.iter().flat_map(|v| v.to_bytes()[..from.size()].to_vec()).collect();
                let mut output = vec![0xa5u8; to.size() * values.len()];
                let buffers = [input.as_mut_ptr(), output.as_mut_ptr()];
                let call = Call { buffers: &buffers, scalars: &[], shape: &b.shape };
                // SAFETY: both buffers have one element for each value.
                unsafe { code.run(&call, &whole_launch(&b.shape, 0), &mut Scratch::default()) };
                for (value, actual) in values.iter().zip(output.chunks_exact(to.size())) {
                    let actual = Scalar::from_bytes(to, actual);
                    let expected = value.cast(to);
                    assert!(
                        is_close(expected, actual, 0.0),
                        "{isa:?}: {value:?} as {to} is {actual:?}, expected {expected:?}"
                    );
                }
            }
        }
    }
    for (from, to, isa) in refused {
        let wide = |dtype| matches!(dtype, DType::I64 | DType::U64);
        let half = to.is_half() && (wide(from) || from == DType::F64);
        let avx2 = isa == Isa::Avx2 && (wide(from) && to.is_float() || from.is_float() && wide(to));
        assert!(half || avx2, "{isa:?} refuses {from} to {to}");
    }
}

#[test]
fn bitcasts_reinterpret_bits() {
    for from in REAL_DTYPES {
        for to in REAL_DTYPES {
            if from.size() != to.size() || from == DType::Bool || to == DType::Bool {
                continue;
            }
            let mut b = Builder::flat(45);
            let x = b.load(from, 0, &[1]);
            let y = b.push(Kind::Bitcast(x), to);
            b.store(y, 0, &[1]);
            b.check(0.0);
        }
    }
}

#[test]
fn mixed_32_and_64_bit_lanes() {
    for wide in [DType::F64, DType::I64, DType::U64] {
        for narrow in REAL_DTYPES {
            let mut b = Builder::flat(43);
            let (x, y) = (b.load(narrow, 0, &[1]), b.load(wide, 0, &[1]));
            let zero = b.constant(Scalar::zero(wide));
            let c = b.compare(CompareOp::Gt, y, zero);
            let other = b.constant(Scalar::one(narrow));
            let z = b.select(c, x, other);
            b.store(z, 0, &[1]);
            let d = b.compare(CompareOp::Ne, x, other);
            let w = b.select(d, y, zero);
            b.store(w, 0, &[1]);
            b.store(d, 0, &[1]);
            b.check(0.0);
        }
    }
}

#[test]
fn fma_with_every_operand_order() {
    for dtype in [DType::F32, DType::F64] {
        for keep in 0..8 {
            let mut b = Builder::flat(50);
            let values = [0; 3].map(|_| b.load(dtype, 0, &[1]));
            let [x, y, z] = values;
            let c = b.constant(1.5f64.into_scalar(dtype));
            for (p, q, r) in [(x, y, z), (x, x, z), (x, y, x), (x, x, x), (c, y, z), (x, c, c)] {
                let w = b.push(Kind::Fma(p, q, r), dtype);
                b.store(w, 0, &[1]);
            }
            for (bit, &value) in values.iter().enumerate() {
                if keep >> bit & 1 == 1 {
                    b.store(value, 0, &[1]);
                }
            }
            let chain = b.push(Kind::Fma(x, y, z), dtype);
            let chain = b.push(Kind::Fma(chain, c, chain), dtype);
            b.store(chain, 0, &[1]);
            b.check(0.0);
        }
    }
}

#[test]
fn more_live_values_than_vector_registers_spill() {
    for (dtype, count) in [(DType::F32, 48), (DType::F64, 50), (DType::U8, 45)] {
        let mut b = Builder::flat(61);
        let loads: Vec<Value> = (0..count).map(|_| b.load(dtype, 0, &[1])).collect();
        let mut sum = loads[0];
        for &value in loads.iter().rev() {
            sum = b.binary(BinaryOp::Add, sum, value);
        }
        for &value in &loads {
            sum = b.binary(BinaryOp::Sub, sum, value);
        }
        b.store(sum, 0, &[1]);
        b.check(0.0);
    }
}

#[test]
fn more_live_masks_than_opmask_registers_spill() {
    let mut b = Builder::flat(61);
    let loads: Vec<Value> = (0..12).map(|_| b.load(DType::F32, 0, &[1])).collect();
    let zero = b.constant(0f32);
    let masks: Vec<Value> = loads.iter().map(|&x| b.compare(CompareOp::Gt, x, zero)).collect();
    let mut all = masks[0];
    for &mask in masks.iter().rev() {
        all = b.binary(BinaryOp::Xor, all, mask);
    }
    for (&mask, &x) in masks.iter().zip(&loads) {
        let y = b.select(mask, x, zero);
        b.store(y, 0, &[1]);
    }
    b.store(all, 0, &[1]);
    b.check(0.0);
}

#[test]
fn launch_scalars_are_broadcast() {
    for dtype in REAL_DTYPES {
        let mut b = Builder::flat(35);
        b.kernel.scalars.push(dtype);
        let x = b.load(dtype, 0, &[1]);
        let s = b.push(Kind::Scalar(0), dtype);
        let y = b.binary(BinaryOp::Max, x, s);
        b.store(y, 0, &[1]);
        let part = whole_launch(&b.shape, 0);
        b.check_parts(0.0, &[Scalar::one(dtype)], &[part]);
    }
}
