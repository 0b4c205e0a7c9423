//! From text to machine code: NVRTC, and what it made before, on disk.

use crate::library::{self, Part};
use crate::shutdown;
use cudarc::nvrtc::sys::{self, nvrtcResult};
use inflight_backend::{DiskCache, Fault, FaultKind};
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::{LazyLock, Once, OnceLock};

/// Makes machine code for one architecture. Any number of threads may do so at once.
pub struct Compiler {
    /// Such as `sm_90`.
    target: String,
    version: OnceLock<Result<Version, Fault>>,
    disk: LazyLock<Option<DiskCache>>,
}

/// The major and the minor number of NVRTC's version.
pub type Version = (i32, i32);

/// The first version that can leave out what our texts do not use.
const FIRST_MINIMAL: Version = (12, 8);

/// A kernel that every part of the compiler has something to do for.
const WARMING: &str = "extern \"C\" __global__ void warming(float* x) { x[threadIdx.x] += 1.0f; }";

/// Products and sums are fused only where a kernel says so, so that all devices give the same bits.
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
    /// A compiler for an architecture. The place on disk is looked for when it is first needed.
    pub fn new(target: String, disk: fn() -> Option<DiskCache>) -> Compiler {
        Compiler { target, version: OnceLock::new(), disk: LazyLock::new(disk) }
    }

    /// The version of NVRTC, which is opened if it is not yet.
    ///
    /// # Errors
    /// If it is not found; the error says what was looked for.
    pub fn version(&self) -> Result<Version, Fault> {
        let open = || {
            library::open(Part::Compiler).map_err(FaultKind::Missing)?;
            let (mut major, mut minor) = (0, 0);
            // SAFETY: the library is open; both places are there to be written.
            check(unsafe { sys::nvrtcVersion(&mut major, &mut minor) })
                .map_err(|message| FaultKind::Missing(format!("NVRTC: {message}")))?;
            Ok((major, minor))
        };
        self.version.get_or_init(open).clone()
    }

    /// The machine code of a text.
    pub fn compile(&self, text: &str) -> Result<Vec<u8>, Fault> {
        let version = self.version()?;
        let key = self.key(text, version);
        if let Some(code) = self.disk.as_ref().and_then(|disk| disk.get(key.as_bytes())) {
            return Ok(code);
        }
        self.compile_anew(text)
    }

    fn key(&self, text: &str, version: Version) -> String {
        format!("cuda {} nvrtc {}.{} {OPTIONS:?}\n{text}", self.target, version.0, version.1)
    }

    /// The same, whatever is kept on disk.
    pub fn compile_anew(&self, text: &str) -> Result<Vec<u8>, Fault> {
        let version = self.version()?;
        self.warm_up(version);
        let code = self.translate(text, version).map_err(|message| {
            Fault::from(FaultKind::Unsupported(format!("NVRTC refused a kernel: {message}")))
        })?;
        if let Some(disk) = &*self.disk {
            disk.put(self.key(text, version).as_bytes(), &code);
        }
        Ok(code)
    }

    /// Has NVRTC compile for the first time, as far as nobody has: only then it registers some of what it undoes at the
    /// end of the process. If threads compile meanwhile, they are waited for first.
    fn warm_up(&self, version: Version) {
        static WARM: Once = Once::new();
        WARM.call_once(|| {
            // If it cannot compile this, it says so of what is compiled next.
            let _ = self.translate(WARMING, version);
            shutdown::watch();
        });
    }

    fn translate(&self, text: &str, version: Version) -> Result<Vec<u8>, String> {
        let source = CString::new(text).map_err(|_| "a zero byte".to_owned())?;
        let mut program = Program(null_mut());
        // SAFETY: the strings end with zeros and live through the call; there are no headers.
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
            .map_err(|_| "a zero byte".to_owned())?;
        let mut options = vec![target.as_ptr()];
        options.extend(OPTIONS.iter().map(|option| option.as_ptr()));
        if version >= FIRST_MINIMAL {
            options.push(c"--minimal".as_ptr());
        }
        // SAFETY: the program exists, and the options are strings that end with zeros.
        let compiled = check(unsafe {
            sys::nvrtcCompileProgram(program.0, options.len() as i32, options.as_ptr())
        });
        if let Err(message) = compiled {
            return Err(format!("{message}\n{}", program.log()));
        }
        let mut size = 0;
        // SAFETY: the program is compiled; the code is written to as many bytes as it is said to have.
        unsafe {
            check(sys::nvrtcGetCUBINSize(program.0, &mut size))?;
            let mut code = vec![0u8; size];
            check(sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()))?;
            Ok(code)
        }
    }
}

/// A program that is destroyed in the end.
struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program exists; the log is written to as many bytes as it is said to have.
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
