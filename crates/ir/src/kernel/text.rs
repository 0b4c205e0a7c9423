//! Printer and parser of the tile IR's text form.
//!
//! ```text
//! kernel grid 1 reduce 0 vector reduced
//! param p0: f32
//! param p1: f32 writes
//! scalar s0: f32
//! access a0: p0 reduce zero vector one
//! access a1: p1 reduce zero vector one
//! %0 = load p0[a0] : f32
//! %1 = scalar s0 : f32
//! %2 = mul %0, %1 : f32
//! %3 = sum %2 : f32
//! store p1[a1] %3 : f32
//! ```
//!
//! Stores define no name but take a number: after `%3` and one store comes `%5`.

use super::{Access, AccessId, Instruction, Kernel, Kind, Param, Stride, Value, VectorAxis};
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{DType, Element, Scalar};
use num_complex::Complex;
use std::fmt;
use thiserror::Error;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vector = match self.vector {
            VectorAxis::Parallel => "parallel",
            VectorAxis::Reduced => "reduced",
        };
        writeln!(f, "kernel grid {} reduce {} vector {vector}", self.grid_rank, self.reduce_rank)?;
        for (index, param) in self.params.iter().enumerate() {
            let writes = if param.writes { " writes" } else { "" };
            writeln!(f, "param p{index}: {}{writes}", param.dtype)?;
        }
        for (index, scalar) in self.scalars.iter().enumerate() {
            writeln!(f, "scalar s{index}: {scalar}")?;
        }
        for (index, access) in self.accesses.iter().enumerate() {
            write!(f, "access a{index}: ")?;
            match access.param {
                Some(param) => write!(f, "p{param}")?,
                None => write!(f, "position")?,
            }
            let reduce = if access.reduce { "any" } else { "zero" };
            writeln!(f, " reduce {reduce} vector {}", stride_name(access.vector))?;
        }
        for (index, instruction) in self.body.iter().enumerate() {
            if !matches!(instruction.kind, Kind::Store { .. }) {
                write!(f, "%{index} = ")?;
            }
            self.write_kind(f, instruction.kind)?;
            writeln!(f, " : {}", instruction.dtype)?;
        }
        Ok(())
    }
}

impl Kernel {
    fn write_kind(&self, f: &mut fmt::Formatter<'_>, kind: Kind) -> fmt::Result {
        match kind {
            Kind::Constant(scalar) => write_constant(f, scalar),
            Kind::Scalar(scalar) => write!(f, "scalar s{scalar}"),
            Kind::Position(access) => write!(f, "position a{access}"),
            Kind::Load { access, index, mask } => {
                write!(f, "load ")?;
                self.write_place(f, access, index)?;
                write_mask(f, mask)
            }
            Kind::Unary(op, a) => write!(f, "{} %{a}", op.name()),
            Kind::Binary(op, a, b) => write!(f, "{} %{a}, %{b}", op.name()),
            Kind::Compare(op, a, b) => write!(f, "{} %{a}, %{b}", op.name()),
            Kind::Select(mask, a, b) => write!(f, "select %{mask}, %{a}, %{b}"),
            Kind::Fma(a, b, c) => write!(f, "fma %{a}, %{b}, %{c}"),
            Kind::Cast(a) => write!(f, "cast %{a}"),
            Kind::Bitcast(a) => write!(f, "bitcast %{a}"),
            Kind::Reduce(op, a) => write!(f, "{} %{a}", op.reduce_name()),
            Kind::ArgReduce(op, a) => write!(f, "{} %{a}", arg_name(op)),
            Kind::Scan(op, a) => write!(f, "{} %{a}", op.scan_name()),
            Kind::Store { access, value, index, mask, combine } => {
                write!(f, "store ")?;
                self.write_place(f, access, index)?;
                if let Some(op) = combine {
                    write!(f, " {}", op.reduce_name())?;
                }
                write!(f, " %{value}")?;
                write_mask(f, mask)
            }
        }
    }

