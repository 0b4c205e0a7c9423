//! User options of a CUDA device: precision of GEMMs.

use inflight_backend::{InvalidVariable, read_variable};

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
    pub fn from_env() -> Result<Options, InvalidVariable> {
        Ok(Options {
            tf32: flag("INFLIGHT_TF32")?,
            f16_accumulate: flag("INFLIGHT_F16_ACCUMULATE")?,
        })
    }
}

/// Reads a variable that is `0`, `1` or unset.
fn flag(name: &'static str) -> Result<bool, InvalidVariable> {
    const EXPECTED: &str = "0 or 1";
    parse_flag(name, read_variable(name, EXPECTED)?.as_deref(), EXPECTED)
}

fn parse_flag(
    name: &'static str,
    value: Option<&str>,
    expected: &'static str,
) -> Result<bool, InvalidVariable> {
    match value {
        Some("1") => Ok(true),
        Some("0" | "") | None => Ok(false),
        Some(other) => Err(InvalidVariable { name, value: other.to_owned(), expected }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_zero_one_or_unset() {
        let parse = |value| parse_flag("INFLIGHT_TF32", value, "0 or 1");
        assert_eq!(parse(Some("1")), Ok(true));
        for off in [None, Some(""), Some("0")] {
            assert_eq!(parse(off), Ok(false));
        }
        let message = parse(Some("yes")).unwrap_err().to_string();
        assert!(message.starts_with("INFLIGHT_TF32 is \"yes\", expected 0 or 1"), "{message}");
    }
}
