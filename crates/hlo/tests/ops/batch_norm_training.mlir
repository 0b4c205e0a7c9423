// batch_norm_training, against its definition in NumPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf16>
    %c2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf16>
    %c3 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf16>
    %c4 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf16>
    %c5 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf16>
    %t6:3 = "stablehlo.batch_norm_training"(%c1, %c2, %c3) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf16>, tensor<2xf16>, tensor<2xf16>) -> (tensor<2x2x2xf16>, tensor<2xf16>, tensor<2xf16>)
    %c7 = stablehlo.constant dense<[[[-0.49951171875, -0.9990234375], [1.5, 3.0]], [[1.5, 3.0], [-0.49951171875, -0.9990234375]]]> : tensor<2x2x2xf16>
    stablehlo.custom_call @check.expect_close(%t6#0, %c7) {has_side_effect = true} : (tensor<2x2x2xf16>, tensor<2x2x2xf16>) -> ()
    %c8 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%t6#1, %c8) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %c9 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%t6#2, %c9) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %c10 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xbf16>
    %c11 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
    %c12 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xbf16>
    %c13 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xbf16>
    %c14 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
    %t15:3 = "stablehlo.batch_norm_training"(%c10, %c11, %c12) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<2x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>)
    %c16 = stablehlo.constant dense<[[[-0.5, -1.0], [1.5, 3.0]], [[1.5, 3.0], [-0.5, -1.0]]]> : tensor<2x2x2xbf16>
    stablehlo.custom_call @check.expect_close(%t15#0, %c16) {has_side_effect = true} : (tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) -> ()
    %c17 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%t15#1, %c17) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %c18 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%t15#2, %c18) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %c19 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf32>
    %c20 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %c21 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
    %c22 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    %c23 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
    %t24:3 = "stablehlo.batch_norm_training"(%c19, %c20, %c21) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    %c25 = stablehlo.constant dense<[[[-0.49951207637786865, -0.9990241527557373], [1.4995120763778687, 2.9990241527557373]], [[1.4995120763778687, 2.9990241527557373], [-0.49951207637786865, -0.9990241527557373]]]> : tensor<2x2x2xf32>
    stablehlo.custom_call @check.expect_close(%t24#0, %c25) {has_side_effect = true} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> ()
    %c26 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%t24#1, %c26) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %c27 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%t24#2, %c27) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %c28 = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
    %c29 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
    %c30 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf64>
    %c31 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
    %c32 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
    %t33:3 = "stablehlo.batch_norm_training"(%c28, %c29, %c30) <{epsilon = 9.765625e-04 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
    %c34 = stablehlo.constant dense<[[[-0.4995120760870788, -0.9990241521741576], [1.4995120760870788, 2.9990241521741576]], [[1.4995120760870788, 2.9990241521741576], [-0.4995120760870788, -0.9990241521741576]]]> : tensor<2x2x2xf64>
    stablehlo.custom_call @check.expect_close(%t33#0, %c34) {has_side_effect = true} : (tensor<2x2x2xf64>, tensor<2x2x2xf64>) -> ()
    %c35 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%t33#1, %c35) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %c36 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%t33#2, %c36) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    return
  }
}
