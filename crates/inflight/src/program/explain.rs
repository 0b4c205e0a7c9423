//! Explanation of a program's kernels.

use super::compile::labels;
use super::merge;
use super::source::Program;
use crate::explain::explain_plan;
use crate::{Error, Explanation, Result, Shape};
use inflight_hlo::module::ElementType;
use inflight_hlo::program::{Action, Sequence, ValueType};
use inflight_ir::plan::plan;

impl Program {
    /// Explains the kernels that an execution runs, without running anything. A loop's kernels appear once for the
    /// first condition and once for an iteration; a branch's kernels once per case.
    ///
    /// # Errors
    /// [`Error::Program`] with everything that is not supported, each with its line, or if argument extents are
    /// dynamic; then use [`explain_for`](Program::explain_for).
    pub fn explain(&self) -> Result<Explanation> {
        let mut explanation = Explanation::of(Vec::new());
        self.explain_sequence(&self.lower(None)?.body, &mut explanation);
        Ok(explanation)
    }

    /// Explains the kernels for arguments of the given shapes, in order. For programs with dynamic extents;
    /// otherwise use [`explain`](Program::explain).
    ///
    /// # Errors
    /// [`Error::Program`] with everything that is not supported, each with its line; [`Error::Invalid`] if the
    /// shapes do not match the arguments, or if the program's shapes are static.
    pub fn explain_for(&self, shapes: &[Shape]) -> Result<Explanation> {
        let Some(declared) = self.open_types() else {
            return Err(Error::Invalid(format!(
                "{}: its argument shapes are static; use Program::explain, without shapes",
                self.name()
            )));
        };
        let dtypes =
            declared.arguments.iter().zip(&declared.names).map(|(ty, name)| match ty.element {
                ElementType::Core(dtype) => Ok(dtype),
                _ => Err(Error::Invalid(format!(
                    "{}: the element type of argument {name} is not supported",
                    self.name()
                ))),
            });
        let dtypes = dtypes.collect::<Result<Vec<_>>>()?;
        if dtypes.len() != shapes.len() {
            return Err(Error::Invalid(format!(
                "{} takes {} argument{}, but {} shape{} given",
                self.name(),
                dtypes.len(),
                if dtypes.len() == 1 { "" } else { "s" },
                shapes.len(),
                if shapes.len() == 1 { " is" } else { "s are" }
            )));
        }
        let types = dtypes.into_iter().zip(shapes);
        let types: Vec<ValueType> =
            types.map(|(dtype, shape)| ValueType { shape: shape.clone(), dtype }).collect();
        let mut explanation = Explanation::of(Vec::new());
        self.explain_sequence(&self.lower(Some(&types))?.body, &mut explanation);
        Ok(explanation)
    }

    fn explain_sequence(&self, sequence: &Sequence, explanation: &mut Explanation) {
        for step in &sequence.steps {
            match &step.action {
                Action::Compute { graph, origins } => {
                    let part = explain_plan(graph, &plan(graph), &labels(&self.name, origins));
                    explanation.append(part);
                }
                Action::While { condition, body, carried } => {
                    self.explain_sequence(condition, explanation);
                    let iteration = merge::loop_iteration(body, condition, *carried);
                    self.explain_sequence(&iteration, explanation);
                }
                Action::Case { branches } => {
                    branches.iter().for_each(|branch| self.explain_sequence(branch, explanation));
                }
                Action::Call(_) => {}
            }
        }
    }
}
