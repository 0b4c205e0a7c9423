// reverse of one and of all axes.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false], [false, false, true]]> : tensor<2x3xi1>
    %r2 = stablehlo.reverse %c1, dims = [1] : tensor<2x3xi1>
    %c3 = stablehlo.constant dense<[[false, true, true], [true, false, false]]> : tensor<2x3xi1>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    %r4 = stablehlo.reverse %c1, dims = [0, 1] : tensor<2x3xi1>
    %c5 = stablehlo.constant dense<[[true, false, false], [false, true, true]]> : tensor<2x3xi1>
    stablehlo.custom_call @check.expect_eq(%r4, %c5) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    %c6 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
    %r7 = stablehlo.reverse %c6, dims = [1] : tensor<2x3xi8>
    %c8 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    %r9 = stablehlo.reverse %c6, dims = [0, 1] : tensor<2x3xi8>
    %c10 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    %c11 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
    %r12 = stablehlo.reverse %c11, dims = [1] : tensor<2x3xi16>
    %c13 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r12, %c13) {has_side_effect = true} : (tensor<2x3xi16>, tensor<2x3xi16>) -> ()
    %r14 = stablehlo.reverse %c11, dims = [0, 1] : tensor<2x3xi16>
    %c15 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<2x3xi16>, tensor<2x3xi16>) -> ()
    %c16 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %r17 = stablehlo.reverse %c16, dims = [1] : tensor<2x3xi32>
    %c18 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %r19 = stablehlo.reverse %c16, dims = [0, 1] : tensor<2x3xi32>
    %c20 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %c21 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
    %r22 = stablehlo.reverse %c21, dims = [1] : tensor<2x3xi64>
    %c23 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r22, %c23) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    %r24 = stablehlo.reverse %c21, dims = [0, 1] : tensor<2x3xi64>
    %c25 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r24, %c25) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    %c26 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
    %r27 = stablehlo.reverse %c26, dims = [1] : tensor<2x3xui8>
    %c28 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<2x3xui8>, tensor<2x3xui8>) -> ()
    %r29 = stablehlo.reverse %c26, dims = [0, 1] : tensor<2x3xui8>
    %c30 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<2x3xui8>, tensor<2x3xui8>) -> ()
    %c31 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui16>
    %r32 = stablehlo.reverse %c31, dims = [1] : tensor<2x3xui16>
    %c33 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r32, %c33) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %r34 = stablehlo.reverse %c31, dims = [0, 1] : tensor<2x3xui16>
    %c35 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r34, %c35) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %c36 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui32>
    %r37 = stablehlo.reverse %c36, dims = [1] : tensor<2x3xui32>
    %c38 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r37, %c38) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    %r39 = stablehlo.reverse %c36, dims = [0, 1] : tensor<2x3xui32>
    %c40 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    %c41 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui64>
    %r42 = stablehlo.reverse %c41, dims = [1] : tensor<2x3xui64>
    %c43 = stablehlo.constant dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r42, %c43) {has_side_effect = true} : (tensor<2x3xui64>, tensor<2x3xui64>) -> ()
    %r44 = stablehlo.reverse %c41, dims = [0, 1] : tensor<2x3xui64>
    %c45 = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r44, %c45) {has_side_effect = true} : (tensor<2x3xui64>, tensor<2x3xui64>) -> ()
    %c46 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
    %r47 = stablehlo.reverse %c46, dims = [1] : tensor<2x3xf16>
    %c48 = stablehlo.constant dense<[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]> : tensor<2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r47, %c48) {has_side_effect = true} : (tensor<2x3xf16>, tensor<2x3xf16>) -> ()
    %r49 = stablehlo.reverse %c46, dims = [0, 1] : tensor<2x3xf16>
    %c50 = stablehlo.constant dense<[[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]]> : tensor<2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r49, %c50) {has_side_effect = true} : (tensor<2x3xf16>, tensor<2x3xf16>) -> ()
    %c51 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xbf16>
    %r52 = stablehlo.reverse %c51, dims = [1] : tensor<2x3xbf16>
    %c53 = stablehlo.constant dense<[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]> : tensor<2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r52, %c53) {has_side_effect = true} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> ()
    %r54 = stablehlo.reverse %c51, dims = [0, 1] : tensor<2x3xbf16>
    %c55 = stablehlo.constant dense<[[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]]> : tensor<2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r54, %c55) {has_side_effect = true} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> ()
    %c56 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %r57 = stablehlo.reverse %c56, dims = [1] : tensor<2x3xf32>
    %c58 = stablehlo.constant dense<[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r57, %c58) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %r59 = stablehlo.reverse %c56, dims = [0, 1] : tensor<2x3xf32>
    %c60 = stablehlo.constant dense<[[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c61 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
    %r62 = stablehlo.reverse %c61, dims = [1] : tensor<2x3xf64>
    %c63 = stablehlo.constant dense<[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r62, %c63) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %r64 = stablehlo.reverse %c61, dims = [0, 1] : tensor<2x3xf64>
    %c65 = stablehlo.constant dense<[[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r64, %c65) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %c66 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f32>>
    %r67 = stablehlo.reverse %c66, dims = [1] : tensor<2x3xcomplex<f32>>
    %c68 = stablehlo.constant dense<[[(3.0, -3.0), (2.0, -2.0), (1.0, -1.0)], [(6.0, -6.0), (5.0, -5.0), (4.0, -4.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r67, %c68) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %r69 = stablehlo.reverse %c66, dims = [0, 1] : tensor<2x3xcomplex<f32>>
    %c70 = stablehlo.constant dense<[[(6.0, -6.0), (5.0, -5.0), (4.0, -4.0)], [(3.0, -3.0), (2.0, -2.0), (1.0, -1.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r69, %c70) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c71 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f64>>
    %r72 = stablehlo.reverse %c71, dims = [1] : tensor<2x3xcomplex<f64>>
    %c73 = stablehlo.constant dense<[[(3.0, -3.0), (2.0, -2.0), (1.0, -1.0)], [(6.0, -6.0), (5.0, -5.0), (4.0, -4.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r72, %c73) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    %r74 = stablehlo.reverse %c71, dims = [0, 1] : tensor<2x3xcomplex<f64>>
    %c75 = stablehlo.constant dense<[[(6.0, -6.0), (5.0, -5.0), (4.0, -4.0)], [(3.0, -3.0), (2.0, -2.0), (1.0, -1.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r74, %c75) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return
  }
}
