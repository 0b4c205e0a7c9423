//! Compilation of CUDA C++ text to cubins with NVRTC, and the disk cache of compiled kernels.

use crate::library::{self, CudaLibrary};
use crate::shutdown;
use cudarc::nvrtc::sys::{self, nvrtcResult};
use inflight_backend::{DiskCache, Fault, FaultKind};
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::{LazyLock, Once, OnceLock};

/// An NVRTC compiler for one architecture. Any number of threads may compile at once.
pub struct Compiler {
    /// Such as `sm_90`.
    target: String,
    version: OnceLock<Result<Version, Fault>>,
    disk: LazyLock<Option<DiskCache>>,
}

/// The major and the minor number of NVRTC's version.
pub type Version = (i32, i32);

/// The first NVRTC version with `--minimal`, which omits built-ins that our texts do not use.
const MINIMAL_VERSION: Version = (12, 8);

/// A kernel that exercises every phase of the compiler.
const WARM_UP: &str = "extern \"C\" __global__ void warm_up(float* x) { x[threadIdx.x] += 1.0f; }";

/// The compiler's options. `--fmad=false`: multiplications and additions are contracted only where a kernel says so, so that
/// all devices give the same bits.
const OPTIONS: [&CStr; 7] = [
    c"--std=c++17",
    c"--fmad=false",
    c"--ftz=true",
    c"--prec-div=true",
    c"--prec-sqrt=true",
    c"-default-device",
    c"--diag-suppress=177",
];

impl Compiler {
    /// A compiler for an architecture. The disk cache is opened on first use.
    pub fn new(target: String, disk: fn() -> Option<DiskCache>) -> Compiler {
        Compiler { target, version: OnceLock::new(), disk: LazyLock::new(disk) }
    }

    /// The version of NVRTC. Opens the library on first use.
    ///
    /// # Errors
    /// If the library is not found; the error lists what was tried.
    pub fn version(&self) -> Result<Version, Fault> {
        let open = || {
            library::open(CudaLibrary::Nvrtc).map_err(FaultKind::Missing)?;
            let (mut major, mut minor) = (0, 0);
            // SAFETY: the library is open; both pointers are valid for writes.
            check(unsafe { sys::nvrtcVersion(&mut major, &mut minor) })
                .map_err(|message| FaultKind::Missing(format!("NVRTC: {message}")))?;
            Ok((major, minor))
        };
        self.version.get_or_init(open).clone()
    }

    /// Compiles a text to a cubin, or takes it from the disk cache.
    pub fn compile(&self, text: &str) -> Result<Vec<u8>, Fault> {
        let version = self.version()?;
        let key = self.key(text, version);
        if let Some(code) = self.disk.as_ref().and_then(|disk| disk.get(key.as_bytes())) {
            return Ok(code);
        }
        self.recompile(text)
    }

    fn key(&self, text: &str, version: Version) -> String {
        format!("cuda {} nvrtc {}.{} {OPTIONS:?}\n{text}", self.target, version.0, version.1)
    }

    /// Compiles a text and replaces its entry in the disk cache.
    pub fn recompile(&self, text: &str) -> Result<Vec<u8>, Fault> {
        let version = self.version()?;
        self.warm_up(version);
        let code = self.invoke_nvrtc(text, version).map_err(|message| {
            Fault::from(FaultKind::Unsupported(format!("NVRTC rejected a kernel: {message}")))
        })?;
        if let Some(disk) = &*self.disk {
            disk.put(self.key(text, version).as_bytes(), &code);
        }
        Ok(code)
    }

    /// Runs the process's first compilation, then registers the exit handler. NVRTC registers exit handlers of its own during its
    /// first compilation, and ours must run before them: it waits for threads that are compiling.
    fn warm_up(&self, version: Version) {
        static WARM: Once = Once::new();
        WARM.call_once(|| {
            // An error here will show in the compilation that follows.
            let _ = self.invoke_nvrtc(WARM_UP, version);
            shutdown::register_exit_handler();
        });
    }

    fn invoke_nvrtc(&self, text: &str, version: Version) -> Result<Vec<u8>, String> {
        let source = CString::new(text).map_err(|_| "it contains a zero byte".to_owned())?;
        let mut program = Program(null_mut());
        // SAFETY: the strings are NUL-terminated and outlive the call; there are no headers.
        check(unsafe {
            sys::nvrtcCreateProgram(
                &mut program.0,
                source.as_ptr(),
                c"kernel.cu".as_ptr(),
                0,
                null(),
                null(),
            )
        })?;
        let target = CString::new(format!("--gpu-architecture={}", self.target))
            .map_err(|_| "it contains a zero byte".to_owned())?;
        let mut options = vec![target.as_ptr()];
        options.extend(OPTIONS.iter().map(|option| option.as_ptr()));
        if version >= MINIMAL_VERSION {
            options.push(c"--minimal".as_ptr());
        }
        // SAFETY: the program exists, and the options are NUL-terminated strings that outlive the call.
        let compiled = check(unsafe {
            sys::nvrtcCompileProgram(program.0, options.len() as i32, options.as_ptr())
        });
        if let Err(message) = compiled {
            return Err(format!("{message}\n{}", program.log()));
        }
        let mut size = 0;
        // SAFETY: the program is compiled; NVRTC writes as many bytes as it has reported.
        unsafe {
            check(sys::nvrtcGetCUBINSize(program.0, &mut size))?;
            let mut code = vec![0u8; size];
            check(sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()))?;
            Ok(code)
        }
    }
}

/// An NVRTC program, destroyed on drop.
struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program exists; NVRTC writes as many bytes as it has reported.
        unsafe {
            if check(sys::nvrtcGetProgramLogSize(self.0, &mut size)).is_err() || size == 0 {
                return String::new();
            }
            let mut text = vec![0u8; size];
            if check(sys::nvrtcGetProgramLog(self.0, text.as_mut_ptr().cast())).is_err() {
                return String::new();
            }
            CStr::from_bytes_until_nul(&text)
                .map(|text| text.to_string_lossy().into_owned())
                .unwrap_or_default()
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once.
        unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
    }
}

fn check(result: nvrtcResult) -> Result<(), String> {
    match result {
        nvrtcResult::NVRTC_SUCCESS => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
