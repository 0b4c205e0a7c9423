//! Printing of operations in pretty form.

use super::attributes::{attribute_in, comma_separated, operation_dictionary, quoted, symbol_text};
use super::dense::dense_text;
use super::structured_attributes::{convolution_text, fields_in_order};
use super::types::{type_text, types_text};
use super::{Printer, result_types, shared_type_or_signature};
use crate::canonical::integers_of;
use crate::module::{Attribute, Attributes, Operation, TensorType, Type};

/// The attributes of an operation that are not yet printed.
struct RemainingAttributes<'a> {
    operation: &'a str,
    attributes: Vec<&'a (String, Attribute)>,
}

impl<'a> RemainingAttributes<'a> {
    fn take(&mut self, name: &str) -> Option<&'a Attribute> {
        let index = self.attributes.iter().position(|(known, _)| known == name)?;
        Some(&self.attributes.remove(index).1)
    }

    fn integers(&mut self, name: &str) -> Option<&'a [i64]> {
        match self.take(name)? {
            Attribute::Integers(items) => Some(items),
            _ => None,
        }
    }

    fn integer(&mut self, name: &str) -> Option<i64> {
        match self.take(name)? {
            Attribute::Integer(value, _) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// A bit width.
    fn bits(&mut self, name: &str) -> Option<u16> {
        self.integer(name)?.try_into().ok()
    }

    fn enum_case(&mut self, name: &str) -> Option<&'a str> {
        match self.take(name)? {
            Attribute::Enum(_, value) => Some(value),
            _ => None,
        }
    }

    /// ` {…}` with the remaining attributes.
    fn text(&self) -> String {
        if self.attributes.is_empty() {
            return String::new();
        }
        let attributes: Attributes = self.attributes.iter().map(|entry| (*entry).clone()).collect();
        format!(" {}", operation_dictionary(self.operation, &attributes))
    }
}

