// xor on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
    %c2 = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
    %r3 = stablehlo.xor %c1, %c2 : tensor<4xi1>
    %c4 = stablehlo.constant dense<[false, true, true, false]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c5 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi8>
    %c6 = stablehlo.constant dense<[2, -3, 4, 5]> : tensor<4xi8>
    %r7 = stablehlo.xor %c5, %c6 : tensor<4xi8>
    %c8 = stablehlo.constant dense<[-5, -2, 4, 0]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c9 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi16>
    %c10 = stablehlo.constant dense<[2, -3, 4, 5]> : tensor<4xi16>
    %r11 = stablehlo.xor %c9, %c10 : tensor<4xi16>
    %c12 = stablehlo.constant dense<[-5, -2, 4, 0]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c13 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi32>
    %c14 = stablehlo.constant dense<[2, -3, 4, 5]> : tensor<4xi32>
    %r15 = stablehlo.xor %c13, %c14 : tensor<4xi32>
    %c16 = stablehlo.constant dense<[-5, -2, 4, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c17 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi64>
    %c18 = stablehlo.constant dense<[2, -3, 4, 5]> : tensor<4xi64>
    %r19 = stablehlo.xor %c17, %c18 : tensor<4xi64>
    %c20 = stablehlo.constant dense<[-5, -2, 4, 0]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c21 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui8>
    %c22 = stablehlo.constant dense<[2, 3, 4, 5]> : tensor<4xui8>
    %r23 = stablehlo.xor %c21, %c22 : tensor<4xui8>
    %c24 = stablehlo.constant dense<[5, 0, 4, 0]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c25 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui16>
    %c26 = stablehlo.constant dense<[2, 3, 4, 5]> : tensor<4xui16>
    %r27 = stablehlo.xor %c25, %c26 : tensor<4xui16>
    %c28 = stablehlo.constant dense<[5, 0, 4, 0]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c29 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui32>
    %c30 = stablehlo.constant dense<[2, 3, 4, 5]> : tensor<4xui32>
    %r31 = stablehlo.xor %c29, %c30 : tensor<4xui32>
    %c32 = stablehlo.constant dense<[5, 0, 4, 0]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c33 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui64>
    %c34 = stablehlo.constant dense<[2, 3, 4, 5]> : tensor<4xui64>
    %r35 = stablehlo.xor %c33, %c34 : tensor<4xui64>
    %c36 = stablehlo.constant dense<[5, 0, 4, 0]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    return
  }
}
