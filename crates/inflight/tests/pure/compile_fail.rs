//! Programs that must not compile.

#[test]
fn borrowed_inputs_cannot_be_spawned() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/spawn_borrowed_on_tokio.rs");
    cases.compile_fail("tests/compile_fail/spawn_borrowed.rs");
    cases.compile_fail("tests/compile_fail/spawn_borrowing_closure.rs");
    cases.compile_fail("tests/compile_fail/borrow_outlived.rs");
}
