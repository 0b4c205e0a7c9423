//! The driver's calls, checked.

pub use crate::shutdown::{ended, enter, is_ending};

use crate::library::{self, Part};
use crate::shutdown;
use cudarc::driver::sys::{self, CUresult};
use inflight_backend::{Fault, FaultKind};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Once};

/// Why a call of the driver failed.
pub fn check(result: CUresult, what: &str) -> Result<(), Fault> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        result => Err(fault_of(result, what)),
    }
}

/// The same in words, where there is no device yet.
fn said(result: CUresult, what: &str) -> Result<(), String> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        result => Err(format!("{what}: {}", name(result))),
    }
}

/// The fault of a call that failed.
pub fn fault_of(result: CUresult, what: &str) -> Fault {
    let message = format!("{what}: {}", name(result));
    // These every later call answers too. What else is wrong is wrong with the call itself.
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
    // SAFETY: the driver writes the address of a string of its own, or leaves it alone.
    unsafe {
        if sys::cuGetErrorName(result, &mut text) == CUresult::CUDA_SUCCESS && !text.is_null() {
            return CStr::from_ptr(text).to_string_lossy().into_owned();
        }
    }
    format!("{result:?}")
}

/// The oldest version of CUDA whose driver has all calls that are made.
const OLDEST: i32 = 12080;

/// How many devices there are, or why that cannot be said.
pub fn count() -> Result<usize, String> {
    library::open(Part::Driver)?;
    let (mut count, mut version) = (0, 0);
    // SAFETY: the library is open; `count` and `version` are there to be written.
    unsafe {
        said(sys::cuDriverGetVersion(&mut version), "asking for the driver's version")?;
        if version < OLDEST {
            let named = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
            return Err(format!(
                "the driver supports CUDA {}, and {} is needed: install a newer driver",
                named(version),
                named(OLDEST)
            ));
        }
        match sys::cuInit(0) {
            CUresult::CUDA_ERROR_NO_DEVICE => return Ok(0),
            result => said(result, "starting the driver")?,
        }
        static STARTED: Once = Once::new();
        // After the driver has registered what it does at the end: ours is called before that.
        STARTED.call_once(shutdown::watch);
        said(sys::cuDeviceGetCount(&mut count), "counting devices")?;
    }
    Ok(count.max(0) as usize)
}

/// The first architecture whose kernels can wait for each other by themselves.
const FIRST_TO_OVERLAP: i32 = 9;

/// A device's primary context, which every thread that talks to the device enters.
pub struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
    /// Whether a kernel may be started before the one before it is done, and wait by itself.
    overlaps: bool,
    /// Held by those who capture, and by whoever waits for the whole device: the driver refuses the one while the
    /// other is going on, and with it what was captured. All contexts of a device have the same.
    captures: &'static RwLock<()>,
}

/// Who captures on a device. There are as many of these as there are devices.
fn captures(device: sys::CUdevice) -> &'static RwLock<()> {
    type Captures = Vec<(sys::CUdevice, &'static RwLock<()>)>;
    static ALL: Mutex<Captures> = Mutex::new(Vec::new());
    let mut all = ALL.lock();
    let known = all.iter().find(|(known, _)| *known == device).map(|(_, captures)| *captures);
    known.unwrap_or_else(|| {
        let captures: &'static RwLock<()> = Box::leak(Box::default());
        all.push((device, captures));
        captures
    })
}

// SAFETY: a context is a handle that the driver lets any thread use.
unsafe impl Send for Context {}
// SAFETY: as above; the driver's calls are thread safe.
unsafe impl Sync for Context {}

impl Context {
    pub fn new(ordinal: usize) -> Result<Arc<Context>, Fault> {
        let mut device = 0;
        let mut raw = null_mut();
        // SAFETY: the driver has been started; both places are there to be written.
        unsafe {
            check(sys::cuDeviceGet(&mut device, ordinal as i32), "opening the device")?;
            check(sys::cuDevicePrimaryCtxRetain(&mut raw, device), "opening its context")?;
        }
        let mut context = Context { device, raw, overlaps: false, captures: captures(device) };
        let major = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
        context.overlaps = context.attribute(major) >= FIRST_TO_OVERLAP;
        Ok(Arc::new(context))
    }

    /// Makes this thread's calls go to the device, until what is returned is dropped: then a thread that talked to
    /// another one before does so again. One that talked to none may stay.
    pub fn enter(&self) -> Entered {
        let mut before = null_mut();
        if is_ending() {
            return Entered { before };
        }
        // SAFETY: the place is there to be written, and the context is retained. A failure shows in the calls that
        // follow.
        unsafe {
            sys::cuCtxGetCurrent(&mut before);
            match before == self.raw {
                true => before = null_mut(),
                false => drop(sys::cuCtxSetCurrent(self.raw)),
            }
        }
        Entered { before }
    }

