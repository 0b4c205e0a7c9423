//! Graph nodes: the lazily evaluated ops that tensor handles point to.

use super::method::current_method;
use super::record::caller;
use crate::runtime::Device;
use crate::runtime::value::Value;
use crate::{DType, Error, Scalar, Shape};
use inflight_ir::graph::{NodeId, Op};
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The operands of a node.
pub(crate) type Inputs = SmallVec<[Arc<Node>; 2]>;

/// An op with its operands and the shape, dtype and device of its result. Immutable, and realized at most once.
///
/// A node is in one of three states. It is *failed* iff `error` is set, which happens at creation. It is *scheduled* iff
/// `value` is set, which one submission does. Otherwise it is *recorded*.
pub(crate) struct Node {
    op: Op,
    /// The value of an [`Op::Scalar`].
    constant: Option<Scalar>,
    /// The operands. Emptied when the node is scheduled, to release them.
    inputs: Mutex<Inputs>,
    shape: Shape,
    dtype: DType,
    device: Device,
    location: &'static Location<'static>,
    /// The outermost method that recorded the op, if that method records several ops.
    method: Option<&'static str>,
    /// The number of [`Tensor`](super::Tensor) handles to this node. References from other nodes do not count.
    handles: AtomicUsize,
    /// The id of the last graph traversal that visited this node, and the node's position in the graph that it built.
    /// Accessed under the device's scheduling lock only.
    walk: AtomicU64,
    position: AtomicU32,
    /// True iff a submission computed the value as an intermediate, without storing it to memory.
    computed: AtomicBool,
    value: OnceLock<Arc<Value>>,
    error: Option<Error>,
}

impl Node {
    /// Creates the node of a recorded op.
    pub fn recorded(
        op: Op,
        inputs: Inputs,
        shape: Shape,
        dtype: DType,
        device: &Device,
        location: &'static Location<'static>,
    ) -> Node {
        Node {
            op,
            constant: None,
            inputs: Mutex::new(inputs),
            shape,
            dtype,
            device: device.clone(),
            location: caller(location),
            method: current_method(),
            handles: AtomicUsize::new(0),
            walk: AtomicU64::new(0),
            position: AtomicU32::new(0),
            computed: AtomicBool::new(false),
            value: OnceLock::new(),
            error: None,
        }
    }

    /// Creates a rank-0 constant.
    pub fn scalar(value: Scalar, device: &Device, location: &'static Location<'static>) -> Node {
        let shape = Shape::scalar();
        let mut node =
            Node::recorded(Op::Scalar, Inputs::new(), shape, value.dtype(), device, location);
        node.constant = Some(value);
        node
    }

    /// Creates a scheduled node: its value is in memory or in flight.
    pub fn realized(
        value: Arc<Value>,
        shape: Shape,
        dtype: DType,
        device: &Device,
        location: &'static Location<'static>,
    ) -> Node {
        let node = Node::recorded(Op::Input, Inputs::new(), shape, dtype, device, location);
        let _ = node.value.set(value);
        node
    }

    /// Creates a failed node, with the most plausible shape and dtype of the result.
    pub fn failed(
        error: Error,
        shape: Shape,
        dtype: DType,
        device: &Device,
        location: &'static Location<'static>,
    ) -> Node {
        let mut node = Node::recorded(Op::Input, Inputs::new(), shape, dtype, device, location);
        node.error = Some(error);
        node
    }

    pub fn op(&self) -> &Op {
        &self.op
    }

    pub fn constant(&self) -> Option<Scalar> {
        self.constant
    }

    pub fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    pub fn inputs(&self) -> MutexGuard<'_, Inputs> {
        self.inputs.lock()
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The outermost method that recorded the op, if that method records several ops.
    pub fn method(&self) -> Option<&'static str> {
        self.method
    }

    /// The position that traversal `walk` gave the node. The caller holds the device's scheduling lock.
    pub fn position_in(&self, walk: u64) -> Option<NodeId> {
        let found = self.walk.load(Ordering::Relaxed) == walk;
        found.then(|| self.position.load(Ordering::Relaxed))
    }

    /// Sets the position that traversal `walk` gives the node. The caller holds the device's scheduling lock.
    pub fn set_position_in(&self, walk: u64, position: NodeId) {
        self.walk.store(walk, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
    }

    /// Whether an earlier submission computed the value without storing it to memory.
    pub fn was_computed(&self) -> bool {
        self.computed.load(Ordering::Relaxed)
    }

    pub fn note_computed(&self) {
        self.computed.store(true, Ordering::Relaxed);
    }

    /// The number of elements of the result.
    pub fn element_count(&self) -> usize {
        self.shape.element_count()
    }

    /// The size of the result in bytes.
    pub fn bytes(&self) -> usize {
        self.shape.element_count() * self.dtype.size()
    }

    pub fn value(&self) -> Option<&Arc<Value>> {
        self.value.get()
    }

    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Whether a tensor handle to the node exists, so that the value can still be read.
    pub fn is_live(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }

    /// Whether exactly one tensor handle to the node exists.
    pub fn has_one_handle(&self) -> bool {
        self.handles.load(Ordering::Acquire) == 1
    }

    pub fn add_handle(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    pub fn drop_handle(&self) {
        self.handles.fetch_sub(1, Ordering::Release);
    }

    /// Moves the node to *scheduled*. Returns its operands; the caller drops them after releasing its locks.
    pub fn realize(&self, value: Arc<Value>) -> Inputs {
        let fresh = self.value.set(value).is_ok();
        debug_assert!(fresh, "a node is scheduled once");
        std::mem::take(&mut self.inputs.lock())
    }
}

impl Drop for Node {
    /// Drops operands iteratively: recursion over a long chain would overflow the stack.
    fn drop(&mut self) {
        let mut orphans = std::mem::take(self.inputs.get_mut());
        while let Some(node) = orphans.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                orphans.append(node.inputs.get_mut());
            }
        }
    }
}
