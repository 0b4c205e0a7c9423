//! How a GPU is used.

use inflight_backend::{Fault, FaultKind};

/// How a GPU is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether products of `f32` may round their operands to TF32, 10 bits of mantissa, which is several times
    /// faster; not unless said otherwise.
    pub tf32: bool,
    /// Whether products of `f16` may keep their sums in `f16`, which is a little faster, and overflows beyond
    /// 65,504; in `f32` unless said otherwise.
    pub f16_accumulate: bool,
}

impl Options {
    /// The options that `INFLIGHT_TF32` and `INFLIGHT_F16_ACCUMULATE` (`0` or `1`) set.
    ///
    /// # Errors
    /// If one of them is something else.
    pub fn from_env() -> Result<Options, Fault> {
        Ok(Options {
            tf32: flag("INFLIGHT_TF32")?,
            f16_accumulate: flag("INFLIGHT_F16_ACCUMULATE")?,
        })
    }
}

/// Whether a variable is `1`.
fn flag(name: &str) -> Result<bool, Fault> {
    match std::env::var(name).as_deref() {
        Ok("1") => Ok(true),
        Ok("0" | "") | Err(_) => Ok(false),
        Ok(other) => {
            Err(FaultKind::Unsupported(format!("{name}={other} is neither 0 nor 1")).into())
        }
    }
}
