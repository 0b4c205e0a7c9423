//! CUDA graphs: a sequence of kernel launches and GEMMs that is enqueued with one driver call.

use crate::driver::{Context, Function, check, enter};
use crate::gemm::LibraryGemm;
use cudarc::driver::sys::{self, CUgraphDependencyType, CUstreamCaptureMode};
use inflight_backend::Fault;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A kernel launch.
#[derive(Clone, Copy)]
pub struct KernelLaunch<'a> {
    /// The kernel.
    pub function: &'a Function,
    /// The grid, in blocks.
    pub grid: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// The arguments, laid out as the kernel declares them.
    pub arguments: &'a [u64],
}

/// A node of a graph.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    /// A launch of one of our kernels.
    Kernel(KernelLaunch<'a>),
    /// A GEMM of cuBLASLt, with its arguments.
    Gemm(&'a LibraryGemm, &'a [u64]),
}

/// An executable graph. Each step starts when the one before it is done. A kernel that waits for its dependencies
/// itself (programmatic dependent launch) may start earlier.
pub struct Graph {
    context: Arc<Context>,
    /// The graph that `executable` was instantiated from. Its nodes identify those of `executable`.
    raw: sys::CUgraph,
    executable: sys::CUgraphExec,
    nodes: Vec<sys::CUgraphNode>,
}

// SAFETY: handles that the driver lets any thread use, one at a time.
unsafe impl Send for Graph {}

