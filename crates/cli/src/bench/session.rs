//! A measurement session. Each round times ours, the bandwidth baseline and each peer once, on the same processors, so
//! that drifting clocks and other load affect all alike.

use super::Arguments;
use super::bandwidth::Pass;
use super::compare;
use super::peer::{self, Peer};
use super::report::{Measured, PeerRow, Row, Times};
use super::work::{Amount, Call, Work};
use crate::outcome::note;
use inflight::io::save_npy;
use inflight::{CpuOptions, Device, Error, Result, Stats};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Target duration of one timed run, in seconds.
const RUN_SECONDS: f64 = 0.1;

/// Maximum number of calls of a run: enough for a median of the shortest calls.
const MAX_CALLS: usize = 1000;

/// Pause before each run. Worker threads of the previous run may spin that long.
const PAUSE: Duration = Duration::from_millis(40);

/// A device and peers with equal thread counts.
pub struct Session {
    processors: Vec<usize>,
    rounds: u32,
    device: Device,
    folder: TempDir,
    peers: Vec<Peer>,
    /// Peers that did not start, and why.
    missing: Vec<(&'static str, String)>,
}

/// Runs warm-up calls, then timed calls. Returns the seconds of each timed call.
type TimedRun<'a> = Box<dyn FnMut(usize, usize) -> std::result::Result<Vec<f64>, String> + 'a>;

/// One side of the comparison, with its measurements so far.
struct Side<'a> {
    run: TimedRun<'a>,
    calls: usize,
    seconds: std::result::Result<Vec<f64>, String>,
}

impl Session {
    /// Opens the device and starts the peers, pinned to these processors together with this thread.
    pub fn open(
        arguments: &Arguments,
        processors: &[usize],
        options: CpuOptions,
    ) -> Result<Session> {
        pin_to(processors)?;
        let options = CpuOptions { threads: Some(processors.len()), ..options };
        let folder = tempfile::tempdir().map_err(|error| Error::File {
            path: std::env::temp_dir().display().to_string(),
            message: error.to_string(),
        })?;
        let mut session = Session {
            processors: processors.to_vec(),
            rounds: arguments.rounds,
            device: Device::open_cpu(options)?,
            folder,
            peers: Vec::new(),
            missing: Vec::new(),
        };
        if arguments.peers {
            session.start_peers(arguments)?;
        }
        Ok(session)
    }

    fn start_peers(&mut self, arguments: &Arguments) -> Result<()> {
        let python = peer::python(arguments.python.as_deref());
        peer::write_scripts(self.folder.path())?;
        for (name, title) in peer::NAMES {
            match Peer::start(name, &python, self.folder.path(), self.processors.len()) {
                Ok(peer) => {
                    note(format_args!("{title}: {} in {}", peer.versions, python.display()));
                    self.peers.push(peer);
                }
                Err(message) => {
                    note(format_args!(
                        "{title} is not compared with: {message}; bench/peers/setup installs it"
                    ));
                    self.missing.push((title, message));
                }
            }
        }
        Ok(())
    }

    /// Measures all workloads.
    pub fn measure(mut self, works: &[Work]) -> Result<Measured> {
        let threads = self.processors.len();
        let load = load();
        let mut rows = Vec::new();
        for (position, work) in works.iter().enumerate() {
            let title = work.title();
            note(format_args!("[{}/{}] {title}, threads: {threads}", position + 1, works.len()));
            rows.push(self.row(work)?);
            self.device.trim()?;
        }
        let versions = self.peers.iter().map(|peer| (peer.name, peer.versions.clone())).collect();
        let info = self.device.info();
        Ok(Measured {
            threads,
            processor: info.name,
            target: info.target,
            load,
            versions,
            missing: std::mem::take(&mut self.missing),
            rows,
        })
    }

