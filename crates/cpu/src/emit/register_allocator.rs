//! Linear-scan register allocation over straight-line code, for vector registers and opmasks.
//!
//! Bodies have no branches between instructions, so registers are assigned in one forward scan during emission.
//! When none is free, the value with the furthest next use is evicted (Belady's rule). The emitter spills it to a
//! slot in the argument block, unless it can be reloaded from elsewhere.

use inflight_ir::kernel::Value;

/// State of a physical register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterState {
    /// Available.
    Free,
    /// Holds a value of the body; may be evicted.
    Value(Value),
    /// Holds a value for the whole pass.
    Pinned(Value),
    /// Holds a temporary of the current instruction.
    Temporary,
    /// Not allocatable, such as an accumulator.
    Reserved,
}

/// Registers of one class: vectors or opmasks.
pub(super) struct RegisterFile {
    states: Vec<RegisterState>,
    /// Bit mask of the registers that the current instruction uses; they cannot be evicted.
    locked: u32,
    /// The register of each value.
    value_registers: Vec<Option<u8>>,
}

/// An assigned register and the spill it requires.
pub(super) struct Allocation {
    /// The register.
    pub(super) register: u8,
    /// The value that it held, if still live.
    pub(super) evicted: Option<Value>,
}

impl RegisterFile {
    /// Registers `first..count` are allocatable.
    pub(super) fn new(first: usize, count: usize, values: usize) -> RegisterFile {
        let mut states = vec![RegisterState::Reserved; first];
        states.resize(count, RegisterState::Free);
        RegisterFile { states, locked: 0, value_registers: vec![None; values] }
    }

    /// Frees the registers of all values but the pinned ones.
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

    /// Frees all allocatable registers, including pinned and reserved ones.
    pub(super) fn end_pass(&mut self, first: usize) {
        self.begin_body();
        for register in first..self.states.len() {
            if let RegisterState::Pinned(value) = self.states[register] {
                self.value_registers[value as usize] = None;
            }
            self.states[register] = RegisterState::Free;
        }
    }

    /// Returns a value's register and locks it for the current instruction.
    pub(super) fn lock(&mut self, value: Value) -> Option<u8> {
        let register = self.value_registers[value as usize]?;
        self.locked |= 1 << register;
        Some(register)
    }

    /// Whether a value is in a register.
    pub(super) fn contains(&self, value: Value) -> bool {
        self.value_registers[value as usize].is_some()
    }

    /// Allocates a register; `next_use` returns the position of a value's next use. `None` if the current
    /// instruction needs more registers than exist.
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

    /// Transfers a register from a dead value to another.
    pub(super) fn transfer(&mut self, register: u8, value: Value) {
        if let RegisterState::Value(old) = self.states[register as usize] {
            self.value_registers[old as usize] = None;
        }
        self.states[register as usize] = RegisterState::Value(value);
        self.value_registers[value as usize] = Some(register);
        self.locked |= 1 << register;
    }

    /// Frees the register of a dead value.
    pub(super) fn release(&mut self, value: Value) {
        if let Some(register) = self.value_registers[value as usize]
            && self.states[register as usize] == RegisterState::Value(value)
        {
            self.states[register as usize] = RegisterState::Free;
            self.value_registers[value as usize] = None;
            self.locked &= !(1 << register);
        }
    }

    /// Whether a value is in a register that may be transferred.
    pub(super) fn is_transferable(&self, value: Value) -> bool {
        self.value_registers[value as usize]
            .is_some_and(|register| self.states[register as usize] == RegisterState::Value(value))
    }

    /// Frees all temporaries except the given ones.
    pub(super) fn free_temporaries_except(&mut self, except: &[u8]) {
        for (register, state) in self.states.iter_mut().enumerate() {
            if *state == RegisterState::Temporary && !except.contains(&(register as u8)) {
                *state = RegisterState::Free;
                self.locked &= !(1 << register);
            }
        }
    }

    /// Ends an instruction: frees temporaries and unlocks all registers.
    pub(super) fn end_instruction(&mut self) {
        for state in &mut self.states {
            if *state == RegisterState::Temporary {
                *state = RegisterState::Free;
            }
        }
        self.locked = 0;
    }
}
