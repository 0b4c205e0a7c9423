//! Gather and scatter: loads and stores with an index operand.
//!
//! An index that is uniform along the vector axis is folded into the row pointer of its access, once per row; the
//! row is then loaded or stored contiguously at full vector width. A varying index gives each lane its own
//! address.

use super::Unsupported;
use super::argument_layout::{
    GRID_STEP, INDEX_STEP, INDEXED_POINTER, PROGRAM_POINTER, PROGRAMS_LEFT, ROW_POINTER,
    VECTOR_EXTENT, lane_size,
};
use super::assembler::{Condition, Masking, Memory, Operand, Width};
use super::emitter::{ARGUMENTS, ActiveLanes, Emitter};
use super::load_store::{ADDRESS, LANE_BITS, LaneAddressing, STEP, TRIPLE};
use super::loop_nest::PassPlan;
use super::opcodes::*;
use super::reduce::Accumulators;
use iced_x86::{Code, Register};
use inflight_ir::DType;
use inflight_ir::elementwise::BinaryOp;
use inflight_ir::kernel::{AccessId, Kernel, Kind, Level, Pass, Storage, Stride, Value};

/// Software prefetch distance for indexed rows, in programs: 1, 2, 4 or 8.
const PREFETCH_PROGRAMS: i32 = 4;

/// Uniformity analysis: for each value, whether it is the same along the vector axis of a row.
pub(super) fn uniform(kernel: &Kernel) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::with_capacity(kernel.body.len());
    for instruction in &kernel.body {
        let is_invariant =
            |access: AccessId| kernel.accesses[access as usize].vector == Stride::Zero;
        let operands = instruction.kind.operands();
        let operands_uniform = operands.iter().all(|&operand| uniform[operand as usize]);
        uniform.push(match instruction.kind {
            Kind::Position(access) | Kind::Load { access, .. } => {
                is_invariant(access) && operands_uniform
            }
            Kind::Reduce(..) | Kind::ArgReduce(..) => !kernel.reduces_columns(),
            Kind::Scan(..) | Kind::Store { .. } => false,
            _ => operands_uniform,
        });
    }
    uniform
}