    /// Measures one workload. A peer's failure goes into the row; our own failure is an error.
    fn row(&mut self, work: &Work) -> Result<Row> {
        let (call, results) = self.prepare_ours(work)?;
        let differences = self.prepare_peers(work, &results)?;
        drop(results);
        let mut call = call;
        let counted = counted(work, &mut call, &self.device)?;
        let memory = self.memory(work)?;
        let mut sides = vec![Side::new(Box::new(|unmeasured, calls| {
            ours(work, &mut call, unmeasured, calls).map_err(|error| error.to_string())
        }))];
        let has_memory = memory.is_some();
        if let Some(mut pass) = memory {
            sides.push(Side::new(Box::new(move |unmeasured, calls| {
                pass.seconds(unmeasured);
                Ok(vec![pass.seconds(calls); calls])
            })));
        }
        for (peer, difference) in self.peers.iter_mut().zip(&differences) {
            sides.push(match difference {
                Ok(_) => Side::new(Box::new(|unmeasured, calls| peer.run(unmeasured, calls))),
                Err(message) => Side::failed(message.clone()),
            });
        }
        time_rounds(&mut sides, self.rounds);
        let mut times = sides.into_iter().map(|side| side.seconds.map(Times::new));
        let ours = times.next().expect("the first side is ours").map_err(Error::Invalid)?;
        let memory = match has_memory {
            true => times.next().and_then(std::result::Result::ok),
            false => None,
        };
        let peers = times.zip(differences).map(|(times, difference)| PeerRow { times, difference });
        let peers = peers.collect();
        for peer in &mut self.peers {
            // A failure here recurs in the next request, which reports it.
            let _ = peer.finish();
        }
        Ok(Row::new(work, ours, memory, counted, peers))
    }

    /// Prepares our call. Returns it with the results of its first run.
    fn prepare_ours(&self, work: &Work) -> Result<(Call, Vec<Vec<f32>>)> {
        let inputs = work.tensors(&self.device)?;
        if !self.peers.is_empty() {
            for (tensor, path) in inputs.iter().zip(self.input_paths(work)) {
                save_npy(path, tensor)?;
            }
        }
        let mut call = (work.ours)(inputs);
        let results = call().iter().map(compare::elements).collect::<Result<_>>()?;
        Ok((call, results))
    }

    fn input_paths(&self, work: &Work) -> Vec<PathBuf> {
        let name = |position| self.folder.path().join(format!("input{position}.npy"));
        (0..work.inputs.len()).map(name).collect()
    }

    /// Runs each peer once. Returns the difference of its results from ours, or why it failed.
    fn prepare_peers(
        &mut self,
        work: &Work,
        results: &[Vec<f32>],
    ) -> Result<Vec<std::result::Result<f64, String>>> {
        let inputs = self.input_paths(work);
        let mut differences = Vec::new();
        for peer in &mut self.peers {
            let outputs = tempfile::tempdir_in(self.folder.path())
                .map_err(|error| Error::Invalid(format!("no folder for results: {error}")))?;
            let difference = peer.prepare(work, &inputs, outputs.path()).and_then(|count| {
                compare::difference(results, outputs.path(), count, &self.device)
                    .map_err(|error| error.to_string())
            });
            if let Err(message) = &difference {
                note(format_args!("  {}: {message}", peer.name));
            }
            differences.push(difference);
        }
        for path in inputs {
            // Keep the session folder small.
            let _ = std::fs::remove_file(path);
        }
        Ok(differences)
    }

    /// The bandwidth baseline of a workload that is measured in bytes.
    fn memory(&self, work: &Work) -> Result<Option<Pass>> {
        let Amount::Bytes { read, written } = work.amount else { return Ok(None) };
        let reserved = |error| Error::Invalid(format!("no memory for {}: {error}", work.title()));
        Pass::new(read, written, self.processors.len()).map_err(reserved).map(Some)
    }
}

impl<'a> Side<'a> {
    fn new(run: TimedRun<'a>) -> Side<'a> {
        Side { run, calls: 1, seconds: Ok(Vec::new()) }
    }

    fn failed(message: String) -> Side<'a> {
        Side { run: Box::new(|_, _| Ok(Vec::new())), calls: 1, seconds: Err(message) }
    }

    /// Determines the number of calls of a run.
    fn size(&mut self) {
        self.record(|side| {
            let first = Times::new((side.run)(2, 3)?).median();
            side.calls = ((RUN_SECONDS / first) as usize).clamp(1, MAX_CALLS);
            Ok(Vec::new())
        });
    }

