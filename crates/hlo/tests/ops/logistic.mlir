// logistic on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.logistic %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.07586669921875, 0.67919921875, 0.5, 0.95263671875]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.logistic %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.07568359375, 0.6796875, 0.5, 0.953125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.logistic %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.07585818320512772, 0.6791787147521973, 0.5, 0.9525741338729858]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.logistic %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.07585818002124355, 0.679178699175393, 0.5, 0.9525741268224334]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.logistic %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.17038938403129578, 0.07421465963125229), (0.705286979675293, -0.738946259021759), (0.5, 0.0), (0.9214830994606018, 0.09778865426778793)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.logistic %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.17038937893273848, 0.07421465940354968), (0.705286988628272, -0.7389462749840264), (0.5, 0.0), (0.9214831024228914, 0.09778865503296699)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
