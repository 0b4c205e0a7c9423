// chlo.zeta and chlo.polygamma for sums that begin far below zero, at infinity, and with large exponents; expected
// values were computed with 40 digits.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[2.0, 3.0, 2.0, 3.0, 4.0, 3.0, 2.0, 50.0]> : tensor<8xf64>
    %c2 = stablehlo.constant dense<[-20.5, -20.5, -9.5, -0.25, -100.125, -12.75, -1000.25, 2.5]> : tensor<8xf64>
    %r3 = chlo.zeta %c1, %c2 : tensor<8xf64>, tensor<8xf64> -> tensor<8xf64>
    %c4 = stablehlo.constant dense<[9.8219943446498794821, 0.0011331449598188984671, 9.7696874450302318856, -61.348683391831180184, 4098.5003870994924217, 62.015397307079116923, 19.738209551699784882, 1.267650662831827985e-20]> : tensor<8xf64>
    stablehlo.custom_call @check.expect_close(%r3, %c4) {has_side_effect = true} : (tensor<8xf64>, tensor<8xf64>) -> ()
    %c5 = stablehlo.constant dense<[2.0, 1.0e13, 1.0e13, 1.0e15, 1.0e300, 0x7FF0000000000000, 0x7FF0000000000000]> : tensor<7xf64>
    %c6 = stablehlo.constant dense<[0x7FF0000000000000, 1.0, 2.0, 0.5, 1.0, 1.0, 3.0]> : tensor<7xf64>
    %r7 = chlo.zeta %c5, %c6 : tensor<7xf64>, tensor<7xf64> -> tensor<7xf64>
    %c8 = stablehlo.constant dense<[0.0, 1.0, 0.0, 0x7FF0000000000000, 1.0, 1.0, 0.0]> : tensor<7xf64>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<7xf64>, tensor<7xf64>) -> ()
    %c9 = stablehlo.constant dense<[1.0, 2.0, 2.0, 3.0]> : tensor<4xf64>
    %c10 = stablehlo.constant dense<[-20.5, -20.5, -0.25, -100.125]> : tensor<4xf64>
    %r11 = chlo.polygamma %c9, %c10 : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[9.8219943446498794821, -0.0022662899196377969342, 122.69736678366236037, 24591.00232259695453]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %c14 = stablehlo.constant dense<[0x7F800000, -20.5]> : tensor<2xf32>
    %r15 = chlo.polygamma %c13, %c14 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    %c16 = stablehlo.constant dense<[0.0, -0.0022662899196377969342]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%r15, %c16) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return
  }
}
