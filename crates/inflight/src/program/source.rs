//! Programs as they were written.

use super::calls;
use crate::{Error, Result};
use inflight_hlo::lower::{LowerError, Problem, custom_call_targets, entry, lower, verify};
use inflight_hlo::module::{ElementType, Module, Operation, Type};
use inflight_hlo::program as lowered;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A StableHLO program that devices can compile. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    pub(super) name: Arc<str>,
    pub(super) form: Form,
}

/// What a program was given as.
#[derive(Clone)]
pub(super) enum Form {
    /// Text or bytecode.
    Written { module: Arc<Module>, source: Arc<[u8]> },
    /// Graphs and steps.
    Lowered(Arc<lowered::Program>),
}

impl Program {
    /// Reads a program's text: a module, or a function alone. `@main` is what is executed, or the only public
    /// function.
    ///
    /// # Errors
    /// What is wrong with the text, with its line and column.
    pub fn parse(text: &str) -> Result<Program> {
        Program::read(text.as_bytes(), None)
    }

    /// Reads a program from text or from MLIR bytecode of StableHLO's portable artifacts, as JAX exports them.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program> {
        Program::read(bytes, None)
    }

    /// Reads a program's file: text or bytecode, whichever it is.
    ///
    /// # Errors
    /// If the file cannot be read; or what is wrong with it, and where.
    pub fn load(path: impl AsRef<Path>) -> Result<Program> {
        let path = path.as_ref();
        let bytes = crate::io::read_file(path)?;
        Program::read(&bytes, Some(&path.display().to_string()))
    }

    pub(super) fn read(bytes: &[u8], name: Option<&str>) -> Result<Program> {
        let module = inflight_hlo::read(bytes).map_err(|error| {
            let name = name.unwrap_or("program");
            Error::Program(format!("{name}: {error}").into())
        })?;
        let name = name.or(module.name.as_deref()).unwrap_or("program").into();
        let form = Form::Written { module: Arc::new(module), source: bytes.into() };
        Ok(Program { name, form })
    }

    /// A program that is lowered already.
    #[doc(hidden)]
    pub fn from_lowered(program: lowered::Program) -> Program {
        let name = program.name.as_str().into();
        Program { name, form: Form::Lowered(Arc::new(program)) }
    }

    /// What messages call it: its file, or the name of its module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program in canonical text.
    ///
    /// # Errors
    /// If it was given as graphs, which have no text.
    pub fn to_text(&self) -> Result<String> {
        match &self.form {
            Form::Written { module, .. } => Ok(inflight_hlo::print(module)),
            Form::Lowered(_) => {
                Err(Error::Invalid(format!("{}: it was given as graphs, not as text", self.name)))
            }
        }
    }

    /// The first thing it uses that no device of this crate will ever have, and its line: quantized types,
    /// tokens, communication between programs, and communication between devices.
    pub fn excluded_feature(&self) -> Option<String> {
        let Form::Written { module, .. } = &self.form else { return None };
        let mut pending: Vec<&Operation> =
            module.functions.iter().rev().flat_map(|f| f.body.operations.iter().rev()).collect();
        while let Some(operation) = pending.pop() {
            if let Some(feature) = excluded(operation) {
                let (name, line) = (&operation.name, operation.location.line);
                return Some(format!("{feature} ({name}, line {line})"));
            }
            let regions = operation.regions.iter().rev();
            pending.extend(regions.flat_map(|region| region.operations.iter().rev()));
        }
        None
    }

    /// The types of the arguments as declared, if some of their extents are open.
    pub(super) fn open_types(&self) -> Option<Declared> {
        let Form::Written { module, .. } = &self.form else { return None };
        let function = entry(module).ok()?;
        let tensors = function.body.arguments.iter().map(|argument| match &argument.ty {
            Type::Tensor(tensor) => Some(tensor.clone()),
            _ => None,
        });
        let arguments: Vec<_> = tensors.collect::<Option<_>>()?;
        let is_open = |tensor: &inflight_hlo::module::TensorType| {
            tensor.dimensions.iter().any(Option::is_none)
        };
        if !arguments.iter().any(is_open) {
            return None;
        }
        let results = function.results.iter().map(|(ty, _)| match ty {
            Type::Tensor(tensor) => Some(tensor.clone()),
            _ => None,
        });
        let donated = function.argument_attributes.iter().map(|attributes| {
            attributes
                .iter()
                .any(|(name, _)| name == "tf.aliasing_output" || name == "jax.buffer_donor")
        });
        Some(Declared {
            names: (0..arguments.len()).map(|number| function.argument_name(number)).collect(),
            donated: donated.collect(),
            arguments,
            results: results.collect::<Option<_>>()?,
        })
    }

    /// Whether all its operations are known, and the functions it calls, whatever its arguments are.
    pub(super) fn check_operations(&self) -> Result<()> {
        let Form::Written { module, .. } = &self.form else { return Ok(()) };
        let known = verify(module).err();
        match with_unknown_calls(module, known) {
            None => Ok(()),
            Some(error) => Err(self.unsupported(&error)),
        }
    }

    /// The program for these argument types, or for its own.
    pub(super) fn lower(
        &self,
        arguments: Option<&[lowered::ValueType]>,
    ) -> Result<Arc<lowered::Program>> {
        match &self.form {
            Form::Lowered(program) => Ok(program.clone()),
            Form::Written { module, .. } => match lower(module, arguments) {
                Ok(program) => Ok(Arc::new(program)),
                Err(error) => {
                    let error = with_unknown_calls(module, Some(error));
                    Err(self.unsupported(&error.expect("there was an error")))
                }
            },
        }
    }

    fn unsupported(&self, error: &LowerError) -> Error {
        let name = &self.name;
        let lines: Vec<String> = error
            .problems
            .iter()
            .map(|problem| {
                let (operation, message) = (&problem.operation, &problem.message);
                match (problem.location.line, problem.location.column) {
                    (0, number) => format!("{name}, operation {number}: {operation}: {message}"),
                    (line, column) => format!("{name}:{line}:{column}: {operation}: {message}"),
                }
            })
            .collect();
        Error::Program(lines.join("\n").into())
    }
}

