//! Accesses with an index.
//!
//! An index that is the same along the vector axis moves the pointer of its access, once for each row: what is
//! there is then read and written as if there were no index, at full width. Any other index gives each lane an
//! address of its own.

use super::Unsupported;
use super::access::{ADDRESS, BITS, STEP, TRIPLE, Walk};
use super::assembler::{Condition, Masking, Memory, Operand, Width};
use super::emitter::{ARGUMENTS, Emitter, Lanes};
use super::layout::{COUNT, CURRENT, GRID_STEP, INDEX_STEP, INNER, POINTED, ROW, lane_size};
use super::opcodes::*;
use super::pass::Plan;
use super::reduce::Accumulators;
use iced_x86::{Code, Register};
use inflight_ir::DType;
use inflight_ir::elementwise::BinaryOp;
use inflight_ir::kernel::{AccessId, Kernel, Kind, Level, Pass, Storage, Stride, Value};

/// How many programs ahead of its use a row that an index leads to is fetched: 1, 2, 4 or 8.
const PROGRAMS_AHEAD: i32 = 4;

/// For each value, whether it is the same at all points of the vector axis of a row.
pub(super) fn uniform(kernel: &Kernel) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::with_capacity(kernel.body.len());
    for instruction in &kernel.body {
        let still = |access: AccessId| kernel.accesses[access as usize].vector == Stride::Zero;
        let operands = instruction.kind.operands();
        let of_operands = operands.iter().all(|&operand| uniform[operand as usize]);
        uniform.push(match instruction.kind {
            Kind::Position(access) | Kind::Load { access, .. } => still(access) && of_operands,
            Kind::Reduce(..) | Kind::ArgReduce(..) => !kernel.reduces_columns(),
            Kind::Scan(..) | Kind::Store { .. } => false,
            _ => of_operands,
        });
    }
    uniform
}

/// Whether vectors have only as many lanes as there is room for 64-bit ones. An index of 64 bits that is the same
/// in all lanes does not ask for that, nor does what it is computed from.
pub(super) fn needs_wide_lanes(kernel: &Kernel) -> bool {
    let uniform = uniform(kernel);
    let wide = |value: Value| lane_size(kernel.body[value as usize].dtype) == 8;
    kernel.body.iter().enumerate().any(|(value, instruction)| {
        let value = value as Value;
        let taken_as_index = match instruction.kind {
            Kind::Load { index, .. } | Kind::Store { index, .. } => index,
            _ => None,
        };
        let operands = instruction.kind.operands();
        let mut others = operands.iter().filter(|&&operand| Some(operand) != taken_as_index);
        if !wide(value) {
            return others.any(|&operand| wide(operand));
        }
        let plain = matches!(
            instruction.kind,
            Kind::Constant(_)
                | Kind::Scalar(_)
                | Kind::Position(_)
                | Kind::Load { .. }
                | Kind::Binary(..)
        );
        !plain || !uniform[value as usize] || others.any(|&operand| !wide(operand))
    })
}

/// The index of each access. One access has one index.
pub(super) fn indices(kernel: &Kernel) -> Result<Vec<Option<Value>>, Unsupported> {
    let mut indices: Vec<Option<Option<Value>>> = vec![None; kernel.accesses.len()];
    for instruction in &kernel.body {
        let (Kind::Load { access, index, .. } | Kind::Store { access, index, .. }) =
            instruction.kind
        else {
            continue;
        };
        match &mut indices[access as usize] {
            Some(known) if *known != index => {
                return Err(Unsupported("an access with two indices".to_string()));
            }
            known => *known = Some(index),
        }
    }
    Ok(indices.into_iter().map(Option::flatten).collect())
}

