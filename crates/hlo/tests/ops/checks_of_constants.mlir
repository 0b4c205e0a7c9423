// check.*_const: the expected value is an attribute.
module {
  func.func @main() {
    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = stablehlo.constant dense<7> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq_const(%1) {has_side_effect = true, value = dense<7> : tensor<2x2xi32>} : (tensor<2x2xi32>) -> ()
    stablehlo.custom_call @check.expect_almost_eq_const(%0) {has_side_effect = true, value = dense<[1.0004, 1.9996]> : tensor<2xf32>} : (tensor<2xf32>) -> ()
    return
  }
}
