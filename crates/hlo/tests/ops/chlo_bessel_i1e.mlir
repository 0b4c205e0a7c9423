// chlo.bessel_i1e on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 12.0]> : tensor<4xf16>
    %r2 = chlo.bessel_i1e %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.20654296875, 0.18994140625, 0.0, 0.1114501953125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 12.0]> : tensor<4xbf16>
    %r5 = chlo.bessel_i1e %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-0.20703125, 0.189453125, 0.0, 0.111328125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 12.0]> : tensor<4xf32>
    %r8 = chlo.bessel_i1e %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.2065846472978592, 0.18988779187202454, 0.0, 0.11146429926156998]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 12.0]> : tensor<4xf64>
    %r11 = chlo.bessel_i1e %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.20658464953126654, 0.189887793304855, 0.0, 0.111464299290181]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
