//! Instruction selection for elementwise arithmetic.

use super::Unsupported;
use super::assembler::{Masking, Op, Operand, Width};
use super::emitter::{Emitter, SCRATCH_MASKS};
use super::opcodes::*;
use iced_x86::{Code, Register};
use inflight_ir::elementwise::{BinaryOp, UnaryOp};
use inflight_ir::kernel::Value;
use inflight_ir::{DType, DTypeClass};

/// VCMPPS/VCMPPD predicates. The ordered ones are false for NaN.
pub(super) const UNORDERED: u32 = 3;
pub(super) const ORDERED: u32 = 7;
pub(super) const GREATER_OR_EQUAL: u32 = 0x1d;
pub(super) const NOT_EQUAL: u32 = 4;
pub(super) const LESS: u32 = 0x11;

/// Lane type that a dtype is computed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// `f32`, and `f16` and `bf16` rounded after each op.
    F32,
    F64,
    /// Integers of up to 32 bits.
    I32,
    I64,
    Bool,
}

pub(super) fn lane(dtype: DType) -> Result<Lane, Unsupported> {
    Ok(match dtype {
        DType::Bool => Lane::Bool,
        DType::F16 | DType::BF16 | DType::F32 => Lane::F32,
        DType::F64 => Lane::F64,
        DType::I64 | DType::U64 => Lane::I64,
        DType::C64 | DType::C128 => return Err(Unsupported("complex dtypes".to_string())),
        _ => Lane::I32,
    })
}

/// The single instruction that implements a binary op, and whether it commutes.
fn single_instruction(op: BinaryOp, dtype: DType, lane: Lane) -> Option<(Op, bool)> {
    let unsigned = dtype.class() == DTypeClass::Unsigned;
    Some(match (op, lane) {
        (BinaryOp::Add, Lane::F32) => (ADDPS, true),
        (BinaryOp::Sub, Lane::F32) => (SUBPS, false),
        (BinaryOp::Mul, Lane::F32) => (MULPS, true),
        (BinaryOp::Div, Lane::F32) => (DIVPS, false),
        (BinaryOp::Add, Lane::F64) => (ADDPD, true),
        (BinaryOp::Sub, Lane::F64) => (SUBPD, false),
        (BinaryOp::Mul, Lane::F64) => (MULPD, true),
        (BinaryOp::Div, Lane::F64) => (DIVPD, false),
        (BinaryOp::Add, Lane::I32) => (ADDD, true),
        (BinaryOp::Sub, Lane::I32) => (SUBD, false),
        (BinaryOp::Mul, Lane::I32) => (MULLD, true),
        (BinaryOp::Min, Lane::I32) => (if unsigned { MINUD } else { MINSD }, true),
        (BinaryOp::Max, Lane::I32) => (if unsigned { MAXUD } else { MAXSD }, true),
        (BinaryOp::Add, Lane::I64) => (ADDQ, true),
        (BinaryOp::Sub, Lane::I64) => (SUBQ, false),
        (BinaryOp::Mul, Lane::I64) => (MULLQ, true),
        (BinaryOp::Min, Lane::I64) => (if unsigned { MINUQ } else { MINSQ }, true),
        (BinaryOp::Max, Lane::I64) => (if unsigned { MAXUQ } else { MAXSQ }, true),
        (BinaryOp::And, Lane::I32 | Lane::I64 | Lane::Bool) => (ANDPS, true),
        (BinaryOp::Or, Lane::I32 | Lane::I64 | Lane::Bool) => (ORPS, true),
        (BinaryOp::Xor, Lane::I32 | Lane::I64 | Lane::Bool) => (XORPS, true),
        (BinaryOp::Mul | BinaryOp::Min, Lane::Bool) => (ANDPS, true),
        (BinaryOp::Add | BinaryOp::Max, Lane::Bool) => (ORPS, true),
        (BinaryOp::ShiftLeft, Lane::I32) => (SLLVD, false),
        (BinaryOp::ShiftRight, Lane::I32) => (if unsigned { SRLVD } else { SRAVD }, false),
        (BinaryOp::ShiftRightLogical, Lane::I32) if unsigned || dtype == DType::I32 => {
            (SRLVD, false)
        }
        (BinaryOp::ShiftLeft, Lane::I64) => (SLLVQ, false),
        (BinaryOp::ShiftRight, Lane::I64) => (if unsigned { SRLVQ } else { SRAVQ }, false),
        (BinaryOp::ShiftRightLogical, Lane::I64) => (SRLVQ, false),
        _ => return None,
    })
}

