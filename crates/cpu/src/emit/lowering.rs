//! Lowering of a pass's body: instruction selection for every kind of kernel instruction.

use super::Unsupported;
use super::argument_layout::lane_size;
use super::assembler::{Masking, Operand};
use super::emitter::{ActiveLanes, Emitter};
use super::opcodes::*;
use super::reduce::Accumulators;
use inflight_ir::kernel::{Kind, Pass, Storage, Value};

impl Emitter<'_> {
    /// Lowers the body of a pass for the current active lanes and offset.
    pub(super) fn lower_body(
        &mut self,
        pass: &Pass,
        accumulators: &Accumulators,
        unroll_index: usize,
    ) -> Result<(), Unsupported> {
        self.begin_body();
        for (position, &value) in pass.body.iter().enumerate() {
            self.position = position as u32;
            if !self.live[value as usize] {
                continue;
            }
            self.lower_instruction(value, accumulators, unroll_index)?;
            if !self.kernel.body[value as usize].kind.is_reduction() {
                self.store_live_out(value)?;
            }
            self.end_instruction(value);
        }
        Ok(())
    }

    pub(super) fn lower_instruction(
        &mut self,
        value: Value,
        accumulators: &Accumulators,
        unroll_index: usize,
    ) -> Result<(), Unsupported> {
        let instruction = self.kernel.body[value as usize];
        if instruction.dtype.is_complex() {
            return Err(Unsupported("complex dtypes".to_string()));
        }
        match instruction.kind {
            // Users take these from memory as operands.
            Kind::Constant(_) | Kind::Scalar(_) => Ok(()),
            Kind::Position(access) => self.position_value(value, access),
            Kind::Load { access, index, mask } => match self.lane_index(access, index) {
                Some(index) => self.indexed_load(value, access, index, mask),
                None => self.load(value, access, mask),
            },
            Kind::Store { access, value, index, mask, combine } => {
                match (self.lane_index(access, index), combine) {
                    (index, Some(op)) => self.combining_store(access, value, index, mask, op),
                    (Some(index), None) => self.indexed_store(access, value, index, mask),
                    (None, None) => self.store(access, value, mask),
                }
            }
            Kind::Unary(op, a) => self.unary(value, op, a),
            Kind::Binary(op, a, b) => self.binary(value, op, a, b),
            Kind::Compare(op, a, b) => self.compare(value, op, a, b),
            Kind::Select(mask, a, b) => self.select(value, mask, a, b),
            Kind::Fma(a, b, c) => self.fma(value, a, b, c),
            Kind::Cast(a) => self.cast(value, a),
            Kind::Bitcast(a) => self.bitcast(value, a),
            Kind::Reduce(op, a) => self.accumulate(value, op, a, accumulators, unroll_index),
            Kind::ArgReduce(..) => Err(Unsupported("an arg-reduction".to_string())),
            Kind::Scan(..) => Err(Unsupported("a scan".to_string())),
        }
    }

    /// Stores a value that later passes use to its slot or scratch array.
    fn store_live_out(&mut self, value: Value) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let (array, memory) = match self.schedule.storage[value as usize] {
            Storage::None => return Ok(()),
            // Available in every pass without storage.
            _ if matches!(
                self.kernel.body[value as usize].kind,
                Kind::Constant(_) | Kind::Scalar(_)
            ) =>
            {
                return Ok(());
            }
            Storage::Slot(slot) => {
                let at = self.layout.slot(slot);
                (None, Some(super::assembler::Memory::at(super::emitter::ARGUMENTS, at)))
            }
            Storage::Column(column) => (Some(column), None),
            Storage::Tile(tile) => (Some(self.schedule.columns.len() + tile), None),
        };
        let register = self.as_vector(value)?;
        match (array, memory) {
            (Some(array), _) => self.store_array(array, lane_size(dtype), register),
            (None, Some(memory)) => {
                let width = self.width(dtype);
                self.assembler.store(STOREUPS, width, memory, register, Masking::None);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Stores this body's elements of a scratch array. Arrays are padded to a full vector at the end.
    pub(super) fn store_array(&mut self, array: usize, size: usize, register: u8) {
        let memory = self.array_element(array, size);
        if self.active_lanes == ActiveLanes::Scalar {
            self.assembler.extract_element(size, memory, register, 0);
        } else {
            let width = if size == 8 { self.width64() } else { self.width32() };
            self.assembler.store(STOREUPS, width, memory, register, Masking::None);
        }
    }

    /// Register move.
    pub(super) fn copy(&mut self, width: super::assembler::Width, dest: u8, source: u8) {
        if dest != source {
            self.assembler.op2(MOVAPS, width, dest, Operand::Vector(source));
        }
    }
}
