// gather of rows, of windows, and batched; start indices are clamped.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false, false], [false, true, true, true], [false, false, false, true]]> : tensor<3x4xi1>
    %c2 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r3 = "stablehlo.gather"(%c1, %c2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xi1>, tensor<3x1xi32>) -> tensor<3x4xi1>
    %c4 = stablehlo.constant dense<[[false, false, false, true], [true, true, false, false], [false, false, false, true]]> : tensor<3x4xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<3x4xi1>, tensor<3x4xi1>) -> ()
    %c5 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r6 = "stablehlo.gather"(%c1, %c5) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xi1>, tensor<2x2xi64>) -> tensor<2x2x2xi1>
    %c7 = stablehlo.constant dense<[[[false, true], [true, true]], [[false, false], [false, true]]]> : tensor<2x2x2xi1>
    stablehlo.custom_call @check.expect_eq(%r6, %c7) {has_side_effect = true} : (tensor<2x2x2xi1>, tensor<2x2x2xi1>) -> ()
    %c8 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r9 = "stablehlo.gather"(%c1, %c8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xi1>, tensor<3x2xui8>) -> tensor<3x2xi1>
    %c10 = stablehlo.constant dense<[[true, false], [true, true], [false, true]]> : tensor<3x2xi1>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<3x2xi1>, tensor<3x2xi1>) -> ()
    %c11 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi8>
    %c12 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r13 = "stablehlo.gather"(%c11, %c12) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xi8>, tensor<3x1xi32>) -> tensor<3x4xi8>
    %c14 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r13, %c14) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c15 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r16 = "stablehlo.gather"(%c11, %c15) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xi8>, tensor<2x2xi64>) -> tensor<2x2x2xi8>
    %c17 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r16, %c17) {has_side_effect = true} : (tensor<2x2x2xi8>, tensor<2x2x2xi8>) -> ()
    %c18 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r19 = "stablehlo.gather"(%c11, %c18) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xi8>, tensor<3x2xui8>) -> tensor<3x2xi8>
    %c20 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xi8>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<3x2xi8>, tensor<3x2xi8>) -> ()
    %c21 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi16>
    %c22 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r23 = "stablehlo.gather"(%c21, %c22) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xi16>, tensor<3x1xi32>) -> tensor<3x4xi16>
    %c24 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c25 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r26 = "stablehlo.gather"(%c21, %c25) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xi16>, tensor<2x2xi64>) -> tensor<2x2x2xi16>
    %c27 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r26, %c27) {has_side_effect = true} : (tensor<2x2x2xi16>, tensor<2x2x2xi16>) -> ()
    %c28 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r29 = "stablehlo.gather"(%c21, %c28) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xi16>, tensor<3x2xui8>) -> tensor<3x2xi16>
    %c30 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xi16>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<3x2xi16>, tensor<3x2xi16>) -> ()
    %c31 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
    %c32 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r33 = "stablehlo.gather"(%c31, %c32) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xi32>, tensor<3x1xi32>) -> tensor<3x4xi32>
    %c34 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r33, %c34) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c35 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r36 = "stablehlo.gather"(%c31, %c35) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xi32>, tensor<2x2xi64>) -> tensor<2x2x2xi32>
    %c37 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r36, %c37) {has_side_effect = true} : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> ()
    %c38 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r39 = "stablehlo.gather"(%c31, %c38) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xi32>, tensor<3x2xui8>) -> tensor<3x2xi32>
    %c40 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    %c41 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi64>
    %c42 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r43 = "stablehlo.gather"(%c41, %c42) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xi64>, tensor<3x1xi32>) -> tensor<3x4xi64>
    %c44 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r43, %c44) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c45 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r46 = "stablehlo.gather"(%c41, %c45) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xi64>, tensor<2x2xi64>) -> tensor<2x2x2xi64>
    %c47 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r46, %c47) {has_side_effect = true} : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> ()
    %c48 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r49 = "stablehlo.gather"(%c41, %c48) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xi64>, tensor<3x2xui8>) -> tensor<3x2xi64>
    %c50 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xi64>
    stablehlo.custom_call @check.expect_eq(%r49, %c50) {has_side_effect = true} : (tensor<3x2xi64>, tensor<3x2xi64>) -> ()
    %c51 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui8>
    %c52 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r53 = "stablehlo.gather"(%c51, %c52) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xui8>, tensor<3x1xi32>) -> tensor<3x4xui8>
    %c54 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r53, %c54) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c55 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r56 = "stablehlo.gather"(%c51, %c55) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xui8>, tensor<2x2xi64>) -> tensor<2x2x2xui8>
    %c57 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r56, %c57) {has_side_effect = true} : (tensor<2x2x2xui8>, tensor<2x2x2xui8>) -> ()
    %c58 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r59 = "stablehlo.gather"(%c51, %c58) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xui8>, tensor<3x2xui8>) -> tensor<3x2xui8>
    %c60 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xui8>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<3x2xui8>, tensor<3x2xui8>) -> ()
    %c61 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui16>
    %c62 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r63 = "stablehlo.gather"(%c61, %c62) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xui16>, tensor<3x1xi32>) -> tensor<3x4xui16>
    %c64 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r63, %c64) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c65 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r66 = "stablehlo.gather"(%c61, %c65) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xui16>, tensor<2x2xi64>) -> tensor<2x2x2xui16>
    %c67 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r66, %c67) {has_side_effect = true} : (tensor<2x2x2xui16>, tensor<2x2x2xui16>) -> ()
    %c68 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r69 = "stablehlo.gather"(%c61, %c68) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xui16>, tensor<3x2xui8>) -> tensor<3x2xui16>
    %c70 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xui16>
    stablehlo.custom_call @check.expect_eq(%r69, %c70) {has_side_effect = true} : (tensor<3x2xui16>, tensor<3x2xui16>) -> ()
    %c71 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui32>
    %c72 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r73 = "stablehlo.gather"(%c71, %c72) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xui32>, tensor<3x1xi32>) -> tensor<3x4xui32>
    %c74 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r73, %c74) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c75 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r76 = "stablehlo.gather"(%c71, %c75) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xui32>, tensor<2x2xi64>) -> tensor<2x2x2xui32>
    %c77 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r76, %c77) {has_side_effect = true} : (tensor<2x2x2xui32>, tensor<2x2x2xui32>) -> ()
    %c78 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r79 = "stablehlo.gather"(%c71, %c78) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xui32>, tensor<3x2xui8>) -> tensor<3x2xui32>
    %c80 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xui32>
    stablehlo.custom_call @check.expect_eq(%r79, %c80) {has_side_effect = true} : (tensor<3x2xui32>, tensor<3x2xui32>) -> ()
    %c81 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui64>
    %c82 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r83 = "stablehlo.gather"(%c81, %c82) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xui64>, tensor<3x1xi32>) -> tensor<3x4xui64>
    %c84 = stablehlo.constant dense<[[9, 10, 11, 12], [1, 2, 3, 4], [9, 10, 11, 12]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r83, %c84) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c85 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r86 = "stablehlo.gather"(%c81, %c85) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xui64>, tensor<2x2xi64>) -> tensor<2x2x2xui64>
    %c87 = stablehlo.constant dense<[[[5, 7], [6, 8]], [[9, 11], [10, 12]]]> : tensor<2x2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r86, %c87) {has_side_effect = true} : (tensor<2x2x2xui64>, tensor<2x2x2xui64>) -> ()
    %c88 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r89 = "stablehlo.gather"(%c81, %c88) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xui64>, tensor<3x2xui8>) -> tensor<3x2xui64>
    %c90 = stablehlo.constant dense<[[1, 4], [6, 6], [11, 12]]> : tensor<3x2xui64>
    stablehlo.custom_call @check.expect_eq(%r89, %c90) {has_side_effect = true} : (tensor<3x2xui64>, tensor<3x2xui64>) -> ()
    %c91 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    %c92 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r93 = "stablehlo.gather"(%c91, %c92) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf16>, tensor<3x1xi32>) -> tensor<3x4xf16>
    %c94 = stablehlo.constant dense<[[9.0, 10.0, 11.0, 12.0], [1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r93, %c94) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c95 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r96 = "stablehlo.gather"(%c91, %c95) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xf16>, tensor<2x2xi64>) -> tensor<2x2x2xf16>
    %c97 = stablehlo.constant dense<[[[5.0, 7.0], [6.0, 8.0]], [[9.0, 11.0], [10.0, 12.0]]]> : tensor<2x2x2xf16>
    stablehlo.custom_call @check.expect_eq(%r96, %c97) {has_side_effect = true} : (tensor<2x2x2xf16>, tensor<2x2x2xf16>) -> ()
    %c98 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r99 = "stablehlo.gather"(%c91, %c98) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf16>, tensor<3x2xui8>) -> tensor<3x2xf16>
    %c100 = stablehlo.constant dense<[[1.0, 4.0], [6.0, 6.0], [11.0, 12.0]]> : tensor<3x2xf16>
    stablehlo.custom_call @check.expect_eq(%r99, %c100) {has_side_effect = true} : (tensor<3x2xf16>, tensor<3x2xf16>) -> ()
    %c101 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    %c102 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r103 = "stablehlo.gather"(%c101, %c102) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xbf16>, tensor<3x1xi32>) -> tensor<3x4xbf16>
    %c104 = stablehlo.constant dense<[[9.0, 10.0, 11.0, 12.0], [1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r103, %c104) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c105 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r106 = "stablehlo.gather"(%c101, %c105) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xbf16>, tensor<2x2xi64>) -> tensor<2x2x2xbf16>
    %c107 = stablehlo.constant dense<[[[5.0, 7.0], [6.0, 8.0]], [[9.0, 11.0], [10.0, 12.0]]]> : tensor<2x2x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r106, %c107) {has_side_effect = true} : (tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) -> ()
    %c108 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r109 = "stablehlo.gather"(%c101, %c108) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xbf16>, tensor<3x2xui8>) -> tensor<3x2xbf16>
    %c110 = stablehlo.constant dense<[[1.0, 4.0], [6.0, 6.0], [11.0, 12.0]]> : tensor<3x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r109, %c110) {has_side_effect = true} : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> ()
    %c111 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    %c112 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r113 = "stablehlo.gather"(%c111, %c112) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
    %c114 = stablehlo.constant dense<[[9.0, 10.0, 11.0, 12.0], [1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r113, %c114) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c115 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r116 = "stablehlo.gather"(%c111, %c115) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
    %c117 = stablehlo.constant dense<[[[5.0, 7.0], [6.0, 8.0]], [[9.0, 11.0], [10.0, 12.0]]]> : tensor<2x2x2xf32>
    stablehlo.custom_call @check.expect_eq(%r116, %c117) {has_side_effect = true} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> ()
    %c118 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r119 = "stablehlo.gather"(%c111, %c118) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf32>, tensor<3x2xui8>) -> tensor<3x2xf32>
    %c120 = stablehlo.constant dense<[[1.0, 4.0], [6.0, 6.0], [11.0, 12.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_eq(%r119, %c120) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %c121 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    %c122 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r123 = "stablehlo.gather"(%c121, %c122) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf64>, tensor<3x1xi32>) -> tensor<3x4xf64>
    %c124 = stablehlo.constant dense<[[9.0, 10.0, 11.0, 12.0], [1.0, 2.0, 3.0, 4.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r123, %c124) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %c125 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r126 = "stablehlo.gather"(%c121, %c125) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xf64>, tensor<2x2xi64>) -> tensor<2x2x2xf64>
    %c127 = stablehlo.constant dense<[[[5.0, 7.0], [6.0, 8.0]], [[9.0, 11.0], [10.0, 12.0]]]> : tensor<2x2x2xf64>
    stablehlo.custom_call @check.expect_eq(%r126, %c127) {has_side_effect = true} : (tensor<2x2x2xf64>, tensor<2x2x2xf64>) -> ()
    %c128 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r129 = "stablehlo.gather"(%c121, %c128) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf64>, tensor<3x2xui8>) -> tensor<3x2xf64>
    %c130 = stablehlo.constant dense<[[1.0, 4.0], [6.0, 6.0], [11.0, 12.0]]> : tensor<3x2xf64>
    stablehlo.custom_call @check.expect_eq(%r129, %c130) {has_side_effect = true} : (tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    %c131 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    %c132 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r133 = "stablehlo.gather"(%c131, %c132) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xcomplex<f32>>, tensor<3x1xi32>) -> tensor<3x4xcomplex<f32>>
    %c134 = stablehlo.constant dense<[[(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)], [(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r133, %c134) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %c135 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r136 = "stablehlo.gather"(%c131, %c135) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xcomplex<f32>>, tensor<2x2xi64>) -> tensor<2x2x2xcomplex<f32>>
    %c137 = stablehlo.constant dense<[[[(5.0, -5.0), (7.0, -7.0)], [(6.0, -6.0), (8.0, -8.0)]], [[(9.0, -9.0), (11.0, -11.0)], [(10.0, -10.0), (12.0, -12.0)]]]> : tensor<2x2x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r136, %c137) {has_side_effect = true} : (tensor<2x2x2xcomplex<f32>>, tensor<2x2x2xcomplex<f32>>) -> ()
    %c138 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r139 = "stablehlo.gather"(%c131, %c138) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xcomplex<f32>>, tensor<3x2xui8>) -> tensor<3x2xcomplex<f32>>
    %c140 = stablehlo.constant dense<[[(1.0, -1.0), (4.0, -4.0)], [(6.0, -6.0), (6.0, -6.0)], [(11.0, -11.0), (12.0, -12.0)]]> : tensor<3x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r139, %c140) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    %c141 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    %c142 = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
    %r143 = "stablehlo.gather"(%c141, %c142) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xcomplex<f64>>, tensor<3x1xi32>) -> tensor<3x4xcomplex<f64>>
    %c144 = stablehlo.constant dense<[[(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)], [(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r143, %c144) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    %c145 = stablehlo.constant dense<[[1, -5], [2, 3]]> : tensor<2x2xi64>
    %r146 = "stablehlo.gather"(%c141, %c145) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x4xcomplex<f64>>, tensor<2x2xi64>) -> tensor<2x2x2xcomplex<f64>>
    %c147 = stablehlo.constant dense<[[[(5.0, -5.0), (7.0, -7.0)], [(6.0, -6.0), (8.0, -8.0)]], [[(9.0, -9.0), (11.0, -11.0)], [(10.0, -10.0), (12.0, -12.0)]]]> : tensor<2x2x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r146, %c147) {has_side_effect = true} : (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>) -> ()
    %c148 = stablehlo.constant dense<[[0, 3], [1, 1], [2, 9]]> : tensor<3x2xui8>
    %r149 = "stablehlo.gather"(%c141, %c148) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xcomplex<f64>>, tensor<3x2xui8>) -> tensor<3x2xcomplex<f64>>
    %c150 = stablehlo.constant dense<[[(1.0, -1.0), (4.0, -4.0)], [(6.0, -6.0), (6.0, -6.0)], [(11.0, -11.0), (12.0, -12.0)]]> : tensor<3x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r149, %c150) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    return
  }
}
