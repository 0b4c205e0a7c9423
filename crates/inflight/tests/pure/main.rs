//! Tests that need no device: programs that must not compile, declarations in the sources, and names in the documentation.

mod compile_fail;
mod doc_names;
mod pending_functions;
mod sources;
