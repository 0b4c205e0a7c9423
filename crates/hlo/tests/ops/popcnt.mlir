// popcnt on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0, 1, 127, 37]> : tensor<4xi8>
    %r2 = stablehlo.popcnt %c1 : tensor<4xi8>
    %c3 = stablehlo.constant dense<[0, 1, 7, 3]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c4 = stablehlo.constant dense<[0, 1, 32767, 37]> : tensor<4xi16>
    %r5 = stablehlo.popcnt %c4 : tensor<4xi16>
    %c6 = stablehlo.constant dense<[0, 1, 15, 3]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c7 = stablehlo.constant dense<[0, 1, 2147483647, 37]> : tensor<4xi32>
    %r8 = stablehlo.popcnt %c7 : tensor<4xi32>
    %c9 = stablehlo.constant dense<[0, 1, 31, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c10 = stablehlo.constant dense<[0, 1, 9223372036854775807, 37]> : tensor<4xi64>
    %r11 = stablehlo.popcnt %c10 : tensor<4xi64>
    %c12 = stablehlo.constant dense<[0, 1, 63, 3]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c13 = stablehlo.constant dense<[0, 1, 255, 37]> : tensor<4xui8>
    %r14 = stablehlo.popcnt %c13 : tensor<4xui8>
    %c15 = stablehlo.constant dense<[0, 1, 8, 3]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c16 = stablehlo.constant dense<[0, 1, 65535, 37]> : tensor<4xui16>
    %r17 = stablehlo.popcnt %c16 : tensor<4xui16>
    %c18 = stablehlo.constant dense<[0, 1, 16, 3]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c19 = stablehlo.constant dense<[0, 1, 4294967295, 37]> : tensor<4xui32>
    %r20 = stablehlo.popcnt %c19 : tensor<4xui32>
    %c21 = stablehlo.constant dense<[0, 1, 32, 3]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c22 = stablehlo.constant dense<[0, 1, 0, 37]> : tensor<4xui64>
    %r23 = stablehlo.popcnt %c22 : tensor<4xui64>
    %c24 = stablehlo.constant dense<[0, 1, 0, 3]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    return
  }
}
