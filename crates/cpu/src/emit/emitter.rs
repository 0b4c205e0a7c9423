//! Emitter state and operand access: places values in vector registers, opmasks, spill slots or the constant
//! pool, and emits the loads, spills and reloads that an instruction needs.

use super::argument_layout::{self, ArgumentLayout, lane_size};
use super::assembler::{Assembler, Masking, Memory, Operand, Width};
use super::gather_scatter;
use super::opcodes::*;
use super::register_allocator::{RegisterFile, RegisterState};
use super::{Isa, Unsupported};
use iced_x86::{Code, Register};
use inflight_ir::kernel::{Kernel, Kind, Pass, Schedule, Storage, Value};
use inflight_ir::{DType, Scalar};

/// Address of the argument block.
pub(super) const ARGUMENTS: Register = Register::RDI;
/// Induction variable: the current point of the vector axis.
pub(super) const INDEX: Register = Register::RSI;
/// Address of the constant pool.
pub(super) const CONSTANT_POOL: Register = Register::R8;
/// Pointer registers of a pass; further pointers stay in the argument block.
pub(super) const POINTERS: [Register; 8] = [
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
    Register::RBP,
];

/// Tail mask: the opmask of the lanes inside the vector axis.
pub(super) const TAIL: u8 = 1;
/// Opmasks that any instruction may clobber.
pub(super) const SCRATCH_MASKS: [u8; 2] = [6, 7];
/// First allocatable opmask; the scratch masks follow the allocatable ones.
const FIRST_MASK: usize = 2;
const MASK_COUNT: usize = 6;

/// Which lanes of the current body are active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ActiveLanes {
    /// All lanes.
    Full,
    /// Lanes in the tail mask; AVX-512 only.
    Masked,
    /// The first lane alone.
    Scalar,
    /// Every lane holds the same value: the body runs once per program.
    Uniform,
}

/// Memory from which a value can be reloaded without a spill.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReloadSource {
    /// A splat vector in the argument block or the constant pool.
    Vector(Memory),
    /// The current row of a scratch array.
    Array(usize),
}

/// State of code emission.
pub(super) struct Emitter<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) schedule: &'a Schedule,
    pub(super) layout: &'a ArgumentLayout,
    pub(super) assembler: Assembler,
    pub(super) vectors: RegisterFile,
    pub(super) masks: RegisterFile,
    /// Constant pool, each constant splat across all lanes.
    pub(super) constant_pool: Vec<[u8; 64]>,
    /// Maximum number of spill slots over all bodies.
    pub(super) spill_slots: usize,
    /// Spill slot of each value in the current body.
    value_spill_slots: Vec<Option<usize>>,
    /// Number of spill slots used by the current body.
    spill_count: usize,
    /// For each value, the positions of its uses in the pass's body.
    pub(super) uses: Vec<Vec<u32>>,
    /// Whether the current pass computes each value.
    computed: Vec<bool>,
    /// Position of the current instruction in the pass's body.
    pub(super) position: u32,
    pub(super) active_lanes: ActiveLanes,
    /// Elements between the index register and this unrolled copy of the body.
    pub(super) offset: usize,
    /// Pointer register of each access and of each array in the current pass.
    pub(super) access_pointers: Vec<Option<Register>>,
    pub(super) array_pointers: Vec<Option<Register>>,
    /// In a row-unrolled pass, the pointer registers of the second and later rows, for each access that varies
    /// along the reduce axes.
    pub(super) row_pointers: Vec<(usize, Vec<Register>)>,
    /// Whether the current loop is row-unrolled.
    pub(super) rows_unrolled: bool,
    /// For each value, whether it is uniform along the vector axis.
    pub(super) uniform: Vec<bool>,
    /// Index operand of each access.
    pub(super) indices: Vec<Option<Value>>,
    /// For each access, whether the current pass folds its index into its row pointer.
    pub(super) index_folded: Vec<bool>,
    /// For each value, whether the current pass's loops compute it.
    pub(super) live: Vec<bool>,
    /// Whether full vectors are written by non-temporal stores; their addresses are then aligned to the vector
    /// size.
    pub(super) streaming: bool,
}

/// A scalar in its lane representation, splat across all lanes.
pub(super) fn splat(scalar: Scalar) -> [u8; 64] {
    let word = match scalar.dtype() {
        DType::Bool => scalar.bits()[0].wrapping_neg(),
        DType::F16 | DType::BF16 => scalar.cast(DType::F32).bits()[0],
        DType::I8 | DType::I16 => scalar.cast(DType::I32).bits()[0],
        _ => scalar.bits()[0],
    };
    if lane_size(scalar.dtype()) == 8 { splat64(word) } else { splat32(word as u32) }
}

