//! Reference interpreter of graphs: one node at a time, one element at a time.
//!
//! It defines the meaning of every op and is the oracle of all differential tests, so it is written for
//! readability, not speed. Integers are exact. Floats are computed in double precision and rounded to their dtype
//! once per node; a sum or dot is rounded once at its end. Subnormal results are kept.

mod accumulate;
mod array;
mod complex;
mod double_double;
mod function;
mod implicit_gemm;
mod index;
mod linear_algebra;
mod movement;
mod reduction;
pub mod scalars;
mod sort;

pub use accumulate::Accumulator;
pub use array::Array;
pub use function::ScalarFunctionEvaluator;
pub use scalars::{scalar_binary, scalar_combine, scalar_compare, scalar_unary};

use crate::graph::{Graph, Node, Op};
use crate::{DType, Element, Scalar, Shape};
use index::{broadcast_strides, for_each_index, linear_index};
use std::borrow::Cow;

/// Evaluates a graph: the values of its outputs, given the values of its inputs in the order of [`Graph::inputs`].
///
/// # Panics
/// If the number, shapes or dtypes of the inputs do not match the graph.
pub fn interpret(graph: &Graph, inputs: &[Array]) -> Vec<Array> {
    let mut inputs = inputs.iter();
    let mut scalars = graph.scalars.iter();
    let mut values: Vec<Cow<'_, Array>> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let value = match node.op {
            Op::Input => Cow::Borrowed(inputs.next().expect("one value for each input")),
            Op::Scalar => {
                let value = *scalars.next().expect("one value for each scalar");
                Cow::Owned(Array::full((), value))
            }
            _ => {
                let operands: Vec<&Array> =
                    node.inputs.iter().map(|&input| &*values[input as usize]).collect();
                Cow::Owned(evaluate(node, &operands))
            }
        };
        assert_eq!(
            (&value.shape, value.dtype),
            (&node.shape, node.dtype),
            "the value of a node {}",
            node.op.name()
        );
        values.push(value);
    }
    assert!(inputs.next().is_none(), "more values than inputs");
    graph.outputs.iter().map(|&output| values[output as usize].clone().into_owned()).collect()
}

/// Evaluates one node that is not an input or a constant.
fn evaluate(node: &Node, operands: &[&Array]) -> Array {
    let (shape, dtype) = (&node.shape, node.dtype);
    match (&node.op, operands) {
        (Op::Iota { axis, .. }, []) => iota(shape, dtype, *axis),
        (Op::Unary(op), [x]) => elementwise(node, &[x], |[x]| scalar_unary(*op, x)),
        (Op::Binary(op), [a, b]) => elementwise(node, &[a, b], |[a, b]| scalar_binary(*op, a, b)),
        (Op::Compare(op), [a, b]) => {
            elementwise(node, &[a, b], |[a, b]| scalar_compare(*op, a, b).to_scalar())
        }
        (Op::Select, [condition, a, b]) => {
            elementwise(
                node,
                &[condition, a, b],
                |[x, a, b]| {
                    if bool::from_scalar(x) { a } else { b }
                },
            )
        }
        (Op::Cast(to), [x]) => elementwise(node, &[x], |[x]| x.cast(*to)),
        (Op::Bitcast(to), [x]) => elementwise(node, &[x], |[x]| Scalar::from_bits(*to, x.bits())),
        (Op::Reshape(_), [x]) => movement::reshape(x, shape),
        (Op::Permute(axes), [x]) => movement::permute(x, shape, axes),
        (Op::Broadcast(_), [x]) => movement::broadcast(x, shape),
        (Op::Slice(slices), [x]) => movement::slice(x, shape, slices),
        (Op::Windows(windows), [x]) => movement::windows(x, shape, windows),
        (Op::Sort { axis, order, result }, keys) => sort::sort(keys, *axis, order, *result),
        (Op::Pad(pads), [x, fill]) => movement::pad(x, fill, shape, pads),
        (Op::Concat { axis }, operands) => movement::concat(operands, shape, *axis),
        (Op::Assign(slices), [x, update]) => movement::assign(x, update, slices),
        (Op::Gather { axis }, [x, index]) => movement::gather(x, index, *axis),
        (Op::Scatter { axis, combine }, [x, index, update]) => {
            movement::scatter(x, index, update, *axis, combine.as_ref())
        }
        (Op::Reduce { op, axes }, [x]) => reduction::reduce(x, shape, *op, axes),
        (Op::ArgReduce { op, axis }, [x]) => reduction::arg_reduce(x, shape, *op, *axis),
        (Op::Scan { op, axis }, [x]) => reduction::scan(x, *op, *axis),
        (Op::Dot(axes), [a, b]) => reduction::dot(a, b, shape, axes),
        (Op::ImplicitGemm(gemm), [x, kernels]) => implicit_gemm::convolve(x, kernels, shape, gemm),
        (Op::Cholesky { lower }, [x]) => linear_algebra::cholesky(x, *lower),
        (Op::TriangularSolve { left_side, lower, unit_diagonal, transpose }, [a, b]) => {
            linear_algebra::triangular_solve(a, b, *left_side, *lower, *unit_diagonal, *transpose)
        }
        (op, operands) => panic!("{} with {} operands", op.name(), operands.len()),
    }
}

fn iota(shape: &Shape, dtype: DType, axis: usize) -> Array {
    let mut values = Vec::with_capacity(shape.element_count());
    for_each_index(shape, |index| values.push((index[axis] as u64).to_scalar().cast(dtype)));
    Array::from_scalars(values, shape, dtype)
}

/// Applies an elementwise op to operands that are broadcast to the node's shape.
fn elementwise<const N: usize>(
    node: &Node,
    operands: &[&Array; N],
    op: impl Fn([Scalar; N]) -> Scalar,
) -> Array {
    let strides = operands.map(|operand| broadcast_strides(&operand.shape, &node.shape));
    let mut values = Vec::with_capacity(node.shape.element_count());
    for_each_index(&node.shape, |index| {
        let arguments = |i: usize| operands[i].get(linear_index(index, &strides[i]));
        values.push(op(std::array::from_fn(arguments)));
    });
    Array::from_scalars(values, &node.shape, node.dtype)
}

#[cfg(test)]
mod tests;
