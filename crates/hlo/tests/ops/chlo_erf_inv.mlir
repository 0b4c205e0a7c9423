// chlo.erf_inv on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-0.5, 0.75, 0.0, 0.89990234375]> : tensor<4xf16>
    %r2 = chlo.erf_inv %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.47705078125, 0.8134765625, 0.0, 1.1630859375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-0.5, 0.75, 0.0, 0.8984375]> : tensor<4xbf16>
    %r5 = chlo.erf_inv %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-0.4765625, 0.8125, 0.0, 1.15625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-0.5, 0.75, 0.0, 0.8999999761581421]> : tensor<4xf32>
    %r8 = chlo.erf_inv %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.4769362807273865, 0.8134198188781738, 0.0, 1.1630871295928955]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-0.5, 0.75, 0.0, 0.9]> : tensor<4xf64>
    %r11 = chlo.erf_inv %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.4769362762044699, 0.8134198475976184, 0.0, 1.1630871536766743]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
