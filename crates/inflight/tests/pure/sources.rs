//! A list of the public functions of the crates, parsed from their sources, for tests of naming and documentation.
//!
//! The parser reads lines as `cargo fmt` writes them: the body of an `impl`, `trait` or `enum` ends at the first line with
//! a closing brace at the indentation of its head.

use std::path::{Path, PathBuf};

/// A public function or method, or a variant of an enum.
pub struct Item {
    /// The type or trait that it belongs to; empty for a free function.
    pub owner: String,
    /// Its name; empty for a method whose name is a macro parameter.
    pub name: String,
    /// The parameters in parentheses and the result, on one line.
    pub signature: String,
    /// Whether it has a doc comment.
    pub is_documented: bool,
    /// The file and line of its definition.
    pub location: String,
}

/// The public items of `inflight` and of the crates whose types it exports.
pub fn public_items() -> Vec<Item> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut items = Vec::new();
    for name in ["inflight", "ir", "backend"] {
        for file in rust_files(&crates.join(name).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            items.extend(items_of_file(&text, &file));
            items.extend(generated_methods_of_file(&text, &file));
        }
    }
    items
}

/// The public methods and associated functions of [`inflight::Tensor`], generated ones included.
pub fn tensor_methods() -> Vec<Item> {
    let mut items = public_items();
    items.retain(|item| item.owner == "Tensor");
    items
}

impl Item {
    /// The name and the type of each parameter except `self`.
    pub fn parameters(&self) -> Vec<(&str, &str)> {
        let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
        for (at, character) in self.signature.char_indices() {
            match character {
                '(' | '[' | '<' => {
                    depth += 1;
                    if depth == 1 {
                        start = at + 1;
                    }
                }
                ')' | ']' | '>' if !self.signature[..at].ends_with('-') => {
                    depth -= 1;
                    if depth == 0 {
                        parts.push(&self.signature[start..at]);
                        break;
                    }
                }
                ',' if depth == 1 => {
                    parts.push(&self.signature[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        let named = parts.into_iter().filter_map(|part| part.split_once(':'));
        named.map(|(name, r#type)| (name.trim(), r#type.trim())).collect()
    }

    /// The type of the result; empty for `()`.
    pub fn output(&self) -> &str {
        self.signature.rsplit_once("->").map_or("", |(_, output)| output.trim())
    }
}

/// All `.rs` files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The block that a line belongs to.
struct Block {
    owner: String,
    indent: usize,
    is_trait: bool,
    is_enum: bool,
}

fn items_of_file(text: &str, file: &Path) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let mut items = Vec::new();
    let mut block: Option<Block> = None;
    for (number, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code.starts_with('}') && block.as_ref().is_some_and(|block| block.indent == indent) {
            block = None;
        }
        let head = || until_body(&lines[number..]);
        let is_trait = code.starts_with("pub trait ");
        let is_enum = code.starts_with("pub enum ");
        if (code.starts_with("impl ") || code.starts_with("impl<")) || is_trait || is_enum {
            if !line.ends_with("{}") {
                block = Some(Block { owner: owner_of(&head()), indent, is_trait, is_enum });
            }
            continue;
        }
        let is_function = ["pub fn ", "pub const fn ", "pub async fn ", "pub unsafe fn "]
            .iter()
            .any(|start| code.starts_with(start));
        let in_trait = block.as_ref().is_some_and(|block| block.is_trait && indent > block.indent);
        let owner = block.as_ref().map_or("", |block| &block.owner);
        let name = if is_function || in_trait && code.starts_with("fn ") {
            code.split_once("fn ").map(|(_, rest)| identifier(rest))
        } else if block.as_ref().is_some_and(|block| block.is_enum && indent == block.indent + 4) {
            Some(identifier(code)).filter(|name| name.starts_with(char::is_uppercase))
        } else {
            None
        };
        let Some(name) = name else { continue };
        let head = head();
        items.push(Item {
            owner: owner.to_owned(),
            signature: head[head.find('(').unwrap_or(head.len())..].to_owned(),
            name: name.to_owned(),
            is_documented: is_documented(&lines[..number], indent),
            location: format!("{}:{}", file.display(), number + 1),
        });
    }
    items
}

/// The methods that the macros of `elementwise` and `reduce` generate from their tables.
fn generated_methods_of_file(text: &str, file: &Path) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let mut items = Vec::new();
    for (table, names_per_line, signature) in [
        ("unary! {", 1, "(&self) -> Tensor"),
        ("binary! {", 1, "(&self, other: impl Operand) -> Tensor"),
        ("comparisons! {", 1, "(&self, other: impl Operand) -> Tensor"),
        ("reductions! {", 3, "(&self) -> Tensor"),
    ] {
        let Some(start) = lines.iter().position(|line| *line == table) else { continue };
        for (number, line) in lines.iter().enumerate().skip(start + 1) {
            if *line == "}" {
                break;
            }
            let code = line.trim();
            if !code.ends_with(';') || code.starts_with("//") {
                continue;
            }
            let names = code.split(['(', ';']).next().unwrap_or_default();
            for name in names.split_whitespace().take(names_per_line) {
                items.push(Item {
                    owner: "Tensor".to_owned(),
                    name: name.to_owned(),
                    signature: signature.to_owned(),
                    // The table's doc comment is that of the first name; the macro documents the others.
                    is_documented: is_documented(&lines[..number], 4),
                    location: format!("{}:{}", file.display(), number + 1),
                });
            }
        }
    }
    items
}

/// The text up to the opening brace of a body, or to the semicolon that ends a declaration, on one line.
fn until_body(lines: &[&str]) -> String {
    let mut head = String::new();
    for line in lines {
        let line = line.trim();
        let end = line.find(['{', ';']);
        head.push_str(&line[..end.unwrap_or(line.len())]);
        if end.is_some() {
            break;
        }
        head.push(' ');
    }
    head.trim().to_owned()
}

/// The name of the type that an `impl`, a `trait` or an `enum` is about.
fn owner_of(head: &str) -> String {
    let mut rest = head.trim_start_matches("pub ");
    for keyword in ["impl", "trait ", "enum "] {
        rest = rest.strip_prefix(keyword).unwrap_or(rest);
    }
    let mut rest = rest.trim_start();
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.char_indices().find(|&(at, character)| {
            depth += i32::from(character == '<');
            depth -= i32::from(character == '>' && !rest[..at].ends_with('-'));
            depth == 0
        });
        rest = &rest[end.map_or(rest.len(), |(at, _)| at + 1)..];
    }
    let path = rest.split_once(" for ").map_or(rest, |(_, target)| target).trim_start();
    let path = path.trim_start_matches(['&', '(']).split(['<', ' ', ',', ')', ':']).next();
    path.unwrap_or_default().to_owned()
}

/// The identifier that a text starts with; empty for a macro parameter.
fn identifier(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Whether the lines before an item end with its doc comment and attributes.
fn is_documented(before: &[&str], indent: usize) -> bool {
    let end_of_last = format!("{}}}", " ".repeat(indent));
    let own = before.iter().rev().take_while(|line| !line.is_empty() && **line != end_of_last);
    own.map(|line| line.trim()).take_while(|line| !line.starts_with("impl")).any(|line| {
        ["///", "#[doc = ", "$(#[$doc])*", "//!"].iter().any(|start| line.starts_with(start))
    })
}