    fn write_place(
        &self,
        f: &mut fmt::Formatter<'_>,
        access: AccessId,
        index: Option<Value>,
    ) -> fmt::Result {
        match self.accesses.get(access as usize).and_then(|access| access.param) {
            Some(param) => write!(f, "p{param}[a{access}")?,
            None => write!(f, "position[a{access}")?,
        }
        match index {
            Some(index) => write!(f, " + %{index}]"),
            None => write!(f, "]"),
        }
    }
}

fn write_mask(f: &mut fmt::Formatter<'_>, mask: Option<Value>) -> fmt::Result {
    match mask {
        Some(mask) => write!(f, " if %{mask}"),
        None => Ok(()),
    }
}

/// Prints a constant in decimal, or as bits where decimal would lose information: NaN has many bit patterns.
fn write_constant(f: &mut fmt::Formatter<'_>, scalar: Scalar) -> fmt::Result {
    let text = scalar.to_string();
    if read_constant(&text, scalar.dtype()) == Some(scalar) {
        return write!(f, "constant {text}");
    }
    let [low, high] = scalar.bits();
    write!(f, "constant bits {low:#x}")?;
    if high != 0 { write!(f, ", {high:#x}") } else { Ok(()) }
}

fn read_constant(text: &str, dtype: DType) -> Option<Scalar> {
    let scalar = if dtype == DType::Bool {
        text.parse::<bool>().ok()?.to_scalar()
    } else if dtype.is_integer() {
        match dtype {
            DType::U64 => text.parse::<u64>().ok()?.to_scalar(),
            _ => text.parse::<i64>().ok()?.to_scalar(),
        }
    } else if dtype.is_complex() {
        let (re, im) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
        Complex::new(re.trim().parse::<f64>().ok()?, im.trim().parse::<f64>().ok()?).to_scalar()
    } else if dtype == DType::F64 {
        text.parse::<f64>().ok()?.to_scalar()
    } else {
        text.parse::<f32>().ok()?.to_scalar()
    };
    let value = scalar.cast(dtype);
    // An out-of-range integer is an error, not wrapped.
    let fits = !dtype.is_integer() || value.cast(scalar.dtype()) == scalar;
    fits.then_some(value)
}

const STRIDES: [Stride; 3] = [Stride::Zero, Stride::One, Stride::Any];

fn stride_name(stride: Stride) -> &'static str {
    match stride {
        Stride::Zero => "zero",
        Stride::One => "one",
        Stride::Any => "any",
    }
}

const ARG_OPS: [ArgOp; 2] = [ArgOp::Min, ArgOp::Max];

fn arg_name(op: ArgOp) -> &'static str {
    match op {
        ArgOp::Min => "argmin",
        ArgOp::Max => "argmax",
    }
}

/// Parse error of the text form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// The tokens that would have been valid.
    pub expected: String,
    /// The token found.
    pub found: String,
}

/// Parses the output of [`Kernel`]'s `Display`. The kernel is not [verified](super::verify).
///
/// # Errors
/// At the first invalid token.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (index, first) = lines.next().unwrap_or((0, ""));
    let mut line = Line::new(index, first);
    let mut kernel = line.header()?;
    line.end()?;
    for (index, text) in lines {
        let mut line = Line::new(index, text);
        match line.peek() {
            "param" => {
                line.expect_token("param")?;
                line.id("p", kernel.params.len())?;
                line.expect_token(":")?;
                let dtype = line.dtype()?;
                kernel.params.push(Param { dtype, writes: line.accept("writes") });
            }
            "scalar" => {
                line.expect_token("scalar")?;
                line.id("s", kernel.scalars.len())?;
                line.expect_token(":")?;
                kernel.scalars.push(line.dtype()?);
            }
            "access" => {
                line.expect_token("access")?;
                line.id("a", kernel.accesses.len())?;
                line.expect_token(":")?;
                kernel.accesses.push(line.access()?);
            }
            _ => {
                let instruction = line.instruction(&kernel)?;
                kernel.body.push(instruction);
            }
        }
        line.end()?;
    }
    Ok(kernel)
}

