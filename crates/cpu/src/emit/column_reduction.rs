//! Row-unrolled column reductions: each accumulator is loaded and stored once per [`ROW_UNROLL`] rows.

use super::Unsupported;
use super::argument_layout::{self, lane_size};
use super::assembler::{Condition, Memory, Operand};
use super::emitter::{ARGUMENTS, Emitter, POINTERS};
use super::loop_nest::PassPlan;
use super::opcodes::*;
use super::reduce::Accumulators;
use iced_x86::{Code, Register};
use inflight_ir::kernel::{Kernel, Pass, Storage};

/// Rows per iteration.
pub(super) const ROW_UNROLL: usize = 4;
/// Maximum instructions of a row-unrolled pass.
const MAX_INSTRUCTIONS: usize = 10;
/// Maximum reductions of a row-unrolled pass.
const MAX_REDUCTIONS: usize = 2;

/// Whether row unrolling is profitable: the pass is short, and every row gets its own pointer registers.
pub(super) fn is_profitable(
    kernel: &Kernel,
    plan: &PassPlan,
    columns: usize,
    instructions: usize,
    stores: bool,
) -> bool {
    let row_accesses =
        plan.accesses.iter().filter(|&&access| kernel.accesses[access].reduce).count();
    let pointers = plan.arrays.len() + plan.accesses.len() + (ROW_UNROLL - 1) * row_accesses;
    let uses_tile_arrays = plan.arrays.iter().any(|&array| array >= columns);
    kernel.reduces_columns()
        && (1..=MAX_REDUCTIONS).contains(&plan.reductions.len())
        && instructions <= MAX_INSTRUCTIONS
        && pointers <= POINTERS.len()
        && !uses_tile_arrays
        && !stores
}

impl Emitter<'_> {
    /// Emits the row-unrolled loop over the innermost reduce axis. The loop counter is initialized by the caller;
    /// afterwards it holds the number of remaining rows.
    pub(super) fn row_unrolled_loop(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
        accumulators: &Accumulators,
    ) -> Result<(), Unsupported> {
        let axis = self.kernel.reduce_rank - 1;
        let counter = Memory::at(ARGUMENTS, argument_layout::REDUCE_COUNTERS + 8 * axis as i32);
        let step = |emitter: &Self, access: usize| {
            let words = emitter.layout.access(access);
            Memory::at(ARGUMENTS, words + argument_layout::REDUCE_STEP + 8 * axis as i32)
        };
        let past = self.assembler.label();
        self.assembler.emit_mi(Code::Cmp_rm64_imm8, counter, ROW_UNROLL as i32);
        self.assembler.branch(Condition::Below, past);
        let first = self.access_pointers.clone();
        let rows = self.row_pointers.clone();
        for (access, registers) in &rows {
            let mut before = first[*access].unwrap_or(Register::RAX);
            for &register in registers {
                self.assembler.emit_rr(Code::Mov_r64_rm64, register, before);
                self.assembler.emit_rm(Code::Add_r64_rm64, register, step(self, *access));
                before = register;
            }
        }
        let again = self.assembler.label_here();
        self.rows_unrolled = true;
        self.vector_loop(pass, plan, accumulators)?;
        self.rows_unrolled = false;
        for (access, registers) in &rows {
            let all = registers.iter().copied().chain(first[*access]);
            self.assembler.emit_rm(Code::Mov_r64_rm64, Register::RAX, step(self, *access));
            self.assembler.emit_rr(Code::Add_r64_rm64, Register::RAX, Register::RAX);
            self.assembler.emit_rr(Code::Add_r64_rm64, Register::RAX, Register::RAX);
            for register in all {
                self.assembler.emit_rr(Code::Add_r64_rm64, register, Register::RAX);
            }
        }
        self.assembler.emit_mi(Code::Sub_rm64_imm8, counter, ROW_UNROLL as i32);
        self.assembler.emit_mi(Code::Cmp_rm64_imm8, counter, ROW_UNROLL as i32);
        self.assembler.branch(Condition::AboveOrEqual, again);
        self.assembler.bind(past);
        Ok(())
    }

    /// Emits the body for one vector of columns: load the accumulators, combine every row, store them.
    pub(super) fn row_unrolled_body(
        &mut self,
        pass: &Pass,
        plan: &PassPlan,
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
        for row in 0..ROW_UNROLL {
            if row > 0 {
                for (access, registers) in &self.row_pointers {
                    self.access_pointers[*access] = Some(registers[row - 1]);
                }
            }
            self.lower_body(pass, accumulators, 0)?;
        }
        self.access_pointers = first;
        for (column, size, register) in columns {
            self.store_array(column, size, register);
        }
        Ok(())
    }

    /// Assigns pointer registers to the second and later rows.
    pub(super) fn assign_row_pointers(
        &mut self,
        plan: &PassPlan,
        registers: &mut impl Iterator<Item = Register>,
    ) {
        self.row_pointers.clear();
        for &access in plan.accesses.iter().filter(|_| plan.row_unroll > 1) {
            if self.kernel.accesses[access].reduce {
                let assigned: Vec<Register> = registers.by_ref().take(ROW_UNROLL - 1).collect();
                self.row_pointers.push((access, assigned));
            }
        }
    }
}
