// negate on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi8>
    %r2 = stablehlo.negate %c1 : tensor<4xi8>
    %c3 = stablehlo.constant dense<[7, -3, 0, -5]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c4 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi16>
    %r5 = stablehlo.negate %c4 : tensor<4xi16>
    %c6 = stablehlo.constant dense<[7, -3, 0, -5]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c7 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi32>
    %r8 = stablehlo.negate %c7 : tensor<4xi32>
    %c9 = stablehlo.constant dense<[7, -3, 0, -5]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c10 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi64>
    %r11 = stablehlo.negate %c10 : tensor<4xi64>
    %c12 = stablehlo.constant dense<[7, -3, 0, -5]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c13 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui8>
    %r14 = stablehlo.negate %c13 : tensor<4xui8>
    %c15 = stablehlo.constant dense<[249, 253, 0, 251]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c16 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui16>
    %r17 = stablehlo.negate %c16 : tensor<4xui16>
    %c18 = stablehlo.constant dense<[65529, 65533, 0, 65531]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c19 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui32>
    %r20 = stablehlo.negate %c19 : tensor<4xui32>
    %c21 = stablehlo.constant dense<[4294967289, 4294967293, 0, 4294967291]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c22 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui64>
    %r23 = stablehlo.negate %c22 : tensor<4xui64>
    %c24 = stablehlo.constant dense<[18446744073709551609, 18446744073709551613, 0, 18446744073709551611]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    %c25 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r26 = stablehlo.negate %c25 : tensor<4xf16>
    %c27 = stablehlo.constant dense<[2.5, -0.75, -0.0, -3.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r26, %c27) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c28 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r29 = stablehlo.negate %c28 : tensor<4xbf16>
    %c30 = stablehlo.constant dense<[2.5, -0.75, -0.0, -3.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r29, %c30) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c31 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r32 = stablehlo.negate %c31 : tensor<4xf32>
    %c33 = stablehlo.constant dense<[2.5, -0.75, -0.0, -3.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r32, %c33) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c34 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r35 = stablehlo.negate %c34 : tensor<4xf64>
    %c36 = stablehlo.constant dense<[2.5, -0.75, -0.0, -3.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r35, %c36) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c37 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r38 = stablehlo.negate %c37 : tensor<4xcomplex<f32>>
    %c39 = stablehlo.constant dense<[(1.5, -0.5), (-0.25, 2.0), (-0.0, -0.0), (-2.0, -1.0)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r38, %c39) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c40 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r41 = stablehlo.negate %c40 : tensor<4xcomplex<f64>>
    %c42 = stablehlo.constant dense<[(1.5, -0.5), (-0.25, 2.0), (-0.0, -0.0), (-2.0, -1.0)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r41, %c42) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