/// Tokens of a line, and how many of them are consumed.
struct Line<'a> {
    index: usize,
    /// Each token and its start column, from 0.
    tokens: Vec<(usize, &'a str)>,
    next: usize,
    length: usize,
}

/// Single-character tokens.
const PUNCTUATION: &str = "=:[],+";

impl<'a> Line<'a> {
    fn new(index: usize, text: &'a str) -> Line<'a> {
        let mut tokens = Vec::new();
        // Start of the current token: column and byte offset. A parenthesized complex constant is one token.
        let mut start: Option<(usize, usize)> = None;
        let mut depth = 0;
        let mut length = 0;
        for (column, (byte, character)) in text.char_indices().enumerate() {
            length = column + 1;
            depth += (character == '(') as i32 - (character == ')') as i32;
            let alone = PUNCTUATION.contains(character);
            if depth > 0 || !(alone || character.is_whitespace()) {
                start.get_or_insert((column, byte));
                continue;
            }
            if let Some((column, from)) = start.take() {
                tokens.push((column, &text[from..byte]));
            }
            if alone {
                tokens.push((column, &text[byte..byte + 1]));
            }
        }
        if let Some((column, from)) = start {
            tokens.push((column, &text[from..]));
        }
        Line { index, tokens, next: 0, length }
    }

    /// The next token; empty at the end of the line.
    fn peek(&self) -> &'a str {
        self.tokens.get(self.next).map_or("", |token| token.1)
    }

    fn expected<T>(&self, expected: impl Into<String>) -> Result<T, ParseError> {
        let (column, found) = match self.tokens.get(self.next) {
            Some(&(column, token)) => (column, format!("`{token}`")),
            None => (self.length, "the end of the line".to_owned()),
        };
        Err(ParseError {
            line: self.index + 1,
            column: column + 1,
            expected: expected.into(),
            found,
        })
    }

    fn accept(&mut self, token: &str) -> bool {
        let accepted = self.peek() == token;
        self.next += accepted as usize;
        accepted
    }

    fn expect_token(&mut self, token: &str) -> Result<(), ParseError> {
        if self.accept(token) { Ok(()) } else { self.expected(format!("`{token}`")) }
    }

    fn end(&self) -> Result<(), ParseError> {
        if self.next == self.tokens.len() { Ok(()) } else { self.expected("the end of the line") }
    }

    /// Consumes the next token if `read` accepts it.
    fn take<T>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ParseError> {
        match read(self.peek()) {
            Some(value) => {
                self.next += 1;
                Ok(value)
            }
            None => self.expected(expected),
        }
    }

    fn count(&mut self) -> Result<usize, ParseError> {
        self.take("a number", |token| token.parse().ok())
    }

    fn dtype(&mut self) -> Result<DType, ParseError> {
        self.take("a dtype", DType::from_name)
    }

    /// A letter and an index, as in `a3`.
    fn reference(&mut self, prefix: &str) -> Result<u32, ParseError> {
        let expected = format!("`{prefix}` and a number");
        self.take(&expected, |token| token.strip_prefix(prefix)?.parse().ok())
    }

    /// Expects the definition with this index: definitions are in order.
    fn id(&mut self, prefix: &str, index: usize) -> Result<(), ParseError> {
        self.expect_token(&format!("{prefix}{index}"))
    }

    fn value(&mut self) -> Result<Value, ParseError> {
        self.reference("%")
    }

