//! Tests that need no device: what the compiler refuses, what the source declares, and what the documentation names.

mod compile_fail;
mod doc_names;
mod pending_functions;
mod sources;
