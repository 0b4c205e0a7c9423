//! Which value is in which register while a pass's body is written.
//!
//! Bodies have no branches, so registers are given out as instructions are written: when none is
//! free, the value whose next use is furthest away leaves, to memory if it has no place there yet.

use inflight_ir::kernel::Value;

/// What holds a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holder {
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
pub(super) struct File {
    holders: Vec<Holder>,
    /// One bit for each register the instruction being written uses.
    locked: u32,
    /// The register of each value.
    of_value: Vec<Option<u8>>,
}

/// What must happen before a register can be given out.
pub(super) struct Allocation {
    /// The register.
    pub(super) register: u8,
    /// The value that was in it, if it is still needed.
    pub(super) evicted: Option<Value>,
}

impl File {
    /// `first..count` are given out; the others never are.
    pub(super) fn new(first: usize, count: usize, values: usize) -> File {
        let mut holders = vec![Holder::Reserved; first];
        holders.resize(count, Holder::Free);
        File { holders, locked: 0, of_value: vec![None; values] }
    }

    /// Forgets every value but the pinned ones.
    pub(super) fn begin_body(&mut self) {
        for holder in &mut self.holders {
            match *holder {
                Holder::Value(value) => {
                    self.of_value[value as usize] = None;
                    *holder = Holder::Free;
                }
                Holder::Temporary => *holder = Holder::Free,
                _ => {}
            }
        }
        self.locked = 0;
    }

    /// Frees the registers that a pass held on to.
    pub(super) fn end_pass(&mut self, first: usize) {
        self.begin_body();
        for register in first..self.holders.len() {
            if let Holder::Pinned(value) = self.holders[register] {
                self.of_value[value as usize] = None;
            }
            self.holders[register] = Holder::Free;
        }
    }

    /// The register of a value, which the current instruction then keeps.
    pub(super) fn lock(&mut self, value: Value) -> Option<u8> {
        let register = self.of_value[value as usize]?;
        self.locked |= 1 << register;
        Some(register)
    }

    /// Whether a value is in a register.
    pub(super) fn holds(&self, value: Value) -> bool {
        self.of_value[value as usize].is_some()
    }

    /// Takes a register for a new holder. `next_use` says how far away a value's next use is.
    /// `None` when the instruction being written needs more registers than there are.
    pub(super) fn take(
        &mut self,
        holder: Holder,
        next_use: impl Fn(Value) -> u32,
    ) -> Option<Allocation> {
        let mut best = None;
        for (register, &current) in self.holders.iter().enumerate() {
            match current {
                Holder::Free if self.locked & (1 << register) == 0 => {
                    best = Some((u32::MAX, register, None));
                    break;
                }
                Holder::Value(value) if self.locked & (1 << register) == 0 => {
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
            self.of_value[value as usize] = None;
        }
        self.holders[register] = holder;
        if let Holder::Value(value) | Holder::Pinned(value) = holder {
            self.of_value[value as usize] = Some(register as u8);
        }
        self.locked |= 1 << register;
        Some(Allocation { register: register as u8, evicted })
    }

    /// Gives a register that one value leaves to another.
    pub(super) fn hand_over(&mut self, register: u8, value: Value) {
        if let Holder::Value(old) = self.holders[register as usize] {
            self.of_value[old as usize] = None;
        }
        self.holders[register as usize] = Holder::Value(value);
        self.of_value[value as usize] = Some(register);
        self.locked |= 1 << register;
    }

    /// Frees the register of a value that is not used any more.
    pub(super) fn release(&mut self, value: Value) {
        if let Some(register) = self.of_value[value as usize]
            && self.holders[register as usize] == Holder::Value(value)
        {
            self.holders[register as usize] = Holder::Free;
            self.of_value[value as usize] = None;
            self.locked &= !(1 << register);
        }
    }

    /// Whether a value is in a register that another value may take over.
    pub(super) fn is_movable(&self, value: Value) -> bool {
        self.of_value[value as usize]
            .is_some_and(|register| self.holders[register as usize] == Holder::Value(value))
    }

    /// Frees the temporaries but these.
    pub(super) fn free_temporaries(&mut self, but: &[u8]) {
        for (register, holder) in self.holders.iter_mut().enumerate() {
            if *holder == Holder::Temporary && !but.contains(&(register as u8)) {
                *holder = Holder::Free;
                self.locked &= !(1 << register);
            }
        }
    }

    /// Ends an instruction: temporaries are free, nothing is locked.
    pub(super) fn end_instruction(&mut self) {
        for holder in &mut self.holders {
            if *holder == Holder::Temporary {
                *holder = Holder::Free;
            }
        }
        self.locked = 0;
    }
}
