// reduce_precision to the f16 format, to eight bits, and to no mantissa bits.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[1.0, 1.2001953125, -3.3125, 40000.0]> : tensor<4xf16>
    %r2 = stablehlo.reduce_precision %c1, format = e5m2 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[1.0, 1.25, -3.5, 40960.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %r4 = stablehlo.reduce_precision %c1, format = e8m7 : tensor<4xf16>
    %c5 = stablehlo.constant dense<[1.0, 1.203125, -3.3125, 39936.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_eq(%r4, %c5) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c6 = stablehlo.constant dense<[1.0, 1.203125, -3.3125, 39936.0]> : tensor<4xbf16>
    %r7 = stablehlo.reduce_precision %c6, format = e5m2 : tensor<4xbf16>
    %c8 = stablehlo.constant dense<[1.0, 1.25, -3.5, 40960.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %r9 = stablehlo.reduce_precision %c6, format = e8m7 : tensor<4xbf16>
    %c10 = stablehlo.constant dense<[1.0, 1.203125, -3.3125, 39936.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c11 = stablehlo.constant dense<[1.0, 1.2001953125, -3.3125, 40000.0]> : tensor<4xf32>
    %r12 = stablehlo.reduce_precision %c11, format = e5m2 : tensor<4xf32>
    %c13 = stablehlo.constant dense<[1.0, 1.25, -3.5, 40960.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%r12, %c13) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %r14 = stablehlo.reduce_precision %c11, format = e8m7 : tensor<4xf32>
    %c15 = stablehlo.constant dense<[1.0, 1.203125, -3.3125, 39936.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c16 = stablehlo.constant dense<[1.0, 1.2001953125, -3.3125, 40000.0]> : tensor<4xf64>
    %r17 = stablehlo.reduce_precision %c16, format = e5m2 : tensor<4xf64>
    %c18 = stablehlo.constant dense<[1.0, 1.25, -3.5, 40960.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %r19 = stablehlo.reduce_precision %c16, format = e8m7 : tensor<4xf64>
    %c20 = stablehlo.constant dense<[1.0, 1.203125, -3.3125, 39936.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
