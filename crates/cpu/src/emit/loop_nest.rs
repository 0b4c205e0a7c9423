//! Loop nest of the emitted function: prologue and epilogue, loops over programs, passes, reduce axes and the
//! vector axis, loop unrolling, and masked or scalar tail loops.

use super::argument_layout::{self, ArgumentLayout, MAX_REDUCE_RANK, lane_size};
use super::assembler::{Condition, Label, Masking, Memory, Operand};
use super::column_reduction;
use super::emitter::{
    ARGUMENTS, ActiveLanes, CONSTANT_POOL, Emitter, INDEX, POINTERS, TAIL, splat,
};
use super::opcodes::*;
use super::reduce::Accumulators;
use super::{Isa, Unsupported};
use iced_x86::{Code, Register};
use inflight_ir::Scalar;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::kernel::{Kernel, Kind, Level, Pass, Schedule, Storage, Stride, Value};

/// Callee-saved registers of the System V ABI, saved in the prologue and restored in the epilogue.
const CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
/// Minimum number of registers that pinned values and accumulators leave for the body.
const MIN_WORKING_REGISTERS: usize = 9;

/// Result of [`emit_kernel`].
pub(super) struct EmittedCode {
    /// The machine code. Its argument is the address of the argument block.
    pub(super) code: Vec<u8>,
    /// The constant pool.
    pub(super) constant_pool: Vec<[u8; 64]>,
    /// Number of spill slots behind the argument block.
    pub(super) spill_slots: usize,
}

/// Emits the function of a scheduled kernel.
pub(super) fn emit_kernel(
    kernel: &Kernel,
    schedule: &Schedule,
    layout: &ArgumentLayout,
    isa: Isa,
    streaming: bool,
) -> Result<EmittedCode, Unsupported> {
    if kernel.reduce_rank > MAX_REDUCE_RANK {
        return Err(Unsupported(format!("{} reduce axes", kernel.reduce_rank)));
    }
    let mut emitter = Emitter::new(kernel, schedule, layout, isa)?;
    emitter.streaming = streaming;
    for register in CALLEE_SAVED {
        emitter.assembler.emit_r(Code::Push_r64, register);
    }
    let pool = Memory::at(ARGUMENTS, argument_layout::CONSTANT_POOL);
    emitter.assembler.emit_rm(Code::Mov_r64_rm64, CONSTANT_POOL, pool);
    let plans =
        schedule.passes.iter().map(|pass| PassPlan::new(&emitter, pass)).collect::<Vec<_>>();
    // A single pass keeps its constants in registers across programs.
    let mut first_pass = Vec::new();
    if let ([pass], [plan]) = (&schedule.passes[..], &plans[..]) {
        first_pass.push(emitter.allocate_pass_registers(pass, plan)?);
    }
    let program = emitter.assembler.label_here();
    for (pass, plan) in schedule.passes.iter().zip(&plans) {
        let accumulators = match first_pass.pop() {
            Some(accumulators) => accumulators,
            None => emitter.allocate_pass_registers(pass, plan)?,
        };
        emitter.emit_pass(pass, plan, &accumulators)?;
    }
    emitter.next_program(program);
    for register in CALLEE_SAVED.into_iter().rev() {
        emitter.assembler.emit_r(Code::Pop_r64, register);
    }
    if streaming {
        // Non-temporal stores are weakly ordered: other threads see them in order only after a store fence.
        emitter.assembler.emit_bare(Code::Sfence);
    }
    emitter.assembler.emit_bare(Code::VEX_Vzeroupper);
    emitter.assembler.emit_bare(Code::Retnq);
    let code = emitter.assembler.finish().map_err(Unsupported)?;
    Ok(EmittedCode { code, constant_pool: emitter.constant_pool, spill_slots: emitter.spill_slots })
}

/// Codegen decisions for a pass, made before emission.
pub(super) struct PassPlan {
    pub(super) reductions: Vec<(Value, CombineOp)>,
    /// Unroll factor of the main loop.
    unroll_factor: usize,
    pub(super) accesses: Vec<usize>,
    pub(super) arrays: Vec<usize>,
    /// Rows per iteration of a column reduction; more than one if it is row-unrolled.
    pub(super) row_unroll: usize,
    /// Whether the tail loop handles one point per iteration instead of a masked vector.
    scalar_tail: bool,
    has_masks: bool,
}

