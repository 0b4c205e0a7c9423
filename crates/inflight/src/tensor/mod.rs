//! Tensors: handles to values that may not exist yet.
//!
//! - `node`: what a handle points to;
//! - `record`: how an op becomes a node;
//! - `axis`, `extents`, `slice`: axes, shapes and indices as callers write them;
//! - `create`, `elementwise`, `operators`, `activation`, `view`, `join`, `index`, `reduce`, `matmul`,
//!   `random`, `transfer`, `conv`, `window`, `sort`, `fourier`, `linear`: the methods;
//! - `composed`: how a method that is several ops is recorded; `method`: how its errors are named;
//! - `rows`: iteration over the first axis;
//! - `read`, `bytes`, `display`: looking at values.

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
pub use read::Item;
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

/// A handle to a value that may not exist yet. Cheap to clone, usable from any thread.
///
/// Shape, dtype and device are known at once and never wait.
#[must_use = "a recorded value that no handle wants is never computed"]
pub struct Tensor {
    node: Arc<Node>,
    /// Takes the node's place once this handle has given its value up: a node that says so.
    donated: OnceLock<Arc<Node>>,
}

impl Tensor {
    /// A new handle to a node.
    pub(crate) fn from_node(node: Arc<Node>) -> Tensor {
        node.add_handle();
        Tensor { node, donated: OnceLock::new() }
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        self.donated.get().unwrap_or(&self.node)
    }

    /// Gives this handle's value up: from now on it has this error. Other handles are not concerned. Says
    /// whether nobody else can ask for the value; `None` if it was given up before.
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

    /// The extents, outermost first.
    pub fn shape(&self) -> &Shape {
        self.node.shape()
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// The number of bytes that the elements take in memory.
    pub fn nbytes(&self) -> usize {
        self.elements() * self.dtype().size()
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape().elements()
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.node.dtype()
    }

    /// Where the value is, or will be.
    pub fn device(&self) -> &Device {
        self.node.device()
    }

    /// The first mistake that this value depends on, if one was made when it was recorded. Never waits; a
    /// failure on the device is found by reading.
    pub fn check(&self) -> Result<()> {
        match self.node().error() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Whether a mistake was recorded in this value or in a value that it is computed from. Never waits;
    /// [`check`](Tensor::check) says which.
    pub fn is_failed(&self) -> bool {
        self.node().error().is_some()
    }

    /// Where the op that makes this value was recorded.
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
    /// Metadata only: never waits.
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
