// chlo.acosh on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[1.0, 1.5, 4.0, 10.0]> : tensor<4xf16>
    %r2 = chlo.acosh %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.0, 0.96240234375, 2.0625, 2.994140625]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[1.0, 1.5, 4.0, 10.0]> : tensor<4xbf16>
    %r5 = chlo.acosh %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.0, 0.9609375, 2.0625, 3.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[1.0, 1.5, 4.0, 10.0]> : tensor<4xf32>
    %r8 = chlo.acosh %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.0, 0.9624236226081848, 2.063436985015869, 2.993222951889038]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[1.0, 1.5, 4.0, 10.0]> : tensor<4xf64>
    %r11 = chlo.acosh %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.0, 0.9624236501192069, 2.0634370688955603, 2.993222846126381]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.acosh %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(1.0693110227584839, 0.3996390700340271), (1.44920814037323, -1.4593183994293213), (1.0612750053405762, 2.2370357513427734), (1.4693517684936523, 0.5073562860488892)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.acosh %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(1.0693110431581105, 0.39963906733652416), (1.4492081522551188, -1.459318401426415), (1.0612750619050357, 2.2370357592874117), (1.4693517443681852, 0.5073563032171445)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