    fn header(&mut self) -> Result<Kernel, ParseError> {
        self.expect_token("kernel")?;
        self.expect_token("grid")?;
        let grid_rank = self.count()?;
        self.expect_token("reduce")?;
        let reduce_rank = self.count()?;
        self.expect_token("vector")?;
        let vector = self.take("`parallel` or `reduced`", |token| match token {
            "parallel" => Some(VectorAxis::Parallel),
            "reduced" => Some(VectorAxis::Reduced),
            _ => None,
        })?;
        let (params, scalars, accesses, body) = Default::default();
        Ok(Kernel { params, scalars, accesses, grid_rank, reduce_rank, vector, body })
    }

    fn access(&mut self) -> Result<Access, ParseError> {
        let param = match self.accept("position") {
            true => None,
            false => Some(self.reference("p")?),
        };
        self.expect_token("reduce")?;
        let reduce = self.take("`any` or `zero`", |token| match token {
            "any" => Some(true),
            "zero" => Some(false),
            _ => None,
        })?;
        self.expect_token("vector")?;
        let vector = self.take("`zero`, `one` or `any`", |token| {
            STRIDES.into_iter().find(|&stride| stride_name(stride) == token)
        })?;
        Ok(Access { param, reduce, vector })
    }

    fn instruction(&mut self, kernel: &Kernel) -> Result<Instruction, ParseError> {
        if self.accept("store") {
            let (access, index) = self.address(kernel)?;
            let combine = find(CombineOp::ALL, CombineOp::reduce_name, self.peek());
            self.next += combine.is_some() as usize;
            let value = self.value()?;
            let mask = self.mask()?;
            let kind = Kind::Store { access, value, index, mask, combine };
            return Ok(Instruction { kind, dtype: self.result_dtype()? });
        }
        self.id("%", kernel.body.len())?;
        self.expect_token("=")?;
        if self.accept("constant") {
            return self.constant();
        }
        let kind = self.kind(kernel)?;
        Ok(Instruction { kind, dtype: self.result_dtype()? })
    }

    fn result_dtype(&mut self) -> Result<DType, ParseError> {
        self.expect_token(":")?;
        self.dtype()
    }

    fn constant(&mut self) -> Result<Instruction, ParseError> {
        if self.accept("bits") {
            let read = |token: &str| u64::from_str_radix(token.strip_prefix("0x")?, 16).ok();
            let low = self.take("a hexadecimal number", read)?;
            let high = match self.accept(",") {
                true => self.take("a hexadecimal number", read)?,
                false => 0,
            };
            let dtype = self.result_dtype()?;
            let kind = Kind::Constant(Scalar::from_bits(dtype, [low, high]));
            return Ok(Instruction { kind, dtype });
        }
        // The dtype determines how to parse the literal before it.
        let at = self.next;
        let text = self.peek();
        self.next += 1;
        let dtype = self.result_dtype()?;
        let after = std::mem::replace(&mut self.next, at);
        let scalar =
            self.take(&format!("a constant of {dtype}"), |_| read_constant(text, dtype))?;
        self.next = after;
        Ok(Instruction { kind: Kind::Constant(scalar), dtype })
    }

    fn kind(&mut self, kernel: &Kernel) -> Result<Kind, ParseError> {
        let name = self.peek();
        let at = self.next;
        self.next += 1;
        match name {
            "scalar" => return Ok(Kind::Scalar(self.reference("s")?)),
            "position" => return Ok(Kind::Position(self.reference("a")?)),
            "load" => {
                let (access, index) = self.address(kernel)?;
                return Ok(Kind::Load { access, index, mask: self.mask()? });
            }
            "select" => return self.values().map(|[a, b, c]| Kind::Select(a, b, c)),
            "fma" => return self.values().map(|[a, b, c]| Kind::Fma(a, b, c)),
            "cast" => return self.values().map(|[a]| Kind::Cast(a)),
            "bitcast" => return self.values().map(|[a]| Kind::Bitcast(a)),
            _ => {}
        }
        if let Some(op) = find(UnaryOp::ALL, UnaryOp::name, name) {
            return self.values().map(|[a]| Kind::Unary(op, a));
        }
        if let Some(op) = find(BinaryOp::ALL, BinaryOp::name, name) {
            return self.values().map(|[a, b]| Kind::Binary(op, a, b));
        }
        if let Some(op) = find(CompareOp::ALL, CompareOp::name, name) {
            return self.values().map(|[a, b]| Kind::Compare(op, a, b));
        }
        if let Some(op) = find(CombineOp::ALL, CombineOp::reduce_name, name) {
            return self.values().map(|[a]| Kind::Reduce(op, a));
        }
        if let Some(op) = find(CombineOp::ALL, CombineOp::scan_name, name) {
            return self.values().map(|[a]| Kind::Scan(op, a));
        }
        if let Some(op) = find(ARG_OPS, arg_name, name) {
            return self.values().map(|[a]| Kind::ArgReduce(op, a));
        }
        self.next = at;
        self.expected("an instruction")
    }

