//! Safe wrappers of the CUDA driver: error codes as faults, contexts, modules, and kernel launches.

pub use crate::shutdown::{enter, is_shutting_down, shutdown_fault};

use crate::library::{self, CudaLibrary};
use crate::shutdown;
use cudarc::driver::sys::{self, CUresult};
use inflight_backend::{Fault, FaultKind};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Once};

/// Turns the result of a driver call into a fault. `action` describes the call.
pub fn check(result: CUresult, action: &str) -> Result<(), Fault> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        result => Err(fault_of(result, action)),
    }
}

/// As [`check`], with a message instead of a fault: before there is a device.
fn check_message(result: CUresult, action: &str) -> Result<(), String> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        result => Err(format!("{action}: {}", name(result))),
    }
}

/// The fault of a failed driver call.
pub fn fault_of(result: CUresult, action: &str) -> Fault {
    let message = format!("{action}: {}", name(result));
    // Sticky errors, which every later call returns, too. All others concern the call itself.
    let kind = match result {
        CUresult::CUDA_ERROR_DEINITIALIZED
        | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
        | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
        | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | CUresult::CUDA_ERROR_ASSERT
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUresult::CUDA_ERROR_INVALID_PC
        | CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK
        | CUresult::CUDA_ERROR_CONTAINED
        | CUresult::CUDA_ERROR_UNKNOWN => FaultKind::DeviceLost(message),
        _ => FaultKind::Unsupported(message),
    };
    kind.into()
}

fn name(result: CUresult) -> String {
    let mut text: *const std::ffi::c_char = std::ptr::null();
    // SAFETY: the driver writes the address of a static string, or leaves the pointer null.
    unsafe {
        if sys::cuGetErrorName(result, &mut text) == CUresult::CUDA_SUCCESS && !text.is_null() {
            return CStr::from_ptr(text).to_string_lossy().into_owned();
        }
    }
    format!("{result:?}")
}

/// The oldest CUDA version whose driver has all functions that we call.
const MIN_VERSION: i32 = 12080;

/// The number of CUDA devices, or why it cannot be determined.
pub fn count() -> Result<usize, String> {
    library::open(CudaLibrary::Driver)?;
    let (mut count, mut version) = (0, 0);
    // SAFETY: the library is open, and both pointers are valid for writes.
    unsafe {
        check_message(sys::cuDriverGetVersion(&mut version), "querying the driver's version")?;
        if version < MIN_VERSION {
            let display = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
            return Err(format!(
                "the driver supports CUDA {}, but {} or newer is required: install a newer driver",
                display(version),
                display(MIN_VERSION)
            ));
        }
        match sys::cuInit(0) {
            CUresult::CUDA_ERROR_NO_DEVICE => return Ok(0),
            result => check_message(result, "initializing the driver")?,
        }
        static INITIALIZED: Once = Once::new();
        // After the driver has registered its exit handlers, so that ours runs before them.
        INITIALIZED.call_once(shutdown::register_exit_handler);
        check_message(sys::cuDeviceGetCount(&mut count), "counting devices")?;
    }
    Ok(count.max(0) as usize)
}

/// The first major compute capability with programmatic dependent launch.
const DEPENDENT_LAUNCH_MAJOR: i32 = 9;

/// A device's primary context. A thread enters it to call the driver for that device.
pub struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
    /// Whether the device supports programmatic dependent launch.
    dependent_launch: bool,
    /// Excludes stream capture (read) and device synchronization (write): the driver rejects a synchronization during a
    /// capture, and invalidates the capture. All contexts of a device share the lock.
    capture_lock: &'static RwLock<()>,
}

