//! Evaluator of scalar functions: comparators and combiners.

use super::{scalar_binary, scalar_compare, scalar_unary};
use crate::graph::{Graph, Op, ScalarFunction};
use crate::{Element, Scalar};

/// Evaluator of a function. Holds the values of all nodes, reused between calls.
pub struct ScalarFunctionEvaluator<'a> {
    graph: &'a Graph,
    values: Vec<Scalar>,
}

impl<'a> ScalarFunctionEvaluator<'a> {
    /// Prepares a function for evaluation.
    pub fn new(function: &'a ScalarFunction) -> ScalarFunctionEvaluator<'a> {
        let graph = function.graph();
        let values = graph.nodes.iter().map(|node| Scalar::zero(node.dtype)).collect();
        ScalarFunctionEvaluator { graph, values }
    }

    /// Evaluates the function.
    ///
    /// # Panics
    /// If the number or dtypes of the arguments do not match the function.
    pub fn call(&mut self, arguments: &[Scalar]) -> Scalar {
        let mut arguments = arguments.iter();
        let mut scalars = self.graph.scalars.iter();
        for (id, node) in self.graph.nodes.iter().enumerate() {
            let at = |operand: usize| self.values[node.inputs[operand] as usize];
            let value = match &node.op {
                Op::Input => *arguments.next().expect("an argument for each parameter"),
                Op::Scalar => *scalars.next().expect("a value for each constant"),
                Op::Unary(op) => scalar_unary(*op, at(0)),
                Op::Binary(op) => scalar_binary(*op, at(0), at(1)),
                Op::Compare(op) => scalar_compare(*op, at(0), at(1)).to_scalar(),
                Op::Select if bool::from_scalar(at(0)) => at(1),
                Op::Select => at(2),
                Op::Cast(to) => at(0).cast(*to),
                Op::Bitcast(to) => Scalar::from_bits(*to, at(0).bits()),
                op => unreachable!("{} is not elementwise", op.name()),
            };
            assert_eq!(value.dtype(), node.dtype, "the value of {} in a function", node.op.name());
            self.values[id] = value;
        }
        assert!(arguments.next().is_none(), "more arguments than parameters");
        self.values[self.graph.outputs[0] as usize]
    }
}
