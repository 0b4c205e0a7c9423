// chlo.square on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = chlo.square %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[6.25, 0.5625, 0.0, 9.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = chlo.square %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[6.25, 0.5625, 0.0, 9.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = chlo.square %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[6.25, 0.5625, 0.0, 9.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = chlo.square %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[6.25, 0.5625, 0.0, 9.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.square %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(2.0, -1.5), (-3.9375, -1.0), (0.0, 0.0), (3.0, 4.0)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.square %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(2.0, -1.5), (-3.9375, -1.0), (0.0, 0.0), (3.0, 4.0)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
