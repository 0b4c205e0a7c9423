//! Executes a lowered program on the reference interpreter: the test oracle, which needs no device.

mod check;

pub use check::check;

use crate::program::{Action, Call, Program, Sequence, Step};
use inflight_ir::Element;
use inflight_ir::interpret::Array;
use std::borrow::Cow;

/// The error of an execution.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InterpretError {
    /// The number of arguments, or an argument's shape or dtype, does not match the program.
    #[error("{0}")]
    Argument(String),
    /// A host call failed.
    #[error("line {line}: {target}: {message}")]
    Call {
        /// The source line of the call.
        line: u32,
        /// The call target's name.
        target: String,
        /// The call's error.
        message: String,
    },
}

/// Executes a host call on its inputs.
pub type Calls<'a> = &'a mut dyn FnMut(&Call, &[&Array]) -> Result<Vec<Array>, String>;

/// Executes a program and returns its results. `call` executes host calls; [`check()`] handles those of `check.*`.
pub fn interpret(
    program: &Program,
    arguments: &[Array],
    call: Calls<'_>,
) -> Result<Vec<Array>, InterpretError> {
    if arguments.len() != program.arguments.len() {
        return Err(InterpretError::Argument(format!(
            "expected {} arguments, found {}",
            program.arguments.len(),
            arguments.len()
        )));
    }
    for (declared, given) in program.arguments.iter().zip(arguments) {
        if declared.ty.shape != given.shape || declared.ty.dtype != given.dtype {
            return Err(InterpretError::Argument(format!(
                "argument {}: expected {}{}, found {}{}",
                declared.name, declared.ty.dtype, declared.ty.shape, given.dtype, given.shape
            )));
        }
    }
    let constants: Vec<Array> = program
        .constants
        .iter()
        .map(|constant| Array {
            shape: constant.ty.shape.clone(),
            dtype: constant.ty.dtype,
            bytes: constant.bytes.to_vec(),
        })
        .collect();
    let inputs: Vec<&Array> = arguments.iter().chain(&constants).collect();
    run(&program.body, &inputs, call)
}

fn run(
    sequence: &Sequence,
    inputs: &[&Array],
    call: Calls<'_>,
) -> Result<Vec<Array>, InterpretError> {
    let mut values: Vec<Option<Cow<'_, Array>>> = vec![None; sequence.values.len()];
    for (value, &input) in values.iter_mut().zip(inputs) {
        *value = Some(Cow::Borrowed(input));
    }
    for step in &sequence.steps {
        let inputs: Vec<&Array> = step
            .inputs
            .iter()
            .map(|&slot| values[slot].as_deref().expect("the value is computed before its use"))
            .collect();
        let results = run_step(step, &inputs, call)?;
        for (&slot, result) in step.results.iter().zip(results) {
            let ty = &sequence.values[slot];
            assert_eq!(
                (&ty.shape, ty.dtype),
                (&result.shape, result.dtype),
                "type of a step's result"
            );
            values[slot] = Some(Cow::Owned(result));
        }
    }
    let output =
        |&slot: &usize| values[slot].clone().expect("the outputs are computed").into_owned();
    Ok(sequence.outputs.iter().map(output).collect())
}

fn run_step(step: &Step, inputs: &[&Array], call: Calls<'_>) -> Result<Vec<Array>, InterpretError> {
    match &step.action {
        Action::Compute { graph, .. } => {
            let inputs: Vec<Array> = inputs.iter().map(|&input| input.clone()).collect();
            Ok(inflight_ir::interpret::interpret(graph, &inputs))
        }
        Action::While { condition, body, carried } => {
            let mut state: Vec<Array> =
                inputs[..*carried].iter().map(|&input| input.clone()).collect();
            loop {
                let all: Vec<&Array> =
                    state.iter().chain(inputs[*carried..].iter().copied()).collect();
                let predicate = run(condition, &all, call)?;
                if !bool::from_scalar(predicate[0].get(0)) {
                    return Ok(state);
                }
                state = run(body, &all, call)?;
            }
        }
        Action::Case { branches } => {
            let index = inputs[0].get(0).to_i64();
            let last = branches.len() - 1;
            let branch = usize::try_from(index).map_or(last, |index| index.min(last));
            run(&branches[branch], &inputs[1..], call)
        }
        Action::Call(target) => call(target, inputs).map_err(|message| InterpretError::Call {
            line: step.location.line,
            target: target.target.clone(),
            message,
        }),
    }
}
