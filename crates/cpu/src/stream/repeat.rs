//! Loops that a stream runs itself: everything a turn needs is found before the first one.

use super::{Core, caught, check, labelled, with_label};
use crate::launch::BoundLaunch;
use crate::workers::{FlushToZero, panic_message};
use inflight_backend::{Buffer, Command, DeviceLoop, Expansion, Fault, FaultKind, Label, Launch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most turns after which the stream looks whether the loop is still wanted, and at the clock.
const MOST_TURNS: usize = 64;

/// Turns that take longer together are fewer the next time.
const BRIEF: Duration = Duration::from_micros(50);

/// After this long, others may have the stream's thread, and then the loop goes on.
const SLICE: Duration = Duration::from_millis(2);

/// Something a turn does, with all addresses at hand.
enum Action<'a> {
    Launch(BoundLaunch<'a>, &'a Label),
    Copy {
        from: *const u8,
        to: *mut u8,
        bytes: usize,
    },
    /// A contraction or a routine, and a result of it.
    Other(&'a Command, &'a Arc<Buffer>),
}

/// One of a loop's two turns.
struct Turn<'a> {
    actions: Vec<Action<'a>>,
    /// Where it says whether there is another.
    again: *const u8,
}

impl Core {
    /// Runs turns for a while. If the loop has not ended then, it is what the stream runs next.
    pub(super) fn repeat(&self, mut repeat: Box<DeviceLoop>) {
        let mut taken = repeat.iterations;
        let outcome = catch_unwind(AssertUnwindSafe(|| self.turns(&repeat, &mut taken)));
        repeat.iterations = taken;
        let outcome =
            outcome.unwrap_or_else(|panic| Err(FaultKind::Panicked(panic_message(&*panic)).into()));
        let ended = match outcome {
            Ok(false) => return self.put_first(vec![Command::Loop(repeat)]),
            Ok(true) => Ok(taken),
            Err(fault) => Err(fault),
        };
        let mut expansion = Expansion { commands: Vec::new(), stream: self.number, device: "cpu" };
        (repeat.callback)(ended, &mut expansion);
        self.put_first(expansion.commands);
    }

    /// Runs turns for a while. Says whether the loop has ended.
    fn turns(&self, repeat: &DeviceLoop, taken: &mut u64) -> Result<bool, Fault> {
        let [first, second] = &repeat.bodies;
        self.provide(first).map_err(|fault| of_loop(fault, first))?;
        self.provide(second).map_err(|fault| of_loop(fault, second))?;
        let turns = [
            self.turn(first, &repeat.continue_flags[0])?,
            self.turn(second, &repeat.continue_flags[1])?,
        ];
        let _mode = FlushToZero::enter();
        let began = Instant::now();
        let (mut count, mut looked) = (1, began);
        loop {
            for _ in 0..count {
                let turn = &turns[(*taken % 2) as usize];
                self.take(turn)?;
                *taken += 1;
                // SAFETY: the turn has written this byte, and nobody writes it before the next.
                if unsafe { turn.again.read_volatile() } == 0 {
                    return Ok(true);
                }
            }
            if !(repeat.is_wanted)() {
                return Ok(true);
            }
            let now = Instant::now();
            if now - began > SLICE {
                return Ok(false);
            }
            count = match now - looked < BRIEF {
                true => (2 * count).min(MOST_TURNS),
                false => 1.max(count / 2),
            };
            looked = now;
        }
    }

    /// Sees to it that everything that commands write has its memory.
    fn provide(&self, commands: &[Command]) -> Result<(), Fault> {
        let launch = |launch: &Launch| {
            launch
                .results()
                .try_for_each(|result| self.address(result, true, &launch.label).map(|_| ()))
        };
        for command in commands {
            match command {
                Command::Launch(one) => launch(one)?,
                Command::Batch(batch) => batch.launches.iter().try_for_each(launch)?,
                Command::Gemm(contract) => match &contract.epilogue {
                    Some(epilogue) => launch(&epilogue.launch)?,
                    None => {
                        self.address(&contract.c.buffer, true, &contract.label)?;
                    }
                },
                Command::Routine(call) => {
                    self.address(&call.result, true, &call.label)?;
                }
                Command::Upload { target, .. } => {
                    if target.memory().is_none() {
                        let _ = target.provide(self.pool.allocate(target.bytes())?);
                    }
                }
                _ => return Err(unexpected()),
            }
        }
        Ok(())
    }

