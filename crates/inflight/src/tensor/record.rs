//! Recording of ops: shape and dtype inference, graph nodes, and recorded errors.

use super::method::is_inside_method;
use super::{Node, Tensor};
use crate::error::{OpCause, OpError};
use crate::runtime::{Device, recorder, scope};
use crate::{DType, Error, Scalar, Shape};
use inflight_ir::graph::{self, Op};
use smallvec::SmallVec;
use std::cell::Cell;
use std::panic::Location;
use std::sync::{Arc, LazyLock};

/// Whether recording an error panics at once (`INFLIGHT_STRICT=1`).
pub(super) static STRICT: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("INFLIGHT_STRICT").is_some_and(|value| value == "1"));

thread_local! {
    /// The caller location that nodes and errors of this thread report instead of their own, if one is set.
    static CALLER: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    /// The number of errors that this thread has recorded.
    static MISTAKES: Cell<u64> = const { Cell::new(0) };
}

/// The number of errors that this thread has recorded so far. A change means that an error was recorded in between.
pub(super) fn mistakes_made() -> u64 {
    MISTAKES.get()
}

/// Runs `record`. Everything that it records reports `location` as its caller.
pub(crate) fn recorded_at<R>(
    location: &'static Location<'static>,
    record: impl FnOnce() -> R,
) -> R {
    struct Restore(Option<&'static Location<'static>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALLER.set(self.0);
        }
    }
    let _restore = Restore(CALLER.replace(Some(location)));
    record()
}

/// The caller location that something recorded at `location` reports.
pub(super) fn caller(location: &'static Location<'static>) -> &'static Location<'static> {
    CALLER.get().unwrap_or(location)
}

/// Records an op on operands of one device. Always returns a tensor: an error, or the first failed operand, makes a failed
/// one.
#[track_caller]
pub(super) fn record(op: Op, operands: &[&Tensor]) -> Tensor {
    record_at(op, operands, Location::caller())
}

/// As [`record`], with an explicit caller location: methods that record several ops pass their own caller.
pub(super) fn record_at(
    op: Op,
    operands: &[&Tensor],
    location: &'static Location<'static>,
) -> Tensor {
    let device = operands[0].device();
    let described: SmallVec<[(&Shape, DType); 3]> =
        operands.iter().map(|operand| (operand.shape(), operand.dtype())).collect();
    let failed = operands.iter().find_map(|operand| operand.node().error());
    if let Some(error) = failed {
        let (shape, dtype) = graph::plausible(&op, &described);
        return failed_tensor(error.clone(), shape, dtype, device, location);
    }
    if let Some(other) = operands.iter().find(|operand| operand.device() != device) {
        let message = format!(
            "expected all operands on one device, found {device:?} (device {}) and {:?} (device {}); \
             move one with .to_device(…)",
            device.id(),
            other.device(),
            other.device().id(),
        );
        return fail(op.name(), OpCause::Message(message), &op, operands, location);
    }
    match graph::infer(&op, &described) {
        Ok((shape, dtype)) => {
            let inputs = operands.iter().map(|operand| operand.node().clone()).collect();
            let node = Arc::new(Node::recorded(op, inputs, shape, dtype, device, location));
            // Create the handle first: recording the node may trigger a submission, which must see the node as live.
            let tensor = Tensor::from_node(node);
            recorder::record(tensor.node());
            tensor
        }
        Err(cause) => fail(op.name(), OpCause::Infer(cause), &op, operands, location),
    }
}

/// Records an op without operands.
pub(super) fn record_source(
    op: Op,
    shape: Shape,
    dtype: DType,
    device: &Device,
    location: &'static Location<'static>,
) -> Tensor {
    let node = Node::recorded(op, SmallVec::new(), shape, dtype, device, location);
    let tensor = Tensor::from_node(Arc::new(node));
    recorder::record(tensor.node());
    tensor
}

/// Creates a rank-0 constant.
pub(super) fn constant(
    value: Scalar,
    device: &Device,
    location: &'static Location<'static>,
) -> Tensor {
    Tensor::from_node(Arc::new(Node::scalar(value, device, location)))
}

/// Creates the failed result of an op, with a plausible shape and dtype.
fn fail(
    name: &'static str,
    cause: OpCause,
    op: &Op,
    operands: &[&Tensor],
    location: &'static Location<'static>,
) -> Tensor {
    let described: SmallVec<[(&Shape, DType); 3]> =
        operands.iter().map(|operand| (operand.shape(), operand.dtype())).collect();
    let (shape, dtype) = graph::plausible(op, &described);
    failed(name, cause, operands, shape, dtype, location)
}

/// Creates the failed result of a method with wrong arguments. `shape` and `dtype` are those of the most plausible result.
pub(super) fn mistake(
    name: &'static str,
    message: String,
    operands: &[&Tensor],
    shape: Shape,
    dtype: DType,
    location: &'static Location<'static>,
) -> Tensor {
    // The first cause wins: the error of a failed operand explains more than the error of its use.
    if let Some(error) = operands.iter().find_map(|operand| operand.node().error()) {
        return failed_tensor(error.clone(), shape, dtype, operands[0].device(), location);
    }
    failed(name, OpCause::Message(message), operands, shape, dtype, location)
}

/// Records a new error and creates its failed tensor.
fn failed(
    name: &'static str,
    cause: OpCause,
    operands: &[&Tensor],
    shape: Shape,
    dtype: DType,
    location: &'static Location<'static>,
) -> Tensor {
    let described =
        operands.iter().map(|operand| (operand.shape().clone(), operand.dtype())).collect();
    let location = caller(location);
    let error = Error::Op(Arc::new(OpError { op: name, operands: described, location, cause }));
    MISTAKES.set(MISTAKES.get() + 1);
    // Inside a method, the method itself panics: its error has the method's name.
    assert!(!*STRICT || is_inside_method(), "{error}");
    failed_tensor(error, shape, dtype, operands[0].device(), location)
}

/// Creates a tensor that carries an error.
pub(super) fn failed_tensor(
    error: Error,
    shape: Shape,
    dtype: DType,
    device: &Device,
    location: &'static Location<'static>,
) -> Tensor {
    let node = Node::failed(error, shape, dtype, device, location);
    let tensor = Tensor::from_node(Arc::new(node));
    scope::track_failed(tensor.node());
    tensor
}