/// What the arguments and results of a function are declared to be.
pub(super) struct Declared {
    pub names: Vec<String>,
    pub arguments: Vec<inflight_hlo::module::TensorType>,
    pub donated: Vec<bool>,
    pub results: Vec<inflight_hlo::module::TensorType>,
}

/// What is wrong with a program, and each call of a function that is not there, in the order of the text.
fn with_unknown_calls(module: &Module, error: Option<LowerError>) -> Option<LowerError> {
    let mut problems = error.map_or_else(Vec::new, |error| error.problems);
    // Without a function to execute there are no calls, and that is said already.
    let called = custom_call_targets(module).unwrap_or_default();
    let unknown = called.into_iter().filter(|(target, _)| !calls::is_known(target));
    problems.extend(unknown.map(|(target, location)| Problem {
        operation: "stablehlo.custom_call".to_owned(),
        location,
        message: calls::unknown(&target),
    }));
    problems.sort_by_key(|problem| (problem.location.line, problem.location.column));
    (!problems.is_empty()).then_some(LowerError { problems })
}

/// What about an operation is out of this crate's scope.
fn excluded(operation: &Operation) -> Option<&'static str> {
    const ACROSS_DEVICES: [&str; 8] = [
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "cross_replica_sum",
        "reduce_scatter",
        "replica_groups",
    ];
    const ACROSS_PROGRAMS: [&str; 4] = ["send", "recv", "infeed", "outfeed"];
    const QUANTIZED: [&str; 2] = ["uniform_quantize", "uniform_dequantize"];
    const TOKENS: [&str; 2] = ["after_all", "create_token"];
    let name = operation.name.strip_prefix("stablehlo.").unwrap_or(&operation.name);
    if ACROSS_DEVICES.contains(&name) {
        return Some("communication between devices");
    }
    if ACROSS_PROGRAMS.contains(&name) {
        return Some("communication between programs");
    }
    let is_token = |ty: &Type| matches!(ty, Type::Token);
    let results = || operation.results.iter().map(|result| &result.ty);
    if TOKENS.contains(&name) || results().any(is_token) {
        return Some("tokens");
    }
    let is_quantized = |ty: &Type| match ty {
        Type::Tensor(tensor) => {
            matches!(&tensor.element, ElementType::Other(name) if name.contains("quant"))
        }
        _ => false,
    };
    (QUANTIZED.contains(&name) || results().any(is_quantized)).then_some("quantized types")
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({})", self.name)
    }
}
