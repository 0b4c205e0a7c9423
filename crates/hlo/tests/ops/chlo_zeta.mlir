// chlo.zeta on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[2.0, 3.5, 1.5, 8.0]> : tensor<4xf32>
    %c2 = stablehlo.constant dense<[1.0, 0.75, 2.5, 4.0]> : tensor<4xf32>
    %r3 = chlo.zeta %c1, %c2 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %c4 = stablehlo.constant dense<[1.644934058189392, 2.9274375438690186, 1.4037797451019287, 1.8690407159738243e-5]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r3, %c4) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c5 = stablehlo.constant dense<[2.0, 3.5, 1.5, 8.0]> : tensor<4xf64>
    %c6 = stablehlo.constant dense<[1.0, 0.75, 2.5, 4.0]> : tensor<4xf64>
    %r7 = chlo.zeta %c5, %c6 : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    %c8 = stablehlo.constant dense<[1.6449340668482266, 2.9274375215399546, 1.4037797688568259, 1.8690407668466797e-5]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r7, %c8) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
