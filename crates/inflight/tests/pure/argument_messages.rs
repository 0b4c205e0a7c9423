//! What the compiler says of wrong arguments: the messages name the types that are accepted.

#[test]
fn wrong_arguments_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/axes_of_text.rs");
    cases.compile_fail("tests/compile_fail/slice_of_text.rs");
    cases.compile_fail("tests/compile_fail/shape_of_float.rs");
    cases.compile_fail("tests/compile_fail/lists.rs");
}
