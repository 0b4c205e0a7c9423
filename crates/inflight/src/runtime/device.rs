//! Devices.

use super::cache::{Cache, plan_target};
use super::dispatcher::Dispatcher;
use super::pending::queue::Queue;
use super::reads::Reads;
use super::recorder;
use super::stats::{Counters, Stats};
use super::stream::{InFlight, Stream};
use super::trace;
use super::uploads::Uploads;
use super::value::Value;
use super::wait::{WaitReason, Waiting};
use crate::{Element, Error, Result};
use inflight_backend::{
    Backend, Buffer, Capabilities, DiskCache, Memory, MemoryStats, Pool, Priority,
    Stream as BackendStream, Timeline,
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

/// A cheap handle to a device. Always explicit: there is no current device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    /// Distinguishes devices; never reused.
    id: u64,
    name: &'static str,
    backend: Arc<dyn Backend>,
    counters: Arc<Counters>,
    cache: Arc<Cache>,
    dispatcher: Dispatcher,
    /// Held while a part of the recorded graph is taken out, so that a node is scheduled once.
    scheduling: Mutex<()>,
    streams: Mutex<Vec<Weak<DeviceStream>>>,
    /// The default stream of each thread that recorded on the device.
    thread_streams: Mutex<FxHashMap<ThreadId, Arc<DeviceStream>>>,
    reads: Arc<Reads>,
    uploads: Arc<Uploads>,
    queue: Queue,
}

/// Every device that was opened, and some that are closed.
static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// A stream of a device and the timeline of what was done on it.
pub(crate) struct DeviceStream {
    pub stream: Arc<dyn BackendStream>,
    pub timeline: Arc<Timeline>,
    /// The last value that the dispatcher gave out. Only the dispatcher changes it.
    pub last: AtomicU64,
    /// Segments submitted to it, without the oldest ones that are done.
    pub in_flight: Mutex<InFlight>,
    /// How many ops run on it.
    pub open: AtomicUsize,
}

impl Device {
    /// The processor. Its threads and caches are shared by the whole process.
    ///
    /// `INFLIGHT_THREADS` sets the number of worker threads; `INFLIGHT_CPU` (`auto`, `avx512`, `avx2`,
    /// `block`) how kernels are run; `INFLIGHT_CACHE` the folder that compiled kernels are kept in for later
    /// processes, or `off`.
    ///
    /// # Panics
    /// If one of these variables has a value that makes no sense; [`Device::open_cpu`] returns that as an
    /// error.
    pub fn cpu() -> Device {
        static CPU: OnceLock<Device> = OnceLock::new();
        let open = || match CpuOptions::from_env().map_err(Error::from).and_then(Device::open_cpu) {
            Ok(device) => {
                device.keep_kernels_of_environment();
                device
            }
            Err(error) => panic!("the CPU device cannot be opened: {error}"),
        };
        CPU.get_or_init(open).clone()
    }

    /// Another device on the processor, with threads, memory, caches and counters of its own.
    pub fn open_cpu(options: CpuOptions) -> Result<Device> {
        let backend = CpuBackend::new(options)?;
        Ok(Device::with_backend("cpu", backend))
    }

    /// The NVIDIA GPU of this number. Its memory and caches are shared by the whole process.
    ///
    /// `INFLIGHT_TF32=1` and `INFLIGHT_F16_ACCUMULATE=1` set its [`CudaOptions`]; `INFLIGHT_CACHE` is the folder that
    /// compiled kernels are kept in for later processes, or `off`.
    ///
    /// # Errors
    /// If there is no driver, no such GPU, or no NVRTC to compile kernels with; the error says what was looked
    /// for. Nothing of CUDA is needed to build a program that calls this.
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

