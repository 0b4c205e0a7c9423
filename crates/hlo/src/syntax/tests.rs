//! Parser tests: every pretty form against the generic form, literals, and error messages.

use super::parse;
use crate::module::{Attribute, ElementType, Function, Module, Operation, Type, attribute};
use inflight_ir::DType;

/// Parses `body` inside a function with arguments of various types, and returns its operations.
fn body(body: &str) -> Vec<Operation> {
    let source = format!(
        "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %m: tensor<2x3xf32>, %n: tensor<3x2xf32>, \
         %i: tensor<i32>, %c: tensor<f32>, %p: tensor<4xi1>, %t: !stablehlo.token) {{\n{body}\n return }}"
    );
    match parse(&source) {
        Ok(mut module) => {
            module.strip_locations();
            assert_round_trip(&module);
            without_return(module.functions.into_iter().next().unwrap())
        }
        Err(error) => panic!("{error}"),
    }
}

fn without_return(mut function: Function) -> Vec<Operation> {
    assert_eq!(function.body.operations.pop().unwrap().name, "func.return");
    function.body.operations
}

fn single_operation(text: &str) -> Operation {
    let mut operations = body(text);
    assert_eq!(operations.len(), 1);
    operations.remove(0)
}

/// Asserts that two sources parse to the same operations, apart from locations.
fn assert_same(short: &str, generic: &str) {
    let strip = |mut module: Module| {
        module.strip_locations();
        module
    };
    let wrap = |text: &str| {
        format!(
            "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %m: tensor<2x3xf32>, %n: tensor<3x2xf32>, \
             %i: tensor<i32>, %c: tensor<f32>, %p: tensor<4xi1>, %t: !stablehlo.token) {{ {text} return }}"
        )
    };
    let short = strip(parse(&wrap(short)).unwrap_or_else(|error| panic!("{error}")));
    let generic = strip(parse(&wrap(generic)).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(short, generic);
    assert_round_trip(&short);
}

/// Asserts that printing and parsing a module gives the same module.
fn assert_round_trip(module: &Module) {
    let text = crate::print(module);
    let mut again = parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    again.strip_locations();
    assert_eq!(*module, again, "{text}");
    assert_eq!(crate::print(&again), text);
}

fn error(source: &str) -> String {
    parse(source).expect_err("the source is invalid").to_string()
}

#[test]
fn elementwise_operations() {
    assert_same(
        "%0 = stablehlo.add %x, %y : tensor<4xf32>",
        r#"%0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.negate %x {mhlo.note = \"n\"} : tensor<4xf32>",
        r#"%0 = "stablehlo.negate"(%x) {mhlo.note = "n"} : (tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf64>",
        r#"%0 = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<4xf64>"#,
    );
    assert_same(
        "%0 = stablehlo.compare  LT, %x, %y,  FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        r#"%0 = "stablehlo.compare"(%x, %y) <{compare_type = #stablehlo<comparison_type FLOAT>,
           comparison_direction = #stablehlo.comparison_direction<LT>}>
           : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"#,
    );
    assert_same(
        "%0 = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>",
        r#"%0 = "stablehlo.select"(%p, %x, %y)
           : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.clamp %x, %x, %y : tensor<4xf32>",
        r#"%0 = "stablehlo.clamp"(%x, %x, %y)
           : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>",
        r#"%0 = "stablehlo.complex"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>"#,
    );
    assert_same(
        "%0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>",
        r#"%0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32}
           : (tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>",
        r#"%0 = "chlo.erf"(%x) : (tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = chlo.zeta %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>",
        r#"%0 = "chlo.zeta"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = chlo.broadcast_add %x, %c {broadcast_dimensions = array<i64>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
        r#"%0 = "chlo.broadcast_add"(%x, %c) <{broadcast_dimensions = array<i64>}>
           : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"#,
    );
}

#[test]
fn operations_with_settings() {
    assert_same(
        "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>",
        r#"%0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>"#,
    );
    assert_same(
        "%0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>",
        r#"%0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<1> : tensor<1xi64>}
           : (tensor<4xf32>) -> tensor<2x4xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
        r#"%0 = "stablehlo.transpose"(%m) <{permutation = array<i64: 1, 0>}>
           : (tensor<2x3xf32>) -> tensor<3x2xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.reverse %m, dims = [1] : tensor<2x3xf32>",
        r#"%0 = "stablehlo.reverse"(%m) <{dimensions = array<i64: 1>}>
           : (tensor<2x3xf32>) -> tensor<2x3xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>",
        r#"%0 = "stablehlo.concatenate"(%x, %y) <{dimension = 0 : i64}>
           : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.slice %m [0:2, 1:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>",
        r#"%0 = "stablehlo.slice"(%m) <{start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>,
           limit_indices = array<i64: 2, 3>}> : (tensor<2x3xf32>) -> tensor<2x1xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>",
        r#"%0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 2>}>
           : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.pad %x, %c, low = [-1], high = [2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>",
        r#"%0 = "stablehlo.pad"(%x, %c) <{edge_padding_low = array<i64: -1>, edge_padding_high = array<i64: 2>,
           interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.fft %x, type =  RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>",
        r#"%0 = "stablehlo.fft"(%x) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}>
           : (tensor<4xf32>) -> tensor<3xcomplex<f32>>"#,
    );
    assert_same(
        "%0 = stablehlo.rng %c, %c, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>"
            .replace("%0 = ", "%s = stablehlo.constant dense<4> : tensor<1xi64> %0 = ")
            .as_str(),
        r#"%s = stablehlo.constant dense<4> : tensor<1xi64>
           %0 = "stablehlo.rng"(%c, %c, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>
           : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>"#,
    );
    let generator = "%s = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
        %0, %1 = stablehlo.rng_bit_generator %s, algorithm =  THREE_FRY
            : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)";
    let operations = body(generator);
    assert_eq!(operations[1].results.len(), 2);
    assert_eq!(
        attribute(&operations[1].attributes, "rng_algorithm"),
        Some(&Attribute::Enum("rng_algorithm".into(), "THREE_FRY".into()))
    );
    assert_same(
        "%0 = stablehlo.cholesky %q, lower = true : tensor<2x2xf32>"
            .replace("%0 = ", "%q = stablehlo.constant dense<1.0> : tensor<2x2xf32> %0 = ")
            .as_str(),
        r#"%q = stablehlo.constant dense<1.0> : tensor<2x2xf32>
           %0 = "stablehlo.cholesky"(%q) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>"#,
    );
    assert_same(
        "%0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)",
        r#"%0, %1 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)"#,
    );
    assert_same(
        "%0 = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>",
        r#"%0 = "stablehlo.get_dimension_size"(%m) <{dimension = 1 : i64}> : (tensor<2x3xf32>) -> tensor<i32>"#,
    );
}

#[test]
fn dot_general_and_convolution() {
    assert_same(
        "%0 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST]
         : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        r#"%0 = "stablehlo.dot_general"(%m, %n) <{dot_dimension_numbers = #stablehlo.dot<
           lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
           precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}>
           : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>"#,
    );
    assert_same(
        "%0 = stablehlo.dot_general %m, %m, batching_dims = [0] x [0], contracting_dims = [1] x [1],
         precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32,
         accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
         num_primitive_operations = 1, allow_imprecise_accumulation = false>
         : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
        r#"%0 = "stablehlo.dot_general"(%m, %m) <{dot_dimension_numbers = #stablehlo.dot<
           lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
           lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>,
           algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32,
           accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
           num_primitive_operations = 1, allow_imprecise_accumulation = false>}>
           : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>"#,
    );
    let image = "%a = stablehlo.constant dense<1.0> : tensor<1x8x8x3xf32>
                 %k = stablehlo.constant dense<1.0> : tensor<3x3x3x5xf32> ";
    assert_same(
        &format!(
            "{image} %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0],
             window = {{stride = [2, 1], pad = [[0, 1], [1, 1]], rhs_dilate = [1, 2], reverse = [true, false]}}
             {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
             : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x5x6x4xf32>"
        ),
        &format!(
            r#"{image} %0 = "stablehlo.convolution"(%a, %k) <{{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
               dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3,
               input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2,
               kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1],
               output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = [3, 2]>,
               window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>,
               lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>,
               window_reversal = array<i1: true, false>}}>
               : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x5x6x4xf32>"#
        ),
    );
}