impl Graph {
    /// Builds and instantiates a graph. The caller keeps the functions and GEMM plans alive while it launches the
    /// graph. `overlaps` enables programmatic dependent launch.
    pub fn new<'a>(
        context: &Arc<Context>,
        capture: &mut Capture,
        steps: impl Iterator<Item = Step<'a>>,
        overlaps: bool,
    ) -> Result<Graph, Fault> {
        let (raw, executable) = (null_mut(), null_mut());
        let mut graph = Graph { context: context.clone(), raw, executable, nodes: Vec::new() };
        // SAFETY: the pointer is valid for a write.
        check(unsafe { sys::cuGraphCreate(&mut graph.raw, 0) }, "creating a graph")?;
        let mut after_kernel = false;
        for step in steps {
            match step {
                Step::Kernel(launch) => {
                    let early =
                        overlaps && after_kernel && launch.function.waits_for_dependencies();
                    graph.add_kernel(&launch, early)?;
                    after_kernel = true;
                }
                Step::Gemm(gemm, words) => {
                    graph.add_gemm(capture, gemm, words)?;
                    after_kernel = false;
                }
            }
        }
        // SAFETY: the pointer is valid for a write.
        let instantiated =
            unsafe { sys::cuGraphInstantiateWithFlags(&mut graph.executable, graph.raw, 0) };
        check(instantiated, "instantiating a graph")?;
        Ok(graph)
    }

    /// The dependency of the next node: the last node, and how many there are.
    fn last(&self) -> (*const sys::CUgraphNode, usize) {
        match self.nodes.last() {
            Some(last) => (&raw const *last, 1),
            None => (null(), 0),
        }
    }

    /// Adds a kernel node. If `early`, its edge is programmatic: it may start as soon as all blocks of the kernel
    /// before have started and SMs have room for it.
    fn add_kernel(&mut self, launch: &KernelLaunch<'_>, early: bool) -> Result<(), Fault> {
        let mut node = null_mut();
        let (last, count) = self.last();
        let (dependencies, dependency_count) = if early { (null(), 0) } else { (last, count) };
        let added = with_params(launch, |params| {
            // SAFETY: the graph and the dependency are ours; the driver copies the arguments.
            unsafe {
                sys::cuGraphAddKernelNode_v2(
                    &mut node,
                    self.raw,
                    dependencies,
                    dependency_count,
                    params,
                )
            }
        });
        check(added, "adding a kernel to a graph")?;
        if early {
            let edge = sys::CUgraphEdgeData {
                from_port: sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC as u8,
                to_port: 0,
                type_: CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
                reserved: [0; 5],
            };
            // SAFETY: both nodes belong to this graph.
            let added =
                unsafe { sys::cuGraphAddDependencies_v2(self.raw, last, &node, &edge, count) };
            check(added, "adding a dependency to a graph")?;
        }
        self.nodes.push(node);
        Ok(())
    }

    /// Adds the captured work of a GEMM as a child graph.
    fn add_gemm(
        &mut self,
        capture: &mut Capture,
        gemm: &LibraryGemm,
        words: &[u64],
    ) -> Result<(), Fault> {
        let mut node = null_mut();
        let (dependency, count) = self.last();
        let child = capture.capture(gemm, words)?;
        // SAFETY: the graph and the dependency are ours; the driver copies the child graph.
        let added = unsafe {
            sys::cuGraphAddChildGraphNode(&mut node, self.raw, dependency, count, child.raw)
        };
        check(added, "adding a GEMM to a graph")?;
        self.nodes.push(node);
        Ok(())
    }

    /// Updates the arguments of a step in the executable graph, for all later launches.
    pub fn set(
        &mut self,
        capture: &mut Capture,
        position: usize,
        step: &Step<'_>,
    ) -> Result<(), Fault> {
        let node = self.nodes[position];
        match step {
            Step::Kernel(launch) => {
                let set = with_params(launch, |params| {
                    // SAFETY: the node belongs to this graph; the driver copies the arguments.
                    unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.executable, node, params) }
                });
                check(set, "updating a kernel of a graph")
            }
            Step::Gemm(gemm, words) => {
                let child = capture.capture(gemm, words)?;
                // SAFETY: the node belongs to this graph; the driver copies the child graph.
                let set = unsafe {
                    sys::cuGraphExecChildGraphNodeSetParams(self.executable, node, child.raw)
                };
                check(set, "updating a GEMM of a graph")
            }
        }
    }

    /// Enqueues all steps on a stream.
    ///
    /// # Safety
    /// Each step's arguments must be those of its kernel or GEMM, laid out as it declares them. What they
    /// point to, and the kernels, must stay valid until the stream has passed the graph.
    pub unsafe fn launch(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: promised by the caller.
        check(unsafe { sys::cuGraphLaunch(self.executable, stream) }, "launching a graph")
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let Some(_guard) = enter() else { return };
        let _entered = self.context.enter();
        // SAFETY: created by `new`, or null. The driver keeps launches in flight alive.
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

/// A stream in capture mode, which records the work that cuBLASLt enqueues instead of running it. Created on first use.
#[derive(Default)]
pub struct Capture {
    stream: Option<(Arc<Context>, sys::CUstream)>,
}

// SAFETY: a handle that the driver lets any thread use, one at a time.
unsafe impl Send for Capture {}

/// A captured graph.
struct CapturedGraph {
    raw: sys::CUgraph,
}

impl Drop for CapturedGraph {
    fn drop(&mut self) {
        if !self.raw.is_null()
            && let Some(_guard) = enter()
        {
            // SAFETY: created by a capture, destroyed once. Graphs that contain it have copies.
            unsafe { sys::cuGraphDestroy(self.raw) };
        }
    }
}

impl Capture {
    /// Creates the stream, if it does not exist.
    pub fn open(&mut self, context: &Arc<Context>) -> Result<(), Fault> {
        if self.stream.is_none() {
            let mut stream = null_mut();
            let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
            // SAFETY: the pointer is valid for a write.
            check(unsafe { sys::cuStreamCreate(&mut stream, flags) }, "creating a stream")?;
            self.stream = Some((context.clone(), stream));
        }
        Ok(())
    }

    /// Captures the work of a GEMM.
    fn capture(&mut self, gemm: &LibraryGemm, words: &[u64]) -> Result<CapturedGraph, Fault> {
        let Some((_, stream)) = self.stream else {
            return check(sys::CUresult::CUDA_ERROR_NOT_INITIALIZED, "capturing a GEMM")
                .map(|()| CapturedGraph { raw: null_mut() });
        };
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let mut captured = CapturedGraph { raw: null_mut() };
        // SAFETY: a capture runs nothing, so that no memory is accessed; `Graph::launch` requires that the arguments
        // are valid. Every capture that begins is ended.
        let (run, ended) = unsafe {
            check(sys::cuStreamBeginCapture_v2(stream, mode), "capturing a GEMM")?;
            let run = gemm.run(stream, words);
            (run, sys::cuStreamEndCapture(stream, &mut captured.raw))
        };
        run?;
        check(ended, "capturing a GEMM")?;
        Ok(captured)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some((context, stream)) = &self.stream
            && let Some(_guard) = enter()
        {
            let _entered = context.enter();
            // SAFETY: created by `open`, destroyed once.
            unsafe { sys::cuStreamDestroy_v2(*stream) };
        }
    }
}

/// Calls `f` with the node parameters of a launch.
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
        sharedMemBytes: launch.function.shared_bytes(),
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}