    fn values<const N: usize>(&mut self) -> Result<[Value; N], ParseError> {
        let mut values = [0; N];
        for (position, value) in values.iter_mut().enumerate() {
            if position > 0 {
                self.expect_token(",")?;
            }
            *value = self.value()?;
        }
        Ok(values)
    }

    /// `p0[a1]` or `p0[a1 + %2]`
    fn address(&mut self, kernel: &Kernel) -> Result<(AccessId, Option<Value>), ParseError> {
        let at = self.next;
        self.next += 2;
        let access = self.reference("a")?;
        let after = std::mem::replace(&mut self.next, at);
        match kernel.accesses.get(access as usize).and_then(|access| access.param) {
            Some(param) => self.id("p", param as usize)?,
            None => self.expect_token("position")?,
        }
        self.expect_token("[")?;
        self.next = after;
        let index = if self.accept("+") { Some(self.value()?) } else { None };
        self.expect_token("]")?;
        Ok((access, index))
    }

    fn mask(&mut self) -> Result<Option<Value>, ParseError> {
        if self.accept("if") { self.value().map(Some) } else { Ok(None) }
    }
}

fn find<T: Copy, const N: usize>(
    all: [T; N],
    name_of: fn(T) -> &'static str,
    name: &str,
) -> Option<T> {
    all.into_iter().find(|&op| name_of(op) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(kernel: &Kernel) {
        let text = kernel.to_string();
        let read = parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        assert_eq!(&read, kernel, "\n{text}");
        assert_eq!(read.to_string(), text);
    }

    /// A kernel with these instructions, after one definition of each kind.
    fn kernel(body: Vec<Instruction>) -> Kernel {
        Kernel {
            params: vec![
                Param { dtype: DType::F32, writes: false },
                Param { dtype: DType::BF16, writes: true },
            ],
            scalars: vec![DType::I64, DType::C64],
            accesses: vec![
                Access { param: Some(0), reduce: true, vector: Stride::One },
                Access { param: None, reduce: false, vector: Stride::Any },
                Access { param: Some(1), reduce: false, vector: Stride::Zero },
            ],
            grid_rank: 3,
            reduce_rank: 1,
            vector: VectorAxis::Parallel,
            body,
        }
    }

    #[test]
    fn every_kind_of_instruction_round_trips() {
        let mut kinds = vec![
            Kind::Scalar(1),
            Kind::Position(1),
            Kind::Load { access: 0, index: None, mask: None },
            Kind::Load { access: 0, index: Some(1), mask: Some(2) },
            Kind::Select(0, 1, 2),
            Kind::Fma(3, 1, 0),
            Kind::Cast(1),
            Kind::Bitcast(2),
        ];
        kinds.extend(UnaryOp::ALL.map(|op| Kind::Unary(op, 1)));
        kinds.extend(BinaryOp::ALL.map(|op| Kind::Binary(op, 1, 2)));
        kinds.extend(CompareOp::ALL.map(|op| Kind::Compare(op, 1, 2)));
        kinds.extend(ARG_OPS.map(|op| Kind::ArgReduce(op, 1)));
        for op in CombineOp::ALL {
            kinds.extend([Kind::Reduce(op, 0), Kind::Scan(op, 1)]);
            let (access, value) = (2, 1);
            for (index, mask, combine) in
                [(None, None, None), (Some(4), None, Some(op)), (None, Some(3), Some(op))]
            {
                kinds.push(Kind::Store { access, value, index, mask, combine });
            }
        }
        let body = kinds.into_iter().zip(DType::ALL.into_iter().cycle());
        round_trip(&kernel(body.map(|(kind, dtype)| Instruction { kind, dtype }).collect()));
    }

    #[test]
    fn every_constant_round_trips_bit_exact() {
        let mut body = Vec::new();
        for dtype in DType::ALL {
            let numbers =
                [0.0, -0.0, 1.0, -1.5, 0.1, 1e-40, 3e38, f64::INFINITY, f64::NAN, -f64::NAN];
            let scalars = numbers.map(|number| number.to_scalar().cast(dtype));
            let patterns = [1, 0x7f80_0001, 0xffc1, 0x7c01, u64::MAX, 0x7ff0_0000_0000_0001]
                .map(|bits| Scalar::from_bits(dtype, [bits, bits]))
                // A `bool` has only two values.
                .map(|scalar| if dtype == DType::Bool { true.to_scalar() } else { scalar });
            for scalar in scalars.into_iter().chain(patterns) {
                body.push(Instruction { kind: Kind::Constant(scalar), dtype });
            }
        }
        round_trip(&kernel(body));
    }

    #[test]
    fn documented_example_round_trips() {
        let text = "kernel grid 1 reduce 0 vector reduced\n\
                    param p0: f32\n\
                    param p1: f32 writes\n\
                    access a0: p0 reduce zero vector one\n\
                    access a1: p1 reduce zero vector zero\n\
                    %0 = load p0[a0] : f32\n\
                    %1 = constant 0.5 : f32\n\
                    %2 = gt %0, %1 : bool\n\
                    %3 = exp %0 : f32\n\
                    %4 = sum %3 : f32\n\
                    store p1[a1] %4 if %2 : f32\n";
        let kernel = parse(text).expect("a kernel");
        assert_eq!(kernel.body.len(), 6);
        assert_eq!(kernel.to_string(), text);
    }

    #[test]
    fn parse_errors_have_line_and_column() {
        let header = "kernel grid 0 reduce 0 vector parallel\nparam p0: f32\n\
                      access a0: p0 reduce zero vector one\n";
        for (line, column, expected, found) in [
            ("%1 = load p0[a0] : f32", 1, "`%0`", "`%1`"),
            ("%0 = load p1[a0] : f32", 11, "`p0`", "`p1`"),
            ("%0 = load p0[a1] : f32", 11, "`position`", "`p0`"),
            ("%0 = lood p0[a0] : f32", 6, "an instruction", "`lood`"),
            ("%0 = load p0[a0] : f31", 20, "a dtype", "`f31`"),
            ("%0 = load p0[a0]", 17, "`:`", "the end of the line"),
            ("%0 = load p0[a0] : f32 now", 24, "the end of the line", "`now`"),
            ("%0 = constant 300 : u8", 15, "a constant of u8", "`300`"),
            ("%0 = constant x : f32", 15, "a constant of f32", "`x`"),
            ("%0 = add %1 %2 : f32", 13, "`,`", "`%2`"),
            ("param p0: f32", 7, "`p1`", "`p0`"),
        ] {
            let error = parse(&format!("{header}{line}\n")).expect_err(line);
            assert_eq!((error.line, error.column), (4, column), "{line}: {error}");
            assert_eq!((&*error.expected, &*error.found), (expected, found), "{line}");
        }
        let error = parse("").expect_err("nothing is not a kernel");
        assert_eq!(
            error.to_string(),
            "line 1, column 1: expected `kernel`, found the end of the line"
        );
    }
}