#[test]
fn reductions() {
    let generic = r#"%0 = "stablehlo.reduce"(%m, %c) <{dimensions = array<i64: 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %1 = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %1 : tensor<f32>
        }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"#;
    assert_same(
        "%0 = stablehlo.reduce(%m init: %c) applies stablehlo.maximum across dimensions = [1]
         : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
        generic,
    );
    assert_same(
        "%0 = stablehlo.reduce(%m init: %c) across dimensions = [1]
         : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
         reducer(%a: tensor<f32>, %b: tensor<f32>) {
           %1 = stablehlo.maximum %a, %b : tensor<f32>
           stablehlo.return %1 : tensor<f32>
         }",
        generic,
    );
    let two = single_operation("%0:2 = stablehlo.reduce(%m init: %c), (%m init: %i) across dimensions = [1]
         : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
         reducer(%a: tensor<f32> loc(\"x\"), %b: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>) {
           stablehlo.return %b, %d : tensor<f32>, tensor<i32>
         } loc(#loc)");
    // Arguments 2, 5 and 4. In the region, the accumulators come first.
    assert_eq!(two.operands, [2, 2, 5, 4]);
    let region = &two.regions[0];
    let types: Vec<_> = region.arguments.iter().map(|value| &value.ty).collect();
    assert_eq!(types[0], types[2]);
    assert_eq!(types[1], types[3]);
    assert_eq!(region.operations[0].operands, [region.arguments[2].id, region.arguments[1].id]);
}

#[test]
fn control_flow() {
    assert_same(
        "%0:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %c) : tensor<i32>, tensor<f32>
           cond { %1 = stablehlo.compare LT, %iterArg, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
                  stablehlo.return %1 : tensor<i1> }
           do { stablehlo.return %i, %iterArg_0 : tensor<i32>, tensor<f32> }",
        r#"%0, %q = "stablehlo.while"(%i, %c) ({
           ^bb0(%a: tensor<i32>, %b: tensor<f32>):
             %1 = stablehlo.compare LT, %a, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
             "stablehlo.return"(%1) : (tensor<i1>) -> ()
           }, {
           ^bb0(%a: tensor<i32>, %b: tensor<f32>):
             stablehlo.return %i, %b : tensor<i32>, tensor<f32>
           }) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)"#,
    );
    let case = single_operation(
        r#"%0 = "stablehlo.case"(%i) ({
            stablehlo.return %c : tensor<f32>
          }, {
            %cst = stablehlo.constant dense<1.0> : tensor<f32>
            stablehlo.return %cst : tensor<f32>
          }) : (tensor<i32>) -> tensor<f32>"#,
    );
    assert_eq!(case.regions.len(), 2);
    assert_eq!(case.regions[0].operations[0].operands, [5]);
}