impl Printer<'_> {
    /// Prints an operation in pretty form. Returns false if it has none, or if its attributes or types do not fit it.
    pub(super) fn pretty(&self, operation: &Operation, level: usize, text: &mut String) -> bool {
        let written = match (operation.name.as_str(), operation.regions.len()) {
            ("stablehlo.reduce", 1) => self.reduce(operation, level),
            ("stablehlo.while", 2) => self.while_loop(operation, level),
            (_, 0) => self.line(operation),
            _ => None,
        };
        match written {
            Some(written) => text.push_str(&written),
            None => return false,
        }
        true
    }

    /// Prints an operation without regions.
    fn line(&self, operation: &Operation) -> Option<String> {
        let name = operation.name.as_str();
        let mut rest = RemainingAttributes {
            operation: name,
            attributes: operation.attributes.iter().collect(),
        };
        let operands = self.names(&operation.operands);
        let count = operation.operands.len();
        let (dialect, short) = name.split_once('.')?;
        let settings = match (dialect, short) {
            ("func", "return") | ("stablehlo", "return") if operation.results.is_empty() => {
                let types = types_text(&self.operand_types(operation));
                let types = if count == 0 { String::new() } else { format!(" : {types}") };
                let space = if count == 0 { "" } else { " " };
                return Some(format!("{name}{space}{operands}{}{types}", rest.text()));
            }
            ("func", "call") => match rest.take("callee")? {
                Attribute::Symbol(callee) => {
                    let callee = symbol_text(callee);
                    let types = self.signature(operation);
                    return Some(format!("{name} {callee}({operands}){} : {types}", rest.text()));
                }
                _ => return None,
            },
            ("stablehlo", "custom_call") => match rest.take("call_target_name")? {
                Attribute::String(target) => {
                    let target = symbol_text(target);
                    let types = self.signature(operation);
                    return Some(format!("{name} {target}({operands}){} : {types}", rest.text()));
                }
                _ => return None,
            },
            ("stablehlo", "composite") => match rest.take("name")? {
                Attribute::String(target) => format!(" {} {operands}", quoted(target)),
                _ => return None,
            },
            ("stablehlo", "constant") => {
                match (rest.take("value")?, result_types(operation).as_slice()) {
                    (Attribute::Dense(value), [Type::Tensor(ty)])
                        if value.ty == *ty && count == 0 =>
                    {
                        return Some(format!("{name}{} {}", rest.text(), dense_text(value)));
                    }
                    _ => return None,
                }
            }
            ("stablehlo", "convolution") if count == 2 => return self.convolution(operation, rest),
            ("stablehlo", "select") if count == 3 => {
                let [predicate, yes, no] =
                    [0, 1, 2].map(|index| self.ty(operation.operands[index]));
                let types = match operation.results.as_slice() {
                    [result] if yes == no && *yes == result.ty => {
                        format!("{}, {}", type_text(predicate), type_text(yes))
                    }
                    _ => self.signature(operation),
                };
                return Some(format!("{name} {operands}{} : {types}", rest.text()));
            }
            ("stablehlo", "optimization_barrier") if count > 0 => {
                let types = self.operand_types(operation);
                if types != result_types(operation) {
                    return None;
                }
                return Some(format!("{name} {operands}{} : {}", rest.text(), types_text(&types)));
            }
            ("chlo", "top_k") if count == 1 => {
                let k = rest.integer("k")?;
                let operand = type_text(self.ty(operation.operands[0]));
                let results = types_text(&result_types(operation));
                return Some(format!(
                    "{name}({operands}, k = {k}){} : {operand} -> ({results})",
                    rest.text()
                ));
            }
            ("chlo", _) if is_chlo_elementwise(short) && count > 0 => {
                let [result] = operation.results.as_slice() else { return None };
                let types = types_text(&self.operand_types(operation));
                let result = type_text(&result.ty);
                return Some(format!("{name} {operands}{} : {types} -> {result}", rest.text()));
            }
            ("stablehlo", _) if count > 0 && (is_elementwise(short) || is_plain(short)) => {
                format!(" {operands}")
            }
            ("stablehlo", _) => match self.settings(operation, short, &operands, &mut rest)? {
                settings if count > 0 || short == "iota" => settings,
                _ => return None,
            },
            _ => return None,
        };
        let types = match is_elementwise(short)
            || matches!(short, "reverse" | "iota" | "reduce_precision")
        {
            true => shared_type_or_signature(self, operation),
            false => self.signature(operation),
        };
        Some(format!("{name}{settings}{} : {types}", rest.text()))
    }

    /// Operands and `name = value` settings of the operations that have settings.
    fn settings(
        &self,
        operation: &Operation,
        short: &str,
        operands: &str,
        rest: &mut RemainingAttributes<'_>,
    ) -> Option<String> {
        let mut list = |word: &str, name: &str| {
            Some(format!("{word} = [{}]", comma_separated(rest.integers(name)?)))
        };
        Some(match short {
            "iota" if operation.operands.is_empty() => {
                format!(" dim = {}", rest.integer("iota_dimension")?)
            }
            "dynamic_iota" => format!(" {operands}, dim = {}", rest.integer("iota_dimension")?),
            "concatenate" | "get_dimension_size" | "set_dimension_size" => {
                format!(" {operands}, dim = {}", rest.integer("dimension")?)
            }
            "broadcast_in_dim" | "dynamic_broadcast_in_dim" => {
                format!(" {operands}, {}", list("dims", "broadcast_dimensions")?)
            }
            "broadcast" => format!(" {operands}, {}", list("sizes", "broadcast_sizes")?),
            "transpose" => format!(" {operands}, {}", list("dims", "permutation")?),
            "reverse" => format!(" {operands}, {}", list("dims", "dimensions")?),
            "dynamic_slice" => format!(" {operands}, {}", list("sizes", "slice_sizes")?),
            "pad" => {
                let low = list("low", "edge_padding_low")?;
                let high = list("high", "edge_padding_high")?;
                format!(" {operands}, {low}, {high}, {}", list("interior", "interior_padding")?)
            }
            "slice" => {
                let starts = rest.integers("start_indices")?;
                let limits = rest.integers("limit_indices")?;
                let strides = rest.integers("strides")?;
                if starts.len() != limits.len() || starts.len() != strides.len() {
                    return None;
                }
                let ranges: Vec<String> = starts
                    .iter()
                    .zip(limits)
                    .zip(strides)
                    .map(|((start, limit), stride)| match stride {
                        1 => format!("{start}:{limit}"),
                        _ => format!("{start}:{limit}:{stride}"),
                    })
                    .collect();
                format!(" {operands} [{}]", ranges.join(", "))
            }
            "compare" => {
                let direction = rest.enum_case("comparison_direction")?;
                let kind = rest.enum_case("compare_type");
                let kind = kind.map_or(String::new(), |kind| format!(", {kind}"));
                format!(" {direction}, {operands}{kind}")
            }
            "reduce_precision" => {
                let exponent = rest.bits("exponent_bits")?;
                format!(" {operands}, format = e{exponent}m{}", rest.bits("mantissa_bits")?)
            }
            "fft" => {
                let kind = rest.enum_case("fft_type")?;
                let length = comma_separated(rest.integers("fft_length")?);
                format!(" {operands}, type = {kind}, length = [{length}]")
            }
            "rng" => format!(" {operands}, distribution = {}", rest.enum_case("rng_distribution")?),
            "rng_bit_generator" => {
                format!(" {operands}, algorithm = {}", rest.enum_case("rng_algorithm")?)
            }
            "dot_general" if operation.operands.len() == 2 => {
                format!(" {operands}{}", dot_settings(rest)?)
            }
            _ => return None,
        })
    }

    fn convolution(
        &self,
        operation: &Operation,
        mut rest: RemainingAttributes<'_>,
    ) -> Option<String> {
        let Attribute::Record(_, fields) = rest.take("dimension_numbers")? else { return None };
        let numbers = convolution_text(fields)?;
        let mut window = Vec::new();
        if let Some(items) = rest.take("window_strides") {
            window.push(format!("stride = [{}]", integers_text(items)?));
        }
        if let Some(padding) = rest.take("padding") {
            window.push(format!("pad = {}", padding_text(padding)?));
        }
        for (name, word) in [("lhs_dilation", "lhs_dilate"), ("rhs_dilation", "rhs_dilate")] {
            if let Some(items) = rest.take(name) {
                window.push(format!("{word} = [{}]", integers_text(items)?));
            }
        }
        if let Some(Attribute::Integers(items)) = rest.take("window_reversal") {
            let flags: Vec<&str> =
                items.iter().map(|item| if *item == 0 { "false" } else { "true" }).collect();
            window.push(format!("reverse = [{}]", flags.join(", ")));
        }
        let operands = self.names(&operation.operands);
        let window = window.join(", ");
        let types = self.signature(operation);
        Some(format!(
            "{}({operands}) dim_numbers = {numbers}, window = {{{window}}}{} : {types}",
            operation.name,
            rest.text()
        ))
    }

    fn reduce(&self, operation: &Operation, level: usize) -> Option<String> {
        let mut rest = RemainingAttributes {
            operation: &operation.name,
            attributes: operation.attributes.iter().collect(),
        };
        let dimensions = comma_separated(rest.integers("dimensions")?);
        let groups = operation.operands.len() / 2;
        let region = &operation.regions[0];
        if groups == 0
            || !operation.operands.len().is_multiple_of(2)
            || region.arguments.len() != 2 * groups
        {
            return None;
        }
        let (inputs, initial) = operation.operands.split_at(groups);
        let pairs: Vec<String> = inputs
            .iter()
            .zip(initial)
            .map(|(input, initial)| {
                format!("({} init: {})", self.name(*input), self.name(*initial))
            })
            .collect();
        let pairs = pairs.join(", ");
        let types = self.signature(operation);
        let attributes = rest.text();
        if let Some(applied) = self.applied_operation(operation) {
            return Some(format!(
                "stablehlo.reduce{pairs} applies {applied} across dimensions = [{dimensions}]{attributes} : {types}"
            ));
        }
        let mut text = format!(
            "stablehlo.reduce{pairs} across dimensions = [{dimensions}]{attributes} : {types}\n{}reducer",
            "  ".repeat(level + 1)
        );
        for (left, right) in region.arguments[..groups].iter().zip(&region.arguments[groups..]) {
            let pair = [left.clone(), right.clone()];
            text.push_str(&format!("({}) ", self.bindings(&pair)));
        }
        self.block(region, level, &mut text);
        Some(text)
    }

    /// The name of the operation that a `reduce` applies, if its region consists of that operation alone.
    fn applied_operation<'b>(&self, operation: &'b Operation) -> Option<&'b str> {
        let region = &operation.regions[0];
        let ([left, right], [inner, end]) = (&region.arguments[..], &region.operations[..]) else {
            return None;
        };
        let [result] = inner.results.as_slice() else { return None };
        let Type::Tensor(initial) = self.ty(*operation.operands.last()?) else { return None };
        let ty =
            Type::Tensor(TensorType { dimensions: Vec::new(), element: initial.element.clone() });
        let is_known = matches!(
            inner.name.as_str(),
            "stablehlo.add"
                | "stablehlo.multiply"
                | "stablehlo.maximum"
                | "stablehlo.minimum"
                | "stablehlo.and"
                | "stablehlo.or"
                | "stablehlo.xor"
        );
        let is_plain = is_known
            && inner.operands == [left.id, right.id]
            && inner.attributes.is_empty()
            && inner.regions.is_empty()
            && end.name == "stablehlo.return"
            && end.operands == [result.id]
            && end.attributes.is_empty()
            && [&left.ty, &right.ty, &result.ty].iter().all(|known| **known == ty);
        is_plain.then_some(inner.name.as_str())
    }

    fn while_loop(&self, operation: &Operation, level: usize) -> Option<String> {
        let [condition, body] = operation.regions.as_slice() else { return None };
        let types = self.operand_types(operation);
        let of_region = |region: &crate::module::Region| {
            region.arguments.iter().map(|argument| argument.ty.clone()).collect::<Vec<_>>()
        };
        if result_types(operation) != types
            || of_region(condition) != types
            || of_region(body) != types
            || types.is_empty()
        {
            return None;
        }
        let bound: Vec<String> = condition
            .arguments
            .iter()
            .zip(&operation.operands)
            .map(|(argument, operand)| {
                format!("{} = {}", self.name(argument.id), self.name(*operand))
            })
            .collect();
        let mut text = format!("stablehlo.while({}) : {}", bound.join(", "), types_text(&types));
        if !operation.attributes.is_empty() {
            let attributes = operation_dictionary(&operation.name, &operation.attributes);
            text.push_str(&format!(" attributes {attributes}"));
        }
        text.push_str(&format!("\n{}cond ", "  ".repeat(level)));
        self.block(condition, level, &mut text);
        text.push_str(" do ");
        self.block(body, level, &mut text);
        Some(text)
    }
}

