// concatenate along an axis.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true], [true]]> : tensor<2x1xi1>
    %c2 = stablehlo.constant dense<[[false, false], [false, true]]> : tensor<2x2xi1>
    %r3 = stablehlo.concatenate %c1, %c2, dim = 1 : (tensor<2x1xi1>, tensor<2x2xi1>) -> tensor<2x3xi1>
    %c4 = stablehlo.constant dense<[[true, false, false], [true, false, true]]> : tensor<2x3xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    %c5 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi8>
    %c6 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi8>
    %r7 = stablehlo.concatenate %c5, %c6, dim = 1 : (tensor<2x1xi8>, tensor<2x2xi8>) -> tensor<2x3xi8>
    %c8 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    %c9 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi16>
    %c10 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi16>
    %r11 = stablehlo.concatenate %c9, %c10, dim = 1 : (tensor<2x1xi16>, tensor<2x2xi16>) -> tensor<2x3xi16>
    %c12 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<2x3xi16>, tensor<2x3xi16>) -> ()
    %c13 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
    %c14 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>
    %r15 = stablehlo.concatenate %c13, %c14, dim = 1 : (tensor<2x1xi32>, tensor<2x2xi32>) -> tensor<2x3xi32>
    %c16 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %c17 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %c18 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi64>
    %r19 = stablehlo.concatenate %c17, %c18, dim = 1 : (tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<2x3xi64>
    %c20 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    %c21 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui8>
    %c22 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui8>
    %r23 = stablehlo.concatenate %c21, %c22, dim = 1 : (tensor<2x1xui8>, tensor<2x2xui8>) -> tensor<2x3xui8>
    %c24 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<2x3xui8>, tensor<2x3xui8>) -> ()
    %c25 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui16>
    %c26 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui16>
    %r27 = stablehlo.concatenate %c25, %c26, dim = 1 : (tensor<2x1xui16>, tensor<2x2xui16>) -> tensor<2x3xui16>
    %c28 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %c29 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui32>
    %c30 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui32>
    %r31 = stablehlo.concatenate %c29, %c30, dim = 1 : (tensor<2x1xui32>, tensor<2x2xui32>) -> tensor<2x3xui32>
    %c32 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    %c33 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui64>
    %c34 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui64>
    %r35 = stablehlo.concatenate %c33, %c34, dim = 1 : (tensor<2x1xui64>, tensor<2x2xui64>) -> tensor<2x3xui64>
    %c36 = stablehlo.constant dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<2x3xui64>, tensor<2x3xui64>) -> ()
    %c37 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf16>
    %c38 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf16>
    %r39 = stablehlo.concatenate %c37, %c38, dim = 1 : (tensor<2x1xf16>, tensor<2x2xf16>) -> tensor<2x3xf16>
    %c40 = stablehlo.constant dense<[[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]]> : tensor<2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<2x3xf16>, tensor<2x3xf16>) -> ()
    %c41 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xbf16>
    %c42 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xbf16>
    %r43 = stablehlo.concatenate %c41, %c42, dim = 1 : (tensor<2x1xbf16>, tensor<2x2xbf16>) -> tensor<2x3xbf16>
    %c44 = stablehlo.constant dense<[[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]]> : tensor<2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r43, %c44) {has_side_effect = true} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> ()
    %c45 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %c46 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
    %r47 = stablehlo.concatenate %c45, %c46, dim = 1 : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
    %c48 = stablehlo.constant dense<[[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r47, %c48) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c49 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf64>
    %c50 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf64>
    %r51 = stablehlo.concatenate %c49, %c50, dim = 1 : (tensor<2x1xf64>, tensor<2x2xf64>) -> tensor<2x3xf64>
    %c52 = stablehlo.constant dense<[[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r51, %c52) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %c53 = stablehlo.constant dense<[[(1.0, -1.0)], [(2.0, -2.0)]]> : tensor<2x1xcomplex<f32>>
    %c54 = stablehlo.constant dense<[[(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]]> : tensor<2x2xcomplex<f32>>
    %r55 = stablehlo.concatenate %c53, %c54, dim = 1 : (tensor<2x1xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c56 = stablehlo.constant dense<[[(1.0, -1.0), (3.0, -3.0), (4.0, -4.0)], [(2.0, -2.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r55, %c56) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c57 = stablehlo.constant dense<[[(1.0, -1.0)], [(2.0, -2.0)]]> : tensor<2x1xcomplex<f64>>
    %c58 = stablehlo.constant dense<[[(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]]> : tensor<2x2xcomplex<f64>>
    %r59 = stablehlo.concatenate %c57, %c58, dim = 1 : (tensor<2x1xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %c60 = stablehlo.constant dense<[[(1.0, -1.0), (3.0, -3.0), (4.0, -4.0)], [(2.0, -2.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return
  }
}
