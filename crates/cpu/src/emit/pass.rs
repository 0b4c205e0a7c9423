//! The loops around the bodies: programs, passes, reduce axes, the vector axis.

use super::assembler::{Condition, Label, Masking, Memory, Operand};
use super::emitter::{ARGUMENTS, Emitter, INDEX, Lanes, POINTERS, POOL, TAIL, image};
use super::layout::{self, Layout, MAX_REDUCE_RANK, lane_size};
use super::opcodes::*;
use super::reduce::Accumulators;
use super::rows;
use super::{Isa, Unsupported};
use iced_x86::{Code, Register};
use inflight_ir::Scalar;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::kernel::{Kernel, Kind, Level, Pass, Schedule, Storage, Stride, Value};

/// Registers that the function must leave as it found them.
const SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
/// Registers that pins and accumulators leave for the body.
const WORKING: usize = 9;

/// What [`write`] makes.
pub(super) struct Written {
    /// The function: it takes the address of the argument block.
    pub(super) code: Vec<u8>,
    /// The constants.
    pub(super) pool: Vec<[u8; 64]>,
    /// The number of vectors to leave room for behind the argument block's own.
    pub(super) spills: usize,
}

/// Writes the code of a scheduled kernel.
pub(super) fn write(
    kernel: &Kernel,
    schedule: &Schedule,
    layout: &Layout,
    isa: Isa,
    streaming: bool,
) -> Result<Written, Unsupported> {
    if kernel.reduce_rank > MAX_REDUCE_RANK {
        return Err(Unsupported(format!("{} reduce axes", kernel.reduce_rank)));
    }
    let mut emitter = Emitter::new(kernel, schedule, layout, isa)?;
    emitter.streaming = streaming;
    for register in SAVED {
        emitter.assembler.fixed1(Code::Push_r64, register);
    }
    let pool = Memory::at(ARGUMENTS, layout::POOL);
    emitter.assembler.load_fixed(Code::Mov_r64_rm64, POOL, pool);
    let plans = schedule.passes.iter().map(|pass| Plan::new(&emitter, pass)).collect::<Vec<_>>();
    // A lone pass keeps its constants in registers from program to program.
    let mut prepared = Vec::new();
    if let ([pass], [plan]) = (&schedule.passes[..], &plans[..]) {
        prepared.push(emitter.prepare(pass, plan)?);
    }
    let program = emitter.assembler.here();
    for (pass, plan) in schedule.passes.iter().zip(&plans) {
        let accumulators = match prepared.pop() {
            Some(accumulators) => accumulators,
            None => emitter.prepare(pass, plan)?,
        };
        emitter.pass(pass, plan, &accumulators)?;
    }
    emitter.next_program(program);
    for register in SAVED.into_iter().rev() {
        emitter.assembler.fixed1(Code::Pop_r64, register);
    }
    if streaming {
        // Stores around the caches are seen by others only after this, whatever else orders the threads.
        emitter.assembler.fixed0(Code::Sfence);
    }
    emitter.assembler.fixed0(Code::VEX_Vzeroupper);
    emitter.assembler.fixed0(Code::Retnq);
    let code = emitter.assembler.finish().map_err(Unsupported)?;
    Ok(Written { code, pool: emitter.pool, spills: emitter.spills })
}

/// What is decided of a pass before it is written.
pub(super) struct Plan {
    pub(super) reductions: Vec<(Value, CombineOp)>,
    /// Copies of the body in the main loop.
    copies: usize,
    pub(super) accesses: Vec<usize>,
    pub(super) arrays: Vec<usize>,
    /// Rows of a column reduction in one step of its main loop.
    pub(super) rows: usize,
    /// Whether the last points of the vector axis are walked one by one.
    single_tail: bool,
    has_masks: bool,
}