#[test]
fn calls() {
    let call = single_operation(
        "stablehlo.custom_call @check.expect_eq(%x, %y) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()",
    );
    assert_eq!(
        attribute(&call.attributes, "call_target_name"),
        Some(&Attribute::String("check.expect_eq".into()))
    );
    assert_same(
        "%0 = stablehlo.composite \"a.b\" %x {decomposition = @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>",
        r#"%0 = "stablehlo.composite"(%x) <{name = "a.b", decomposition = @f, version = 1 : i32}>
           : (tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>",
        r#"%0 = "func.call"(%x) <{callee = @f}> : (tensor<4xf32>) -> tensor<4xf32>"#,
    );
    assert_same(
        "%0:2 = stablehlo.optimization_barrier %x, %c : tensor<4xf32>, tensor<f32>",
        r#"%0:2 = "stablehlo.optimization_barrier"(%x, %c) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)"#,
    );
    assert_same(
        "%0 = stablehlo.after_all %t, %t : !stablehlo.token, !stablehlo.token %1 = stablehlo.create_token : !stablehlo.token",
        r#"%0 = "stablehlo.after_all"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
           %1 = "stablehlo.create_token"() : () -> !stablehlo.token"#,
    );
    assert_same(
        "%0 = stablehlo.tuple %x, %c : tuple<tensor<4xf32>, tensor<f32>>
         %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<f32>>) -> tensor<f32>",
        r#"%0 = "stablehlo.tuple"(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tuple<tensor<4xf32>, tensor<f32>>
           %1 = "stablehlo.get_tuple_element"(%0) <{index = 1 : i32}>
           : (tuple<tensor<4xf32>, tensor<f32>>) -> tensor<f32>"#,
    );
}

