//! Tests that need no device: what the compiler refuses, and what the source declares.

mod argument_messages;
mod compile_fail;
mod pending_functions;
