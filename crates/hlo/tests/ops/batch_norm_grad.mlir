// batch_norm_grad, against its definition in NumPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf16>
    %c2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf16>
    %c3 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf16>
    %c4 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf16>
    %c5 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf16>
    %c6 = stablehlo.constant dense<[[[0.5, 1.0], [-1.0, 2.0]], [[0.25, -0.5], [1.0, 0.0]]]> : tensor<2x2x2xf16>
    %c7 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf16>
    %c8 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf16>
    %t9:3 = "stablehlo.batch_norm_grad"(%c1, %c2, %c7, %c8, %c6) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2x2x2xf16>) -> (tensor<2x2x2xf16>, tensor<2xf16>, tensor<2xf16>)
    %c10 = stablehlo.constant dense<[[[-0.2493896484375, 0.99951171875], [-0.625, 2.5]], [[0.6240234375, -2.498046875], [0.25048828125, -1.0]]]> : tensor<2x2x2xf16>
    stablehlo.custom_call @check.expect_almost_eq(%t9#0, %c10) {has_side_effect = true, tolerance = 0.0625 : f64} : (tensor<2x2x2xf16>, tensor<2x2x2xf16>) -> ()
    %c11 = stablehlo.constant dense<[-2.248046875, 0.499755859375]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_almost_eq(%t9#1, %c11) {has_side_effect = true, tolerance = 0.0625 : f64} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %c12 = stablehlo.constant dense<[0.75, 2.5]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%t9#2, %c12) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %c13 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xbf16>
    %c14 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
    %c15 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xbf16>
    %c16 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xbf16>
    %c17 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
    %c18 = stablehlo.constant dense<[[[0.5, 1.0], [-1.0, 2.0]], [[0.25, -0.5], [1.0, 0.0]]]> : tensor<2x2x2xbf16>
    %c19 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xbf16>
    %c20 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
    %t21:3 = "stablehlo.batch_norm_grad"(%c13, %c14, %c19, %c20, %c18) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2x2x2xbf16>) -> (tensor<2x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>)
    %c22 = stablehlo.constant dense<[[[-0.2490234375, 1.0], [-0.625, 2.5]], [[0.625, -2.5], [0.25, -1.0]]]> : tensor<2x2x2xbf16>
    stablehlo.custom_call @check.expect_almost_eq(%t21#0, %c22) {has_side_effect = true, tolerance = 0.0625 : f64} : (tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) -> ()
    %c23 = stablehlo.constant dense<[-2.25, 0.5]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_almost_eq(%t21#1, %c23) {has_side_effect = true, tolerance = 0.0625 : f64} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %c24 = stablehlo.constant dense<[0.75, 2.5]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%t21#2, %c24) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %c25 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf32>
    %c26 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %c27 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
    %c28 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    %c29 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
    %c30 = stablehlo.constant dense<[[[0.5, 1.0], [-1.0, 2.0]], [[0.25, -0.5], [1.0, 0.0]]]> : tensor<2x2x2xf32>
    %c31 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    %c32 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
    %t33:3 = "stablehlo.batch_norm_grad"(%c25, %c26, %c31, %c32, %c30) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    %c34 = stablehlo.constant dense<[[[-0.24932950735092163, 0.9992682933807373], [-0.6252435445785522, 2.499023914337158]], [[0.6241465210914612, -2.4985363483428955], [0.2504265308380127, -0.999755859375]]]> : tensor<2x2x2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%t33#0, %c34) {has_side_effect = true} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> ()
    %c35 = stablehlo.constant dense<[-2.2489020824432373, 0.4997560381889343]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%t33#1, %c35) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %c36 = stablehlo.constant dense<[0.75, 2.5]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%t33#2, %c36) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %c37 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
    %c38 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
    %c39 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf64>
    %c40 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
    %c41 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
    %c42 = stablehlo.constant dense<[[[0.5, 1.0], [-1.0, 2.0]], [[0.25, -0.5], [1.0, 0.0]]]> : tensor<2x2x2xf64>
    %c43 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
    %c44 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
    %t45:3 = "stablehlo.batch_norm_grad"(%c37, %c38, %c43, %c44, %c42) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
    %c46 = stablehlo.constant dense<[[[-0.24932950629708772, 0.9992682926538868], [-0.6252435602791062, 2.4990239736508886]], [[0.6241465348297422, -2.4985364067845053], [0.2504265317464517, -0.9997558595202708]]]> : tensor<2x2x2xf64>
    stablehlo.custom_call @check.expect_almost_eq(%t45#0, %c46) {has_side_effect = true} : (tensor<2x2x2xf64>, tensor<2x2x2xf64>) -> ()
    %c47 = stablehlo.constant dense<[-2.248902171195927, 0.4997560380435394]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_almost_eq(%t45#1, %c47) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %c48 = stablehlo.constant dense<[0.75, 2.5]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%t45#2, %c48) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    return
  }
}
