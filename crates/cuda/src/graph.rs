//! The driver's graphs: launches, one after the other, that start with one call.

use crate::driver::{Context, Function, check, is_ending};
use cudarc::driver::sys;
use inflight_backend::Fault;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A kernel with all that a launch of it needs.
#[derive(Clone, Copy)]
pub struct KernelLaunch<'a> {
    /// The kernel.
    pub function: &'a Function,
    /// Blocks.
    pub grid: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// The arguments, laid out as the kernel declares them.
    pub arguments: &'a [u64],
}

/// Launches, each of which starts when the one before is done.
pub struct Graph {
    context: Arc<Context>,
    /// What it was made from. Its nodes name those of `executable`.
    raw: sys::CUgraph,
    executable: sys::CUgraphExec,
    nodes: Vec<sys::CUgraphNode>,
}

// SAFETY: handles that the driver lets any thread use, one at a time.
unsafe impl Send for Graph {}

impl Graph {
    /// Makes a graph of launches. Whoever launches it keeps their functions.
    pub fn new<'a>(
        context: &Arc<Context>,
        launches: impl Iterator<Item = KernelLaunch<'a>>,
    ) -> Result<Graph, Fault> {
        let (raw, executable) = (null_mut(), null_mut());
        let mut graph = Graph { context: context.clone(), raw, executable, nodes: Vec::new() };
        // SAFETY: the place is there to be written.
        check(unsafe { sys::cuGraphCreate(&mut graph.raw, 0) }, "making a graph")?;
        for launch in launches {
            let mut node = null_mut();
            let (before, count) = match graph.nodes.last() {
                Some(last) => (&raw const *last, 1),
                None => (null(), 0),
            };
            let added = with_params(&launch, |params| {
                // SAFETY: the graph and the node before are this graph's; the driver copies the arguments.
                unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph.raw, before, count, params) }
            });
            check(added, "adding a kernel to a graph")?;
            graph.nodes.push(node);
        }
        // SAFETY: the place is there to be written.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut graph.executable, graph.raw, 0) };
        check(made, "making a graph ready")?;
        Ok(graph)
    }

    /// Changes a launch, for the times that the graph is launched from now on.
    pub fn set(&mut self, position: usize, launch: &KernelLaunch<'_>) -> Result<(), Fault> {
        let node = self.nodes[position];
        let set = with_params(launch, |params| {
            // SAFETY: the node is this graph's; the driver copies the arguments.
            unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.executable, node, params) }
        });
        check(set, "changing a kernel of a graph")
    }

    /// Puts all launches on a stream.
    ///
    /// # Safety
    /// Each launch's arguments must be those of its kernel, laid out as it declares them. What they point to,
    /// and the kernels, must stay valid until the stream has passed the graph.
    pub unsafe fn launch(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: promised by the caller.
        check(unsafe { sys::cuGraphLaunch(self.executable, stream) }, "launching a graph")
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if is_ending() {
            return;
        }
        self.context.enter();
        // SAFETY: made by `new`, or null. The driver keeps what is in flight.
        unsafe {
            if !self.executable.is_null() {
                sys::cuGraphExecDestroy(self.executable);
            }
            if !self.raw.is_null() {
                sys::cuGraphDestroy(self.raw);
            }
        }
    }
}

/// Calls `f` with a launch as the driver's graphs take it.
fn with_params<R>(
    launch: &KernelLaunch<'_>,
    f: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS) -> R,
) -> R {
    let mut pointers: [*mut c_void; 1] = [launch.arguments.as_ptr().cast_mut().cast()];
    f(&sys::CUDA_KERNEL_NODE_PARAMS {
        func: launch.function.raw(),
        gridDimX: launch.grid[0],
        gridDimY: launch.grid[1],
        gridDimZ: 1,
        blockDimX: launch.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}