/// `, batching_dims = … x …, contracting_dims = … x …, precision = …, algorithm = …`
fn dot_settings(rest: &mut RemainingAttributes<'_>) -> Option<String> {
    let Attribute::Record(_, fields) = rest.take("dot_dimension_numbers")? else { return None };
    let numbers = |name: &str| match crate::module::attribute(fields, name) {
        None => Some(String::new()),
        Some(value) => integers_text(value),
    };
    let mut text = String::new();
    for which in ["batching", "contracting"] {
        let left = numbers(&format!("lhs_{which}_dimensions"))?;
        let right = numbers(&format!("rhs_{which}_dimensions"))?;
        if which == "contracting" || !left.is_empty() || !right.is_empty() {
            text.push_str(&format!(", {which}_dims = [{left}] x [{right}]"));
        }
    }
    if let Some(precision) = rest.take("precision_config") {
        let Attribute::Array(items) = precision else { return None };
        let names: Option<Vec<&str>> = items
            .iter()
            .map(|item| match item {
                Attribute::Enum(_, name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        text.push_str(&format!(", precision = [{}]", names?.join(", ")));
    }
    if let Some(algorithm) = rest.take("algorithm") {
        match algorithm {
            Attribute::Record(kind, fields) => {
                text.push_str(&format!(", algorithm = <{}>", fields_in_order(kind, fields)));
            }
            other => text.push_str(&format!(", algorithm = {}", attribute_in("stablehlo", other))),
        }
    }
    Some(text)
}

fn integers_text(value: &Attribute) -> Option<String> {
    match value {
        Attribute::Integers(items) => Some(comma_separated(items)),
        _ => None,
    }
}

/// `[[0, 0], [1, 1]]`
fn padding_text(value: &Attribute) -> Option<String> {
    let Attribute::Dense(dense) = value else { return None };
    let [Some(rows), Some(2)] = dense.ty.dimensions[..] else { return None };
    let mut flat = dense.clone();
    flat.ty.dimensions = vec![Some(rows.checked_mul(2)?)];
    let pairs: Vec<String> =
        integers_of(&flat)?.chunks(2).map(|pair| format!("[{}]", comma_separated(pair))).collect();
    Some(format!("[{}]", pairs.join(", ")))
}

/// Operations with the elementwise type syntax: one type if operands and result agree.
fn is_elementwise(short: &str) -> bool {
    matches!(
        short,
        "abs"
            | "add"
            | "and"
            | "atan2"
            | "cbrt"
            | "ceil"
            | "clamp"
            | "convert"
            | "cosine"
            | "count_leading_zeros"
            | "divide"
            | "exponential"
            | "exponential_minus_one"
            | "floor"
            | "log"
            | "log_plus_one"
            | "logistic"
            | "maximum"
            | "minimum"
            | "multiply"
            | "negate"
            | "not"
            | "or"
            | "popcnt"
            | "power"
            | "remainder"
            | "round_nearest_afz"
            | "round_nearest_even"
            | "rsqrt"
            | "shift_left"
            | "shift_right_arithmetic"
            | "shift_right_logical"
            | "sign"
            | "sine"
            | "sqrt"
            | "subtract"
            | "tan"
            | "tanh"
            | "xor"
    )
}

/// Operations with operands and a function type only.
fn is_plain(short: &str) -> bool {
    matches!(
        short,
        "bitcast_convert"
            | "dynamic_pad"
            | "dynamic_reshape"
            | "dynamic_update_slice"
            | "imag"
            | "is_finite"
            | "real"
            | "real_dynamic_slice"
            | "reshape"
            | "uniform_dequantize"
            | "uniform_quantize"
    )
}

/// CHLO operations with the syntax `operands : types -> type`.
fn is_chlo_elementwise(short: &str) -> bool {
    matches!(
        short,
        "acos"
            | "acosh"
            | "asin"
            | "asinh"
            | "atan"
            | "atanh"
            | "bessel_i1e"
            | "conj"
            | "cosh"
            | "digamma"
            | "erf"
            | "erf_inv"
            | "erfc"
            | "is_inf"
            | "is_neg_inf"
            | "is_pos_inf"
            | "lgamma"
            | "next_after"
            | "polygamma"
            | "sinh"
            | "square"
            | "tan"
            | "zeta"
    )
}
