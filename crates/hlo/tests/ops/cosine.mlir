// cosine on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.cosine %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.80126953125, 0.7314453125, 1.0, -0.990234375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.cosine %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-0.80078125, 0.73046875, 1.0, -0.98828125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.cosine %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.8011435866355896, 0.7316888570785522, 1.0, -0.9899924993515015]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.cosine %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.8011436155469337, 0.7316888688738209, 1.0, -0.9899924966004454]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.cosine %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.07976510375738144, 0.5197899341583252), (3.645238161087036, 0.8972996473312378), (1.0, -0.0), (-0.6421481370925903, -1.0686074495315552)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.cosine %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.07976510530654189, 0.5197899547729212), (3.645238137997194, 0.8972996245648264), (1.0, -0.0), (-0.64214812471552, -1.0686074213827783)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
