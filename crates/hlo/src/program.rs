//! A program for one set of argument shapes: graphs, and the control flow between them.

use crate::module::Location;
use inflight_ir::graph::Graph;
use inflight_ir::{DType, Shape};
use std::sync::Arc;

/// What a runtime executes.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the function it was lowered from.
    pub name: String,
    /// What the caller passes.
    pub arguments: Vec<Argument>,
    /// What the caller gets.
    pub results: Vec<ValueType>,
    /// Values that are the same in every execution.
    pub constants: Vec<Constant>,
    /// What is done. Its inputs are the arguments, then the constants; its outputs are the results.
    pub body: Sequence,
}

/// One argument of a program.
#[derive(Clone, Debug)]
pub struct Argument {
    /// What the program calls it: by its location, or else as it was written, without `%`.
    pub name: String,
    /// What it must be.
    pub ty: ValueType,
    /// Whether the execution may use the argument's memory for its results (`tf.aliasing_output`,
    /// `jax.buffer_donor`): the caller gives it up.
    pub is_donated: bool,
}

/// The shape and dtype of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ValueType {
    /// Its shape.
    pub shape: Shape,
    /// Its dtype.
    pub dtype: DType,
}

/// A value written in the program.
#[derive(Clone, Debug)]
pub struct Constant {
    /// What it is.
    pub ty: ValueType,
    /// Its elements, little-endian and row-major.
    pub bytes: Arc<[u8]>,
}

/// Steps in order. Values are numbered: the inputs first, then what each step defines.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The types of all values, the inputs first.
    pub values: Vec<ValueType>,
    /// How many of the values are inputs.
    pub inputs: usize,
    /// What is done.
    pub steps: Vec<Step>,
    /// The values that are wanted in the end.
    pub outputs: Vec<Slot>,
}

/// The number of a value in its sequence.
pub type Slot = usize;

/// One step of a sequence.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// With which values.
    pub inputs: Vec<Slot>,
    /// The values it defines: as many as it has results, in order.
    pub results: Vec<Slot>,
    /// Where it was written; of a graph, its first operation.
    pub location: Location,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Runs a graph. Its inputs and outputs are the step's.
    Compute {
        /// What is computed.
        graph: Arc<Graph>,
        /// The operation each node comes from.
        origins: Arc<[Origin]>,
    },
    /// Runs `body` as long as `condition` says so. Both take all of the step's inputs: first those that
    /// are `carried`, then those that stay the same. The condition gives one `bool` of rank 0, the body
    /// gives the next carried values; the step's results are the last ones.
    While {
        /// Whether to go on.
        condition: Sequence,
        /// One turn.
        body: Sequence,
        /// How many of the inputs change from turn to turn.
        carried: usize,
    },
    /// Runs one branch. The first input (`i32` of rank 0) says which; out of range means the last.
    /// The branches take the other inputs.
    Case {
        /// The branches; all give the same types.
        branches: Vec<Sequence>,
    },
    /// Calls a function of the host by name (`custom_call`).
    Call(Call),
}

/// A call of a function that is not part of the program.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its name.
    pub target: String,
    /// The call's attributes, as written.
    pub attributes: crate::module::Attributes,
}

/// Where a node of a graph comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The operation's name, such as `stablehlo.add`.
    pub name: Arc<str>,
    /// Where it was written.
    pub location: Location,
}
