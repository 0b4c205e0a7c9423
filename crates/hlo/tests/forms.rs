//! The same program as text in short form, in generic form, and as bytecode is the same module.

use inflight_hlo::module::Module;
use inflight_hlo::{ReadError, decode, parse, print, read};
use std::path::PathBuf;

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn module(name: &str) -> Module {
    let mut module = read(&data(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    module.forget_locations();
    module
}

const BYTECODE: [&str; 6] = ["control", "convnet", "indexing", "linear", "polymorphic", "types"];

#[test]
fn generic_form_is_the_same_module() {
    for name in BYTECODE.iter().chain(&["random", "special"]) {
        assert_eq!(
            module(&format!("{name}.mlir")),
            module(&format!("{name}.generic.mlir")),
            "{name}"
        );
    }
}

#[test]
fn bytecode_is_the_same_module() {
    for name in BYTECODE {
        assert_eq!(module(&format!("{name}.mlir")), module(&format!("{name}.mlirbc")), "{name}");
    }
}

#[test]
fn printed_modules_are_read_as_they_were() {
    for name in BYTECODE.iter().chain(&["random", "special", "located"]) {
        let module = module(&format!("{name}.mlir"));
        let text = print(&module);
        let mut again = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        again.forget_locations();
        assert_eq!(module, again, "{name}");
        assert_eq!(print(&again), text, "{name}");
    }
}

#[test]
fn canonical_text() {
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
fn locations_make_no_difference() {
    let located = module("located.mlir");
    assert_eq!(located.functions.len(), 1);
    let names: Vec<_> =
        located.functions[0].body.operations.iter().map(|operation| &operation.name[..]).collect();
    assert_eq!(names, ["stablehlo.tanh", "stablehlo.constant", "stablehlo.reduce", "func.return"]);
}

#[test]
fn bytecode_says_which_operation_it_was() {
    let module = decode(&data("control.mlirbc")).unwrap();
    let mut columns = Vec::new();
    for function in &module.functions {
        columns.push((function.location.line, function.location.column));
    }
    assert!(columns.iter().all(|(line, column)| *line == 0 && *column > 0), "{columns:?}");
    assert!(columns.is_sorted(), "{columns:?}");
}

#[test]
fn a_part_of_a_file_is_an_error() {
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
fn what_is_wrong_with_a_file_is_said() {
    let message = |bytes: &[u8]| read(bytes).expect_err("this is wrong").to_string();
    let mut newer = data("convnet.mlirbc");
    newer[4] = 7 << 1 | 1;
    assert_eq!(
        message(&newer),
        "byte 4 (the header): expected a version of at most 6 (this file is newer), found 7"
    );
    assert_eq!(
        message(&data("convnet.mlirbc")[..60]),
        "byte 49 (the header): expected at most 10 bytes of a section, found 124"
    );
    let neither = read(b"module \xff").unwrap_err();
    assert_eq!(neither, ReadError::Neither { offset: 7 });
    assert_eq!(
        neither.to_string(),
        "byte 7: neither StableHLO text nor MLIR bytecode (which begins with 4d 4c ef 52)"
    );
    assert_eq!(
        decode(b"module {}").unwrap_err().to_string(),
        "byte 0 (the header): expected the bytes 4d 4c ef 52 of MLIR bytecode, found others"
    );
}

#[test]
fn every_byte_may_be_wrong() {
    let bytes = data("linear.mlirbc");
    for place in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[place] ^= flip;
            // An error or another module; not a panic.
            let _ = read(&changed);
        }
    }
}

#[test]
fn attributes_meshes_and_names_are_printed_back() {
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
fn tokens_have_one_type_for_all() {
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
    short.forget_locations();
    long.forget_locations();
    assert_eq!(short, long);
}
