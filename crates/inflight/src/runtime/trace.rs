//! Execution traces in Chrome's JSON format, for `chrome://tracing`, Perfetto and `inflight timeline`.
//!
//! There is one track per host thread that submits, dispatches, waits or runs pending work, and one per stream.
//! [`trace`] records one call; `INFLIGHT_TRACE=path` records from the first opened device to process exit. While no
//! trace is active, each trace point costs one relaxed atomic load.
//!
//! With the feature `tracing`, the host's trace points are also spans of the `tracing` crate.

use super::{Device, WaitReason};
use crate::{Error, Result, profile};
use inflight_backend::Label;
use inflight_backend::observe::{self, CommandKind, Observer, RanCommand};
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;

/// Runs `work` and writes a Chrome trace of the whole process during the call to `path`.
///
/// Work that is still running when `work` returns appears as far as it has come. Call [`Device::wait`] inside
/// `work` for a complete trace. Traces may overlap and nest.
///
/// # Errors
/// If the file cannot be created or written.
///
/// ```
/// use inflight::{Device, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let path = std::env::temp_dir().join(format!("inflight-doc-{}.json", std::process::id()));
/// let sum = inflight::trace(&path, || {
///     Tensor::ones::<f32>([64, 64], &Device::cpu()).exp().sum_all().item::<f32>()
/// })??;
/// assert!(sum > 11_000.0);
/// # std::fs::remove_file(&path).ok();
/// # Ok(())
/// # }
/// ```
pub fn trace<R>(path: impl AsRef<Path>, work: impl FnOnce() -> R) -> Result<R> {
    /// Stops the collector, also if `work` panics.
    struct StopOnDrop(Arc<Collector>);
    impl Drop for StopOnDrop {
        fn drop(&mut self) {
            self.0.stop();
        }
    }
    let collector = Collector::open(path.as_ref(), false)?;
    let stop = StopOnDrop(collector.clone());
    collector.start();
    let result = work();
    drop(stop);
    collector.finish()?;
    Ok(result)
}

/// Starts the trace that `INFLIGHT_TRACE` requests, once per process.
pub(crate) fn start_from_env() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(path) = std::env::var_os("INFLIGHT_TRACE").filter(|path| !path.is_empty()) else {
            return;
        };
        match Collector::open(path.as_ref(), true) {
            Ok(collector) => collector.start(),
            Err(error) => eprintln!("inflight: INFLIGHT_TRACE: {error}"),
        }
    });
}

/// A traced activity of a host thread.
#[derive(Clone, Copy)]
pub(crate) enum Span {
    /// The thread waits.
    Wait { device: &'static str, reason: WaitReason, location: &'static Location<'static> },
    /// A segment is extracted from the recorded graph and submitted.
    Submit { device: &'static str },
    /// A segment of `ops` ops is dispatched: planned, compiled and enqueued.
    Dispatch { ops: usize },
    /// A graph is planned (plan cache miss).
    Plan,
    /// A kernel is compiled or loaded from disk.
    Compile,
    /// A plan's commands are enqueued on a stream.
    Enqueue,
    /// A pending task runs.
    Work { location: &'static Location<'static> },
}

impl Span {
    pub fn wait(device: &Device, reason: WaitReason, location: &'static Location<'static>) -> Span {
        Span::Wait { device: device.name(), reason, location }
    }

    fn name(self) -> &'static str {
        match self {
            Span::Wait { reason: WaitReason::Read, .. } => "wait: read",
            Span::Wait { reason: WaitReason::Sync, .. } => "wait: sync",
            Span::Wait { reason: WaitReason::Get, .. } => "wait: get",
            Span::Wait { reason: WaitReason::Backpressure, .. } => "wait: back-pressure",
            Span::Submit { .. } => "submit",
            Span::Dispatch { .. } => "dispatch",
            Span::Plan => "plan",
            Span::Compile => "compile",
            Span::Enqueue => "enqueue",
            Span::Work { .. } => "pending work",
        }
    }

    fn category(self) -> &'static str {
        match self {
            Span::Wait { .. } => "wait",
            Span::Submit { .. } => "submit",
            Span::Dispatch { .. } | Span::Plan | Span::Compile | Span::Enqueue => "dispatch",
            Span::Work { .. } => "work",
        }
    }

    /// The span's arguments, as members of a JSON object.
    fn details(self) -> String {
        match self {
            Span::Wait { device, reason, location } => format!(
                "\"reason\":{},\"device\":{},\"at\":{}",
                json_string(&reason.to_string()),
                json_string(device),
                json_string(&location.to_string())
            ),
            Span::Submit { device } => format!("\"device\":{}", json_string(device)),
            Span::Dispatch { ops } => format!("\"ops\":{ops}"),
            Span::Plan | Span::Compile | Span::Enqueue => String::new(),
            Span::Work { location } => format!("\"at\":{}", json_string(&location.to_string())),
        }
    }

