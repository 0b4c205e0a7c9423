//! Devices: opening, properties, statistics, and the per-device state of the runtime.

use super::compilation_cache::{CompilationCache, plan_target};
use super::device_info::DeviceInfo;
use super::dispatcher::Dispatcher;
use super::pending::queue::PendingQueue;
use super::reads::Reads;
use super::recorder;
use super::stats::{Counters, Stats};
use super::stream::{InFlight, Stream};
use super::trace;
use super::uploads::Uploads;
use super::value::Value;
use super::wait::{HostWait, WaitReason};
use crate::{Element, Error, Result};
use inflight_backend::{
    Backend, Buffer, Capabilities, DiskCache, InvalidVariable, Memory, MemoryStats, PeakRates,
    Pool, Priority, Stream as BackendStream, Timeline,
};
use inflight_cpu::CpuBackend;
#[cfg(feature = "cuda")]
use inflight_cuda::CudaBackend;
use inflight_ir::plan::PlanTarget;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt;
use std::panic::Location;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::ThreadId;

pub use inflight_cpu::{Options as CpuOptions, Path as CpuPath};
#[cfg(feature = "cuda")]
pub use inflight_cuda::Options as CudaOptions;

/// A device that computes tensors: the CPU or an NVIDIA GPU. A cheap handle. There is no implicit current device:
/// constructors take one.
#[derive(Clone)]
pub struct Device(Arc<DeviceInner>);

struct DeviceInner {
    /// Unique id, never reused.
    id: u64,
    name: &'static str,
    backend: Arc<dyn Backend>,
    counters: Arc<Counters>,
    cache: Arc<CompilationCache>,
    dispatcher: Dispatcher,
    /// Locked while a segment is extracted from the recorded graph, so that each node is scheduled once.
    scheduling: Mutex<()>,
    streams: Mutex<Vec<Weak<DeviceStream>>>,
    /// Default stream of each thread that recorded on the device.
    thread_streams: Mutex<FxHashMap<ThreadId, Arc<DeviceStream>>>,
    reads: Arc<Reads>,
    uploads: Arc<Uploads>,
    pending_queue: PendingQueue,
}

/// All open devices; may contain closed ones.
static OPEN_DEVICES: Mutex<Vec<Weak<DeviceInner>>> = Mutex::new(Vec::new());

/// A backend stream, its timeline, and its segments in flight.
pub(crate) struct DeviceStream {
    /// The id of the device.
    pub device_id: u64,
    pub stream: Arc<dyn BackendStream>,
    pub timeline: Arc<Timeline>,
    /// Last timeline value handed out. Only the dispatcher changes it.
    pub last_signal: AtomicU64,
    /// Submitted segments; the oldest finished ones are dropped.
    pub in_flight: Mutex<InFlight>,
    /// Number of device ops running on the stream.
    pub running_ops: AtomicUsize,
}

impl Device {
    /// Returns the process-wide CPU device. Every call returns the same device.
    ///
    /// Environment variables set it up: `INFLIGHT_THREADS` the number of worker threads (1 to 4096); `INFLIGHT_CPU`
    /// the code path (`auto`, `avx512`, `avx2` or `block`); `INFLIGHT_CACHE` the folder of the kernel cache, or
    /// `off`.
    ///
    /// # Panics
    /// If `INFLIGHT_THREADS` or `INFLIGHT_CPU` has another value. To handle that as an error, use
    /// [`CpuOptions::from_env`] with [`Device::open_cpu`].
    pub fn cpu() -> Device {
        static CPU: OnceLock<Device> = OnceLock::new();
        let open = || match CpuOptions::from_env().map_err(Error::from).and_then(Device::open_cpu) {
            Ok(device) => {
                device.enable_kernel_cache_from_env();
                device
            }
            Err(error) => panic!("the CPU device cannot be opened: {error}"),
        };
        CPU.get_or_init(open).clone()
    }

    /// Opens another CPU device, with its own worker threads, memory pool, caches and counters.
    ///
    /// # Errors
    /// If the CPU lacks the requested instruction set, or if the worker threads cannot be started.
    pub fn open_cpu(options: CpuOptions) -> Result<Device> {
        let backend = CpuBackend::new(options)?;
        Ok(Device::with_backend("cpu", backend))
    }