/// The bytes of a constant, and whether it is a splat.
fn constant(text: &str) -> (Vec<u8>, bool) {
    let operation = single_operation(&format!("%0 = stablehlo.constant {text}"));
    match attribute(&operation.attributes, "value") {
        Some(Attribute::Dense(dense)) => (dense.bytes.to_vec(), dense.is_splat),
        other => panic!("{other:?}"),
    }
}

#[test]
fn constants() {
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(constant("dense<1.5> : tensor<99999999999x4xf32>"), (floats(&[1.5]), true));
    assert_eq!(
        constant("dense<[[1.0, -2.0], [0x7F800000, 3.0e-3]]> : tensor<2x2xf32>"),
        (floats(&[1.0, -2.0, f32::INFINITY, 3.0e-3]), false)
    );
    assert_eq!(
        constant(r#"dense<"0x0000803F00000040"> : tensor<2xf32>"#),
        (floats(&[1.0, 2.0]), false)
    );
    assert_eq!(constant(r#"dense<"0x0000803F"> : tensor<200xf32>"#), (floats(&[1.0]), true));
    assert_eq!(constant("dense<[true, false]> : tensor<2xi1>"), (vec![1, 0], false));
    assert_eq!(constant("dense<[-1, 255]> : tensor<2xi8>"), (vec![255], true));
    assert_eq!(constant("dense<18446744073709551615> : tensor<ui64>"), (vec![255; 8], true));
    assert_eq!(
        constant("dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2xcomplex<f32>>"),
        (floats(&[1.0, 2.0, 0.0, -1.0]), false)
    );
    assert_eq!(constant("dense<(1.0, 1.0)> : tensor<complex<f32>>"), (floats(&[1.0, 1.0]), true));
    assert_eq!(constant("dense<> : tensor<0x3xf32>"), (vec![], false));
    assert_eq!(constant("dense<[[], []]> : tensor<2x0xf32>"), (vec![], false));
    assert_eq!(constant("dense<0x3C00> : tensor<f16>"), (vec![0, 0x3c], true));
    assert_eq!(constant("dense<1.0> : tensor<bf16>"), (vec![0x80, 0x3f], true));
    assert_eq!(constant("dense<-8> : tensor<i4>"), (vec![0xf8], true));
    assert_eq!(
        constant("dense<[0x7F800001, 0x80000000]> : tensor<2xf32>").0[..4],
        [1, 0, 0x80, 0x7f]
    );
    assert_eq!(constant("dense<0x38> : tensor<f8E4M3FN>"), (vec![0x38], true));
    assert_eq!(constant("dense<[1.0, -1.0]> : tensor<2xf8E4M3FN>"), (vec![0x38, 0xb8], false));
    assert_eq!(constant("dense<7> : tensor<2xindex>"), (vec![7, 0, 0, 0, 0, 0, 0, 0], true));
    let many: Vec<String> = (0..300).map(|value| format!("{value}")).collect();
    assert_eq!(constant(&format!("dense<[{}]> : tensor<300xui16>", many.join(", "))).0.len(), 600);
    let bits: Vec<String> = (0..300).map(|value| format!("{}", value % 3 == 0)).collect();
    assert_eq!(constant(&format!("dense<[{}]> : tensor<300xi1>", bits.join(", "))).0.len(), 300);
}

#[test]
fn resource_blobs_at_the_end_are_resolved() {
    let source = r#"module { func.func @main() -> tensor<2xi32> {
        %0 = stablehlo.constant dense_resource<blob1> : tensor<2xi32>
        return %0 : tensor<2xi32>
      } }
      {-# dialect_resources: { builtin: { blob1: "0x040000000100000002000000" } } #-}"#;
    let module = parse(source).unwrap();
    let Some(Attribute::Dense(dense)) =
        attribute(&module.functions[0].body.operations[0].attributes, "value")
    else {
        panic!()
    };
    assert_eq!(dense.bytes[..], [1, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn modules_functions_aliases_and_locations() {
    let source = r#"
      #loc1 = loc("x":1:2)
      !pair = tensor<2xf32>
      #gather = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
      sdy.mesh @mesh = <["x"=2]>
    "#;
    assert!(error(source).contains("expected `module` or `func.func`"), "{}", error(source));
    let source = r#"
      #loc1 = loc("x":1:2)
      !pair = tensor<2xf32>
      #gather = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
      module @m attributes {mhlo.num_partitions = 1 : i32, jax.flag, x.y = #sdy.thing<[{"a"}]>} {
        sdy.mesh @mesh = <["x"=2], device_ids=[0]> {stablehlo.mesh = {axes = []}}
        "sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "other"}> : () -> ()
        func.func public @main(%arg0: !pair {tf.aliasing_output = 0 : i32} loc("a"), %arg1: tensor<1x1xi32>) -> (tensor<1xf32> {jax.result_info = "r"}) attributes {note = 1 : i64} {
          %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #gather, indices_are_sorted = false,
            slice_sizes = array<i64: 1>}> : (!pair, tensor<1x1xi32>) -> tensor<1xf32> loc(#loc1)
          return %0 : tensor<1xf32> loc(callsite("f"("g.py":1:2 to :3) at fused<"m">[#loc1, unknown]))
        } loc(#loc1)
        func.func private @other() { return }
      } loc(#loc)
      #loc = loc(unknown)
    "#;
    let module = parse(source).unwrap_or_else(|error| panic!("{error}"));
    let mut plain = module.clone();
    plain.strip_locations();
    assert_round_trip(&plain);
    assert_eq!(module.name.as_deref(), Some("m"));
    assert_eq!(attribute(&module.attributes, "jax.flag"), Some(&Attribute::Unit));
    assert_eq!(
        attribute(&module.attributes, "x.y"),
        Some(&Attribute::Other("#sdy.thing<[{\"a\"}]>".into()))
    );
    let main = &module.functions[0];
    assert!(!main.is_private && module.functions[1].is_private);
    assert_eq!(
        attribute(&main.argument_attributes[0], "tf.aliasing_output"),
        Some(&Attribute::Integer(0, ElementType::Core(DType::I32)))
    );
    assert_eq!(main.results[0].1[0].0, "jax.result_info");
    let gather = &main.body.operations[0];
    assert_eq!((gather.location.line, gather.location.column), (9, 11));
    assert!(attribute(&gather.attributes, "indices_are_sorted").is_none());
    let Some(Attribute::Record(kind, fields)) = attribute(&gather.attributes, "dimension_numbers")
    else {
        panic!()
    };
    assert_eq!(kind, "gather");
    assert_eq!(attribute(fields, "start_index_map"), Some(&Attribute::Integers(vec![0])));
}

#[test]
fn functions_in_generic_form() {
    let short = r#"module @m attributes {a.b = 2 : i32} {
        func.func private @f(%x: tensor<4xf32> {n.m = "k"}) -> tensor<4xf32> { return %x : tensor<4xf32> } }"#;
    let generic = r#""builtin.module"() <{sym_name = "m"}> ({
        "func.func"() <{arg_attrs = [{n.m = "k"}], function_type = (tensor<4xf32>) -> tensor<4xf32>,
            sym_name = "f", sym_visibility = "private"}> ({
        ^bb0(%arg0: tensor<4xf32>):
          "func.return"(%arg0) : (tensor<4xf32>) -> ()
        }) : () -> ()
      }) {a.b = 2 : i32} : () -> ()"#;
    let mut short = parse(short).unwrap();
    let mut generic = parse(generic).unwrap_or_else(|error| panic!("{error}"));
    short.strip_locations();
    generic.strip_locations();
    assert_eq!(short, generic);
}

#[test]
fn float_attributes_are_rounded_to_their_types() {
    let source = "module attributes {a = 0.949999988 : f32, b = 0.1 : f16, c = 0x7F800000 : f32} {
        func.func @f() { stablehlo.return } }";
    let mut module = parse(source).unwrap();
    assert_eq!(
        module.attributes[0].1,
        Attribute::Float(f64::from(0.95f32), ElementType::Core(DType::F32))
    );
    assert_eq!(
        module.attributes[2].1,
        Attribute::Float(f64::INFINITY, ElementType::Core(DType::F32))
    );
    assert_eq!(module.functions[0].body.operations[0].name, "func.return");
    module.strip_locations();
    assert_round_trip(&module);
}

#[test]
fn unsupported_types_are_retained_as_text() {
    let source = "func.func @f(%a: tensor<4x!quant.uniform<i8:f32, 2.0:15>>, %b: tensor<?x3xi4>,
        %c: tensor<?xf32, #stablehlo.bounds<4>>, %d: tensor<*xf32>, %e: tuple<>) { return }";
    let module = parse(source).unwrap_or_else(|error| panic!("{error}"));
    let mut plain = module.clone();
    plain.strip_locations();
    assert_round_trip(&plain);
    let types: Vec<_> =
        module.functions[0].body.arguments.iter().map(|value| value.ty.clone()).collect();
    let texts: Vec<_> = types.iter().map(crate::print::type_text).collect();
    assert_eq!(
        texts,
        [
            "tensor<4x!quant.uniform<i8:f32, 2.0:15>>",
            "tensor<?x3xi4>",
            "tensor<?xf32, #stablehlo.bounds<4>>",
            "tensor<*xf32>",
            "tuple<>"
        ]
    );
    assert!(matches!(types[2], Type::Other(_)));
}

#[test]
fn errors_name_expected_and_found() {
    assert_eq!(
        error("func.func @f(%a: tensor<2xf32>) {\n  %0 = stablehlo.add %a, %b : tensor<2xf32>\n}"),
        "line 2, column 26: expected a value that is defined before its use, found `%b`\n  \
         |   %0 = stablehlo.add %a, %b : tensor<2xf32>\n  |                          ^"
    );
    let one_line = |source: &str| error(source).lines().next().unwrap().to_string();
    let in_body = |text: &str| one_line(&format!("func.func @f(%a: tensor<2xf32>) {{\n{text}\n}}"));
    assert_eq!(
        in_body("%0 = stablehlo.add %a, %a : tensor<3xf32>"),
        "line 2, column 29: expected `tensor<2xf32>` as the type of operand 0, found `tensor<3xf32>`"
    );
    assert_eq!(
        in_body("%0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>"),
        "line 2, column 30: expected elements of shape 2, found elements of shape 3"
    );
    assert_eq!(
        in_body("%0 = stablehlo.constant dense<[1, 2]> : tensor<99999999999xi32>"),
        "line 2, column 30: expected elements of shape 99999999999, found elements of shape 2"
    );
    assert_eq!(
        in_body("%0 = stablehlo.constant dense<300> : tensor<i8>"),
        "line 2, column 31: expected an integer in the range of the constant's element type, found `300`"
    );
    assert_eq!(
        in_body("%0:2 = stablehlo.negate %a : tensor<2xf32>"),
        "line 2, column 8: expected an operation with 2 results, found `stablehlo.negate` with 1"
    );
    assert_eq!(
        in_body("%a = stablehlo.negate %a : tensor<2xf32>"),
        "line 2, column 1: expected a unique name, found `%a`, which is already defined"
    );
    assert_eq!(
        in_body("%0 = stablehlo.pad %a, %a, lo = [1] : tensor<2xf32>"),
        "line 2, column 28: expected a setting of `stablehlo.pad`, found `lo`"
    );
    assert_eq!(
        in_body("%0 = linalg.generic %a"),
        "line 2, column 6: expected an operation of `stablehlo`, `chlo` or `func`, found `linalg.generic`"
    );
    assert_eq!(in_body("%0 = stablehlo.negate %a"), "line 3, column 1: expected `:`, found `}`");
    assert_eq!(
        one_line("func.func @f(%a: tensor<2xf32>) {"),
        "line 1, column 34: expected an operation, found the end of the text"
    );
    assert_eq!(
        one_line(""),
        "line 1, column 1: expected `module` or `func.func`, found the end of the text"
    );
    assert_eq!(
        one_line("func.func @f(%a: tensor<2yf32>) {"),
        "line 1, column 26: expected `x` after a dimension, found `yf32`"
    );
    assert_eq!(
        one_line("func.func private @f(tensor<2xf32>)"),
        "line 1, column 22: expected an argument name (functions without a body are not supported), found `tensor`"
    );
}

#[test]
fn alias_expansion_is_limited() {
    let mut source = "#a0 = [1, 2]\n!t0 = tensor<f32>\n".to_string();
    for number in 1..60 {
        let before = number - 1;
        source.push_str(&format!("#a{number} = [#a{before}, #a{before}]\n"));
    }
    assert!(error(&source).contains("aliases that expand to at most"), "{}", error(&source));
    let mut source = "!t0 = tensor<f32>\n".to_string();
    for number in 1..200 {
        source.push_str(&format!("!t{number} = tuple<!t{}>\n", number - 1));
    }
    assert!(error(&source).contains("at most 100 levels"), "{}", error(&source));
    let used =
        "#a = {x = 1 : i32}\nmodule attributes {b = #a, c = [#a]} { func.func @f() { return } }";
    let attributes = parse(used).unwrap().attributes;
    assert_eq!(attributes[1].1, Attribute::Array(vec![attributes[0].1.clone()]));
}

#[test]
fn nesting_depth_is_limited() {
    let deep = |open: &str, close: &str| {
        format!("module attributes {{a = {}{}}} {{}}", open.repeat(100_000), close.repeat(100_000))
    };
    assert!(error(&deep("[", "]")).contains("at most 100 levels"));
    assert!(error(&deep("{a = ", "}")).contains("at most 100 levels"));
    assert!(error(&deep("tuple<", ">")).contains("at most 100 levels"));
    assert!(error(&deep("dense<[", "]>")).contains("expected an element"));
    let regions = "\"stablehlo.case\"() ({ ".repeat(100_000);
    assert!(error(&format!("func.func @f() {{ {regions}")).contains("at most 100 levels"));
    let dense = format!("module attributes {{a = dense<{}", "[".repeat(100_000));
    assert!(error(&dense).contains("at most 100 levels"));
}
