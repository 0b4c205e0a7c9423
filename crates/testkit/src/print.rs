//! Printer of graphs and cases, one line for each node.

use crate::random::Case;
use inflight_ir::graph::{Graph, Op};
use std::fmt::Write;

/// Larger arrays are printed abbreviated.
const MAX_PRINTED_ELEMENTS: usize = 64;

/// Prints a graph, one line for each node, and its outputs.
pub fn graph(graph: &Graph) -> String {
    print_nodes(graph, None)
}

/// Prints a case: its seed, its graph and the values of its inputs.
pub fn case(case: &Case) -> String {
    format!("seed {}\n{}", case.seed, print_nodes(&case.graph, Some(case)))
}

fn print_nodes(graph: &Graph, case: Option<&Case>) -> String {
    let mut text = String::new();
    let (mut inputs, mut scalars) = (0, 0);
    for (id, node) in graph.nodes.iter().enumerate() {
        let description = match &node.op {
            Op::Input => {
                inputs += 1;
                match case.map(|case| &case.inputs[inputs - 1]) {
                    Some(array) if array.element_count() <= MAX_PRINTED_ELEMENTS => {
                        format!("input {array:?}")
                    }
                    Some(array) => {
                        let first: Vec<String> =
                            array.scalars().take(8).map(|value| value.to_string()).collect();
                        format!("input [{}, …]", first.join(", "))
                    }
                    None => "input".to_string(),
                }
            }
            Op::Scalar => {
                scalars += 1;
                format!("scalar {}", graph.scalars[scalars - 1])
            }
            op if matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Select) => {
                op.name().to_string()
            }
            op => format!("{op:?}"),
        };
        let operands: Vec<String> = node.inputs.iter().map(|input| format!("%{input}")).collect();
        let (dtype, shape) = (node.dtype, &node.shape);
        let _ = writeln!(text, "%{id}: {dtype}{shape} = {description} {}", operands.join(" "));
    }
    let outputs: Vec<String> = graph.outputs.iter().map(|output| format!("%{output}")).collect();
    let _ = writeln!(text, "return {}", outputs.join(" "));
    text
}
