// scatter that replaces, adds and applies a body; of rows, out-of-bounds windows, and batched.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false, false], [false, true, true, true], [false, false, false, true]]> : tensor<3x4xi1>
    %c2 = stablehlo.constant dense<[[true, false, false, false], [true, true, true, false], [false, false, true, true]]> : tensor<3x4xi1>
    %c3 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r4 = "stablehlo.scatter"(%c1, %c3, %c2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i1>, %b: tensor<i1>):
        stablehlo.return %b : tensor<i1>
    }) : (tensor<3x4xi1>, tensor<3x1xi32>, tensor<3x4xi1>) -> tensor<3x4xi1>
    %c5 = stablehlo.constant dense<[[true, true, true, false], [false, true, true, true], [true, false, false, false]]> : tensor<3x4xi1>
    stablehlo.custom_call @check.expect_eq(%r4, %c5) {has_side_effect = true} : (tensor<3x4xi1>, tensor<3x4xi1>) -> ()
    %c6 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %c7 = stablehlo.constant dense<[[[false, false], [true, true]], [[true, false], [false, false]]]> : tensor<2x2x2xi1>
    %c8 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r9 = "stablehlo.scatter"(%c1, %c8, %c7) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i1>, %b: tensor<i1>):
        stablehlo.return %b : tensor<i1>
    }) : (tensor<3x4xi1>, tensor<2x2xi64>, tensor<2x2x2xi1>) -> tensor<3x4xi1>
    %c10 = stablehlo.constant dense<[[true, true, false, false], [false, false, true, true], [true, true, false, true]]> : tensor<3x4xi1>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<3x4xi1>, tensor<3x4xi1>) -> ()
    %c11 = stablehlo.constant dense<[[true, true], [true, false], [false, false]]> : tensor<3x2xi1>
    %c12 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r13 = "stablehlo.scatter"(%c1, %c12, %c11) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<i1>, %b: tensor<i1>):
        stablehlo.return %b : tensor<i1>
    }) : (tensor<3x4xi1>, tensor<3x2xi64>, tensor<3x2xi1>) -> tensor<3x4xi1>
    %c14 = stablehlo.constant dense<[[true, true, false, true], [false, true, true, true], [false, false, false, true]]> : tensor<3x4xi1>
    stablehlo.custom_call @check.expect_eq(%r13, %c14) {has_side_effect = true} : (tensor<3x4xi1>, tensor<3x4xi1>) -> ()
    %c15 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi8>
    %c16 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xi8>
    %c17 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r18 = "stablehlo.scatter"(%c15, %c17, %c16) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        stablehlo.return %b : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<3x1xi32>, tensor<3x4xi8>) -> tensor<3x4xi8>
    %c19 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r18, %c19) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c20 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r21 = "stablehlo.scatter"(%c15, %c20, %c16) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.add %a, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<3x1xi32>, tensor<3x4xi8>) -> tensor<3x4xi8>
    %c22 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r21, %c22) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %r23 = "stablehlo.scatter"(%c15, %c20, %c16) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %s = stablehlo.subtract %b, %a : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<3x1xi32>, tensor<3x4xi8>) -> tensor<3x4xi8>
    %c24 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c25 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xi8>
    %c26 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r27 = "stablehlo.scatter"(%c15, %c26, %c25) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        stablehlo.return %b : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<2x2xi64>, tensor<2x2x2xi8>) -> tensor<3x4xi8>
    %c28 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c29 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xi8>
    %c30 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r31 = "stablehlo.scatter"(%c15, %c30, %c29) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        stablehlo.return %b : tensor<i8>
    }) : (tensor<3x4xi8>, tensor<3x2xi64>, tensor<3x2xi8>) -> tensor<3x4xi8>
    %c32 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    %c33 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi16>
    %c34 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xi16>
    %c35 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r36 = "stablehlo.scatter"(%c33, %c35, %c34) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        stablehlo.return %b : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<3x1xi32>, tensor<3x4xi16>) -> tensor<3x4xi16>
    %c37 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r36, %c37) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c38 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r39 = "stablehlo.scatter"(%c33, %c38, %c34) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.add %a, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<3x1xi32>, tensor<3x4xi16>) -> tensor<3x4xi16>
    %c40 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %r41 = "stablehlo.scatter"(%c33, %c38, %c34) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %s = stablehlo.subtract %b, %a : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<3x1xi32>, tensor<3x4xi16>) -> tensor<3x4xi16>
    %c42 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r41, %c42) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c43 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xi16>
    %c44 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r45 = "stablehlo.scatter"(%c33, %c44, %c43) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        stablehlo.return %b : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<2x2xi64>, tensor<2x2x2xi16>) -> tensor<3x4xi16>
    %c46 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r45, %c46) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c47 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xi16>
    %c48 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r49 = "stablehlo.scatter"(%c33, %c48, %c47) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        stablehlo.return %b : tensor<i16>
    }) : (tensor<3x4xi16>, tensor<3x2xi64>, tensor<3x2xi16>) -> tensor<3x4xi16>
    %c50 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xi16>
    stablehlo.custom_call @check.expect_eq(%r49, %c50) {has_side_effect = true} : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
    %c51 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
    %c52 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xi32>
    %c53 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r54 = "stablehlo.scatter"(%c51, %c53, %c52) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        stablehlo.return %b : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<3x1xi32>, tensor<3x4xi32>) -> tensor<3x4xi32>
    %c55 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r54, %c55) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c56 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r57 = "stablehlo.scatter"(%c51, %c56, %c52) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<3x1xi32>, tensor<3x4xi32>) -> tensor<3x4xi32>
    %c58 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r57, %c58) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %r59 = "stablehlo.scatter"(%c51, %c56, %c52) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.subtract %b, %a : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<3x1xi32>, tensor<3x4xi32>) -> tensor<3x4xi32>
    %c60 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c61 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xi32>
    %c62 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r63 = "stablehlo.scatter"(%c51, %c62, %c61) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        stablehlo.return %b : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<2x2xi64>, tensor<2x2x2xi32>) -> tensor<3x4xi32>
    %c64 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r63, %c64) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c65 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xi32>
    %c66 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r67 = "stablehlo.scatter"(%c51, %c66, %c65) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        stablehlo.return %b : tensor<i32>
    }) : (tensor<3x4xi32>, tensor<3x2xi64>, tensor<3x2xi32>) -> tensor<3x4xi32>
    %c68 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xi32>
    stablehlo.custom_call @check.expect_eq(%r67, %c68) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    %c69 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi64>
    %c70 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xi64>
    %c71 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r72 = "stablehlo.scatter"(%c69, %c71, %c70) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        stablehlo.return %b : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<3x1xi32>, tensor<3x4xi64>) -> tensor<3x4xi64>
    %c73 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r72, %c73) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c74 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r75 = "stablehlo.scatter"(%c69, %c74, %c70) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<3x1xi32>, tensor<3x4xi64>) -> tensor<3x4xi64>
    %c76 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r75, %c76) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %r77 = "stablehlo.scatter"(%c69, %c74, %c70) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.subtract %b, %a : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<3x1xi32>, tensor<3x4xi64>) -> tensor<3x4xi64>
    %c78 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r77, %c78) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c79 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xi64>
    %c80 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r81 = "stablehlo.scatter"(%c69, %c80, %c79) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        stablehlo.return %b : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<2x2xi64>, tensor<2x2x2xi64>) -> tensor<3x4xi64>
    %c82 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r81, %c82) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c83 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xi64>
    %c84 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r85 = "stablehlo.scatter"(%c69, %c84, %c83) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        stablehlo.return %b : tensor<i64>
    }) : (tensor<3x4xi64>, tensor<3x2xi64>, tensor<3x2xi64>) -> tensor<3x4xi64>
    %c86 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xi64>
    stablehlo.custom_call @check.expect_eq(%r85, %c86) {has_side_effect = true} : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
    %c87 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui8>
    %c88 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xui8>
    %c89 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r90 = "stablehlo.scatter"(%c87, %c89, %c88) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        stablehlo.return %b : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<3x1xi32>, tensor<3x4xui8>) -> tensor<3x4xui8>
    %c91 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r90, %c91) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c92 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r93 = "stablehlo.scatter"(%c87, %c92, %c88) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.add %a, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<3x1xi32>, tensor<3x4xui8>) -> tensor<3x4xui8>
    %c94 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r93, %c94) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %r95 = "stablehlo.scatter"(%c87, %c92, %c88) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %s = stablehlo.subtract %b, %a : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<3x1xi32>, tensor<3x4xui8>) -> tensor<3x4xui8>
    %c96 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r95, %c96) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c97 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xui8>
    %c98 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r99 = "stablehlo.scatter"(%c87, %c98, %c97) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        stablehlo.return %b : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<2x2xi64>, tensor<2x2x2xui8>) -> tensor<3x4xui8>
    %c100 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r99, %c100) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c101 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xui8>
    %c102 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r103 = "stablehlo.scatter"(%c87, %c102, %c101) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        stablehlo.return %b : tensor<ui8>
    }) : (tensor<3x4xui8>, tensor<3x2xi64>, tensor<3x2xui8>) -> tensor<3x4xui8>
    %c104 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xui8>
    stablehlo.custom_call @check.expect_eq(%r103, %c104) {has_side_effect = true} : (tensor<3x4xui8>, tensor<3x4xui8>) -> ()
    %c105 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui16>
    %c106 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xui16>
    %c107 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r108 = "stablehlo.scatter"(%c105, %c107, %c106) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        stablehlo.return %b : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<3x1xi32>, tensor<3x4xui16>) -> tensor<3x4xui16>
    %c109 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r108, %c109) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c110 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r111 = "stablehlo.scatter"(%c105, %c110, %c106) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.add %a, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<3x1xi32>, tensor<3x4xui16>) -> tensor<3x4xui16>
    %c112 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r111, %c112) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %r113 = "stablehlo.scatter"(%c105, %c110, %c106) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %s = stablehlo.subtract %b, %a : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<3x1xi32>, tensor<3x4xui16>) -> tensor<3x4xui16>
    %c114 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r113, %c114) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c115 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xui16>
    %c116 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r117 = "stablehlo.scatter"(%c105, %c116, %c115) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        stablehlo.return %b : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<2x2xi64>, tensor<2x2x2xui16>) -> tensor<3x4xui16>
    %c118 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r117, %c118) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c119 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xui16>
    %c120 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r121 = "stablehlo.scatter"(%c105, %c120, %c119) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        stablehlo.return %b : tensor<ui16>
    }) : (tensor<3x4xui16>, tensor<3x2xi64>, tensor<3x2xui16>) -> tensor<3x4xui16>
    %c122 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xui16>
    stablehlo.custom_call @check.expect_eq(%r121, %c122) {has_side_effect = true} : (tensor<3x4xui16>, tensor<3x4xui16>) -> ()
    %c123 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui32>
    %c124 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xui32>
    %c125 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r126 = "stablehlo.scatter"(%c123, %c125, %c124) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        stablehlo.return %b : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<3x1xi32>, tensor<3x4xui32>) -> tensor<3x4xui32>
    %c127 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r126, %c127) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c128 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r129 = "stablehlo.scatter"(%c123, %c128, %c124) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.add %a, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<3x1xi32>, tensor<3x4xui32>) -> tensor<3x4xui32>
    %c130 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r129, %c130) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %r131 = "stablehlo.scatter"(%c123, %c128, %c124) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %s = stablehlo.subtract %b, %a : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<3x1xi32>, tensor<3x4xui32>) -> tensor<3x4xui32>
    %c132 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r131, %c132) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c133 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xui32>
    %c134 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r135 = "stablehlo.scatter"(%c123, %c134, %c133) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        stablehlo.return %b : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<2x2xi64>, tensor<2x2x2xui32>) -> tensor<3x4xui32>
    %c136 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r135, %c136) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c137 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xui32>
    %c138 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r139 = "stablehlo.scatter"(%c123, %c138, %c137) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        stablehlo.return %b : tensor<ui32>
    }) : (tensor<3x4xui32>, tensor<3x2xi64>, tensor<3x2xui32>) -> tensor<3x4xui32>
    %c140 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%r139, %c140) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %c141 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui64>
    %c142 = stablehlo.constant dense<[[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<3x4xui64>
    %c143 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r144 = "stablehlo.scatter"(%c141, %c143, %c142) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        stablehlo.return %b : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<3x1xi32>, tensor<3x4xui64>) -> tensor<3x4xui64>
    %c145 = stablehlo.constant dense<[[24, 25, 26, 27], [5, 6, 7, 8], [20, 21, 22, 23]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r144, %c145) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c146 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r147 = "stablehlo.scatter"(%c141, %c146, %c142) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.add %a, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<3x1xi32>, tensor<3x4xui64>) -> tensor<3x4xui64>
    %c148 = stablehlo.constant dense<[[29, 31, 33, 35], [5, 6, 7, 8], [53, 56, 59, 62]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r147, %c148) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %r149 = "stablehlo.scatter"(%c141, %c146, %c142) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %s = stablehlo.subtract %b, %a : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<3x1xi32>, tensor<3x4xui64>) -> tensor<3x4xui64>
    %c150 = stablehlo.constant dense<[[27, 27, 27, 27], [5, 6, 7, 8], [13, 14, 15, 16]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r149, %c150) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c151 = stablehlo.constant dense<[[[40, 41], [42, 43]], [[44, 45], [46, 47]]]> : tensor<2x2x2xui64>
    %c152 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r153 = "stablehlo.scatter"(%c141, %c152, %c151) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        stablehlo.return %b : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<2x2xi64>, tensor<2x2x2xui64>) -> tensor<3x4xui64>
    %c154 = stablehlo.constant dense<[[1, 2, 3, 4], [40, 41, 7, 8], [42, 43, 11, 44]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r153, %c154) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c155 = stablehlo.constant dense<[[60, 61], [62, 63], [64, 65]]> : tensor<3x2xui64>
    %c156 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r157 = "stablehlo.scatter"(%c141, %c156, %c155) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        stablehlo.return %b : tensor<ui64>
    }) : (tensor<3x4xui64>, tensor<3x2xi64>, tensor<3x2xui64>) -> tensor<3x4xui64>
    %c158 = stablehlo.constant dense<[[60, 2, 3, 61], [5, 62, 7, 8], [65, 10, 64, 12]]> : tensor<3x4xui64>
    stablehlo.custom_call @check.expect_eq(%r157, %c158) {has_side_effect = true} : (tensor<3x4xui64>, tensor<3x4xui64>) -> ()
    %c159 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    %c160 = stablehlo.constant dense<[[20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0], [28.0, 29.0, 30.0, 31.0]]> : tensor<3x4xf16>
    %c161 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r162 = "stablehlo.scatter"(%c159, %c161, %c160) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        stablehlo.return %b : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<3x1xi32>, tensor<3x4xf16>) -> tensor<3x4xf16>
    %c163 = stablehlo.constant dense<[[24.0, 25.0, 26.0, 27.0], [5.0, 6.0, 7.0, 8.0], [20.0, 21.0, 22.0, 23.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r162, %c163) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c164 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r165 = "stablehlo.scatter"(%c159, %c164, %c160) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.add %a, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<3x1xi32>, tensor<3x4xf16>) -> tensor<3x4xf16>
    %c166 = stablehlo.constant dense<[[29.0, 31.0, 33.0, 35.0], [5.0, 6.0, 7.0, 8.0], [53.0, 56.0, 59.0, 62.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r165, %c166) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %r167 = "stablehlo.scatter"(%c159, %c164, %c160) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %s = stablehlo.subtract %b, %a : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<3x1xi32>, tensor<3x4xf16>) -> tensor<3x4xf16>
    %c168 = stablehlo.constant dense<[[27.0, 27.0, 27.0, 27.0], [5.0, 6.0, 7.0, 8.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r167, %c168) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c169 = stablehlo.constant dense<[[[40.0, 41.0], [42.0, 43.0]], [[44.0, 45.0], [46.0, 47.0]]]> : tensor<2x2x2xf16>
    %c170 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r171 = "stablehlo.scatter"(%c159, %c170, %c169) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        stablehlo.return %b : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<2x2xi64>, tensor<2x2x2xf16>) -> tensor<3x4xf16>
    %c172 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [40.0, 41.0, 7.0, 8.0], [42.0, 43.0, 11.0, 44.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r171, %c172) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c173 = stablehlo.constant dense<[[60.0, 61.0], [62.0, 63.0], [64.0, 65.0]]> : tensor<3x2xf16>
    %c174 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r175 = "stablehlo.scatter"(%c159, %c174, %c173) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        stablehlo.return %b : tensor<f16>
    }) : (tensor<3x4xf16>, tensor<3x2xi64>, tensor<3x2xf16>) -> tensor<3x4xf16>
    %c176 = stablehlo.constant dense<[[60.0, 2.0, 3.0, 61.0], [5.0, 62.0, 7.0, 8.0], [65.0, 10.0, 64.0, 12.0]]> : tensor<3x4xf16>
    stablehlo.custom_call @check.expect_eq(%r175, %c176) {has_side_effect = true} : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
    %c177 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    %c178 = stablehlo.constant dense<[[20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0], [28.0, 29.0, 30.0, 31.0]]> : tensor<3x4xbf16>
    %c179 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r180 = "stablehlo.scatter"(%c177, %c179, %c178) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        stablehlo.return %b : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<3x1xi32>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
    %c181 = stablehlo.constant dense<[[24.0, 25.0, 26.0, 27.0], [5.0, 6.0, 7.0, 8.0], [20.0, 21.0, 22.0, 23.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r180, %c181) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c182 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r183 = "stablehlo.scatter"(%c177, %c182, %c178) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.add %a, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<3x1xi32>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
    %c184 = stablehlo.constant dense<[[29.0, 31.0, 33.0, 35.0], [5.0, 6.0, 7.0, 8.0], [53.0, 56.0, 59.0, 62.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r183, %c184) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %r185 = "stablehlo.scatter"(%c177, %c182, %c178) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %s = stablehlo.subtract %b, %a : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<3x1xi32>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
    %c186 = stablehlo.constant dense<[[27.0, 27.0, 27.0, 27.0], [5.0, 6.0, 7.0, 8.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r185, %c186) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c187 = stablehlo.constant dense<[[[40.0, 41.0], [42.0, 43.0]], [[44.0, 45.0], [46.0, 47.0]]]> : tensor<2x2x2xbf16>
    %c188 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r189 = "stablehlo.scatter"(%c177, %c188, %c187) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        stablehlo.return %b : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<2x2xi64>, tensor<2x2x2xbf16>) -> tensor<3x4xbf16>
    %c190 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [40.0, 41.0, 7.0, 8.0], [42.0, 43.0, 11.0, 44.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r189, %c190) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c191 = stablehlo.constant dense<[[60.0, 61.0], [62.0, 63.0], [64.0, 65.0]]> : tensor<3x2xbf16>
    %c192 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r193 = "stablehlo.scatter"(%c177, %c192, %c191) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        stablehlo.return %b : tensor<bf16>
    }) : (tensor<3x4xbf16>, tensor<3x2xi64>, tensor<3x2xbf16>) -> tensor<3x4xbf16>
    %c194 = stablehlo.constant dense<[[60.0, 2.0, 3.0, 61.0], [5.0, 62.0, 7.0, 8.0], [65.0, 10.0, 64.0, 12.0]]> : tensor<3x4xbf16>
    stablehlo.custom_call @check.expect_eq(%r193, %c194) {has_side_effect = true} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
    %c195 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    %c196 = stablehlo.constant dense<[[20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0], [28.0, 29.0, 30.0, 31.0]]> : tensor<3x4xf32>
    %c197 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r198 = "stablehlo.scatter"(%c195, %c197, %c196) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %c199 = stablehlo.constant dense<[[24.0, 25.0, 26.0, 27.0], [5.0, 6.0, 7.0, 8.0], [20.0, 21.0, 22.0, 23.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r198, %c199) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c200 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r201 = "stablehlo.scatter"(%c195, %c200, %c196) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %c202 = stablehlo.constant dense<[[29.0, 31.0, 33.0, 35.0], [5.0, 6.0, 7.0, 8.0], [53.0, 56.0, 59.0, 62.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r201, %c202) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %r203 = "stablehlo.scatter"(%c195, %c200, %c196) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.subtract %b, %a : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %c204 = stablehlo.constant dense<[[27.0, 27.0, 27.0, 27.0], [5.0, 6.0, 7.0, 8.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r203, %c204) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c205 = stablehlo.constant dense<[[[40.0, 41.0], [42.0, 43.0]], [[44.0, 45.0], [46.0, 47.0]]]> : tensor<2x2x2xf32>
    %c206 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r207 = "stablehlo.scatter"(%c195, %c206, %c205) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<2x2xi64>, tensor<2x2x2xf32>) -> tensor<3x4xf32>
    %c208 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [40.0, 41.0, 7.0, 8.0], [42.0, 43.0, 11.0, 44.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r207, %c208) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c209 = stablehlo.constant dense<[[60.0, 61.0], [62.0, 63.0], [64.0, 65.0]]> : tensor<3x2xf32>
    %c210 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r211 = "stablehlo.scatter"(%c195, %c210, %c209) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x4xf32>
    %c212 = stablehlo.constant dense<[[60.0, 2.0, 3.0, 61.0], [5.0, 62.0, 7.0, 8.0], [65.0, 10.0, 64.0, 12.0]]> : tensor<3x4xf32>
    stablehlo.custom_call @check.expect_eq(%r211, %c212) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    %c213 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    %c214 = stablehlo.constant dense<[[20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0], [28.0, 29.0, 30.0, 31.0]]> : tensor<3x4xf64>
    %c215 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r216 = "stablehlo.scatter"(%c213, %c215, %c214) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        stablehlo.return %b : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<3x1xi32>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %c217 = stablehlo.constant dense<[[24.0, 25.0, 26.0, 27.0], [5.0, 6.0, 7.0, 8.0], [20.0, 21.0, 22.0, 23.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r216, %c217) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %c218 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r219 = "stablehlo.scatter"(%c213, %c218, %c214) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<3x1xi32>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %c220 = stablehlo.constant dense<[[29.0, 31.0, 33.0, 35.0], [5.0, 6.0, 7.0, 8.0], [53.0, 56.0, 59.0, 62.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r219, %c220) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %r221 = "stablehlo.scatter"(%c213, %c218, %c214) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.subtract %b, %a : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<3x1xi32>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %c222 = stablehlo.constant dense<[[27.0, 27.0, 27.0, 27.0], [5.0, 6.0, 7.0, 8.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r221, %c222) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %c223 = stablehlo.constant dense<[[[40.0, 41.0], [42.0, 43.0]], [[44.0, 45.0], [46.0, 47.0]]]> : tensor<2x2x2xf64>
    %c224 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r225 = "stablehlo.scatter"(%c213, %c224, %c223) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        stablehlo.return %b : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<2x2xi64>, tensor<2x2x2xf64>) -> tensor<3x4xf64>
    %c226 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [40.0, 41.0, 7.0, 8.0], [42.0, 43.0, 11.0, 44.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r225, %c226) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %c227 = stablehlo.constant dense<[[60.0, 61.0], [62.0, 63.0], [64.0, 65.0]]> : tensor<3x2xf64>
    %c228 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r229 = "stablehlo.scatter"(%c213, %c228, %c227) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        stablehlo.return %b : tensor<f64>
    }) : (tensor<3x4xf64>, tensor<3x2xi64>, tensor<3x2xf64>) -> tensor<3x4xf64>
    %c230 = stablehlo.constant dense<[[60.0, 2.0, 3.0, 61.0], [5.0, 62.0, 7.0, 8.0], [65.0, 10.0, 64.0, 12.0]]> : tensor<3x4xf64>
    stablehlo.custom_call @check.expect_eq(%r229, %c230) {has_side_effect = true} : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
    %c231 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    %c232 = stablehlo.constant dense<[[(20.0, -20.0), (21.0, -21.0), (22.0, -22.0), (23.0, -23.0)], [(24.0, -24.0), (25.0, -25.0), (26.0, -26.0), (27.0, -27.0)], [(28.0, -28.0), (29.0, -29.0), (30.0, -30.0), (31.0, -31.0)]]> : tensor<3x4xcomplex<f32>>
    %c233 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r234 = "stablehlo.scatter"(%c231, %c233, %c232) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        stablehlo.return %b : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<3x1xi32>, tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c235 = stablehlo.constant dense<[[(24.0, -24.0), (25.0, -25.0), (26.0, -26.0), (27.0, -27.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(20.0, -20.0), (21.0, -21.0), (22.0, -22.0), (23.0, -23.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r234, %c235) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %c236 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r237 = "stablehlo.scatter"(%c231, %c236, %c232) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %s = stablehlo.add %a, %b : tensor<complex<f32>>
        stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<3x1xi32>, tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c238 = stablehlo.constant dense<[[(29.0, -29.0), (31.0, -31.0), (33.0, -33.0), (35.0, -35.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(53.0, -53.0), (56.0, -56.0), (59.0, -59.0), (62.0, -62.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r237, %c238) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %r239 = "stablehlo.scatter"(%c231, %c236, %c232) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %s = stablehlo.subtract %b, %a : tensor<complex<f32>>
        stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<3x1xi32>, tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c240 = stablehlo.constant dense<[[(27.0, -27.0), (27.0, -27.0), (27.0, -27.0), (27.0, -27.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(13.0, -13.0), (14.0, -14.0), (15.0, -15.0), (16.0, -16.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r239, %c240) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %c241 = stablehlo.constant dense<[[[(40.0, -40.0), (41.0, -41.0)], [(42.0, -42.0), (43.0, -43.0)]], [[(44.0, -44.0), (45.0, -45.0)], [(46.0, -46.0), (47.0, -47.0)]]]> : tensor<2x2x2xcomplex<f32>>
    %c242 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r243 = "stablehlo.scatter"(%c231, %c242, %c241) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        stablehlo.return %b : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<2x2xi64>, tensor<2x2x2xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c244 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(40.0, -40.0), (41.0, -41.0), (7.0, -7.0), (8.0, -8.0)], [(42.0, -42.0), (43.0, -43.0), (11.0, -11.0), (44.0, -44.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r243, %c244) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %c245 = stablehlo.constant dense<[[(60.0, -60.0), (61.0, -61.0)], [(62.0, -62.0), (63.0, -63.0)], [(64.0, -64.0), (65.0, -65.0)]]> : tensor<3x2xcomplex<f32>>
    %c246 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r247 = "stablehlo.scatter"(%c231, %c246, %c245) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        stablehlo.return %b : tensor<complex<f32>>
    }) : (tensor<3x4xcomplex<f32>>, tensor<3x2xi64>, tensor<3x2xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    %c248 = stablehlo.constant dense<[[(60.0, -60.0), (2.0, -2.0), (3.0, -3.0), (61.0, -61.0)], [(5.0, -5.0), (62.0, -62.0), (7.0, -7.0), (8.0, -8.0)], [(65.0, -65.0), (10.0, -10.0), (64.0, -64.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r247, %c248) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    %c249 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    %c250 = stablehlo.constant dense<[[(20.0, -20.0), (21.0, -21.0), (22.0, -22.0), (23.0, -23.0)], [(24.0, -24.0), (25.0, -25.0), (26.0, -26.0), (27.0, -27.0)], [(28.0, -28.0), (29.0, -29.0), (30.0, -30.0), (31.0, -31.0)]]> : tensor<3x4xcomplex<f64>>
    %c251 = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
    %r252 = "stablehlo.scatter"(%c249, %c251, %c250) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        stablehlo.return %b : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<3x1xi32>, tensor<3x4xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c253 = stablehlo.constant dense<[[(24.0, -24.0), (25.0, -25.0), (26.0, -26.0), (27.0, -27.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(20.0, -20.0), (21.0, -21.0), (22.0, -22.0), (23.0, -23.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r252, %c253) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    %c254 = stablehlo.constant dense<[[2], [2], [0]]> : tensor<3x1xi32>
    %r255 = "stablehlo.scatter"(%c249, %c254, %c250) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        %s = stablehlo.add %a, %b : tensor<complex<f64>>
        stablehlo.return %s : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<3x1xi32>, tensor<3x4xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c256 = stablehlo.constant dense<[[(29.0, -29.0), (31.0, -31.0), (33.0, -33.0), (35.0, -35.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(53.0, -53.0), (56.0, -56.0), (59.0, -59.0), (62.0, -62.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r255, %c256) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    %r257 = "stablehlo.scatter"(%c249, %c254, %c250) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        %s = stablehlo.subtract %b, %a : tensor<complex<f64>>
        stablehlo.return %s : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<3x1xi32>, tensor<3x4xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c258 = stablehlo.constant dense<[[(27.0, -27.0), (27.0, -27.0), (27.0, -27.0), (27.0, -27.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(13.0, -13.0), (14.0, -14.0), (15.0, -15.0), (16.0, -16.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r257, %c258) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    %c259 = stablehlo.constant dense<[[[(40.0, -40.0), (41.0, -41.0)], [(42.0, -42.0), (43.0, -43.0)]], [[(44.0, -44.0), (45.0, -45.0)], [(46.0, -46.0), (47.0, -47.0)]]]> : tensor<2x2x2xcomplex<f64>>
    %c260 = stablehlo.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>
    %r261 = "stablehlo.scatter"(%c249, %c260, %c259) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        stablehlo.return %b : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<2x2xi64>, tensor<2x2x2xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c262 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(40.0, -40.0), (41.0, -41.0), (7.0, -7.0), (8.0, -8.0)], [(42.0, -42.0), (43.0, -43.0), (11.0, -11.0), (44.0, -44.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r261, %c262) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    %c263 = stablehlo.constant dense<[[(60.0, -60.0), (61.0, -61.0)], [(62.0, -62.0), (63.0, -63.0)], [(64.0, -64.0), (65.0, -65.0)]]> : tensor<3x2xcomplex<f64>>
    %c264 = stablehlo.constant dense<[[0, 3], [1, 9], [2, 0]]> : tensor<3x2xi64>
    %r265 = "stablehlo.scatter"(%c249, %c264, %c263) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        stablehlo.return %b : tensor<complex<f64>>
    }) : (tensor<3x4xcomplex<f64>>, tensor<3x2xi64>, tensor<3x2xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %c266 = stablehlo.constant dense<[[(60.0, -60.0), (2.0, -2.0), (3.0, -3.0), (61.0, -61.0)], [(5.0, -5.0), (62.0, -62.0), (7.0, -7.0), (8.0, -8.0)], [(65.0, -65.0), (10.0, -10.0), (64.0, -64.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r265, %c266) {has_side_effect = true} : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
    return
  }
}