/// Whether the kernel must use vectors of 64-bit lanes. A uniform 64-bit index, and what it is computed from,
/// does not require them.
pub(super) fn needs_wide_lanes(kernel: &Kernel) -> bool {
    let uniform = uniform(kernel);
    let wide = |value: Value| lane_size(kernel.body[value as usize].dtype) == 8;
    kernel.body.iter().enumerate().any(|(value, instruction)| {
        let value = value as Value;
        let index_operand = match instruction.kind {
            Kind::Load { index, .. } | Kind::Store { index, .. } => index,
            _ => None,
        };
        let operands = instruction.kind.operands();
        let mut others = operands.iter().filter(|&&operand| Some(operand) != index_operand);
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

/// The index operand of each access. An access has at most one.
pub(super) fn indices(kernel: &Kernel) -> Result<Vec<Option<Value>>, Unsupported> {
    let mut indices: Vec<Option<Option<Value>>> = vec![None; kernel.accesses.len()];
    for instruction in &kernel.body {
        let (Kind::Load { access, index, .. } | Kind::Store { access, index, .. }) =
            instruction.kind
        else {
            continue;
        };
        match &mut indices[access as usize] {
            Some(existing) if *existing != index => {
                return Err(Unsupported("an access with two indices".to_string()));
            }
            existing => *existing = Some(index),
        }
    }
    Ok(indices.into_iter().map(Option::flatten).collect())
}

impl Emitter<'_> {
    /// Whether a pass over the vector axis folds the index of an access into its row pointer.
    pub(super) fn folds_index(&self, level: Level, access: usize) -> bool {
        level != Level::Program
            && self.indices[access].is_some_and(|index| self.uniform[index as usize])
    }

    /// Whether an access has an index that varies by lane.
    pub(super) fn has_lane_index(&self, level: Level, access: usize) -> bool {
        self.indices[access].is_some() && !self.folds_index(level, access)
    }

    /// The index that an access still has to apply to its address.
    pub(super) fn lane_index(&self, access: AccessId, index: Option<Value>) -> Option<Value> {
        index.filter(|_| !self.index_folded[access as usize])
    }

    /// Dead code elimination for the pass's loops: marks the instructions that they need, without those that only
    /// feed folded indices.
    pub(super) fn mark_live(&mut self, pass: &Pass) {
        self.live.fill(false);
        for &value in pass.body.iter().rev() {
            let kind = self.kernel.body[value as usize].kind;
            let is_live_out = self.schedule.storage[value as usize] != Storage::None;
            let has_effect =
                matches!(kind, Kind::Store { .. }) || kind.is_reduction() || is_live_out;
            if !has_effect && !self.live[value as usize] {
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
                let folded = access.is_some_and(|access| self.index_folded[access as usize]);
                if !(folded && Some(operand) == index && !is_other_operand(kind, operand)) {
                    self.live[operand as usize] = true;
                }
            }
        }
    }

    /// Folds the uniform indices of a row into the row pointers of their accesses.
    pub(super) fn fold_row_indices(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let folded = plan.accesses.iter().filter(|&&access| self.index_folded[access]);
        let mut folded: Vec<(Value, usize)> =
            folded.filter_map(|&access| Some((self.indices[access]?, access))).collect();
        // An index may itself be loaded through a folded pointer, which must then come first.
        folded.sort_unstable();
        for (index, access) in folded {
            self.begin_body();
            (self.active_lanes, self.offset) = (ActiveLanes::Uniform, 0);
            for (position, value) in self.backward_slice(pass, index) {
                self.position = position;
                self.lower_instruction(value, accumulators, 0)?;
                self.end_instruction(value);
            }
            self.extract_first_lane(index)?;
            let words = self.layout.access(access);
            let step = Memory::at(ARGUMENTS, words + INDEX_STEP);
            self.assembler.emit_rm(Code::Imul_r64_rm64, ADDRESS, step);
            let current = Memory::at(ARGUMENTS, words + ROW_POINTER);
            self.assembler.emit_rm(Code::Add_r64_rm64, ADDRESS, current);
            match self.access_pointers[access] {
                Some(pointer) => {
                    self.assembler.emit_rr(Code::Mov_r64_rm64, pointer, ADDRESS);
                }
                None => {
                    let index_folded = Memory::at(ARGUMENTS, words + INDEXED_POINTER);
                    self.assembler.emit_mr(Code::Mov_rm64_r64, index_folded, ADDRESS);
                }
            }
            if self.kernel.reduce_rank == 0 && self.kernel.grid_rank > 0 {
                self.prefetch_indexed_row(index, access);
            }
        }
        self.begin_body();
        Ok(())
    }

    /// Prefetches the first lines of an indexed row a few programs ahead. The hardware prefetcher cannot predict
    /// rows that a loaded index selects.
    fn prefetch_indexed_row(&mut self, index: Value, access: usize) {
        let Some((source, dtype)) = self.index_load(index) else { return };
        let (words, target) = (self.layout.access(source), self.layout.access(access));
        let param = self.kernel.accesses[access].param;
        let size = param.map_or(1, |param| self.kernel.params[param as usize].dtype.size());
        let word = |at: i32| Memory::at(ARGUMENTS, at);
        let past = self.assembler.label();
        self.assembler.emit_mi(Code::Cmp_rm64_imm8, word(PROGRAMS_LEFT), PREFETCH_PROGRAMS + 1);
        self.assembler.branch(Condition::Below, past);
        self.assembler.emit_rm(Code::Mov_r64_rm64, ADDRESS, word(words + PROGRAM_POINTER));
        self.assembler.emit_rm(Code::Mov_r64_rm64, STEP, word(words + GRID_STEP));
        let index = Some((STEP, PREFETCH_PROGRAMS as u32));
        let later = Memory { base: ADDRESS, index, displacement: 0 };
        let code = if dtype == DType::I64 { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
        self.assembler.emit_rm(code, ADDRESS, later);
        self.assembler.emit_rm(Code::Imul_r64_rm64, ADDRESS, word(target + INDEX_STEP));
        self.assembler.emit_rm(Code::Add_r64_rm64, ADDRESS, word(target + PROGRAM_POINTER));
        for lines in [0..1, 1..4, 4..16] {
            if lines.start > 0 {
                let elements = (64 * lines.end / size) as i32;
                self.assembler.emit_mi(Code::Cmp_rm64_imm32, word(VECTOR_EXTENT), elements);
                self.assembler.branch(Condition::Below, past);
            }
            for line in lines {
                let at = Memory::at(ADDRESS, 64 * line as i32);
                self.assembler.emit_m(Code::Prefetcht0_m8, at);
            }
        }
        self.assembler.bind(past);
    }

    /// The access and dtype of an index that is loaded from memory once per program, possibly cast and clamped.
    fn index_load(&self, index: Value) -> Option<(usize, DType)> {
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

    /// Backward slice: the instructions of a pass that a value depends on, with their positions.
    fn backward_slice(&self, pass: &Pass, value: Value) -> Vec<(u32, Value)> {
        let mut needed = vec![false; self.kernel.body.len()];
        needed[value as usize] = true;
        for &value in pass.body.iter().rev() {
            if needed[value as usize] {
                let operands = self.kernel.body[value as usize].kind.operands();
                operands.iter().for_each(|&operand| needed[operand as usize] = true);
            }
        }
        let instructions = pass.body.iter().enumerate();
        let instructions = instructions.filter(|(_, value)| needed[**value as usize]);
        instructions.map(|(position, &value)| (position as u32, value)).collect()
    }

    /// Moves the first lane of an index into the address register.
    fn extract_first_lane(&mut self, index: Value) -> Result<(), Unsupported> {
        let operand = self.operand(index)?;
        let wide = self.dtype(index) == DType::I64;
        match operand {
            Operand::Memory(memory) => {
                let code = if wide { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
                self.assembler.emit_rm(code, ADDRESS, memory);
            }
            Operand::Vector(register) => {
                let xmm = Width::Xmm.register(register);
                match (wide, self.is_avx512()) {
                    (true, true) => self.assembler.emit_rr(Code::EVEX_Vmovq_rm64_xmm, ADDRESS, xmm),
                    (true, false) => self.assembler.emit_rr(Code::VEX_Vmovq_rm64_xmm, ADDRESS, xmm),
                    (false, evex) => {
                        let code = match evex {
                            true => Code::EVEX_Vmovd_rm32_xmm,
                            false => Code::VEX_Vmovd_rm32_xmm,
                        };
                        self.assembler.emit_rr(code, Register::EAX, xmm);
                        self.assembler.emit_rr(Code::Movsxd_r64_rm32, ADDRESS, Register::EAX);
                    }
                }
            }
        }
        Ok(())
    }

    /// Address of the single element of a scalar body.
    fn indexed_element_address(
        &mut self,
        access: AccessId,
        index: Value,
        size: usize,
    ) -> Result<Memory, Unsupported> {
        let address = self.address(access, size);
        self.assembler.emit_rm(Code::Lea_r64_m, STEP, address);
        self.extract_first_lane(index)?;
        let step = Memory::at(ARGUMENTS, self.layout.access(access as usize) + INDEX_STEP);
        self.assembler.emit_rm(Code::Imul_r64_rm64, ADDRESS, step);
        Ok(Memory { base: STEP, index: Some((ADDRESS, 1)), displacement: 0 })
    }

    /// Prepares lane addressing by a varying index.
    fn begin_indexed_lanes(
        &mut self,
        access: AccessId,
        index: Value,
        size: usize,
    ) -> Result<LaneAddressing, Unsupported> {
        let dtype = self.dtype(index);
        let lanes = self.vector(index)?;
        let width = self.width(dtype);
        let stored_indices = Memory::at(ARGUMENTS, self.layout.index_lanes());
        self.assembler.store(STOREUPS, width, stored_indices, lanes, Masking::None);
        let first = self.address(access, size);
        self.assembler.emit_rm(Code::Lea_r64_m, STEP, first);
        let step = Memory::at(ARGUMENTS, self.layout.access(access as usize) + INDEX_STEP);
        self.assembler.emit_rm(Code::Mov_r64_rm64, TRIPLE, step);
        Ok(LaneAddressing::Indexed { access, size, wide: dtype == DType::I64 })
    }

    /// Gathers by a varying index, lane by lane.
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
        // Allocate registers before the branches: an eviction must be stored on every path.
        self.operand(index)?;
        if let Some(mask) = mask {
            self.mask_to_bits(mask)?;
        }
        let [packed, part] = [self.temporary()?, self.temporary()?];
        match self.active_lanes {
            ActiveLanes::Full => {
                let addressing = self.begin_indexed_lanes(access, index, size)?;
                if mask.is_some() {
                    self.assembler.op3(XORPS, width, packed, packed, Operand::Vector(packed));
                }
                self.gather(size, packed, part, mask.is_some(), addressing);
                self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
            }
            ActiveLanes::Scalar | ActiveLanes::Uniform => {
                let skip = self.assembler.label();
                if mask.is_some() {
                    self.assembler.op3(XORPS, Width::Xmm, packed, packed, Operand::Vector(packed));
                    self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1);
                    self.assembler.branch(Condition::Equal, skip);
                }
                let address = self.indexed_element_address(access, index, size)?;
                self.load_element(size, packed, address);
                self.assembler.bind(skip);
                if self.active_lanes == ActiveLanes::Uniform {
                    self.unpack_broadcast(value, dtype, packed)
                } else {
                    self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
                }
            }
            ActiveLanes::Masked => {
                Err(Unsupported("a gather or scatter under the tail mask".to_string()))
            }
        }
    }

    /// Scatters by a varying index, in lane order.
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
            self.mask_to_bits(mask)?;
        }
        match self.active_lanes {
            ActiveLanes::Full => {
                let addressing = self.begin_indexed_lanes(access, index, size)?;
                self.scatter(size, packed, part, mask.is_some(), addressing);
            }
            ActiveLanes::Scalar | ActiveLanes::Uniform => {
                let skip = self.assembler.label();
                if mask.is_some() {
                    self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1);
                    self.assembler.branch(Condition::Equal, skip);
                }
                let address = self.indexed_element_address(access, index, size)?;
                self.assembler.extract_element(size, address, packed, 0);
                self.assembler.bind(skip);
            }
            ActiveLanes::Masked => {
                return Err(Unsupported("a gather or scatter under the tail mask".to_string()));
            }
        }
        Ok(())
    }

    /// Address of a lane; lanes must be requested in order.
    pub(super) fn lane_address(&mut self, addressing: LaneAddressing, lane: usize) -> Memory {
        let LaneAddressing::Indexed { access, size, wide } = addressing else {
            return self.strided_lane_address(lane);
        };
        let stride = self.kernel.accesses[access as usize].vector;
        if lane > 0 && stride == Stride::Any {
            let step = self.layout.access(access as usize) + super::argument_layout::VECTOR_STEP;
            self.assembler.emit_rm(Code::Add_r64_rm64, STEP, Memory::at(ARGUMENTS, step));
        }
        let at = self.layout.index_lanes() + (lane * if wide { 8 } else { 4 }) as i32;
        let code = if wide { Code::Mov_r64_rm64 } else { Code::Movsxd_r64_rm32 };
        self.assembler.emit_rm(code, ADDRESS, Memory::at(ARGUMENTS, at));
        self.assembler.emit_rr(Code::Imul_r64_rm64, ADDRESS, TRIPLE);
        let displacement = if stride == Stride::One { (lane * size) as i32 } else { 0 };
        Memory { base: STEP, index: Some((ADDRESS, 1)), displacement }
    }

    /// Prepares lane addressing for an access with or without an index.
    pub(super) fn begin_lane_addressing(
        &mut self,
        access: AccessId,
        index: Option<Value>,
        size: usize,
    ) -> Result<LaneAddressing, Unsupported> {
        match index {
            Some(index) => self.begin_indexed_lanes(access, index, size),
            None => {
                self.begin_strided_lanes(access, size);
                Ok(LaneAddressing::Strided)
            }
        }
    }

    /// Address of the single element of a scalar body, with or without an index.
    pub(super) fn single_lane_address(
        &mut self,
        access: AccessId,
        index: Option<Value>,
        size: usize,
    ) -> Result<Memory, Unsupported> {
        match index {
            Some(index) => self.indexed_element_address(access, index, size),
            None => Ok(self.address(access, size)),
        }
    }
}

/// Whether an instruction also uses a value as an operand other than its index.
fn is_other_operand(kind: Kind, operand: Value) -> bool {
    match kind {
        Kind::Load { mask, .. } => mask == Some(operand),
        Kind::Store { value, mask, .. } => value == operand || mask == Some(operand),
        _ => true,
    }
}
