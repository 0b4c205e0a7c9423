// chlo.erfc on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = chlo.erfc %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[2.0, 0.288818359375, 1.0, 2.2113323211669922e-5]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = chlo.erfc %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[2.0, 0.2890625, 1.0, 2.205371856689453e-5]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = chlo.erfc %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[1.9995930194854736, 0.28884437680244446, 1.0, 2.2090496713644825e-5]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = chlo.erfc %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[1.999593047982555, 0.2888443663464849, 1.0, 2.2090496998585445e-5]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
