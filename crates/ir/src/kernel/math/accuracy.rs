//! Accuracy tests: the error in ulp of each expansion over all of `f32`, with and without flush-to-zero.

use super::super::{Access, Kernel, Kind, Param, Stride, Value, VectorAxis, expand};
use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::kernel::Instruction;
use crate::{DType, Element};
use half::{bf16, f16};

/// The documented error bound, in ulp.
const BOUND: f64 = 3.0;
const BLOCK: usize = 1024;

/// A kernel that loads all params but the last, applies `kind`, and stores to the last.
fn kernel(dtype: DType, arity: u32, kind: Kind) -> Kernel {
    let stream = |param| Access { param: Some(param), reduce: false, vector: Stride::One };
    let mut body: Vec<Instruction> = (0..arity)
        .map(|access| Kind::Load { access, index: None, mask: None })
        .chain([kind])
        .map(|kind| Instruction { kind, dtype })
        .collect();
    let store = Kind::Store { access: arity, value: arity, index: None, mask: None, combine: None };
    body.push(Instruction { kind: store, dtype });
    Kernel {
        params: (0..=arity).map(|param| Param { dtype, writes: param == arity }).collect(),
        scalars: vec![],
        accesses: (0..=arity).map(stream).collect(),
        grid_rank: 0,
        reduce_rank: 0,
        vector: VectorAxis::Parallel,
        body,
    }
}

/// Interpreter of expanded bodies on blocks of elements, each stored in the low bits of a `u64`.
struct Machine {
    body: Vec<Instruction>,
    registers: Vec<Vec<u64>>,
    /// Flush-to-zero: treats subnormal operands and results of `f32` arithmetic as zeros.
    flush: bool,
}

fn flush_to_zero(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0f32.copysign(value) } else { value }
}

impl Machine {
    fn new(kernel: &Kernel, flush: bool) -> Machine {
        let expanded = expand(kernel);
        super::super::verify(&expanded).expect("the expansion is a valid kernel");
        let registers = vec![Vec::new(); expanded.body.len()];
        Machine { body: expanded.body, registers, flush }
    }

    fn run(&mut self, inputs: &[&[u64]]) -> &[u64] {
        let mut stored = 0;
        for at in 0..self.body.len() {
            let Instruction { kind, dtype } = self.body[at];
            self.registers[at] = match kind {
                Kind::Constant(scalar) => vec![scalar.bits()[0]; inputs[0].len()],
                Kind::Load { access, .. } => inputs[access as usize].to_vec(),
                Kind::Store { value, .. } => {
                    stored = value as usize;
                    Vec::new()
                }
                _ => self.elementwise(kind, dtype),
            };
        }
        &self.registers[stored]
    }

    fn f32_lanes<const N: usize>(&self, of: [Value; N], f: impl Fn([f32; N]) -> f32) -> Vec<u64> {
        let operands = of.map(|value| &self.registers[value as usize]);
        let flush = self.flush;
        (0..operands[0].len())
            .map(|lane| {
                let operands = operands.map(|operand| f32::from_bits(operand[lane] as u32));
                match flush {
                    true => flush_to_zero(f(operands.map(flush_to_zero))).to_bits() as u64,
                    false => f(operands).to_bits() as u64,
                }
            })
            .collect()
    }

    fn lanes<const N: usize>(&self, of: [Value; N], f: impl Fn([u64; N]) -> u64) -> Vec<u64> {
        let operands = of.map(|value| &self.registers[value as usize]);
        (0..operands[0].len()).map(|lane| f(operands.map(|operand| operand[lane]))).collect()
    }

    fn f64_lanes<const N: usize>(&self, of: [Value; N], f: impl Fn([f64; N]) -> f64) -> Vec<u64> {
        self.lanes(of, |bits| f(bits.map(f64::from_bits)).to_bits())
    }

