//! The CPU as a [`Backend`].

use crate::emit::Isa;
use crate::launch::CompiledKernel;
use crate::stream::CpuStream;
use crate::workers::Workers;
use crate::{launch, memory};
use inflight_backend::{Backend, Capabilities, Compiled, Fault, FaultKind, Pool, Priority, Stream};
use inflight_ir::kernel::Kernel;
use inflight_ir::plan::MAX_SUM_CHAIN;
use std::sync::Arc;

/// How kernels are run.
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

    /// The instruction set that machine code is made for.
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

/// How the device is set up. What is `None` is chosen by what the machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of worker threads, which is also the most that work on one command.
    pub threads: Option<usize>,
    /// How kernels are run.
    pub path: Option<Path>,
}

impl Options {
    /// The options in the environment: `INFLIGHT_THREADS`, a number from 1 on, and `INFLIGHT_CPU`, one of
    /// `auto`, `avx512`, `avx2`, `block`. What is not set is chosen by what the machine has.
    pub fn from_env() -> Result<Options, Fault> {
        let variable = |name: &str| match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(error) => Err(missing(format!("{name}: {error}"))),
        };
        Options::parse(
            variable("INFLIGHT_THREADS")?.as_deref(),
            variable("INFLIGHT_CPU")?.as_deref(),
        )
    }

    fn parse(threads: Option<&str>, path: Option<&str>) -> Result<Options, Fault> {
        let threads = match threads {
            None | Some("") => None,
            Some(text) => match text.trim().parse::<usize>() {
                Ok(threads @ 1..=4096) => Some(threads),
                _ => {
                    let message =
                        format!("INFLIGHT_THREADS is {text:?}, expected a number from 1 to 4096");
                    return Err(missing(message));
                }
            },
        };
        let path = match path {
            None | Some("" | "auto") => None,
            Some("avx512") => Some(Path::Avx512),
            Some("avx2") => Some(Path::Avx2),
            Some("block") => Some(Path::Block),
            Some(other) => {
                let message =
                    format!("INFLIGHT_CPU is {other:?}, expected auto, avx512, avx2 or block");
                return Err(missing(message));
            }
        };
        Ok(Options { threads, path })
    }
}

fn missing(message: String) -> Fault {
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
    /// Starts the worker threads. Fails if the machine lacks what the options ask for.
    pub fn new(options: Options) -> Result<Arc<CpuBackend>, Fault> {
        CpuBackend::with_pool(options, memory::pool())
    }

    /// The same, with memory that the caller has set up.
    pub fn with_pool(options: Options, pool: Arc<Pool>) -> Result<Arc<CpuBackend>, Fault> {
        let path = options.path.unwrap_or_else(Path::detect);
        if path.isa().is_some_and(|isa| !isa.is_present()) {
            return Err(missing(format!("this CPU has no {}", path.name())));
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
            parallelism: workers.width(),
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

    /// How kernels are run.
    pub fn path(&self) -> Path {
        self.path
    }
}

impl Backend for CpuBackend {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        Ok(Arc::new(launch::compile(kernel, self.path)))
    }

    fn compiler(&self) -> Option<String> {
        Some(format!("{} {}", self.capabilities.target, env!("INFLIGHT_EMITTER")))
    }

    fn save(&self, compiled: &Compiled) -> Option<Vec<u8>> {
        compiled.downcast_ref::<CompiledKernel>().map(CompiledKernel::save)
    }

    fn load(&self, kernel: &Kernel, saved: &[u8]) -> Option<Compiled> {
        Some(Arc::new(launch::load(kernel, self.path, saved)?))
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        Arc::new(CpuStream::new(self.workers.clone(), self.pool.clone(), priority))
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

/// What the CPU is called, or its architecture where the system does not say.
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
    fn the_environment_is_read_strictly() {
        let options = Options::parse(Some("3"), Some("block")).unwrap();
        assert_eq!(options, Options { threads: Some(3), path: Some(Path::Block) });
        assert_eq!(Options::parse(None, Some("auto")).unwrap(), Options::default());
        for (threads, path, name) in [
            (Some("0"), None, "INFLIGHT_THREADS"),
            (Some("many"), None, "INFLIGHT_THREADS"),
            (None, Some("sse2"), "INFLIGHT_CPU"),
        ] {
            let message = Options::parse(threads, path).unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("expected"), "{message}");
        }
    }

    #[test]
    fn the_device_describes_itself() {
        let options = Options { threads: Some(3), path: Some(Path::Block) };
        let backend = CpuBackend::new(options).unwrap();
        let capabilities = backend.capabilities();
        assert_eq!((capabilities.parallelism, capabilities.vector_bytes), (3, 16));
        assert!(capabilities.target.ends_with("-block"));
        assert!(!capabilities.name.is_empty() && capabilities.memory_bytes > 0);
        assert!(capabilities.host_visible);
    }
}