impl Plan {
    fn new(emitter: &Emitter, pass: &Pass) -> Plan {
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
        let mut copies = match (folds, work) {
            (_, 0..=10) => 4,
            (true, 11..=24) => 4,
            (true, 25..=48) => 2,
            (false, 11..=24) => 2,
            _ => 1,
        };
        let room = if emitter.is_avx512() { 16 } else { 6 };
        while folds && copies > 1 && copies * reductions.len() > room {
            copies /= 2;
        }
        if strided || pass.level == Level::Program {
            copies = 1;
        }
        let single_tail = strided || !emitter.is_avx512();
        let mut plan =
            Plan { reductions, copies, accesses, arrays, rows: 1, single_tail, has_masks };
        let columns = emitter.schedule.columns.len();
        if pass.level == Level::Tile
            && !strided
            && !indexed
            && rows::suit(kernel, &plan, columns, work, stores)
        {
            plan.rows = rows::ROWS;
        }
        plan
    }
}

impl Emitter<'_> {
    /// Gives out a pass's registers and loads what stays in them.
    fn prepare(&mut self, pass: &Pass, plan: &Plan) -> Result<Accumulators, Unsupported> {
        self.begin_pass(pass);
        self.pointed.fill(false);
        for &access in &plan.accesses {
            self.pointed[access] = self.moves_pointer(pass.level, access);
        }
        self.find_live(pass);
        self.access_pointers.fill(None);
        self.array_pointers.fill(None);
        let mut registers = POINTERS.into_iter();
        for &array in &plan.arrays {
            self.array_pointers[array] = registers.next();
        }
        for &access in &plan.accesses {
            self.access_pointers[access] = registers.next();
        }
        self.take_row_pointers(plan, &mut registers);
        let folds = !self.kernel.reduces_columns();
        let accumulators = match folds {
            true => self.begin_reductions(&plan.reductions, plan.copies)?,
            false if plan.rows > 1 => self.begin_reductions(&plan.reductions, 1)?,
            false => Accumulators::default(),
        };
        let total = if self.is_avx512() { 32 } else { 16 };
        let copies = if folds { plan.copies } else { (plan.rows > 1) as usize };
        let taken = plan.reductions.len() * copies;
        if taken + WORKING > total {
            return Err(Unsupported(format!("{} reductions at once", plan.reductions.len())));
        }
        let working = self.pressure(pass).max(WORKING);
        let room = total.saturating_sub(taken + working);
        if pass.level != Level::Program {
            for value in self.pin_candidates(pass, room) {
                self.pin(value)?;
            }
        }
        Ok(accumulators)
    }

    /// The most values of a pass that are in registers at once, with room for intermediate results.
    fn pressure(&self, pass: &Pass) -> usize {
        let mut live = 0usize;
        let mut most = 0;
        let mut is_live = vec![false; self.kernel.body.len()];
        for (position, &value) in pass.body.iter().enumerate() {
            let kind = self.kernel.body[value as usize].kind;
            if matches!(kind, Kind::Constant(_) | Kind::Scalar(_)) {
                continue;
            }
            if !self.in_mask(self.dtype(value)) && !self.uses[value as usize].is_empty() {
                live += 1;
                is_live[value as usize] = true;
            }
            most = most.max(live);
            for operand in kind.operands() {
                let ends = self.uses[operand as usize].last() == Some(&(position as u32));
                if ends && std::mem::take(&mut is_live[operand as usize]) {
                    live -= 1;
                }
            }
        }
        most + 4
    }

    /// The values worth a register for the whole pass: the most used that do not change in it.
    fn pin_candidates(&mut self, pass: &Pass, room: usize) -> Vec<Value> {
        let mut candidates = Vec::new();
        for &user in &pass.body {
            for operand in self.kernel.body[user as usize].kind.operands() {
                let uniform = matches!(self.home(operand), Some(super::emitter::Home::Vector(_)));
                if uniform && !self.in_mask(self.dtype(operand)) && !candidates.contains(&operand) {
                    candidates.push(operand);
                }
            }
        }
        candidates.sort_by_key(|&value| std::cmp::Reverse(self.uses[value as usize].len()));
        candidates.truncate(room);
        candidates
    }

    /// Moves every access on to the next program, while there is one.
    fn next_program(&mut self, program: Label) {
        let end = self.assembler.label();
        self.assembler.memory(Code::Dec_rm64, Memory::at(ARGUMENTS, layout::INNER));
        self.assembler.branch(Condition::Equal, end);
        for access in 0..self.kernel.accesses.len() {
            let words = self.layout.access(access);
            let step = Memory::at(ARGUMENTS, words + layout::GRID_STEP);
            let row = Memory::at(ARGUMENTS, words + layout::ROW);
            self.assembler.load_fixed(Code::Mov_r64_rm64, Register::RAX, step);
            self.assembler.store_fixed(Code::Add_rm64_r64, row, Register::RAX);
        }
        self.assembler.jump(program);
        self.assembler.place(end);
    }

    fn pass(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        self.begin_rows(plan);
        match pass.level {
            Level::Program => {
                self.lanes = Lanes::Program;
                self.offset = 0;
                self.clear_index();
                self.body(pass, accumulators, 0)
            }
            Level::Column => self.vector_loop(pass, plan, accumulators),
            Level::Tile => {
                if self.kernel.reduces_columns() {
                    self.reset_columns(&plan.reductions);
                } else {
                    self.reset(&plan.reductions, accumulators);
                }
                self.reduce_loops(pass, plan, accumulators)?;
                if !self.kernel.reduces_columns() {
                    self.end_reductions(&plan.reductions, accumulators)?;
                }
                Ok(())
            }
        }
    }

    fn clear_index(&mut self) {
        self.assembler.fixed2(Code::Xor_r32_rm32, Register::ESI, Register::ESI);
    }

    /// Sets every pointer of a pass to the program's first row.
    fn begin_rows(&mut self, plan: &Plan) {
        let accesses = plan.accesses.iter().map(|&access| {
            let words = self.layout.access(access);
            // A pointer that an index moves starts each row from where it would be without one.
            let register = self.access_pointers[access].filter(|_| !self.pointed[access]);
            (register, words + layout::ROW, words + layout::CURRENT)
        });
        let arrays = plan.arrays.iter().map(|&array| {
            let words = self.layout.array(array);
            let current = words + layout::ARRAY_CURRENT;
            (self.array_pointers[array], words + layout::ARRAY_BASE, current)
        });
        let pointers = accesses.chain(arrays).collect::<Vec<_>>();
        for (register, row, current) in pointers {
            let target = register.unwrap_or(Register::RAX);
            self.assembler.load_fixed(Code::Mov_r64_rm64, target, Memory::at(ARGUMENTS, row));
            if register.is_none() {
                let current = Memory::at(ARGUMENTS, current);
                self.assembler.store_fixed(Code::Mov_rm64_r64, current, Register::RAX);
            }
        }
    }

    /// Moves the pointers of a pass on along a reduce axis.
    fn next_row(&mut self, plan: &Plan, axis: usize) {
        let mut steps = Vec::new();
        for &access in &plan.accesses {
            if self.kernel.accesses[access].reduce {
                let words = self.layout.access(access);
                let step = words + layout::REDUCE_STEP + 8 * axis as i32;
                let register = self.access_pointers[access].filter(|_| !self.pointed[access]);
                steps.push((register, words + layout::CURRENT, step));
            }
        }
        let innermost = axis + 1 == self.kernel.reduce_rank;
        for &array in plan.arrays.iter().filter(|_| innermost) {
            if array >= self.schedule.columns.len() {
                let words = self.layout.array(array);
                let (current, step) = (words + layout::ARRAY_CURRENT, words + layout::ARRAY_STEP);
                steps.push((self.array_pointers[array], current, step));
            }
        }
        for (register, current, step) in steps {
            let step = Memory::at(ARGUMENTS, step);
            match register {
                Some(register) => self.assembler.load_fixed(Code::Add_r64_rm64, register, step),
                None => {
                    let current = Memory::at(ARGUMENTS, current);
                    self.assembler.load_fixed(Code::Mov_r64_rm64, Register::RAX, step);
                    self.assembler.store_fixed(Code::Add_rm64_r64, current, Register::RAX);
                }
            }
        }
    }

    /// Fills the column arrays of reductions with their identity.
    fn reset_columns(&mut self, reductions: &[(Value, CombineOp)]) {
        if reductions.is_empty() {
            return;
        }
        self.begin_body();
        self.lanes = Lanes::Full;
        self.offset = 0;
        self.clear_index();
        let again = self.assembler.here();
        for &(value, op) in reductions {
            let Storage::Column(column) = self.schedule.storage[value as usize] else { continue };
            let dtype = self.dtype(value);
            let identity = self.constant(image(Scalar::identity(op, dtype)));
            let width = self.width(dtype);
            // Registers 0 and up may be pinned; a free one is found like any other.
            if let Ok(register) = self.temporary() {
                self.assembler.op2(MOVUPS, width, register, Operand::Memory(identity));
                let memory = self.array_element(column, lane_size(dtype));
                self.assembler.store(STOREUPS, width, memory, register, Masking::None);
            }
            self.vectors.end_instruction();
        }
        self.advance_index(self.layout.lanes);
        self.loop_below(layout::COUNT, again);
    }

    fn advance_index(&mut self, elements: usize) {
        let next = Memory { base: INDEX, index: None, displacement: elements as i32 };
        self.assembler.load_fixed(Code::Lea_r64_m, INDEX, next);
    }

    /// Goes back while the index is below a limit.
    fn loop_below(&mut self, limit: i32, again: Label) {
        self.assembler.load_fixed(Code::Cmp_r64_rm64, INDEX, Memory::at(ARGUMENTS, limit));
        self.assembler.branch(Condition::Below, again);
    }

    /// Goes past a loop if there is nothing for it to do.
    fn skip_unless_below(&mut self, limit: i32, past: Label) {
        self.assembler.load_fixed(Code::Cmp_r64_rm64, INDEX, Memory::at(ARGUMENTS, limit));
        self.assembler.branch(Condition::AboveOrEqual, past);
    }

    fn reduce_loops(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let rank = self.kernel.reduce_rank;
        let done = self.assembler.label();
        let extent = |axis: usize| Memory::at(ARGUMENTS, layout::REDUCE + 8 * axis as i32);
        let counter = |axis: usize| Memory::at(ARGUMENTS, layout::COUNTERS + 8 * axis as i32);
        for axis in 0..rank {
            self.assembler.memory_immediate(Code::Cmp_rm64_imm8, extent(axis), 0);
            self.assembler.branch(Condition::Equal, done);
        }
        let mut starts = Vec::new();
        let rows_done = self.assembler.label();
        for axis in 0..rank {
            self.assembler.load_fixed(Code::Mov_r64_rm64, Register::RAX, extent(axis));
            self.assembler.store_fixed(Code::Mov_rm64_r64, counter(axis), Register::RAX);
            if plan.rows > 1 && axis + 1 == rank {
                self.rows_loop(pass, plan, accumulators)?;
                self.assembler.memory_immediate(Code::Cmp_rm64_imm8, counter(axis), 0);
                self.assembler.branch(Condition::Equal, rows_done);
            }
            starts.push(self.assembler.here());
        }
        self.vector_loop(pass, plan, accumulators)?;
        for axis in (0..rank).rev() {
            self.next_row(plan, axis);
            self.assembler.memory(Code::Dec_rm64, counter(axis));
            self.assembler.branch(Condition::NotEqual, starts[axis]);
            if axis + 1 == rank {
                self.assembler.place(rows_done);
            }
        }
        self.assembler.place(done);
        Ok(())
    }

    /// The tail mask with one bit for each of the first lanes.
    fn set_tail(&mut self, lanes: usize) {
        self.assembler.immediate(Code::Mov_r32_imm32, Register::EAX, (1u32 << lanes) - 1);
        let tail = Register::K0 + TAIL as u32;
        self.assembler.fixed2(Code::VEX_Kmovw_kr_r32, tail, Register::EAX);
    }

    pub(super) fn vector_loop(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let lanes = self.layout.lanes;
        self.clear_index();
        self.point(pass, plan, accumulators)?;
        if plan.has_masks && self.is_avx512() {
            self.set_tail(lanes);
        }
        let mut steps = vec![if self.many_rows { 1 } else { plan.copies }];
        // Also before a masked tail: what was stored under a mask is loaded again only when it is in the cache.
        if steps[0] > 1 {
            steps.push(1);
        }
        for copies in steps {
            let limit = layout::LIMITS[copies.trailing_zeros() as usize];
            let past = self.assembler.label();
            self.skip_unless_below(limit, past);
            let again = self.assembler.here();
            self.lanes = Lanes::Full;
            for copy in 0..copies {
                self.offset = copy * lanes;
                self.one_body(pass, plan, accumulators, copy)?;
            }
            self.advance_index(copies * lanes);
            self.loop_below(limit, again);
            self.assembler.place(past);
        }
        self.offset = 0;
        let past = self.assembler.label();
        self.skip_unless_below(layout::COUNT, past);
        if plan.single_tail {
            if self.is_avx512() {
                self.set_tail(1);
            }
            let again = self.assembler.here();
            self.lanes = Lanes::One;
            self.one_body(pass, plan, accumulators, 0)?;
            self.advance_index(1);
            self.loop_below(layout::COUNT, again);
        } else {
            // A scalar, as loops count with: as above, it is not to be stored under a mask.
            let scalar = self.assembler.label();
            let has_scalar = plan.copies > 1 && plan.reductions.is_empty() && !self.many_rows;
            if has_scalar {
                let count = Memory::at(ARGUMENTS, layout::COUNT);
                self.assembler.memory_immediate(Code::Cmp_rm64_imm8, count, 1);
                self.assembler.branch(Condition::Equal, scalar);
            }
            // Fewer points are left than a vector has.
            let again = self.assembler.here();
            let count = Memory::at(ARGUMENTS, layout::COUNT);
            self.assembler.load_fixed(Code::Mov_r64_rm64, Register::RCX, count);
            self.assembler.fixed2(Code::Sub_r64_rm64, Register::RCX, INDEX);
            self.assembler.immediate(Code::Mov_r32_imm32, Register::EAX, (1 << lanes) - 1);
            let bits = Code::VEX_Bzhi_r32_rm32_r32;
            self.assembler.fixed3(bits, Register::EAX, Register::EAX, Register::ECX);
            let tail = Register::K0 + TAIL as u32;
            self.assembler.fixed2(Code::VEX_Kmovw_kr_r32, tail, Register::EAX);
            self.lanes = Lanes::Masked;
            self.one_body(pass, plan, accumulators, 0)?;
            self.advance_index(lanes);
            self.loop_below(layout::COUNT, again);
            if has_scalar {
                self.assembler.jump(past);
                self.assembler.place(scalar);
                if plan.has_masks {
                    self.set_tail(1);
                }
                self.lanes = Lanes::One;
                self.one_body(pass, plan, accumulators, 0)?;
            }
        }
        self.assembler.place(past);
        Ok(())
    }

    fn one_body(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
        copy: usize,
    ) -> Result<(), Unsupported> {
        if self.many_rows {
            self.rows_body(pass, plan, accumulators)
        } else {
            self.body(pass, accumulators, copy)
        }
    }
}
