// reduce_window: sums, cumulative sums forward and backward, dilations, and an arbitrary body.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi8>
    %c2 = stablehlo.constant dense<0> : tensor<i8>
    %r3 = "stablehlo.reduce_window"(%c1, %c2) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.add %a, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<i8>) -> tensor<3x2xi8>
    %c4 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xi8>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<3x2xi8>, tensor<3x2xi8>) -> ()
    %r5 = "stablehlo.reduce_window"(%c1, %c2) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.add %a, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<i8>) -> tensor<3x4xi8>
    %c6 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %r7 = "stablehlo.reduce_window"(%c1, %c2) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.add %a, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<i8>) -> tensor<3x4xi8>
    %c8 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %r9 = "stablehlo.reduce_window"(%c1, %c2) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.maximum %a, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<i8>) -> tensor<3x4xi8>
    %c10 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c11 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xi8>
    %r12 = "stablehlo.reduce_window"(%c11, %c2) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %p = stablehlo.multiply %a, %b : tensor<i8>
        %q = stablehlo.add %a, %b : tensor<i8>
        %s = stablehlo.add %p, %q : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<i8>) -> tensor<2x2xi8>
    %c13 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r12, %c13) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
    %c14 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi16>
    %c15 = stablehlo.constant dense<0> : tensor<i16>
    %r16 = "stablehlo.reduce_window"(%c14, %c15) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.add %a, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<i16>) -> tensor<3x2xi16>
    %c17 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xi16>
    stablehlo.custom_call @check.expect_eq(%r16, %c17) {has_side_effect = true} : (tensor<3x2xi16>, tensor<3x2xi16>) -> ()
    %r18 = "stablehlo.reduce_window"(%c14, %c15) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.add %a, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<i16>) -> tensor<3x4xi16>
    %c19 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r18, %c19) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %r20 = "stablehlo.reduce_window"(%c14, %c15) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.add %a, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<i16>) -> tensor<3x4xi16>
    %c21 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %r22 = "stablehlo.reduce_window"(%c14, %c15) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.maximum %a, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<i16>) -> tensor<3x4xi16>
    %c23 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r22, %c23) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c24 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xi16>
    %r25 = "stablehlo.reduce_window"(%c24, %c15) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %p = stablehlo.multiply %a, %b : tensor<i16>
        %q = stablehlo.add %a, %b : tensor<i16>
        %s = stablehlo.add %p, %q : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<i16>) -> tensor<2x2xi16>
    %c26 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r25, %c26) {has_side_effect = true} : (tensor<2x2xi16>, tensor<2x2xi16>) -> ()
    %c27 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
    %c28 = stablehlo.constant dense<0> : tensor<i32>
    %r29 = "stablehlo.reduce_window"(%c27, %c28) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x2xi32>
    %c30 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    %r31 = "stablehlo.reduce_window"(%c27, %c28) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>
    %c32 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %r33 = "stablehlo.reduce_window"(%c27, %c28) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>
    %c34 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r33, %c34) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %r35 = "stablehlo.reduce_window"(%c27, %c28) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.maximum %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>
    %c36 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c37 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xi32>
    %r38 = "stablehlo.reduce_window"(%c37, %c28) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %p = stablehlo.multiply %a, %b : tensor<i32>
        %q = stablehlo.add %a, %b : tensor<i32>
        %s = stablehlo.add %p, %q : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<i32>) -> tensor<2x2xi32>
    %c39 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r38, %c39) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c40 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi64>
    %c41 = stablehlo.constant dense<0> : tensor<i64>
    %r42 = "stablehlo.reduce_window"(%c40, %c41) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x2xi64>
    %c43 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xi64>
    stablehlo.custom_call @check.expect_eq(%r42, %c43) {has_side_effect = true} : (tensor<3x2xi64>, tensor<3x2xi64>) -> ()
    %r44 = "stablehlo.reduce_window"(%c40, %c41) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
    %c45 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r44, %c45) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %r46 = "stablehlo.reduce_window"(%c40, %c41) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
    %c47 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r46, %c47) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %r48 = "stablehlo.reduce_window"(%c40, %c41) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.maximum %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
    %c49 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r48, %c49) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c50 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xi64>
    %r51 = "stablehlo.reduce_window"(%c50, %c41) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %p = stablehlo.multiply %a, %b : tensor<i64>
        %q = stablehlo.add %a, %b : tensor<i64>
        %s = stablehlo.add %p, %q : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<i64>) -> tensor<2x2xi64>
    %c52 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r51, %c52) {has_side_effect = true} : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
    %c53 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui8>
    %c54 = stablehlo.constant dense<0> : tensor<ui8>
    %r55 = "stablehlo.reduce_window"(%c53, %c54) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.add %a, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<ui8>) -> tensor<3x2xui8>
    %c56 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xui8>
    stablehlo.custom_call @check.expect_eq(%r55, %c56) {has_side_effect = true} : (tensor<3x2xui8>, tensor<3x2xui8>) -> ()
    %r57 = "stablehlo.reduce_window"(%c53, %c54) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.add %a, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<ui8>) -> tensor<3x4xui8>
    %c58 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r57, %c58) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %r59 = "stablehlo.reduce_window"(%c53, %c54) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.add %a, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<ui8>) -> tensor<3x4xui8>
    %c60 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %r61 = "stablehlo.reduce_window"(%c53, %c54) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.maximum %a, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<ui8>) -> tensor<3x4xui8>
    %c62 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r61, %c62) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c63 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xui8>
    %r64 = "stablehlo.reduce_window"(%c63, %c54) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %p = stablehlo.multiply %a, %b : tensor<ui8>
        %q = stablehlo.add %a, %b : tensor<ui8>
        %s = stablehlo.add %p, %q : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<ui8>) -> tensor<2x2xui8>
    %c65 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r64, %c65) {has_side_effect = true} : (tensor<2x2xui8>, tensor<2x2xui8>) -> ()
    %c66 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui16>
    %c67 = stablehlo.constant dense<0> : tensor<ui16>
    %r68 = "stablehlo.reduce_window"(%c66, %c67) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.add %a, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<ui16>) -> tensor<3x2xui16>
    %c69 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xui16>
    stablehlo.custom_call @check.expect_eq(%r68, %c69) {has_side_effect = true} : (tensor<3x2xui16>, tensor<3x2xui16>) -> ()
    %r70 = "stablehlo.reduce_window"(%c66, %c67) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.add %a, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<ui16>) -> tensor<3x4xui16>
    %c71 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r70, %c71) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %r72 = "stablehlo.reduce_window"(%c66, %c67) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.add %a, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<ui16>) -> tensor<3x4xui16>
    %c73 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r72, %c73) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %r74 = "stablehlo.reduce_window"(%c66, %c67) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.maximum %a, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<ui16>) -> tensor<3x4xui16>
    %c75 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r74, %c75) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c76 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xui16>
    %r77 = "stablehlo.reduce_window"(%c76, %c67) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %p = stablehlo.multiply %a, %b : tensor<ui16>
        %q = stablehlo.add %a, %b : tensor<ui16>
        %s = stablehlo.add %p, %q : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<ui16>) -> tensor<2x2xui16>
    %c78 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r77, %c78) {has_side_effect = true} : (tensor<2x2xui16>, tensor<2x2xui16>) -> ()
    %c79 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui32>
    %c80 = stablehlo.constant dense<0> : tensor<ui32>
    %r81 = "stablehlo.reduce_window"(%c79, %c80) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.add %a, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<ui32>) -> tensor<3x2xui32>
    %c82 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xui32>
    stablehlo.custom_call @check.expect_eq(%r81, %c82) {has_side_effect = true} : (tensor<3x2xui32>, tensor<3x2xui32>) -> ()
    %r83 = "stablehlo.reduce_window"(%c79, %c80) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.add %a, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<ui32>) -> tensor<3x4xui32>
    %c84 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r83, %c84) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %r85 = "stablehlo.reduce_window"(%c79, %c80) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.add %a, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<ui32>) -> tensor<3x4xui32>
    %c86 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r85, %c86) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %r87 = "stablehlo.reduce_window"(%c79, %c80) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.maximum %a, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<ui32>) -> tensor<3x4xui32>
    %c88 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r87, %c88) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c89 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xui32>
    %r90 = "stablehlo.reduce_window"(%c89, %c80) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %p = stablehlo.multiply %a, %b : tensor<ui32>
        %q = stablehlo.add %a, %b : tensor<ui32>
        %s = stablehlo.add %p, %q : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<ui32>) -> tensor<2x2xui32>
    %c91 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r90, %c91) {has_side_effect = true} : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
    %c92 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui64>
    %c93 = stablehlo.constant dense<0> : tensor<ui64>
    %r94 = "stablehlo.reduce_window"(%c92, %c93) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.add %a, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<ui64>) -> tensor<3x2xui64>
    %c95 = stablehlo.constant dense<[[3, 7], [14, 22], [30, 38]]> : tensor<3x2xui64>
    stablehlo.custom_call @check.expect_eq(%r94, %c95) {has_side_effect = true} : (tensor<3x2xui64>, tensor<3x2xui64>) -> ()
    %r96 = "stablehlo.reduce_window"(%c92, %c93) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.add %a, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<ui64>) -> tensor<3x4xui64>
    %c97 = stablehlo.constant dense<[[1, 3, 6, 10], [5, 11, 18, 26], [9, 19, 30, 42]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r96, %c97) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %r98 = "stablehlo.reduce_window"(%c92, %c93) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.add %a, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<ui64>) -> tensor<3x4xui64>
    %c99 = stablehlo.constant dense<[[15, 18, 21, 24], [14, 16, 18, 20], [9, 10, 11, 12]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r98, %c99) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %r100 = "stablehlo.reduce_window"(%c92, %c93) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.maximum %a, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<ui64>) -> tensor<3x4xui64>
    %c101 = stablehlo.constant dense<[[5, 6, 7, 8], [0, 0, 0, 0], [9, 10, 11, 12]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r100, %c101) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c102 = stablehlo.constant dense<[[1, 2, 1, 2], [0, 1, 2, 0], [1, 0, 1, 1]]> : tensor<3x4xui64>
    %r103 = "stablehlo.reduce_window"(%c102, %c93) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %p = stablehlo.multiply %a, %b : tensor<ui64>
        %q = stablehlo.add %a, %b : tensor<ui64>
        %s = stablehlo.add %p, %q : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<ui64>) -> tensor<2x2xui64>
    %c104 = stablehlo.constant dense<[[71, 107], [23, 23]]> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r103, %c104) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %c105 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    %c106 = stablehlo.constant dense<0.0> : tensor<f16>
    %r107 = "stablehlo.reduce_window"(%c105, %c106) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.add %a, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<f16>) -> tensor<3x2xf16>
    %c108 = stablehlo.constant dense<[[3.0, 7.0], [14.0, 22.0], [30.0, 38.0]]> : tensor<3x2xf16>
    stablehlo.custom_call @check.expect_close(%r107, %c108) {has_side_effect = true} : (tensor<3x2xf16>, tensor<3x2xf16>) -> ()
    %r109 = "stablehlo.reduce_window"(%c105, %c106) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.add %a, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<f16>) -> tensor<3x4xf16>
    %c110 = stablehlo.constant dense<[[1.0, 3.0, 6.0, 10.0], [5.0, 11.0, 18.0, 26.0], [9.0, 19.0, 30.0, 42.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_close(%r109, %c110) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %r111 = "stablehlo.reduce_window"(%c105, %c106) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.add %a, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<f16>) -> tensor<3x4xf16>
    %c112 = stablehlo.constant dense<[[15.0, 18.0, 21.0, 24.0], [14.0, 16.0, 18.0, 20.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_close(%r111, %c112) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %r113 = "stablehlo.reduce_window"(%c105, %c106) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.maximum %a, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<f16>) -> tensor<3x4xf16>
    %c114 = stablehlo.constant dense<[[5.0, 6.0, 7.0, 8.0], [0.0, 0.0, 0.0, 0.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_close(%r113, %c114) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c115 = stablehlo.constant dense<[[1.0, 2.0, 1.0, 2.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 1.0]]> : tensor<3x4xf16>
    %r116 = "stablehlo.reduce_window"(%c115, %c106) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %p = stablehlo.multiply %a, %b : tensor<f16>
        %q = stablehlo.add %a, %b : tensor<f16>
        %s = stablehlo.add %p, %q : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<f16>) -> tensor<2x2xf16>
    %c117 = stablehlo.constant dense<[[71.0, 107.0], [23.0, 23.0]]> : tensor<2x2xf16>
    stablehlo.custom_call @check.expect_close(%r116, %c117) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
    %c118 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    %c119 = stablehlo.constant dense<0.0> : tensor<bf16>
    %r120 = "stablehlo.reduce_window"(%c118, %c119) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.add %a, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<3x2xbf16>
    %c121 = stablehlo.constant dense<[[3.0, 7.0], [14.0, 22.0], [30.0, 38.0]]> : tensor<3x2xbf16>
    stablehlo.custom_call @check.expect_close(%r120, %c121) {has_side_effect = true} : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> ()
    %r122 = "stablehlo.reduce_window"(%c118, %c119) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.add %a, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<3x4xbf16>
    %c123 = stablehlo.constant dense<[[1.0, 3.0, 6.0, 10.0], [5.0, 11.0, 18.0, 26.0], [9.0, 19.0, 30.0, 42.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_close(%r122, %c123) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %r124 = "stablehlo.reduce_window"(%c118, %c119) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.add %a, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<3x4xbf16>
    %c125 = stablehlo.constant dense<[[15.0, 18.0, 21.0, 24.0], [14.0, 16.0, 18.0, 20.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_close(%r124, %c125) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %r126 = "stablehlo.reduce_window"(%c118, %c119) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.maximum %a, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<3x4xbf16>
    %c127 = stablehlo.constant dense<[[5.0, 6.0, 7.0, 8.0], [0.0, 0.0, 0.0, 0.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_close(%r126, %c127) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c128 = stablehlo.constant dense<[[1.0, 2.0, 1.0, 2.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 1.0]]> : tensor<3x4xbf16>
    %r129 = "stablehlo.reduce_window"(%c128, %c119) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %p = stablehlo.multiply %a, %b : tensor<bf16>
        %q = stablehlo.add %a, %b : tensor<bf16>
        %s = stablehlo.add %p, %q : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<2x2xbf16>
    %c130 = stablehlo.constant dense<[[71.0, 107.0], [23.0, 23.0]]> : tensor<2x2xbf16>
    stablehlo.custom_call @check.expect_close(%r129, %c130) {has_side_effect = true} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> ()
    %c131 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    %c132 = stablehlo.constant dense<0.0> : tensor<f32>
    %r133 = "stablehlo.reduce_window"(%c131, %c132) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x2xf32>
    %c134 = stablehlo.constant dense<[[3.0, 7.0], [14.0, 22.0], [30.0, 38.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_close(%r133, %c134) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %r135 = "stablehlo.reduce_window"(%c131, %c132) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %c136 = stablehlo.constant dense<[[1.0, 3.0, 6.0, 10.0], [5.0, 11.0, 18.0, 26.0], [9.0, 19.0, 30.0, 42.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_close(%r135, %c136) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %r137 = "stablehlo.reduce_window"(%c131, %c132) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %c138 = stablehlo.constant dense<[[15.0, 18.0, 21.0, 24.0], [14.0, 16.0, 18.0, 20.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_close(%r137, %c138) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %r139 = "stablehlo.reduce_window"(%c131, %c132) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %c140 = stablehlo.constant dense<[[5.0, 6.0, 7.0, 8.0], [0.0, 0.0, 0.0, 0.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_close(%r139, %c140) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c141 = stablehlo.constant dense<[[1.0, 2.0, 1.0, 2.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 1.0]]> : tensor<3x4xf32>
    %r142 = "stablehlo.reduce_window"(%c141, %c132) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %p = stablehlo.multiply %a, %b : tensor<f32>
        %q = stablehlo.add %a, %b : tensor<f32>
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<2x2xf32>
    %c143 = stablehlo.constant dense<[[71.0, 107.0], [23.0, 23.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_close(%r142, %c143) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %c144 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    %c145 = stablehlo.constant dense<0.0> : tensor<f64>
    %r146 = "stablehlo.reduce_window"(%c144, %c145) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<f64>) -> tensor<3x2xf64>
    %c147 = stablehlo.constant dense<[[3.0, 7.0], [14.0, 22.0], [30.0, 38.0]]> : tensor<3x2xf64>
    stablehlo.custom_call @check.expect_close(%r146, %c147) {has_side_effect = true} : (tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    %r148 = "stablehlo.reduce_window"(%c144, %c145) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<f64>) -> tensor<3x4xf64>
    %c149 = stablehlo.constant dense<[[1.0, 3.0, 6.0, 10.0], [5.0, 11.0, 18.0, 26.0], [9.0, 19.0, 30.0, 42.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_close(%r148, %c149) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %r150 = "stablehlo.reduce_window"(%c144, %c145) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<f64>) -> tensor<3x4xf64>
    %c151 = stablehlo.constant dense<[[15.0, 18.0, 21.0, 24.0], [14.0, 16.0, 18.0, 20.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_close(%r150, %c151) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %r152 = "stablehlo.reduce_window"(%c144, %c145) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.maximum %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<f64>) -> tensor<3x4xf64>
    %c153 = stablehlo.constant dense<[[5.0, 6.0, 7.0, 8.0], [0.0, 0.0, 0.0, 0.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_close(%r152, %c153) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %c154 = stablehlo.constant dense<[[1.0, 2.0, 1.0, 2.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 1.0]]> : tensor<3x4xf64>
    %r155 = "stablehlo.reduce_window"(%c154, %c145) <{window_dimensions = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %p = stablehlo.multiply %a, %b : tensor<f64>
        %q = stablehlo.add %a, %b : tensor<f64>
        %s = stablehlo.add %p, %q : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<f64>) -> tensor<2x2xf64>
    %c156 = stablehlo.constant dense<[[71.0, 107.0], [23.0, 23.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_close(%r155, %c156) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %c157 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    %c158 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
    %r159 = "stablehlo.reduce_window"(%c157, %c158) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %s = stablehlo.add %a, %b : tensor<complex<f32>>
        stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x2xcomplex<f32>>
    %c160 = stablehlo.constant dense<[[(3.0, -3.0), (7.0, -7.0)], [(14.0, -14.0), (22.0, -22.0)], [(30.0, -30.0), (38.0, -38.0)]]> : tensor<3x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r159, %c160) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    %r161 = "stablehlo.reduce_window"(%c157, %c158) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %s = stablehlo.add %a, %b : tensor<complex<f32>>
        stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c162 = stablehlo.constant dense<[[(1.0, -1.0), (3.0, -3.0), (6.0, -6.0), (10.0, -10.0)], [(5.0, -5.0), (11.0, -11.0), (18.0, -18.0), (26.0, -26.0)], [(9.0, -9.0), (19.0, -19.0), (30.0, -30.0), (42.0, -42.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r161, %c162) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %r163 = "stablehlo.reduce_window"(%c157, %c158) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %s = stablehlo.add %a, %b : tensor<complex<f32>>
        stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c164 = stablehlo.constant dense<[[(15.0, -15.0), (18.0, -18.0), (21.0, -21.0), (24.0, -24.0)], [(14.0, -14.0), (16.0, -16.0), (18.0, -18.0), (20.0, -20.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r163, %c164) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %c165 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    %c166 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f64>>
    %r167 = "stablehlo.reduce_window"(%c165, %c166) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        %s = stablehlo.add %a, %b : tensor<complex<f64>>
        stablehlo.return %s : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3x2xcomplex<f64>>
    %c168 = stablehlo.constant dense<[[(3.0, -3.0), (7.0, -7.0)], [(14.0, -14.0), (22.0, -22.0)], [(30.0, -30.0), (38.0, -38.0)]]> : tensor<3x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r167, %c168) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    %r169 = "stablehlo.reduce_window"(%c165, %c166) <{window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        %s = stablehlo.add %a, %b : tensor<complex<f64>>
        stablehlo.return %s : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c170 = stablehlo.constant dense<[[(1.0, -1.0), (3.0, -3.0), (6.0, -6.0), (10.0, -10.0)], [(5.0, -5.0), (11.0, -11.0), (18.0, -18.0), (26.0, -26.0)], [(9.0, -9.0), (19.0, -19.0), (30.0, -30.0), (42.0, -42.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r169, %c170) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    %r171 = "stablehlo.reduce_window"(%c165, %c166) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        %s = stablehlo.add %a, %b : tensor<complex<f64>>
        stablehlo.return %s : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c172 = stablehlo.constant dense<[[(15.0, -15.0), (18.0, -18.0), (21.0, -21.0), (24.0, -24.0)], [(14.0, -14.0), (16.0, -16.0), (18.0, -18.0), (20.0, -20.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r171, %c172) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    return
  }
}
