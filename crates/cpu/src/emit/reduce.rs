//! Reductions: accumulator registers, accumulation, and the horizontal reduction of lanes at the end.

use super::Unsupported;
use super::argument_layout::lane_size;
use super::assembler::{Masking, Memory, Operand, Width};
use super::emitter::{ARGUMENTS, ActiveLanes, Emitter, TAIL, splat};
use super::opcodes::*;
use inflight_ir::elementwise::{BinaryOp, CombineOp};
use inflight_ir::kernel::{Kind, Pass, Storage, Value};
use inflight_ir::{DType, Scalar};

/// Accumulator registers of a row reduction: one per reduction and unrolled copy of the body. A row-unrolled
/// column reduction has one per reduction.
#[derive(Default)]
pub(super) struct Accumulators {
    registers: Vec<(Value, Vec<u8>)>,
}

impl Accumulators {
    /// The register of a reduction in an unrolled copy of the body.
    pub(super) fn register(&self, reduction: Value, unroll_index: usize) -> Option<u8> {
        let mut all = self.registers.iter();
        all.find(|(value, _)| *value == reduction).map(|(_, registers)| registers[unroll_index])
    }
}

impl Emitter<'_> {
    /// The reductions of a pass whose results are used.
    pub(super) fn reductions(&self, pass: &Pass) -> Vec<(Value, CombineOp)> {
        let used = |value: &&Value| self.schedule.storage[**value as usize] != Storage::None;
        let op = |&value: &Value| match self.kernel.body[value as usize].kind {
            Kind::Reduce(op, _) => Some((value, op)),
            _ => None,
        };
        pass.body.iter().filter(used).filter_map(op).collect()
    }

    /// Reserves the accumulator registers of a pass.
    pub(super) fn allocate_accumulators(
        &mut self,
        reductions: &[(Value, CombineOp)],
        unroll_factor: usize,
    ) -> Result<Accumulators, Unsupported> {
        let mut accumulators = Accumulators::default();
        for &(value, _) in reductions {
            let registers = (0..unroll_factor).map(|_| self.reserve()).collect::<Result<_, _>>()?;
            accumulators.registers.push((value, registers));
        }
        Ok(accumulators)
    }

    /// Initializes accumulators to the identity of their op.
    pub(super) fn initialize_accumulators(
        &mut self,
        reductions: &[(Value, CombineOp)],
        accumulators: &Accumulators,
    ) {
        for (&(value, op), (_, registers)) in reductions.iter().zip(&accumulators.registers) {
            let dtype = self.dtype(value);
            let identity = self.constant(splat(Scalar::identity(op, dtype)));
            let width = self.width(dtype);
            for &register in registers {
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(identity));
            }
        }
    }

    /// Accumulates one vector of a reduction's operand.
    pub(super) fn accumulate(
        &mut self,
        value: Value,
        op: CombineOp,
        a: Value,
        accumulators: &Accumulators,
        unroll_index: usize,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        if self.schedule.storage[value as usize] == Storage::None {
            return Ok(());
        }
        if dtype.is_half() && matches!(op, CombineOp::Sum | CombineOp::Product) {
            return Err(Unsupported(format!("a {} of {dtype}", op.reduce_name())));
        }
        let operand = self.as_vector(a)?;
        if let Storage::Column(column) = self.schedule.storage[value as usize] {
            if let Some(register) = accumulators.register(value, 0).filter(|_| self.rows_unrolled) {
                return self.combine(op, dtype, register, register, operand);
            }
            let accumulator = self.temporary()?;
            let memory = self.array_element(column, lane_size(dtype));
            let width = self.width(dtype);
            self.assembler.op2(MOVUPS, width, accumulator, Operand::Memory(memory));
            self.combine(op, dtype, accumulator, accumulator, operand)?;
            self.store_array(column, lane_size(dtype), accumulator);
            return Ok(());
        }
        let accumulator = accumulators
            .register(value, unroll_index)
            .ok_or_else(|| Unsupported(format!("reduction {value} without an accumulator")))?;
        if self.active_lanes == ActiveLanes::Full {
            return self.combine(op, dtype, accumulator, accumulator, operand);
        }
        let combined = self.temporary()?;
        self.combine(op, dtype, combined, accumulator, operand)?;
        let width = self.width(dtype);
        let wide = dtype.size() == 8;
        let combined = Operand::Vector(combined);
        if self.is_avx512() {
            let copy = if wide { MOVAPD } else { MOVAPS };
            self.assembler.op2_masked(copy, width, accumulator, combined, Masking::Merge(TAIL));
        } else {
            let blend = if wide { BLENDPD } else { BLENDPS };
            self.assembler.op3_immediate(blend, width, accumulator, accumulator, combined, 1);
        }
        Ok(())
    }

    /// `dest = op(accumulator, operand)`; `dest` is not `operand`.
    pub(super) fn combine(
        &mut self,
        op: CombineOp,
        dtype: DType,
        dest: u8,
        accumulator: u8,
        operand: u8,
    ) -> Result<(), Unsupported> {
        let binary = op.binary();
        if matches!(binary, BinaryOp::Min | BinaryOp::Max) && dtype.is_float() {
            // Operand first: its NaN check then stays off the accumulator's dependency chain.
            self.binary_registers(binary, dtype, dest, operand, Operand::Vector(accumulator))
        } else {
            self.binary_registers(binary, dtype, dest, accumulator, Operand::Vector(operand))
        }
    }

    /// Horizontal reduction: combines the unrolled accumulators and then their lanes, and stores each result
    /// splat to its slot.
    pub(super) fn horizontal_reduce(
        &mut self,
        reductions: &[(Value, CombineOp)],
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        self.begin_body();
        for (&(value, op), (_, registers)) in reductions.iter().zip(&accumulators.registers) {
            let dtype = self.dtype(value);
            let width = self.width(dtype);
            let total = registers[0];
            let mut step = 1;
            while step < registers.len() {
                for pair in (0..registers.len()).step_by(2 * step) {
                    if pair + step < registers.len() {
                        let into = registers[pair];
                        self.combine_partial(op, dtype, into, registers[pair + step])?;
                    }
                }
                step *= 2;
            }
            if width == Width::Zmm {
                let part = self.temporary()?;
                self.assembler.extract_upper_256(part, total);
                self.combine_partial(op, dtype, total, part)?;
            }
            if width >= Width::Ymm {
                let part = self.temporary()?;
                self.assembler.extract_128(Width::Ymm, part, total, 1);
                self.combine_partial(op, dtype, total, part)?;
            }
            let swaps: &[u32] = if lane_size(dtype) == 8 { &[0x4e] } else { &[0x4e, 0xb1] };
            for &swap in swaps {
                let part = self.temporary()?;
                self.assembler.op2_immediate(SHUFD, Width::Xmm, part, total, swap);
                self.combine_partial(op, dtype, total, part)?;
            }
            let broadcast = if lane_size(dtype) == 8 { BROADCASTQ } else { BROADCASTD };
            let lowest = (Width::Xmm, Operand::Vector(total));
            self.assembler.convert(broadcast, width, (width, total), lowest, Masking::None);
            if let Storage::Slot(slot) = self.schedule.storage[value as usize] {
                let memory = Memory::at(ARGUMENTS, self.layout.slot(slot));
                self.assembler.store(STOREUPS, width, memory, total, Masking::None);
            }
        }
        Ok(())
    }

    /// Combines a partial result into an accumulator and frees the temporaries.
    fn combine_partial(
        &mut self,
        op: CombineOp,
        dtype: DType,
        into: u8,
        part: u8,
    ) -> Result<(), Unsupported> {
        self.combine(op, dtype, into, into, part)?;
        self.vectors.end_instruction();
        Ok(())
    }
}