    /// Returns the process-wide device of an NVIDIA GPU. Every call with the same ordinal returns the same device.
    ///
    /// `INFLIGHT_TF32=1` and `INFLIGHT_F16_ACCUMULATE=1` set its [`CudaOptions`]; `INFLIGHT_CACHE` sets the folder
    /// of the kernel cache, or `off`. CUDA is loaded at run time, so building a program that calls this needs no
    /// part of it.
    ///
    /// # Errors
    /// If the driver, the GPU or NVRTC is missing; the error lists the locations searched. [`Error::Invalid`] if a
    /// variable has a value that is not accepted.
    pub fn cuda(ordinal: usize) -> Result<Device> {
        static OPEN: Mutex<Vec<(usize, Device)>> = Mutex::new(Vec::new());
        let mut open = OPEN.lock();
        if let Some((_, device)) = open.iter().find(|(known, _)| *known == ordinal) {
            return Ok(device.clone());
        }
        let device = Device::open_cuda(ordinal)?;
        open.push((ordinal, device.clone()));
        Ok(device)
    }

    /// Opens another device on an NVIDIA GPU, with its own streams, memory pool, caches and counters.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    pub fn open_cuda(ordinal: usize) -> Result<Device> {
        #[cfg(feature = "cuda")]
        return Device::open_cuda_with(ordinal, CudaOptions::from_env()?);
        #[cfg(not(feature = "cuda"))]
        Err(no_cuda(&format!("cuda:{ordinal}")))
    }

    /// Opens another device on an NVIDIA GPU with explicit options, such as TF32 for matmuls.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    #[cfg(feature = "cuda")]
    pub fn open_cuda_with(ordinal: usize, options: CudaOptions) -> Result<Device> {
        static NAMES: Mutex<Vec<(usize, &'static str)>> = Mutex::new(Vec::new());
        let backend = CudaBackend::new(ordinal, options)?;
        let mut names = NAMES.lock();
        let existing = names.iter().find(|(known, _)| *known == ordinal).map(|(_, name)| *name);
        let name = existing.unwrap_or_else(|| {
            // Leaks at most one name per GPU.
            let name: &'static str = Box::leak(format!("cuda:{ordinal}").into_boxed_str());
            names.push((ordinal, name));
            name
        });
        Ok(Device::with_backend(name, backend))
    }

    /// Returns the number of NVIDIA GPUs.
    ///
    /// # Errors
    /// If there is no CUDA driver; the error lists the locations searched.
    pub fn cuda_count() -> Result<usize> {
        #[cfg(feature = "cuda")]
        return inflight_cuda::count().map_err(|message| {
            inflight_backend::Fault::from(inflight_backend::FaultKind::Missing(message)).into()
        });
        #[cfg(not(feature = "cuda"))]
        Err(no_cuda("the number of GPUs"))
    }

    /// Creates a device on any backend.
    pub fn with_backend(name: &'static str, backend: Arc<dyn Backend>) -> Device {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        trace::start_from_env();
        let cache = Arc::new(CompilationCache::default());
        let counters = Arc::new(Counters::default());
        let dispatcher = Dispatcher::new(backend.clone(), cache.clone(), counters.clone());
        let reads = Arc::new(Reads::new(backend.stream(Priority::High)));
        let uploads = Arc::new(Uploads::new(backend.stream(Priority::High)));
        let device = Device(Arc::new(DeviceInner {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name,
            backend,
            counters,
            cache,
            dispatcher,
            scheduling: Mutex::new(()),
            streams: Mutex::new(Vec::new()),
            thread_streams: Mutex::default(),
            reads,
            uploads,
            pending_queue: PendingQueue::new(),
        }));
        let mut open = OPEN_DEVICES.lock();
        open.retain(|device| device.strong_count() > 0);
        open.push(Arc::downgrade(&device.0));
        drop(open);
        device
    }

    /// All open devices.
    pub(crate) fn open_devices() -> Vec<Device> {
        OPEN_DEVICES.lock().iter().filter_map(Weak::upgrade).map(Device).collect()
    }

    /// Returns the device's properties: model, compilation target, parallelism and memory.
    ///
    /// ```
    /// use inflight::{Device, Parallelism};
    ///
    /// let info = Device::cpu().info();
    /// println!("{}: {}, {} bytes of memory", info.name, info.parallelism, info.memory_bytes);
    /// assert!(matches!(info.parallelism, Parallelism::Threads(1..)));
    /// assert!(info.host_visible);
    /// ```
    pub fn info(&self) -> DeviceInfo {
        DeviceInfo::from(self.capabilities())
    }

    /// Backend properties, including flags for the planner.
    pub(crate) fn capabilities(&self) -> &Capabilities {
        self.0.backend.capabilities()
    }

    /// The plan target for this device.
    pub(crate) fn plan_target(&self) -> PlanTarget {
        plan_target(self.capabilities())
    }

    /// Short name: `cpu`, `cuda:0`.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Enables the persistent kernel cache in `folder`: later compilations are looked up there first, and stored
    /// there. Creates the folder if needed. Returns whether the folder is used: `false` if a kernel cache is
    /// already set, which stays.
    ///
    /// [`Device::cpu`] enables the folder of `INFLIGHT_CACHE`, or else the user's cache folder, by itself; a device from
    /// [`Device::open_cpu`] has no kernel cache on disk until this is called. GPU devices ignore this folder: their
    /// compiled kernels are always stored in the folder of `INFLIGHT_CACHE`. Processes may share a folder. Entries are
    /// keyed by the exact compiler and kernel, so stale entries are never used.
    ///
    /// The folder's contents are executed as machine code: only trusted users may have write access.
    ///
    /// # Errors
    /// [`Error::File`] if the folder does not exist and cannot be created, belongs to another user, can be written to by others
    /// (`chmod go-w` mends that), or is a symbolic link.
    pub fn set_kernel_cache_dir(&self, folder: impl AsRef<Path>) -> Result<bool> {
        let folder = folder.as_ref();
        match DiskCache::open(folder) {
            Ok(disk) => Ok(self.0.cache.set_disk_cache(disk)),
            Err(error) => {
                let path = folder.display().to_string();
                Err(Error::File { path, message: error.to_string() })
            }
        }
    }

    /// Enables the kernel cache that `INFLIGHT_CACHE` names.
    pub(crate) fn enable_kernel_cache_from_env(&self) {
        if let Some(disk) = DiskCache::from_env() {
            self.0.cache.set_disk_cache(disk);
        }
    }

    /// Submits the ops that this thread has recorded. Does not wait for their results.
    ///
    /// A live value that is cheap to recompute may stay recorded, to be fused into later ops that read it.
    #[track_caller]
    pub fn flush(&self) {
        recorder::flush(self, Location::caller());
    }

    /// Submits the ops that this thread has recorded, then waits until all work submitted to the device by any
    /// thread is done, including asynchronous reads and queued pending work.
    ///
    /// Pending work whose operands are not available yet is not waited for. Failed computations are not errors
    /// here.
    ///
    /// # Errors
    /// [`Error::WaitDenied`] if a [`SyncGuard`](crate::SyncGuard) denies the wait.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        recorder::flush(self, location);
        self.synchronize(location)
    }

    /// Waits until all submitted work is done.
    fn synchronize(&self, location: &'static Location<'static>) -> Result<()> {
        let mut waiting = HostWait::new(self, WaitReason::Sync, location);
        if let Some(drained) = self.0.pending_queue.drain_marker() {
            waiting.on_completion(&drained)?;
        }
        self.dispatcher().assist();
        waiting.on(&self.dispatcher().all_dispatched(), None)?;
        self.synchronize_streams(|_| true, &mut waiting)?;
        waiting.on(&self.0.uploads.last_event(), None)?;
        for event in self.0.reads.completion_events() {
            waiting.on(&event, None)?;
        }
        Ok(())
    }

    /// Waits for the work submitted to some of the device's streams, all of which is dispatched.
    fn synchronize_streams(
        &self,
        is_awaited: impl Fn(&Arc<DeviceStream>) -> bool,
        waiting: &mut HostWait<'_>,
    ) -> Result<()> {
        let streams: Vec<Arc<DeviceStream>> =
            self.0.streams.lock().iter().filter_map(Weak::upgrade).collect();
        for stream in streams.iter().filter(|stream| is_awaited(stream)) {
            let event = stream.timeline.event(stream.last_signal.load(Ordering::Acquire));
            waiting.on(&event, Some(&stream.stream))?;
        }
        Ok(())
    }

    /// Waits until all work submitted so far to some of the device's streams is done: one wait at most.
    pub(crate) fn wait_for_streams(
        &self,
        is_awaited: impl Fn(&Arc<DeviceStream>) -> bool,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let mut waiting = HostWait::new(self, WaitReason::Sync, location);
        self.dispatcher().assist();
        waiting.on(&self.dispatcher().all_dispatched(), None)?;
        self.synchronize_streams(is_awaited, &mut waiting)
    }

    /// The default stream of a thread, if it has submitted work to the device.
    pub(crate) fn existing_thread_stream(&self, thread: ThreadId) -> Option<Arc<DeviceStream>> {
        self.0.thread_streams.lock().get(&thread).cloned()
    }

    /// Peak rates that the backend computes from the device's attributes.
    pub(crate) fn peak_rates(&self) -> Option<PeakRates> {
        self.0.backend.peak_rates()
    }

    /// Reads the device's counters.
    pub fn stats(&self) -> Stats {
        self.0.counters.read(self.memory())
    }

    /// Memory in use, cached for reuse, and allowed.
    pub fn memory(&self) -> MemoryStats {
        self.0.backend.pool().stats()
    }

    /// Limits the memory that values may take; `None` removes the limit. A value that does not fit fails with an
    /// out-of-memory error.
    pub fn set_memory_limit(&self, bytes: Option<usize>) {
        self.0.backend.pool().set_limit(bytes);
    }

    /// Returns cached memory to the system, and the number of bytes.
    ///
    /// On a GPU this waits for all submitted work if there is cached memory, because the driver frees memory only
    /// while the GPU is idle; if other processes use the GPU, the driver waits for their work too. Do not call it
    /// from a callback that the device runs, such as a host function.
    ///
    /// # Errors
    /// [`Error::WaitDenied`] if it would have to wait and a [`SyncGuard`](crate::SyncGuard) denies that.
    #[track_caller]
    pub fn trim(&self) -> Result<usize> {
        let pool = self.0.backend.pool();
        if !self.capabilities().host_visible && pool.stats().cached > 0 {
            self.synchronize(Location::caller())?;
        }
        Ok(pool.trim())
    }

    /// Optional libraries that the device uses: each with its version, or with the consequences of its absence and
    /// how to install it. May take a while, since libraries are loaded to find out.
    pub fn libraries(&self) -> Vec<(&'static str, std::result::Result<String, String>)> {
        self.0.backend.libraries()
    }

    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.0.counters
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.0.dispatcher
    }

    /// Address, for a lock order among devices.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn scheduling(&self) -> &Mutex<()> {
        &self.0.scheduling
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        self.0.backend.pool()
    }

    /// Creates a value from a vector's elements: zero-copy on a host-visible device, uploaded asynchronously
    /// otherwise.
    pub(crate) fn value_from_vec<T: Element>(&self, data: Vec<T>) -> Arc<Value> {
        if self.capabilities().host_visible {
            return Value::ready(Buffer::with_memory(self.pool().adopt(data)));
        }
        let source = Value::ready(Buffer::with_memory(Memory::adopt(data)));
        self.0.uploads.upload(&source)
    }

    /// Creates a value from a copy of elements. On a host-visible device the copy is in the pool's memory, which is
    /// cache-line aligned and uses huge pages if large, unlike a vector.
    pub(crate) fn value_from_slice<T: Element>(&self, data: &[T]) -> Arc<Value> {
        if self.capabilities().host_visible {
            // SAFETY: the device's memory is host-visible.
            if let Ok(memory) = unsafe { self.pool().copy_of(data) } {
                return Value::ready(Buffer::with_memory(memory));
            }
        }
        self.value_from_vec(data.to_vec())
    }

    /// Creates a value from shared elements: copied on a host-visible device, uploaded without a copy otherwise.
    pub(crate) fn value_from_shared<T: Element>(&self, data: Arc<Vec<T>>) -> Arc<Value> {
        if self.capabilities().host_visible {
            return self.value_from_slice(&data);
        }
        // Lending is fine: an upload only reads its source.
        let source = Value::ready(Buffer::with_memory(Memory::lend(data)));
        self.0.uploads.upload(&source)
    }

    pub(crate) fn uploads(&self) -> &Arc<Uploads> {
        &self.0.uploads
    }

    /// A weak reference, which does not keep the device open.
    pub(crate) fn downgrade(&self) -> WeakDevice {
        WeakDevice(Arc::downgrade(&self.0))
    }

    /// A thread's default stream.
    pub(crate) fn thread_stream(&self, thread: ThreadId) -> Arc<DeviceStream> {
        let existing = self.0.thread_streams.lock().get(&thread).cloned();
        existing.unwrap_or_else(|| {
            let stream = self.new_stream(Priority::Normal);
            self.0.thread_streams.lock().insert(thread, stream.clone());
            stream
        })
    }

    /// Removes the stream of a thread that has exited. Queued work still runs.
    pub(crate) fn remove_thread_stream(&self, thread: ThreadId) {
        self.0.thread_streams.lock().remove(&thread);
    }

    /// Creates a stream: an ordered queue of work, independent of the threads' default streams.
    pub fn stream(&self) -> Stream {
        self.stream_with_priority(Priority::Normal)
    }

    /// Creates a stream with a scheduling priority relative to the device's other streams. Priority affects when
    /// work runs, never its results.
    pub fn stream_with_priority(&self, priority: Priority) -> Stream {
        Stream::new(self.clone(), self.new_stream(priority))
    }

    /// Creates a stream.
    pub(crate) fn new_stream(&self, priority: Priority) -> Arc<DeviceStream> {
        let stream = Arc::new(DeviceStream {
            device_id: self.0.id,
            stream: self.0.backend.stream(priority),
            timeline: Timeline::new(),
            last_signal: AtomicU64::new(0),
            in_flight: Mutex::default(),
            running_ops: AtomicUsize::new(0),
        });
        let mut streams = self.0.streams.lock();
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&stream));
        stream
    }

    /// The queue of the pending-work thread.
    pub(crate) fn pending_queue(&self) -> &PendingQueue {
        &self.0.pending_queue
    }

    pub(crate) fn reads(&self) -> &Arc<Reads> {
        &self.0.reads
    }
}

/// Error for requesting a GPU in a build without the CUDA backend.
#[cfg(not(feature = "cuda"))]
fn no_cuda(requested: &str) -> Error {
    Error::Invalid(format!(
        "{requested}: this build has no CUDA backend; enable the feature `cuda` of the crate `inflight`"
    ))
}

impl From<InvalidVariable> for Error {
    fn from(error: InvalidVariable) -> Error {
        Error::Invalid(error.to_string())
    }
}

/// A weak reference to a device.
pub(crate) struct WeakDevice(Weak<DeviceInner>);

impl WeakDevice {
    /// The device, if it is still open.
    pub fn upgrade(&self) -> Option<Device> {
        self.0.upgrade().map(Device)
    }

    /// Whether this refers to `device`.
    pub fn is(&self, device: &Device) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&device.0))
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_variable_is_an_invalid_setting_and_no_device_fault() {
        let error = InvalidVariable {
            name: "INFLIGHT_CPU",
            value: "sse2".into(),
            expected: "auto or avx2",
        };
        let error = Error::from(error);
        assert!(matches!(error, Error::Invalid(_)), "{error}");
        for part in ["INFLIGHT_CPU", "\"sse2\"", "auto or avx2"] {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
}
