// dot_general: short and long contractions, batched, and with a wider result type.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false], [false, false, true]]> : tensor<2x3xi1>
    %c2 = stablehlo.constant dense<[[true, true], [false, false], [false, true]]> : tensor<3x2xi1>
    %r3 = stablehlo.dot_general %c1, %c2, contracting_dims = [1] x [0] : (tensor<2x3xi1>, tensor<3x2xi1>) -> tensor<2x2xi1>
    %c4 = stablehlo.constant dense<[[true, true], [false, true]]> : tensor<2x2xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<2x2xi1>, tensor<2x2xi1>) -> ()
    %c5 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
    %c6 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
    %r7 = stablehlo.dot_general %c5, %c6, contracting_dims = [1] x [0] : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi8>
    %c8 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
    %c9 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xi8>
    %c10 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xi8>
    %r11 = stablehlo.dot_general %c9, %c10, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xi8>, tensor<2x5x3xi8>) -> tensor<2x2x3xi8>
    %c12 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<2x2x3xi8>, tensor<2x2x3xi8>) -> ()
    %c13 = stablehlo.constant dense<[[100, 100, 100, 100, 100, 100]]> : tensor<1x6xi8>
    %c14 = stablehlo.constant dense<[[100], [100], [100], [100], [100], [100]]> : tensor<6x1xi8>
    %r15 = stablehlo.dot_general %c13, %c14, contracting_dims = [1] x [0] : (tensor<1x6xi8>, tensor<6x1xi8>) -> tensor<1x1xi32>
    %c16 = stablehlo.constant dense<[[60000]]> : tensor<1x1xi32>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<1x1xi32>, tensor<1x1xi32>) -> ()
    %c17 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
    %c18 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi16>
    %r19 = stablehlo.dot_general %c17, %c18, contracting_dims = [1] x [0] : (tensor<2x3xi16>, tensor<3x2xi16>) -> tensor<2x2xi16>
    %c20 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<2x2xi16>, tensor<2x2xi16>) -> ()
    %c21 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xi16>
    %c22 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xi16>
    %r23 = stablehlo.dot_general %c21, %c22, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xi16>, tensor<2x5x3xi16>) -> tensor<2x2x3xi16>
    %c24 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<2x2x3xi16>, tensor<2x2x3xi16>) -> ()
    %c25 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %c26 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %r27 = stablehlo.dot_general %c25, %c26, contracting_dims = [1] x [0] : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
    %c28 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c29 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xi32>
    %c30 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xi32>
    %r31 = stablehlo.dot_general %c29, %c30, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xi32>, tensor<2x5x3xi32>) -> tensor<2x2x3xi32>
    %c32 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<2x2x3xi32>, tensor<2x2x3xi32>) -> ()
    %c33 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
    %c34 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
    %r35 = stablehlo.dot_general %c33, %c34, contracting_dims = [1] x [0] : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<2x2xi64>
    %c36 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
    %c37 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xi64>
    %c38 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xi64>
    %r39 = stablehlo.dot_general %c37, %c38, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xi64>, tensor<2x5x3xi64>) -> tensor<2x2x3xi64>
    %c40 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<2x2x3xi64>, tensor<2x2x3xi64>) -> ()
    %c41 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
    %c42 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui8>
    %r43 = stablehlo.dot_general %c41, %c42, contracting_dims = [1] x [0] : (tensor<2x3xui8>, tensor<3x2xui8>) -> tensor<2x2xui8>
    %c44 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r43, %c44) {has_side_effect = true} : (tensor<2x2xui8>, tensor<2x2xui8>) -> ()
    %c45 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xui8>
    %c46 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xui8>
    %r47 = stablehlo.dot_general %c45, %c46, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xui8>, tensor<2x5x3xui8>) -> tensor<2x2x3xui8>
    %c48 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r47, %c48) {has_side_effect = true} : (tensor<2x2x3xui8>, tensor<2x2x3xui8>) -> ()
    %c49 = stablehlo.constant dense<[[100, 100, 100, 100, 100, 100]]> : tensor<1x6xui8>
    %c50 = stablehlo.constant dense<[[100], [100], [100], [100], [100], [100]]> : tensor<6x1xui8>
    %r51 = stablehlo.dot_general %c49, %c50, contracting_dims = [1] x [0] : (tensor<1x6xui8>, tensor<6x1xui8>) -> tensor<1x1xui32>
    %c52 = stablehlo.constant dense<[[60000]]> : tensor<1x1xui32>
    stablehlo.custom_call @check.expect_eq(%r51, %c52) {has_side_effect = true} : (tensor<1x1xui32>, tensor<1x1xui32>) -> ()
    %c53 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui16>
    %c54 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui16>
    %r55 = stablehlo.dot_general %c53, %c54, contracting_dims = [1] x [0] : (tensor<2x3xui16>, tensor<3x2xui16>) -> tensor<2x2xui16>
    %c56 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r55, %c56) {has_side_effect = true} : (tensor<2x2xui16>, tensor<2x2xui16>) -> ()
    %c57 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xui16>
    %c58 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xui16>
    %r59 = stablehlo.dot_general %c57, %c58, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xui16>, tensor<2x5x3xui16>) -> tensor<2x2x3xui16>
    %c60 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<2x2x3xui16>, tensor<2x2x3xui16>) -> ()
    %c61 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui32>
    %c62 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui32>
    %r63 = stablehlo.dot_general %c61, %c62, contracting_dims = [1] x [0] : (tensor<2x3xui32>, tensor<3x2xui32>) -> tensor<2x2xui32>
    %c64 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r63, %c64) {has_side_effect = true} : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
    %c65 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xui32>
    %c66 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xui32>
    %r67 = stablehlo.dot_general %c65, %c66, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xui32>, tensor<2x5x3xui32>) -> tensor<2x2x3xui32>
    %c68 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r67, %c68) {has_side_effect = true} : (tensor<2x2x3xui32>, tensor<2x2x3xui32>) -> ()
    %c69 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui64>
    %c70 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui64>
    %r71 = stablehlo.dot_general %c69, %c70, contracting_dims = [1] x [0] : (tensor<2x3xui64>, tensor<3x2xui64>) -> tensor<2x2xui64>
    %c72 = stablehlo.constant dense<[[22, 28], [49, 64]]> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r71, %c72) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %c73 = stablehlo.constant dense<[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[11, 12, 13, 14, 15], [16, 17, 18, 19, 20]]]> : tensor<2x2x5xui64>
    %c74 = stablehlo.constant dense<[[[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]]> : tensor<2x5x3xui64>
    %r75 = stablehlo.dot_general %c73, %c74, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xui64>, tensor<2x5x3xui64>) -> tensor<2x2x3xui64>
    %c76 = stablehlo.constant dense<[[[15, 15, 15], [40, 40, 40]], [[65, 65, 65], [90, 90, 90]]]> : tensor<2x2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r75, %c76) {has_side_effect = true} : (tensor<2x2x3xui64>, tensor<2x2x3xui64>) -> ()
    %c77 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
    %c78 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>
    %r79 = stablehlo.dot_general %c77, %c78, contracting_dims = [1] x [0] : (tensor<2x3xf16>, tensor<3x2xf16>) -> tensor<2x2xf16>
    %c80 = stablehlo.constant dense<[[22.0, 28.0], [49.0, 64.0]]> : tensor<2x2xf16>
    stablehlo.custom_call @check.expect_close(%r79, %c80) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
    %c81 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]], [[11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0]]]> : tensor<2x2x5xf16>
    %c82 = stablehlo.constant dense<[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x5x3xf16>
    %r83 = stablehlo.dot_general %c81, %c82, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xf16>, tensor<2x5x3xf16>) -> tensor<2x2x3xf16>
    %c84 = stablehlo.constant dense<[[[15.0, 15.0, 15.0], [40.0, 40.0, 40.0]], [[65.0, 65.0, 65.0], [90.0, 90.0, 90.0]]]> : tensor<2x2x3xf16>
    stablehlo.custom_call @check.expect_close(%r83, %c84) {has_side_effect = true} : (tensor<2x2x3xf16>, tensor<2x2x3xf16>) -> ()
    %c85 = stablehlo.constant dense<[[100.0, 100.0, 100.0, 100.0, 100.0, 100.0]]> : tensor<1x6xf16>
    %c86 = stablehlo.constant dense<[[100.0], [100.0], [100.0], [100.0], [100.0], [100.0]]> : tensor<6x1xf16>
    %r87 = stablehlo.dot_general %c85, %c86, contracting_dims = [1] x [0] : (tensor<1x6xf16>, tensor<6x1xf16>) -> tensor<1x1xf32>
    %c88 = stablehlo.constant dense<[[60000.0]]> : tensor<1x1xf32>
    stablehlo.custom_call @check.expect_close(%r87, %c88) {has_side_effect = true} : (tensor<1x1xf32>, tensor<1x1xf32>) -> ()
    %c89 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xbf16>
    %c90 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xbf16>
    %r91 = stablehlo.dot_general %c89, %c90, contracting_dims = [1] x [0] : (tensor<2x3xbf16>, tensor<3x2xbf16>) -> tensor<2x2xbf16>
    %c92 = stablehlo.constant dense<[[22.0, 28.0], [49.0, 64.0]]> : tensor<2x2xbf16>
    stablehlo.custom_call @check.expect_close(%r91, %c92) {has_side_effect = true} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> ()
    %c93 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]], [[11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0]]]> : tensor<2x2x5xbf16>
    %c94 = stablehlo.constant dense<[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x5x3xbf16>
    %r95 = stablehlo.dot_general %c93, %c94, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xbf16>, tensor<2x5x3xbf16>) -> tensor<2x2x3xbf16>
    %c96 = stablehlo.constant dense<[[[15.0, 15.0, 15.0], [40.0, 40.0, 40.0]], [[65.0, 65.0, 65.0], [90.0, 90.0, 90.0]]]> : tensor<2x2x3xbf16>
    stablehlo.custom_call @check.expect_close(%r95, %c96) {has_side_effect = true} : (tensor<2x2x3xbf16>, tensor<2x2x3xbf16>) -> ()
    %c97 = stablehlo.constant dense<[[100.0, 100.0, 100.0, 100.0, 100.0, 100.0]]> : tensor<1x6xbf16>
    %c98 = stablehlo.constant dense<[[100.0], [100.0], [100.0], [100.0], [100.0], [100.0]]> : tensor<6x1xbf16>
    %r99 = stablehlo.dot_general %c97, %c98, contracting_dims = [1] x [0] : (tensor<1x6xbf16>, tensor<6x1xbf16>) -> tensor<1x1xf32>
    %c100 = stablehlo.constant dense<[[60000.0]]> : tensor<1x1xf32>
    stablehlo.custom_call @check.expect_close(%r99, %c100) {has_side_effect = true} : (tensor<1x1xf32>, tensor<1x1xf32>) -> ()
    %c101 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %c102 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
    %r103 = stablehlo.dot_general %c101, %c102, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %c104 = stablehlo.constant dense<[[22.0, 28.0], [49.0, 64.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_close(%r103, %c104) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %c105 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]], [[11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0]]]> : tensor<2x2x5xf32>
    %c106 = stablehlo.constant dense<[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x5x3xf32>
    %r107 = stablehlo.dot_general %c105, %c106, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xf32>, tensor<2x5x3xf32>) -> tensor<2x2x3xf32>
    %c108 = stablehlo.constant dense<[[[15.0, 15.0, 15.0], [40.0, 40.0, 40.0]], [[65.0, 65.0, 65.0], [90.0, 90.0, 90.0]]]> : tensor<2x2x3xf32>
    stablehlo.custom_call @check.expect_close(%r107, %c108) {has_side_effect = true} : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> ()
    %c109 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
    %c110 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf64>
    %r111 = stablehlo.dot_general %c109, %c110, contracting_dims = [1] x [0] : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %c112 = stablehlo.constant dense<[[22.0, 28.0], [49.0, 64.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_close(%r111, %c112) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %c113 = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]], [[11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0]]]> : tensor<2x2x5xf64>
    %c114 = stablehlo.constant dense<[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x5x3xf64>
    %r115 = stablehlo.dot_general %c113, %c114, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xf64>, tensor<2x5x3xf64>) -> tensor<2x2x3xf64>
    %c116 = stablehlo.constant dense<[[[15.0, 15.0, 15.0], [40.0, 40.0, 40.0]], [[65.0, 65.0, 65.0], [90.0, 90.0, 90.0]]]> : tensor<2x2x3xf64>
    stablehlo.custom_call @check.expect_close(%r115, %c116) {has_side_effect = true} : (tensor<2x2x3xf64>, tensor<2x2x3xf64>) -> ()
    %c117 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f32>>
    %c118 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0)], [(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]]> : tensor<3x2xcomplex<f32>>
    %r119 = stablehlo.dot_general %c117, %c118, contracting_dims = [1] x [0] : (tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    %c120 = stablehlo.constant dense<[[(0.0, -44.0), (0.0, -56.0)], [(0.0, -98.0), (0.0, -128.0)]]> : tensor<2x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r119, %c120) {has_side_effect = true} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> ()
    %c121 = stablehlo.constant dense<[[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0), (5.0, -5.0)], [(6.0, -6.0), (7.0, -7.0), (8.0, -8.0), (9.0, -9.0), (10.0, -10.0)]], [[(11.0, -11.0), (12.0, -12.0), (13.0, -13.0), (14.0, -14.0), (15.0, -15.0)], [(16.0, -16.0), (17.0, -17.0), (18.0, -18.0), (19.0, -19.0), (20.0, -20.0)]]]> : tensor<2x2x5xcomplex<f32>>
    %c122 = stablehlo.constant dense<[[[(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]], [[(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]]]> : tensor<2x5x3xcomplex<f32>>
    %r123 = stablehlo.dot_general %c121, %c122, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xcomplex<f32>>, tensor<2x5x3xcomplex<f32>>) -> tensor<2x2x3xcomplex<f32>>
    %c124 = stablehlo.constant dense<[[[(15.0, -15.0), (15.0, -15.0), (15.0, -15.0)], [(40.0, -40.0), (40.0, -40.0), (40.0, -40.0)]], [[(65.0, -65.0), (65.0, -65.0), (65.0, -65.0)], [(90.0, -90.0), (90.0, -90.0), (90.0, -90.0)]]]> : tensor<2x2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r123, %c124) {has_side_effect = true} : (tensor<2x2x3xcomplex<f32>>, tensor<2x2x3xcomplex<f32>>) -> ()
    %c125 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f64>>
    %c126 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0)], [(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]]> : tensor<3x2xcomplex<f64>>
    %r127 = stablehlo.dot_general %c125, %c126, contracting_dims = [1] x [0] : (tensor<2x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %c128 = stablehlo.constant dense<[[(0.0, -44.0), (0.0, -56.0)], [(0.0, -98.0), (0.0, -128.0)]]> : tensor<2x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r127, %c128) {has_side_effect = true} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
    %c129 = stablehlo.constant dense<[[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0), (5.0, -5.0)], [(6.0, -6.0), (7.0, -7.0), (8.0, -8.0), (9.0, -9.0), (10.0, -10.0)]], [[(11.0, -11.0), (12.0, -12.0), (13.0, -13.0), (14.0, -14.0), (15.0, -15.0)], [(16.0, -16.0), (17.0, -17.0), (18.0, -18.0), (19.0, -19.0), (20.0, -20.0)]]]> : tensor<2x2x5xcomplex<f64>>
    %c130 = stablehlo.constant dense<[[[(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]], [[(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]]]> : tensor<2x5x3xcomplex<f64>>
    %r131 = stablehlo.dot_general %c129, %c130, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x5xcomplex<f64>>, tensor<2x5x3xcomplex<f64>>) -> tensor<2x2x3xcomplex<f64>>
    %c132 = stablehlo.constant dense<[[[(15.0, -15.0), (15.0, -15.0), (15.0, -15.0)], [(40.0, -40.0), (40.0, -40.0), (40.0, -40.0)]], [[(65.0, -65.0), (65.0, -65.0), (65.0, -65.0)], [(90.0, -90.0), (90.0, -90.0), (90.0, -90.0)]]]> : tensor<2x2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r131, %c132) {has_side_effect = true} : (tensor<2x2x3xcomplex<f64>>, tensor<2x2x3xcomplex<f64>>) -> ()
    return
  }
}
