//! The walk over a program: which value a name stands for, and what is lowered by whom.

use super::attributes::{self, type_name};
use super::builder::{Builder, Lowered, Mark, Source};
use super::error::{Failure, Problem};
use crate::module::{Function, Module, Operation, Region, Type, ValueId};
use crate::program::{Constant, Origin, ValueType};
use inflight_ir::graph::{NodeId, Op};
use inflight_ir::interpret::Array;
use inflight_ir::{DType, Scalar, Shape};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a name of the program stands for.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// A node of the sequence at this depth.
    Node { depth: usize, node: NodeId },
    /// A tuple of values.
    Tuple(Vec<Bound>),
    /// Nothing but an order of effects, which the steps keep anyway.
    Token,
    /// The result of an operation that was not lowered.
    Failed,
}

/// The most operations a program may have when its calls are written out.
const MAX_OPERATIONS: usize = 1_000_000;

/// The walk over one program.
pub(super) struct Lowering<'a> {
    functions: FxHashMap<&'a str, &'a Function>,
    /// The sequences being written, the outermost first.
    builders: Vec<Builder>,
    /// The names of the function being lowered.
    names: FxHashMap<ValueId, Bound>,
    /// The functions being lowered, the outermost first.
    calls: Vec<&'a str>,
    pub constants: Vec<Constant>,
    constant_numbers: FxHashMap<(ValueType, Arc<[u8]>), usize>,
    pub problems: Vec<Problem>,
    /// How many operations were lowered, each time a function is called anew.
    operations: usize,
    /// Whether a function of scalars is being applied to each element of whole arrays.
    pub elementwise: bool,
}

