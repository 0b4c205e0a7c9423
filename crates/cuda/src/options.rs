//! User options of a CUDA device: precision of GEMMs.

use inflight_backend::{Fault, FaultKind};

/// Options of a CUDA device: the precision of GEMMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether GEMMs of `f32` may round their operands to TF32 (10 bits of mantissa), which is several times faster.
    /// Default: `false`; `f32` GEMMs then have the precision of `f32`, on Hopper with the bf16x3 split.
    pub tf32: bool,
    /// Whether GEMMs of `f16` may accumulate in `f16`, which is a little faster and overflows beyond 65,504.
    /// Default: `false`; they accumulate in `f32`.
    pub f16_accumulate: bool,
}

impl Options {
    /// Reads the options from the environment variables `INFLIGHT_TF32` and `INFLIGHT_F16_ACCUMULATE`, each `0` or `1`.
    ///
    /// # Errors
    /// If a variable has another value.
    pub fn from_env() -> Result<Options, Fault> {
        Ok(Options {
            tf32: flag("INFLIGHT_TF32")?,
            f16_accumulate: flag("INFLIGHT_F16_ACCUMULATE")?,
        })
    }
}

/// Reads a variable that is `0`, `1` or unset.
fn flag(name: &str) -> Result<bool, Fault> {
    match std::env::var(name).as_deref() {
        Ok("1") => Ok(true),
        Ok("0" | "") | Err(_) => Ok(false),
        Ok(other) => Err(FaultKind::Unsupported(format!(
            "{name} is {other:?}, but must be 0 or 1; set it to one of them or unset it"
        ))
        .into()),
    }
}