/// The capture lock of a device. Leaked: there is one for each device.
fn capture_lock(device: sys::CUdevice) -> &'static RwLock<()> {
    type Locks = Vec<(sys::CUdevice, &'static RwLock<()>)>;
    static LOCKS: Mutex<Locks> = Mutex::new(Vec::new());
    let mut locks = LOCKS.lock();
    let existing = locks.iter().find(|(other, _)| *other == device).map(|(_, lock)| *lock);
    existing.unwrap_or_else(|| {
        let lock: &'static RwLock<()> = Box::leak(Box::default());
        locks.push((device, lock));
        lock
    })
}

// SAFETY: the driver allows any thread to use a context handle.
unsafe impl Send for Context {}
// SAFETY: as above; driver calls are thread safe.
unsafe impl Sync for Context {}

impl Context {
    pub fn new(ordinal: usize) -> Result<Arc<Context>, Fault> {
        let mut device = 0;
        let mut raw = null_mut();
        // SAFETY: the driver is initialized, and both pointers are valid for writes.
        unsafe {
            check(sys::cuDeviceGet(&mut device, ordinal as i32), "opening the device")?;
            check(
                sys::cuDevicePrimaryCtxRetain(&mut raw, device),
                "retaining its primary context",
            )?;
        }
        let mut context =
            Context { device, raw, dependent_launch: false, capture_lock: capture_lock(device) };
        let major = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
        context.dependent_launch = context.attribute(major) >= DEPENDENT_LAUNCH_MAJOR;
        Ok(Arc::new(context))
    }

    /// Makes the context current on this thread until the guard is dropped, which restores the context that was current
    /// before. If there was none, this one stays current.
    pub fn enter(&self) -> Entered {
        let mut before = null_mut();
        if is_shutting_down() {
            return Entered { before };
        }
        // SAFETY: the pointer is valid for a write, and the context is retained. An error here will show in the calls
        // that follow.
        unsafe {
            sys::cuCtxGetCurrent(&mut before);
            match before == self.raw {
                true => before = null_mut(),
                false => drop(sys::cuCtxSetCurrent(self.raw)),
            }
        }
        Entered { before }
    }

    /// Waits for all work of the device.
    pub fn synchronize(&self) -> Result<(), Fault> {
        let _no_capture = self.capture_lock.write();
        let _entered = self.enter();
        // SAFETY: the context is current.
        check(unsafe { sys::cuCtxSynchronize() }, "synchronizing the device")
    }

    /// Excludes device synchronization during a stream capture. `None` while a thread is synchronizing.
    pub fn try_lock_capture(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.capture_lock.try_read()
    }

    /// The device's name.
    pub fn name(&self) -> String {
        let mut text = [0 as std::ffi::c_char; 256];
        // SAFETY: the driver writes at most this many bytes. The last byte stays zero, so that the text is
        // NUL-terminated.
        unsafe {
            sys::cuDeviceGetName(text.as_mut_ptr(), text.len() as i32 - 1, self.device);
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        }
    }

    /// An attribute of the device.
    pub fn attribute(&self, attribute: sys::CUdevice_attribute) -> i32 {
        let mut value = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, self.device) };
        value
    }

    /// Bytes of device memory.
    pub fn memory(&self) -> usize {
        let mut bytes = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.device) };
        bytes
    }
}

