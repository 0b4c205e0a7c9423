//! Column reductions, several rows at a time: an accumulator is loaded and stored once for all of them.

use super::Unsupported;
use super::assembler::{Condition, Memory, Operand};
use super::emitter::{ARGUMENTS, Emitter, POINTERS};
use super::layout::{self, lane_size};
use super::opcodes::*;
use super::pass::Plan;
use super::reduce::Accumulators;
use iced_x86::{Code, Register};
use inflight_ir::kernel::{Kernel, Pass, Storage};

/// How many rows are taken at once.
pub(super) const ROWS: usize = 4;
/// The most instructions of a pass that is written for several rows.
const MOST_WORK: usize = 10;
/// The most reductions of such a pass.
const MOST_REDUCTIONS: usize = 2;

/// Whether a pass of a column reduction is worth it: little work, and pointers for every row.
pub(super) fn suit(
    kernel: &Kernel,
    plan: &Plan,
    columns: usize,
    work: usize,
    stores: bool,
) -> bool {
    let walked = plan.accesses.iter().filter(|&&access| kernel.accesses[access].reduce).count();
    let pointers = plan.arrays.len() + plan.accesses.len() + (ROWS - 1) * walked;
    let kept = plan.arrays.iter().any(|&array| array >= columns);
    kernel.reduces_columns()
        && (1..=MOST_REDUCTIONS).contains(&plan.reductions.len())
        && work <= MOST_WORK
        && pointers <= POINTERS.len()
        && !kept
        && !stores
}

impl Emitter<'_> {
    /// Walks the innermost reduce axis while there are enough rows. The counter is set, and says
    /// afterwards how many rows are left.
    pub(super) fn rows_loop(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let axis = self.kernel.reduce_rank - 1;
        let counter = Memory::at(ARGUMENTS, layout::COUNTERS + 8 * axis as i32);
        let step = |emitter: &Self, access: usize| {
            let words = emitter.layout.access(access);
            Memory::at(ARGUMENTS, words + layout::REDUCE_STEP + 8 * axis as i32)
        };
        let past = self.assembler.label();
        self.assembler.memory_immediate(Code::Cmp_rm64_imm8, counter, ROWS as i32);
        self.assembler.branch(Condition::Below, past);
        let first = self.access_pointers.clone();
        let rows = self.row_pointers.clone();
        for (access, registers) in &rows {
            let mut before = first[*access].unwrap_or(Register::RAX);
            for &register in registers {
                self.assembler.fixed2(Code::Mov_r64_rm64, register, before);
                self.assembler.load_fixed(Code::Add_r64_rm64, register, step(self, *access));
                before = register;
            }
        }
        let again = self.assembler.here();
        self.many_rows = true;
        self.vector_loop(pass, plan, accumulators)?;
        self.many_rows = false;
        for (access, registers) in &rows {
            let all = registers.iter().copied().chain(first[*access]);
            self.assembler.load_fixed(Code::Mov_r64_rm64, Register::RAX, step(self, *access));
            self.assembler.fixed2(Code::Add_r64_rm64, Register::RAX, Register::RAX);
            self.assembler.fixed2(Code::Add_r64_rm64, Register::RAX, Register::RAX);
            for register in all {
                self.assembler.fixed2(Code::Add_r64_rm64, register, Register::RAX);
            }
        }
        self.assembler.memory_immediate(Code::Sub_rm64_imm8, counter, ROWS as i32);
        self.assembler.memory_immediate(Code::Cmp_rm64_imm8, counter, ROWS as i32);
        self.assembler.branch(Condition::AboveOrEqual, again);
        self.assembler.place(past);
        Ok(())
    }

    /// The body for one vector of columns: accumulators in, every row, accumulators out.
    pub(super) fn rows_body(
        &mut self,
        pass: &Pass,
        plan: &Plan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let columns: Vec<(usize, usize, u8)> = plan
            .reductions
            .iter()
            .filter_map(|&(value, _)| match self.schedule.storage[value as usize] {
                Storage::Column(column) => {
                    let register = accumulators.register(value, 0)?;
                    Some((column, lane_size(self.dtype(value)), register))
                }
                _ => None,
            })
            .collect();
        for &(column, size, register) in &columns {
            let memory = self.array_element(column, size);
            let width = if size == 8 { self.width64() } else { self.width32() };
            self.assembler.op2(MOVUPS, width, register, Operand::Memory(memory));
        }
        let first = self.access_pointers.clone();
        for row in 0..ROWS {
            if row > 0 {
                for (access, registers) in &self.row_pointers {
                    self.access_pointers[*access] = Some(registers[row - 1]);
                }
            }
            self.body(pass, accumulators, 0)?;
        }
        self.access_pointers = first;
        for (column, size, register) in columns {
            self.store_array(column, size, register);
        }
        Ok(())
    }

    /// Gives the rows after the first pointers of their own.
    pub(super) fn take_row_pointers(
        &mut self,
        plan: &Plan,
        registers: &mut impl Iterator<Item = Register>,
    ) {
        self.row_pointers.clear();
        for &access in plan.accesses.iter().filter(|_| plan.rows > 1) {
            if self.kernel.accesses[access].reduce {
                let taken: Vec<Register> = registers.by_ref().take(ROWS - 1).collect();
                self.row_pointers.push((access, taken));
            }
        }
    }
}
