//! A program as it was written: what both the text and the bytecode are read into.
//!
//! Every operation is in generic form, whatever form it was written in: `stablehlo.add %a, %b` and
//! `"stablehlo.add"(%a, %b)` give the same [`Operation`]. Attributes have the names and the kinds that
//! the StableHLO specification gives them. What equals a default is left out, whether it was written or
//! not: the fields of a record that are empty lists, `index_vector_dim = 0`, strides and dilations of 1,
//! padding of 0, `precision_config` of all `DEFAULT`, `sort`'s `dimension = -1`, flags that are `false`, …
//! Values are numbered in the order of their definitions.

/// The functions of a program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// The symbol after `module`, if there is one.
    pub name: Option<String>,
    /// The module's own attributes, such as `mhlo.num_partitions`.
    pub attributes: Attributes,
    /// What is neither a function nor of any meaning on one device, such as meshes of devices, as it was written.
    pub others: Vec<String>,
    /// In the order they were written.
    pub functions: Vec<Function>,
}

impl Module {
    /// Forgets where everything was written and what arguments were called, so that modules can be compared by what
    /// they say.
    pub fn forget_locations(&mut self) {
        for function in &mut self.functions {
            function.location = Location::default();
            function.argument_names.clear();
            forget_locations(&mut function.body);
        }
    }
}

fn forget_locations(region: &mut Region) {
    for operation in &mut region.operations {
        operation.location = Location::default();
        operation.regions.iter_mut().for_each(forget_locations);
    }
}

/// A named function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Without the `@`.
    pub name: String,
    /// Whether it is for this module's own use.
    pub is_private: bool,
    /// Its own attributes.
    pub attributes: Attributes,
    /// What each argument is called, if anything is known: by its location (`loc("x")`), or where it is defined.
    pub argument_names: Vec<Option<String>>,
    /// The attributes of each argument, such as `tf.aliasing_output`; the values are the body's arguments.
    pub argument_attributes: Vec<Attributes>,
    /// What it returns.
    pub results: Vec<(Type, Attributes)>,
    /// What it does. It ends in `func.return`.
    pub body: Region,
    /// Where it begins.
    pub location: Location,
}

impl Function {
    /// What messages call an argument.
    pub fn argument_name(&self, number: usize) -> String {
        let known = self.argument_names.get(number).cloned().flatten();
        known.unwrap_or_else(|| format!("arg{number}"))
    }
}

/// A nested computation. StableHLO has one block in each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Region {
    /// What is bound when the region is entered.
    pub arguments: Vec<Value>,
    /// In order; the last one returns.
    pub operations: Vec<Operation>,
}

/// A definition of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Distinct among all values of a function, its regions included.
    pub id: ValueId,
    /// What it is.
    pub ty: Type,
}

/// Names a value within its function.
pub type ValueId = u32;

/// One operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// With its dialect: `stablehlo.add`, `func.call`, `chlo.erf`.
    pub name: String,
    /// What it reads, in order.
    pub operands: Vec<ValueId>,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its nested computations, in the specification's order.
    pub regions: Vec<Region>,
    /// What it defines.
    pub results: Vec<Value>,
    /// Where it was written.
    pub location: Location,
}

/// Where something was written. Programs read from bytecode have line 0 and the operation's number as
/// column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Location {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

/// Named attributes, sorted by name.
pub type Attributes = Vec<(String, Attribute)>;

/// The attribute of that name.
pub fn attribute<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// A constant part of an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// `unit`: being there is all it says.
    Unit,
    /// `true`, `false`
    Bool(bool),
    /// `1 : i64`
    Integer(i128, ElementType),
    /// `1.0e-5 : f32`
    Float(f64, ElementType),
    /// `"text"`
    String(String),
    /// `@name`
    Symbol(String),
    /// `[…]`
    Array(Vec<Attribute>),
    /// `{…}`
    Dictionary(Attributes),
    /// `array<i64: 1, 2>`: a list of integers; also where older programs have `dense<[1, 2]> :
    /// tensor<2xi64>`, and in records. Booleans are 0 and 1.
    Integers(Vec<i64>),
    /// `dense<…> : tensor<…>`
    Dense(Dense),
    /// A choice among names, such as `#stablehlo<comparison_direction LT>`, which is `("comparison_direction",
    /// "LT")`.
    Enum(String, String),
    /// A record, such as `#stablehlo.gather<offset_dims = [1], …>`: its kind (`"gather"`), and its fields.
    Record(String, Attributes),
    /// A type used as a value.
    Type(Type),
    /// What no part of a program depends on, as it was written.
    Other(String),
}

/// The elements of a constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Dense {
    /// Its type; no dimension is dynamic.
    pub ty: TensorType,
    /// Little-endian elements in row-major order, one byte for a boolean; one element only if all are
    /// the same (`is_splat`).
    pub bytes: std::sync::Arc<[u8]>,
    /// Whether `bytes` holds one element that stands for all: so it is whenever there are elements, and all
    /// are the same.
    pub is_splat: bool,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `tensor<2x?xf32>`
    Tensor(TensorType),
    /// `!stablehlo.token`
    Token,
    /// `tuple<…>`
    Tuple(Vec<Type>),
    /// `(…) -> (…)`
    Function(Vec<Type>, Vec<Type>),
    /// A type this project does not take, as it was written; also `f32` and the like where a type stands
    /// alone.
    Other(String),
}

/// The type of a tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// `None` is a dynamic dimension.
    pub dimensions: Vec<Option<u64>>,
    /// What its elements are.
    pub element: ElementType,
}

/// The type of an element. Those the core has no dtype for are kept by name, so that a message can say it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ElementType {
    /// A dtype of the core.
    Core(inflight_ir::DType),
    /// `index`, or none written where MLIR takes 64 bits.
    Index,
    /// `i4`, `f8E4M3FN`, `!quant.uniform<…>`, …
    Other(String),
}
