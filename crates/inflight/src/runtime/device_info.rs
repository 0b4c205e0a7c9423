//! Public description of a device.

use inflight_backend::Capabilities;
use std::fmt;

/// Static properties of a device, from [`Device::info`](crate::Device::info).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Model name of the processor or GPU.
    pub name: String,
    /// Architecture that kernels are compiled for, such as `x86_64-avx512` or `sm_90a`.
    pub target: String,
    /// Hardware units that run independent blocks of a kernel concurrently.
    pub parallelism: Parallelism,
    /// Width of a vector in bytes: a vector register of a CPU, a warp-wide access of a GPU.
    pub vector_bytes: usize,
    /// Size of the device's memory in bytes.
    pub memory_bytes: u64,
    /// Whether the host accesses the device's memory directly, so that data needs no upload or download.
    pub host_visible: bool,
}

/// Number of hardware units that run independent blocks of a kernel concurrently.
///
/// Displayed with its unit: `16 threads`, `132 multiprocessors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Parallelism {
    /// Worker threads of a CPU device.
    Threads(usize),
    /// Streaming multiprocessors (SMs) of a GPU.
    Multiprocessors(usize),
}

impl Parallelism {
    /// The number of units.
    pub fn count(self) -> usize {
        match self {
            Parallelism::Threads(count) | Parallelism::Multiprocessors(count) => count,
        }
    }
}

impl fmt::Display for Parallelism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self {
            Parallelism::Threads(_) => "thread",
            Parallelism::Multiprocessors(_) => "multiprocessor",
        };
        let plural = if self.count() == 1 { "" } else { "s" };
        write!(f, "{} {unit}{plural}", self.count())
    }
}

impl From<&Capabilities> for DeviceInfo {
    fn from(capabilities: &Capabilities) -> DeviceInfo {
        // CUDA targets name an SM architecture, such as sm_90a.
        let parallelism = match capabilities.target.starts_with("sm_") {
            true => Parallelism::Multiprocessors(capabilities.parallelism),
            false => Parallelism::Threads(capabilities.parallelism),
        };
        DeviceInfo {
            name: capabilities.name.clone(),
            target: capabilities.target.clone(),
            parallelism,
            vector_bytes: capabilities.vector_bytes,
            memory_bytes: capabilities.memory_bytes,
            host_visible: capabilities.host_visible,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallelism_is_displayed_with_its_unit() {
        assert_eq!(Parallelism::Threads(1).to_string(), "1 thread");
        assert_eq!(Parallelism::Threads(16).to_string(), "16 threads");
        assert_eq!(Parallelism::Multiprocessors(132).to_string(), "132 multiprocessors");
    }
}
