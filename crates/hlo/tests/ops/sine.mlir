// sine on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.sine %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.5986328125, 0.681640625, 0.0, 0.14111328125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.sine %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-0.59765625, 0.6796875, 0.0, 0.1416015625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.sine %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.5984721183776855, 0.681638777256012, 0.0, 0.14112000167369843]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.sine %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.5984721441039565, 0.6816387600233341, 0.0, 0.1411200080598672]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.sine %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(-1.1248012781143188, 0.03686082363128662), (0.9307820796966553, -3.5141100883483887), (0.0, 0.0), (1.4031192064285278, -0.489056259393692)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.sine %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(-1.1248012470579227, 0.03686082371280446), (0.9307821094643965, -3.514110100973512), (0.0, 0.0), (1.4031192506220405, -0.4890562590412937)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