    fn time_run(&mut self) {
        self.record(|side| (side.run)(side.calls.div_ceil(10), side.calls));
    }

    fn record(&mut self, run: impl FnOnce(&mut Side<'a>) -> std::result::Result<Vec<f64>, String>) {
        if self.seconds.is_err() {
            return;
        }
        thread::sleep(PAUSE);
        match (run(self), &mut self.seconds) {
            (Ok(more), Ok(seconds)) => seconds.extend(more),
            (Err(message), seconds) => *seconds = Err(message),
            (Ok(_), Err(_)) => {}
        }
    }
}

fn time_rounds(sides: &mut [Side<'_>], rounds: u32) {
    for side in &mut *sides {
        side.size();
    }
    for _ in 0..rounds {
        for side in &mut *sides {
            side.time_run();
        }
    }
}

/// Runs our call. Returns the time of each timed call, which includes dropping the results.
fn ours(work: &Work, call: &mut Call, unmeasured: usize, calls: usize) -> Result<Vec<f64>> {
    for _ in 0..unmeasured {
        work.complete(call)?;
    }
    let mut seconds = Vec::with_capacity(calls);
    for _ in 0..calls {
        let begun = Instant::now();
        work.complete(call)?;
        seconds.push(begun.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

/// Counters of one warm call.
fn counted(work: &Work, call: &mut Call, device: &Device) -> Result<Stats> {
    work.complete(call)?;
    let before = device.stats();
    work.complete(call)?;
    Ok(device.stats().since(&before))
}

/// Load average of the last minute, if the system reports it.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Processors that this process may use.
#[cfg(target_os = "linux")]
pub fn allowed_processors() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let all = 0..CpuSet::MAX_CPU;
    match sched_getaffinity(None) {
        Ok(set) => all.filter(|&processor| set.is_set(processor)).collect(),
        Err(_) => (0..thread::available_parallelism().map_or(1, usize::from)).collect(),
    }
}

/// All processors.
#[cfg(not(target_os = "linux"))]
pub fn allowed_processors() -> Vec<usize> {
    (0..thread::available_parallelism().map_or(1, usize::from)).collect()
}

/// Pins this thread, and the threads and processes it starts, to processors.
#[cfg(target_os = "linux")]
fn pin_to(processors: &[usize]) -> Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    for &processor in processors {
        set.set(processor);
    }
    sched_setaffinity(None, &set).map_err(|error| {
        Error::Invalid(format!(
            "this thread cannot be pinned to processors {processors:?}: {error}"
        ))
    })
}

/// Without affinity support, only the thread count applies.
#[cfg(not(target_os = "linux"))]
fn pin_to(_processors: &[usize]) -> Result<()> {
    note(format_args!("threads are not pinned to processors on this system"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn sides_alternate() {
        let order = RefCell::new(String::new());
        let side = |name| {
            let order = &order;
            Side::new(Box::new(move |_, calls| {
                order.borrow_mut().push(name);
                // As long as a whole run, so that each run has one call.
                Ok(vec![RUN_SECONDS; calls])
            }))
        };
        let mut sides = [side('a'), side('b'), Side::failed("broken".to_owned())];
        time_rounds(&mut sides, 3);
        let kept: Vec<_> = sides.iter().map(|side| side.seconds.clone()).collect();
        drop(sides);
        // One call to size the run, then three rounds.
        assert_eq!(order.into_inner(), "abababab");
        let three = Ok(vec![RUN_SECONDS; 3]);
        assert_eq!(kept, [three.clone(), three, Err("broken".to_owned())]);
    }

    #[test]
    fn failed_side_runs_no_more() {
        let mut runs = 0;
        let mut sides = [Side::new(Box::new(|_, calls| {
            runs += 1;
            if runs == 2 { Err("out of memory".to_owned()) } else { Ok(vec![1.0; calls]) }
        }))];
        time_rounds(&mut sides, 5);
        assert_eq!(sides[0].seconds, Err("out of memory".to_owned()));
        drop(sides);
        assert_eq!(runs, 2);
    }
}