impl PassPlan {
    fn new(emitter: &Emitter, pass: &Pass) -> PassPlan {
        let kernel = emitter.kernel;
        let reductions = emitter.reductions(pass);
        let (mut accesses, mut arrays) = (Vec::new(), Vec::new());
        let (mut strided, mut has_masks, mut stores, mut work) = (false, false, false, 0);
        let mut indexed = false;
        let add = |list: &mut Vec<usize>, item: usize| {
            if !list.contains(&item) {
                list.push(item);
            }
        };
        for &value in &pass.body {
            let kind = kernel.body[value as usize].kind;
            match kind {
                Kind::Position(access) => add(&mut accesses, access as usize),
                Kind::Load { access, mask, .. } | Kind::Store { access, mask, .. } => {
                    add(&mut accesses, access as usize);
                    let stride = kernel.accesses[access as usize].vector;
                    let combines = matches!(kind, Kind::Store { combine: Some(_), .. });
                    indexed |= emitter.indices[access as usize].is_some();
                    strided |= stride == Stride::Any
                        || emitter.has_lane_index(pass.level, access as usize)
                        || (combines && stride != Stride::One);
                    has_masks |= mask.is_some();
                    stores |= matches!(kind, Kind::Store { .. });
                }
                _ => {}
            }
            work += !matches!(kind, Kind::Constant(_) | Kind::Scalar(_)) as usize;
            for user in kind.operands().into_iter().chain([value]) {
                match emitter.schedule.storage[user as usize] {
                    Storage::Column(column) => add(&mut arrays, column),
                    Storage::Tile(tile) => add(&mut arrays, emitter.schedule.columns.len() + tile),
                    _ => {}
                }
            }
        }
        let folds = !reductions.is_empty() && !kernel.reduces_columns();
        let mut unroll_factor = match (folds, work) {
            (_, 0..=10) => 4,
            (true, 11..=24) => 4,
            (true, 25..=48) => 2,
            (false, 11..=24) => 2,
            _ => 1,
        };
        let room = if emitter.is_avx512() { 16 } else { 6 };
        while folds && unroll_factor > 1 && unroll_factor * reductions.len() > room {
            unroll_factor /= 2;
        }
        if strided || pass.level == Level::Program {
            unroll_factor = 1;
        }
        let scalar_tail = strided || !emitter.is_avx512();
        let mut plan = PassPlan {
            reductions,
            unroll_factor,
            accesses,
            arrays,
            row_unroll: 1,
            scalar_tail,
            has_masks,
        };
        let columns = emitter.schedule.columns.len();
        if pass.level == Level::Tile
            && !strided
            && !indexed
            && column_reduction::is_profitable(kernel, &plan, columns, work, stores)
        {
            plan.row_unroll = column_reduction::ROW_UNROLL;
        }
        plan
    }
}

