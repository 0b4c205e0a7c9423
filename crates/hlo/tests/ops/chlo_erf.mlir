// chlo.erf on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = chlo.erf %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.99951171875, 0.7109375, 0.0, 1.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = chlo.erf %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-1.0, 0.7109375, 0.0, 1.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = chlo.erf %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.9995930194854736, 0.7111556529998779, 0.0, 0.9999778866767883]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = chlo.erf %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.999593047982555, 0.7111556336535151, 0.0, 0.9999779095030014]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
