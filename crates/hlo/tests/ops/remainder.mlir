// remainder has the sign of the dividend; an integer remainder by zero is the dividend.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi8>
    %c2 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xi8>
    %r3 = stablehlo.remainder %c1, %c2 : tensor<4xi8>
    %c4 = stablehlo.constant dense<[-1, 0, 0, 0]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c5 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi16>
    %c6 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xi16>
    %r7 = stablehlo.remainder %c5, %c6 : tensor<4xi16>
    %c8 = stablehlo.constant dense<[-1, 0, 0, 0]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c9 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi32>
    %c10 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xi32>
    %r11 = stablehlo.remainder %c9, %c10 : tensor<4xi32>
    %c12 = stablehlo.constant dense<[-1, 0, 0, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c13 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi64>
    %c14 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xi64>
    %r15 = stablehlo.remainder %c13, %c14 : tensor<4xi64>
    %c16 = stablehlo.constant dense<[-1, 0, 0, 0]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c17 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui8>
    %c18 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xui8>
    %r19 = stablehlo.remainder %c17, %c18 : tensor<4xui8>
    %c20 = stablehlo.constant dense<[1, 0, 0, 0]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c21 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui16>
    %c22 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xui16>
    %r23 = stablehlo.remainder %c21, %c22 : tensor<4xui16>
    %c24 = stablehlo.constant dense<[1, 0, 0, 0]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c25 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui32>
    %c26 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xui32>
    %r27 = stablehlo.remainder %c25, %c26 : tensor<4xui32>
    %c28 = stablehlo.constant dense<[1, 0, 0, 0]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c29 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui64>
    %c30 = stablehlo.constant dense<[2, 3, 0, 5]> : tensor<4xui64>
    %r31 = stablehlo.remainder %c29, %c30 : tensor<4xui64>
    %c32 = stablehlo.constant dense<[1, 0, 0, 0]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    %c33 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %c34 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf16>
    %r35 = stablehlo.remainder %c33, %c34 : tensor<4xf16>
    %c36 = stablehlo.constant dense<[-0.0, 0.75, 0.0, 0.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r35, %c36) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c37 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %c38 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xbf16>
    %r39 = stablehlo.remainder %c37, %c38 : tensor<4xbf16>
    %c40 = stablehlo.constant dense<[-0.0, 0.75, 0.0, 0.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r39, %c40) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c41 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %c42 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf32>
    %r43 = stablehlo.remainder %c41, %c42 : tensor<4xf32>
    %c44 = stablehlo.constant dense<[-0.0, 0.75, 0.0, 0.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r43, %c44) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c45 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %c46 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf64>
    %r47 = stablehlo.remainder %c45, %c46 : tensor<4xf64>
    %c48 = stablehlo.constant dense<[-0.0, 0.75, 0.0, 0.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r47, %c48) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
