// log on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf16>
    %r2 = stablehlo.log %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-1.38671875, 0.405517578125, 1.38671875, 2.302734375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xbf16>
    %r5 = stablehlo.log %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-1.3828125, 0.40625, 1.3828125, 2.296875]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf32>
    %r8 = stablehlo.log %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-1.3862943649291992, 0.40546509623527527, 1.3862943649291992, 2.3025851249694824]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf64>
    %r11 = stablehlo.log %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-1.3862943611198906, 0.4054651081081644, 1.3862943611198906, 2.302585092994046]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.log %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.4581453800201416, 0.32175055146217346), (0.7008993029594421, -1.4464412927627563), (0.3465735912322998, 2.356194496154785), (0.8047189712524414, 0.46364760398864746)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.log %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.45814536593707755, 0.3217505543966422), (0.7008992738279278, -1.446441332248135), (0.34657359027997264, 2.356194490192345), (0.8047189562170503, 0.4636476090008061)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
