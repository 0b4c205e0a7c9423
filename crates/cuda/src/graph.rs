//! The driver's graphs: launches and products, one after the other, that start with one call.

use crate::driver::{Context, Function, check, enter};
use crate::gemm::LibraryGemm;
use cudarc::driver::sys::{self, CUgraphDependencyType, CUstreamCaptureMode};
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

/// What a graph does at one of its places.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    /// A launch of a kernel of ours.
    Kernel(KernelLaunch<'a>),
    /// A product of the library, with its arguments.
    Product(&'a LibraryGemm, &'a [u64]),
}

/// Steps, each of which starts when the one before is done; a kernel that waits for that by itself may be started
/// before.
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
    /// Makes a graph. Whoever launches it keeps the functions and the products. `overlaps` says whether kernels
    /// that wait by themselves may be started early.
    pub fn new<'a>(
        context: &Arc<Context>,
        capture: &mut Capture,
        steps: impl Iterator<Item = Step<'a>>,
        overlaps: bool,
    ) -> Result<Graph, Fault> {
        let (raw, executable) = (null_mut(), null_mut());
        let mut graph = Graph { context: context.clone(), raw, executable, nodes: Vec::new() };
        // SAFETY: the place is there to be written.
        check(unsafe { sys::cuGraphCreate(&mut graph.raw, 0) }, "making a graph")?;
        let mut after_kernel = false;
        for step in steps {
            match step {
                Step::Kernel(launch) => {
                    let early = overlaps && after_kernel && launch.function.waits();
                    graph.add_kernel(&launch, early)?;
                    after_kernel = true;
                }
                Step::Product(product, words) => {
                    graph.add_product(capture, product, words)?;
                    after_kernel = false;
                }
            }
        }
        // SAFETY: the place is there to be written.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut graph.executable, graph.raw, 0) };
        check(made, "making a graph ready")?;
        Ok(graph)
    }

    /// The node that the next one comes after.
    fn last(&self) -> (*const sys::CUgraphNode, usize) {
        match self.nodes.last() {
            Some(last) => (&raw const *last, 1),
            None => (null(), 0),
        }
    }

    /// Adds a kernel. If it comes `early`, it may be started as soon as all blocks of the kernel before have
    /// begun and there is room for it.
    fn add_kernel(&mut self, launch: &KernelLaunch<'_>, early: bool) -> Result<(), Fault> {
        let mut node = null_mut();
        let (last, count) = self.last();
        let (before, known) = if early { (null(), 0) } else { (last, count) };
        let added = with_params(launch, |params| {
            // SAFETY: the graph and the node before are this graph's; the driver copies the arguments.
            unsafe { sys::cuGraphAddKernelNode_v2(&mut node, self.raw, before, known, params) }
        });
        check(added, "adding a kernel to a graph")?;
        if early {
            let edge = sys::CUgraphEdgeData {
                from_port: sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC as u8,
                to_port: 0,
                type_: CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
                reserved: [0; 5],
            };
            // SAFETY: both nodes are this graph's.
            let joined =
                unsafe { sys::cuGraphAddDependencies_v2(self.raw, last, &node, &edge, count) };
            check(joined, "joining kernels of a graph")?;
        }
        self.nodes.push(node);
        Ok(())
    }

    /// Adds what the library does for a product, as a graph of its own.
    fn add_product(
        &mut self,
        capture: &mut Capture,
        product: &LibraryGemm,
        words: &[u64],
    ) -> Result<(), Fault> {
        let mut node = null_mut();
        let (before, count) = self.last();
        let child = capture.product(product, words)?;
        // SAFETY: the graph and the node before are this graph's; the driver copies the captured one.
        let added =
            unsafe { sys::cuGraphAddChildGraphNode(&mut node, self.raw, before, count, child.raw) };
        check(added, "adding a product to a graph")?;
        self.nodes.push(node);
        Ok(())
    }

    /// Changes a step, for the times that the graph is launched from now on.
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
                    // SAFETY: the node is this graph's; the driver copies the arguments.
                    unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.executable, node, params) }
                });
                check(set, "changing a kernel of a graph")
            }
            Step::Product(product, words) => {
                let child = capture.product(product, words)?;
                // SAFETY: the node is this graph's; the driver copies the captured one.
                let set = unsafe {
                    sys::cuGraphExecChildGraphNodeSetParams(self.executable, node, child.raw)
                };
                check(set, "changing a product of a graph")
            }
        }
    }

    /// Puts all steps on a stream.
    ///
    /// # Safety
    /// Each step's arguments must be those of its kernel or product, laid out as it declares them. What they
    /// point to, and the kernels, must stay valid until the stream has passed the graph.
    pub unsafe fn launch(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: promised by the caller.
        check(unsafe { sys::cuGraphLaunch(self.executable, stream) }, "launching a graph")
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        let _entered = self.context.enter();
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

/// A stream on which nothing runs: what is put there is written down. It is made when it is first needed.
#[derive(Default)]
pub struct Capture {
    made: Option<(Arc<Context>, sys::CUstream)>,
}

// SAFETY: a handle that the driver lets any thread use, one at a time.
unsafe impl Send for Capture {}

/// What was written down.
struct Captured {
    raw: sys::CUgraph,
}

impl Drop for Captured {
    fn drop(&mut self) {
        if !self.raw.is_null()
            && let Some(_inside) = enter()
        {
            // SAFETY: made by a capture. Copies of it are their owners'.
            unsafe { sys::cuGraphDestroy(self.raw) };
        }
    }
}

impl Capture {
    /// Says whose products will be captured.
    pub fn open(&mut self, context: &Arc<Context>) -> Result<(), Fault> {
        if self.made.is_none() {
            let mut stream = null_mut();
            let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
            // SAFETY: the place is there to be written.
            check(unsafe { sys::cuStreamCreate(&mut stream, flags) }, "making a stream")?;
            self.made = Some((context.clone(), stream));
        }
        Ok(())
    }

    /// What the library does for a product.
    fn product(&mut self, product: &LibraryGemm, words: &[u64]) -> Result<Captured, Fault> {
        let Some((_, stream)) = self.made else {
            return check(sys::CUresult::CUDA_ERROR_NOT_INITIALIZED, "capturing a product")
                .map(|()| Captured { raw: null_mut() });
        };
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let mut captured = Captured { raw: null_mut() };
        // SAFETY: nothing runs, so that nothing of what the words name is touched; what is written down is launched
        // only by those who know that all of it is there. A capture that was begun is ended.
        let (run, ended) = unsafe {
            check(sys::cuStreamBeginCapture_v2(stream, mode), "capturing a product")?;
            let run = product.run(stream, words);
            (run, sys::cuStreamEndCapture(stream, &mut captured.raw))
        };
        run?;
        check(ended, "capturing a product")?;
        Ok(captured)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some((context, stream)) = &self.made
            && let Some(_inside) = enter()
        {
            let _entered = context.enter();
            // SAFETY: made by `open`, once.
            unsafe { sys::cuStreamDestroy_v2(*stream) };
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
        sharedMemBytes: launch.function.shared_bytes(),
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}