impl Emitter<'_> {
    /// Assigns a pass's registers and loads the values that stay in them.
    fn allocate_pass_registers(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
    ) -> Result<Accumulators, Unsupported> {
        self.begin_pass(pass);
        self.index_folded.fill(false);
        for &access in &plan.accesses {
            self.index_folded[access] = self.folds_index(pass.level, access);
        }
        self.mark_live(pass);
        self.access_pointers.fill(None);
        self.array_pointers.fill(None);
        let mut registers = POINTERS.into_iter();
        for &array in &plan.arrays {
            self.array_pointers[array] = registers.next();
        }
        for &access in &plan.accesses {
            self.access_pointers[access] = registers.next();
        }
        self.assign_row_pointers(plan, &mut registers);
        let folds = !self.kernel.reduces_columns();
        let accumulators = match folds {
            true => self.allocate_accumulators(&plan.reductions, plan.unroll_factor)?,
            false if plan.row_unroll > 1 => self.allocate_accumulators(&plan.reductions, 1)?,
            false => Accumulators::default(),
        };
        let total = if self.is_avx512() { 32 } else { 16 };
        let unroll_factor = if folds { plan.unroll_factor } else { (plan.row_unroll > 1) as usize };
        let accumulator_count = plan.reductions.len() * unroll_factor;
        if accumulator_count + MIN_WORKING_REGISTERS > total {
            return Err(Unsupported(format!("{} concurrent reductions", plan.reductions.len())));
        }
        let working_set = self.register_pressure(pass).max(MIN_WORKING_REGISTERS);
        let room = total.saturating_sub(accumulator_count + working_set);
        if pass.level != Level::Program {
            for value in self.pin_candidates(pass, room) {
                self.pin(value)?;
            }
        }
        Ok(accumulators)
    }

    /// Register pressure: the maximum number of values live at once, plus room for temporaries.
    fn register_pressure(&self, pass: &Pass) -> usize {
        let mut live = 0usize;
        let mut max_live = 0;
        let mut is_live = vec![false; self.kernel.body.len()];
        for (position, &value) in pass.body.iter().enumerate() {
            let kind = self.kernel.body[value as usize].kind;
            if matches!(kind, Kind::Constant(_) | Kind::Scalar(_)) {
                continue;
            }
            if !self.is_opmask_dtype(self.dtype(value)) && !self.uses[value as usize].is_empty() {
                live += 1;
                is_live[value as usize] = true;
            }
            max_live = max_live.max(live);
            for operand in kind.operands() {
                let ends = self.uses[operand as usize].last() == Some(&(position as u32));
                if ends && std::mem::take(&mut is_live[operand as usize]) {
                    live -= 1;
                }
            }
        }
        max_live + 4
    }

    /// Loop-invariant values to pin in registers, most used first.
    fn pin_candidates(&mut self, pass: &Pass, room: usize) -> Vec<Value> {
        let mut candidates = Vec::new();
        for &user in &pass.body {
            for operand in self.kernel.body[user as usize].kind.operands() {
                let uniform = matches!(
                    self.reload_source(operand),
                    Some(super::emitter::ReloadSource::Vector(_))
                );
                if uniform
                    && !self.is_opmask_dtype(self.dtype(operand))
                    && !candidates.contains(&operand)
                {
                    candidates.push(operand);
                }
            }
        }
        candidates.sort_by_key(|&value| std::cmp::Reverse(self.uses[value as usize].len()));
        candidates.truncate(room);
        candidates
    }

    /// Advances every access to the next program and branches back while there is one.
    fn next_program(&mut self, program: Label) {
        let end = self.assembler.label();
        self.assembler
            .emit_m(Code::Dec_rm64, Memory::at(ARGUMENTS, argument_layout::PROGRAMS_LEFT));
        self.assembler.branch(Condition::Equal, end);
        for access in 0..self.kernel.accesses.len() {
            let words = self.layout.access(access);
            let step = Memory::at(ARGUMENTS, words + argument_layout::GRID_STEP);
            let row = Memory::at(ARGUMENTS, words + argument_layout::PROGRAM_POINTER);
            self.assembler.emit_rm(Code::Mov_r64_rm64, Register::RAX, step);
            self.assembler.emit_mr(Code::Add_rm64_r64, row, Register::RAX);
        }
        self.assembler.jump(program);
        self.assembler.bind(end);
    }

    fn emit_pass(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        self.begin_row_pointers(plan);
        match pass.level {
            Level::Program => {
                self.active_lanes = ActiveLanes::Uniform;
                self.offset = 0;
                self.clear_index();
                self.lower_body(pass, accumulators, 0)
            }
            Level::Column => self.vector_loop(pass, plan, accumulators),
            Level::Tile => {
                if self.kernel.reduces_columns() {
                    self.initialize_column_arrays(&plan.reductions);
                } else {
                    self.initialize_accumulators(&plan.reductions, accumulators);
                }
                self.reduce_loops(pass, plan, accumulators)?;
                if !self.kernel.reduces_columns() {
                    self.horizontal_reduce(&plan.reductions, accumulators)?;
                }
                Ok(())
            }
        }
    }

    fn clear_index(&mut self) {
        self.assembler.emit_rr(Code::Xor_r32_rm32, Register::ESI, Register::ESI);
    }

    /// Sets every pointer of a pass to the program's first row.
    fn begin_row_pointers(&mut self, plan: &PassPlan) {
        let accesses = plan.accesses.iter().map(|&access| {
            let words = self.layout.access(access);
            // Index folding recomputes the register for each row from the unfolded pointer in memory.
            let register = self.access_pointers[access].filter(|_| !self.index_folded[access]);
            (
                register,
                words + argument_layout::PROGRAM_POINTER,
                words + argument_layout::ROW_POINTER,
            )
        });
        let arrays = plan.arrays.iter().map(|&array| {
            let words = self.layout.array(array);
            let current = words + argument_layout::ARRAY_ROW_POINTER;
            (self.array_pointers[array], words + argument_layout::ARRAY_BASE, current)
        });
        let pointers = accesses.chain(arrays).collect::<Vec<_>>();
        for (register, row, current) in pointers {
            let target = register.unwrap_or(Register::RAX);
            self.assembler.emit_rm(Code::Mov_r64_rm64, target, Memory::at(ARGUMENTS, row));
            if register.is_none() {
                let current = Memory::at(ARGUMENTS, current);
                self.assembler.emit_mr(Code::Mov_rm64_r64, current, Register::RAX);
            }
        }
    }

    /// Advances the pointers of a pass along a reduce axis.
    fn advance_row_pointers(&mut self, plan: &PassPlan, axis: usize) {
        let mut steps = Vec::new();
        for &access in &plan.accesses {
            if self.kernel.accesses[access].reduce {
                let words = self.layout.access(access);
                let step = words + argument_layout::REDUCE_STEP + 8 * axis as i32;
                let register = self.access_pointers[access].filter(|_| !self.index_folded[access]);
                steps.push((register, words + argument_layout::ROW_POINTER, step));
            }
        }
        let innermost = axis + 1 == self.kernel.reduce_rank;
        for &array in plan.arrays.iter().filter(|_| innermost) {
            if array >= self.schedule.columns.len() {
                let words = self.layout.array(array);
                let (current, step) = (
                    words + argument_layout::ARRAY_ROW_POINTER,
                    words + argument_layout::ARRAY_ROW_STEP,
                );
                steps.push((self.array_pointers[array], current, step));
            }
        }
        for (register, current, step) in steps {
            let step = Memory::at(ARGUMENTS, step);
            match register {
                Some(register) => self.assembler.emit_rm(Code::Add_r64_rm64, register, step),
                None => {
                    let current = Memory::at(ARGUMENTS, current);
                    self.assembler.emit_rm(Code::Mov_r64_rm64, Register::RAX, step);
                    self.assembler.emit_mr(Code::Add_rm64_r64, current, Register::RAX);
                }
            }
        }
    }

    /// Initializes the column arrays of reductions to the identity of their op.
    fn initialize_column_arrays(&mut self, reductions: &[(Value, CombineOp)]) {
        if reductions.is_empty() {
            return;
        }
        self.begin_body();
        self.active_lanes = ActiveLanes::Full;
        self.offset = 0;
        self.clear_index();
        let again = self.assembler.label_here();
        for &(value, op) in reductions {
            let Storage::Column(column) = self.schedule.storage[value as usize] else { continue };
            let dtype = self.dtype(value);
            let identity = self.constant(splat(Scalar::identity(op, dtype)));
            let width = self.width(dtype);
            // Low registers may be pinned: allocate a free one.
            if let Ok(register) = self.temporary() {
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(identity));
                let memory = self.array_element(column, lane_size(dtype));
                self.assembler.store(STOREUPS, width, memory, register, Masking::None);
            }
            self.vectors.end_instruction();
        }
        self.advance_index(self.layout.lanes);
        self.loop_below(argument_layout::VECTOR_EXTENT, again);
    }

    fn advance_index(&mut self, elements: usize) {
        let next = Memory { base: INDEX, index: None, displacement: elements as i32 };
        self.assembler.emit_rm(Code::Lea_r64_m, INDEX, next);
    }

    /// Branches back while the index is below a limit.
    fn loop_below(&mut self, limit: i32, again: Label) {
        self.assembler.emit_rm(Code::Cmp_r64_rm64, INDEX, Memory::at(ARGUMENTS, limit));
        self.assembler.branch(Condition::Below, again);
    }

    /// Skips a loop that has no iteration to run.
    fn skip_unless_below(&mut self, limit: i32, past: Label) {
        self.assembler.emit_rm(Code::Cmp_r64_rm64, INDEX, Memory::at(ARGUMENTS, limit));
        self.assembler.branch(Condition::AboveOrEqual, past);
    }

    fn reduce_loops(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let rank = self.kernel.reduce_rank;
        let done = self.assembler.label();
        let extent =
            |axis: usize| Memory::at(ARGUMENTS, argument_layout::REDUCE_EXTENTS + 8 * axis as i32);
        let counter =
            |axis: usize| Memory::at(ARGUMENTS, argument_layout::REDUCE_COUNTERS + 8 * axis as i32);
        for axis in 0..rank {
            self.assembler.emit_mi(Code::Cmp_rm64_imm8, extent(axis), 0);
            self.assembler.branch(Condition::Equal, done);
        }
        let mut starts = Vec::new();
        let rows_done = self.assembler.label();
        for axis in 0..rank {
            self.assembler.emit_rm(Code::Mov_r64_rm64, Register::RAX, extent(axis));
            self.assembler.emit_mr(Code::Mov_rm64_r64, counter(axis), Register::RAX);
            if plan.row_unroll > 1 && axis + 1 == rank {
                self.row_unrolled_loop(pass, plan, accumulators)?;
                self.assembler.emit_mi(Code::Cmp_rm64_imm8, counter(axis), 0);
                self.assembler.branch(Condition::Equal, rows_done);
            }
            starts.push(self.assembler.label_here());
        }
        self.vector_loop(pass, plan, accumulators)?;
        for axis in (0..rank).rev() {
            self.advance_row_pointers(plan, axis);
            self.assembler.emit_m(Code::Dec_rm64, counter(axis));
            self.assembler.branch(Condition::NotEqual, starts[axis]);
            if axis + 1 == rank {
                self.assembler.bind(rows_done);
            }
        }
        self.assembler.bind(done);
        Ok(())
    }

    /// Sets the tail mask to the first lanes.
    fn set_tail_mask(&mut self, lanes: usize) {
        self.assembler.emit_ri(Code::Mov_r32_imm32, Register::EAX, (1u32 << lanes) - 1);
        let tail = Register::K0 + TAIL as u32;
        self.assembler.emit_rr(Code::VEX_Kmovw_kr_r32, tail, Register::EAX);
    }

    pub(super) fn vector_loop(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let lanes = self.layout.lanes;
        self.clear_index();
        self.fold_row_indices(pass, plan, accumulators)?;
        if plan.has_masks && self.is_avx512() {
            self.set_tail_mask(lanes);
        }
        let mut unroll_factors = vec![if self.rows_unrolled { 1 } else { plan.unroll_factor }];
        // Full vectors before a masked tail use an unmasked loop: masked stores do not forward to later loads,
        // which then wait until the data is in the cache.
        if unroll_factors[0] > 1 {
            unroll_factors.push(1);
        }
        for unroll_factor in unroll_factors {
            let limit = argument_layout::UNROLL_LIMITS[unroll_factor.trailing_zeros() as usize];
            let past = self.assembler.label();
            self.skip_unless_below(limit, past);
            let again = self.assembler.label_here();
            self.active_lanes = ActiveLanes::Full;
            for unroll_index in 0..unroll_factor {
                self.offset = unroll_index * lanes;
                self.loop_body(pass, plan, accumulators, unroll_index)?;
            }
            self.advance_index(unroll_factor * lanes);
            self.loop_below(limit, again);
            self.assembler.bind(past);
        }
        self.offset = 0;
        let past = self.assembler.label();
        self.skip_unless_below(argument_layout::VECTOR_EXTENT, past);
        if plan.scalar_tail {
            if self.is_avx512() {
                self.set_tail_mask(1);
            }
            let again = self.assembler.label_here();
            self.active_lanes = ActiveLanes::Scalar;
            self.loop_body(pass, plan, accumulators, 0)?;
            self.advance_index(1);
            self.loop_below(argument_layout::VECTOR_EXTENT, again);
        } else {
            // A single point, such as a loop counter, takes a scalar path: as above, it should not be stored
            // under a mask.
            let scalar = self.assembler.label();
            let has_scalar =
                plan.unroll_factor > 1 && plan.reductions.is_empty() && !self.rows_unrolled;
            if has_scalar {
                let count = Memory::at(ARGUMENTS, argument_layout::VECTOR_EXTENT);
                self.assembler.emit_mi(Code::Cmp_rm64_imm8, count, 1);
                self.assembler.branch(Condition::Equal, scalar);
            }
            // Fewer points remain than a vector has lanes.
            let again = self.assembler.label_here();
            let count = Memory::at(ARGUMENTS, argument_layout::VECTOR_EXTENT);
            self.assembler.emit_rm(Code::Mov_r64_rm64, Register::RCX, count);
            self.assembler.emit_rr(Code::Sub_r64_rm64, Register::RCX, INDEX);
            self.assembler.emit_ri(Code::Mov_r32_imm32, Register::EAX, (1 << lanes) - 1);
            let bits = Code::VEX_Bzhi_r32_rm32_r32;
            self.assembler.emit_rrr(bits, Register::EAX, Register::EAX, Register::ECX);
            let tail = Register::K0 + TAIL as u32;
            self.assembler.emit_rr(Code::VEX_Kmovw_kr_r32, tail, Register::EAX);
            self.active_lanes = ActiveLanes::Masked;
            self.loop_body(pass, plan, accumulators, 0)?;
            self.advance_index(lanes);
            self.loop_below(argument_layout::VECTOR_EXTENT, again);
            if has_scalar {
                self.assembler.jump(past);
                self.assembler.bind(scalar);
                if plan.has_masks {
                    self.set_tail_mask(1);
                }
                self.active_lanes = ActiveLanes::Scalar;
                self.loop_body(pass, plan, accumulators, 0)?;
            }
        }
        self.assembler.bind(past);
        Ok(())
    }

    fn loop_body(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
        accumulators: &Accumulators,
        unroll_index: usize,
    ) -> Result<(), Unsupported> {
        if self.rows_unrolled {
            self.row_unrolled_body(pass, plan, accumulators)
        } else {
            self.lower_body(pass, accumulators, unroll_index)
        }
    }
}
