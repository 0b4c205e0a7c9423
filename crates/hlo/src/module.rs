//! Parsed StableHLO module: the in-memory IR that both the text parser and the bytecode reader produce.
//!
//! Every operation is in generic form, whatever form the source used: `stablehlo.add %a, %b` and
//! `"stablehlo.add"(%a, %b)` give the same [`Operation`]. Attributes have the names and kinds of the StableHLO
//! specification. Attributes that equal their default are dropped, whether the source had them or not: structured
//! attribute fields that are empty lists, `index_vector_dim = 0`, strides and dilations of 1, padding of 0,
//! `precision_config` of all `DEFAULT`, `sort`'s `dimension = -1`, flags that are `false`, …
//! Values are numbered in definition order.

/// A module: functions and module attributes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// The symbol after `module`, if there is one.
    pub name: Option<String>,
    /// The module's own attributes, such as `mhlo.num_partitions`.
    pub attributes: Attributes,
    /// The source text of items that have no meaning on one device, such as `sdy.mesh` device meshes.
    pub opaque_items: Vec<String>,
    /// The functions, in source order.
    pub functions: Vec<Function>,
}

impl Module {
    /// Removes source locations and argument names, so that modules can be compared structurally.
    pub fn strip_locations(&mut self) {
        for function in &mut self.functions {
            function.location = Location::default();
            function.argument_names.clear();
            strip_locations(&mut function.body);
        }
    }
}

fn strip_locations(region: &mut Region) {
    for operation in &mut region.operations {
        operation.location = Location::default();
        operation.regions.iter_mut().for_each(strip_locations);
    }
}

/// A named function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// The symbol name, without the `@`.
    pub name: String,
    /// Whether its symbol visibility is `private`.
    pub is_private: bool,
    /// The function's attributes, without those of its arguments and results.
    pub attributes: Attributes,
    /// The name of each argument, if known: from its location (`loc("x")`), or its SSA name.
    pub argument_names: Vec<Option<String>>,
    /// The attributes of each argument, such as `tf.aliasing_output`. The body's block arguments are its values.
    pub argument_attributes: Vec<Attributes>,
    /// The type and the attributes of each result.
    pub results: Vec<(Type, Attributes)>,
    /// The body, which ends in `func.return`.
    pub body: Region,
    /// The source location.
    pub location: Location,
}

impl Function {
    /// The name of an argument in messages: its own, or `arg0`, `arg1`, ….
    pub fn argument_name(&self, number: usize) -> String {
        let known = self.argument_names.get(number).cloned().flatten();
        known.unwrap_or_else(|| format!("arg{number}"))
    }
}

/// A region. Every StableHLO region has exactly one block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Region {
    /// The block arguments.
    pub arguments: Vec<Value>,
    /// The operations in order; the last one is the terminator.
    pub operations: Vec<Operation>,
}

/// The definition of an SSA value: an operation's result or a block argument.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Unique within the function, its nested regions included.
    pub id: ValueId,
    /// The value's type.
    pub ty: Type,
}

/// The number of an SSA value within its function.
pub type ValueId = u32;

/// An operation in generic form.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// The name with its dialect: `stablehlo.add`, `func.call`, `chlo.erf`.
    pub name: String,
    /// The operands, in order.
    pub operands: Vec<ValueId>,
    /// The attributes, inherent and discardable.
    pub attributes: Attributes,
    /// The nested regions, in the specification's order.
    pub regions: Vec<Region>,
    /// The results.
    pub results: Vec<Value>,
    /// The source location.
    pub location: Location,
}

/// A source location. In a program read from bytecode the line is 0 and the column is the index of the operation in
/// the file, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Location {
    /// Line number, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

/// Named attributes, sorted by name.
pub type Attributes = Vec<(String, Attribute)>;

/// Looks up an attribute by name.
pub fn attribute<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// An attribute: compile-time constant data of an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// `unit`: its presence is its value.
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
    /// `array<i64: 1, 2>`: a list of integers. Older programs write `dense<[1, 2]> : tensor<2xi64>`, and structured
    /// attributes `[1, 2]`; both are read into this variant. Booleans are 0 and 1.
    Integers(Vec<i64>),
    /// `dense<…> : tensor<…>`
    Dense(Dense),
    /// An enum attribute, such as `#stablehlo<comparison_direction LT>`, which is `("comparison_direction", "LT")`.
    Enum(String, String),
    /// A structured attribute, such as `#stablehlo.gather<offset_dims = [1], …>`: its mnemonic (`"gather"`), and its
    /// fields.
    Record(String, Attributes),
    /// A type attribute.
    Type(Type),
    /// The source text of an opaque attribute, which has no effect on the program's results.
    Other(String),
}

/// A dense elements attribute: the elements of a constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Dense {
    /// The tensor type; no dimension is dynamic.
    pub ty: TensorType,
    /// Little-endian elements in row-major order, one byte for a boolean. A splat stores one element.
    pub bytes: std::sync::Arc<[u8]>,
    /// Whether `bytes` holds one element that stands for all. True iff there are elements and all are equal.
    pub is_splat: bool,
}

/// The type of an SSA value.
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
    /// The source text of a type that is not supported, or of a scalar type such as `f32` outside of a tensor type.
    Other(String),
}

/// A ranked tensor type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// The extents; `None` is a dynamic dimension.
    pub dimensions: Vec<Option<u64>>,
    /// The element type.
    pub element: ElementType,
}

/// An element type. Types without a core dtype are retained by name for error messages.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ElementType {
    /// A dtype of the core.
    Core(inflight_ir::DType),
    /// `index`, which is 64 bits wide.
    Index,
    /// `i4`, `f8E4M3FN`, `!quant.uniform<…>`, …
    Other(String),
}
