// chlo.polygamma on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
    %c2 = stablehlo.constant dense<[1.5, 0.75, 2.5, 4.0]> : tensor<4xf32>
    %r3 = chlo.polygamma %c1, %c2 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %c4 = stablehlo.constant dense<[0.036489974707365036, 2.541879653930664, -0.23620405793190002, 0.04486532881855965]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r3, %c4) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c5 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
    %c6 = stablehlo.constant dense<[1.5, 0.75, 2.5, 4.0]> : tensor<4xf64>
    %r7 = chlo.polygamma %c5, %c6 : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    %c8 = stablehlo.constant dense<[0.03648997397857652, 2.541879647671607, -0.23620405164172736, 0.04486532819275508]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r7, %c8) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
