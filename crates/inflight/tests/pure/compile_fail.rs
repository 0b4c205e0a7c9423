//! Programs that the compiler refuses, and what its messages name.
//!
//! One test for all of them: two sets of cases in one process would share trybuild's project folder.

#[test]
fn wrong_programs_are_refused_with_a_helpful_message() {
    let cases = trybuild::TestCases::new();
    // Borrowed inputs cannot be spawned.
    cases.compile_fail("tests/compile_fail/spawn_borrowed_on_tokio.rs");
    cases.compile_fail("tests/compile_fail/spawn_borrowed.rs");
    cases.compile_fail("tests/compile_fail/spawn_borrowing_closure.rs");
    cases.compile_fail("tests/compile_fail/borrow_outlived.rs");
    // Wrong arguments: the messages name the types that are accepted.
    cases.compile_fail("tests/compile_fail/axes_of_text.rs");
    cases.compile_fail("tests/compile_fail/slice_of_text.rs");
    cases.compile_fail("tests/compile_fail/shape_of_float.rs");
    cases.compile_fail("tests/compile_fail/lists.rs");
}