fn splat32(word: u32) -> [u8; 64] {
    splat64(word as u64 | (word as u64) << 32)
}

fn splat64(word: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        schedule: &'a Schedule,
        layout: &'a ArgumentLayout,
        isa: Isa,
    ) -> Result<Emitter<'a>, Unsupported> {
        let values = kernel.body.len();
        let registers = if isa == Isa::Avx512 { 32 } else { 16 };
        Ok(Emitter {
            kernel,
            schedule,
            layout,
            assembler: Assembler::new(isa),
            vectors: RegisterFile::new(0, registers, values),
            masks: RegisterFile::new(FIRST_MASK, MASK_COUNT, values),
            constant_pool: Vec::new(),
            spill_slots: 0,
            value_spill_slots: vec![None; values],
            spill_count: 0,
            uses: vec![Vec::new(); values],
            computed: vec![false; values],
            position: 0,
            active_lanes: ActiveLanes::Full,
            offset: 0,
            access_pointers: vec![None; kernel.accesses.len()],
            array_pointers: vec![None; schedule.columns.len() + schedule.tiles.len()],
            row_pointers: Vec::new(),
            rows_unrolled: false,
            uniform: gather_scatter::uniform(kernel),
            indices: gather_scatter::indices(kernel)?,
            index_folded: vec![false; kernel.accesses.len()],
            live: vec![false; values],
            streaming: false,
        })
    }

    pub(super) fn is_avx512(&self) -> bool {
        self.assembler.isa == Isa::Avx512
    }

    pub(super) fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value as usize].dtype
    }

    /// Width of a register of 32-bit lanes.
    pub(super) fn width32(&self) -> Width {
        self.width_of(self.layout.lanes * 4)
    }

    /// Width of a register of 64-bit lanes.
    pub(super) fn width64(&self) -> Width {
        self.width_of(self.layout.lanes * 8)
    }

    /// Width of a register for this many bytes, clamped to the widest register: a uniform 64-bit value needs only
    /// as many lanes as fit.
    pub(super) fn width_of(&self, bytes: usize) -> Width {
        let widest = if self.is_avx512() { Width::Zmm } else { Width::Ymm };
        Width::of_bytes(bytes).min(widest)
    }

    /// Width of a register that holds values of this dtype.
    pub(super) fn width(&self, dtype: DType) -> Width {
        if lane_size(dtype) == 8 { self.width64() } else { self.width32() }
    }

    /// Whether values of this dtype live in opmasks.
    pub(super) fn is_opmask_dtype(&self, dtype: DType) -> bool {
        dtype == DType::Bool && self.is_avx512()
    }

    /// Starts a pass: records the values it computes and the positions of their uses.
    pub(super) fn begin_pass(&mut self, pass: &Pass) {
        self.computed.fill(false);
        self.uses.iter_mut().for_each(Vec::clear);
        for (position, &value) in pass.body.iter().enumerate() {
            self.computed[value as usize] = true;
            for operand in self.kernel.body[value as usize].kind.operands() {
                self.uses[operand as usize].push(position as u32);
            }
        }
        self.vectors.end_pass(0);
        self.masks.end_pass(FIRST_MASK);
    }

    /// Starts an unrolled copy of the pass's body with empty registers.
    pub(super) fn begin_body(&mut self) {
        self.vectors.begin_body();
        self.masks.begin_body();
        self.value_spill_slots.fill(None);
        self.spill_count = 0;
    }

    /// Ends an instruction and frees the registers of values with no further use.
    pub(super) fn end_instruction(&mut self, value: Value) {
        self.vectors.end_instruction();
        self.masks.end_instruction();
        let operands = self.kernel.body[value as usize].kind.operands();
        for value in operands.into_iter().chain([value]) {
            if !self.is_used_later(value) {
                self.vectors.release(value);
                self.masks.release(value);
            }
        }
    }

    pub(super) fn is_used_later(&self, value: Value) -> bool {
        self.uses[value as usize].last().is_some_and(|&last| last > self.position)
    }

    /// Frees the registers of operands killed by this instruction, so that the result may reuse them. Only for
    /// instructions that read all their operands before writing the result.
    pub(super) fn release_killed(&mut self, operands: &[Value]) {
        for &operand in operands {
            if !self.is_used_later(operand) {
                self.vectors.release(operand);
                self.masks.release(operand);
            }
        }
    }

    /// Where a value that the body does not compute can be reloaded from.
    pub(super) fn reload_source(&mut self, value: Value) -> Option<ReloadSource> {
        match self.kernel.body[value as usize].kind {
            Kind::Constant(scalar) => {
                return Some(ReloadSource::Vector(self.constant(splat(scalar))));
            }
            Kind::Scalar(index) => {
                let at = self.layout.scalar(index as usize);
                return Some(ReloadSource::Vector(Memory::at(ARGUMENTS, at)));
            }
            _ => {}
        }
        if self.computed[value as usize] && !self.kernel.body[value as usize].kind.is_reduction() {
            return None;
        }
        match self.schedule.storage[value as usize] {
            Storage::None => None,
            Storage::Slot(slot) => {
                Some(ReloadSource::Vector(Memory::at(ARGUMENTS, self.layout.slot(slot))))
            }
            Storage::Column(column) => Some(ReloadSource::Array(column)),
            Storage::Tile(tile) => Some(ReloadSource::Array(self.schedule.columns.len() + tile)),
        }
    }

    /// Returns the constant pool entry of a splat vector, adding it if needed.
    pub(super) fn constant(&mut self, splat: [u8; 64]) -> Memory {
        let index =
            self.constant_pool.iter().position(|other| *other == splat).unwrap_or_else(|| {
                self.constant_pool.push(splat);
                self.constant_pool.len() - 1
            });
        Memory::at(CONSTANT_POOL, 64 * index as i32)
    }

    /// Constant pool operand with 32-bit lanes.
    pub(super) fn constant32(&mut self, word: u32) -> Operand {
        Operand::Memory(self.constant(splat32(word)))
    }

    /// Constant pool operand with 64-bit lanes.
    pub(super) fn constant64(&mut self, word: u64) -> Operand {
        Operand::Memory(self.constant(splat64(word)))
    }

    fn allocate_vector(&mut self, state: RegisterState) -> Result<u8, Unsupported> {
        let (uses, position) = (&self.uses, self.position);
        let next_use = |value: Value| {
            let uses = &uses[value as usize];
            uses.get(uses.partition_point(|&location| location <= position))
                .copied()
                .unwrap_or(u32::MAX)
        };
        let allocation = self.vectors.allocate(state, next_use).ok_or_else(|| {
            Unsupported("an instruction with too many live vector registers".to_string())
        })?;
        if let Some(evicted) = allocation.evicted
            && self.value_spill_slots[evicted as usize].is_none()
            && self.reload_source(evicted).is_none()
        {
            let location = self.assign_spill_slot(evicted);
            let width = self.width(self.dtype(evicted));
            self.assembler.store(STOREUPS, width, location, allocation.register, Masking::None);
        }
        Ok(allocation.register)
    }

    fn allocate_mask(&mut self, state: RegisterState) -> Result<u8, Unsupported> {
        let (uses, position) = (&self.uses, self.position);
        let next_use = |value: Value| {
            let uses = &uses[value as usize];
            uses.get(uses.partition_point(|&location| location <= position))
                .copied()
                .unwrap_or(u32::MAX)
        };
        let allocation = self
            .masks
            .allocate(state, next_use)
            .ok_or_else(|| Unsupported("an instruction with too many live opmasks".to_string()))?;
        if let Some(evicted) = allocation.evicted
            && self.value_spill_slots[evicted as usize].is_none()
            && self.reload_source(evicted).is_none()
        {
            let location = self.assign_spill_slot(evicted);
            let source = Register::K0 + allocation.register as u32;
            self.assembler.emit_mr(Code::VEX_Kmovw_m16_kr, location, source);
        }
        Ok(allocation.register)
    }

    fn assign_spill_slot(&mut self, value: Value) -> Memory {
        let spill = self.spill_count;
        self.spill_count += 1;
        self.spill_slots = self.spill_slots.max(self.spill_count);
        self.value_spill_slots[value as usize] = Some(spill);
        Memory::at(ARGUMENTS, self.layout.spill(spill))
    }

    /// Allocates the destination register of the current instruction.
    pub(super) fn result(&mut self, value: Value) -> Result<u8, Unsupported> {
        self.allocate_vector(RegisterState::Value(value))
    }

    /// Allocates the destination opmask of the current instruction.
    pub(super) fn result_mask(&mut self, value: Value) -> Result<u8, Unsupported> {
        self.allocate_mask(RegisterState::Value(value))
    }

    /// Allocates a register until the instruction ends.
    pub(super) fn temporary(&mut self) -> Result<u8, Unsupported> {
        self.allocate_vector(RegisterState::Temporary)
    }

    /// Reserves a register for the whole pass.
    pub(super) fn reserve(&mut self) -> Result<u8, Unsupported> {
        self.allocate_vector(RegisterState::Reserved)
    }

    /// Loads a loop-invariant value into a register for the whole pass.
    pub(super) fn pin(&mut self, value: Value) -> Result<(), Unsupported> {
        if let Some(ReloadSource::Vector(memory)) = self.reload_source(value) {
            let width = self.width(self.dtype(value));
            let register = self.allocate_vector(RegisterState::Pinned(value))?;
            self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
        }
        Ok(())
    }

    /// The vector register of a value that is not in an opmask, loaded if needed.
    pub(super) fn vector(&mut self, value: Value) -> Result<u8, Unsupported> {
        match self.operand(value)? {
            Operand::Vector(register) => Ok(register),
            Operand::Memory(memory) => {
                let width = self.width(self.dtype(value));
                let register = self.allocate_vector(RegisterState::Value(value))?;
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
                Ok(register)
            }
        }
    }

    /// The register or memory operand of a value that is not in an opmask. A memory operand is valid until the
    /// next one is requested.
    pub(super) fn operand(&mut self, value: Value) -> Result<Operand, Unsupported> {
        if let Some(register) = self.vectors.lock(value) {
            return Ok(Operand::Vector(register));
        }
        if let Some(spill) = self.value_spill_slots[value as usize] {
            return Ok(Operand::Memory(Memory::at(ARGUMENTS, self.layout.spill(spill))));
        }
        match self.reload_source(value) {
            Some(ReloadSource::Vector(memory)) => Ok(Operand::Memory(memory)),
            Some(ReloadSource::Array(array)) => {
                let width = self.width(self.dtype(value));
                let memory = self.array_element(array, lane_size(self.dtype(value)));
                let register = self.allocate_vector(RegisterState::Value(value))?;
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
                Ok(Operand::Vector(register))
            }
            None => {
                Err(Unsupported(format!("value {value} without a register or memory location")))
            }
        }
    }

    /// Whether using a value in a register would cost a load.
    pub(super) fn is_in_memory(&self, value: Value) -> bool {
        !self.vectors.contains(value)
    }

    /// The opmask of a `bool`; AVX-512 only.
    pub(super) fn mask(&mut self, value: Value) -> Result<u8, Unsupported> {
        if let Some(mask) = self.masks.lock(value) {
            return Ok(mask);
        }
        if let Some(spill) = self.value_spill_slots[value as usize] {
            let mask = self.allocate_mask(RegisterState::Value(value))?;
            let location = Memory::at(ARGUMENTS, self.layout.spill(spill));
            self.assembler.emit_rm(Code::VEX_Kmovw_kr_km16, Register::K0 + mask as u32, location);
            return Ok(mask);
        }
        let memory = match self.reload_source(value) {
            Some(ReloadSource::Vector(memory)) => memory,
            Some(ReloadSource::Array(array)) => self.array_element(array, 4),
            None => {
                return Err(Unsupported(format!(
                    "value {value} without a register or memory location"
                )));
            }
        };
        let width = self.width32();
        let mask = self.allocate_mask(RegisterState::Value(value))?;
        let lanes = self.temporary()?;
        self.assembler.op2(MOVUPS, width, lanes, Operand::Memory(memory));
        self.assembler.mask_from_sign_bits(width, mask, lanes);
        Ok(mask)
    }

    /// A value in a vector register; opmasks are expanded to lane masks.
    pub(super) fn as_vector(&mut self, value: Value) -> Result<u8, Unsupported> {
        if !self.is_opmask_dtype(self.dtype(value)) {
            return self.vector(value);
        }
        let mask = self.mask(value)?;
        let lanes = self.temporary()?;
        self.assembler.expand_mask(M2D, self.width32(), lanes, mask);
        Ok(lanes)
    }

    /// Address of the current body's elements of a scratch array.
    pub(super) fn array_element(&mut self, array: usize, size: usize) -> Memory {
        let base = self.array_pointers[array].unwrap_or_else(|| {
            let at = self.layout.array(array) + argument_layout::ARRAY_ROW_POINTER;
            self.assembler.emit_rm(Code::Mov_r64_rm64, Register::RAX, Memory::at(ARGUMENTS, at));
            Register::RAX
        });
        Memory {
            base,
            index: Some((INDEX, size as u32)),
            displacement: (self.offset * size) as i32,
        }
    }
}
