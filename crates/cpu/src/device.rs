//! The CPU [`Backend`]: options, capabilities, compilation and stream creation.

use crate::emit::Isa;
use crate::launch::CompiledKernel;
use crate::stream::CpuStream;
use crate::workers::Workers;
use crate::{launch, memory};
use inflight_backend::{
    Backend, Capabilities, Compiled, Fault, FaultKind, InvalidVariable, Pool, Priority, Stream,
    read_variable,
};
use inflight_ir::kernel::Kernel;
use inflight_ir::plan::MAX_SUM_CHAIN;
use std::sync::Arc;

/// How kernels are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// As machine code with 512-bit vectors.
    Avx512,
    /// As machine code with 256-bit vectors.
    Avx2,
    /// By the block interpreter, which every CPU can run.
    Block,
}

impl Path {
    /// The best this CPU has.
    pub fn detect() -> Path {
        match Isa::detect() {
            Some(Isa::Avx512) => Path::Avx512,
            Some(Isa::Avx2) => Path::Avx2,
            None => Path::Block,
        }
    }

    /// The instruction set of the machine code, if there is any.
    pub(crate) fn isa(self) -> Option<Isa> {
        match self {
            Path::Avx512 => Some(Isa::Avx512),
            Path::Avx2 => Some(Isa::Avx2),
            Path::Block => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Path::Avx512 => "avx512",
            Path::Avx2 => "avx2",
            Path::Block => "block",
        }
    }

    /// Bytes of a vector register.
    fn vector_bytes(self) -> usize {
        match self {
            Path::Avx512 => 64,
            Path::Avx2 => 32,
            Path::Block => 16,
        }
    }
}

/// Environment variables of [`Options`], and the values they accept.
const THREADS: &str = "INFLIGHT_THREADS";
const ACCEPTED_THREADS: &str = "a number from 1 to 4096";
const PATH: &str = "INFLIGHT_CPU";
const ACCEPTED_PATHS: &str = "auto, avx512, avx2 or block";

/// Options of the device. `None` selects the default for the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of worker threads, which is also the maximum that work on one command.
    pub threads: Option<usize>,
    /// How kernels are executed.
    pub path: Option<Path>,
}

impl Options {
    /// Options from the environment: `INFLIGHT_THREADS`, a number from 1 to 4096, and `INFLIGHT_CPU`, one of `auto`,
    /// `avx512`, `avx2`, `block`. Unset variables select the default for the machine.
    ///
    /// # Errors
    /// If a variable has another value.
    pub fn from_env() -> Result<Options, InvalidVariable> {
        Options::parse(
            read_variable(THREADS, ACCEPTED_THREADS)?.as_deref(),
            read_variable(PATH, ACCEPTED_PATHS)?.as_deref(),
        )
    }

    fn parse(threads: Option<&str>, path: Option<&str>) -> Result<Options, InvalidVariable> {
        let invalid = |name, value: &str, expected| {
            Err(InvalidVariable { name, value: value.to_owned(), expected })
        };
        let threads = match threads {
            None | Some("") => None,
            Some(text) => match text.trim().parse::<usize>() {
                Ok(threads @ 1..=4096) => Some(threads),
                _ => return invalid(THREADS, text, ACCEPTED_THREADS),
            },
        };
        let path = match path {
            None | Some("" | "auto") => None,
            Some("avx512") => Some(Path::Avx512),
            Some("avx2") => Some(Path::Avx2),
            Some("block") => Some(Path::Block),
            Some(other) => return invalid(PATH, other, ACCEPTED_PATHS),
        };
        Ok(Options { threads, path })
    }
}

fn missing_fault(message: String) -> Fault {
    FaultKind::Missing(message).into()
}

/// The CPU.
pub struct CpuBackend {
    capabilities: Capabilities,
    path: Path,
    workers: Arc<Workers>,
    pool: Arc<Pool>,
}

impl CpuBackend {
    /// Starts the worker threads. Fails if the machine lacks the instruction set that the options select.
    pub fn new(options: Options) -> Result<Arc<CpuBackend>, Fault> {
        CpuBackend::with_pool(options, memory::pool())
    }

    /// Like [`new`](CpuBackend::new), with a memory pool of the caller's.
    pub fn with_pool(options: Options, pool: Arc<Pool>) -> Result<Arc<CpuBackend>, Fault> {
        let path = options.path.unwrap_or_else(Path::detect);
        if path.isa().is_some_and(|isa| !isa.is_present()) {
            return Err(missing_fault(format!(
                "this CPU has no {}; set INFLIGHT_CPU=auto",
                path.name()
            )));
        }
        let threads = match options.threads {
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let workers = Workers::start(threads).map_err(|error| {
            FaultKind::DeviceLost(format!("{threads} worker threads could not be started: {error}"))
        })?;
        let capabilities = Capabilities {
            name: model_name(),
            target: format!("{}-{}", std::env::consts::ARCH, path.name()),
            parallelism: workers.thread_count(),
            vector_bytes: path.vector_bytes(),
            memory_bytes: memory::capacity() as u64,
            host_visible: true,
            prologues: true,
            device_loops: true,
            arg_reductions: false,
            implicit_gemm: false,
            reduction_splits: 256,
            max_sum_chain: Some(MAX_SUM_CHAIN),
        };
        Ok(Arc::new(CpuBackend { capabilities, path, workers: Arc::new(workers), pool }))
    }

    /// How kernels are executed.
    pub fn path(&self) -> Path {
        self.path
    }
}

impl Backend for CpuBackend {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        Ok(Arc::new(launch::compile(kernel, self.path, &self.pool)))
    }

    fn compiler(&self) -> Option<String> {
        Some(format!("{} {}", self.capabilities.target, env!("INFLIGHT_EMITTER")))
    }

    fn save(&self, compiled: &Compiled) -> Option<Vec<u8>> {
        compiled.downcast_ref::<CompiledKernel>().map(CompiledKernel::save)
    }

    fn load(&self, kernel: &Kernel, saved: &[u8]) -> Option<Compiled> {
        Some(Arc::new(launch::load(kernel, self.path, saved, &self.pool)?))
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        Arc::new(CpuStream::new(self.workers.clone(), self.pool.clone(), priority))
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

/// The CPU's model name, or its architecture if the system does not report one.
fn model_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_string())
    });
    name.unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_environment_options_are_rejected() {
        let options = Options::parse(Some("3"), Some("block")).unwrap();
        assert_eq!(options, Options { threads: Some(3), path: Some(Path::Block) });
        assert_eq!(Options::parse(None, Some("auto")).unwrap(), Options::default());
        for (threads, path, name) in [
            (Some("0"), None, "INFLIGHT_THREADS"),
            (Some("many"), None, "INFLIGHT_THREADS"),
            (None, Some("sse2"), "INFLIGHT_CPU"),
        ] {
            let error = Options::parse(threads, path).unwrap_err();
            assert_eq!((error.name, &*error.value), (name, threads.or(path).unwrap()));
            let message = error.to_string();
            assert!(message.contains(name) && message.contains("expected"), "{message}");
        }
    }

    #[test]
    fn capabilities_reflect_the_options() {
        let options = Options { threads: Some(3), path: Some(Path::Block) };
        let backend = CpuBackend::new(options).unwrap();
        let capabilities = backend.capabilities();
        assert_eq!((capabilities.parallelism, capabilities.vector_bytes), (3, 16));
        assert!(capabilities.target.ends_with("-block"));
        assert!(!capabilities.name.is_empty() && capabilities.memory_bytes > 0);
        assert!(capabilities.host_visible);
    }
}
