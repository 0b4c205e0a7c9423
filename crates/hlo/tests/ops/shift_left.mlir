// shift_left; shifting by the bit width or more gives zero.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[1, 5, 127, -128]> : tensor<4xi8>
    %c2 = stablehlo.constant dense<[0, 2, 7, 8]> : tensor<4xi8>
    %r3 = stablehlo.shift_left %c1, %c2 : tensor<4xi8>
    %c4 = stablehlo.constant dense<[1, 20, -128, 0]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c5 = stablehlo.constant dense<[1, 5, 32767, -32768]> : tensor<4xi16>
    %c6 = stablehlo.constant dense<[0, 2, 15, 16]> : tensor<4xi16>
    %r7 = stablehlo.shift_left %c5, %c6 : tensor<4xi16>
    %c8 = stablehlo.constant dense<[1, 20, -32768, 0]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c9 = stablehlo.constant dense<[1, 5, 2147483647, -2147483648]> : tensor<4xi32>
    %c10 = stablehlo.constant dense<[0, 2, 31, 32]> : tensor<4xi32>
    %r11 = stablehlo.shift_left %c9, %c10 : tensor<4xi32>
    %c12 = stablehlo.constant dense<[1, 20, -2147483648, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c13 = stablehlo.constant dense<[1, 5, 9223372036854775807, -9223372036854775808]> : tensor<4xi64>
    %c14 = stablehlo.constant dense<[0, 2, 63, 64]> : tensor<4xi64>
    %r15 = stablehlo.shift_left %c13, %c14 : tensor<4xi64>
    %c16 = stablehlo.constant dense<[1, 20, -9223372036854775808, 0]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c17 = stablehlo.constant dense<[1, 5, 255, 0]> : tensor<4xui8>
    %c18 = stablehlo.constant dense<[0, 2, 7, 8]> : tensor<4xui8>
    %r19 = stablehlo.shift_left %c17, %c18 : tensor<4xui8>
    %c20 = stablehlo.constant dense<[1, 20, 128, 0]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c21 = stablehlo.constant dense<[1, 5, 65535, 0]> : tensor<4xui16>
    %c22 = stablehlo.constant dense<[0, 2, 15, 16]> : tensor<4xui16>
    %r23 = stablehlo.shift_left %c21, %c22 : tensor<4xui16>
    %c24 = stablehlo.constant dense<[1, 20, 32768, 0]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c25 = stablehlo.constant dense<[1, 5, 4294967295, 0]> : tensor<4xui32>
    %c26 = stablehlo.constant dense<[0, 2, 31, 32]> : tensor<4xui32>
    %r27 = stablehlo.shift_left %c25, %c26 : tensor<4xui32>
    %c28 = stablehlo.constant dense<[1, 20, 2147483648, 0]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c29 = stablehlo.constant dense<[1, 5, 0, 0]> : tensor<4xui64>
    %c30 = stablehlo.constant dense<[0, 2, 63, 64]> : tensor<4xui64>
    %r31 = stablehlo.shift_left %c29, %c30 : tensor<4xui64>
    %c32 = stablehlo.constant dense<[1, 20, 0, 0]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    return
  }
}
