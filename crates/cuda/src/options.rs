//! How a GPU is used.

use inflight_backend::{Fault, FaultKind};

/// How a GPU is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether products of `f32` may round their operands to TF32, 10 bits of mantissa, which is several times
    /// faster; not unless said otherwise.
    pub tf32: bool,
}

impl Options {
    /// The options that `INFLIGHT_TF32` (`0` or `1`) sets.
    ///
    /// # Errors
    /// If it is something else.
    pub fn from_env() -> Result<Options, Fault> {
        match std::env::var("INFLIGHT_TF32").as_deref() {
            Ok("1") => Ok(Options { tf32: true }),
            Ok("0" | "") | Err(_) => Ok(Options { tf32: false }),
            Ok(other) => {
                let message = format!("INFLIGHT_TF32={other} is neither 0 nor 1");
                Err(FaultKind::Unsupported(message).into())
            }
        }
    }
}