    fn elementwise(&self, kind: Kind, dtype: DType) -> Vec<u64> {
        let from = kind.operands().first().map_or(dtype, |&a| self.body[a as usize].dtype);
        match (kind, from) {
            (Kind::Unary(op, a), DType::F32) => match op {
                // Bit operations, which never flush.
                UnaryOp::Neg => self.lanes([a], |[a]| a ^ 0x8000_0000),
                UnaryOp::Abs => self.lanes([a], |[a]| a & 0x7fff_ffff),
                UnaryOp::Sqrt => self.f32_lanes([a], |[a]| a.sqrt()),
                UnaryOp::Floor => self.f32_lanes([a], |[a]| a.floor()),
                _ => panic!("{} is not arithmetic", op.name()),
            },
            (Kind::Binary(op, a, b), DType::F32) => match op {
                BinaryOp::Add => self.f32_lanes([a, b], |[a, b]| a + b),
                BinaryOp::Sub => self.f32_lanes([a, b], |[a, b]| a - b),
                BinaryOp::Mul => self.f32_lanes([a, b], |[a, b]| a * b),
                BinaryOp::Div => self.f32_lanes([a, b], |[a, b]| a / b),
                _ => panic!("{} is not arithmetic", op.name()),
            },
            (Kind::Binary(op, a, b), DType::F64) => match op {
                BinaryOp::Add => self.f64_lanes([a, b], |[a, b]| a + b),
                BinaryOp::Sub => self.f64_lanes([a, b], |[a, b]| a - b),
                BinaryOp::Mul => self.f64_lanes([a, b], |[a, b]| a * b),
                BinaryOp::Div => self.f64_lanes([a, b], |[a, b]| a / b),
                BinaryOp::Min => {
                    self.f64_lanes([a, b], |[a, b]| if a.is_nan() { a } else { a.min(b) })
                }
                BinaryOp::Max => {
                    self.f64_lanes([a, b], |[a, b]| if a.is_nan() { a } else { a.max(b) })
                }
                _ => panic!("{} is not arithmetic", op.name()),
            },
            (Kind::Binary(op, a, b), DType::I32) => {
                let apply = |f: fn(i32, i32) -> i32| {
                    self.lanes([a, b], |[a, b]| f(a as i32, b as i32) as u32 as u64)
                };
                match op {
                    BinaryOp::Add => apply(i32::wrapping_add),
                    BinaryOp::Sub => apply(i32::wrapping_sub),
                    BinaryOp::And => apply(|a, b| a & b),
                    BinaryOp::Or => apply(|a, b| a | b),
                    BinaryOp::Xor => apply(|a, b| a ^ b),
                    BinaryOp::ShiftLeft => apply(|a, b| a << b),
                    BinaryOp::ShiftRight => apply(|a, b| a >> b),
                    _ => panic!("{} is not arithmetic", op.name()),
                }
            }
            (Kind::Binary(op, a, b), DType::I64) => match op {
                BinaryOp::Add => self.lanes([a, b], |[a, b]| a.wrapping_add(b)),
                BinaryOp::And => self.lanes([a, b], |[a, b]| a & b),
                BinaryOp::Xor => self.lanes([a, b], |[a, b]| a ^ b),
                BinaryOp::ShiftLeft => self.lanes([a, b], |[a, b]| a << b),
                _ => panic!("{} is not arithmetic", op.name()),
            },
            (Kind::Compare(op, a, b), DType::F32) => {
                let flush = self.flush;
                self.lanes([a, b], |bits| {
                    let [a, b] = bits.map(|bits| f32::from_bits(bits as u32));
                    let [a, b] = if flush { [a, b].map(flush_to_zero) } else { [a, b] };
                    compare(op, a, b) as u64
                })
            }
            (Kind::Compare(op, a, b), DType::I32) => {
                self.lanes([a, b], |[a, b]| compare(op, a as i32, b as i32) as u64)
            }
            (Kind::Compare(op, a, b), DType::I64) => {
                self.lanes([a, b], |[a, b]| compare(op, a as i64, b as i64) as u64)
            }
            (Kind::Select(mask, a, b), _) => {
                self.lanes([mask, a, b], |[mask, a, b]| if mask != 0 { a } else { b })
            }
            (Kind::Fma(a, b, c), DType::F32) => {
                self.f32_lanes([a, b, c], |[a, b, c]| a.mul_add(b, c))
            }
            (Kind::Fma(a, b, c), DType::F64) => {
                self.f64_lanes([a, b, c], |[a, b, c]| a.mul_add(b, c))
            }
            (Kind::Bitcast(a), _) => self.registers[a as usize].clone(),
            (Kind::Cast(a), _) => self.cast(a, from, dtype),
            _ => panic!("{kind:?} must not be left by expand"),
        }
    }

