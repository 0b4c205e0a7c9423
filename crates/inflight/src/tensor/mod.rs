//! Tensors: reference-counted handles to lazily computed values.
//!
//! A method records an op as a graph node and returns a handle to it. A read submits the recorded graph.
//!
//! - `node`: the graph node that a handle points to;
//! - `record`: recording of ops, and recorded errors;
//! - `axis`, `extents`, `slice`: axis, shape and index arguments;
//! - `array`, `create`, `random`, `rng`, `normal`: creation from host data, constants and random numbers;
//! - `operand`, `elementwise`, `operators`, `activation`, `view`, `join`, `index`, `reduce`, `matmul`,
//!   `transfer`, `conv`, `window`, `sort`, `fourier`, `linear`: the methods that record ops;
//! - `composed`: methods that record several ops; `method`: method names in their errors;
//! - `rows`: iteration over the first axis;
//! - `read`, `bytes`, `transaction`, `display`, `close`: reads of values to the host;
//! - `from_graph`: recording of existing graph nodes.

mod activation;
mod array;
mod axis;
mod bytes;
mod close;
mod composed;
mod conv;
mod create;
mod display;
mod elementwise;
mod extents;
mod fourier;
mod from_graph;
mod index;
mod join;
mod linear;
mod matmul;
mod method;
mod node;
mod normal;
mod operand;
mod operators;
mod random;
mod read;
mod record;
mod reduce;
mod rng;
mod rows;
mod slice;
mod sort;
mod transaction;
mod transfer;
mod view;
mod window;

pub use array::NestedArray;
pub use axis::{Axes, Axis, Integer};
pub use close::Expected;
#[doc(hidden)]
pub use close::difference;
pub use conv::ConvOptions;
pub use extents::{Extents, Padding, PerAxis};
#[doc(hidden)]
pub use from_graph::record_graph_node;
pub use linear::TriangularOptions;
pub(crate) use node::{Inputs, Node};
pub use operand::Operand;
pub(crate) use record::recorded_at;
pub use rng::Rng;
pub use rows::Rows;
pub use slice::{Slice, SliceIndex, Slices};
pub use transaction::{TensorData, Transaction};
pub use window::PoolOptions;

use crate::runtime::Device;
use crate::{DType, Result, Shape};
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// An n-dimensional array on a device, as a handle to a value that may not be computed yet.
///
/// Methods record ops and return at once; reads such as [`to_vec`](Tensor::to_vec) and [`item`](Tensor::item) submit
/// what is recorded and wait. Shape, dtype and device are known immediately and never wait. A handle is cheap to clone
/// and usable from any thread. A tensor is immutable: every op makes a new one.
///
/// ```
/// use inflight::{Device, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let x = Tensor::from_array([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu());
/// let y = (&x * 2.0).sum(0); // recorded
/// assert_eq!(y.shape().extents(), [2]); // known without waiting
/// assert_eq!(y.to_vec::<f32>()?, [8.0, 12.0]); // submitted, waited for
/// # Ok(())
/// # }
/// ```
#[doc(alias("Array", "ndarray", "DeviceArray"))]
#[must_use = "a recorded value without a handle is never computed"]
pub struct Tensor {
    node: Arc<Node>,
    /// Replaces `node` once this handle has donated its value: a failed node with [`Error::Donated`](crate::Error::Donated).
    donated: OnceLock<Arc<Node>>,
}

impl Tensor {
    /// Creates a handle to a node.
    pub(crate) fn from_node(node: Arc<Node>) -> Tensor {
        node.add_handle();
        Tensor { node, donated: OnceLock::new() }
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        self.donated.get().unwrap_or(&self.node)
    }

    /// Donates this handle's value: from now on the handle carries `error`. Other handles keep the value. Returns
    /// whether this was the only handle; `None` if the value was donated before.
    pub(crate) fn donate(
        &self,
        error: crate::Error,
        location: &'static Location<'static>,
    ) -> Option<bool> {
        let node = &self.node;
        let (shape, dtype) = (node.shape().clone(), node.dtype());
        let failed = Node::failed(error, shape, dtype, node.device(), location);
        self.donated.set(Arc::new(failed)).ok()?;
        Some(node.has_one_handle() && Arc::strong_count(node) == 1)
    }

    /// The extents, outermost axis first. Never waits.
    #[doc(alias("size", "dims"))]
    pub fn shape(&self) -> &Shape {
        self.node.shape()
    }

    /// The number of axes. Never waits.
    #[doc(alias("ndim", "dim", "ndimension"))]
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// The size of all elements in bytes: their number times [`DType::size`]. Never waits.
    pub fn nbytes(&self) -> usize {
        self.element_count() * self.dtype().size()
    }

    /// The number of elements, the product of the extents. Never waits.
    #[doc(alias("numel", "size", "len"))]
    pub fn element_count(&self) -> usize {
        self.shape().element_count()
    }

    /// The element type. Never waits.
    #[doc(alias("element_type"))]
    pub fn dtype(&self) -> DType {
        self.node.dtype()
    }

    /// The device that holds the value, or will hold it. Never waits.
    #[doc(alias("placement", "get_device"))]
    pub fn device(&self) -> &Device {
        self.node.device()
    }

    /// Returns the first error recorded in this value or in a value that it is computed from. Never waits.
    ///
    /// Recorded errors are wrong shapes, dtypes and arguments. A failure on the device, such as running out of memory,
    /// is reported by reads only.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// let x = Tensor::ones::<f32>([2, 3], &Device::cpu());
    /// assert!(x.check().is_ok());
    /// assert!(x.matmul(&x).check().is_err());
    /// ```
    #[doc(alias("error", "validate"))]
    pub fn check(&self) -> Result<()> {
        match self.node().error() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Whether an error was recorded in this value or in a value that it is computed from. Never waits.
    ///
    /// [`check`](Tensor::check) returns the error.
    pub fn is_failed(&self) -> bool {
        self.node().error().is_some()
    }

    /// The source location of the call that recorded this value. Never waits.
    pub fn location(&self) -> &'static Location<'static> {
        self.node.location()
    }
}

impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        Tensor::from_node(self.node().clone())
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        self.node.drop_handle();
    }
}

impl fmt::Debug for Tensor {
    /// Writes dtype, shape, device and state, not the elements. Never waits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({}{} on {:?}", self.dtype(), self.shape(), self.device())?;
        match (self.node().error(), self.node().value()) {
            (Some(error), _) => write!(f, ", failed: {error})"),
            (None, None) => write!(f, ", recorded)"),
            (None, Some(value)) if value.is_ready() => write!(f, ", ready)"),
            (None, Some(_)) => write!(f, ", in flight)"),
        }
    }
}
