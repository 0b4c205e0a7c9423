//! The state of code being written, and how values get into registers.

use super::assembler::{Assembler, Masking, Memory, Operand, Width};
use super::indexed;
use super::layout::{self, Layout, lane_size};
use super::opcodes::*;
use super::registers::{File, Holder};
use super::{Isa, Unsupported};
use iced_x86::{Code, Register};
use inflight_ir::kernel::{Kernel, Kind, Pass, Schedule, Storage, Value};
use inflight_ir::{DType, Scalar};

/// The argument block.
pub(super) const ARGUMENTS: Register = Register::RDI;
/// The current point of the vector axis.
pub(super) const INDEX: Register = Register::RSI;
/// The constants.
pub(super) const POOL: Register = Register::R8;
/// Registers for the pointers of a pass; what finds no room stays in the argument block.
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

/// The opmask of the lanes inside the vector axis.
pub(super) const TAIL: u8 = 1;
/// Opmasks that one instruction may use as it likes.
pub(super) const SCRATCH_MASKS: [u8; 2] = [6, 7];
/// The first opmask that values may be in; the scratch masks come after them.
const FIRST_MASK: usize = 2;
const MASK_COUNT: usize = 6;

/// Which lanes of a body's vectors are points of the vector axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lanes {
    /// All of them.
    Full,
    /// Those in the tail mask; AVX-512 only.
    Masked,
    /// The first alone.
    One,
    /// All hold the same: the body runs once for a program.
    Program,
}

/// Where a value that is not computed in the body is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    /// A vector in the argument block or among the constants.
    Vector(Memory),
    /// The current row of a scratch array.
    Array(usize),
}

/// Code being written.
pub(super) struct Emitter<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) schedule: &'a Schedule,
    pub(super) layout: &'a Layout,
    pub(super) assembler: Assembler,
    pub(super) vectors: File,
    pub(super) masks: File,
    /// The constants, in every lane.
    pub(super) pool: Vec<[u8; 64]>,
    /// The most registers any body spilled.
    pub(super) spills: usize,
    spilled: Vec<Option<usize>>,
    spill_count: usize,
    /// For each value, the places in the pass's body that use it.
    pub(super) uses: Vec<Vec<u32>>,
    /// Whether each value is computed by the pass.
    computed: Vec<bool>,
    /// The place in the pass's body of the instruction being written.
    pub(super) position: u32,
    pub(super) lanes: Lanes,
    /// Elements between the index register and this copy of the body.
    pub(super) offset: usize,
    /// The register of each access, and of each array, in the current pass.
    pub(super) access_pointers: Vec<Option<Register>>,
    pub(super) array_pointers: Vec<Option<Register>>,
    /// For each access that walks the reduce axes, its registers for the second row and on, in a pass
    /// that takes several at once.
    pub(super) row_pointers: Vec<(usize, Vec<Register>)>,
    /// Whether the loop being written takes several rows at once.
    pub(super) many_rows: bool,
    /// For each value, whether it is the same along the vector axis.
    pub(super) uniform: Vec<bool>,
    /// The index of each access.
    pub(super) indices: Vec<Option<Value>>,
    /// For each access, whether the current pass takes its index into its pointer, row by row.
    pub(super) pointed: Vec<bool>,
    /// For each value, whether the loops of the current pass compute it.
    pub(super) live: Vec<bool>,
    /// Whether whole vectors of results go around the caches: their addresses are multiples of their size.
    pub(super) streaming: bool,
}

/// What a value looks like in memory of the argument block: the lane's bits in every lane.
pub(super) fn image(scalar: Scalar) -> [u8; 64] {
    let word = match scalar.dtype() {
        DType::Bool => scalar.bits()[0].wrapping_neg(),
        DType::F16 | DType::BF16 => scalar.cast(DType::F32).bits()[0],
        DType::I8 | DType::I16 => scalar.cast(DType::I32).bits()[0],
        _ => scalar.bits()[0],
    };
    if lane_size(scalar.dtype()) == 8 { image64(word) } else { image32(word as u32) }
}

fn image32(word: u32) -> [u8; 64] {
    image64(word as u64 | (word as u64) << 32)
}

