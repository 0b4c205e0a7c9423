//! Programs as they were written.

use inflight_hlo::program as lowered;
use std::sync::Arc;

/// A program that devices can compile. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    pub(super) name: Arc<str>,
    pub(super) lowered: Arc<lowered::Program>,
}

impl Program {
    /// A program that is lowered already.
    #[doc(hidden)]
    pub fn from_lowered(program: lowered::Program) -> Program {
        Program { name: program.name.as_str().into(), lowered: Arc::new(program) }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }
}