    /// A turn with everything it needs. Its commands have been [provided](Core::provide) for.
    fn turn<'a>(&self, commands: &'a [Command], again: &Arc<Buffer>) -> Result<Turn<'a>, Fault> {
        let mut actions = Vec::with_capacity(commands.len());
        for command in commands {
            match command {
                Command::Launch(launch) => actions.push(self.bound(launch)?),
                Command::Batch(batch) => {
                    for launch in &batch.launches {
                        actions.push(self.bound(launch)?);
                    }
                }
                Command::Gemm(contract) => {
                    let result = match &contract.epilogue {
                        Some(epilogue) => epilogue.launch.results().next(),
                        None => Some(&contract.c.buffer),
                    };
                    actions.push(Action::Other(command, result.ok_or_else(unexpected)?));
                }
                Command::Routine(call) => actions.push(Action::Other(command, &call.result)),
                Command::Upload { source, target } => actions.push(Action::Copy {
                    from: source.readable()?.ptr(),
                    to: target.readable()?.ptr(),
                    bytes: target.bytes().min(source.bytes()),
                }),
                _ => return Err(unexpected()),
            }
        }
        Ok(Turn { actions, again: again.readable()?.ptr() })
    }

    fn bound<'a>(&self, launch: &'a Launch) -> Result<Action<'a>, Fault> {
        let mut bound = None;
        caught(&launch.label, || {
            let prepared = self.prepare(launch)?;
            // SAFETY: as for a launch, for as long as the command that it is of is there.
            bound = Some(unsafe { BoundLaunch::new(prepared) });
            Ok(())
        })?;
        Ok(Action::Launch(bound.expect("bound without a fault"), &launch.label))
    }

    fn take(&self, turn: &Turn<'_>) -> Result<(), Fault> {
        for action in &turn.actions {
            match action {
                // SAFETY: as for a launch. A turn's commands run in their order, and nothing else of the stream runs
                // meanwhile.
                Action::Launch(BoundLaunch::Code(code), _) => unsafe { code.run() },
                Action::Launch(launch, label) => {
                    // SAFETY: as above.
                    let run = || unsafe { launch.run(&self.workers) };
                    let run = catch_unwind(AssertUnwindSafe(run));
                    run.unwrap_or_else(|panic| Err(panic_message(&*panic)))
                        .map_err(|message| labelled(FaultKind::Panicked(message), label))?;
                }
                // SAFETY: both have so many bytes, and they are different buffers; the source's are written.
                Action::Copy { from, to, bytes } => unsafe {
                    std::ptr::copy_nonoverlapping(*from, *to, *bytes);
                },
                Action::Other(command, result) => {
                    match command {
                        Command::Gemm(contract) => self.contract(contract),
                        Command::Routine(call) => self.routine(call),
                        _ => return Err(unexpected()),
                    }
                    check([*result].into_iter())?;
                }
            }
        }
        Ok(())
    }
}

/// A fault of a turn that no command of it has named, such as that of a copy, is that of the first that has a name.
fn of_loop(fault: Fault, turn: &[Command]) -> Fault {
    let label = turn.iter().find_map(|command| match command {
        Command::Launch(launch) => Some(&launch.label),
        Command::Batch(batch) => Some(&batch.label),
        Command::Gemm(contract) => Some(&contract.label),
        Command::Routine(call) => Some(&call.label),
        _ => None,
    });
    match label {
        Some(label) => with_label(fault, label),
        None => fault,
    }
}

fn unexpected() -> Fault {
    FaultKind::Unsupported("a command in a loop that the stream runs itself".into()).into()
}
