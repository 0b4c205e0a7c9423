// iota along one axis.
module {
  func.func @main() {
    %r1 = stablehlo.iota dim = 1 : tensor<2x3xi8>
    %c2 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r1, %c2) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    %r3 = stablehlo.iota dim = 1 : tensor<2x3xi16>
    %c4 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<2x3xi16>, tensor<2x3xi16>) -> ()
    %r5 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %c6 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %r7 = stablehlo.iota dim = 1 : tensor<2x3xi64>
    %c8 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    %r9 = stablehlo.iota dim = 1 : tensor<2x3xui8>
    %c10 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<2x3xui8>, tensor<2x3xui8>) -> ()
    %r11 = stablehlo.iota dim = 1 : tensor<2x3xui16>
    %c12 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %r13 = stablehlo.iota dim = 1 : tensor<2x3xui32>
    %c14 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r13, %c14) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    %r15 = stablehlo.iota dim = 1 : tensor<2x3xui64>
    %c16 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<2x3xui64>, tensor<2x3xui64>) -> ()
    %r17 = stablehlo.iota dim = 1 : tensor<2x3xf16>
    %c18 = stablehlo.constant dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<2x3xf16>, tensor<2x3xf16>) -> ()
    %r19 = stablehlo.iota dim = 1 : tensor<2x3xbf16>
    %c20 = stablehlo.constant dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> ()
    %r21 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    %c22 = stablehlo.constant dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r21, %c22) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %r23 = stablehlo.iota dim = 1 : tensor<2x3xf64>
    %c24 = stablehlo.constant dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %r25 = stablehlo.iota dim = 1 : tensor<2x3xcomplex<f32>>
    %c26 = stablehlo.constant dense<[[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r25, %c26) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %r27 = stablehlo.iota dim = 1 : tensor<2x3xcomplex<f64>>
    %c28 = stablehlo.constant dense<[[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return
  }
}