impl<'a> Lowering<'a> {
    pub fn new(module: &'a Module) -> Lowering<'a> {
        Lowering {
            functions: module
                .functions
                .iter()
                .map(|function| (function.name.as_str(), function))
                .collect(),
            builders: vec![Builder::default()],
            names: FxHashMap::default(),
            calls: Vec::new(),
            constants: Vec::new(),
            constant_numbers: FxHashMap::default(),
            problems: Vec::new(),
            operations: 0,
            elementwise: false,
        }
    }

    /// The sequence being written.
    pub fn builder(&mut self) -> &mut Builder {
        self.builders.last_mut().expect("the outermost sequence")
    }

    /// How deep the sequence being written is in others.
    pub fn depth(&self) -> usize {
        self.builders.len() - 1
    }

    /// Begins a sequence inside this one.
    pub fn enter(&mut self) {
        self.builders.push(Builder::default());
    }

    /// Ends the innermost sequence.
    pub fn leave(&mut self) -> Builder {
        self.builders.pop().expect("a sequence that was entered")
    }

    /// How much of every open sequence there is now.
    pub fn mark(&self) -> Vec<Mark> {
        self.builders.iter().map(Builder::mark).collect()
    }

    /// Forgets what was added since the mark, in every sequence that was open then.
    pub fn rewind(&mut self, marks: &[Mark]) {
        for (builder, mark) in self.builders.iter_mut().zip(marks) {
            builder.rewind(mark);
        }
    }

    /// A node of this sequence as a value.
    pub fn bound(&self, node: NodeId) -> Bound {
        Bound::Node { depth: self.depth(), node }
    }

    /// The node of this sequence for a value.
    pub fn node(&mut self, bound: &Bound) -> Lowered<NodeId> {
        match *bound {
            Bound::Node { depth, mut node } => {
                for depth in depth..self.depth() {
                    node = self.capture(depth, node);
                }
                Ok(node)
            }
            Bound::Tuple(_) => Err("a tuple where a tensor is expected".into()),
            Bound::Token => Err("a token where a tensor is expected".into()),
            Bound::Failed => Err(Failure::Propagated),
        }
    }

    /// The node one sequence deeper for a node of the sequence at `depth`. What is made of scalars and
    /// counts alone is made again there.
    fn capture(&mut self, depth: usize, node: NodeId) -> NodeId {
        let value = self.builders[depth].constant_value(node);
        let entry = self.builders[depth].entries[node as usize].clone();
        if self.is_rematerialized(depth, node) {
            let mut entry = entry;
            for input in &mut entry.inputs {
                *input = self.capture(depth, *input);
            }
            return self.builders[depth + 1].intern(entry);
        }
        let inner = &mut self.builders[depth + 1];
        let captured = inner.capture(node, entry.shape, entry.dtype);
        if let Some(value) = value {
            inner.constants.insert(captured, value);
        }
        captured
    }

    fn is_rematerialized(&self, depth: usize, node: NodeId) -> bool {
        let mut node = node;
        loop {
            let entry = &self.builders[depth].entries[node as usize];
            match entry.op {
                Op::Scalar | Op::Iota { .. } => return true,
                Op::Broadcast(_) | Op::Reshape(_) => node = entry.inputs[0],
                _ => return false,
            }
        }
    }

    /// The value an operand's name stands for.
    pub fn value(&self, name: ValueId) -> Lowered<Bound> {
        match self.names.get(&name) {
            Some(Bound::Failed) => Err(Failure::Propagated),
            Some(bound) => Ok(bound.clone()),
            None => Err(format!("the value %{name} is used before it is defined").into()),
        }
    }

    /// The values of all operands.
    pub fn values(&self, operation: &Operation) -> Lowered<Vec<Bound>> {
        operation.operands.iter().map(|&name| self.value(name)).collect()
    }

    /// The node of an operand.
    pub fn operand(&mut self, operation: &Operation, index: usize) -> Lowered<NodeId> {
        let name = *operation.operands.get(index).ok_or_else(|| {
            Failure::Invalid(format!(
                "operand {index} is missing: there are {}",
                operation.operands.len()
            ))
        })?;
        let bound = self.value(name)?;
        self.node(&bound)
    }

    /// The nodes of all operands.
    pub fn operands(&mut self, operation: &Operation) -> Lowered<Vec<NodeId>> {
        (0..operation.operands.len()).map(|index| self.operand(operation, index)).collect()
    }

    /// The nodes of exactly so many operands.
    pub fn expect_operands<const N: usize>(
        &mut self,
        operation: &Operation,
    ) -> Lowered<[NodeId; N]> {
        let found = operation.operands.len();
        let operands = self.operands(operation)?;
        operands
            .try_into()
            .map_err(|_| format!("{N} operands are expected, but there are {found}").into())
    }

    /// The type that the program gives a result, if it leaves no dimension open.
    pub fn declared(&self, operation: &Operation, index: usize) -> Lowered<Option<ValueType>> {
        match operation.results.get(index).map(|result| &result.ty) {
            Some(ty) => value_type(ty),
            None => Err(format!("result {index} is missing").into()),
        }
    }

    /// The dtype that the program gives a result.
    pub fn declared_dtype(&self, operation: &Operation, index: usize) -> Lowered<DType> {
        match operation.results.get(index).map(|result| &result.ty) {
            Some(Type::Tensor(tensor)) => attributes::dtype(&tensor.element),
            Some(other) => Err(format!("a result is {}, not a tensor", type_name(other)).into()),
            None => Err(format!("result {index} is missing").into()),
        }
    }

    /// The shape that the program gives a result; it must leave no dimension open.
    pub fn declared_shape(&self, operation: &Operation, index: usize) -> Lowered<Shape> {
        match self.declared(operation, index)? {
            Some(ty) => Ok(ty.shape),
            None => Err(format!(
                "the shape of its result, {}, is not known; use the operation's `dynamic_` form",
                type_name(&operation.results[index].ty)
            )
            .into()),
        }
    }

    /// A value that is the same in every execution.
    pub fn constant(&mut self, array: Array) -> Lowered<NodeId> {
        let size = array.dtype.size();
        let first = array.bytes.get(..size);
        if let Some(first) = first
            && array.bytes.chunks_exact(size).all(|element| element == first)
        {
            let value = Scalar::from_bytes(array.dtype, first);
            return self.builder().full(value, &array.shape);
        }
        let ty = ValueType { shape: array.shape.clone(), dtype: array.dtype };
        if array.bytes.is_empty() {
            return self.builder().full(Scalar::zero(ty.dtype), &ty.shape);
        }
        let bytes: Arc<[u8]> = array.bytes.as_slice().into();
        let key = (ty.clone(), bytes.clone());
        let next = self.constants.len();
        let number = *self.constant_numbers.entry(key).or_insert(next);
        if number == next {
            self.constants.push(Constant { ty: ty.clone(), bytes });
        }
        let outermost = &mut self.builders[0];
        let node = outermost.input(Source::Constant(number), ty.shape, ty.dtype);
        outermost.constants.insert(node, Arc::new(array));
        self.node(&Bound::Node { depth: 0, node })
    }

    /// A function of the program.
    pub fn function(&self, name: &str) -> Lowered<&'a Function> {
        match self.functions.get(name) {
            Some(&function) => Ok(function),
            None => Err(format!("there is no function @{name}").into()),
        }
    }

    /// A function applied to values.
    pub fn call(&mut self, name: &str, arguments: Vec<Bound>) -> Lowered<Vec<Bound>> {
        let function = self.function(name)?;
        if self.calls.contains(&function.name.as_str()) {
            return Err(
                format!("@{name} calls itself; recursive functions are not supported").into()
            );
        }
        // Functions that call others twice, which call others twice, are short to write and long to run.
        if self.operations > MAX_OPERATIONS {
            return Err(format!(
                "with all calls written out, the program has more than {MAX_OPERATIONS} operations"
            )
            .into());
        }
        self.calls.push(&function.name);
        let names = std::mem::take(&mut self.names);
        let results = self.region(&function.body, arguments);
        self.names = names;
        self.calls.pop();
        results
    }

