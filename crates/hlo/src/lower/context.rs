//! Lowering context: SSA value bindings, the stack of open sequences, function inlining and error reporting.

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

/// The lowered form of an SSA value.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// A node of the sequence at this depth.
    Node { depth: usize, node: NodeId },
    /// A tuple of values.
    Tuple(Vec<Bound>),
    /// A token. It only orders side effects, and steps are in order anyway.
    Token,
    /// The result of an operation that was not lowered.
    Failed,
}

/// The maximum number of operations after inlining.
const MAX_OPERATIONS: usize = 1_000_000;

/// State of lowering one program.
pub(super) struct Lowering<'a> {
    functions: FxHashMap<&'a str, &'a Function>,
    /// The open sequences, outermost first.
    builders: Vec<Builder>,
    /// The SSA values of the current function.
    names: FxHashMap<ValueId, Bound>,
    /// The call stack of functions being inlined, outermost first.
    calls: Vec<&'a str>,
    pub constants: Vec<Constant>,
    constant_indices: FxHashMap<(ValueType, Arc<[u8]>), usize>,
    pub problems: Vec<Problem>,
    /// The number of operations lowered, including those of repeated calls.
    operations: usize,
    /// Whether a body of scalar operations is being applied elementwise to whole tensors.
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
            constant_indices: FxHashMap::default(),
            problems: Vec::new(),
            operations: 0,
            elementwise: false,
        }
    }

    /// The innermost open sequence.
    pub fn builder(&mut self) -> &mut Builder {
        self.builders.last_mut().expect("the outermost sequence is open")
    }

    /// The nesting depth of the innermost open sequence.
    pub fn depth(&self) -> usize {
        self.builders.len() - 1
    }

    /// Opens a nested sequence.
    pub fn enter(&mut self) {
        self.builders.push(Builder::default());
    }

    /// Closes the innermost sequence.
    pub fn leave(&mut self) -> Builder {
        self.builders.pop().expect("a sequence is open")
    }

    /// Marks the current size of every open sequence.
    pub fn mark(&self) -> Vec<Mark> {
        self.builders.iter().map(Builder::mark).collect()
    }

    /// Removes what was added since the mark, in every sequence that was open then.
    pub fn rewind(&mut self, marks: &[Mark]) {
        for (builder, mark) in self.builders.iter_mut().zip(marks) {
            builder.rewind(mark);
        }
    }

    /// Wraps a node of the innermost sequence as a value.
    pub fn bound(&self, node: NodeId) -> Bound {
        Bound::Node { depth: self.depth(), node }
    }

    /// The node of a value in the innermost sequence; captures values of enclosing sequences.
    pub fn node(&mut self, bound: &Bound) -> Lowered<NodeId> {
        match *bound {
            Bound::Node { depth, mut node } => {
                for depth in depth..self.depth() {
                    node = self.capture(depth, node);
                }
                Ok(node)
            }
            Bound::Tuple(_) => Err("expected a tensor operand, found a tuple".into()),
            Bound::Token => Err("expected a tensor operand, found a token".into()),
            Bound::Failed => Err(Failure::Propagated),
        }
    }

    /// Captures a node of the sequence at `depth` in the sequence one level deeper. Scalars and iotas, broadcast or
    /// not, are rematerialized there instead.
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

    /// Looks up an operand.
    pub fn value(&self, name: ValueId) -> Lowered<Bound> {
        match self.names.get(&name) {
            Some(Bound::Failed) => Err(Failure::Propagated),
            Some(bound) => Ok(bound.clone()),
            None => Err(format!("value %{name} is used before its definition").into()),
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
                "expected at least {} operands, found {}",
                index + 1,
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

    /// The nodes of the operands, of which there must be exactly `N`.
    pub fn expect_operands<const N: usize>(
        &mut self,
        operation: &Operation,
    ) -> Lowered<[NodeId; N]> {
        let found = operation.operands.len();
        let operands = self.operands(operation)?;
        operands.try_into().map_err(|_| format!("expected {N} operands, found {found}").into())
    }

    /// The declared type of a result. `None` if it has dynamic dimensions.
    pub fn declared(&self, operation: &Operation, index: usize) -> Lowered<Option<ValueType>> {
        match operation.results.get(index).map(|result| &result.ty) {
            Some(ty) => value_type(ty),
            None => Err(format!("result {index} is missing").into()),
        }
    }

    /// The declared dtype of a result.
    pub fn declared_dtype(&self, operation: &Operation, index: usize) -> Lowered<DType> {
        match operation.results.get(index).map(|result| &result.ty) {
            Some(Type::Tensor(tensor)) => attributes::dtype(&tensor.element),
            Some(other) => {
                Err(format!("expected a tensor result, found {}", type_name(other)).into())
            }
            None => Err(format!("result {index} is missing").into()),
        }
    }

    /// The declared shape of a result, which must be static.
    pub fn declared_shape(&self, operation: &Operation, index: usize) -> Lowered<Shape> {
        match self.declared(operation, index)? {
            Some(ty) => Ok(ty.shape),
            None => Err(format!(
                "expected a result of static shape, found {}; use the operation's `dynamic_` form",
                type_name(&operation.results[index].ty)
            )
            .into()),
        }
    }

    /// A constant. Splats and empty constants become nodes; others become constants of the program.
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
        let number = *self.constant_indices.entry(key).or_insert(next);
        if number == next {
            self.constants.push(Constant { ty: ty.clone(), bytes });
        }
        let outermost = &mut self.builders[0];
        let node = outermost.input(Source::Constant(number), ty.shape, ty.dtype);
        outermost.constants.insert(node, Arc::new(array));
        self.node(&Bound::Node { depth: 0, node })
    }

    /// Looks up a function of the module.
    pub fn function(&self, name: &str) -> Lowered<&'a Function> {
        match self.functions.get(name) {
            Some(&function) => Ok(function),
            None => Err(format!("the module has no function @{name}").into()),
        }
    }

    /// Inlines a call.
    pub fn call(&mut self, name: &str, arguments: Vec<Bound>) -> Lowered<Vec<Bound>> {
        let function = self.function(name)?;
        if self.calls.contains(&function.name.as_str()) {
            return Err(
                format!("@{name} calls itself; recursive functions are not supported").into()
            );
        }
        // Nested calls can grow exponentially.
        if self.operations > MAX_OPERATIONS {
            return Err(format!(
                "the program has more than {MAX_OPERATIONS} operations after inlining; call \
                 functions less often"
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

    /// Lowers a region with its block arguments bound to values.
    pub fn region(&mut self, region: &'a Region, arguments: Vec<Bound>) -> Lowered<Vec<Bound>> {
        if region.arguments.len() != arguments.len() {
            return Err(format!(
                "expected {} arguments for a region or function, found {}",
                region.arguments.len(),
                arguments.len()
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
        Err("a region does not end in a `return`".into())
    }

    /// Lowers a region with its block arguments bound to nodes. Returns the nodes of its results.
    pub fn apply(&mut self, region: &'a Region, arguments: &[NodeId]) -> Lowered<Vec<NodeId>> {
        let arguments = arguments.iter().map(|&node| self.bound(node)).collect();
        let results = self.region(region, arguments)?;
        results.iter().map(|result| self.node(result)).collect()
    }

    /// Lowers a region of scalar operations elementwise over tensors of one shape.
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

    /// Reports a problem, once even if the operation is lowered several times.
    pub fn report(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Checks an operation's results against the declared types.
    fn check_results(&self, operation: &Operation, results: Vec<Bound>) -> Lowered<Vec<Bound>> {
        if results.len() != operation.results.len() {
            return Err(format!(
                "expected {} results, as declared, found {}",
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
                        "expected a result of type {}, as declared, found {dtype}{shape}",
                        type_name(&declared.ty)
                    )
                    .into());
                }
            }
        }
        Ok(results)
    }
}

/// Whether the operation is a region's terminator.
pub(super) fn is_return(operation: &Operation) -> bool {
    matches!(operation.name.as_str(), "func.return" | "stablehlo.return" | "return" | "mhlo.return")
}

/// A tensor type as shape and dtype. `None` if it has dynamic dimensions.
pub(super) fn value_type(ty: &Type) -> Lowered<Option<ValueType>> {
    let Type::Tensor(tensor) = ty else {
        return Err(format!("expected a tensor type, found {}", type_name(ty)).into());
    };
    let dtype = attributes::dtype(&tensor.element)?;
    let extents: Option<Vec<usize>> = tensor
        .dimensions
        .iter()
        .map(|extent| extent.and_then(|extent| usize::try_from(extent).ok()))
        .collect();
    let shape = extents.map(|extents| Shape::new(&extents));
    if let Some(shape) = &shape
        && shape.checked_element_count().is_none()
    {
        return Err(format!("{} has too many elements", type_name(ty)).into());
    }
    Ok(shape.map(|shape| ValueType { shape, dtype }))
}

/// One node as the only result of an operation.
pub(super) fn only(lowering: &Lowering<'_>, node: NodeId) -> Vec<Bound> {
    vec![lowering.bound(node)]
}
