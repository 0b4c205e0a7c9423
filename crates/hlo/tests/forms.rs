//! Pretty form, generic form and bytecode of a program are read as the same module.

use inflight_hlo::module::Module;
use inflight_hlo::{ReadError, decode, parse, print, read};
use std::path::PathBuf;

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn module(name: &str) -> Module {
    let mut module = read(&data(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    module.strip_locations();
    module
}

const BYTECODE: [&str; 6] = ["control", "convnet", "indexing", "linear", "polymorphic", "types"];

#[test]
fn generic_form_equals_pretty_form() {
    for name in BYTECODE.iter().chain(&["random", "special"]) {
        assert_eq!(
            module(&format!("{name}.mlir")),
            module(&format!("{name}.generic.mlir")),
            "{name}"
        );
    }
}

#[test]
fn bytecode_equals_text() {
    for name in BYTECODE {
        assert_eq!(module(&format!("{name}.mlir")), module(&format!("{name}.mlirbc")), "{name}");
    }
}

#[test]
fn printed_modules_round_trip() {
    for name in BYTECODE.iter().chain(&["random", "special", "located"]) {
        let module = module(&format!("{name}.mlir"));
        let text = print(&module);
        let mut again = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        again.strip_locations();
        assert_eq!(module, again, "{name}");
        assert_eq!(print(&again), text, "{name}");
    }
}

#[test]
fn generic_form_is_printed_as_canonical_text() {
    let source = r#"func.func @main(%x: tensor<2x3xf32> {jax.buffer_donor = true}) -> tensor<2xf32> {
  %z = "stablehlo.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %s = "stablehlo.reduce"(%x, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) {dimensions = dense<1> : tensor<1xi64>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  "func.return"(%s) : (tensor<2xf32>) -> ()
}"#;
    let canonical = "module {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.buffer_donor = true} loc(\"x\")) -> (tensor<2xf32>) {
    %1 = stablehlo.constant dense<0.5> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    func.return %2 : tensor<2xf32>
  }
}
";
    assert_eq!(print(&parse(source).unwrap()), canonical);
}

#[test]
fn locations_do_not_affect_the_module() {
    let located = module("located.mlir");
    assert_eq!(located.functions.len(), 1);
    let names: Vec<_> =
        located.functions[0].body.operations.iter().map(|operation| &operation.name[..]).collect();
    assert_eq!(names, ["stablehlo.tanh", "stablehlo.constant", "stablehlo.reduce", "func.return"]);
}

#[test]
fn bytecode_locations_number_the_operations() {
    let module = decode(&data("control.mlirbc")).unwrap();
    let mut columns = Vec::new();
    for function in &module.functions {
        columns.push((function.location.line, function.location.column));
    }
    assert!(columns.iter().all(|(line, column)| *line == 0 && *column > 0), "{columns:?}");
    assert!(columns.is_sorted(), "{columns:?}");
}

#[test]
fn truncated_files_are_errors() {
    let bytes = data("convnet.mlirbc");
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let text = String::from_utf8(data("convnet.mlir")).unwrap();
    let whole = text.trim_end();
    for length in (0..whole.len()).step_by(7) {
        assert!(parse(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn file_errors_name_offset_and_expectation() {
    let message = |bytes: &[u8]| read(bytes).expect_err("the file is invalid").to_string();
    let mut newer = data("convnet.mlirbc");
    newer[4] = 7 << 1 | 1;
    assert_eq!(
        message(&newer),
        "byte 4 (the header): expected bytecode version 6 or older (export for an older version), found 7"
    );
    assert_eq!(
        message(&data("convnet.mlirbc")[..60]),
        "byte 49 (the header): expected at most 10 bytes of a section, found 124"
    );
    let unknown = read(b"module \xff").unwrap_err();
    assert_eq!(unknown, ReadError::UnknownFormat { offset: 7 });
    assert_eq!(
        unknown.to_string(),
        "byte 7: expected StableHLO text or MLIR bytecode (which begins with 4d 4c ef 52), found a byte that is not \
         UTF-8; pass a .mlir or .mlirbc file"
    );
    assert_eq!(
        decode(b"module {}").unwrap_err().to_string(),
        "byte 0 (the header): expected the magic number 4d 4c ef 52 of MLIR bytecode, found other bytes"
    );
}

#[test]
fn corrupt_bytes_do_not_panic() {
    let bytes = data("linear.mlirbc");
    for index in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[index] ^= flip;
            // The result is an error or another module, never a panic.
            let _ = read(&changed);
        }
    }
}

#[test]
fn attributes_meshes_and_argument_names_round_trip() {
    let source = r#"module @m attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  "sdy.mesh"() <{mesh = #sdy.mesh<["z"=2]>, sym_name = "other"}> : () -> () loc("here")
  func.func public @main(%arg0: tensor<2xf32> {jax.buffer_donor = true} loc("params['w']"), %arg1: tensor<f32>) -> (tensor<2xf32>) attributes {tag.note = "kept"} {
    func.return %arg0 : tensor<2xf32> loc(unknown)
  }
}
"#;
    let printed = print(&parse(source).unwrap());
    let expected = source.replace(r#" loc("here")"#, "").replace(" loc(unknown)", "");
    assert_eq!(printed, expected);
    assert_eq!(print(&parse(&printed).unwrap()), printed);
}

#[test]
fn after_all_accepts_one_token_type_for_all_operands() {
    let short = "func.func @main() {
        %0 = stablehlo.create_token : !stablehlo.token
        %1 = stablehlo.after_all %0, %0 : !stablehlo.token
        return
    }";
    let long = short.replace(
        "stablehlo.after_all %0, %0 : !stablehlo.token",
        "\"stablehlo.after_all\"(%0, %0) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token",
    );
    let (mut short, mut long) = (parse(short).unwrap(), parse(&long).unwrap());
    short.strip_locations();
    long.strip_locations();
    assert_eq!(short, long);
}
