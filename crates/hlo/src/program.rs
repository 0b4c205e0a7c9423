//! Lowered program for one set of argument shapes: graphs, and the structured control flow between them.

use crate::module::Location;
use inflight_ir::graph::Graph;
use inflight_ir::{DType, Shape};
use std::sync::Arc;

/// A lowered program, ready for a runtime to compile and execute.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the function it was lowered from.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The types of the results, in order.
    pub results: Vec<ValueType>,
    /// Dense constants that are not splats; the same in every execution.
    pub constants: Vec<Constant>,
    /// The steps. Its inputs are the arguments, then the constants; its outputs are the results.
    pub body: Sequence,
}

/// One argument of a program.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name in the argument's location (`loc("name")`), or else its SSA name without `%`.
    pub name: String,
    /// The shape and dtype that the caller must pass.
    pub ty: ValueType,
    /// Whether the caller donates the argument's buffer to the execution (`tf.aliasing_output`, `jax.buffer_donor`).
    pub is_donated: bool,
}

/// The shape and dtype of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ValueType {
    /// The shape.
    pub shape: Shape,
    /// The element type.
    pub dtype: DType,
}

/// A dense constant of the program.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its shape and dtype.
    pub ty: ValueType,
    /// Its elements, little-endian and row-major.
    pub bytes: Arc<[u8]>,
}

/// Steps in execution order. Values are numbered: the inputs first, then the results of each step.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The types of all values, the inputs first.
    pub values: Vec<ValueType>,
    /// The number of inputs, which are the first values.
    pub inputs: usize,
    /// The steps.
    pub steps: Vec<Step>,
    /// The values that the sequence returns.
    pub outputs: Vec<Slot>,
}

/// The index of a value in [`Sequence::values`].
pub type Slot = usize;

/// One step of a sequence.
#[derive(Clone, Debug)]
pub struct Step {
    /// A graph, a loop, a branch or a host call.
    pub action: Action,
    /// The operands.
    pub inputs: Vec<Slot>,
    /// The values that the step defines, one per result.
    pub results: Vec<Slot>,
    /// The source location; for a graph, that of its first operation.
    pub location: Location,
}

/// The kinds of steps.
#[derive(Clone, Debug)]
pub enum Action {
    /// Runs a graph. Its inputs and outputs are the step's.
    Compute {
        /// The graph.
        graph: Arc<Graph>,
        /// The StableHLO operation that each node was lowered from.
        origins: Arc<[Origin]>,
    },
    /// Runs `body` while `condition` returns true. Both take all of the step's inputs: first the `carried`
    /// ones, then the loop invariants. The condition returns one `bool` of rank 0; the body returns the next
    /// carried values. The step's results are the final carried values.
    While {
        /// Whether to run another iteration.
        condition: Sequence,
        /// One iteration.
        body: Sequence,
        /// The number of loop-carried inputs.
        carried: usize,
    },
    /// Runs one branch. The first input (`i32` of rank 0) is the branch index; an index out of range selects
    /// the last branch. The branches take the remaining inputs.
    Case {
        /// The branches; all have the same result types.
        branches: Vec<Sequence>,
    },
    /// Calls a host function by name (`custom_call`).
    Call(Call),
}

/// A call of a host function that is registered with the runtime.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call target's name.
    pub target: String,
    /// The attributes of the `custom_call`.
    pub attributes: crate::module::Attributes,
}

/// The StableHLO operation that a graph node was lowered from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The operation's name, such as `stablehlo.add`.
    pub name: Arc<str>,
    /// The operation's source location.
    pub location: Location,
}
