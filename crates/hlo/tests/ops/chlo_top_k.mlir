// chlo.top_k: the largest elements; ties are resolved to the lowest index.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xi8>
    %v2, %w3 = chlo.top_k(%c1, k = 2) : tensor<2x4xi8> -> (tensor<2x2xi8>, tensor<2x2xi32>)
    %c4 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xi8>
    stablehlo.custom_call @check.expect_eq(%v2, %c4) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
    %c5 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w3, %c5) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c6 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xi16>
    %v7, %w8 = chlo.top_k(%c6, k = 2) : tensor<2x4xi16> -> (tensor<2x2xi16>, tensor<2x2xi32>)
    %c9 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xi16>
    stablehlo.custom_call @check.expect_eq(%v7, %c9) {has_side_effect = true} : (tensor<2x2xi16>, tensor<2x2xi16>) -> ()
    %c10 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w8, %c10) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c11 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xi32>
    %v12, %w13 = chlo.top_k(%c11, k = 2) : tensor<2x4xi32> -> (tensor<2x2xi32>, tensor<2x2xi32>)
    %c14 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%v12, %c14) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c15 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w13, %c15) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c16 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xi64>
    %v17, %w18 = chlo.top_k(%c16, k = 2) : tensor<2x4xi64> -> (tensor<2x2xi64>, tensor<2x2xi32>)
    %c19 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xi64>
    stablehlo.custom_call @check.expect_eq(%v17, %c19) {has_side_effect = true} : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
    %c20 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w18, %c20) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c21 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xui8>
    %v22, %w23 = chlo.top_k(%c21, k = 2) : tensor<2x4xui8> -> (tensor<2x2xui8>, tensor<2x2xi32>)
    %c24 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xui8>
    stablehlo.custom_call @check.expect_eq(%v22, %c24) {has_side_effect = true} : (tensor<2x2xui8>, tensor<2x2xui8>) -> ()
    %c25 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w23, %c25) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c26 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xui16>
    %v27, %w28 = chlo.top_k(%c26, k = 2) : tensor<2x4xui16> -> (tensor<2x2xui16>, tensor<2x2xi32>)
    %c29 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xui16>
    stablehlo.custom_call @check.expect_eq(%v27, %c29) {has_side_effect = true} : (tensor<2x2xui16>, tensor<2x2xui16>) -> ()
    %c30 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w28, %c30) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c31 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xui32>
    %v32, %w33 = chlo.top_k(%c31, k = 2) : tensor<2x4xui32> -> (tensor<2x2xui32>, tensor<2x2xi32>)
    %c34 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xui32>
    stablehlo.custom_call @check.expect_eq(%v32, %c34) {has_side_effect = true} : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
    %c35 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w33, %c35) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c36 = stablehlo.constant dense<[[1, 3, 2, 3], [4, 0, 4, 1]]> : tensor<2x4xui64>
    %v37, %w38 = chlo.top_k(%c36, k = 2) : tensor<2x4xui64> -> (tensor<2x2xui64>, tensor<2x2xi32>)
    %c39 = stablehlo.constant dense<[[3, 3], [4, 4]]> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%v37, %c39) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %c40 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w38, %c40) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c41 = stablehlo.constant dense<[[1.0, 3.0, 2.0, 3.0], [4.0, 0.0, 4.0, 1.0]]> : tensor<2x4xf16>
    %v42, %w43 = chlo.top_k(%c41, k = 2) : tensor<2x4xf16> -> (tensor<2x2xf16>, tensor<2x2xi32>)
    %c44 = stablehlo.constant dense<[[3.0, 3.0], [4.0, 4.0]]> : tensor<2x2xf16>
    stablehlo.custom_call @check.expect_eq(%v42, %c44) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
    %c45 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w43, %c45) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c46 = stablehlo.constant dense<[[1.0, 3.0, 2.0, 3.0], [4.0, 0.0, 4.0, 1.0]]> : tensor<2x4xbf16>
    %v47, %w48 = chlo.top_k(%c46, k = 2) : tensor<2x4xbf16> -> (tensor<2x2xbf16>, tensor<2x2xi32>)
    %c49 = stablehlo.constant dense<[[3.0, 3.0], [4.0, 4.0]]> : tensor<2x2xbf16>
    stablehlo.custom_call @check.expect_eq(%v47, %c49) {has_side_effect = true} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> ()
    %c50 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w48, %c50) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c51 = stablehlo.constant dense<[[1.0, 3.0, 2.0, 3.0], [4.0, 0.0, 4.0, 1.0]]> : tensor<2x4xf32>
    %v52, %w53 = chlo.top_k(%c51, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %c54 = stablehlo.constant dense<[[3.0, 3.0], [4.0, 4.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_eq(%v52, %c54) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %c55 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w53, %c55) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c56 = stablehlo.constant dense<[[1.0, 3.0, 2.0, 3.0], [4.0, 0.0, 4.0, 1.0]]> : tensor<2x4xf64>
    %v57, %w58 = chlo.top_k(%c56, k = 2) : tensor<2x4xf64> -> (tensor<2x2xf64>, tensor<2x2xi32>)
    %c59 = stablehlo.constant dense<[[3.0, 3.0], [4.0, 4.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_eq(%v57, %c59) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %c60 = stablehlo.constant dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%w58, %c60) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    return
  }
}