    #[cfg(feature = "tracing")]
    fn entered(self) -> tracing::span::EnteredSpan {
        use tracing::debug_span;
        match self {
            Span::Wait { device, reason, location } => {
                debug_span!("wait", device, %reason, at = %location)
            }
            Span::Submit { device } => debug_span!("submit", device),
            Span::Dispatch { ops } => debug_span!("dispatch", ops),
            Span::Plan => debug_span!("plan"),
            Span::Compile => debug_span!("compile"),
            Span::Enqueue => debug_span!("enqueue"),
            Span::Work { location } => debug_span!("pending work", at = %location),
        }
        .entered()
    }
}

/// Records a span from its creation to its drop.
pub(crate) struct SpanGuard {
    /// `None` while no trace is active.
    span: Option<(Span, Instant)>,
    #[cfg(feature = "tracing")]
    _entered: tracing::span::EnteredSpan,
}

/// Begins a span on this thread if a trace is active.
#[cfg(not(feature = "tracing"))]
pub(crate) fn begin(make: impl FnOnce() -> Span) -> Option<SpanGuard> {
    observe::is_listening().then(|| SpanGuard { span: Some((make(), Instant::now())) })
}

/// Begins a span on this thread.
#[cfg(feature = "tracing")]
pub(crate) fn begin(make: impl FnOnce() -> Span) -> Option<SpanGuard> {
    let span = make();
    let listening = observe::is_listening();
    Some(SpanGuard { span: listening.then(|| (span, Instant::now())), _entered: span.entered() })
}

impl Drop for SpanGuard {
    fn drop(&mut self) {
        let Some((span, began)) = self.span else { return };
        let ended = Instant::now();
        if let Span::Wait { reason, location, .. } = span {
            profile::record_wait(reason, location, ended - began);
        }
        let (thread, name) = this_thread();
        let track = Track { process: HOST_PROCESS, id: thread, name };
        for collector in COLLECTORS.read().iter() {
            collector.write(&track, span.name(), span.category(), began, ended, &span.details());
        }
    }
}

/// A process-unique id for this thread, and its name.
fn this_thread() -> (u64, String) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static ID: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    let id = ID.try_with(|id| *id).unwrap_or(0);
    let name = std::thread::current().name().map(str::to_owned);
    (id, name.unwrap_or_else(|| format!("thread {id}")))
}

static COLLECTORS: RwLock<Vec<Arc<Collector>>> = RwLock::new(Vec::new());

/// Chrome trace process ids of the two groups of tracks.
const HOST_PROCESS: u64 = 1;
const DEVICE_PROCESS: u64 = 2;

/// A row of the trace: a host thread or a stream.
struct Track {
    process: u64,
    id: u64,
    name: String,
}

/// Writes events while the trace runs. The file is a JSON array with one event per line. If the process exits
/// early, the closing bracket is missing, which all readers of the format accept.
struct Collector {
    path: String,
    began: Instant,
    file: Mutex<TraceFile>,
}

struct TraceFile {
    out: BufWriter<File>,
    /// Flush after each event: the trace ends with the process, without a final flush.
    unbuffered: bool,
    named_tracks: HashSet<(u64, u64)>,
    error: Option<std::io::Error>,
}

impl Collector {
    fn open(path: &Path, unbuffered: bool) -> Result<Arc<Collector>> {
        let name = path.display().to_string();
        let opened = File::create(path).and_then(|file| {
            let mut out = BufWriter::new(file);
            out.write_all(b"[\n")?;
            for (process, name) in [(HOST_PROCESS, "host"), (DEVICE_PROCESS, "device")] {
                let event = "\"name\":\"process_name\",\"ph\":\"M\"";
                writeln!(out, "{{{event},\"pid\":{process},\"args\":{{\"name\":\"{name}\"}}}},")?;
            }
            Ok(out)
        });
        match opened {
            Ok(out) => Ok(Arc::new(Collector {
                path: name,
                began: Instant::now(),
                file: Mutex::new(TraceFile {
                    out,
                    unbuffered,
                    named_tracks: HashSet::new(),
                    error: None,
                }),
            })),
            Err(error) => Err(Error::File { path: name, message: error.to_string() }),
        }
    }

    fn start(self: &Arc<Collector>) {
        COLLECTORS.write().push(self.clone());
        observe::add(self.clone());
    }

    fn stop(self: &Arc<Collector>) {
        let observer: Arc<dyn Observer> = self.clone();
        observe::remove(&observer);
        COLLECTORS.write().retain(|known| !Arc::ptr_eq(known, self));
    }