    /// Another device on an NVIDIA GPU, with streams, memory, caches and counters of its own.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    pub fn open_cuda(ordinal: usize) -> Result<Device> {
        #[cfg(feature = "cuda")]
        return Device::open_cuda_with(ordinal, CudaOptions::from_env()?);
        #[cfg(not(feature = "cuda"))]
        Err(no_cuda(&format!("cuda:{ordinal}")))
    }

    /// The same with options of its own, such as TF32 for products.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    #[cfg(feature = "cuda")]
    pub fn open_cuda_with(ordinal: usize, options: CudaOptions) -> Result<Device> {
        static NAMES: Mutex<Vec<(usize, &'static str)>> = Mutex::new(Vec::new());
        let backend = CudaBackend::new(ordinal, options)?;
        let mut names = NAMES.lock();
        let known = names.iter().find(|(known, _)| *known == ordinal).map(|(_, name)| *name);
        let name = known.unwrap_or_else(|| {
            // There are as many of these as there are GPUs.
            let name: &'static str = Box::leak(format!("cuda:{ordinal}").into_boxed_str());
            names.push((ordinal, name));
            name
        });
        Ok(Device::with_backend(name, backend))
    }

    /// How many NVIDIA GPUs there are.
    ///
    /// # Errors
    /// If there is no driver that could say; the error says what was looked for.
    pub fn cuda_count() -> Result<usize> {
        #[cfg(feature = "cuda")]
        return inflight_cuda::count().map_err(|message| {
            inflight_backend::Fault::from(inflight_backend::FaultKind::Missing(message)).into()
        });
        #[cfg(not(feature = "cuda"))]
        Err(no_cuda("the number of GPUs"))
    }

    /// A device on any backend.
    pub fn with_backend(name: &'static str, backend: Arc<dyn Backend>) -> Device {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        trace::follow_environment();
        let cache = Arc::new(Cache::default());
        let counters = Arc::new(Counters::default());
        let dispatcher = Dispatcher::new(backend.clone(), cache.clone(), counters.clone());
        let reads = Arc::new(Reads::new(backend.stream(Priority::High)));
        let uploads = Arc::new(Uploads::new(backend.stream(Priority::High)));
        let device = Device(Arc::new(Inner {
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
            queue: Queue::new(),
        }));
        let mut open = OPEN.lock();
        open.retain(|device| device.strong_count() > 0);
        open.push(Arc::downgrade(&device.0));
        drop(open);
        device
    }

    /// Every device that is open.
    pub(crate) fn all_open() -> Vec<Device> {
        OPEN.lock().iter().filter_map(Weak::upgrade).map(Device).collect()
    }

    /// What the runtime knows of it.
    pub fn capabilities(&self) -> &Capabilities {
        self.0.backend.capabilities()
    }

    /// What can be planned for it.
    pub(crate) fn plan_target(&self) -> PlanTarget {
        plan_target(self.capabilities())
    }

    /// The short name: `cpu`, `cuda:0`.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Keeps compiled kernels in this folder, for this device and for those of other processes, and takes from
    /// there what they have compiled. Says whether the device does so now: it keeps to the first folder.
    ///
    /// [`Device::cpu`] does this by itself. What is in the folder is run as machine code: it must be writable
    /// by nobody who is not trusted.
    ///
    /// # Errors
    /// If there is no such folder and none can be made.
    pub fn set_kernel_cache_dir(&self, folder: impl AsRef<Path>) -> Result<bool> {
        let folder = folder.as_ref();
        match DiskCache::open(folder) {
            Ok(disk) => Ok(self.0.cache.keep_on(disk)),
            Err(error) => {
                let path = folder.display().to_string();
                Err(Error::File { path, message: error.to_string() })
            }
        }
    }

    /// Keeps compiled kernels where the environment says.
    pub(crate) fn keep_kernels_of_environment(&self) {
        if let Some(disk) = DiskCache::from_env() {
            self.0.cache.keep_on(disk);
        }
    }

    /// Submits what this thread has recorded. Does not wait.
    ///
    /// A live value that is cheap to compute again may stay recorded, to be fused into what reads it.
    #[track_caller]
    pub fn flush(&self) {
        recorder::flush(self, Location::caller());
    }

    /// Submits what this thread has recorded, then waits until everything submitted to the device by any
    /// thread is done, asynchronous reads and queued pending work included.
    ///
    /// Pending work whose operands are not there is not waited for.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        recorder::flush(self, location);
        self.come_to_rest(location)
    }

    /// Waits until everything submitted to the device is done.
    fn come_to_rest(&self, location: &'static Location<'static>) -> Result<()> {
        let mut waiting = Waiting::new(self, WaitReason::Sync, location);
        if let Some(drained) = self.0.queue.drained() {
            waiting.on_completion(&drained)?;
        }
        self.dispatcher().assist();
        waiting.on(&self.dispatcher().last(), None)?;
        let streams: Vec<Arc<DeviceStream>> =
            self.0.streams.lock().iter().filter_map(Weak::upgrade).collect();
        for stream in streams {
            let event = stream.timeline.event(stream.last.load(Ordering::Acquire));
            waiting.on(&event, Some(&stream.stream))?;
        }
        waiting.on(&self.0.uploads.last(), None)?;
        for event in self.0.reads.all() {
            waiting.on(&event, None)?;
        }
        Ok(())
    }

    /// The device's counters.
    pub fn stats(&self) -> Stats {
        self.0.counters.read(self.memory())
    }

    /// How much memory is in use, cached and allowed.
    pub fn memory(&self) -> MemoryStats {
        self.0.backend.pool().stats()
    }

    /// The most memory that values may take; `None` for as much as there is. Work that does not fit is an
    /// error of its values.
    pub fn set_memory_limit(&self, bytes: Option<usize>) {
        self.0.backend.pool().set_limit(bytes);
    }

    /// Gives memory that is kept for reuse back to the system. Returns how many bytes that were.
    ///
    /// A GPU gives memory back only when it has nothing to do. So, if there is any, this waits for all that was submitted
    /// to it, and must not be called by what the device itself calls, such as a host function. If others use the same GPU,
    /// its driver waits for those as well.
    ///
    /// # Errors
    /// If it would have to wait, and a [`SyncGuard`](crate::SyncGuard) denies that.
    #[track_caller]
    pub fn trim(&self) -> Result<usize> {
        let pool = self.0.backend.pool();
        if !self.capabilities().host_visible && pool.stats().cached > 0 {
            self.come_to_rest(Location::caller())?;
        }
        Ok(pool.trim())
    }

    /// The libraries that the device uses beyond what it needs, each with its version, or with what it does without it
    /// and how to get it. Looking for one may take a while.
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

    /// Where it is, to tell devices apart.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn scheduling(&self) -> &Mutex<()> {
        &self.0.scheduling
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        self.0.backend.pool()
    }

    /// The elements of a vector as a value: taken over where the device uses the host's memory, on their way
    /// to the device where it has its own.
    pub(crate) fn value_of<T: Element>(&self, data: Vec<T>) -> Arc<Value> {
        if self.capabilities().host_visible {
            return Value::ready(Buffer::with_memory(self.pool().adopt(data)));
        }
        let source = Value::ready(Buffer::with_memory(Memory::adopt(data)));
        self.0.uploads.upload(&source)
    }

    /// A copy of elements as a value. Where the device uses the host's memory, it is in the device's own: it begins
    /// at a cache line and, if it is large, lies on huge pages, which a vector does not.
    pub(crate) fn value_of_copy<T: Element>(&self, data: &[T]) -> Arc<Value> {
        if self.capabilities().host_visible {
            // SAFETY: the host sees the device's memory.
            if let Ok(memory) = unsafe { self.pool().copy_of(data) } {
                return Value::ready(Buffer::with_memory(memory));
            }
        }
        self.value_of(data.to_vec())
    }

    /// The same, for elements that others have as well: copied where the device uses the host's memory.
    pub(crate) fn value_of_shared<T: Element>(&self, data: Arc<Vec<T>>) -> Arc<Value> {
        if self.capabilities().host_visible {
            return self.value_of_copy(&data);
        }
        // An upload does nothing but read its source.
        let source = Value::ready(Buffer::with_memory(Memory::lend(data)));
        self.0.uploads.upload(&source)
    }

    pub(crate) fn uploads(&self) -> &Arc<Uploads> {
        &self.0.uploads
    }

    /// A reference that does not keep the device open.
    pub(crate) fn downgrade(&self) -> WeakDevice {
        WeakDevice(Arc::downgrade(&self.0))
    }

    /// A thread's own stream.
    pub(crate) fn thread_stream(&self, thread: ThreadId) -> Arc<DeviceStream> {
        let known = self.0.thread_streams.lock().get(&thread).cloned();
        known.unwrap_or_else(|| {
            let stream = self.new_stream(Priority::Normal);
            self.0.thread_streams.lock().insert(thread, stream.clone());
            stream
        })
    }

    /// Forgets the stream of a thread that has ended. What is queued on it still runs.
    pub(crate) fn end_thread(&self, thread: ThreadId) {
        self.0.thread_streams.lock().remove(&thread);
    }

    /// A new stream: an ordered queue of work, beside those that threads have.
    pub fn stream(&self) -> Stream {
        self.stream_with_priority(Priority::Normal)
    }

    /// A new stream whose work goes before, or after, that of other streams when both have some.
    pub fn stream_with_priority(&self, priority: Priority) -> Stream {
        Stream::new(self.clone(), self.new_stream(priority))
    }

    /// A new stream on the device.
    pub(crate) fn new_stream(&self, priority: Priority) -> Arc<DeviceStream> {
        let stream = Arc::new(DeviceStream {
            stream: self.0.backend.stream(priority),
            timeline: Timeline::new(),
            last: AtomicU64::new(0),
            in_flight: Mutex::default(),
            open: AtomicUsize::new(0),
        });
        let mut streams = self.0.streams.lock();
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&stream));
        stream
    }

    /// The thread that does pending work.
    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    pub(crate) fn reads(&self) -> &Arc<Reads> {
        &self.0.reads
    }
}

/// The error of asking for a GPU in a build that has no CUDA backend.
#[cfg(not(feature = "cuda"))]
fn no_cuda(asked: &str) -> Error {
    Error::Invalid(format!(
        "{asked} needs the CUDA backend, which this build leaves out: enable the feature `cuda` of the crate `inflight`"
    ))
}

/// A reference to a device that does not keep it open.
pub(crate) struct WeakDevice(Weak<Inner>);

impl WeakDevice {
    /// The device, if it is still open.
    pub fn upgrade(&self) -> Option<Device> {
        self.0.upgrade().map(Device)
    }

    /// Whether this is a reference to `device`.
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