    fn cast(&self, a: Value, from: DType, to: DType) -> Vec<u64> {
        let flush = |value: f32| if self.flush { flush_to_zero(value) } else { value };
        let single = |bits: u64| flush(f32::from_bits(bits as u32));
        match (from, to) {
            (DType::F32, DType::F64) => self.lanes([a], |[a]| (single(a) as f64).to_bits()),
            (DType::F64, DType::F32) => {
                self.lanes([a], |[a]| flush(f64::from_bits(a) as f32).to_bits() as u64)
            }
            (DType::F32, DType::I32) => self.lanes([a], |[a]| single(a) as i32 as u32 as u64),
            (DType::I32, DType::F32) => self.lanes([a], |[a]| (a as i32 as f32).to_bits() as u64),
            (DType::F16, DType::F32) => {
                self.lanes([a], |[a]| f16::from_bits(a as u16).to_f32().to_bits() as u64)
            }
            (DType::BF16, DType::F32) => {
                self.lanes([a], |[a]| flush(bf16::from_bits(a as u16).to_f32()).to_bits() as u64)
            }
            (DType::F32, DType::F16) => {
                self.lanes([a], |[a]| f16::from_f32(single(a)).to_bits() as u64)
            }
            (DType::F32, DType::BF16) => {
                self.lanes([a], |[a]| bf16::from_f32(single(a)).to_bits() as u64)
            }
            _ => panic!("a cast of {from} to {to} is not in an expansion"),
        }
    }
}

/// The number of instructions of a body that compute something at run time.
fn executed_instructions(body: &[Instruction]) -> usize {
    let is_work = |kind: &Kind| {
        !matches!(
            kind,
            Kind::Constant(_) | Kind::Bitcast(_) | Kind::Load { .. } | Kind::Store { .. }
        )
    };
    body.iter().filter(|instruction| is_work(&instruction.kind)).count()
}

fn compare<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

/// The error function by a series with only positive terms.
fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() > 6.0 {
        return 1f64.copysign(x);
    }
    let mut term = x;
    let mut sum = x;
    let mut n = 0.0;
    while term.abs() > sum.abs() * 1e-17 {
        n += 1.0;
        term *= x * x / (n + 0.5);
        sum += term;
    }
    sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

fn reference(op: UnaryOp) -> fn(f64) -> f64 {
    match op {
        UnaryOp::Exp => f64::exp,
        UnaryOp::Exp2 => f64::exp2,
        UnaryOp::Expm1 => f64::exp_m1,
        UnaryOp::Log => f64::ln,
        UnaryOp::Log2 => f64::log2,
        UnaryOp::Log1p => f64::ln_1p,
        UnaryOp::Rsqrt => |x| 1.0 / x.sqrt(),
        UnaryOp::Cbrt => f64::cbrt,
        UnaryOp::Sin => f64::sin,
        UnaryOp::Cos => f64::cos,
        UnaryOp::Tan => f64::tan,
        UnaryOp::Asin => f64::asin,
        UnaryOp::Acos => f64::acos,
        UnaryOp::Atan => f64::atan,
        UnaryOp::Sinh => f64::sinh,
        UnaryOp::Cosh => f64::cosh,
        UnaryOp::Tanh => f64::tanh,
        UnaryOp::Asinh => f64::asinh,
        UnaryOp::Acosh => f64::acosh,
        UnaryOp::Atanh => f64::atanh,
        UnaryOp::Sigmoid => |x| 1.0 / (1.0 + (-x).exp()),
        UnaryOp::Erf => erf,
        _ => panic!("{} has no reference", op.name()),
    }
}

