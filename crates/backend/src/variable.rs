//! Environment variables that select options of a backend.

/// An environment variable has a value that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value:?}, expected {expected}; correct it or unset it")]
pub struct InvalidVariable {
    /// The variable's name.
    pub name: &'static str,
    /// Its value, with invalid Unicode replaced.
    pub value: String,
    /// The accepted values, for a sentence: "0 or 1".
    pub expected: &'static str,
}

/// Reads an environment variable; `None` if it is not set. `expected` describes the accepted values in the error for
/// a value that is not Unicode.
pub fn read_variable(
    name: &'static str,
    expected: &'static str,
) -> Result<Option<String>, InvalidVariable> {
    std::env::var_os(name).map(|value| value.into_string()).transpose().map_err(|value| {
        InvalidVariable { name, value: value.to_string_lossy().into_owned(), expected }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_variable_its_value_and_the_accepted_values() {
        let error =
            InvalidVariable { name: "INFLIGHT_TF32", value: "yes".into(), expected: "0 or 1" };
        let message = error.to_string();
        assert_eq!(message, "INFLIGHT_TF32 is \"yes\", expected 0 or 1; correct it or unset it");
    }

    #[test]
    fn an_unset_variable_is_none() {
        assert_eq!(read_variable("INFLIGHT_TEST_UNSET", "anything"), Ok(None));
    }
}
