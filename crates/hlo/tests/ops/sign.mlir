// sign on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi8>
    %r2 = stablehlo.sign %c1 : tensor<4xi8>
    %c3 = stablehlo.constant dense<[-1, 1, 0, 1]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c4 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi16>
    %r5 = stablehlo.sign %c4 : tensor<4xi16>
    %c6 = stablehlo.constant dense<[-1, 1, 0, 1]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c7 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi32>
    %r8 = stablehlo.sign %c7 : tensor<4xi32>
    %c9 = stablehlo.constant dense<[-1, 1, 0, 1]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c10 = stablehlo.constant dense<[-7, 3, 0, 5]> : tensor<4xi64>
    %r11 = stablehlo.sign %c10 : tensor<4xi64>
    %c12 = stablehlo.constant dense<[-1, 1, 0, 1]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c13 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r14 = stablehlo.sign %c13 : tensor<4xf16>
    %c15 = stablehlo.constant dense<[-1.0, 1.0, 0.0, 1.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c16 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r17 = stablehlo.sign %c16 : tensor<4xbf16>
    %c18 = stablehlo.constant dense<[-1.0, 1.0, 0.0, 1.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c19 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r20 = stablehlo.sign %c19 : tensor<4xf32>
    %c21 = stablehlo.constant dense<[-1.0, 1.0, 0.0, 1.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r20, %c21) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c22 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r23 = stablehlo.sign %c22 : tensor<4xf64>
    %c24 = stablehlo.constant dense<[-1.0, 1.0, 0.0, 1.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r23, %c24) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c25 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r26 = stablehlo.sign %c25 : tensor<4xcomplex<f32>>
    %c27 = stablehlo.constant dense<[(-0.9486833214759827, 0.3162277638912201), (0.12403473258018494, -0.9922778606414795), (0.0, 0.0), (0.8944271802902222, 0.4472135901451111)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r26, %c27) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c28 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r29 = stablehlo.sign %c28 : tensor<4xcomplex<f64>>
    %c30 = stablehlo.constant dense<[(-0.9486832980505138, 0.31622776601683794), (0.12403473458920847, -0.9922778767136677), (0.0, 0.0), (0.8944271909999159, 0.4472135954999579)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r29, %c30) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
