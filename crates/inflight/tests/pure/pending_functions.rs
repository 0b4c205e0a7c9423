//! The functions of `pending` mirror the methods of `Tensor`.

use inflight::pending;

#[test]
fn every_method_that_records_has_its_function() {
    // Read from the source, so that a new method without a function fails here.
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tensor");
    // Not ops on a tensor's value, or the same as another under a second name.
    let without = ["to", "to_async"];
    let mut methods = Vec::new();
    for file in std::fs::read_dir(directory).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap_or_default();
        methods.extend(methods_of(&text));
        methods.extend(generated_methods_of(&text));
    }
    assert!(methods.len() > 100, "{} methods are found", methods.len());
    let missing: Vec<&String> = methods
        .iter()
        .filter(|name| {
            !pending::NAMES.contains(&name.as_str()) && !without.contains(&name.as_str())
        })
        .collect();
    assert!(missing.is_empty(), "without a function in pending: {missing:?}");
    for name in pending::NAMES {
        assert!(methods.iter().any(|method| method == name), "pending::{name} is no method");
    }
}

/// The public methods of a tensor that return tensors, and the functions that join them.
fn methods_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("pub fn ") {
        let signature = &text[start + 7..];
        let signature = &signature[..signature.find('{').unwrap_or(signature.len())];
        let Some((head, output)) = signature.rsplit_once("->") else { continue };
        let name: String = head.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let on_tensors = head.contains("&self") || head.contains("tensors:");
        if on_tensors
            && ["Tensor", "Vec<Tensor>", "(Tensor, Tensor)"].contains(&output.trim())
            && !name.is_empty()
        {
            found.push(name);
        }
    }
    found
}

/// The methods that the macros of `elementwise` and `reduce` make of their tables.
fn generated_methods_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for table in ["\nunary! {", "\nbinary! {", "\ncomparisons! {", "\nreductions! {"] {
        let Some(start) = text.find(table) else { continue };
        let lines = text[start + table.len()..].lines().take_while(|line| *line != "}");
        for line in
            lines.map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with("//"))
        {
            let names = line.split(['(', ';']).next().unwrap_or_default();
            let count = if table.contains("reductions") { 3 } else { 1 };
            found.extend(names.split_whitespace().take(count).map(str::to_owned));
        }
    }
    found
}
