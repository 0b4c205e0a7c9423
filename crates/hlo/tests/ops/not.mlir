// not on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
    %r2 = stablehlo.not %c1 : tensor<4xi1>
    %c3 = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c4 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi8>
    %r5 = stablehlo.not %c4 : tensor<4xi8>
    %c6 = stablehlo.constant dense<[6, -4, -1, -6]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c7 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi16>
    %r8 = stablehlo.not %c7 : tensor<4xi16>
    %c9 = stablehlo.constant dense<[6, -4, -1, -6]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c10 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi32>
    %r11 = stablehlo.not %c10 : tensor<4xi32>
    %c12 = stablehlo.constant dense<[6, -4, -1, -6]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c13 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi64>
    %r14 = stablehlo.not %c13 : tensor<4xi64>
    %c15 = stablehlo.constant dense<[6, -4, -1, -6]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c16 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui8>
    %r17 = stablehlo.not %c16 : tensor<4xui8>
    %c18 = stablehlo.constant dense<[248, 252, 255, 250]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c19 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui16>
    %r20 = stablehlo.not %c19 : tensor<4xui16>
    %c21 = stablehlo.constant dense<[65528, 65532, 65535, 65530]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c22 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui32>
    %r23 = stablehlo.not %c22 : tensor<4xui32>
    %c24 = stablehlo.constant dense<[4294967288, 4294967292, 4294967295, 4294967290]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c25 = stablehlo.constant dense<[7, 3, 0, 5]> : tensor<4xui64>
    %r26 = stablehlo.not %c25 : tensor<4xui64>
    %c27 = stablehlo.constant dense<[18446744073709551608, 18446744073709551612, 18446744073709551615, 18446744073709551610]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%r26, %c27) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    return
  }
}
