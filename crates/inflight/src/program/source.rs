//! StableHLO programs as they were read, before compilation.

use super::custom_call;
use crate::{Error, Result};
use inflight_hlo::lower::{LowerError, Problem, custom_call_targets, entry, lower, verify};
use inflight_hlo::module::{ElementType, Module, Operation, Type};
use inflight_hlo::program as lowered;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A StableHLO program. Cheap to clone. Compile it with [`Device::compile`](crate::Device::compile).
#[derive(Clone)]
pub struct Program {
    pub(super) name: Arc<str>,
    pub(super) source: ProgramSource,
}

/// Source of a program.
#[derive(Clone)]
pub(super) enum ProgramSource {
    /// StableHLO text or bytecode, parsed and as read.
    StableHlo { module: Arc<Module>, source: Arc<[u8]> },
    /// Already lowered to graphs.
    Lowered(Arc<lowered::Program>),
}

impl Program {
    /// Parses StableHLO text: a module or a single function. The entry point is `@main`, or else the only public
    /// function.
    ///
    /// # Errors
    /// [`Error::Program`] with the line and column of a syntax error.
    pub fn parse(text: &str) -> Result<Program> {
        Program::read(text.as_bytes(), None)
    }

    /// Reads StableHLO text, or the MLIR bytecode of a portable artifact, as JAX exports it.
    ///
    /// # Errors
    /// [`Error::Program`] with the position of the error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program> {
        Program::read(bytes, None)
    }

    /// Reads a program from a file of text or bytecode; the format is detected.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read; [`Error::Program`] with the position of an error in it.
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
        let source = ProgramSource::StableHlo { module: Arc::new(module), source: bytes.into() };
        Ok(Program { name, source })
    }

    /// Wraps a lowered program.
    #[doc(hidden)]
    pub fn from_lowered(program: lowered::Program) -> Program {
        let name = program.name.as_str().into();
        Program { name, source: ProgramSource::Lowered(Arc::new(program)) }
    }

    /// The program's name in error messages: its file, or else its module's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prints the program as canonical StableHLO text.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the program was built from graphs, which have no text.
    pub fn to_text(&self) -> Result<String> {
        match &self.source {
            ProgramSource::StableHlo { module, .. } => Ok(inflight_hlo::print(module)),
            ProgramSource::Lowered(_) => Err(Error::Invalid(format!(
                "{}: built from graphs, so it has no StableHLO text",
                self.name
            ))),
        }
    }

    /// Returns the first feature used that is out of this crate's scope, with its line: quantized types, tokens,
    /// and communication between programs or devices. `None` if there is none.
    pub fn excluded_feature(&self) -> Option<String> {
        let ProgramSource::StableHlo { module, .. } = &self.source else { return None };
        let mut pending: Vec<&Operation> =
            module.functions.iter().rev().flat_map(|f| f.body.operations.iter().rev()).collect();
        while let Some(operation) = pending.pop() {
            if let Some(feature) = unsupported_feature(operation) {
                let (name, line) = (&operation.name, operation.location.line);
                return Some(format!("{feature} ({name}, line {line})"));
            }
            let regions = operation.regions.iter().rev();
            pending.extend(regions.flat_map(|region| region.operations.iter().rev()));
        }
        None
    }

    /// The declared argument and result types, if some argument extents are dynamic.
    pub(super) fn open_types(&self) -> Option<DeclaredTypes> {
        let ProgramSource::StableHlo { module, .. } = &self.source else { return None };
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
        Some(DeclaredTypes {
            names: (0..arguments.len()).map(|number| function.argument_name(number)).collect(),
            donated: donated.collect(),
            arguments,
            results: results.collect::<Option<_>>()?,
        })
    }

    /// Checks that all operations and custom calls are known, independently of argument types.
    pub(super) fn check_operations(&self) -> Result<()> {
        let ProgramSource::StableHlo { module, .. } = &self.source else { return Ok(()) };
        let error = verify(module).err();
        match with_unknown_calls(module, error) {
            None => Ok(()),
            Some(error) => Err(self.unsupported(&error)),
        }
    }

    /// Lowers the program for the given argument types, or for the declared ones.
    pub(super) fn lower(
        &self,
        arguments: Option<&[lowered::ValueType]>,
    ) -> Result<Arc<lowered::Program>> {
        match &self.source {
            ProgramSource::Lowered(program) => Ok(program.clone()),
            ProgramSource::StableHlo { module, .. } => match lower(module, arguments) {
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

/// Declared types of the entry point's arguments and results.
pub(super) struct DeclaredTypes {
    pub names: Vec<String>,
    pub arguments: Vec<inflight_hlo::module::TensorType>,
    pub donated: Vec<bool>,
    pub results: Vec<inflight_hlo::module::TensorType>,
}

/// Adds each unknown custom call to a program's errors, in source order.
fn with_unknown_calls(module: &Module, error: Option<LowerError>) -> Option<LowerError> {
    let mut problems = error.map_or_else(Vec::new, |error| error.problems);
    // Without an entry point there are no calls to check; that error is reported already.
    let targets = custom_call_targets(module).unwrap_or_default();
    let unknown = targets.into_iter().filter(|(target, _)| !custom_call::is_known(target));
    problems.extend(unknown.map(|(target, location)| Problem {
        operation: "stablehlo.custom_call".to_owned(),
        location,
        message: custom_call::unknown_target_message(&target),
    }));
    problems.sort_by_key(|problem| (problem.location.line, problem.location.column));
    (!problems.is_empty()).then_some(LowerError { problems })
}

/// The out-of-scope feature that an operation uses, if any.
fn unsupported_feature(operation: &Operation) -> Option<&'static str> {
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