    /// Closes the array with an instant event that marks the end of the trace.
    fn finish(&self) -> Result<()> {
        let mut file = self.file.lock();
        let event = "\"name\":\"end\",\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":0";
        let end = format!("{{{event},\"ts\":{}}}\n]\n", self.microseconds(Instant::now()));
        file.append(&end);
        let flushed = file.out.flush();
        match file.error.take().map_or(flushed, Err) {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::File { path: self.path.clone(), message: error.to_string() }),
        }
    }

    /// Microseconds since the start of the trace, with three decimals.
    fn microseconds(&self, moment: Instant) -> String {
        let nanoseconds = moment.saturating_duration_since(self.began).as_nanos();
        format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
    }

    fn write(
        &self,
        track: &Track,
        name: &str,
        category: &str,
        began: Instant,
        ended: Instant,
        details: &str,
    ) {
        let began = began.max(self.began);
        let (process, id) = (track.process, track.id);
        let nanoseconds = ended.saturating_duration_since(began).as_nanos();
        let event = format!(
            "{{\"name\":{},\"cat\":\"{category}\",\"ph\":\"X\",\"ts\":{},\"dur\":{}.{:03},\"pid\":{process},\"tid\":{id},\"args\":{{{details}}}}},\n",
            json_string(name),
            self.microseconds(began),
            nanoseconds / 1000,
            nanoseconds % 1000,
        );
        let mut file = self.file.lock();
        if file.named_tracks.insert((process, id)) {
            let named = format!(
                "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{process},\"tid\":{id},\"args\":{{\"name\":{}}}}},\n",
                json_string(&track.name)
            );
            file.append(&named);
        }
        file.append(&event);
    }
}

impl TraceFile {
    /// Appends text. The first error is kept, and nothing is written after it.
    fn append(&mut self, text: &str) {
        if self.error.is_some() {
            return;
        }
        let mut written = self.out.write_all(text.as_bytes());
        if self.unbuffered {
            written = written.and_then(|()| self.out.flush());
        }
        self.error = written.err();
    }
}

impl Observer for Collector {
    fn command_ran(&self, ran: &RanCommand<'_>) {
        let name = format!("{} stream {}", ran.device, ran.stream);
        let track = Track { process: DEVICE_PROCESS, id: ran.stream, name };
        match ran.kind {
            CommandKind::Compute(label) => {
                let title = title(label.calls().iter().map(|call| call.name));
                let details = format!(
                    "{},\"bytes_read\":{},\"bytes_written\":{}",
                    source_list(label),
                    label.work.bytes_read,
                    label.work.bytes_written
                );
                self.write(&track, &title, "kernel", ran.began, ran.ended, &details);
            }
            CommandKind::Host(label) => {
                let title = title(label.calls().iter().map(|call| call.name));
                self.write(&track, &title, "host", ran.began, ran.ended, &source_list(label));
            }
            CommandKind::Loop { label, iterations } => {
                let title = title(label.calls().iter().map(|call| call.name));
                let details = format!("{},\"iterations\":{iterations}", source_list(label));
                self.write(&track, &title, "loop", ran.began, ran.ended, &details);
            }
            CommandKind::Read { bytes } => {
                let details = format!("\"bytes\":{bytes}");
                self.write(&track, "read", "copy", ran.began, ran.ended, &details);
            }
        }
    }
}

/// The calls of a label with their source locations, as a member of a JSON object.
fn source_list(label: &Label) -> String {
    let ops: Vec<String> =
        label.calls().iter().map(|call| json_string(&call.to_string())).collect();
    format!("\"ops\":[{}]", ops.join(","))
}

/// Short title of a command: the names of its ops, truncated.
fn title<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MAX_NAMES: usize = 6;
    let mut shown: Vec<&str> = Vec::new();
    let mut hidden = 0;
    for name in names {
        match shown.len() {
            _ if shown.last() == Some(&name) => {}
            MAX_NAMES => hidden += 1,
            _ => shown.push(name),
        }
    }
    let mut title = shown.join(" ");
    if hidden > 0 {
        let _ = write!(title, " +{hidden}");
    }
    title
}

/// Quotes and escapes a JSON string.
fn json_string(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for character in text.chars() {
        match character {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            control if (control as u32) < 0x20 => {
                let _ = write!(result, "\\u{:04x}", control as u32);
            }
            other => result.push(other),
        }
    }
    result.push('"');
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_strings_are_escaped() {
        assert_eq!(json_string("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }

    #[test]
    fn titles_are_truncated() {
        assert_eq!(title(["exp", "exp", "sum"].into_iter()), "exp sum");
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        assert_eq!(title(names.into_iter()), "a b c d e f +2");
    }
}
