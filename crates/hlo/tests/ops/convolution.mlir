// convolution: stride and padding, dilations and reversal, feature groups, batch groups.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xi8>
    %c2 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xi8>
    %r3 = stablehlo.convolution(%c1, %c2) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi8>, tensor<1x1x3xi8>) -> tensor<1x1x3xi8>
    %c4 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xi8>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<1x1x3xi8>, tensor<1x1x3xi8>) -> ()
    %r5 = stablehlo.convolution(%c1, %c2) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi8>, tensor<1x1x3xi8>) -> tensor<1x1x5xi8>
    %c6 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xi8>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<1x1x5xi8>, tensor<1x1x5xi8>) -> ()
    %c7 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xi8>
    %c8 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xi8>
    %r9 = stablehlo.convolution(%c7, %c8) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xi8>, tensor<2x1x2xi8>) -> tensor<1x2x3xi8>
    %c10 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> ()
    %c11 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xi8>
    %r12 = stablehlo.convolution(%c11, %c8) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xi8>, tensor<2x1x2xi8>) -> tensor<1x2x3xi8>
    %c13 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r12, %c13) {has_side_effect = true} : (tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> ()
    %c14 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xi16>
    %c15 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xi16>
    %r16 = stablehlo.convolution(%c14, %c15) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi16>, tensor<1x1x3xi16>) -> tensor<1x1x3xi16>
    %c17 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xi16>
    stablehlo.custom_call @check.expect_eq(%r16, %c17) {has_side_effect = true} : (tensor<1x1x3xi16>, tensor<1x1x3xi16>) -> ()
    %r18 = stablehlo.convolution(%c14, %c15) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi16>, tensor<1x1x3xi16>) -> tensor<1x1x5xi16>
    %c19 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xi16>
    stablehlo.custom_call @check.expect_eq(%r18, %c19) {has_side_effect = true} : (tensor<1x1x5xi16>, tensor<1x1x5xi16>) -> ()
    %c20 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xi16>
    %c21 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xi16>
    %r22 = stablehlo.convolution(%c20, %c21) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xi16>, tensor<2x1x2xi16>) -> tensor<1x2x3xi16>
    %c23 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r22, %c23) {has_side_effect = true} : (tensor<1x2x3xi16>, tensor<1x2x3xi16>) -> ()
    %c24 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xi16>
    %r25 = stablehlo.convolution(%c24, %c21) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xi16>, tensor<2x1x2xi16>) -> tensor<1x2x3xi16>
    %c26 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r25, %c26) {has_side_effect = true} : (tensor<1x2x3xi16>, tensor<1x2x3xi16>) -> ()
    %c27 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xi32>
    %c28 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xi32>
    %r29 = stablehlo.convolution(%c27, %c28) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi32>, tensor<1x1x3xi32>) -> tensor<1x1x3xi32>
    %c30 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xi32>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<1x1x3xi32>, tensor<1x1x3xi32>) -> ()
    %r31 = stablehlo.convolution(%c27, %c28) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi32>, tensor<1x1x3xi32>) -> tensor<1x1x5xi32>
    %c32 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xi32>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<1x1x5xi32>, tensor<1x1x5xi32>) -> ()
    %c33 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xi32>
    %c34 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xi32>
    %r35 = stablehlo.convolution(%c33, %c34) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xi32>, tensor<2x1x2xi32>) -> tensor<1x2x3xi32>
    %c36 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<1x2x3xi32>, tensor<1x2x3xi32>) -> ()
    %c37 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xi32>
    %r38 = stablehlo.convolution(%c37, %c34) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xi32>, tensor<2x1x2xi32>) -> tensor<1x2x3xi32>
    %c39 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r38, %c39) {has_side_effect = true} : (tensor<1x2x3xi32>, tensor<1x2x3xi32>) -> ()
    %c40 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xi64>
    %c41 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xi64>
    %r42 = stablehlo.convolution(%c40, %c41) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi64>, tensor<1x1x3xi64>) -> tensor<1x1x3xi64>
    %c43 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xi64>
    stablehlo.custom_call @check.expect_eq(%r42, %c43) {has_side_effect = true} : (tensor<1x1x3xi64>, tensor<1x1x3xi64>) -> ()
    %r44 = stablehlo.convolution(%c40, %c41) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xi64>, tensor<1x1x3xi64>) -> tensor<1x1x5xi64>
    %c45 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xi64>
    stablehlo.custom_call @check.expect_eq(%r44, %c45) {has_side_effect = true} : (tensor<1x1x5xi64>, tensor<1x1x5xi64>) -> ()
    %c46 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xi64>
    %c47 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xi64>
    %r48 = stablehlo.convolution(%c46, %c47) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xi64>, tensor<2x1x2xi64>) -> tensor<1x2x3xi64>
    %c49 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r48, %c49) {has_side_effect = true} : (tensor<1x2x3xi64>, tensor<1x2x3xi64>) -> ()
    %c50 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xi64>
    %r51 = stablehlo.convolution(%c50, %c47) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xi64>, tensor<2x1x2xi64>) -> tensor<1x2x3xi64>
    %c52 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r51, %c52) {has_side_effect = true} : (tensor<1x2x3xi64>, tensor<1x2x3xi64>) -> ()
    %c53 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xui8>
    %c54 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xui8>
    %r55 = stablehlo.convolution(%c53, %c54) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui8>, tensor<1x1x3xui8>) -> tensor<1x1x3xui8>
    %c56 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xui8>
    stablehlo.custom_call @check.expect_eq(%r55, %c56) {has_side_effect = true} : (tensor<1x1x3xui8>, tensor<1x1x3xui8>) -> ()
    %r57 = stablehlo.convolution(%c53, %c54) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui8>, tensor<1x1x3xui8>) -> tensor<1x1x5xui8>
    %c58 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xui8>
    stablehlo.custom_call @check.expect_eq(%r57, %c58) {has_side_effect = true} : (tensor<1x1x5xui8>, tensor<1x1x5xui8>) -> ()
    %c59 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xui8>
    %c60 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xui8>
    %r61 = stablehlo.convolution(%c59, %c60) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xui8>, tensor<2x1x2xui8>) -> tensor<1x2x3xui8>
    %c62 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r61, %c62) {has_side_effect = true} : (tensor<1x2x3xui8>, tensor<1x2x3xui8>) -> ()
    %c63 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xui8>
    %r64 = stablehlo.convolution(%c63, %c60) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xui8>, tensor<2x1x2xui8>) -> tensor<1x2x3xui8>
    %c65 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r64, %c65) {has_side_effect = true} : (tensor<1x2x3xui8>, tensor<1x2x3xui8>) -> ()
    %c66 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xui16>
    %c67 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xui16>
    %r68 = stablehlo.convolution(%c66, %c67) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui16>, tensor<1x1x3xui16>) -> tensor<1x1x3xui16>
    %c69 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xui16>
    stablehlo.custom_call @check.expect_eq(%r68, %c69) {has_side_effect = true} : (tensor<1x1x3xui16>, tensor<1x1x3xui16>) -> ()
    %r70 = stablehlo.convolution(%c66, %c67) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui16>, tensor<1x1x3xui16>) -> tensor<1x1x5xui16>
    %c71 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xui16>
    stablehlo.custom_call @check.expect_eq(%r70, %c71) {has_side_effect = true} : (tensor<1x1x5xui16>, tensor<1x1x5xui16>) -> ()
    %c72 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xui16>
    %c73 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xui16>
    %r74 = stablehlo.convolution(%c72, %c73) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xui16>, tensor<2x1x2xui16>) -> tensor<1x2x3xui16>
    %c75 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r74, %c75) {has_side_effect = true} : (tensor<1x2x3xui16>, tensor<1x2x3xui16>) -> ()
    %c76 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xui16>
    %r77 = stablehlo.convolution(%c76, %c73) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xui16>, tensor<2x1x2xui16>) -> tensor<1x2x3xui16>
    %c78 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r77, %c78) {has_side_effect = true} : (tensor<1x2x3xui16>, tensor<1x2x3xui16>) -> ()
    %c79 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xui32>
    %c80 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xui32>
    %r81 = stablehlo.convolution(%c79, %c80) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui32>, tensor<1x1x3xui32>) -> tensor<1x1x3xui32>
    %c82 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xui32>
    stablehlo.custom_call @check.expect_eq(%r81, %c82) {has_side_effect = true} : (tensor<1x1x3xui32>, tensor<1x1x3xui32>) -> ()
    %r83 = stablehlo.convolution(%c79, %c80) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui32>, tensor<1x1x3xui32>) -> tensor<1x1x5xui32>
    %c84 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xui32>
    stablehlo.custom_call @check.expect_eq(%r83, %c84) {has_side_effect = true} : (tensor<1x1x5xui32>, tensor<1x1x5xui32>) -> ()
    %c85 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xui32>
    %c86 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xui32>
    %r87 = stablehlo.convolution(%c85, %c86) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xui32>, tensor<2x1x2xui32>) -> tensor<1x2x3xui32>
    %c88 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r87, %c88) {has_side_effect = true} : (tensor<1x2x3xui32>, tensor<1x2x3xui32>) -> ()
    %c89 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xui32>
    %r90 = stablehlo.convolution(%c89, %c86) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xui32>, tensor<2x1x2xui32>) -> tensor<1x2x3xui32>
    %c91 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r90, %c91) {has_side_effect = true} : (tensor<1x2x3xui32>, tensor<1x2x3xui32>) -> ()
    %c92 = stablehlo.constant dense<[[[1, 2, 3, 4, 5]]]> : tensor<1x1x5xui64>
    %c93 = stablehlo.constant dense<[[[1, 0, 2]]]> : tensor<1x1x3xui64>
    %r94 = stablehlo.convolution(%c92, %c93) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui64>, tensor<1x1x3xui64>) -> tensor<1x1x3xui64>
    %c95 = stablehlo.constant dense<[[[4, 10, 4]]]> : tensor<1x1x3xui64>
    stablehlo.custom_call @check.expect_eq(%r94, %c95) {has_side_effect = true} : (tensor<1x1x3xui64>, tensor<1x1x3xui64>) -> ()
    %r96 = stablehlo.convolution(%c92, %c93) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xui64>, tensor<1x1x3xui64>) -> tensor<1x1x5xui64>
    %c97 = stablehlo.constant dense<[[[5, 0, 8, 0, 11]]]> : tensor<1x1x5xui64>
    stablehlo.custom_call @check.expect_eq(%r96, %c97) {has_side_effect = true} : (tensor<1x1x5xui64>, tensor<1x1x5xui64>) -> ()
    %c98 = stablehlo.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8]]]> : tensor<1x2x4xui64>
    %c99 = stablehlo.constant dense<[[[1, 1]], [[2, 0]]]> : tensor<2x1x2xui64>
    %r100 = stablehlo.convolution(%c98, %c99) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xui64>, tensor<2x1x2xui64>) -> tensor<1x2x3xui64>
    %c101 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r100, %c101) {has_side_effect = true} : (tensor<1x2x3xui64>, tensor<1x2x3xui64>) -> ()
    %c102 = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xui64>
    %r103 = stablehlo.convolution(%c102, %c99) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xui64>, tensor<2x1x2xui64>) -> tensor<1x2x3xui64>
    %c104 = stablehlo.constant dense<[[[3, 5, 7], [10, 12, 14]]]> : tensor<1x2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r103, %c104) {has_side_effect = true} : (tensor<1x2x3xui64>, tensor<1x2x3xui64>) -> ()
    %c105 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xf16>
    %c106 = stablehlo.constant dense<[[[1.0, 0.0, 2.0]]]> : tensor<1x1x3xf16>
    %r107 = stablehlo.convolution(%c105, %c106) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xf16>, tensor<1x1x3xf16>) -> tensor<1x1x3xf16>
    %c108 = stablehlo.constant dense<[[[4.0, 10.0, 4.0]]]> : tensor<1x1x3xf16>
    stablehlo.custom_call @check.expect_eq(%r107, %c108) {has_side_effect = true} : (tensor<1x1x3xf16>, tensor<1x1x3xf16>) -> ()
    %r109 = stablehlo.convolution(%c105, %c106) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xf16>, tensor<1x1x3xf16>) -> tensor<1x1x5xf16>
    %c110 = stablehlo.constant dense<[[[5.0, 0.0, 8.0, 0.0, 11.0]]]> : tensor<1x1x5xf16>
    stablehlo.custom_call @check.expect_eq(%r109, %c110) {has_side_effect = true} : (tensor<1x1x5xf16>, tensor<1x1x5xf16>) -> ()
    %c111 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf16>
    %c112 = stablehlo.constant dense<[[[1.0, 1.0]], [[2.0, 0.0]]]> : tensor<2x1x2xf16>
    %r113 = stablehlo.convolution(%c111, %c112) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xf16>, tensor<2x1x2xf16>) -> tensor<1x2x3xf16>
    %c114 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r113, %c114) {has_side_effect = true} : (tensor<1x2x3xf16>, tensor<1x2x3xf16>) -> ()
    %c115 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]> : tensor<2x1x4xf16>
    %r116 = stablehlo.convolution(%c115, %c112) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xf16>, tensor<2x1x2xf16>) -> tensor<1x2x3xf16>
    %c117 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r116, %c117) {has_side_effect = true} : (tensor<1x2x3xf16>, tensor<1x2x3xf16>) -> ()
    %c118 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xbf16>
    %c119 = stablehlo.constant dense<[[[1.0, 0.0, 2.0]]]> : tensor<1x1x3xbf16>
    %r120 = stablehlo.convolution(%c118, %c119) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xbf16>, tensor<1x1x3xbf16>) -> tensor<1x1x3xbf16>
    %c121 = stablehlo.constant dense<[[[4.0, 10.0, 4.0]]]> : tensor<1x1x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r120, %c121) {has_side_effect = true} : (tensor<1x1x3xbf16>, tensor<1x1x3xbf16>) -> ()
    %r122 = stablehlo.convolution(%c118, %c119) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xbf16>, tensor<1x1x3xbf16>) -> tensor<1x1x5xbf16>
    %c123 = stablehlo.constant dense<[[[5.0, 0.0, 8.0, 0.0, 11.0]]]> : tensor<1x1x5xbf16>
    stablehlo.custom_call @check.expect_eq(%r122, %c123) {has_side_effect = true} : (tensor<1x1x5xbf16>, tensor<1x1x5xbf16>) -> ()
    %c124 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xbf16>
    %c125 = stablehlo.constant dense<[[[1.0, 1.0]], [[2.0, 0.0]]]> : tensor<2x1x2xbf16>
    %r126 = stablehlo.convolution(%c124, %c125) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xbf16>, tensor<2x1x2xbf16>) -> tensor<1x2x3xbf16>
    %c127 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r126, %c127) {has_side_effect = true} : (tensor<1x2x3xbf16>, tensor<1x2x3xbf16>) -> ()
    %c128 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]> : tensor<2x1x4xbf16>
    %r129 = stablehlo.convolution(%c128, %c125) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xbf16>, tensor<2x1x2xbf16>) -> tensor<1x2x3xbf16>
    %c130 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r129, %c130) {has_side_effect = true} : (tensor<1x2x3xbf16>, tensor<1x2x3xbf16>) -> ()
    %c131 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xf32>
    %c132 = stablehlo.constant dense<[[[1.0, 0.0, 2.0]]]> : tensor<1x1x3xf32>
    %r133 = stablehlo.convolution(%c131, %c132) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
    %c134 = stablehlo.constant dense<[[[4.0, 10.0, 4.0]]]> : tensor<1x1x3xf32>
    stablehlo.custom_call @check.expect_eq(%r133, %c134) {has_side_effect = true} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> ()
    %r135 = stablehlo.convolution(%c131, %c132) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x5xf32>
    %c136 = stablehlo.constant dense<[[[5.0, 0.0, 8.0, 0.0, 11.0]]]> : tensor<1x1x5xf32>
    stablehlo.custom_call @check.expect_eq(%r135, %c136) {has_side_effect = true} : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> ()
    %c137 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf32>
    %c138 = stablehlo.constant dense<[[[1.0, 1.0]], [[2.0, 0.0]]]> : tensor<2x1x2xf32>
    %r139 = stablehlo.convolution(%c137, %c138) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x1x2xf32>) -> tensor<1x2x3xf32>
    %c140 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r139, %c140) {has_side_effect = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> ()
    %c141 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]> : tensor<2x1x4xf32>
    %r142 = stablehlo.convolution(%c141, %c138) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xf32>, tensor<2x1x2xf32>) -> tensor<1x2x3xf32>
    %c143 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r142, %c143) {has_side_effect = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> ()
    %c144 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xf64>
    %c145 = stablehlo.constant dense<[[[1.0, 0.0, 2.0]]]> : tensor<1x1x3xf64>
    %r146 = stablehlo.convolution(%c144, %c145) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xf64>, tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
    %c147 = stablehlo.constant dense<[[[4.0, 10.0, 4.0]]]> : tensor<1x1x3xf64>
    stablehlo.custom_call @check.expect_eq(%r146, %c147) {has_side_effect = true} : (tensor<1x1x3xf64>, tensor<1x1x3xf64>) -> ()
    %r148 = stablehlo.convolution(%c144, %c145) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xf64>, tensor<1x1x3xf64>) -> tensor<1x1x5xf64>
    %c149 = stablehlo.constant dense<[[[5.0, 0.0, 8.0, 0.0, 11.0]]]> : tensor<1x1x5xf64>
    stablehlo.custom_call @check.expect_eq(%r148, %c149) {has_side_effect = true} : (tensor<1x1x5xf64>, tensor<1x1x5xf64>) -> ()
    %c150 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf64>
    %c151 = stablehlo.constant dense<[[[1.0, 1.0]], [[2.0, 0.0]]]> : tensor<2x1x2xf64>
    %r152 = stablehlo.convolution(%c150, %c151) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xf64>, tensor<2x1x2xf64>) -> tensor<1x2x3xf64>
    %c153 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r152, %c153) {has_side_effect = true} : (tensor<1x2x3xf64>, tensor<1x2x3xf64>) -> ()
    %c154 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]> : tensor<2x1x4xf64>
    %r155 = stablehlo.convolution(%c154, %c151) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xf64>, tensor<2x1x2xf64>) -> tensor<1x2x3xf64>
    %c156 = stablehlo.constant dense<[[[3.0, 5.0, 7.0], [10.0, 12.0, 14.0]]]> : tensor<1x2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r155, %c156) {has_side_effect = true} : (tensor<1x2x3xf64>, tensor<1x2x3xf64>) -> ()
    %c157 = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0)]]]> : tensor<1x1x5xcomplex<f32>>
    %c158 = stablehlo.constant dense<[[[(1.0, 0.0), (0.0, 0.0), (2.0, 0.0)]]]> : tensor<1x1x3xcomplex<f32>>
    %r159 = stablehlo.convolution(%c157, %c158) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xcomplex<f32>>, tensor<1x1x3xcomplex<f32>>) -> tensor<1x1x3xcomplex<f32>>
    %c160 = stablehlo.constant dense<[[[(4.0, 0.0), (10.0, 0.0), (4.0, 0.0)]]]> : tensor<1x1x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r159, %c160) {has_side_effect = true} : (tensor<1x1x3xcomplex<f32>>, tensor<1x1x3xcomplex<f32>>) -> ()
    %r161 = stablehlo.convolution(%c157, %c158) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xcomplex<f32>>, tensor<1x1x3xcomplex<f32>>) -> tensor<1x1x5xcomplex<f32>>
    %c162 = stablehlo.constant dense<[[[(5.0, 0.0), (0.0, 0.0), (8.0, 0.0), (0.0, 0.0), (11.0, 0.0)]]]> : tensor<1x1x5xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r161, %c162) {has_side_effect = true} : (tensor<1x1x5xcomplex<f32>>, tensor<1x1x5xcomplex<f32>>) -> ()
    %c163 = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)], [(5.0, 0.0), (6.0, 0.0), (7.0, 0.0), (8.0, 0.0)]]]> : tensor<1x2x4xcomplex<f32>>
    %c164 = stablehlo.constant dense<[[[(1.0, 0.0), (1.0, 0.0)]], [[(2.0, 0.0), (0.0, 0.0)]]]> : tensor<2x1x2xcomplex<f32>>
    %r165 = stablehlo.convolution(%c163, %c164) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xcomplex<f32>>, tensor<2x1x2xcomplex<f32>>) -> tensor<1x2x3xcomplex<f32>>
    %c166 = stablehlo.constant dense<[[[(3.0, 0.0), (5.0, 0.0), (7.0, 0.0)], [(10.0, 0.0), (12.0, 0.0), (14.0, 0.0)]]]> : tensor<1x2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r165, %c166) {has_side_effect = true} : (tensor<1x2x3xcomplex<f32>>, tensor<1x2x3xcomplex<f32>>) -> ()
    %c167 = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]], [[(5.0, 0.0), (6.0, 0.0), (7.0, 0.0), (8.0, 0.0)]]]> : tensor<2x1x4xcomplex<f32>>
    %r168 = stablehlo.convolution(%c167, %c164) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xcomplex<f32>>, tensor<2x1x2xcomplex<f32>>) -> tensor<1x2x3xcomplex<f32>>
    %c169 = stablehlo.constant dense<[[[(3.0, 0.0), (5.0, 0.0), (7.0, 0.0)], [(10.0, 0.0), (12.0, 0.0), (14.0, 0.0)]]]> : tensor<1x2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r168, %c169) {has_side_effect = true} : (tensor<1x2x3xcomplex<f32>>, tensor<1x2x3xcomplex<f32>>) -> ()
    %c170 = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0)]]]> : tensor<1x1x5xcomplex<f64>>
    %c171 = stablehlo.constant dense<[[[(1.0, 0.0), (0.0, 0.0), (2.0, 0.0)]]]> : tensor<1x1x3xcomplex<f64>>
    %r172 = stablehlo.convolution(%c170, %c171) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xcomplex<f64>>, tensor<1x1x3xcomplex<f64>>) -> tensor<1x1x3xcomplex<f64>>
    %c173 = stablehlo.constant dense<[[[(4.0, 0.0), (10.0, 0.0), (4.0, 0.0)]]]> : tensor<1x1x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r172, %c173) {has_side_effect = true} : (tensor<1x1x3xcomplex<f64>>, tensor<1x1x3xcomplex<f64>>) -> ()
    %r174 = stablehlo.convolution(%c170, %c171) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x5xcomplex<f64>>, tensor<1x1x3xcomplex<f64>>) -> tensor<1x1x5xcomplex<f64>>
    %c175 = stablehlo.constant dense<[[[(5.0, 0.0), (0.0, 0.0), (8.0, 0.0), (0.0, 0.0), (11.0, 0.0)]]]> : tensor<1x1x5xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r174, %c175) {has_side_effect = true} : (tensor<1x1x5xcomplex<f64>>, tensor<1x1x5xcomplex<f64>>) -> ()
    %c176 = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)], [(5.0, 0.0), (6.0, 0.0), (7.0, 0.0), (8.0, 0.0)]]]> : tensor<1x2x4xcomplex<f64>>
    %c177 = stablehlo.constant dense<[[[(1.0, 0.0), (1.0, 0.0)]], [[(2.0, 0.0), (0.0, 0.0)]]]> : tensor<2x1x2xcomplex<f64>>
    %r178 = stablehlo.convolution(%c176, %c177) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xcomplex<f64>>, tensor<2x1x2xcomplex<f64>>) -> tensor<1x2x3xcomplex<f64>>
    %c179 = stablehlo.constant dense<[[[(3.0, 0.0), (5.0, 0.0), (7.0, 0.0)], [(10.0, 0.0), (12.0, 0.0), (14.0, 0.0)]]]> : tensor<1x2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r178, %c179) {has_side_effect = true} : (tensor<1x2x3xcomplex<f64>>, tensor<1x2x3xcomplex<f64>>) -> ()
    %c180 = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]], [[(5.0, 0.0), (6.0, 0.0), (7.0, 0.0), (8.0, 0.0)]]]> : tensor<2x1x4xcomplex<f64>>
    %r181 = stablehlo.convolution(%c180, %c177) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xcomplex<f64>>, tensor<2x1x2xcomplex<f64>>) -> tensor<1x2x3xcomplex<f64>>
    %c182 = stablehlo.constant dense<[[[(3.0, 0.0), (5.0, 0.0), (7.0, 0.0)], [(10.0, 0.0), (12.0, 0.0), (14.0, 0.0)]]]> : tensor<1x2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r181, %c182) {has_side_effect = true} : (tensor<1x2x3xcomplex<f64>>, tensor<1x2x3xcomplex<f64>>) -> ()
    return
  }
}
