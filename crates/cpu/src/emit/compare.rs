//! Instruction selection for comparisons and selects.

use super::Unsupported;
use super::arithmetic::{GREATER_OR_EQUAL, LESS, Lane, NOT_EQUAL, lane};
use super::assembler::{Masking, Operand, Width};
use super::emitter::{Emitter, SCRATCH_MASKS};
use super::opcodes::*;
use iced_x86::{Code, Register};
use inflight_ir::elementwise::{BinaryOp, CompareOp};
use inflight_ir::kernel::Value;
use inflight_ir::{DType, DTypeClass};

impl Emitter<'_> {
    pub(super) fn compare(
        &mut self,
        value: Value,
        op: CompareOp,
        a: Value,
        b: Value,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(a);
        let lane = lane(dtype)?;
        if lane == Lane::Bool {
            return self.compare_bools(value, op, a, b);
        }
        let first = self.vector(a)?;
        if matches!(lane, Lane::F32 | Lane::F64) {
            let predicate = match op {
                CompareOp::Eq => 0,
                CompareOp::Ne => NOT_EQUAL,
                CompareOp::Lt => LESS,
                CompareOp::Le => 0x12,
                CompareOp::Gt => 0x1e,
                CompareOp::Ge => GREATER_OR_EQUAL,
            };
            let second = self.operand(b)?;
            return self.compare_floats(value, lane, first, second, predicate);
        }
        let unsigned = dtype.class() == DTypeClass::Unsigned;
        if self.is_avx512() {
            let second = self.operand(b)?;
            let predicate = match op {
                CompareOp::Eq => 0,
                CompareOp::Lt => 1,
                CompareOp::Le => 2,
                CompareOp::Ne => 4,
                CompareOp::Ge => 5,
                CompareOp::Gt => 6,
            };
            let instruction = match (lane, unsigned) {
                (Lane::I64, true) => CMPUQ,
                (Lane::I64, false) => CMPQ,
                (_, true) => CMPUD,
                (_, false) => CMPD,
            };
            let dest = self.result_mask(value)?;
            let width = self.width(dtype);
            self.assembler.compare(instruction, width, dest, first, second, predicate);
            return Ok(());
        }
        let second = self.vector(b)?;
        let lanes = self.temporary()?;
        self.compare_integers(op, dtype, lanes, first, second)?;
        let dest = self.result(value)?;
        self.narrow_lane_mask(lane, dest, lanes)
    }

    /// Compares integers into lanes as wide as the operands; AVX2 only.
    fn compare_integers(
        &mut self,
        op: CompareOp,
        dtype: DType,
        dest: u8,
        a: u8,
        b: u8,
    ) -> Result<(), Unsupported> {
        let wide = lane(dtype)? == Lane::I64;
        let width = self.width(dtype);
        let (equal, greater) = if wide { (CMPEQQ, CMPGTQ) } else { (CMPEQD, CMPGTD) };
        let (mut a, mut b) = (a, b);
        let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
        if ordered && matches!(dtype, DType::U32 | DType::U64) {
            let flipped = [self.temporary()?, self.temporary()?];
            let sign = self.sign_bit(if wide { Lane::I64 } else { Lane::I32 });
            self.assembler.op3(XORPS, width, flipped[0], a, sign);
            self.assembler.op3(XORPS, width, flipped[1], b, sign);
            [a, b] = flipped;
        }
        let (instruction, a, b, invert) = match op {
            CompareOp::Eq => (equal, a, b, false),
            CompareOp::Ne => (equal, a, b, true),
            CompareOp::Gt => (greater, a, b, false),
            CompareOp::Le => (greater, a, b, true),
            CompareOp::Lt => (greater, b, a, false),
            CompareOp::Ge => (greater, b, a, true),
        };
        self.assembler.op3(instruction, width, dest, a, Operand::Vector(b));
        if invert {
            let ones = self.constant32(u32::MAX);
            self.assembler.op3(XORPS, width, dest, dest, ones);
        }
        Ok(())
    }

    /// Compares floats into a `bool` result.
    pub(super) fn compare_floats(
        &mut self,
        value: Value,
        lane: Lane,
        a: u8,
        b: Operand,
        predicate: u32,
    ) -> Result<(), Unsupported> {
        let (op, width) = match lane {
            Lane::F64 => (CMPPD, self.width64()),
            _ => (CMPPS, self.width32()),
        };
        if self.is_avx512() {
            let dest = self.result_mask(value)?;
            self.assembler.compare(op, width, dest, a, b, predicate);
            return Ok(());
        }
        let dest = self.result(value)?;
        self.assembler.op3_immediate(op, width, dest, a, b, predicate);
        self.narrow_lane_mask(lane, dest, dest)
    }

    /// Narrows a lane mask from the compared width to 32-bit lanes; AVX2 only.
    pub(super) fn narrow_lane_mask(
        &mut self,
        lane: Lane,
        dest: u8,
        lanes: u8,
    ) -> Result<(), Unsupported> {
        if !matches!(lane, Lane::F64 | Lane::I64) {
            self.copy(self.width32(), dest, lanes);
            return Ok(());
        }
        let upper = self.temporary()?;
        self.assembler.extract_128(self.width64(), upper, lanes, 1);
        self.assembler.op3_immediate(SHUFPS, Width::Xmm, dest, lanes, Operand::Vector(upper), 0x88);
        Ok(())
    }

    fn compare_bools(
        &mut self,
        value: Value,
        op: CompareOp,
        a: Value,
        b: Value,
    ) -> Result<(), Unsupported> {
        // Whether to invert the first operand, whether to invert the second, and the op that joins them.
        let (first, second, join) = match op {
            CompareOp::Ne => (false, false, BinaryOp::Xor),
            CompareOp::Eq => (true, false, BinaryOp::Xor),
            CompareOp::Lt => (true, false, BinaryOp::And),
            CompareOp::Le => (true, false, BinaryOp::Or),
            CompareOp::Gt => (false, true, BinaryOp::And),
            CompareOp::Ge => (false, true, BinaryOp::Or),
        };
        if self.is_avx512() {
            let (mut x, mut y) = (self.mask(a)?, self.mask(b)?);
            let dest = self.result_mask(value)?;
            let [scratch, _] = SCRATCH_MASKS;
            let k = |mask: u8| Register::K0 + mask as u32;
            if first {
                self.assembler.emit_rr(Code::VEX_Knotw_kr_kr, k(scratch), k(x));
                x = scratch;
            } else if second {
                self.assembler.emit_rr(Code::VEX_Knotw_kr_kr, k(scratch), k(y));
                y = scratch;
            }
            let code = match join {
                BinaryOp::And => Code::VEX_Kandw_kr_kr_kr,
                BinaryOp::Or => Code::VEX_Korw_kr_kr_kr,
                _ => Code::VEX_Kxorw_kr_kr_kr,
            };
            self.assembler.emit_rrr(code, k(dest), k(x), k(y));
            return Ok(());
        }
        let width = self.width32();
        let (mut x, mut y) = (self.vector(a)?, self.vector(b)?);
        let dest = self.result(value)?;
        let inverted = self.temporary()?;
        let ones = self.constant32(u32::MAX);
        if first {
            self.assembler.op3(XORPS, width, inverted, x, ones);
            x = inverted;
        } else if second {
            self.assembler.op3(XORPS, width, inverted, y, ones);
            y = inverted;
        }
        self.binary_registers(join, DType::Bool, dest, x, Operand::Vector(y))
    }

    pub(super) fn select(
        &mut self,
        value: Value,
        mask: Value,
        a: Value,
        b: Value,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let width = self.width(dtype);
        let wide = self.width(dtype) != self.width32() && dtype.size() == 8;
        if self.is_opmask_dtype(dtype) {
            let (mask, a, b) = (self.mask(mask)?, self.mask(a)?, self.mask(b)?);
            let dest = self.result_mask(value)?;
            let [yes, no] = SCRATCH_MASKS;
            let k = |mask: u8| Register::K0 + mask as u32;
            self.assembler.emit_rrr(Code::VEX_Kandw_kr_kr_kr, k(yes), k(mask), k(a));
            self.assembler.emit_rrr(Code::VEX_Kandnw_kr_kr_kr, k(no), k(mask), k(b));
            self.assembler.emit_rrr(Code::VEX_Korw_kr_kr_kr, k(dest), k(yes), k(no));
            return Ok(());
        }
        if self.is_avx512() {
            let lanes = self.mask(mask)?;
            let otherwise = self.vector(b)?;
            let then = self.operand(a)?;
            self.release_killed(&[a, b]);
            let dest = self.result(value)?;
            let op = if wide { BLENDMPD } else { BLENDMPS };
            self.assembler.op3_masked(op, width, dest, otherwise, then, Masking::Merge(lanes));
            return Ok(());
        }
        let lanes = self.widen_lane_mask(mask, dtype)?;
        let otherwise = self.vector(b)?;
        let then = self.operand(a)?;
        self.release_killed(&[a, b]);
        let dest = self.result(value)?;
        let op = if wide { BLENDVPD } else { BLENDVPS };
        self.assembler.op4(op, width, dest, otherwise, then, lanes);
        Ok(())
    }
}