/// The error of `result` in `f32` ulp of `exact`. A special value must match exactly; a result below the normal
/// range may be a zero of the same sign.
fn ulp_error(result: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if exact.is_nan() || result.is_nan() {
        return if exact.is_nan() && result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 || exact.is_infinite() {
        return if result.to_bits() == rounded.to_bits() { 0.0 } else { f64::INFINITY };
    }
    if result.is_sign_negative() != (exact < 0.0) {
        return f64::INFINITY;
    }
    if exact.abs() < f32::MIN_POSITIVE as f64 {
        return if result.abs() <= f32::MIN_POSITIVE { 0.0 } else { f64::INFINITY };
    }
    if rounded.is_infinite() {
        return if result.is_infinite() { 0.0 } else { 1.0 };
    }
    let exponent = (rounded.abs().to_bits() >> 23) as i32 - 127;
    let result = if result.is_infinite() { 2f64.powi(128).copysign(exact) } else { result as f64 };
    (result - exact).abs() / 2f64.powi(exponent - 23)
}

fn scramble(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const SPECIAL: [f32; 24] = [
    0.0,
    1.0,
    2.0,
    3.0,
    4.0,
    5.0,
    0.5,
    0.25,
    1.5,
    10.0,
    0.9999999,
    1.0000001,
    88.72283,
    88.72284,
    87.33654,
    87.33655,
    128.0,
    126.0,
    16_777_216.0,
    16_777_215.0,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::INFINITY,
    f32::NAN,
];

/// For each binade from 2²³ on, the bits of an argument that is extremely close to a multiple of π/2, found by continued
/// fractions: range reduction cancels the most there.
const NEAR_MULTIPLES_OF_HALF_PI: [u32; 105] = [
    0x4b2562ae, 0x4bf3b47b, 0x4c2332e9, 0x4ca332e9, 0x4d2332e9, 0x4d847661, 0x4e13d4a5, 0x4e93d4a5,
    0x4f0ffd14, 0x4fdbd32f, 0x5033fc59, 0x50a3e87f, 0x5123e87f, 0x51a3e87f, 0x5223e87f, 0x52a3e87f,
    0x5323e87f, 0x53b146a6, 0x543146a6, 0x54b146a6, 0x553146a6, 0x55b146a6, 0x56787577, 0x56f87577,
    0x571fd224, 0x57b82989, 0x58382989, 0x58dc36c9, 0x596e3d69, 0x598215a9, 0x5a069751, 0x5a869751,
    0x5b07b7bb, 0x5b87b7bb, 0x5c07bcd0, 0x5c87bcd0, 0x5d29ac04, 0x5ddc92d2, 0x5e6d8a6c, 0x5eed8a6c,
    0x5f6313b9, 0x5fe4112c, 0x6064112c, 0x60ab0ce1, 0x612b0ce1, 0x61d3b126, 0x6253b126, 0x62ec1b4a,
    0x636c1b4a, 0x63e600c1, 0x642e0733, 0x64ae0733, 0x652e0733, 0x65898498, 0x66098498, 0x66abe5be,
    0x674e46e4, 0x67ce46e4, 0x684e46e4, 0x68ce46e4, 0x6946e3bb, 0x69c6e3bb, 0x6a1976f1, 0x6a9976f1,
    0x6b1976f1, 0x6b9976f1, 0x6c55da58, 0x6cd5da58, 0x6d2063c2, 0x6dbb1f0d, 0x6e3b1f0d, 0x6ebb1f0d,
    0x6f79be45, 0x6ff9be45, 0x7079be45, 0x70f9be45, 0x7179be45, 0x71f9be45, 0x723fa09a, 0x72bfa09a,
    0x733fa09a, 0x73e61c18, 0x7452de59, 0x74d2de59, 0x756fa1dc, 0x75949471, 0x76507ce8, 0x76a426eb,
    0x77584625, 0x77d84625, 0x78584625, 0x78a8b883, 0x79407f54, 0x79c07f54, 0x7a105f7f, 0x7afccbab,
    0x7b1675c0, 0x7b9675c0, 0x7c1675c0, 0x7cb3c6dd, 0x7d3d2e39, 0x7dbd2e39, 0x7e3d2e39, 0x7ebdcda0,
    0x7f3dcda0,
];

/// 4096 evenly spaced mantissas of every exponent and sign, the special values, and the hardest arguments of range
/// reduction. Every NaN is quiet or signaling, as generated.
fn sample() -> impl Iterator<Item = f32> {
    let spread = (0..1u32 << 21).map(|i| {
        let low = scramble(i as u64) as u32 & 0x7ff;
        f32::from_bits(i << 11 | low)
    });
    let hard = NEAR_MULTIPLES_OF_HALF_PI.map(f32::from_bits);
    spread.chain(SPECIAL).chain(SPECIAL.map(|x| -x)).chain(hard).chain(hard.map(|x| -x))
}

/// The error at `x`; for a subnormal `x`, at the zero it may be flushed to.
fn error_at(x: f32, result: f32, f: fn(f64) -> f64) -> f64 {
    let error_here = ulp_error(result, f(x as f64));
    if x.is_subnormal() {
        return error_here.min(ulp_error(result, f(0f64.copysign(x as f64))));
    }
    error_here
}

fn check_unary(op: UnaryOp) {
    let f = reference(op);
    let inputs: Vec<u64> = sample().map(|x| x.to_bits() as u64).collect();
    for flush in [false, true] {
        let mut machine = Machine::new(&kernel(DType::F32, 1, Kind::Unary(op, 0)), flush);
        let mut worst = (0.0, 0f32, 0f32);
        for block in inputs.chunks(BLOCK) {
            let results = machine.run(&[block]);
            for (&x, &result) in block.iter().zip(results) {
                let (x, result) = (f32::from_bits(x as u32), f32::from_bits(result as u32));
                let error = error_at(x, result, f);
                if error > worst.0 {
                    worst = (error, x, result);
                }
            }
        }
        let (error, x, result) = worst;
        let count = executed_instructions(&machine.body);
        println!("{:8} {error:.3} ulp at {x:e} ({count} instructions)", op.name());
        assert!(
            error <= BOUND,
            "{}({x:?}) = {result:?}, {:?} expected, flush {flush}",
            op.name(),
            f(x as f64)
        );
    }
}

/// For every 16-bit float: the result, rounded to 16 bits, must be the value nearest to the true result or a
/// neighbour.
fn check_16_bit_floats(op: UnaryOp) {
    let f = reference(op);
    let inputs: Vec<u64> = (0..1 << 16).collect();
    for dtype in [DType::F16, DType::BF16] {
        let mut machine = Machine::new(&kernel(dtype, 1, Kind::Unary(op, 0)), false);
        for block in inputs.chunks(BLOCK) {
            let results = machine.run(&[block]);
            for (&x, &result) in block.iter().zip(results) {
                let (value, got, nearest) = match dtype {
                    DType::F16 => {
                        let x = f16::from_bits(x as u16).to_f64();
                        (x, f16::from_bits(result as u16).to_f64(), f16::from_f64(f(x)).to_bits())
                    }
                    _ => {
                        let x = bf16::from_bits(x as u16).to_f64();
                        (x, bf16::from_bits(result as u16).to_f64(), bf16::from_f64(f(x)).to_bits())
                    }
                };
                let exact = f(value);
                let subnormal = f32::MIN_POSITIVE as f64;
                if value.abs() < subnormal && value != 0.0 || exact.abs() < subnormal {
                    continue;
                }
                let near = (result as i64 - nearest as i64).abs() <= 1;
                assert!(
                    near || got.is_nan() && exact.is_nan(),
                    "{}({value:?}) = {got:?} as {dtype}, {exact:?} expected",
                    op.name()
                );
            }
        }
    }
}

macro_rules! accuracy {
    ($($name:ident $op:ident;)*) => {$(
        #[test]
        fn $name() {
            check_unary(UnaryOp::$op);
            check_16_bit_floats(UnaryOp::$op);
        }
    )*};
}

accuracy! {
    exp Exp; exp2 Exp2; expm1 Expm1; log Log; log2 Log2; log1p Log1p; rsqrt Rsqrt; cbrt Cbrt;
    sin Sin; cos Cos; tan Tan; asin Asin; acos Acos; atan Atan; sinh Sinh; cosh Cosh; tanh Tanh;
    asinh Asinh; acosh Acosh; atanh Atanh; sigmoid Sigmoid; error_function Erf;
}

/// Instruction counts are part of the contract: this test fails if a change makes a function more expensive.
#[test]
fn instruction_counts_do_not_grow() {
    for (op, limit) in [
        (UnaryOp::Exp, 17),
        (UnaryOp::Exp2, 16),
        (UnaryOp::Expm1, 22),
        (UnaryOp::Log, 25),
        (UnaryOp::Tanh, 22),
        (UnaryOp::Sigmoid, 20),
        (UnaryOp::Erf, 34),
        (UnaryOp::Sin, 24),
        (UnaryOp::Cos, 26),
        (UnaryOp::Tan, 33),
    ] {
        let expanded = expand(&kernel(DType::F32, 1, Kind::Unary(op, 0)));
        let count = executed_instructions(&expanded.body);
        assert!(count <= limit, "{} has {count} instructions", op.name());
    }
}

#[test]
fn every_transcendental_function_is_expanded() {
    for op in UnaryOp::ALL.into_iter().filter(|op| op.is_transcendental()) {
        let expanded = expand(&kernel(DType::F32, 1, Kind::Unary(op, 0)));
        let is_left =
            |i: &Instruction| matches!(i.kind, Kind::Unary(op, _) if op.is_transcendental());
        assert!(!expanded.body.iter().any(is_left), "{}", op.name());
    }
}

/// Special values with each other, random bit patterns, powers that stay in range, and integer powers.
fn pairs() -> Vec<(f32, f32)> {
    let specials = SPECIAL.into_iter().chain(SPECIAL.map(|x| -x));
    let mut pairs: Vec<(f32, f32)> =
        specials.clone().flat_map(|a| specials.clone().map(move |b| (a, b))).collect();
    for i in 0..400_000 {
        let bits = scramble(i);
        let (a, b) = (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
        pairs.push((a, b));
        let base =
            2f32.powf((bits % 2001) as f32 / 1000.0 - 1.0) * (1.0 + a.abs().fract() / 1024.0);
        let power = (bits >> 40) as f32 / (1 << 23) as f32 * 256.0 - 256.0;
        pairs.push((base, power));
        pairs.push((a, (bits >> 60) as f32 - 8.0));
    }
    pairs
}

fn check_binary(op: BinaryOp, f: fn(f64, f64) -> f64) {
    let pairs = pairs();
    for flush in [false, true] {
        let mut machine = Machine::new(&kernel(DType::F32, 2, Kind::Binary(op, 0, 1)), flush);
        let mut worst = (0.0, (0f32, 0f32), 0f32);
        for block in pairs.chunks(BLOCK) {
            let left: Vec<u64> = block.iter().map(|pair| pair.0.to_bits() as u64).collect();
            let right: Vec<u64> = block.iter().map(|pair| pair.1.to_bits() as u64).collect();
            let results = machine.run(&[&left, &right]);
            for (&(a, b), &result) in block.iter().zip(results) {
                let result = f32::from_bits(result as u32);
                let as_zero = [
                    (a, b),
                    (flush_to_zero(a), b),
                    (a, flush_to_zero(b)),
                    (flush_to_zero(a), flush_to_zero(b)),
                ];
                let error = as_zero
                    .into_iter()
                    .map(|(a, b)| ulp_error(result, f(a as f64, b as f64)))
                    .fold(f64::INFINITY, f64::min);
                if error > worst.0 {
                    worst = (error, (a, b), result);
                }
            }
        }
        let (error, (a, b), result) = worst;
        println!(
            "{} {error:.3} ulp at {a:e}, {b:e} ({} instructions)",
            op.name(),
            executed_instructions(&machine.body)
        );
        assert!(
            error <= BOUND,
            "{}({a:?}, {b:?}) = {result:?}, {:?} expected, flush {flush}",
            op.name(),
            f(a as f64, b as f64)
        );
    }
}

#[test]
fn pow() {
    check_binary(BinaryOp::Pow, f64::powf);
}

#[test]
fn atan2() {
    check_binary(BinaryOp::Atan2, f64::atan2);
}

#[test]
fn pow_with_constant_exponents() {
    for power in [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, -1.0, -2.0, 1.5, -3.0f32] {
        let mut kernel = kernel(DType::F32, 1, Kind::Binary(BinaryOp::Pow, 0, 1));
        let constant = Instruction { kind: Kind::Constant(power.to_scalar()), dtype: DType::F32 };
        kernel.body.insert(1, constant);
        if let Kind::Store { value, .. } = &mut kernel.body[3].kind {
            *value = 2;
        }
        let inputs: Vec<u64> = sample().step_by(7).map(|x| x.to_bits() as u64).collect();
        for flush in [false, true] {
            let mut machine = Machine::new(&kernel, flush);
            for block in inputs.chunks(BLOCK) {
                for (&x, &result) in block.iter().zip(machine.run(&[block])) {
                    let (x, result) = (f32::from_bits(x as u32), f32::from_bits(result as u32));
                    let exact = |x: f32| (x as f64).powf(power as f64);
                    let error =
                        ulp_error(result, exact(x)).min(ulp_error(result, exact(flush_to_zero(x))));
                    assert!(error <= BOUND, "{x:?} to the power of {power} is {result:?}");
                }
            }
        }
    }
}
