// atan2 on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %c2 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf16>
    %r3 = stablehlo.atan2 %c1, %c2 : tensor<4xf16>
    %c4 = stablehlo.constant dense<[-1.373046875, 2.6015625, 0.0, 0.78515625]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r3, %c4) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c5 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xbf16>
    %r7 = stablehlo.atan2 %c5, %c6 : tensor<4xbf16>
    %c8 = stablehlo.constant dense<[-1.375, 2.59375, 0.0, 0.78515625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r7, %c8) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c9 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %c10 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf32>
    %r11 = stablehlo.atan2 %c9, %c10 : tensor<4xf32>
    %c12 = stablehlo.constant dense<[-1.3734008073806763, 2.601173162460327, 0.0, 0.7853981852531433]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c13 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %c14 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf64>
    %r15 = stablehlo.atan2 %c13, %c14 : tensor<4xf64>
    %c16 = stablehlo.constant dense<[-1.373400766945016, 2.601173153319209, 0.0, 0.7853981633974483]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r15, %c16) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c17 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %c18 = stablehlo.constant dense<[(0.5, 0.5), (1.0, -1.0), (3.0, 2.0), (3.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r19 = stablehlo.atan2 %c17, %c18 : tensor<4xcomplex<f32>>
    %c20 = stablehlo.constant dense<[(1.1780972480773926, -0.1732867956161499), (1.0002793073654175, -0.32921645045280457), (-0.08992674946784973, 0.4023594856262207), (0.6138861775398254, 0.0670659989118576)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r19, %c20) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c21 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %c22 = stablehlo.constant dense<[(0.5, 0.5), (1.0, -1.0), (3.0, 2.0), (3.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r23 = stablehlo.atan2 %c21, %c22 : tensor<4xcomplex<f64>>
    %c24 = stablehlo.constant dense<[(1.1780972450961724, -0.17328679513998635), (1.0002793029457926, -0.32921646367203206), (-0.08992674989623908, 0.40235947810852496), (0.6138861931870966, 0.06706599664866984)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r23, %c24) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