impl Emitter<'_> {
    /// Whether the index of an access moves its pointer, row by row, in a pass that walks the vector axis.
    pub(super) fn moves_pointer(&self, level: Level, access: usize) -> bool {
        level != Level::Program
            && self.indices[access].is_some_and(|index| self.uniform[index as usize])
    }

    /// Whether an access has an address of its own in each lane, because of its index.
    pub(super) fn has_lane_index(&self, level: Level, access: usize) -> bool {
        self.indices[access].is_some() && !self.moves_pointer(level, access)
    }

    /// The index that an access's address must still be given.
    pub(super) fn lane_index(&self, access: AccessId, index: Option<Value>) -> Option<Value> {
        index.filter(|_| !self.pointed[access as usize])
    }

    /// Which instructions of a pass are written into its loops: not those that are there for moved pointers alone.
    pub(super) fn find_live(&mut self, pass: &Pass) {
        self.live.fill(false);
        for &value in pass.body.iter().rev() {
            let kind = self.kernel.body[value as usize].kind;
            let kept = self.schedule.storage[value as usize] != Storage::None;
            let does = matches!(kind, Kind::Store { .. }) || kind.is_reduction() || kept;
            if !does && !self.live[value as usize] {
                continue;
            }
            self.live[value as usize] = true;
            let (access, index) = match kind {
                Kind::Load { access, index, .. } | Kind::Store { access, index, .. } => {
                    (Some(access), index)
                }
                _ => (None, None),
            };
            for operand in kind.operands() {
                let moved = access.is_some_and(|access| self.pointed[access as usize]);
                if !(moved && Some(operand) == index && !is_other_operand(kind, operand)) {
                    self.live[operand as usize] = true;
                }
            }
        }
    }

    /// Takes the indices of a row into the pointers they move.
    pub(super) fn point(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let moved = plan.accesses.iter().filter(|&&access| self.pointed[access]);
        let mut moved: Vec<(Value, usize)> =
            moved.filter_map(|&access| Some((self.indices[access]?, access))).collect();
        // An index may itself be read at a moved pointer: that one comes first.
        moved.sort_unstable();
        for (index, access) in moved {
            self.begin_body();
            (self.lanes, self.offset) = (Lanes::Program, 0);
            for (position, value) in self.needed_for(pass, index) {
                self.position = position;
                self.instruction(value, accumulators, 0)?;
                self.end_instruction(value);
            }
            self.first_lane(index)?;
            let words = self.layout.access(access);
            let step = Memory::at(ARGUMENTS, words + INDEX_STEP);
            self.assembler.load_fixed(Code::Imul_r64_rm64, ADDRESS, step);
            let current = Memory::at(ARGUMENTS, words + CURRENT);
            self.assembler.load_fixed(Code::Add_r64_rm64, ADDRESS, current);
            match self.access_pointers[access] {
                Some(pointer) => {
                    self.assembler.fixed2(Code::Mov_r64_rm64, pointer, ADDRESS);
                }
                None => {
                    let pointed = Memory::at(ARGUMENTS, words + POINTED);
                    self.assembler.store_fixed(Code::Mov_rm64_r64, pointed, ADDRESS);
                }
            }
            if self.kernel.reduce_rank == 0 && self.kernel.grid_rank > 0 {
                self.fetch_ahead(index, access);
            }
        }
        self.begin_body();
        Ok(())
    }

    /// Fetches the beginning of the row that an index leads to a few programs from now, if it is looked up in
    /// memory: what no processor foresees.
    fn fetch_ahead(&mut self, index: Value, access: usize) {
        let Some((source, dtype)) = self.looked_up(index) else { return };
        let (words, target) = (self.layout.access(source), self.layout.access(access));
        let param = self.kernel.accesses[access].param;
        let size = param.map_or(1, |param| self.kernel.params[param as usize].dtype.size());
        let word = |at: i32| Memory::at(ARGUMENTS, at);
        let past = self.assembler.label();
        self.assembler.memory_immediate(Code::Cmp_rm64_imm8, word(INNER), PROGRAMS_AHEAD + 1);
        self.assembler.branch(Condition::Below, past);
        self.assembler.load_fixed(Code::Mov_r64_rm64, ADDRESS, word(words + ROW));
        self.assembler.load_fixed(Code::Mov_r64_rm64, STEP, word(words + GRID_STEP));
        let index = Some((STEP, PROGRAMS_AHEAD as u32));
        let later = Memory { base: ADDRESS, index, displacement: 0 };
        let code = if dtype == DType::I64 { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
        self.assembler.load_fixed(code, ADDRESS, later);
        self.assembler.load_fixed(Code::Imul_r64_rm64, ADDRESS, word(target + INDEX_STEP));
        self.assembler.load_fixed(Code::Add_r64_rm64, ADDRESS, word(target + ROW));
        for lines in [0..1, 1..4, 4..16] {
            if lines.start > 0 {
                let elements = (64 * lines.end / size) as i32;
                self.assembler.memory_immediate(Code::Cmp_rm64_imm32, word(COUNT), elements);
                self.assembler.branch(Condition::Below, past);
            }
            for line in lines {
                let at = Memory::at(ADDRESS, 64 * line as i32);
                self.assembler.memory(Code::Prefetcht0_m8, at);
            }
        }
        self.assembler.place(past);
    }

    /// The access and the dtype of an index that is read from memory, one for each program, and made to fit an
    /// extent.
    fn looked_up(&self, index: Value) -> Option<(usize, DType)> {
        let mut value = index;
        loop {
            let instruction = self.kernel.body[value as usize];
            match instruction.kind {
                Kind::Binary(BinaryOp::Min | BinaryOp::Max, a, bound)
                    if matches!(
                        self.kernel.body[bound as usize].kind,
                        Kind::Scalar(_) | Kind::Constant(_)
                    ) =>
                {
                    value = a;
                }
                Kind::Cast(a) => value = a,
                Kind::Load { access, index: None, mask: None } => {
                    let plain = matches!(instruction.dtype, DType::I32 | DType::I64);
                    return plain.then_some((access as usize, instruction.dtype));
                }
                _ => return None,
            }
        }
    }

    /// The instructions of a pass that a value takes, and their places in it.
    fn needed_for(&self, pass: &Pass, value: Value) -> Vec<(u32, Value)> {
        let mut needed = vec![false; self.kernel.body.len()];
        needed[value as usize] = true;
        for &value in pass.body.iter().rev() {
            if needed[value as usize] {
                let operands = self.kernel.body[value as usize].kind.operands();
                operands.iter().for_each(|&operand| needed[operand as usize] = true);
            }
        }
        let places = pass.body.iter().enumerate();
        let places = places.filter(|(_, value)| needed[**value as usize]);
        places.map(|(position, &value)| (position as u32, value)).collect()
    }

    /// Puts the first lane of an index into the address register.
    fn first_lane(&mut self, index: Value) -> Result<(), Unsupported> {
        let operand = self.operand(index)?;
        let wide = self.dtype(index) == DType::I64;
        match operand {
            Operand::Memory(memory) => {
                let code = if wide { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
                self.assembler.load_fixed(code, ADDRESS, memory);
            }
            Operand::Vector(register) => {
                let xmm = Width::X.register(register);
                match (wide, self.is_avx512()) {
                    (true, true) => self.assembler.fixed2(Code::EVEX_Vmovq_rm64_xmm, ADDRESS, xmm),
                    (true, false) => self.assembler.fixed2(Code::VEX_Vmovq_rm64_xmm, ADDRESS, xmm),
                    (false, evex) => {
                        let code = match evex {
                            true => Code::EVEX_Vmovd_rm32_xmm,
                            false => Code::VEX_Vmovd_rm32_xmm,
                        };
                        self.assembler.fixed2(code, Register::EAX, xmm);
                        self.assembler.fixed2(Code::Movsxd_r64_rm32, ADDRESS, Register::EAX);
                    }
                }
            }
        }
        Ok(())
    }

    /// The address of the one element of a body of one lane.
    fn indexed_address(
        &mut self,
        access: AccessId,
        index: Value,
        size: usize,
    ) -> Result<Memory, Unsupported> {
        let address = self.address(access, size);
        self.assembler.load_fixed(Code::Lea_r64_m, STEP, address);
        self.first_lane(index)?;
        let step = Memory::at(ARGUMENTS, self.layout.access(access as usize) + INDEX_STEP);
        self.assembler.load_fixed(Code::Imul_r64_rm64, ADDRESS, step);
        Ok(Memory { base: STEP, index: Some((ADDRESS, 1)), displacement: 0 })
    }

    /// Prepares to walk the elements that the lanes of an index lead to.
    fn begin_indexed(
        &mut self,
        access: AccessId,
        index: Value,
        size: usize,
    ) -> Result<Walk, Unsupported> {
        let dtype = self.dtype(index);
        let lanes = self.vector(index)?;
        let width = self.width(dtype);
        let place = Memory::at(ARGUMENTS, self.layout.indices());
        self.assembler.store(STOREUPS, width, place, lanes, Masking::None);
        let first = self.address(access, size);
        self.assembler.load_fixed(Code::Lea_r64_m, STEP, first);
        let step = Memory::at(ARGUMENTS, self.layout.access(access as usize) + INDEX_STEP);
        self.assembler.load_fixed(Code::Mov_r64_rm64, TRIPLE, step);
        Ok(Walk::Indexed { access, size, wide: dtype == DType::I64 })
    }

    /// Loads what an index leads to, lane by lane.
    pub(super) fn indexed_load(
        &mut self,
        value: Value,
        access: AccessId,
        index: Value,
        mask: Option<Value>,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let size = dtype.size();
        let width = self.width_of(self.layout.lanes * size);
        // Registers are taken before the branches: what they evict must be saved on every path.
        self.operand(index)?;
        if let Some(mask) = mask {
            self.mask_bits(mask)?;
        }
        let [packed, part] = [self.temporary()?, self.temporary()?];
        match self.lanes {
            Lanes::Full => {
                let walk = self.begin_indexed(access, index, size)?;
                if mask.is_some() {
                    self.assembler.op3(XORPS, width, packed, packed, Operand::Vector(packed));
                }
                self.gather(size, packed, part, mask.is_some(), walk);
                self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
            }
            Lanes::One | Lanes::Program => {
                let skip = self.assembler.label();
                if mask.is_some() {
                    self.assembler.op3(XORPS, Width::X, packed, packed, Operand::Vector(packed));
                    self.assembler.immediate(Code::Test_rm32_imm32, BITS, 1);
                    self.assembler.branch(Condition::Equal, skip);
                }
                let address = self.indexed_address(access, index, size)?;
                self.load_element(size, packed, address);
                self.assembler.place(skip);
                if self.lanes == Lanes::Program {
                    self.unpack_everywhere(value, dtype, packed)
                } else {
                    self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
                }
            }
            Lanes::Masked => Err(Unsupported("an index under the tail mask".to_string())),
        }
    }

    /// Stores to where an index leads, lane by lane and in their order.
    pub(super) fn indexed_store(
        &mut self,
        access: AccessId,
        value: Value,
        index: Value,
        mask: Option<Value>,
    ) -> Result<(), Unsupported> {
        let size = self.dtype(value).size();
        self.operand(index)?;
        let packed = self.pack(value)?;
        let part = self.temporary()?;
        if let Some(mask) = mask {
            self.mask_bits(mask)?;
        }
        match self.lanes {
            Lanes::Full => {
                let walk = self.begin_indexed(access, index, size)?;
                self.scatter(size, packed, part, mask.is_some(), walk);
            }
            Lanes::One | Lanes::Program => {
                let skip = self.assembler.label();
                if mask.is_some() {
                    self.assembler.immediate(Code::Test_rm32_imm32, BITS, 1);
                    self.assembler.branch(Condition::Equal, skip);
                }
                let address = self.indexed_address(access, index, size)?;
                self.assembler.extract_element(size, address, packed, 0);
                self.assembler.place(skip);
            }
            Lanes::Masked => {
                return Err(Unsupported("an index under the tail mask".to_string()));
            }
        }
        Ok(())
    }

    /// The lane at which a walk of any kind has come, to be asked for in order.
    pub(super) fn lane_address(&mut self, walk: Walk, lane: usize) -> Memory {
        let Walk::Indexed { access, size, wide } = walk else { return self.walk(lane) };
        let stride = self.kernel.accesses[access as usize].vector;
        if lane > 0 && stride == Stride::Any {
            let step = self.layout.access(access as usize) + super::layout::VECTOR_STEP;
            self.assembler.load_fixed(Code::Add_r64_rm64, STEP, Memory::at(ARGUMENTS, step));
        }
        let at = self.layout.indices() + (lane * if wide { 8 } else { 4 }) as i32;
        let code = if wide { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
        self.assembler.load_fixed(code, ADDRESS, Memory::at(ARGUMENTS, at));
        self.assembler.fixed2(Code::Imul_r64_rm64, ADDRESS, TRIPLE);
        let displacement = if stride == Stride::One { (lane * size) as i32 } else { 0 };
        Memory { base: STEP, index: Some((ADDRESS, 1)), displacement }
    }

    /// Begins a walk over the lanes of an access, with an index or without.
    pub(super) fn begin_lanes(
        &mut self,
        access: AccessId,
        index: Option<Value>,
        size: usize,
    ) -> Result<Walk, Unsupported> {
        match index {
            Some(index) => self.begin_indexed(access, index, size),
            None => {
                self.begin_walk(access, size);
                Ok(Walk::Strided)
            }
        }
    }

    /// The address of the one element of a body of one lane, with an index or without.
    pub(super) fn lone_address(
        &mut self,
        access: AccessId,
        index: Option<Value>,
        size: usize,
    ) -> Result<Memory, Unsupported> {
        match index {
            Some(index) => self.indexed_address(access, index, size),
            None => Ok(self.address(access, size)),
        }
    }
}

/// Whether an instruction uses a value as something else than its index, too.
fn is_other_operand(kind: Kind, operand: Value) -> bool {
    match kind {
        Kind::Load { mask, .. } => mask == Some(operand),
        Kind::Store { value, mask, .. } => value == operand || mask == Some(operand),
        _ => true,
    }
}
