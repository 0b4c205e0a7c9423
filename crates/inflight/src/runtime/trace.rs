//! What ran when, as a file that `chrome://tracing`, Perfetto and `inflight timeline` show.
//!
//! There is a track for each host thread that submits, dispatches, waits or does pending work, and one for
//! each stream. [`trace`] writes what happens during a call; `INFLIGHT_TRACE=path` what happens from the first
//! device on until the process ends. While neither is in use, each point that could be traced costs one
//! relaxed load.
//!
//! With the feature `tracing`, the same points of the host are spans of the `tracing` crate too.

use super::{Device, WaitReason};
use crate::{Error, Result};
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

/// Runs `work` and writes what the whole process did meanwhile, as a Chrome trace.
///
/// What `work` started and did not wait for is written as far as it came. Traces may overlap and nest.
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
    /// Stops the collection also if `work` panics.
    struct Stop(Arc<Collector>);
    impl Drop for Stop {
        fn drop(&mut self) {
            self.0.stop();
        }
    }
    let collector = Collector::open(path.as_ref(), false)?;
    let stop = Stop(collector.clone());
    collector.start();
    let result = work();
    drop(stop);
    collector.finish()?;
    Ok(result)
}

/// Starts the trace that `INFLIGHT_TRACE` asks for, once.
pub(crate) fn follow_environment() {
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

/// Something that a thread of the host spends time on.
#[derive(Clone, Copy)]
pub(crate) enum Span {
    /// The thread waits.
    Wait { device: &'static str, reason: WaitReason, location: &'static Location<'static> },
    /// A part of the recorded graph is taken out.
    Submit { device: &'static str },
    /// A segment of so many ops goes from its graph to commands on a stream.
    Dispatch { ops: usize },
    /// A segment is planned: its plan was not known.
    Plan,
    /// A kernel is compiled.
    Compile,
    /// A plan's commands are put on a stream.
    Enqueue,
    /// Pending work is done.
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

    /// The details, as the members of a JSON object.
    fn details(self) -> String {
        match self {
            Span::Wait { device, reason, location } => format!(
                "\"reason\":{},\"device\":{},\"at\":{}",
                quoted(&reason.to_string()),
                quoted(device),
                quoted(&location.to_string())
            ),
            Span::Submit { device } => format!("\"device\":{}", quoted(device)),
            Span::Dispatch { ops } => format!("\"ops\":{ops}"),
            Span::Plan | Span::Compile | Span::Enqueue => String::new(),
            Span::Work { location } => format!("\"at\":{}", quoted(&location.to_string())),
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

/// A span that lasts until it is dropped.
pub(crate) struct Running {
    /// `None` if nobody writes a trace.
    span: Option<(Span, Instant)>,
    #[cfg(feature = "tracing")]
    _entered: tracing::span::EnteredSpan,
}

/// Begins a span on this thread, if somebody wants to know.
#[cfg(not(feature = "tracing"))]
pub(crate) fn begin(make: impl FnOnce() -> Span) -> Option<Running> {
    observe::is_listening().then(|| Running { span: Some((make(), Instant::now())) })
}

/// Begins a span on this thread.
#[cfg(feature = "tracing")]
pub(crate) fn begin(make: impl FnOnce() -> Span) -> Option<Running> {
    let span = make();
    let listening = observe::is_listening();
    Some(Running { span: listening.then(|| (span, Instant::now())), _entered: span.entered() })
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some((span, began)) = self.span else { return };
        let ended = Instant::now();
        let (thread, name) = this_thread();
        let track = Track { process: HOST, number: thread, name };
        for collector in COLLECTORS.read().iter() {
            collector.write(&track, span.name(), span.category(), began, ended, &span.details());
        }
    }
}

/// The number of this thread, which no other thread of the process has, and its name.
fn this_thread() -> (u64, String) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    let number = NUMBER.try_with(|number| *number).unwrap_or(0);
    let name = std::thread::current().name().map(str::to_owned);
    (number, name.unwrap_or_else(|| format!("thread {number}")))
}

static COLLECTORS: RwLock<Vec<Arc<Collector>>> = RwLock::new(Vec::new());

/// The process numbers of the two groups of tracks.
const HOST: u64 = 1;
const STREAMS: u64 = 2;

/// A row of the picture.
struct Track {
    process: u64,
    number: u64,
    name: String,
}

/// Writes a trace while it is taken. The file is an array of events, one on each line; a process that ends in
/// the middle leaves an array without its end, which every reader of the format accepts.
struct Collector {
    path: String,
    began: Instant,
    file: Mutex<Sink>,
}

struct Sink {
    out: BufWriter<File>,
    /// Whether each event goes to the file at once: nobody will flush it later.
    unbuffered: bool,
    known: HashSet<(u64, u64)>,
    error: Option<std::io::Error>,
}

impl Collector {
    fn open(path: &Path, unbuffered: bool) -> Result<Arc<Collector>> {
        let name = path.display().to_string();
        let opened = File::create(path).and_then(|file| {
            let mut out = BufWriter::new(file);
            out.write_all(b"[\n")?;
            for (process, name) in [(HOST, "host"), (STREAMS, "device")] {
                let event = "\"name\":\"process_name\",\"ph\":\"M\"";
                writeln!(out, "{{{event},\"pid\":{process},\"args\":{{\"name\":\"{name}\"}}}},")?;
            }
            Ok(out)
        });
        match opened {
            Ok(out) => Ok(Arc::new(Collector {
                path: name,
                began: Instant::now(),
                file: Mutex::new(Sink { out, unbuffered, known: HashSet::new(), error: None }),
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

    /// Ends the array with an event that says how long the trace is.
    fn finish(&self) -> Result<()> {
        let mut sink = self.file.lock();
        let event = "\"name\":\"end\",\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":0";
        let end = format!("{{{event},\"ts\":{}}}\n]\n", self.microseconds(Instant::now()));
        sink.put(&end);
        let flushed = sink.out.flush();
        match sink.error.take().map_or(flushed, Err) {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::File { path: self.path.clone(), message: error.to_string() }),
        }
    }

    /// Since the trace began, with nanoseconds behind the point.
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
        let (process, number) = (track.process, track.number);
        let nanoseconds = ended.saturating_duration_since(began).as_nanos();
        let event = format!(
            "{{\"name\":{},\"cat\":\"{category}\",\"ph\":\"X\",\"ts\":{},\"dur\":{}.{:03},\"pid\":{process},\"tid\":{number},\"args\":{{{details}}}}},\n",
            quoted(name),
            self.microseconds(began),
            nanoseconds / 1000,
            nanoseconds % 1000,
        );
        let mut sink = self.file.lock();
        if sink.known.insert((process, number)) {
            let named = format!(
                "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{process},\"tid\":{number},\"args\":{{\"name\":{}}}}},\n",
                quoted(&track.name)
            );
            sink.put(&named);
        }
        sink.put(&event);
    }
}

impl Sink {
    /// The first error stays; nothing is written after it.
    fn put(&mut self, text: &str) {
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
        let track = Track { process: STREAMS, number: ran.stream, name };
        match ran.kind {
            CommandKind::Compute(label) => {
                let title = title(label.calls().iter().map(|call| call.name));
                let details = format!(
                    "{},\"bytes_read\":{},\"bytes_written\":{}",
                    sources(label),
                    label.work.bytes_read,
                    label.work.bytes_written
                );
                self.write(&track, &title, "kernel", ran.began, ran.ended, &details);
            }
            CommandKind::Host(label) => {
                let title = title(label.calls().iter().map(|call| call.name));
                self.write(&track, &title, "host", ran.began, ran.ended, &sources(label));
            }
            CommandKind::Loop { label, iterations } => {
                let title = title(label.calls().iter().map(|call| call.name));
                let details = format!("{},\"turns\":{iterations}", sources(label));
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
fn sources(label: &Label) -> String {
    let ops: Vec<String> = label.calls().iter().map(|call| quoted(&call.to_string())).collect();
    format!("\"ops\":[{}]", ops.join(","))
}

/// The ops of a kernel in a few words.
fn title<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 6;
    let mut shown: Vec<&str> = Vec::new();
    let mut hidden = 0;
    for name in names {
        match shown.len() {
            _ if shown.last() == Some(&name) => {}
            MOST => hidden += 1,
            _ => shown.push(name),
        }
    }
    let mut title = shown.join(" ");
    if hidden > 0 {
        let _ = write!(title, " +{hidden}");
    }
    title
}

/// A JSON string.
fn quoted(text: &str) -> String {
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
    fn strings_are_quoted() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }

    #[test]
    fn titles_are_short() {
        assert_eq!(title(["exp", "exp", "sum"].into_iter()), "exp sum");
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        assert_eq!(title(names.into_iter()), "a b c d e f +2");
    }
}