/// Keeps a context current on a thread.
#[must_use = "the context is current only while this lives"]
pub struct Entered {
    /// The context that was current before, if it was another one.
    before: sys::CUcontext,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.before.is_null() && !is_shutting_down() {
            // SAFETY: it was current on this thread, which has not run anything since that could have destroyed it.
            unsafe { sys::cuCtxSetCurrent(self.before) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let Some(_guard) = enter() else { return };
        // SAFETY: retained once, by `new`.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// A loaded kernel.
pub struct Function {
    context: Arc<Context>,
    module: sys::CUmodule,
    raw: sys::CUfunction,
    /// The most threads of a block, which the kernel's registers limit.
    max_threads: u32,
    /// Whether the kernel waits for its dependencies itself (programmatic dependent launch).
    waits_for_dependencies: bool,
    /// Bytes of dynamic shared memory.
    shared_bytes: u32,
}

// SAFETY: the driver allows any thread to use the handles.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Loads the entry point of a cubin, to be launched with so much dynamic shared memory.
    ///
    /// # Safety
    /// If `waits_for_dependencies`, every thread of the kernel must execute `griddepcontrol.wait` before it accesses
    /// memory, on architectures that have the instruction.
    pub unsafe fn load(
        context: &Arc<Context>,
        cubin: &[u8],
        waits_for_dependencies: bool,
        shared_bytes: u32,
    ) -> Result<Function, CUresult> {
        let _entered = context.enter();
        let mut module = null_mut();
        let mut raw = null_mut();
        let mut max_threads = 0;
        // SAFETY: the bytes are a cubin, whose header has its length; the name is NUL-terminated.
        unsafe {
            let loaded = sys::cuModuleLoadData(&mut module, cubin.as_ptr().cast());
            if loaded != CUresult::CUDA_SUCCESS {
                return Err(loaded);
            }
            let found = sys::cuModuleGetFunction(&mut raw, module, c"entry".as_ptr());
            if found != CUresult::CUDA_SUCCESS {
                sys::cuModuleUnload(module);
                return Err(found);
            }
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
            sys::cuFuncGetAttribute(&mut max_threads, attribute, raw);
            if shared_bytes > 0 {
                let attribute =
                    sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                let allowed = sys::cuFuncSetAttribute(raw, attribute, shared_bytes as i32);
                if allowed != CUresult::CUDA_SUCCESS {
                    sys::cuModuleUnload(module);
                    return Err(allowed);
                }
            }
        }
        let max_threads = u32::try_from(max_threads).unwrap_or(0);
        let waits_for_dependencies = waits_for_dependencies && context.dependent_launch;
        let context = context.clone();
        Ok(Function { context, module, raw, max_threads, waits_for_dependencies, shared_bytes })
    }

    /// A function that is never launched, for tests.
    #[cfg(test)]
    pub fn unloaded() -> Arc<Function> {
        let context = Arc::new(Context {
            device: 0,
            raw: null_mut(),
            dependent_launch: false,
            capture_lock: capture_lock(0),
        });
        let function = Arc::new(Function {
            context,
            module: null_mut(),
            raw: null_mut(),
            max_threads: 0,
            waits_for_dependencies: false,
            shared_bytes: 0,
        });
        // There is no driver that could unload it.
        std::mem::forget(function.clone());
        function
    }

    /// Whether it waits for its dependencies itself, so that it may be started before they are done.
    pub fn waits_for_dependencies(&self) -> bool {
        self.waits_for_dependencies
    }

    /// Bytes of dynamic shared memory that it must be launched with.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// The driver's handle, valid while `self` is.
    pub fn raw(&self) -> sys::CUfunction {
        self.raw
    }

    /// The most threads of a block, which the kernel's registers limit.
    pub fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// Enqueues a launch on a stream.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, laid out as it declares them. The memory that they point to must stay
    /// valid until the launch is done.
    pub unsafe fn launch(
        &self,
        stream: sys::CUstream,
        grid: [u32; 2],
        threads: u32,
        arguments: &[u64],
    ) -> Result<(), Fault> {
        let mut pointers: [*mut c_void; 1] = [arguments.as_ptr().cast_mut().cast()];
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.shared_bytes,
            hStream: stream,
            attrs: &mut attribute,
            numAttrs: self.waits_for_dependencies as u32,
        };
        // SAFETY: guaranteed by the caller; the driver copies the arguments before it returns. A kernel that is started
        // early waits for its dependencies itself.
        let result =
            unsafe { sys::cuLaunchKernelEx(&config, self.raw, pointers.as_mut_ptr(), null_mut()) };
        check(result, "launching a kernel")
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let Some(_guard) = enter() else { return };
        let _entered = self.context.enter();
        // SAFETY: launches keep their function alive until they are done.
        unsafe { sys::cuModuleUnload(self.module) };
    }
}
