//! The functions of `pending` mirror the methods of `Tensor`.

use crate::sources::tensor_methods;
use inflight::pending;

#[test]
fn every_method_that_records_has_its_function() {
    // Parsed from the sources, so that a new method without a function fails here.
    let methods = tensor_methods();
    let methods: Vec<&str> = methods
        .iter()
        .filter(|method| {
            let operands = &method.signature;
            let is_on_tensors = operands.contains("&self") || operands.contains("tensors:");
            is_on_tensors
                && ["Tensor", "Vec<Tensor>", "(Tensor, Tensor)"].contains(&method.output())
                && !method.name.is_empty()
        })
        .map(|method| method.name.as_str())
        .collect();
    assert!(methods.len() > 100, "only {} methods were parsed", methods.len());
    // `to` is `cast` with a type parameter.
    let missing: Vec<&str> = methods
        .iter()
        .copied()
        .filter(|&name| !pending::NAMES.contains(&name) && name != "to")
        .collect();
    assert!(missing.is_empty(), "without a function in pending: {missing:?}");
    for name in pending::NAMES {
        assert!(methods.contains(name), "pending::{name} is no method of Tensor");
    }
}
