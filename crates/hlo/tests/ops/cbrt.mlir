// cbrt on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-8.0, 0.5, 0.0, 27.0]> : tensor<4xf16>
    %r2 = stablehlo.cbrt %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-2.0, 0.79345703125, 0.0, 3.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-8.0, 0.5, 0.0, 27.0]> : tensor<4xbf16>
    %r5 = stablehlo.cbrt %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-2.0, 0.79296875, 0.0, 3.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-8.0, 0.5, 0.0, 27.0]> : tensor<4xf32>
    %r8 = stablehlo.cbrt %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-2.0, 0.7937005162239075, 0.0, 3.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-8.0, 0.5, 0.0, 27.0]> : tensor<4xf64>
    %r11 = stablehlo.cbrt %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-2.0, 0.7937005259840998, 0.0, 3.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.cbrt %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(1.158299207687378, 0.12470632791519165), (1.1191800832748413, -0.5857149958610535), (0.7937005162239075, 0.7937005162239075), (1.2920745611190796, 0.20129431784152985)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.cbrt %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(1.158299245012345, 0.12470632422329128), (1.1191800617000038, -0.5857150025465904), (0.7937005259840998, 0.7937005259840997), (1.292074512673103, 0.20129431282890373)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
