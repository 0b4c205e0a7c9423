// log_plus_one on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf16>
    %r2 = stablehlo.log_plus_one %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.22314453125, 0.91650390625, 1.609375, 2.3984375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xbf16>
    %r5 = stablehlo.log_plus_one %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.22265625, 0.91796875, 1.609375, 2.390625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf32>
    %r8 = stablehlo.log_plus_one %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.2231435477733612, 0.9162907600402832, 1.6094379425048828, 2.397895336151123]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf64>
    %r11 = stablehlo.log_plus_one %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.22314355131420976, 0.9162907318741551, 1.6094379124341003, 2.3978952727983707]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.log_plus_one %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.9359011054039001, 0.19739556312561035), (0.8580238223075867, -1.0121970176696777), (0.0, 1.5707963705062866), (1.1512925624847412, 0.32175055146217346)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.log_plus_one %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.9359010884507957, 0.19739555984988075), (0.8580238237461792, -1.0121970114513341), (0.0, 1.5707963267948966), (1.151292546497023, 0.3217505543966422)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
