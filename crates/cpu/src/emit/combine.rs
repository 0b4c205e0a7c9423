//! Stores that combine a value with what is there.

use super::Unsupported;
use super::access::BITS;
use super::assembler::{Condition, Masking, Memory, Operand};
use super::emitter::{ARGUMENTS, Emitter, Lanes, TAIL};
use super::opcodes::*;
use iced_x86::Code;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::kernel::{AccessId, Stride, Value};

/// Registers that combining may need beside those of its operands.
const SPARE: usize = 4;

impl Emitter<'_> {
    pub(super) fn combining_store(
        &mut self,
        access: AccessId,
        value: Value,
        index: Option<Value>,
        mask: Option<Value>,
        op: CombineOp,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let size = dtype.size();
        if size < 4 {
            return Err(Unsupported(format!("stores that combine {dtype}")));
        }
        let stride = self.kernel.accesses[access as usize].vector;
        let whole = matches!(self.lanes, Lanes::Full | Lanes::Masked);
        let width = self.width(dtype);
        let operand = self.vector(value)?;
        if stride == Stride::One && index.is_none() && whole {
            // Neighbours: no two lanes meet.
            let combined = self.temporary()?;
            if !self.is_avx512()
                && let Some(mask) = mask
            {
                let (load, store) =
                    if size == 8 { (MASKLOADPD, MASKSTOREPD) } else { (MASKLOADPS, MASKSTOREPS) };
                let lanes = self.wide_lanes(mask, dtype)?;
                let address = self.address(access, size);
                self.assembler.op3(load, width, combined, lanes, Operand::Memory(address));
                self.combine(op, dtype, combined, combined, operand)?;
                let address = self.address(access, size);
                self.assembler.store_lanes(store, width, address, lanes, combined);
                return Ok(());
            }
            let lanes = match mask {
                Some(mask) => Some(self.masked_lanes(mask)?),
                None => (self.lanes == Lanes::Masked).then_some(TAIL),
            };
            let (zero, merge) = match lanes {
                Some(lanes) => (Masking::Zero(lanes), Masking::Merge(lanes)),
                None => (Masking::None, Masking::None),
            };
            let (load, store) = if size == 8 { (MOVUPD, STOREUPD) } else { (MOVUPS, STOREUPS) };
            let address = self.address(access, size);
            self.assembler.op2_masked(load, width, combined, Operand::Memory(address), zero);
            // Opmasks that combining uses must not be the one that is needed again.
            self.combine(op, dtype, combined, combined, operand)?;
            if let Some(mask) = mask {
                self.masked_lanes(mask)?;
            }
            let address = self.address(access, size);
            self.assembler.store(store, width, address, combined, merge);
            return Ok(());
        }
        // One lane after another: they may meet in one place. Registers are taken before the branches.
        if let Some(index) = index {
            self.operand(index)?;
        }
        if let Some(mask) = mask {
            self.mask_bits(mask)?;
        }
        let place = Memory::at(ARGUMENTS, self.layout.combined());
        self.assembler.store(STOREUPS, width, place, operand, Masking::None);
        let [combined, lane] = [self.temporary()?, self.temporary()?];
        for _ in 0..SPARE {
            self.temporary()?;
        }
        match self.lanes {
            Lanes::Full => {
                let walk = self.begin_lanes(access, index, size)?;
                for position in 0..self.layout.lanes {
                    let memory = self.lane_address(walk, position);
                    let skip = self.assembler.label();
                    if mask.is_some() {
                        self.assembler.immediate(Code::Test_rm32_imm32, BITS, 1 << position);
                        self.assembler.branch(Condition::Equal, skip);
                    }
                    let at = self.layout.combined() + (position * size) as i32;
                    self.load_element(size, lane, Memory::at(ARGUMENTS, at));
                    self.load_element(size, combined, memory);
                    self.vectors.free_temporaries(&[combined, lane]);
                    self.combine(op, dtype, combined, combined, lane)?;
                    self.assembler.extract_element(size, memory, combined, 0);
                    self.assembler.place(skip);
                }
                Ok(())
            }
            Lanes::One | Lanes::Program => {
                let skip = self.assembler.label();
                if mask.is_some() {
                    self.assembler.immediate(Code::Test_rm32_imm32, BITS, 1);
                    self.assembler.branch(Condition::Equal, skip);
                }
                let memory = self.lone_address(access, index, size)?;
                self.load_element(size, combined, memory);
                self.vectors.free_temporaries(&[combined, lane]);
                self.combine(op, dtype, combined, combined, operand)?;
                self.assembler.extract_element(size, memory, combined, 0);
                self.assembler.place(skip);
                Ok(())
            }
            Lanes::Masked => Err(Unsupported("a combination under the tail mask".to_string())),
        }
    }
}
