//! Which value is in which register while a pass's body is written.
//!
//! Bodies have no branches, so registers are given out as instructions are written: when none is
//! free, the value whose next use is furthest away leaves, to memory if it has no place there yet.

use inflight_ir::kernel::Value;

/// What holds a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterState {
    /// Nothing.
    Free,
    /// A value of the body; it may be evicted.
    Value(Value),
    /// A value that stays for the whole pass.
    Pinned(Value),
    /// An intermediate result of the instruction being written.
    Temporary,
    /// Something outside the allocator's care: an accumulator.
    Reserved,
}

/// The registers of one class, vectors or opmasks.
pub(super) struct RegisterFile {
    states: Vec<RegisterState>,
    /// One bit for each register the instruction being written uses.
    locked: u32,
    /// The register of each value.
    value_registers: Vec<Option<u8>>,
}

/// What must happen before a register can be given out.
pub(super) struct Allocation {
    /// The register.
    pub(super) register: u8,
    /// The value that was in it, if it is still needed.
    pub(super) evicted: Option<Value>,
}

impl RegisterFile {
    /// `first..count` are given out; the others never are.
    pub(super) fn new(first: usize, count: usize, values: usize) -> RegisterFile {
        let mut states = vec![RegisterState::Reserved; first];
        states.resize(count, RegisterState::Free);
        RegisterFile { states, locked: 0, value_registers: vec![None; values] }
    }

    /// Forgets every value but the pinned ones.
    pub(super) fn begin_body(&mut self) {
        for state in &mut self.states {
            match *state {
                RegisterState::Value(value) => {
                    self.value_registers[value as usize] = None;
                    *state = RegisterState::Free;
                }
                RegisterState::Temporary => *state = RegisterState::Free,
                _ => {}
            }
        }
        self.locked = 0;
    }

    /// Frees the registers that a pass held on to.
    pub(super) fn end_pass(&mut self, first: usize) {
        self.begin_body();
        for register in first..self.states.len() {
            if let RegisterState::Pinned(value) = self.states[register] {
                self.value_registers[value as usize] = None;
            }
            self.states[register] = RegisterState::Free;
        }
    }

    /// The register of a value, which the current instruction then keeps.
    pub(super) fn lock(&mut self, value: Value) -> Option<u8> {
        let register = self.value_registers[value as usize]?;
        self.locked |= 1 << register;
        Some(register)
    }

    /// Whether a value is in a register.
    pub(super) fn contains(&self, value: Value) -> bool {
        self.value_registers[value as usize].is_some()
    }

    /// Takes a register for a new state. `next_use` says how far away a value's next use is.
    /// `None` when the instruction being written needs more registers than there are.
    pub(super) fn allocate(
        &mut self,
        state: RegisterState,
        next_use: impl Fn(Value) -> u32,
    ) -> Option<Allocation> {
        let mut best = None;
        for (register, &current) in self.states.iter().enumerate() {
            match current {
                RegisterState::Free if self.locked & (1 << register) == 0 => {
                    best = Some((u32::MAX, register, None));
                    break;
                }
                RegisterState::Value(value) if self.locked & (1 << register) == 0 => {
                    let distance = next_use(value);
                    if best.is_none_or(|(furthest, ..)| distance > furthest) {
                        best = Some((distance, register, Some(value)));
                    }
                }
                _ => {}
            }
        }
        let (_, register, evicted) = best?;
        if let Some(value) = evicted {
            self.value_registers[value as usize] = None;
        }
        self.states[register] = state;
        if let RegisterState::Value(value) | RegisterState::Pinned(value) = state {
            self.value_registers[value as usize] = Some(register as u8);
        }
        self.locked |= 1 << register;
        Some(Allocation { register: register as u8, evicted })
    }

    /// Gives a register that one value leaves to another.
    pub(super) fn transfer(&mut self, register: u8, value: Value) {
        if let RegisterState::Value(old) = self.states[register as usize] {
            self.value_registers[old as usize] = None;
        }
        self.states[register as usize] = RegisterState::Value(value);
        self.value_registers[value as usize] = Some(register);
        self.locked |= 1 << register;
    }

    /// Frees the register of a value that is not used any more.
    pub(super) fn release(&mut self, value: Value) {
        if let Some(register) = self.value_registers[value as usize]
            && self.states[register as usize] == RegisterState::Value(value)
        {
            self.states[register as usize] = RegisterState::Free;
            self.value_registers[value as usize] = None;
            self.locked &= !(1 << register);
        }
    }

    /// Whether a value is in a register that another value may take over.
    pub(super) fn is_transferable(&self, value: Value) -> bool {
        self.value_registers[value as usize]
            .is_some_and(|register| self.states[register as usize] == RegisterState::Value(value))
    }

    /// Frees the temporaries but these.
    pub(super) fn free_temporaries_except(&mut self, except: &[u8]) {
        for (register, state) in self.states.iter_mut().enumerate() {
            if *state == RegisterState::Temporary && !except.contains(&(register as u8)) {
                *state = RegisterState::Free;
                self.locked &= !(1 << register);
            }
        }
    }

    /// Ends an instruction: temporaries are free, nothing is locked.
    pub(super) fn end_instruction(&mut self) {
        for state in &mut self.states {
            if *state == RegisterState::Temporary {
                *state = RegisterState::Free;
            }
        }
        self.locked = 0;
    }
}