    /// Waits for all that the device does.
    pub fn synchronize(&self) -> Result<(), Fault> {
        let _nobody_captures = self.captures.write();
        let _entered = self.enter();
        // SAFETY: the device's context is this thread's.
        check(unsafe { sys::cuCtxSynchronize() }, "running")
    }

    /// Keeps others from waiting for the device while something is captured. `None` while somebody does.
    pub fn capturing(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.captures.try_read()
    }

    /// The device's name.
    pub fn name(&self) -> String {
        let mut text = [0 as std::ffi::c_char; 256];
        // SAFETY: the driver writes at most this many bytes, with a zero at the end.
        unsafe {
            sys::cuDeviceGetName(text.as_mut_ptr(), text.len() as i32 - 1, self.device);
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        }
    }

    /// One of the device's numbers.
    pub fn attribute(&self, attribute: sys::CUdevice_attribute) -> i32 {
        let mut value = 0;
        // SAFETY: the place is there to be written.
        unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, self.device) };
        value
    }

    /// Bytes of memory that the device has.
    pub fn memory(&self) -> usize {
        let mut bytes = 0;
        // SAFETY: the place is there to be written.
        unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.device) };
        bytes
    }
}

/// That a thread's calls go to a device.
#[must_use = "when it is dropped, they do not any more"]
pub struct Entered {
    /// The context that the thread had before, if it was another one.
    before: sys::CUcontext,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.before.is_null() && !is_ending() {
            // SAFETY: it was the thread's, which has not run anything since that could have ended it.
            unsafe { sys::cuCtxSetCurrent(self.before) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        // SAFETY: retained once, by `new`.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// A loaded kernel.
pub struct Function {
    context: Arc<Context>,
    module: sys::CUmodule,
    raw: sys::CUfunction,
    /// The most threads that a block may have.
    most_threads: u32,
    /// Whether it waits by itself until the kernels before it are done.
    waits: bool,
    /// Bytes of shared memory that it is launched with.
    shared_bytes: u32,
}

// SAFETY: handles that the driver lets any thread use.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Loads the entry of a compiled kernel, which is launched with so much shared memory.
    ///
    /// # Safety
    /// If it is said that the kernel `waits`, all of its threads must, before they access memory, where the
    /// architecture has an instruction for that.
    pub unsafe fn load(
        context: &Arc<Context>,
        cubin: &[u8],
        waits: bool,
        shared_bytes: u32,
    ) -> Result<Function, CUresult> {
        let _entered = context.enter();
        let mut module = null_mut();
        let mut raw = null_mut();
        let mut most_threads = 0;
        // SAFETY: the bytes are a cubin, which says itself how long it is; the name ends with a zero.
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
            sys::cuFuncGetAttribute(&mut most_threads, attribute, raw);
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
        let most_threads = u32::try_from(most_threads).unwrap_or(0);
        let waits = waits && context.overlaps;
        Ok(Function { context: context.clone(), module, raw, most_threads, waits, shared_bytes })
    }

    /// One that is never launched, for tests.
    #[cfg(test)]
    pub fn unloaded() -> Arc<Function> {
        let context =
            Context { device: 0, raw: null_mut(), overlaps: false, captures: captures(0) };
        let (context, module, raw) = (Arc::new(context), null_mut(), null_mut());
        let function =
            Function { context, module, raw, most_threads: 0, waits: false, shared_bytes: 0 };
        let function = Arc::new(function);
        // There is no driver that could unload it.
        std::mem::forget(function.clone());
        function
    }

    /// Whether it may be started before the kernels before it are done.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Bytes of shared memory that it must be launched with.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// The driver's handle, valid as long as this is.
    pub fn raw(&self) -> sys::CUfunction {
        self.raw
    }

    /// The most threads that a block of it may have: more have not enough registers.
    pub fn most_threads(&self) -> u32 {
        self.most_threads
    }

    /// Puts a launch on a stream.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, laid out as it declares them, and what they point to must
    /// stay valid until the stream has passed the launch.
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
            numAttrs: self.waits as u32,
        };
        // SAFETY: promised by the caller; the driver copies the arguments before it returns. A kernel that is
        // started early waits by itself.
        let result =
            unsafe { sys::cuLaunchKernelEx(&config, self.raw, pointers.as_mut_ptr(), null_mut()) };
        check(result, "launching a kernel")
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        let _entered = self.context.enter();
        // SAFETY: launches keep their function until they are done.
        unsafe { sys::cuModuleUnload(self.module) };
    }
}
