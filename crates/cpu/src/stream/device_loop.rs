//! Device loops: while loops that a stream runs itself. Launches are bound to their memory before the first iteration;
//! an iteration needs no queue, allocation or callback.

use super::{Core, add_label, catch_panic, check_operands, labelled_fault};
use crate::launch::BoundLaunch;
use crate::workers::{FlushToZero, panic_fault};
use inflight_backend::{Buffer, Command, DeviceLoop, Expansion, Fault, FaultKind, Label, Launch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum iterations between two checks of the clock and of whether the loop's results are still wanted.
const MAX_ITERATIONS_PER_CHECK: usize = 64;

/// Target time between two checks: the number of iterations doubles below it and halves above it.
const CHECK_INTERVAL: Duration = Duration::from_micros(50);

/// After this long the loop yields the stream's thread to other tasks, and continues later.
const TIME_SLICE: Duration = Duration::from_millis(2);

/// One step of an iteration, bound to its memory.
enum Action<'a> {
    Launch(BoundLaunch<'a>, &'a Label),
    Copy {
        from: *const u8,
        to: *mut u8,
        bytes: usize,
    },
    /// A GEMM or a routine, and one of its results.
    Command(&'a Command, &'a Arc<Buffer>),
}

/// One of a loop's two alternating iterations (ping-pong buffers).
struct Iteration<'a> {
    actions: Vec<Action<'a>>,
    /// The loop's predicate, which the iteration writes: whether there is another iteration.
    again: *const u8,
}

impl Core {
    /// Runs iterations for one time slice. If the loop has not ended then, it is the stream's next command.
    pub(super) fn run_device_loop(&self, mut device_loop: Box<DeviceLoop>) {
        let mut count = device_loop.iterations;
        let run = AssertUnwindSafe(|| self.run_iterations(&device_loop, &mut count));
        let outcome = catch_unwind(run);
        device_loop.iterations = count;
        let outcome = outcome.unwrap_or_else(|panic| Err(panic_fault(panic).into()));
        let ended = match outcome {
            Ok(false) => return self.push_front(vec![Command::Loop(device_loop)]),
            Ok(true) => Ok(count),
            Err(fault) => Err(fault),
        };
        let mut expansion = Expansion { commands: Vec::new(), stream: self.id, device: "cpu" };
        (device_loop.callback)(ended, &mut expansion);
        self.push_front(expansion.commands);
    }

    /// Runs iterations for one time slice, and counts them. Returns whether the loop has ended.
    fn run_iterations(&self, device_loop: &DeviceLoop, count: &mut u64) -> Result<bool, Fault> {
        let [first, second] = &device_loop.bodies;
        self.allocate_results(first).map_err(|fault| label_loop_fault(fault, first))?;
        self.allocate_results(second).map_err(|fault| label_loop_fault(fault, second))?;
        let iterations = [
            self.bind_iteration(first, &device_loop.continue_flags[0])?,
            self.bind_iteration(second, &device_loop.continue_flags[1])?,
        ];
        let _mode = FlushToZero::enter();
        let began = Instant::now();
        let (mut until_check, mut checked) = (1, began);
        loop {
            for _ in 0..until_check {
                let iteration = &iterations[(*count % 2) as usize];
                self.run_iteration(iteration)?;
                *count += 1;
                // SAFETY: the iteration has written this byte, and it is not written again before the next one.
                if unsafe { iteration.again.read_volatile() } == 0 {
                    return Ok(true);
                }
            }
            if !(device_loop.is_wanted)() {
                return Ok(true);
            }
            let now = Instant::now();
            if now - began > TIME_SLICE {
                return Ok(false);
            }
            until_check = match now - checked < CHECK_INTERVAL {
                true => (2 * until_check).min(MAX_ITERATIONS_PER_CHECK),
                false => 1.max(until_check / 2),
            };
            checked = now;
        }
    }

