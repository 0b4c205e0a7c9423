// chlo.next_after on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[1.0, 0.0, -2.0, 3.0]> : tensor<4xf32>
    %c2 = stablehlo.constant dense<[2.0, -1.0, 0.0, 3.0]> : tensor<4xf32>
    %r3 = chlo.next_after %c1, %c2 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %c4 = stablehlo.constant dense<[1.0000001192092896, -1.401298464324817e-45, -1.9999998807907104, 3.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return
  }
}
