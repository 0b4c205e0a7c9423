//! What a handle points to.

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

/// Operands of a node.
pub(crate) type Inputs = SmallVec<[Arc<Node>; 2]>;

/// An op, its operands and its result's shape. Immutable, and realized at most once.
///
/// A node is in one of three states: *failed* iff `error` is set, from the start; *scheduled* iff `value`
/// is set, which a submission does, once; *recorded* otherwise.
pub(crate) struct Node {
    op: Op,
    /// The value of an [`Op::Scalar`].
    constant: Option<Scalar>,
    /// Emptied when the node is scheduled: its operands need not outlive that.
    inputs: Mutex<Inputs>,
    shape: Shape,
    dtype: DType,
    device: Device,
    location: &'static Location<'static>,
    /// The outermost method that recorded the op, if it records several.
    method: Option<&'static str>,
    /// The number of [`Tensor`](super::Tensor)s that point here. Operands of other nodes do not count.
    handles: AtomicUsize,
    /// The last walk that came by here, and the position that it gave the node in its graph. Only for whoever holds
    /// the device's scheduling lock.
    walk: AtomicU64,
    position: AtomicU32,
    /// True iff a submission computed the value on the way to another, without storing it.
    computed: AtomicBool,
    value: OnceLock<Arc<Value>>,
    error: Option<Error>,
}

impl Node {
    /// A recorded op.
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

    /// A rank-0 constant.
    pub fn scalar(value: Scalar, device: &Device, location: &'static Location<'static>) -> Node {
        let shape = Shape::scalar();
        let mut node =
            Node::recorded(Op::Scalar, Inputs::new(), shape, value.dtype(), device, location);
        node.constant = Some(value);
        node
    }

    /// A value that is in memory, or on its way.
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

    /// A mistake, with the shape it would most plausibly have had.
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

    pub fn method(&self) -> Option<&'static str> {
        self.method
    }

    /// The position that this walk gave the node. The device's scheduling lock is held.
    pub fn position_in(&self, walk: u64) -> Option<NodeId> {
        let found = self.walk.load(Ordering::Relaxed) == walk;
        found.then(|| self.position.load(Ordering::Relaxed))
    }

    /// Notes the position that a walk gives the node. The device's scheduling lock is held.
    pub fn set_position_in(&self, walk: u64, position: NodeId) {
        self.walk.store(walk, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
    }

    /// Whether an earlier submission computed the value without storing it.
    pub fn was_computed(&self) -> bool {
        self.computed.load(Ordering::Relaxed)
    }

    pub fn note_computed(&self) {
        self.computed.store(true, Ordering::Relaxed);
    }

    /// The number of elements of the result.
    pub fn elements(&self) -> usize {
        self.shape.elements()
    }

    /// Bytes of the result.
    pub fn bytes(&self) -> usize {
        self.shape.elements() * self.dtype.size()
    }

    pub fn value(&self) -> Option<&Arc<Value>> {
        self.value.get()
    }

    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Whether somebody can still ask for the value.
    pub fn is_live(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }

    /// Whether exactly one tensor points here.
    pub fn has_one_handle(&self) -> bool {
        self.handles.load(Ordering::Acquire) == 1
    }

    pub fn add_handle(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    pub fn drop_handle(&self) {
        self.handles.fetch_sub(1, Ordering::Release);
    }

    /// Schedules the node. Returns its operands, for the caller to drop when it holds no lock.
    pub fn realize(&self, value: Arc<Value>) -> Inputs {
        let fresh = self.value.set(value).is_ok();
        debug_assert!(fresh, "a node is scheduled once");
        std::mem::take(&mut self.inputs.lock())
    }
}

impl Drop for Node {
    /// Drops a chain of operands one after another: it may be longer than the stack is deep.
    fn drop(&mut self) {
        let mut orphans = std::mem::take(self.inputs.get_mut());
        while let Some(node) = orphans.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                orphans.append(node.inputs.get_mut());
            }
        }
    }
}
