//! Instruction selection for casts and bitcasts.

use super::Unsupported;
use super::arithmetic::{GREATER_OR_EQUAL, Lane, NOT_EQUAL, ORDERED, lane};
use super::assembler::{Masking, Op, Operand, Width};
use super::emitter::{Emitter, SCRATCH_MASKS};
use super::opcodes::*;
use inflight_ir::kernel::Value;
use inflight_ir::{DType, DTypeClass, Scalar};

/// The bits of an `f64` that its `f32` does not have.
const DROPPED_BITS: u64 = (1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS)) - 1;

fn unsupported(from: DType, to: DType) -> Unsupported {
    Unsupported(format!("a cast from {from} to {to}"))
}

impl Emitter<'_> {
    pub(super) fn cast(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let (from, to) = (self.dtype(a), self.dtype(value));
        let (from_lane, to_lane) = (lane(from)?, lane(to)?);
        if from == to && self.is_opmask_dtype(from) {
            return self.binary(value, inflight_ir::BinaryOp::And, a, a);
        }
        if from == to {
            return self.coalesce(value, a);
        }
        match (from_lane, to_lane) {
            (_, Lane::Bool) => self.cast_to_bool(value, a),
            (Lane::Bool, _) => self.cast_from_bool(value, a),
            (Lane::F32, Lane::F32) => {
                self.coalesce(value, a)?;
                let register = self.vector(value)?;
                if to == DType::F32 { Ok(()) } else { self.canonicalize(to, register) }
            }
            (Lane::I32, Lane::I32) => {
                self.coalesce(value, a)?;
                let register = self.vector(value)?;
                self.canonicalize(to, register)
            }
            (Lane::I64, Lane::I64) => self.coalesce(value, a),
            (Lane::I32, Lane::I64) => {
                let signed = from.class() == DTypeClass::Signed;
                self.widen(value, a, if signed { MOVSXDQ } else { MOVZXDQ })
            }
            (Lane::I64, Lane::I32) => {
                let source = self.vector(a)?;
                let dest = self.result(value)?;
                self.narrow_integers(dest, source)?;
                self.canonicalize(to, dest)
            }
            (Lane::F32, Lane::F64) => self.widen(value, a, CVTPS2PD),
            (Lane::F64, Lane::F32) => self.narrow_floats(value, a),
            (Lane::I32, Lane::F32) => self.integers_to_f32(value, a),
            (Lane::I32, Lane::F64) => self.integers_to_f64(value, a),
            (Lane::F32, Lane::I32) => self.f32_to_integers(value, a),
            (Lane::F64, Lane::I32) => self.f64_to_integers(value, a),
            (Lane::I64, Lane::F32 | Lane::F64) => {
                // Going through `f32` would round twice.
                if !self.is_avx512() || to.is_half() {
                    return Err(unsupported(from, to));
                }
                let unsigned = from == DType::U64;
                let source = self.operand_in_register(a)?;
                let dest = self.result(value)?;
                let (wide, width) = (self.width64(), self.width(to));
                let op = match (to_lane, unsigned) {
                    (Lane::F64, true) => CVTUQQ2PD,
                    (Lane::F64, false) => CVTQQ2PD,
                    (_, true) => CVTUQQ2PS,
                    (_, false) => CVTQQ2PS,
                };
                self.assembler.convert(op, wide, (width, dest), (wide, source), Masking::None);
                Ok(())
            }
            (Lane::F32 | Lane::F64, Lane::I64) => self.floats_to_i64(value, a),
            _ => Err(unsupported(from, to)),
        }
    }

    fn operand_in_register(&mut self, value: Value) -> Result<Operand, Unsupported> {
        Ok(Operand::Vector(self.vector(value)?))
    }

    /// Converts 32-bit lanes to 64-bit lanes.
    fn widen(&mut self, value: Value, a: Value, op: Op) -> Result<(), Unsupported> {
        let source = self.operand_in_register(a)?;
        let dest = self.result(value)?;
        let (wide, narrow) = (self.width64(), self.width32());
        self.assembler.convert(op, wide, (wide, dest), (narrow, source), Masking::None);
        Ok(())
    }

    /// Truncates 64-bit lanes to their low 32 bits.
    fn narrow_integers(&mut self, dest: u8, source: u8) -> Result<(), Unsupported> {
        let (wide, narrow) = (self.width64(), self.width32());
        if self.is_avx512() {
            let source = (wide, Operand::Vector(source));
            self.assembler.convert(MOVQD, wide, (narrow, dest), source, Masking::None);
            return Ok(());
        }
        self.narrow_lane_mask(Lane::I64, dest, source)
    }

    fn cast_to_bool(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let dtype = self.dtype(a);
        let lane = lane(dtype)?;
        let width = self.width(dtype);
        let register = self.vector(a)?;
        if matches!(lane, Lane::F32 | Lane::F64) {
            let zero = self.constant32(0);
            return self.compare_floats(value, lane, register, zero, NOT_EQUAL);
        }
        let zero = self.constant32(0);
        if self.is_avx512() {
            let dest = self.result_mask(value)?;
            let op = if lane == Lane::I64 { CMPQ } else { CMPD };
            self.assembler.compare(op, width, dest, register, zero, 4);
            return Ok(());
        }
        let lanes = self.temporary()?;
        let op = if lane == Lane::I64 { CMPEQQ } else { CMPEQD };
        let ones = self.constant32(u32::MAX);
        self.assembler.op3(op, width, lanes, register, zero);
        self.assembler.op3(XORPS, width, lanes, lanes, ones);
        let dest = self.result(value)?;
        self.narrow_lane_mask(lane, dest, lanes)
    }

    fn cast_from_bool(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let to = self.dtype(value);
        let width = self.width(to);
        let one = Scalar::one(to);
        let one = self.constant(super::emitter::splat(one));
        if self.is_avx512() {
            let mask = self.mask(a)?;
            let dest = self.result(value)?;
            let op = if to.size() == 8 { MOVUPD } else { MOVUPS };
            self.assembler.op2_masked(op, width, dest, Operand::Memory(one), Masking::Zero(mask));
            return Ok(());
        }
        let lanes = self.widen_lane_mask(a, to)?;
        let dest = self.result(value)?;
        self.assembler.op3(ANDPS, width, dest, lanes, Operand::Memory(one));
        Ok(())
    }

    fn narrow_floats(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let to = self.dtype(value);
        let (wide, narrow) = (self.width64(), self.width32());
        let source = self.vector(a)?;
        let dest = self.result(value)?;
        if to == DType::F32 {
            let source = (wide, Operand::Vector(source));
            self.assembler.convert(CVTPD2PS, wide, (narrow, dest), source, Masking::None);
            return Ok(());
        }
        // Round to odd first: truncate to the precision of `f32`, and set the last bit if the value is inexact. The second
        // rounding then sees on which side of a tie the value was, and the conversion between the two is exact.
        let rounded = self.temporary()?;
        let (dropped, kept) = (self.constant64(DROPPED_BITS), self.constant64(!DROPPED_BITS));
        // The sum has the lowest kept bit set exactly if a dropped bit is set.
        self.assembler.op3(ANDPS, wide, rounded, source, dropped);
        self.assembler.op3(ADDQ, wide, rounded, rounded, dropped);
        self.assembler.op3(ORPS, wide, rounded, rounded, Operand::Vector(source));
        self.assembler.op3(ANDPS, wide, rounded, rounded, kept);
        let rounded = (wide, Operand::Vector(rounded));
        self.assembler.convert(CVTPD2PS, wide, (narrow, dest), rounded, Masking::None);
        self.canonicalize(to, dest)
    }

    fn integers_to_f32(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let (from, to) = (self.dtype(a), self.dtype(value));
        let width = self.width32();
        let mut source = self.vector(a)?;
        let dest = self.result(value)?;
        if to == DType::BF16 && matches!(from, DType::I32 | DType::U32) {
            source = self.fold_sticky_bit(from, source)?;
        }
        if from != DType::U32 {
            self.assembler.op2(CVTDQ2PS, width, dest, Operand::Vector(source));
        } else if self.is_avx512() {
            self.assembler.op2(CVTUDQ2PS, width, dest, Operand::Vector(source));
        } else {
            // Convert two exact 16-bit parts and join them by an FMA, which rounds once.
            let lower = self.temporary()?;
            let (low, scale) = (self.constant32(0xffff), self.constant32(65536f32.to_bits()));
            self.assembler.op3(ANDPS, width, lower, source, low);
            self.assembler.op2(CVTDQ2PS, width, lower, Operand::Vector(lower));
            self.assembler.op2_immediate(SRLD, width, dest, source, 16);
            self.assembler.op2(CVTDQ2PS, width, dest, Operand::Vector(dest));
            let joined = self.temporary()?;
            self.assembler.op2(MOVUPS, width, joined, scale);
            self.assembler.op3(FMADD213PS, width, dest, joined, Operand::Vector(lower));
        }
        self.canonicalize(to, dest)
    }

    /// Folds the lowest 9 bits of integers of 2²⁴ and more into one sticky bit: the result is exact in `f32` and
    /// rounds to `bf16` as the integer would.
    fn fold_sticky_bit(&mut self, from: DType, source: u8) -> Result<u8, Unsupported> {
        let width = self.width32();
        let [folded, low] = [self.temporary()?, self.temporary()?];
        let (mask, upper) = (self.constant32(0x1ff), self.constant32(!0x1ff));
        let (carry, bit) = (self.constant32(0x1ff), self.constant32(0x200));
        // low + 0x1ff has bit 9 set exactly if low is nonzero; shifted right by one it is the sticky bit.
        self.assembler.op3(ANDPS, width, low, source, mask);
        self.assembler.op3(ADDD, width, low, low, carry);
        self.assembler.op3(ANDPS, width, low, low, bit);
        self.assembler.op2_immediate(SRLD, width, low, low, 1);
        self.assembler.op3(ANDPS, width, folded, source, upper);
        self.assembler.op3(ORPS, width, folded, folded, Operand::Vector(low));
        // Smaller integers keep all their bits.
        let magnitude = low;
        match from {
            DType::U32 => self.copy(width, magnitude, source),
            _ => self.assembler.op2(ABSD, width, magnitude, Operand::Vector(source)),
        }
        self.assembler.op2_immediate(SRLD, width, magnitude, magnitude, 24);
        let zero = self.constant32(0);
        if self.is_avx512() {
            let [small, _] = SCRATCH_MASKS;
            self.assembler.compare(CMPD, width, small, magnitude, zero, 0);
            let source = Operand::Vector(source);
            self.assembler.op2_masked(MOVAPS, width, folded, source, Masking::Merge(small));
        } else {
            self.assembler.op3(CMPEQD, width, magnitude, magnitude, zero);
            let source = Operand::Vector(source);
            self.assembler.op4(BLENDVPS, width, folded, folded, source, magnitude);
        }
        Ok(folded)
    }

    fn integers_to_f64(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let from = self.dtype(a);
        if from != DType::U32 {
            return self.widen(value, a, CVTDQ2PD);
        }
        if self.is_avx512() {
            return self.widen(value, a, CVTUDQ2PD);
        }
        // 2⁵² + x holds x in its low bits.
        self.widen(value, a, MOVZXDQ)?;
        let dest = self.vector(value)?;
        let offset = self.constant64(((1u64 << 52) as f64).to_bits());
        let width = self.width64();
        self.assembler.op3(ORPS, width, dest, dest, offset);
        self.assembler.op3(SUBPD, width, dest, dest, offset);
        Ok(())
    }

    /// `dest = source` with NaN replaced by zero.
    fn zero_nan(&mut self, lane: Lane, dest: u8, source: u8) -> Result<(), Unsupported> {
        let (width, compare, copy) = match lane {
            Lane::F64 => (self.width64(), CMPPD, MOVAPD),
            _ => (self.width32(), CMPPS, MOVAPS),
        };
        let operand = Operand::Vector(source);
        if self.is_avx512() {
            let [ordered, _] = SCRATCH_MASKS;
            self.assembler.compare(compare, width, ordered, source, operand, ORDERED);
            self.assembler.op2_masked(copy, width, dest, operand, Masking::Zero(ordered));
        } else {
            let lanes = self.temporary()?;
            self.assembler.op3_immediate(compare, width, lanes, source, operand, ORDERED);
            self.assembler.op3(ANDPS, width, dest, lanes, operand);
        }
        Ok(())
    }

    fn f32_to_integers(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let to = self.dtype(value);
        let width = self.width32();
        let source = self.vector(a)?;
        let dest = self.result(value)?;
        self.zero_nan(Lane::F32, dest, source)?;
        let this = Operand::Vector(dest);
        match to {
            DType::I32 => {
                // Positive overflow converts to the smallest integer; its complement is the largest.
                let limit = self.constant32(2147483648f32.to_bits());
                let input = self.temporary()?;
                self.copy(width, input, dest);
                self.assembler.op2(CVTTPS2DQ, width, dest, this);
                self.saturate_overflow(Lane::F32, input, limit, dest)
            }
            DType::U32 if self.is_avx512() => {
                let zero = self.constant32(0);
                self.assembler.op3(MAXPS, width, dest, dest, zero);
                self.assembler.op2(CVTTPS2UDQ, width, dest, this);
                Ok(())
            }
            DType::U32 => {
                let (zero, two_pow_31) =
                    (self.constant32(0), self.constant32(2147483648f32.to_bits()));
                let (two_pow_32, sign) =
                    (self.constant32(4294967296f32.to_bits()), self.constant32(1 << 31));
                let [input, upper, lanes] =
                    [self.temporary()?, self.temporary()?, self.temporary()?];
                self.assembler.op3(MAXPS, width, input, dest, zero);
                self.assembler.op3(SUBPS, width, upper, input, two_pow_31);
                self.assembler.op2(CVTTPS2DQ, width, upper, Operand::Vector(upper));
                self.assembler.op3(XORPS, width, upper, upper, sign);
                self.assembler.op2(CVTTPS2DQ, width, dest, Operand::Vector(input));
                self.assembler.op3_immediate(
                    CMPPS,
                    width,
                    lanes,
                    input,
                    two_pow_31,
                    GREATER_OR_EQUAL,
                );
                self.assembler.op4(BLENDVPS, width, dest, dest, Operand::Vector(upper), lanes);
                self.assembler.op3_immediate(
                    CMPPS,
                    width,
                    lanes,
                    input,
                    two_pow_32,
                    GREATER_OR_EQUAL,
                );
                self.assembler.op3(ORPS, width, dest, dest, Operand::Vector(lanes));
                Ok(())
            }
            _ => {
                let low = Scalar::lowest(to).to_f64() as f32;
                let high = Scalar::highest(to).to_f64() as f32;
                let (low, high) = (self.constant32(low.to_bits()), self.constant32(high.to_bits()));
                self.assembler.op3(MAXPS, width, dest, dest, low);
                self.assembler.op3(MINPS, width, dest, dest, high);
                self.assembler.op2(CVTTPS2DQ, width, dest, this);
                Ok(())
            }
        }
    }

    /// Saturates positive overflow: inverts converted lanes whose input was at least the limit.
    fn saturate_overflow(
        &mut self,
        lane: Lane,
        input: u8,
        limit: Operand,
        dest: u8,
    ) -> Result<(), Unsupported> {
        let (width, compare) = match lane {
            Lane::F64 => (self.width64(), CMPPD),
            _ => (self.width32(), CMPPS),
        };
        if self.is_avx512() {
            let [large, _] = SCRATCH_MASKS;
            let ones = self.constant32(u32::MAX);
            self.assembler.compare(compare, width, large, input, limit, GREATER_OR_EQUAL);
            // The opmask of `vxorps` has one bit per 32-bit lane.
            match lane {
                Lane::F64 => {
                    let inverted = self.temporary()?;
                    self.assembler.op3(XORPS, width, inverted, dest, ones);
                    let inverted = Operand::Vector(inverted);
                    self.assembler.op2_masked(MOVAPD, width, dest, inverted, Masking::Merge(large));
                }
                _ => {
                    self.assembler.op3_masked(XORPS, width, dest, dest, ones, Masking::Merge(large))
                }
            }
        } else {
            let large = self.temporary()?;
            self.assembler.op3_immediate(compare, width, large, input, limit, GREATER_OR_EQUAL);
            self.assembler.op3(XORPS, width, dest, dest, Operand::Vector(large));
        }
        Ok(())
    }

    fn f64_to_integers(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let to = self.dtype(value);
        let (wide, narrow) = (self.width64(), self.width32());
        let source = self.vector(a)?;
        let dest = self.result(value)?;
        let input = self.temporary()?;
        self.zero_nan(Lane::F64, input, source)?;
        let low = self.constant64(Scalar::lowest(to).to_f64().to_bits());
        let high = self.constant64(Scalar::highest(to).to_f64().to_bits());
        self.assembler.op3(MAXPD, wide, input, input, low);
        self.assembler.op3(MINPD, wide, input, input, high);
        let operand = (wide, Operand::Vector(input));
        match to {
            DType::U32 if self.is_avx512() => {
                self.assembler.convert(CVTTPD2UDQ, wide, (narrow, dest), operand, Masking::None);
            }
            DType::U32 => {
                let (two_pow_31, sign) =
                    (self.constant64(2147483648f64.to_bits()), self.constant32(1 << 31));
                self.assembler.op2_immediate(ROUNDPD, wide, input, input, 11);
                self.assembler.op3(SUBPD, wide, input, input, two_pow_31);
                self.assembler.convert(CVTTPD2DQ, wide, (narrow, dest), operand, Masking::None);
                self.assembler.op3(XORPS, narrow, dest, dest, sign);
            }
            _ => self.assembler.convert(CVTTPD2DQ, wide, (narrow, dest), operand, Masking::None),
        }
        Ok(())
    }

    fn floats_to_i64(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let (from, to) = (self.dtype(a), self.dtype(value));
        if !self.is_avx512() {
            return Err(unsupported(from, to));
        }
        let wide = self.width64();
        let source = self.vector(a)?;
        let dest = self.result(value)?;
        let input = self.temporary()?;
        // Convert through `f64`, which represents every `f32` exactly: one case instead of two.
        let widened = self.temporary()?;
        if from == DType::F64 {
            self.copy(wide, widened, source);
        } else {
            let source = (self.width32(), Operand::Vector(source));
            self.assembler.convert(CVTPS2PD, wide, (wide, widened), source, Masking::None);
        }
        self.zero_nan(Lane::F64, input, widened)?;
        if to == DType::U64 {
            let zero = self.constant32(0);
            self.assembler.op3(MAXPD, wide, input, input, zero);
            self.assembler.op2(CVTTPD2UQQ, wide, dest, Operand::Vector(input));
            return Ok(());
        }
        let limit = self.constant64(9223372036854775808f64.to_bits());
        self.assembler.op2(CVTTPD2QQ, wide, dest, Operand::Vector(input));
        self.saturate_overflow(Lane::F64, input, limit, dest)
    }

    pub(super) fn bitcast(&mut self, value: Value, a: Value) -> Result<(), Unsupported> {
        let (from, to) = (self.dtype(a), self.dtype(value));
        let width = self.width32();
        let packed_width = Width::of_bytes(self.layout.lanes * 2);
        if from.size() != to.size() || (from == DType::Bool) != (to == DType::Bool) {
            return Err(Unsupported(format!("a bitcast from {from} to {to}")));
        }
        if from == to && self.is_opmask_dtype(from) {
            return self.binary(value, inflight_ir::BinaryOp::And, a, a);
        }
        if from == to || from.size() >= 4 {
            return self.coalesce(value, a);
        }
        let source = self.vector(a)?;
        let dest = self.result(value)?;
        // First the zero-extended 16 bits, then their interpretation in the new dtype.
        match from {
            DType::F16 => {
                self.assembler.convert_immediate(
                    CVTPS2PH,
                    width,
                    (packed_width, dest),
                    (width, source),
                    0,
                );
                let packed = (packed_width, Operand::Vector(dest));
                self.assembler.convert(MOVZXWD, width, (width, dest), packed, Masking::None);
            }
            DType::BF16 => self.assembler.op2_immediate(SRLD, width, dest, source, 16),
            _ => self.copy(width, dest, source),
        }
        match to {
            DType::BF16 => self.assembler.op2_immediate(SLLD, width, dest, dest, 16),
            DType::F16 if self.is_avx512() => {
                let source = (width, Operand::Vector(dest));
                self.assembler.convert(MOVDW, width, (packed_width, dest), source, Masking::None);
                let packed = (packed_width, Operand::Vector(dest));
                self.assembler.convert(CVTPH2PS, width, (width, dest), packed, Masking::None);
            }
            DType::F16 => {
                let low = self.constant32(0xffff);
                self.assembler.op3(ANDPS, width, dest, dest, low);
                let upper = self.temporary()?;
                if width == Width::Ymm {
                    self.assembler.extract_128(width, upper, dest, 1);
                } else {
                    self.copy(width, upper, dest);
                }
                self.assembler.op3(PACKUSDW, Width::Xmm, dest, dest, Operand::Vector(upper));
                let packed = (packed_width, Operand::Vector(dest));
                self.assembler.convert(CVTPH2PS, width, (width, dest), packed, Masking::None);
            }
            _ => self.canonicalize(to, dest)?,
        }
        Ok(())
    }
}
