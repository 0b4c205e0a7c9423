// chlo.digamma on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.25]> : tensor<4xf16>
    %r2 = chlo.digamma %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[1.388671875, -1.0859375, 2.251953125, 3.71484375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.25]> : tensor<4xbf16>
    %r5 = chlo.digamma %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[1.390625, -1.0859375, 2.25, 3.71875]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.25]> : tensor<4xf32>
    %r8 = chlo.digamma %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[1.3888709545135498, -1.0858608484268188, 2.2517526149749756, 3.714139223098755]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[4.5, 0.75, 10.0, -1.25]> : tensor<4xf64>
    %r11 = chlo.digamma %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[1.388870926359529, -1.0858608797864722, 2.251752589066721, 3.7141391202135283]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return
  }
}
