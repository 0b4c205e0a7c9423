//! Compiler diagnostics of invalid arguments name the accepted types.

#[test]
fn invalid_arguments_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/axes_of_text.rs");
    cases.compile_fail("tests/compile_fail/slice_of_text.rs");
    cases.compile_fail("tests/compile_fail/shape_of_float.rs");
    cases.compile_fail("tests/compile_fail/lists.rs");
}
