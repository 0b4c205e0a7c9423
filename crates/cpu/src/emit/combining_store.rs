//! Combining stores (scatter-add, scatter-min and so on): a read-modify-write of the destination.
//!
//! They are not atomic. Launches partition the work so that no two threads combine into the same element.

use super::Unsupported;
use super::assembler::{Condition, Masking, Memory, Operand};
use super::emitter::{ARGUMENTS, ActiveLanes, Emitter, TAIL};
use super::load_store::LANE_BITS;
use super::opcodes::*;
use iced_x86::Code;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::kernel::{AccessId, Stride, Value};

/// Registers reserved for the combine op besides its operands.
const SCRATCH_REGISTERS: usize = 4;

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
            return Err(Unsupported(format!("combining stores of {dtype}")));
        }
        let stride = self.kernel.accesses[access as usize].vector;
        let is_vector = matches!(self.active_lanes, ActiveLanes::Full | ActiveLanes::Masked);
        let width = self.width(dtype);
        let operand = self.vector(value)?;
        if stride == Stride::One && index.is_none() && is_vector {
            // Contiguous lanes have distinct addresses.
            let combined = self.temporary()?;
            if !self.is_avx512()
                && let Some(mask) = mask
            {
                let (load, store) =
                    if size == 8 { (MASKLOADPD, MASKSTOREPD) } else { (MASKLOADPS, MASKSTOREPS) };
                let lanes = self.widen_lane_mask(mask, dtype)?;
                let address = self.address(access, size);
                self.assembler.op3(load, width, combined, lanes, Operand::Memory(address));
                self.combine(op, dtype, combined, combined, operand)?;
                let address = self.address(access, size);
                self.assembler.store_lanes(store, width, address, lanes, combined);
                return Ok(());
            }
            let lanes = match mask {
                Some(mask) => Some(self.and_with_tail_mask(mask)?),
                None => (self.active_lanes == ActiveLanes::Masked).then_some(TAIL),
            };
            let (zero, merge) = match lanes {
                Some(lanes) => (Masking::Zero(lanes), Masking::Merge(lanes)),
                None => (Masking::None, Masking::None),
            };
            let (load, store) = if size == 8 { (MOVUPD, STOREUPD) } else { (MOVUPS, STOREUPS) };
            let address = self.address(access, size);
            self.assembler.op2_masked(load, width, combined, Operand::Memory(address), zero);
            // The combine op may clobber the scratch opmasks, so the store mask is computed again.
            self.combine(op, dtype, combined, combined, operand)?;
            if let Some(mask) = mask {
                self.and_with_tail_mask(mask)?;
            }
            let address = self.address(access, size);
            self.assembler.store(store, width, address, combined, merge);
            return Ok(());
        }
        // Lanes may share an address: combine them one by one. Registers are allocated before the branches,
        // because an eviction must be stored on every path.
        if let Some(index) = index {
            self.operand(index)?;
        }
        if let Some(mask) = mask {
            self.mask_to_bits(mask)?;
        }
        let spilled_lanes = Memory::at(ARGUMENTS, self.layout.combine_lanes());
        self.assembler.store(STOREUPS, width, spilled_lanes, operand, Masking::None);
        let [combined, lane] = [self.temporary()?, self.temporary()?];
        for _ in 0..SCRATCH_REGISTERS {
            self.temporary()?;
        }
        match self.active_lanes {
            ActiveLanes::Full => {
                let addressing = self.begin_lane_addressing(access, index, size)?;
                for position in 0..self.layout.lanes {
                    let memory = self.lane_address(addressing, position);
                    let skip = self.assembler.label();
                    if mask.is_some() {
                        self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1 << position);
                        self.assembler.branch(Condition::Equal, skip);
                    }
                    let at = self.layout.combine_lanes() + (position * size) as i32;
                    self.load_element(size, lane, Memory::at(ARGUMENTS, at));
                    self.load_element(size, combined, memory);
                    self.vectors.free_temporaries_except(&[combined, lane]);
                    self.combine(op, dtype, combined, combined, lane)?;
                    self.assembler.extract_element(size, memory, combined, 0);
                    self.assembler.bind(skip);
                }
                Ok(())
            }
            ActiveLanes::Scalar | ActiveLanes::Uniform => {
                let skip = self.assembler.label();
                if mask.is_some() {
                    self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1);
                    self.assembler.branch(Condition::Equal, skip);
                }
                let memory = self.single_lane_address(access, index, size)?;
                self.load_element(size, combined, memory);
                self.vectors.free_temporaries_except(&[combined, lane]);
                self.combine(op, dtype, combined, combined, operand)?;
                self.assembler.extract_element(size, memory, combined, 0);
                self.assembler.bind(skip);
                Ok(())
            }
            ActiveLanes::Masked => {
                Err(Unsupported("a serialized combining store under the tail mask".to_string()))
            }
        }
    }
}