    /// A region applied to values.
    pub fn region(&mut self, region: &'a Region, arguments: Vec<Bound>) -> Lowered<Vec<Bound>> {
        if region.arguments.len() != arguments.len() {
            return Err(format!(
                "{} values are passed to a computation that takes {}",
                arguments.len(),
                region.arguments.len()
            )
            .into());
        }
        for (argument, value) in region.arguments.iter().zip(arguments) {
            self.names.insert(argument.id, value);
        }
        for operation in &region.operations {
            if is_return(operation) {
                return self.values(operation);
            }
            self.operation(operation);
        }
        Err("a computation does not end in a return".into())
    }

    /// A region applied to nodes, whose results are nodes.
    pub fn apply(&mut self, region: &'a Region, arguments: &[NodeId]) -> Lowered<Vec<NodeId>> {
        let arguments = arguments.iter().map(|&node| self.bound(node)).collect();
        let results = self.region(region, arguments)?;
        results.iter().map(|result| self.node(result)).collect()
    }

    /// A region of scalars applied to each element of arrays of one shape.
    pub fn apply_elementwise(
        &mut self,
        region: &'a Region,
        arguments: &[NodeId],
        shape: &Shape,
    ) -> Lowered<Vec<NodeId>> {
        let outer = std::mem::replace(&mut self.elementwise, true);
        let results = self.apply(region, arguments);
        self.elementwise = outer;
        results?.into_iter().map(|result| self.builder().broadcast(result, shape)).collect()
    }

    /// Lowers one operation and binds its results.
    fn operation(&mut self, operation: &'a Operation) {
        self.operations += 1;
        let origin =
            Origin { name: Arc::from(operation.name.as_str()), location: operation.location };
        let outer = self.builder().origin.replace(origin);
        let lowered = super::dispatch::lower(self, operation)
            .and_then(|results| self.check_results(operation, results));
        self.builder().origin = outer;
        match lowered {
            Ok(results) => {
                for (result, bound) in operation.results.iter().zip(results) {
                    self.names.insert(result.id, bound);
                }
            }
            Err(failure) => {
                if let Failure::Invalid(message) = failure {
                    self.report(Problem {
                        operation: operation.name.clone(),
                        location: operation.location,
                        message,
                    });
                }
                for result in &operation.results {
                    self.names.insert(result.id, Bound::Failed);
                }
            }
        }
    }

    /// Remembers a problem once, however often the operation is lowered.
    pub fn report(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The results, if they are what the program says they are.
    fn check_results(&self, operation: &Operation, results: Vec<Bound>) -> Lowered<Vec<Bound>> {
        if results.len() != operation.results.len() {
            return Err(format!(
                "{} results are declared, but it has {}",
                operation.results.len(),
                results.len()
            )
            .into());
        }
        for (bound, declared) in results.iter().zip(&operation.results) {
            if let (Bound::Node { depth, node }, Type::Tensor(tensor)) = (bound, &declared.ty) {
                let builder = &self.builders[*depth];
                let (shape, dtype) = (builder.shape(*node), builder.dtype(*node));
                let fits =
                    self.elementwise
                        || tensor.dimensions.len() == shape.rank()
                            && tensor.dimensions.iter().zip(shape.iter()).all(|(known, &found)| {
                                known.is_none_or(|known| known == found as u64)
                            });
                if !fits || attributes::dtype(&tensor.element)? != dtype {
                    return Err(format!(
                        "its result is declared as {}, but it is {dtype}{shape}",
                        type_name(&declared.ty)
                    )
                    .into());
                }
            }
        }
        Ok(results)
    }
}

/// Whether the operation ends a region.
pub(super) fn is_return(operation: &Operation) -> bool {
    matches!(operation.name.as_str(), "func.return" | "stablehlo.return" | "return" | "mhlo.return")
}

/// A tensor type without open dimensions; `None` if there are some.
pub(super) fn value_type(ty: &Type) -> Lowered<Option<ValueType>> {
    let Type::Tensor(tensor) = ty else {
        return Err(format!("{} where a tensor is expected", type_name(ty)).into());
    };
    let dtype = attributes::dtype(&tensor.element)?;
    let extents: Option<Vec<usize>> = tensor
        .dimensions
        .iter()
        .map(|extent| extent.and_then(|extent| usize::try_from(extent).ok()))
        .collect();
    let shape = extents.map(|extents| Shape::new(&extents));
    if let Some(shape) = &shape
        && shape.checked_elements().is_none()
    {
        return Err(format!("{} is too large", type_name(ty)).into());
    }
    Ok(shape.map(|shape| ValueType { shape, dtype }))
}

/// One node as the only result.
pub(super) fn only(lowering: &Lowering<'_>, node: NodeId) -> Vec<Bound> {
    vec![lowering.bound(node)]
}
