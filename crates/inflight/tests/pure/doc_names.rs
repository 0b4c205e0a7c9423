//! Checks the documentation against the sources: the tables that map PyTorch and NumPy names to methods, the doc comments
//! of `Tensor`, and the axis parameters of its methods.

use crate::sources::{Item, public_items, tensor_methods};
use std::path::Path;

#[test]
fn names_in_the_pytorch_table_exist() {
    check_page("from-pytorch.md");
}

#[test]
fn names_in_the_numpy_table_exist() {
    check_page("from-numpy.md");
}

#[test]
fn every_method_of_tensor_is_documented() {
    let methods = tensor_methods();
    assert!(methods.len() > 150, "only {} methods were parsed", methods.len());
    let undocumented: Vec<String> = methods
        .iter()
        .filter(|method| !method.is_documented)
        .map(|method| format!("{} at {}", method.name, method.location))
        .collect();
    assert!(undocumented.is_empty(), "without a doc comment: {undocumented:#?}");
}

#[test]
fn axis_parameters_accept_every_integer_type() {
    let methods = tensor_methods();
    let mut axes = 0;
    let mut wrong = Vec::new();
    for method in &methods {
        for (name, r#type) in method.parameters() {
            let is_axis = ["axis", "axes", "dim", "dims"]
                .iter()
                .any(|word| name == *word || name.ends_with(&format!("_{word}")));
            let is_general = r#type.starts_with("impl Axis") || r#type.starts_with("impl Axes");
            axes += usize::from(is_axis);
            // `dot_general` takes a struct of several lists of axes.
            let is_struct = r#type.trim_start_matches('&') == "DotAxes";
            if is_axis && !is_general && !is_struct || r#type.contains("isize") {
                let expected = "expected `impl Axis`, `impl Axes` or `impl Integer`";
                wrong.push(format!(
                    "{}: {name}: {}, {expected}, at {}",
                    method.name, r#type, method.location
                ));
            }
        }
    }
    assert!(axes > 30, "only {axes} axis parameters were parsed");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks that every name in the right column of a page's tables exists.
fn check_page(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "cannot read {}: {error}; the page has tables whose right column names methods of inflight",
            path.display()
        )
    });
    let items = public_items();
    let mut found = 0;
    let mut missing = Vec::new();
    for (number, cell) in right_cells(&text) {
        let names: Vec<Name> = cell.split('`').skip(1).step_by(2).flat_map(names_in).collect();
        found += names.len();
        let unknown = names.into_iter().filter(|name| !name.exists(&items));
        missing.extend(unknown.map(|name| format!("{page}:{number}: {}", name.text())));
    }
    assert!(found > 100, "only {found} names were parsed in {page}");
    assert!(missing.is_empty(), "names that do not exist: {missing:#?}");
}

/// A name of the public interface.
#[derive(Debug, PartialEq)]
struct Name {
    /// The type; empty for a free function.
    owner: String,
    name: String,
}

impl Name {
    fn exists(&self, items: &[Item]) -> bool {
        items.iter().any(|item| item.owner == self.owner && item.name == self.name)
    }

    fn text(&self) -> String {
        match self.owner.is_empty() {
            true => self.name.clone(),
            false => format!("{}::{}", self.owner, self.name),
        }
    }
}

/// The last cell of each row of the tables, with its line number. Heads and separators are left out.
fn right_cells(page: &str) -> Vec<(usize, &str)> {
    let mut cells = Vec::new();
    let lines: Vec<&str> = page.lines().collect();
    for (position, line) in lines.iter().enumerate() {
        let is_separator = |line: &str| line.starts_with("|-") || line.starts_with("| -");
        let is_head = lines.get(position + 1).is_some_and(|next| is_separator(next));
        if !line.starts_with('|') || is_separator(line) || is_head {
            continue;
        }
        // A `\\|` does not end a cell.
        let row = line.trim_end().trim_end_matches('|');
        let mut border = row.match_indices('|').map(|(at, _)| at);
        let border = border.rfind(|&at| !row[..at].ends_with('\\'));
        cells.push((position + 1, &row[border.map_or(0, |at| at + 1)..]));
    }
    cells
}

/// The names in a piece of code: `Type::name`, `module::name`, and `x.name(…)` for methods of a tensor.
fn names_in(code: &str) -> Vec<Name> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut names = Vec::new();
    let mut rest = code;
    let mut last_word = "";
    while let Some(start) = rest.find(is_word) {
        let separator = &rest[..start];
        let end = rest[start..].find(|character| !is_word(character));
        let (word, after) = rest[start..].split_at(end.unwrap_or(rest.len() - start));
        let is_name = !word.starts_with(|character: char| character.is_ascii_digit());
        let is_called = after.starts_with('(') || after.starts_with("::<");
        let is_path = separator == "::" && !after.starts_with("::");
        if is_name && is_path {
            let is_type = last_word.starts_with(char::is_uppercase);
            let owner = if is_type { last_word } else { "" };
            names.push(Name { owner: owner.to_owned(), name: word.to_owned() });
        } else if is_name && separator.ends_with('.') && !separator.ends_with("..") && is_called {
            names.push(Name { owner: "Tensor".to_owned(), name: word.to_owned() });
        }
        (last_word, rest) = (word, after);
    }
    names
}

#[test]
fn code_is_split_into_names() {
    let name = |owner: &str, name: &str| Name { owner: owner.to_owned(), name: name.to_owned() };
    assert_eq!(names_in("Tensor::from_vec"), [name("Tensor", "from_vec")]);
    assert_eq!(names_in("x.slice((1..3, ..2))"), [name("Tensor", "slice")]);
    assert_eq!(names_in("x.cast(DType::Bool)"), [name("Tensor", "cast"), name("DType", "Bool")]);
    assert_eq!(names_in("io::load_npy"), [name("", "load_npy")]);
    assert_eq!(names_in("x.to::<f32>().powf(0.5)"), [name("Tensor", "to"), name("Tensor", "powf")]);
    let page = "| a | b |\n|---|---|\n| `x \\| y` | `x.bitwise_or(y)` |\n";
    assert_eq!(right_cells(page), [(3, " `x.bitwise_or(y)` ")]);
}
