//! Parsing of operations in pretty form.
//!
//! Most consist of comma-separated operands and `name = value` settings, then an attribute dictionary, then types:
//! `stablehlo.pad %a, %b, low = [0], high = [1], interior = [0] : (…) -> …`. [`setting`] maps a setting to its
//! attribute and the syntax of its value. Other operations have their own parse functions.

use super::attributes::{I64, insert};
use super::lexer::{Kind, Token};
use super::operations::OperationState;
use super::{Parser, Result};
use crate::module::{Attribute, ElementType, TensorType, Type, ValueId};
use inflight_ir::DType;

/// The syntax of a setting's value.
enum Setting {
    /// `0`
    Integer,
    /// `[0, 1]`
    Integers,
    /// `true`
    Bool,
    /// `"text"`
    String,
    /// `NAME`, an enum of the given kind.
    Enum(&'static str),
    /// `[NAME, NAME]`
    Precision,
    /// `e5m10`
    Format,
}

/// The attribute of an operation that a setting denotes.
fn setting(operation: &str, word: &str) -> Option<(&'static str, Setting)> {
    use Setting::*;
    let short = operation.split_once('.').map_or(operation, |(_, name)| name);
    Some(match (short, word) {
        ("iota" | "dynamic_iota", "dim") => ("iota_dimension", Integer),
        ("concatenate" | "get_dimension_size" | "set_dimension_size", "dim") => {
            ("dimension", Integer)
        }
        ("broadcast_in_dim" | "dynamic_broadcast_in_dim", "dims") => {
            ("broadcast_dimensions", Integers)
        }
        ("broadcast", "sizes") => ("broadcast_sizes", Integers),
        ("transpose", "dims") => ("permutation", Integers),
        ("reverse", "dims") => ("dimensions", Integers),
        ("dynamic_slice", "sizes") => ("slice_sizes", Integers),
        ("pad", "low") => ("edge_padding_low", Integers),
        ("pad", "high") => ("edge_padding_high", Integers),
        ("pad", "interior") => ("interior_padding", Integers),
        ("cholesky", "lower") => ("lower", Bool),
        ("rng", "distribution") => ("rng_distribution", Enum("rng_distribution")),
        ("rng_bit_generator", "algorithm") => ("rng_algorithm", Enum("rng_algorithm")),
        ("fft", "type") => ("fft_type", Enum("fft_type")),
        ("fft", "length") => ("fft_length", Integers),
        ("reduce_precision", "format") => ("format", Format),
        ("dot" | "dot_general", "precision") => ("precision_config", Precision),
        ("einsum" | "unary_einsum", "config") => ("einsum_config", String),
        ("top_k", "k") => ("k", Integer),
        _ => return None,
    })
}

/// The full name of an operation whose dialect prefix is elided.
fn full_name(word: &str, is_nested: bool) -> String {
    match word {
        "return" if is_nested => "stablehlo.return".to_string(),
        "call" | "return" => format!("func.{word}"),
        _ => word.to_string(),
    }
}

impl<'a> Parser<'a> {
    /// An operation in pretty form.
    pub(super) fn pretty_operation(&mut self) -> Result<OperationState> {
        let token = self.next();
        // A `return` below the function's body, which is at depth 1, terminates a StableHLO region.
        let name = full_name(token.text, self.depth > 1);
        match name.as_str() {
            "stablehlo.constant" | "chlo.constant" => self.constant_operation(&name),
            "stablehlo.compare" => self.compare_operation(),
            "stablehlo.slice" => self.slice_operation(),
            "stablehlo.get_tuple_element" => self.tuple_element_operation(),
            "stablehlo.dot_general" => self.dot_general_operation(),
            "stablehlo.convolution" => self.convolution_operation(),
            "stablehlo.reduce" => self.reduce_operation(),
            "stablehlo.while" => self.while_operation(),
            "stablehlo.custom_call" => self.custom_call_operation(),
            "stablehlo.composite" => self.composite_operation(),
            "func.call" => self.call_operation(),
            "chlo.top_k" => self.top_k_operation(),
            _ if !is_known_dialect(&name) => {
                Err(self.expected_at(token, "an operation of `stablehlo`, `chlo` or `func`"))
            }
            _ => self.plain_operation(&name),
        }
    }

