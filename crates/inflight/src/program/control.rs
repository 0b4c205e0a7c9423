//! Loops and branches: decided on the stream, when it comes to them.

use super::repeat::{Small, Turns};
use super::sequence::{Buffers, Context, Sequence};
use crate::runtime::commands::Emit;
use crate::runtime::panic_message;
use inflight_backend::observe::{self, CommandKind};
use inflight_backend::{Buffer, Command, DeviceLoop, Expansion, Fault, FaultKind, Label};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// A loop. Its inputs are the carried values, then those that stay the same.
pub(super) struct While {
    /// Gives whether there is a first turn.
    pub condition: Sequence,
    /// Gives the next carried values, and whether there is another turn.
    pub turn: Sequence,
    /// How many of the inputs are carried.
    pub carried: usize,
    /// How its turns come about, if the stream can run them itself.
    pub small: Option<Small>,
    pub label: Label,
}

/// A branch. Its first input says which.
pub(super) struct Case {
    /// The last is also the one for numbers that are out of range.
    pub branches: Vec<Sequence>,
    pub label: Label,
}

/// A loop that runs.
struct Turning {
    repeated: Arc<While>,
    context: Arc<Context>,
    /// What the next turn takes.
    inputs: Buffers,
    /// Where the last values go. Whoever wants them holds them.
    results: Arc<[Weak<Buffer>]>,
    turns: u64,
    /// When the first turn began, if somebody wants to know.
    began: Option<Instant>,
}

impl While {
    pub fn emit(
        self: &Arc<While>,
        context: &Arc<Context>,
        inputs: Buffers,
        results: &[Arc<Buffer>],
        emit: &mut dyn Emit,
    ) {
        let source = self.condition.emit(context, inputs.clone(), &[], false, emit);
        let turning = Turning {
            repeated: self.clone(),
            context: context.clone(),
            inputs,
            results: results.iter().map(Arc::downgrade).collect(),
            turns: 0,
            began: None,
        };
        emit.command(turning.when_known(source[0].clone()));
    }
}

impl Turning {
    /// The command that goes on once it is known whether there is another turn.
    fn when_known(self, source: Arc<Buffer>) -> Command {
        let callback = Box::new(move |bytes: Result<&[u8], Fault>, expansion: &mut Expansion| {
            let (results, repeated) = (self.results.clone(), self.repeated.clone());
            let results = results.iter().filter_map(Weak::upgrade);
            guarded(results, &repeated.label, || self.go_on(bytes, expansion));
        });
        Command::Expand { source, callback }
    }

    /// Emits another turn, or ends the loop.
    fn go_on(
        mut self,
        again: Result<&[u8], Fault>,
        expansion: &mut Expansion,
    ) -> Result<(), Fault> {
        let again = again.inspect_err(|_| self.end(expansion))?;
        if self.turns == 0 && observe::is_listening() {
            self.began = Some(Instant::now());
        }
        let is_wanted = self.repeated.turn.has_effects
            || self.results.iter().any(|result| result.strong_count() > 0);
        if again.first().is_none_or(|&again| again == 0) || !is_wanted {
            for (result, value) in self.results.iter().zip(&self.inputs) {
                if let Some(result) = result.upgrade() {
                    result.adopt(value);
                }
            }
            self.end(expansion);
            return Ok(());
        }
        let repeated = self.repeated.clone();
        let carried = repeated.carried;
        // A value that failed fails only what depends on it, which a turn decides command by command.
        let is_whole = self.inputs.iter().all(|input| input.fault().is_none());
        if let Some(small) = repeated.small.as_ref().filter(|_| is_whole) {
            self.repeat(small, &mut expansion.commands);
            return Ok(());
        }
        // What this turn takes and the next does not is held by its commands alone.
        let fixed: Buffers = self.inputs[carried..].iter().cloned().collect();
        let inputs = std::mem::take(&mut self.inputs);
        let mut next =
            repeated.turn.emit(&self.context, inputs, &[], false, &mut expansion.commands);
        let source = next.pop().expect("a turn ends with its condition");
        next.extend(fixed);
        self.inputs = next;
        self.turns += 1;
        expansion.commands.push(self.when_known(source));
        Ok(())
    }

    /// Leaves all turns to the stream.
    fn repeat(mut self, small: &Small, commands: &mut Vec<Command>) {
        let (repeated, results) = (self.repeated.clone(), self.results.clone());
        let inputs = std::mem::take(&mut self.inputs);
        let Turns { before, turns, values, counters } =
            small.turns(&repeated.turn, &inputs, repeated.carried);
        commands.extend(before);
        let condition = |values: &Buffers| values.last().expect("a turn has a condition").clone();
        let again = [condition(&values[0]), condition(&values[1])];
        let is_wanted = {
            let results = results.clone();
            Box::new(move || results.iter().any(|result| result.strong_count() > 0))
        };
        let callback = Box::new(move |taken: Result<u64, Fault>, expansion: &mut Expansion| {
            let wanted = results.iter().filter_map(Weak::upgrade);
            guarded(wanted, &repeated.label, || {
                self.turns = *taken.as_ref().unwrap_or(&0);
                self.end(expansion);
                let taken = taken?;
                self.context.counters.add_times(&counters, taken);
                let last = &values[((taken + 1) % 2) as usize];
                for (result, value) in self.results.iter().zip(last) {
                    if let Some(result) = result.upgrade() {
                        result.adopt(value);
                    }
                }
                Ok(())
            });
        });
        commands.push(Command::Loop(Box::new(DeviceLoop {
            bodies: turns,
            continue_flags: again,
            iterations: 0,
            is_wanted,
            callback,
        })));
    }

    /// Reports the loop to those who listen.
    fn end(&self, expansion: &Expansion) {
        if let Some(began) = self.began {
            let what =
                CommandKind::Loop { label: self.repeated.label.clone(), iterations: self.turns };
            observe::report(expansion.stream, expansion.device, &what, began);
        }
    }
}

impl Case {
    pub fn emit(
        self: &Arc<Case>,
        context: &Arc<Context>,
        mut inputs: Buffers,
        results: &[Arc<Buffer>],
        emit: &mut dyn Emit,
    ) {
        let source = inputs.remove(0);
        let (case, context) = (self.clone(), context.clone());
        let results: Buffers = results.iter().cloned().collect();
        let callback = Box::new(move |bytes: Result<&[u8], Fault>, expansion: &mut Expansion| {
            guarded(results.iter().cloned(), &case.label, || {
                let index = bytes?.first_chunk().map_or(-1, |bytes| i32::from_le_bytes(*bytes));
                let last = case.branches.len() - 1;
                let index = usize::try_from(index).map_or(last, |index| index.min(last));
                let commands = &mut expansion.commands;
                case.branches[index].emit(&context, inputs, &results, false, commands);
                Ok(())
            });
        });
        emit.command(Command::Expand { source, callback });
    }
}

/// Runs a decision. If it fails, or panics, the step's results have the fault.
fn guarded(
    results: impl Iterator<Item = Arc<Buffer>>,
    label: &Label,
    decide: impl FnOnce() -> Result<(), Fault>,
) {
    let outcome = catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|panic| {
        Err(Fault { kind: FaultKind::Panicked(panic_message(&*panic)), label: Some(label.clone()) })
    });
    if let Err(fault) = outcome {
        results.for_each(|result| result.fail(fault.clone()));
    }
}
