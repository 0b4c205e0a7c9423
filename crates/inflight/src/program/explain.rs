//! What a program would run.

use super::compile::labels;
use super::join;
use super::source::Program;
use crate::explain::explain_plan;
use crate::{Explanation, Result};
use inflight_hlo::program::{Action, Sequence};
use inflight_ir::plan::plan;

impl Program {
    /// Explains the kernels that executing the program runs, those of a loop once for its first condition and
    /// once for a turn, those of a branch once for each of its cases. Nothing runs.
    ///
    /// # Errors
    /// All that cannot be done, each with its line; and a program whose arguments have open extents.
    pub fn explain(&self) -> Result<Explanation> {
        let mut explanation = Explanation { kernels: Vec::new() };
        self.explain_sequence(&self.lower(None)?.body, &mut explanation);
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
                    let turn = join::turn(body, condition, *carried);
                    self.explain_sequence(&turn, explanation);
                }
                Action::Case { branches } => {
                    branches.iter().for_each(|branch| self.explain_sequence(branch, explanation));
                }
                Action::Call(_) => {}
            }
        }
    }
}