    /// `name %a, %b, setting = value {…} : types`
    fn plain_operation(&mut self, name: &str) -> Result<OperationState> {
        let mut state = OperationState::named(name);
        let mut is_first = true;
        while is_first && (self.token.kind == Kind::Value || self.token.kind == Kind::Word)
            || self.at(",")
        {
            if !is_first {
                self.next();
            }
            is_first = false;
            if self.token.kind == Kind::Value {
                state.operands.push(self.operand()?);
            } else {
                self.setting(&mut state)?;
            }
        }
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    fn setting(&mut self, state: &mut OperationState) -> Result<()> {
        let word = self.expect_kind(Kind::Word, "an operand or a setting")?;
        let Some((name, how)) = setting(&state.name, word.text) else {
            return Err(self.expected_at(word, format!("a setting of `{}`", state.name)));
        };
        self.expect("=")?;
        let value = match how {
            Setting::Integer => Attribute::Integer(i128::from(self.integer()?), I64),
            Setting::Integers => Attribute::Integers(self.integers()?),
            Setting::Bool | Setting::String => self.attribute()?,
            Setting::Enum(kind) => self.enumeration(kind)?,
            Setting::Precision => self.precision()?,
            Setting::Format => return self.precision_format(state),
        };
        insert(&mut state.attributes, name, value);
        Ok(())
    }

    /// `[DEFAULT, HIGHEST]`
    pub(super) fn precision(&mut self) -> Result<Attribute> {
        self.expect("[")?;
        Ok(Attribute::Array(self.list("]", |parser| parser.enumeration("precision"))?))
    }

    /// `e5m10`
    fn precision_format(&mut self, state: &mut OperationState) -> Result<()> {
        let token = self.expect_kind(Kind::Word, "a format such as `e5m10`")?;
        let bits = token.text.strip_prefix('e').and_then(|rest| {
            let (exponent, mantissa) = rest.split_once('m')?;
            Some((exponent.parse::<i32>().ok()?, mantissa.parse::<i32>().ok()?))
        });
        let Some((exponent, mantissa)) = bits else {
            return Err(self.expected_at(token, "a format such as `e5m10`"));
        };
        for (name, bits) in [("exponent_bits", exponent), ("mantissa_bits", mantissa)] {
            let value = Attribute::Integer(i128::from(bits), ElementType::Core(DType::I32));
            insert(&mut state.attributes, name, value);
        }
        Ok(())
    }

    /// `: types`, in any of the type syntaxes of the operation.
    pub(super) fn types_of(&mut self, state: &mut OperationState) -> Result<()> {
        let is_return = matches!(state.name.as_str(), "stablehlo.return" | "func.return");
        if is_return && state.operands.is_empty() && !self.at(":") {
            return Ok(());
        }
        self.expect(":")?;
        let start = self.token;
        if self.at("(") && !is_return {
            let (operands, results) = self.function_type()?;
            self.check_operands(start, &state.operands, &operands)?;
            state.results = results;
            return Ok(());
        }
        let mut types = vec![self.parse_type()?];
        while self.consume_if(",") {
            types.push(self.parse_type()?);
        }
        if self.consume_if("->") {
            self.check_operands(start, &state.operands, &types)?;
            state.results = self.result_types()?;
            return Ok(());
        }
        self.shared_types(start, state, types)
    }

    /// Expands an abbreviated type list, in which operands and results share types.
    fn shared_types(
        &self,
        start: Token<'a>,
        state: &mut OperationState,
        types: Vec<Type>,
    ) -> Result<()> {
        match (state.name.as_str(), types.as_slice()) {
            ("stablehlo.return" | "func.return", _) => {
                self.check_operands(start, &state.operands, &types)?;
            }
            ("stablehlo.optimization_barrier", _) => {
                self.check_operands(start, &state.operands, &types)?;
                state.results = types;
            }
            // One type abbreviates all operand types and the result type.
            ("stablehlo.after_all", [Type::Token]) => {
                let all = vec![Type::Token; state.operands.len()];
                self.check_operands(start, &state.operands, &all)?;
                state.results = types;
            }
            ("stablehlo.after_all", _) => {
                self.check_operands(start, &state.operands, &types)?;
                state.results = vec![Type::Token];
            }
            ("stablehlo.select", [predicate, ty]) => {
                let all = [predicate.clone(), ty.clone(), ty.clone()];
                self.check_operands(start, &state.operands, &all)?;
                state.results = vec![ty.clone()];
            }
            ("stablehlo.complex", [Type::Tensor(ty)]) => {
                let part = match &ty.element {
                    ElementType::Core(dtype) => ElementType::Core(dtype.real()),
                    other => other.clone(),
                };
                let part = TensorType { dimensions: ty.dimensions.clone(), element: part };
                let part = Type::Tensor(part);
                self.check_operands(start, &state.operands, &[part.clone(), part])?;
                state.results = types;
            }
            ("stablehlo.tuple", [Type::Tuple(members)]) => {
                self.check_operands(start, &state.operands, members)?;
                state.results = types;
            }
            (_, [ty]) => {
                self.check_operands(start, &state.operands, state.operands.iter().map(|_| ty))?;
                state.results = types;
            }
            _ => {
                let expected =
                    format!("the types of `{}` as a function type `(…) -> …`", state.name);
                return Err(self.error_at(start, expected, format!("{} types", types.len())));
            }
        }
        Ok(())
    }

    /// `constant dense<…> : type`, optionally with a leading `{…}`, or `constant() {value = …} : types`.
    fn constant_operation(&mut self, name: &str) -> Result<OperationState> {
        let mut state = OperationState::named(name);
        if self.consume_if("(") {
            self.expect(")")?;
            self.attribute_dictionary(&mut state.attributes)?;
            self.types_of(&mut state)?;
            return Ok(state);
        }
        self.optional_attributes(&mut state.attributes)?;
        let token = self.token;
        let Attribute::Dense(value) = self.attribute()? else {
            return Err(self.expected_at(token, "`dense<…>`"));
        };
        state.results = vec![Type::Tensor(value.ty.clone())];
        insert(&mut state.attributes, "value", Attribute::Dense(value));
        if self.consume_if("->") {
            state.results = vec![self.parse_type()?];
        }
        Ok(state)
    }

    /// `compare LT, %a, %b, FLOAT : types`
    fn compare_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.compare");
        let direction = self.enumeration("comparison_direction")?;
        insert(&mut state.attributes, "comparison_direction", direction);
        self.expect(",")?;
        state.operands.push(self.operand()?);
        self.expect(",")?;
        state.operands.push(self.operand()?);
        if self.consume_if(",") {
            let kind = self.enumeration("comparison_type")?;
            insert(&mut state.attributes, "compare_type", kind);
        }
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    /// `slice %a [0:4:2, 1:3] : types`
    fn slice_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.slice");
        state.operands.push(self.operand()?);
        self.expect("[")?;
        let ranges = self.list("]", |parser| {
            let start = parser.integer()?;
            parser.expect(":")?;
            let limit = parser.integer()?;
            let stride = if parser.consume_if(":") { parser.integer()? } else { 1 };
            Ok([start, limit, stride])
        })?;
        for (which, name) in ["start_indices", "limit_indices", "strides"].iter().enumerate() {
            let values = ranges.iter().map(|range| range[which]).collect();
            insert(&mut state.attributes, name, Attribute::Integers(values));
        }
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    /// `get_tuple_element %t[0] : types`
    fn tuple_element_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.get_tuple_element");
        state.operands.push(self.operand()?);
        self.expect("[")?;
        let index = i128::from(self.integer()?);
        self.expect("]")?;
        let index = Attribute::Integer(index, ElementType::Core(DType::I32));
        insert(&mut state.attributes, "index", index);
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    /// `custom_call @target(%a, %b) {…} : types`
    fn custom_call_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.custom_call");
        let target = match self.token.kind {
            Kind::String => self.string()?,
            _ => self.symbol()?,
        };
        insert(&mut state.attributes, "call_target_name", Attribute::String(target));
        self.arguments_and_types(state)
    }