/// Whether an op may leave the dtype's range, so that lanes need [`canonicalize`](Emitter::canonicalize).
fn needs_canonicalize(op: BinaryOp, dtype: DType) -> bool {
    let is_min_max = matches!(op, BinaryOp::Min | BinaryOp::Max);
    let bitwise = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    match dtype {
        DType::F16 | DType::BF16 => !is_min_max,
        DType::I8 | DType::I16 | DType::U8 | DType::U16 => !is_min_max && !bitwise,
        _ => false,
    }
}

impl Emitter<'_> {
    /// Copies `a` to `value`, coalescing the copy into a register transfer when `a` is dead afterwards.
    pub(super) fn coalesce(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let register = self.vector(a)?;
        if self.vectors.is_transferable(a) && !self.is_used_later(a) {
            self.vectors.transfer(register, value);
        } else {
            let dest = self.result(value)?;
            self.copy(self.width(self.dtype(value)), dest, register);
        }
        Ok(())
    }

    /// Restores the lane invariant of a dtype: wraps small integers and rounds 16-bit floats.
    pub(super) fn canonicalize(&mut self, dtype: DType, register: u8) -> Result<(), Unsupported> {
        let width = self.width32();
        match dtype {
            DType::I8 | DType::I16 => {
                let bits = 32 - 8 * dtype.size() as u32;
                self.assembler.op2_immediate(SLLD, width, register, register, bits);
                self.assembler.op2_immediate(SRAD, width, register, register, bits);
            }
            DType::U8 | DType::U16 => {
                let low = self.constant32(u32::MAX >> (32 - 8 * dtype.size()));
                self.assembler.op3(ANDPS, width, register, register, low);
            }
            DType::F16 => {
                let packed_width = Width::of_bytes(self.layout.lanes * 2);
                let (wide, packed) = ((width, register), (packed_width, register));
                self.assembler.convert_immediate(CVTPS2PH, width, packed, wide, 0);
                let packed = (packed_width, Operand::Vector(register));
                self.assembler.convert(CVTPH2PS, width, wide, packed, Masking::None);
            }
            DType::BF16 => self.round_to_bf16(register)?,
            _ => {}
        }
        Ok(())
    }

    /// Rounds to the nearest `f32` with 16 zero low bits, ties to even; NaN stays NaN.
    fn round_to_bf16(&mut self, register: u8) -> Result<(), Unsupported> {
        let width = self.width32();
        let rounded = self.temporary()?;
        let (one, bias) = (self.constant32(1), self.constant32(0x7fff));
        let (quiet, upper) = (self.constant32(0x0040_0000), self.constant32(0xffff_0000));
        self.assembler.op2_immediate(SRLD, width, rounded, register, 16);
        self.assembler.op3(ANDPS, width, rounded, rounded, one);
        self.assembler.op3(ADDD, width, rounded, rounded, bias);
        self.assembler.op3(ADDD, width, rounded, rounded, Operand::Vector(register));
        let nan = self.temporary()?;
        self.assembler.op3(ORPS, width, nan, register, quiet);
        self.propagate_nan(width, CMPPS, rounded, register, nan)?;
        self.assembler.op3(ANDPS, width, register, rounded, upper);
        Ok(())
    }

    /// `dest = tested is NaN ? nan : dest`.
    fn propagate_nan(
        &mut self,
        width: Width,
        compare: Op,
        dest: u8,
        tested: u8,
        nan: u8,
    ) -> Result<(), Unsupported> {
        let double = compare.vex == CMPPD.vex;
        let test = Operand::Vector(tested);
        if self.is_avx512() {
            let [mask, _] = SCRATCH_MASKS;
            self.assembler.compare(compare, width, mask, tested, test, UNORDERED);
            let op = if double { MOVAPD } else { MOVAPS };
            self.assembler.op2_masked(op, width, dest, Operand::Vector(nan), Masking::Merge(mask));
        } else {
            let lanes = self.temporary()?;
            self.assembler.op3_immediate(compare, width, lanes, tested, test, UNORDERED);
            let blend = if double { BLENDVPD } else { BLENDVPS };
            self.assembler.op4(blend, width, dest, dest, Operand::Vector(nan), lanes);
        }
        Ok(())
    }

    /// `dest = op(a, b)` on registers. `dest` must not be `a` for `Min` and `Max`; it may be `b`.
    pub(super) fn binary_registers(
        &mut self,
        op: BinaryOp,
        dtype: DType,
        dest: u8,
        a: u8,
        b: Operand,
    ) -> Result<(), Unsupported> {
        let lane = lane(dtype)?;
        let width = self.width(dtype);
        let is_min_max = matches!(op, BinaryOp::Min | BinaryOp::Max);
        match (lane, op) {
            // MIN and MAX return `b` if either operand is NaN; only a NaN in `a` alone needs fixing.
            (Lane::F32, BinaryOp::Min | BinaryOp::Max) => {
                let instruction = if op == BinaryOp::Min { MINPS } else { MAXPS };
                self.assembler.op3(instruction, width, dest, a, b);
                self.propagate_nan(width, CMPPS, dest, a, a)?;
            }
            (Lane::F64, BinaryOp::Min | BinaryOp::Max) => {
                let instruction = if op == BinaryOp::Min { MINPD } else { MAXPD };
                self.assembler.op3(instruction, width, dest, a, b);
                self.propagate_nan(width, CMPPD, dest, a, a)?;
            }
            (Lane::I64, _) if is_min_max && !self.is_avx512() => {
                self.min_max64(op, dtype, dest, a, b)?;
            }
            (Lane::I32, BinaryOp::ShiftRightLogical) if matches!(dtype, DType::I8 | DType::I16) => {
                let low = self.constant32(u32::MAX >> (32 - 8 * dtype.size()));
                let zero_extended = self.temporary()?;
                self.assembler.op3(ANDPS, width, zero_extended, a, low);
                self.assembler.op3(SRLVD, width, dest, zero_extended, b);
            }
            _ => {
                let Some((instruction, _)) = single_instruction(op, dtype, lane) else {
                    return Err(Unsupported(format!("{} of {dtype}", op.name())));
                };
                self.assembler.op3(instruction, width, dest, a, b);
            }
        }
        if needs_canonicalize(op, dtype) {
            self.canonicalize(dtype, dest)?;
        }
        Ok(())
    }

    /// Min and max of 64-bit integers by compare and blend: AVX2 has no such instructions.
    fn min_max64(
        &mut self,
        op: BinaryOp,
        dtype: DType,
        dest: u8,
        a: u8,
        b: Operand,
    ) -> Result<(), Unsupported> {
        let width = self.width64();
        let greater = self.temporary()?;
        let other = self.temporary()?;
        self.assembler.op2(MOVUPS, width, other, b);
        if dtype == DType::U64 {
            let sign = self.constant64(1 << 63);
            let flipped = self.temporary()?;
            self.assembler.op3(XORPS, width, greater, a, sign);
            self.assembler.op3(XORPS, width, flipped, other, sign);
            self.assembler.op3(CMPGTQ, width, greater, greater, Operand::Vector(flipped));
        } else {
            self.assembler.op3(CMPGTQ, width, greater, a, Operand::Vector(other));
        }
        let (no, yes) = if op == BinaryOp::Min { (a, other) } else { (other, a) };
        self.assembler.op4(BLENDVPD, width, dest, no, Operand::Vector(yes), greater);
        Ok(())
    }

    pub(super) fn binary(
        &mut self,
        value: Value,
        op: BinaryOp,
        a: Value,
        b: Value,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(a);
        let lane = lane(dtype)?;
        if self.is_opmask_dtype(dtype) {
            return self.binary_masks(value, op, a, b);
        }
        let commutes = single_instruction(op, dtype, lane).is_some_and(|(_, commutes)| commutes);
        let (a, b) =
            if commutes && self.is_in_memory(a) && !self.is_in_memory(b) { (b, a) } else { (a, b) };
        let first = self.vector(a)?;
        let second = self.operand(b)?;
        let simple = !matches!(op, BinaryOp::Min | BinaryOp::Max | BinaryOp::ShiftRightLogical);
        if simple {
            self.release_killed(&[a, b]);
        }
        let dest = self.result(value)?;
        self.binary_registers(op, dtype, dest, first, second)
    }

    fn binary_masks(
        &mut self,
        value: Value,
        op: BinaryOp,
        a: Value,
        b: Value,
    ) -> Result<(), Unsupported> {
        let code = match op {
            BinaryOp::And | BinaryOp::Mul | BinaryOp::Min => Code::VEX_Kandw_kr_kr_kr,
            BinaryOp::Or | BinaryOp::Add | BinaryOp::Max => Code::VEX_Korw_kr_kr_kr,
            BinaryOp::Xor => Code::VEX_Kxorw_kr_kr_kr,
            _ => return Err(Unsupported(format!("{} of bool", op.name()))),
        };
        let (first, second) = (self.mask(a)?, self.mask(b)?);
        self.release_killed(&[a, b]);
        let dest = self.result_mask(value)?;
        let k = |mask: u8| Register::K0 + mask as u32;
        self.assembler.emit_rrr(code, k(dest), k(first), k(second));
        Ok(())
    }

    pub(super) fn unary(&mut self, value: Value, op: UnaryOp, a: Value) -> Result<(), Unsupported> {
        let dtype = self.dtype(a);
        let lane = lane(dtype)?;
        let width = self.width(dtype);
        let unsupported = || Unsupported(format!("{} of {dtype}", op.name()));
        if self.is_opmask_dtype(dtype) {
            if op != UnaryOp::Not {
                return Err(unsupported());
            }
            let mask = self.mask(a)?;
            self.release_killed(&[a]);
            let dest = self.result_mask(value)?;
            let k = |mask: u8| Register::K0 + mask as u32;
            self.assembler.emit_rr(Code::VEX_Knotw_kr_kr, k(dest), k(mask));
            return Ok(());
        }
        match (op, lane) {
            (UnaryOp::Neg, Lane::F32 | Lane::F64) => {
                let sign = self.sign_bit(lane);
                self.binary_with_constant(value, a, XORPS, sign)
            }
            (UnaryOp::Abs, Lane::F32) => {
                let magnitude = self.constant32(0x7fff_ffff);
                self.binary_with_constant(value, a, ANDPS, magnitude)
            }
            (UnaryOp::Abs, Lane::F64) => {
                let magnitude = self.constant64(u64::MAX >> 1);
                self.binary_with_constant(value, a, ANDPS, magnitude)
            }
            (UnaryOp::Not, Lane::Bool | Lane::I32 | Lane::I64) => {
                let ones = match dtype {
                    DType::U8 | DType::U16 => u32::MAX >> (32 - 8 * dtype.size()),
                    _ => u32::MAX,
                };
                let ones = self.constant32(ones);
                self.binary_with_constant(value, a, XORPS, ones)
            }
            (UnaryOp::Neg, Lane::I32 | Lane::I64) => {
                let operand = self.operand(a)?;
                let dest = self.result(value)?;
                let zero = self.temporary()?;
                self.assembler.op3(XORPS, Width::Xmm, zero, zero, Operand::Vector(zero));
                let op = if lane == Lane::I64 { SUBQ } else { SUBD };
                self.assembler.op3(op, width, dest, zero, operand);
                self.canonicalize(dtype, dest)
            }
            (UnaryOp::Abs, Lane::I32 | Lane::I64) if dtype.class() == DTypeClass::Unsigned => {
                self.coalesce(value, a)
            }
            (UnaryOp::Abs, Lane::I32) => {
                let operand = self.operand(a)?;
                self.release_killed(&[a]);
                let dest = self.result(value)?;
                self.assembler.op2(ABSD, width, dest, operand);
                self.canonicalize(dtype, dest)
            }
            (UnaryOp::Abs, Lane::I64) if self.is_avx512() => {
                let operand = self.operand(a)?;
                self.release_killed(&[a]);
                let dest = self.result(value)?;
                self.assembler.op2(ABSQ, width, dest, operand);
                Ok(())
            }
            (UnaryOp::Abs, Lane::I64) => {
                let register = self.vector(a)?;
                let dest = self.result(value)?;
                let sign = self.temporary()?;
                self.assembler.op3(XORPS, Width::Xmm, sign, sign, Operand::Vector(sign));
                self.assembler.op3(CMPGTQ, width, sign, sign, Operand::Vector(register));
                self.assembler.op3(XORPS, width, dest, register, Operand::Vector(sign));
                self.assembler.op3(SUBQ, width, dest, dest, Operand::Vector(sign));
                Ok(())
            }
            (UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round, Lane::F32 | Lane::F64) => {
                let mode = match op {
                    UnaryOp::Floor => 9,
                    UnaryOp::Ceil => 10,
                    _ => 8,
                };
                let register = self.vector(a)?;
                self.release_killed(&[a]);
                let dest = self.result(value)?;
                let round = if lane == Lane::F64 { ROUNDPD } else { ROUNDPS };
                self.assembler.op2_immediate(round, width, dest, register, mode);
                Ok(())
            }
            (UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round, Lane::I32 | Lane::I64) => {
                self.coalesce(value, a)
            }
            (UnaryOp::Sqrt, Lane::F32 | Lane::F64) => {
                let operand = self.operand(a)?;
                self.release_killed(&[a]);
                let dest = self.result(value)?;
                let sqrt = if lane == Lane::F64 { SQRTPD } else { SQRTPS };
                self.assembler.op2(sqrt, width, dest, operand);
                self.canonicalize(dtype, dest)
            }
            (UnaryOp::Rsqrt, Lane::F32 | Lane::F64) => {
                let operand = self.operand(a)?;
                let dest = self.result(value)?;
                let one = self.temporary()?;
                let (sqrt, divide, one_constant) = match lane {
                    Lane::F64 => (SQRTPD, DIVPD, self.constant64(1f64.to_bits())),
                    _ => (SQRTPS, DIVPS, self.constant32(1f32.to_bits())),
                };
                self.assembler.op2(sqrt, width, dest, operand);
                self.assembler.op2(MOVUPS, width, one, one_constant);
                self.assembler.op3(divide, width, dest, one, Operand::Vector(dest));
                self.canonicalize(dtype, dest)
            }
            (UnaryOp::IsNan, Lane::F32 | Lane::F64) => {
                let register = self.vector(a)?;
                self.compare_floats(value, lane, register, Operand::Vector(register), UNORDERED)
            }
            (UnaryOp::IsFinite, Lane::F32 | Lane::F64) => {
                let register = self.vector(a)?;
                let magnitude = self.temporary()?;
                let (bits, infinity) = match lane {
                    Lane::F64 => {
                        (self.constant64(u64::MAX >> 1), self.constant64(f64::INFINITY.to_bits()))
                    }
                    _ => (self.constant32(0x7fff_ffff), self.constant32(f32::INFINITY.to_bits())),
                };
                self.assembler.op3(ANDPS, width, magnitude, register, bits);
                self.compare_floats(value, lane, magnitude, infinity, LESS)
            }
            _ => Err(unsupported()),
        }
    }

    pub(super) fn sign_bit(&mut self, lane: Lane) -> Operand {
        match lane {
            Lane::F64 | Lane::I64 => self.constant64(1 << 63),
            _ => self.constant32(1 << 31),
        }
    }

    fn binary_with_constant(
        &mut self,
        value: Value,
        a: Value,
        op: Op,
        constant: Operand,
    ) -> Result<(), Unsupported> {
        let width = self.width(self.dtype(a));
        let register = self.vector(a)?;
        self.release_killed(&[a]);
        let dest = self.result(value)?;
        self.assembler.op3(op, width, dest, register, constant);
        Ok(())
    }

    pub(super) fn fma(
        &mut self,
        value: Value,
        a: Value,
        b: Value,
        c: Value,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let width = self.width(dtype);
        let (product_first, sum_first) = match dtype {
            DType::F32 => (FMADD213PS, FMADD231PS),
            DType::F64 => (FMADD213PD, FMADD231PD),
            _ => return Err(Unsupported(format!("a fused multiply-add of {dtype}"))),
        };
        // Put a factor in memory second, where the instruction accepts a memory operand.
        let (a, b) = if self.is_in_memory(a) && !self.is_in_memory(b) { (b, a) } else { (a, b) };
        let can_overwrite = |emitter: &Self, operand: Value| {
            emitter.vectors.is_transferable(operand) && !emitter.is_used_later(operand)
        };
        let first = self.vector(a)?;
        if can_overwrite(self, c) && c != a && c != b {
            let dest = self.vector(c)?;
            let second = self.operand(b)?;
            self.vectors.transfer(dest, value);
            self.assembler.op3(sum_first, width, dest, first, second);
            return Ok(());
        }
        let second = self.vector(b)?;
        let addend = self.operand(c)?;
        let (dest, factor) = if can_overwrite(self, a) && a != b && a != c {
            self.vectors.transfer(first, value);
            (first, second)
        } else if can_overwrite(self, b) && a != b && b != c {
            self.vectors.transfer(second, value);
            (second, first)
        } else {
            let dest = self.result(value)?;
            self.copy(width, dest, first);
            (dest, second)
        };
        self.assembler.op3(product_first, width, dest, factor, addend);
        Ok(())
    }
}
