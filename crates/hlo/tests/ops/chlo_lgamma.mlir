// chlo.lgamma on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.5]> : tensor<4xf16>
    %r2 = chlo.lgamma %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[2.453125, 0.2032470703125, 12.8046875, 0.85986328125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_almost_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.5]> : tensor<4xbf16>
    %r5 = chlo.lgamma %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[2.453125, 0.203125, 12.8125, 0.859375]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_almost_eq(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.5]> : tensor<4xf32>
    %r8 = chlo.lgamma %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[2.4537365436553955, 0.2032809555530548, 12.801827430725098, 0.8600470423698425]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.5]> : tensor<4xf64>
    %r11 = chlo.lgamma %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[2.4537365708424423, 0.20328095143129538, 12.801827480081469, 0.860047015376481]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    // Close to a root the value is small; its relative error stays small.
    %c13 = stablehlo.constant dense<2.0160856> : tensor<f32>
    %r14 = chlo.lgamma %c13 : tensor<f32> -> tensor<f32>
    %c15 = stablehlo.constant dense<0.0068839085> : tensor<f32>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    return
  }
}