    /// `call @name(%a) : types`
    fn call_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("func.call");
        let callee = Attribute::Symbol(self.symbol()?);
        insert(&mut state.attributes, "callee", callee);
        self.arguments_and_types(state)
    }

    fn arguments_and_types(&mut self, mut state: OperationState) -> Result<OperationState> {
        self.expect("(")?;
        state.operands = self.operands()?;
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    /// `composite "name" %a, %b {…} : types`
    fn composite_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.composite");
        let name = Attribute::String(self.string()?);
        insert(&mut state.attributes, "name", name);
        if self.token.kind == Kind::Value {
            state.operands = self.comma_separated_operands()?;
        }
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    pub(super) fn comma_separated_operands(&mut self) -> Result<Vec<ValueId>> {
        let mut operands = vec![self.operand()?];
        while self.consume_if(",") {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    /// `top_k(%a, k = 4) : types`
    fn top_k_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("chlo.top_k");
        self.expect("(")?;
        state.operands.push(self.operand()?);
        while self.consume_if(",") {
            self.setting(&mut state)?;
        }
        self.expect(")")?;
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }
}

/// Whether the parser knows the pretty forms of the operation's dialect.
fn is_known_dialect(name: &str) -> bool {
    matches!(name.split_once('.'), Some(("stablehlo" | "chlo" | "func" | "check", _)))
}