fn image64(word: u64) -> [u8; 64] {
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
        layout: &'a Layout,
        isa: Isa,
    ) -> Result<Emitter<'a>, Unsupported> {
        let values = kernel.body.len();
        let registers = if isa == Isa::Avx512 { 32 } else { 16 };
        Ok(Emitter {
            kernel,
            schedule,
            layout,
            assembler: Assembler::new(isa),
            vectors: File::new(0, registers, values),
            masks: File::new(FIRST_MASK, MASK_COUNT, values),
            pool: Vec::new(),
            spills: 0,
            spilled: vec![None; values],
            spill_count: 0,
            uses: vec![Vec::new(); values],
            computed: vec![false; values],
            position: 0,
            lanes: Lanes::Full,
            offset: 0,
            access_pointers: vec![None; kernel.accesses.len()],
            array_pointers: vec![None; schedule.columns.len() + schedule.tiles.len()],
            row_pointers: Vec::new(),
            many_rows: false,
            uniform: indexed::uniform(kernel),
            indices: indexed::indices(kernel)?,
            pointed: vec![false; kernel.accesses.len()],
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

    /// The width of a register of 32-bit lanes.
    pub(super) fn width32(&self) -> Width {
        self.width_of(self.layout.lanes * 4)
    }

    /// The width of a register of 64-bit lanes.
    pub(super) fn width64(&self) -> Width {
        self.width_of(self.layout.lanes * 8)
    }

    /// The width of a register for so many bytes. There may be too many: of 64-bit lanes that are all the same, one
    /// register holds as many as it has room for.
    pub(super) fn width_of(&self, bytes: usize) -> Width {
        let widest = if self.is_avx512() { Width::Z } else { Width::Y };
        Width::of_bytes(bytes).min(widest)
    }

    /// The width of a register that holds values of this dtype.
    pub(super) fn width(&self, dtype: DType) -> Width {
        if lane_size(dtype) == 8 { self.width64() } else { self.width32() }
    }

    /// Whether values of this dtype are in opmasks.
    pub(super) fn in_mask(&self, dtype: DType) -> bool {
        dtype == DType::Bool && self.is_avx512()
    }

    /// Starts a pass: which values it computes, and where each is used.
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

    /// Starts a copy of the pass's body.
    pub(super) fn begin_body(&mut self) {
        self.vectors.begin_body();
        self.masks.begin_body();
        self.spilled.fill(None);
        self.spill_count = 0;
    }

    /// Ends an instruction: what it used for the last time is gone.
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

    /// Frees the registers of operands that are used for the last time, so that the result may take
    /// their place: only for instructions that read them all before they write.
    pub(super) fn release_dying(&mut self, operands: &[Value]) {
        for &operand in operands {
            if !self.is_used_later(operand) {
                self.vectors.release(operand);
                self.masks.release(operand);
            }
        }
    }

    /// Where a value is that the body does not compute.
    pub(super) fn home(&mut self, value: Value) -> Option<Home> {
        match self.kernel.body[value as usize].kind {
            Kind::Constant(scalar) => {
                return Some(Home::Vector(self.constant(image(scalar))));
            }
            Kind::Scalar(index) => {
                let at = self.layout.scalar(index as usize);
                return Some(Home::Vector(Memory::at(ARGUMENTS, at)));
            }
            _ => {}
        }
        if self.computed[value as usize] && !self.kernel.body[value as usize].kind.is_reduction() {
            return None;
        }
        match self.schedule.storage[value as usize] {
            Storage::None => None,
            Storage::Slot(slot) => {
                Some(Home::Vector(Memory::at(ARGUMENTS, self.layout.slot(slot))))
            }
            Storage::Column(column) => Some(Home::Array(column)),
            Storage::Tile(tile) => Some(Home::Array(self.schedule.columns.len() + tile)),
        }
    }

    /// The place of a constant.
    pub(super) fn constant(&mut self, image: [u8; 64]) -> Memory {
        let index = self.pool.iter().position(|other| *other == image).unwrap_or_else(|| {
            self.pool.push(image);
            self.pool.len() - 1
        });
        Memory::at(POOL, 64 * index as i32)
    }

    /// The place of a constant in 32-bit lanes.
    pub(super) fn constant32(&mut self, word: u32) -> Operand {
        Operand::Memory(self.constant(image32(word)))
    }

    /// The place of a constant in 64-bit lanes.
    pub(super) fn constant64(&mut self, word: u64) -> Operand {
        Operand::Memory(self.constant(image64(word)))
    }

    fn take_vector(&mut self, holder: Holder) -> Result<u8, Unsupported> {
        let (uses, position) = (&self.uses, self.position);
        let next_use = |value: Value| {
            let uses = &uses[value as usize];
            uses.get(uses.partition_point(|&place| place <= position)).copied().unwrap_or(u32::MAX)
        };
        let allocation = self
            .vectors
            .take(holder, next_use)
            .ok_or_else(|| Unsupported("an instruction that needs every register".to_string()))?;
        if let Some(evicted) = allocation.evicted
            && self.spilled[evicted as usize].is_none()
            && self.home(evicted).is_none()
        {
            let place = self.spill(evicted);
            let width = self.width(self.dtype(evicted));
            self.assembler.store(STOREUPS, width, place, allocation.register, Masking::None);
        }
        Ok(allocation.register)
    }

    fn take_mask(&mut self, holder: Holder) -> Result<u8, Unsupported> {
        let (uses, position) = (&self.uses, self.position);
        let next_use = |value: Value| {
            let uses = &uses[value as usize];
            uses.get(uses.partition_point(|&place| place <= position)).copied().unwrap_or(u32::MAX)
        };
        let allocation = self
            .masks
            .take(holder, next_use)
            .ok_or_else(|| Unsupported("an instruction that needs every opmask".to_string()))?;
        if let Some(evicted) = allocation.evicted
            && self.spilled[evicted as usize].is_none()
            && self.home(evicted).is_none()
        {
            let place = self.spill(evicted);
            let source = Register::K0 + allocation.register as u32;
            self.assembler.store_fixed(Code::VEX_Kmovw_m16_kr, place, source);
        }
        Ok(allocation.register)
    }

    fn spill(&mut self, value: Value) -> Memory {
        let spill = self.spill_count;
        self.spill_count += 1;
        self.spills = self.spills.max(self.spill_count);
        self.spilled[value as usize] = Some(spill);
        Memory::at(ARGUMENTS, self.layout.spill(spill))
    }

    /// A register for the result of the instruction being written.
    pub(super) fn result(&mut self, value: Value) -> Result<u8, Unsupported> {
        self.take_vector(Holder::Value(value))
    }

    /// An opmask for the result of the instruction being written.
    pub(super) fn result_mask(&mut self, value: Value) -> Result<u8, Unsupported> {
        self.take_mask(Holder::Value(value))
    }

    /// A register until the instruction ends.
    pub(super) fn temporary(&mut self) -> Result<u8, Unsupported> {
        self.take_vector(Holder::Temporary)
    }

    /// A register for the whole pass.
    pub(super) fn reserve(&mut self) -> Result<u8, Unsupported> {
        self.take_vector(Holder::Reserved)
    }

    /// Loads a value that has a home into a register for the whole pass.
    pub(super) fn pin(&mut self, value: Value) -> Result<(), Unsupported> {
        if let Some(Home::Vector(memory)) = self.home(value) {
            let width = self.width(self.dtype(value));
            let register = self.take_vector(Holder::Pinned(value))?;
            self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
        }
        Ok(())
    }

    /// The vector register of a value that is not in an opmask.
    pub(super) fn vector(&mut self, value: Value) -> Result<u8, Unsupported> {
        match self.operand(value)? {
            Operand::Vector(register) => Ok(register),
            Operand::Memory(memory) => {
                let width = self.width(self.dtype(value));
                let register = self.take_vector(Holder::Value(value))?;
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
                Ok(register)
            }
        }
    }

    /// A value that is not in an opmask, wherever it is. An address is good until the next one is
    /// asked for.
    pub(super) fn operand(&mut self, value: Value) -> Result<Operand, Unsupported> {
        if let Some(register) = self.vectors.lock(value) {
            return Ok(Operand::Vector(register));
        }
        if let Some(spill) = self.spilled[value as usize] {
            return Ok(Operand::Memory(Memory::at(ARGUMENTS, self.layout.spill(spill))));
        }
        match self.home(value) {
            Some(Home::Vector(memory)) => Ok(Operand::Memory(memory)),
            Some(Home::Array(array)) => {
                let width = self.width(self.dtype(value));
                let memory = self.array_element(array, lane_size(self.dtype(value)));
                let register = self.take_vector(Holder::Value(value))?;
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
                Ok(Operand::Vector(register))
            }
            None => Err(Unsupported(format!("value {value}, which is nowhere"))),
        }
    }

    /// Whether using a value costs an instruction to get it into a register.
    pub(super) fn is_in_memory(&self, value: Value) -> bool {
        !self.vectors.holds(value)
    }

    /// The opmask of a `bool`; AVX-512 only.
    pub(super) fn mask(&mut self, value: Value) -> Result<u8, Unsupported> {
        if let Some(mask) = self.masks.lock(value) {
            return Ok(mask);
        }
        if let Some(spill) = self.spilled[value as usize] {
            let mask = self.take_mask(Holder::Value(value))?;
            let place = Memory::at(ARGUMENTS, self.layout.spill(spill));
            self.assembler.load_fixed(Code::VEX_Kmovw_kr_km16, Register::K0 + mask as u32, place);
            return Ok(mask);
        }
        let memory = match self.home(value) {
            Some(Home::Vector(memory)) => memory,
            Some(Home::Array(array)) => self.array_element(array, 4),
            None => return Err(Unsupported(format!("value {value}, which is nowhere"))),
        };
        let width = self.width32();
        let mask = self.take_mask(Holder::Value(value))?;
        let lanes = self.temporary()?;
        self.assembler.op2(MOVUPS, width, lanes, Operand::Memory(memory));
        self.assembler.gather_signs(width, mask, lanes);
        Ok(mask)
    }

    /// A value as lanes of a vector, also if it is in an opmask.
    pub(super) fn lanes_of(&mut self, value: Value) -> Result<u8, Unsupported> {
        if !self.in_mask(self.dtype(value)) {
            return self.vector(value);
        }
        let mask = self.mask(value)?;
        let lanes = self.temporary()?;
        self.assembler.spread(M2D, self.width32(), lanes, mask);
        Ok(lanes)
    }

    /// The address of this body's elements of a scratch array.
    pub(super) fn array_element(&mut self, array: usize, size: usize) -> Memory {
        let base = self.array_pointers[array].unwrap_or_else(|| {
            let at = self.layout.array(array) + layout::ARRAY_CURRENT;
            self.assembler.load_fixed(Code::Mov_r64_rm64, Register::RAX, Memory::at(ARGUMENTS, at));
            Register::RAX
        });
        Memory {
            base,
            index: Some((INDEX, size as u32)),
            displacement: (self.offset * size) as i32,
        }
    }
}
