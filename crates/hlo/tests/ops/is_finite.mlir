// is_finite on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[1.0, 0x7C00, 0xFC00, 0x7E00]> : tensor<4xf16>
    %r2 = stablehlo.is_finite %c1 : (tensor<4xf16>) -> tensor<4xi1>
    %c3 = stablehlo.constant dense<[true, false, false, false]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c4 = stablehlo.constant dense<[1.0, 0x7F80, 0xFF80, 0x7FC0]> : tensor<4xbf16>
    %r5 = stablehlo.is_finite %c4 : (tensor<4xbf16>) -> tensor<4xi1>
    %c6 = stablehlo.constant dense<[true, false, false, false]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c7 = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
    %r8 = stablehlo.is_finite %c7 : (tensor<4xf32>) -> tensor<4xi1>
    %c9 = stablehlo.constant dense<[true, false, false, false]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c10 = stablehlo.constant dense<[1.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<4xf64>
    %r11 = stablehlo.is_finite %c10 : (tensor<4xf64>) -> tensor<4xi1>
    %c12 = stablehlo.constant dense<[true, false, false, false]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    return
  }
}
