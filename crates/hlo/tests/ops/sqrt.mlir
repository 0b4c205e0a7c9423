// sqrt on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf16>
    %r2 = stablehlo.sqrt %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.5, 1.224609375, 2.0, 3.162109375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xbf16>
    %r5 = stablehlo.sqrt %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.5, 1.2265625, 2.0, 3.15625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf32>
    %r8 = stablehlo.sqrt %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.5, 1.2247449159622192, 2.0, 3.1622776985168457]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf64>
    %r11 = stablehlo.sqrt %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.5, 1.224744871391589, 2.0, 3.1622776601683795]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.sqrt %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(1.2411967515945435, 0.20141850411891937), (1.0643224716186523, -0.9395648837089539), (0.45508986711502075, 1.0986840724945068), (1.455346703529358, 0.34356075525283813)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.sqrt %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(1.2411967672541269, 0.20141850719855617), (1.064322422265602, -0.9395649091666413), (0.45508986056222733, 1.09868411346781), (1.455346690225355, 0.34356074972251244)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
