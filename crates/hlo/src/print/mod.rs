//! Modules as text.

mod types;

pub(crate) use types::type_text;
