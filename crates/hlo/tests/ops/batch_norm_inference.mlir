// batch_norm_inference, against its definition in NumPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf16>
    %c2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf16>
    %c3 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf16>
    %c4 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf16>
    %c5 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf16>
    %r6 = "stablehlo.batch_norm_inference"(%c1, %c2, %c3, %c4, %c5) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2x2xf16>
    %c7 = stablehlo.constant dense<[[[-0.49951171875, -0.9990234375], [1.5, 3.0]], [[1.5, 3.0], [-0.49951171875, -0.9990234375]]]> : tensor<2x2x2xf16>
    stablehlo.custom_call @check.expect_close(%r6, %c7) {has_side_effect = true} : (tensor<2x2x2xf16>, tensor<2x2x2xf16>) -> ()
    %c8 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xbf16>
    %c9 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
    %c10 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xbf16>
    %c11 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xbf16>
    %c12 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
    %r13 = "stablehlo.batch_norm_inference"(%c8, %c9, %c10, %c11, %c12) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<2x2x2xbf16>
    %c14 = stablehlo.constant dense<[[[-0.5, -1.0], [1.5, 3.0]], [[1.5, 3.0], [-0.5, -1.0]]]> : tensor<2x2x2xbf16>
    stablehlo.custom_call @check.expect_close(%r13, %c14) {has_side_effect = true} : (tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) -> ()
    %c15 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf32>
    %c16 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %c17 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
    %c18 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    %c19 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
    %r20 = "stablehlo.batch_norm_inference"(%c15, %c16, %c17, %c18, %c19) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>
    %c21 = stablehlo.constant dense<[[[-0.49951207637786865, -0.9990241527557373], [1.4995120763778687, 2.9990241527557373]], [[1.4995120763778687, 2.9990241527557373], [-0.49951207637786865, -0.9990241527557373]]]> : tensor<2x2x2xf32>
    stablehlo.custom_call @check.expect_close(%r20, %c21) {has_side_effect = true} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> ()
    %c22 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
    %c23 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
    %c24 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf64>
    %c25 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
    %c26 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
    %r27 = "stablehlo.batch_norm_inference"(%c22, %c23, %c24, %c25, %c26) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2x2x2xf64>
    %c28 = stablehlo.constant dense<[[[-0.4995120760870788, -0.9990241521741576], [1.4995120760870788, 2.9990241521741576]], [[1.4995120760870788, 2.9990241521741576], [-0.4995120760870788, -0.9990241521741576]]]> : tensor<2x2x2xf64>
    stablehlo.custom_call @check.expect_close(%r27, %c28) {has_side_effect = true} : (tensor<2x2x2xf64>, tensor<2x2x2xf64>) -> ()
    return
  }
}