    /// Allocates everything that the commands of an iteration write.
    fn allocate_results(&self, commands: &[Command]) -> Result<(), Fault> {
        let launch = |launch: &Launch| {
            launch
                .results()
                .try_for_each(|result| self.address(result, true, &launch.label).map(|_| ()))
        };
        for command in commands {
            match command {
                Command::Launch(one) => launch(one)?,
                Command::Batch(batch) => batch.launches.iter().try_for_each(launch)?,
                Command::Gemm(gemm) => match &gemm.epilogue {
                    Some(epilogue) => launch(&epilogue.launch)?,
                    None => {
                        self.address(&gemm.c.buffer, true, &gemm.label)?;
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
                _ => return Err(unsupported_command()),
            }
        }
        Ok(())
    }

    /// Binds an iteration to its memory, which [`allocate_results`](Core::allocate_results) has allocated.
    fn bind_iteration<'a>(
        &self,
        commands: &'a [Command],
        again: &Arc<Buffer>,
    ) -> Result<Iteration<'a>, Fault> {
        let mut actions = Vec::with_capacity(commands.len());
        for command in commands {
            match command {
                Command::Launch(launch) => actions.push(self.bind_launch(launch)?),
                Command::Batch(batch) => {
                    for launch in &batch.launches {
                        actions.push(self.bind_launch(launch)?);
                    }
                }
                Command::Gemm(gemm) => {
                    let result = match &gemm.epilogue {
                        Some(epilogue) => epilogue.launch.results().next(),
                        None => Some(&gemm.c.buffer),
                    };
                    actions.push(Action::Command(command, result.ok_or_else(unsupported_command)?));
                }
                Command::Routine(call) => actions.push(Action::Command(command, &call.result)),
                Command::Upload { source, target } => actions.push(Action::Copy {
                    from: source.readable()?.ptr(),
                    to: target.readable()?.ptr(),
                    bytes: target.bytes().min(source.bytes()),
                }),
                _ => return Err(unsupported_command()),
            }
        }
        Ok(Iteration { actions, again: again.readable()?.ptr() })
    }

    fn bind_launch<'a>(&self, launch: &'a Launch) -> Result<Action<'a>, Fault> {
        let mut bound = None;
        catch_panic(&launch.label, || {
            let prepared = self.prepare(launch)?;
            // SAFETY: as for a launch, for as long as its command exists.
            bound = Some(unsafe { BoundLaunch::new(prepared) });
            Ok(())
        })?;
        Ok(Action::Launch(bound.expect("bound without a fault"), &launch.label))
    }

    fn run_iteration(&self, iteration: &Iteration<'_>) -> Result<(), Fault> {
        for action in &iteration.actions {
            match action {
                // SAFETY: as for a launch. An iteration's commands run in order, and no other command of the stream runs
                // meanwhile.
                Action::Launch(BoundLaunch::NativeCode(code), _) => unsafe { code.run() },
                Action::Launch(launch, label) => {
                    // SAFETY: as above.
                    let run = || unsafe { launch.run(&self.workers) };
                    let run = catch_unwind(AssertUnwindSafe(run));
                    run.unwrap_or_else(|panic| Err(panic_fault(panic)))
                        .map_err(|fault| labelled_fault(fault, label))?;
                }
                // SAFETY: both have this many bytes, and they are different buffers; the source has been written.
                Action::Copy { from, to, bytes } => unsafe {
                    std::ptr::copy_nonoverlapping(*from, *to, *bytes);
                },
                Action::Command(command, result) => {
                    match command {
                        Command::Gemm(gemm) => self.gemm(gemm),
                        Command::Routine(call) => self.routine(call),
                        _ => return Err(unsupported_command()),
                    }
                    check_operands([*result].into_iter())?;
                }
            }
        }
        Ok(())
    }
}

/// Labels a fault that has no label, such as that of a copy, with the first label among the iteration's commands.
fn label_loop_fault(fault: Fault, commands: &[Command]) -> Fault {
    let label = commands.iter().find_map(|command| match command {
        Command::Launch(launch) => Some(&launch.label),
        Command::Batch(batch) => Some(&batch.label),
        Command::Gemm(gemm) => Some(&gemm.label),
        Command::Routine(call) => Some(&call.label),
        _ => None,
    });
    match label {
        Some(label) => add_label(fault, label),
        None => fault,
    }
}

fn unsupported_command() -> Fault {
    let message = "a device loop contains a command other than launches, batches, GEMMs, routines \
                   and uploads";
    FaultKind::Unsupported(message.into()).into()
}
