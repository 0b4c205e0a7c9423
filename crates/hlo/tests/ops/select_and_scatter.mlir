// select_and_scatter to the first maximum of each window.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xi8>
    %c2 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi8>
    %c3 = stablehlo.constant dense<0> : tensor<i8>
    %r4 = "stablehlo.select_and_scatter"(%c1, %c2, %c3) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.compare GE, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.add %a, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<2x2xi8>, tensor<i8>) -> tensor<3x4xi8>
    %c5 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r4, %c5) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c6 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xi16>
    %c7 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi16>
    %c8 = stablehlo.constant dense<0> : tensor<i16>
    %r9 = "stablehlo.select_and_scatter"(%c6, %c7, %c8) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.compare GE, %a, %b : (tensor<i16>, tensor<i16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.add %a, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<2x2xi16>, tensor<i16>) -> tensor<3x4xi16>
    %c10 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c11 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xi32>
    %c12 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>
    %c13 = stablehlo.constant dense<0> : tensor<i32>
    %r14 = "stablehlo.select_and_scatter"(%c11, %c12, %c13) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<2x2xi32>, tensor<i32>) -> tensor<3x4xi32>
    %c15 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c16 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xi64>
    %c17 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi64>
    %c18 = stablehlo.constant dense<0> : tensor<i64>
    %r19 = "stablehlo.select_and_scatter"(%c16, %c17, %c18) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.compare GE, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<3x4xi64>
    %c20 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c21 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xui8>
    %c22 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xui8>
    %c23 = stablehlo.constant dense<0> : tensor<ui8>
    %r24 = "stablehlo.select_and_scatter"(%c21, %c22, %c23) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.compare GE, %a, %b : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.add %a, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<2x2xui8>, tensor<ui8>) -> tensor<3x4xui8>
    %c25 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r24, %c25) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c26 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xui16>
    %c27 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xui16>
    %c28 = stablehlo.constant dense<0> : tensor<ui16>
    %r29 = "stablehlo.select_and_scatter"(%c26, %c27, %c28) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.compare GE, %a, %b : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.add %a, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<2x2xui16>, tensor<ui16>) -> tensor<3x4xui16>
    %c30 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c31 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xui32>
    %c32 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xui32>
    %c33 = stablehlo.constant dense<0> : tensor<ui32>
    %r34 = "stablehlo.select_and_scatter"(%c31, %c32, %c33) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.compare GE, %a, %b : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.add %a, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<2x2xui32>, tensor<ui32>) -> tensor<3x4xui32>
    %c35 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r34, %c35) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c36 = stablehlo.constant dense<[[1, 5, 3, 2], [4, 2, 6, 6], [9, 0, 1, 3]]> : tensor<3x4xui64>
    %c37 = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xui64>
    %c38 = stablehlo.constant dense<0> : tensor<ui64>
    %r39 = "stablehlo.select_and_scatter"(%c36, %c37, %c38) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.compare GE, %a, %b : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.add %a, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<2x2xui64>, tensor<ui64>) -> tensor<3x4xui64>
    %c40 = stablehlo.constant dense<[[0, 10, 0, 0], [0, 0, 60, 0], [30, 0, 0, 0]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c41 = stablehlo.constant dense<[[1.0, 5.0, 3.0, 2.0], [4.0, 2.0, 6.0, 6.0], [9.0, 0.0, 1.0, 3.0]]> : tensor<3x4xf16>
    %c42 = stablehlo.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf16>
    %c43 = stablehlo.constant dense<0.0> : tensor<f16>
    %r44 = "stablehlo.select_and_scatter"(%c41, %c42, %c43) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.compare GE, %a, %b : (tensor<f16>, tensor<f16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.add %a, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<2x2xf16>, tensor<f16>) -> tensor<3x4xf16>
    %c45 = stablehlo.constant dense<[[0.0, 10.0, 0.0, 0.0], [0.0, 0.0, 60.0, 0.0], [30.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r44, %c45) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c46 = stablehlo.constant dense<[[1.0, 5.0, 3.0, 2.0], [4.0, 2.0, 6.0, 6.0], [9.0, 0.0, 1.0, 3.0]]> : tensor<3x4xbf16>
    %c47 = stablehlo.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xbf16>
    %c48 = stablehlo.constant dense<0.0> : tensor<bf16>
    %r49 = "stablehlo.select_and_scatter"(%c46, %c47, %c48) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.compare GE, %a, %b : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.add %a, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<2x2xbf16>, tensor<bf16>) -> tensor<3x4xbf16>
    %c50 = stablehlo.constant dense<[[0.0, 10.0, 0.0, 0.0], [0.0, 0.0, 60.0, 0.0], [30.0, 0.0, 0.0, 0.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r49, %c50) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c51 = stablehlo.constant dense<[[1.0, 5.0, 3.0, 2.0], [4.0, 2.0, 6.0, 6.0], [9.0, 0.0, 1.0, 3.0]]> : tensor<3x4xf32>
    %c52 = stablehlo.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf32>
    %c53 = stablehlo.constant dense<0.0> : tensor<f32>
    %r54 = "stablehlo.select_and_scatter"(%c51, %c52, %c53) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<3x4xf32>
    %c55 = stablehlo.constant dense<[[0.0, 10.0, 0.0, 0.0], [0.0, 0.0, 60.0, 0.0], [30.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r54, %c55) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c56 = stablehlo.constant dense<[[1.0, 5.0, 3.0, 2.0], [4.0, 2.0, 6.0, 6.0], [9.0, 0.0, 1.0, 3.0]]> : tensor<3x4xf64>
    %c57 = stablehlo.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf64>
    %c58 = stablehlo.constant dense<0.0> : tensor<f64>
    %r59 = "stablehlo.select_and_scatter"(%c56, %c57, %c58) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<2x2xf64>, tensor<f64>) -> tensor<3x4xf64>
    %c60 = stablehlo.constant dense<[[0.0, 10.0, 0.0, 0.0], [0.0, 0.0, 60.0, 0.0], [30.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    return
  }
}
