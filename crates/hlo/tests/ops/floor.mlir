// floor on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.floor %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-3.0, 0.0, 0.0, 3.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.floor %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-3.0, 0.0, 0.0, 3.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.floor %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-3.0, 0.0, 0.0, 3.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.floor %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-3.0, 0.0, 0.0, 3.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
