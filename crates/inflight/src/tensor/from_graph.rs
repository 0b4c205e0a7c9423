//! Recording of existing graph nodes, of lowered programs and of random graphs in tests, as tensors.

use super::Tensor;
use super::record::{constant, record_at, record_source};
use crate::runtime::Device;
use crate::{Error, Scalar};
use inflight_ir::graph::{Node, Op};
use std::panic::Location;

/// Records one node of a graph on these operands. `scalar` is the value of an [`Op::Scalar`].
///
/// # Panics
/// If the node is an input, or a scalar without a value.
#[doc(hidden)]
#[track_caller]
pub fn record_graph_node(
    node: &Node,
    scalar: Option<Scalar>,
    operands: &[&Tensor],
    device: &Device,
) -> Result<Tensor, Error> {
    let location = Location::caller();
    let tensor = match &node.op {
        Op::Input => panic!("expected an op, found an input node"),
        Op::Scalar => constant(scalar.expect("a scalar node has a value"), device, location),
        Op::Iota { shape, dtype, .. } => {
            record_source(node.op.clone(), shape.clone(), *dtype, device, location)
        }
        op => record_at(op.clone(), operands, location),
    };
    tensor.check()?;
    Ok(tensor)
}
