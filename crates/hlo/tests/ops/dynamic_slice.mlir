// dynamic_slice with constant and dynamic start indices, which are clamped.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false, false], [false, true, true, true], [false, false, false, true]]> : tensor<3x4xi1>
    %c2 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<9> : tensor<i32>
    %r4 = stablehlo.dynamic_slice %c1, %c2, %c3, sizes = [2, 2] : (tensor<3x4xi1>, tensor<i32>, tensor<i32>) -> tensor<2x2xi1>
    %c5 = stablehlo.constant dense<[[true, true], [false, true]]> : tensor<2x2xi1>
    stablehlo.custom_call @check.expect_eq(%r4, %c5) {has_side_effect = true} : (tensor<2x2xi1>, tensor<2x2xi1>) -> ()
    %r6 = stablehlo.custom_call @test.identity(%c2) : (tensor<i32>) -> tensor<i32>
    %r7 = stablehlo.dynamic_slice %c1, %r6, %r6, sizes = [2, 3] : (tensor<3x4xi1>, tensor<i32>, tensor<i32>) -> tensor<2x3xi1>
    %c8 = stablehlo.constant dense<[[true, true, true], [false, false, true]]> : tensor<2x3xi1>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    %c9 = stablehlo.constant dense<0> : tensor<i32>
    %r10 = stablehlo.dynamic_slice %c1, %c9, %r6, sizes = [3, 2] : (tensor<3x4xi1>, tensor<i32>, tensor<i32>) -> tensor<3x2xi1>
    %c11 = stablehlo.constant dense<[[true, false], [true, true], [false, false]]> : tensor<3x2xi1>
    stablehlo.custom_call @check.expect_eq(%r10, %c11) {has_side_effect = true} : (tensor<3x2xi1>, tensor<3x2xi1>) -> ()
    %c12 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi8>
    %c13 = stablehlo.constant dense<1> : tensor<i32>
    %c14 = stablehlo.constant dense<9> : tensor<i32>
    %r15 = stablehlo.dynamic_slice %c12, %c13, %c14, sizes = [2, 2] : (tensor<3x4xi8>, tensor<i32>, tensor<i32>) -> tensor<2x2xi8>
    %c16 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
    %r17 = stablehlo.custom_call @test.identity(%c13) : (tensor<i32>) -> tensor<i32>
    %r18 = stablehlo.dynamic_slice %c12, %r17, %r17, sizes = [2, 3] : (tensor<3x4xi8>, tensor<i32>, tensor<i32>) -> tensor<2x3xi8>
    %c19 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xi8>
    stablehlo.custom_call @check.expect_eq(%r18, %c19) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    %c20 = stablehlo.constant dense<0> : tensor<i32>
    %r21 = stablehlo.dynamic_slice %c12, %c20, %r17, sizes = [3, 2] : (tensor<3x4xi8>, tensor<i32>, tensor<i32>) -> tensor<3x2xi8>
    %c22 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xi8>
    stablehlo.custom_call @check.expect_eq(%r21, %c22) {has_side_effect = true} : (tensor<3x2xi8>, tensor<3x2xi8>) -> ()
    %c23 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi16>
    %c24 = stablehlo.constant dense<1> : tensor<i32>
    %c25 = stablehlo.constant dense<9> : tensor<i32>
    %r26 = stablehlo.dynamic_slice %c23, %c24, %c25, sizes = [2, 2] : (tensor<3x4xi16>, tensor<i32>, tensor<i32>) -> tensor<2x2xi16>
    %c27 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r26, %c27) {has_side_effect = true} : (tensor<2x2xi16>, tensor<2x2xi16>) -> ()
    %r28 = stablehlo.custom_call @test.identity(%c24) : (tensor<i32>) -> tensor<i32>
    %r29 = stablehlo.dynamic_slice %c23, %r28, %r28, sizes = [2, 3] : (tensor<3x4xi16>, tensor<i32>, tensor<i32>) -> tensor<2x3xi16>
    %c30 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xi16>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<2x3xi16>, tensor<2x3xi16>) -> ()
    %c31 = stablehlo.constant dense<0> : tensor<i32>
    %r32 = stablehlo.dynamic_slice %c23, %c31, %r28, sizes = [3, 2] : (tensor<3x4xi16>, tensor<i32>, tensor<i32>) -> tensor<3x2xi16>
    %c33 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xi16>
    stablehlo.custom_call @check.expect_eq(%r32, %c33) {has_side_effect = true} : (tensor<3x2xi16>, tensor<3x2xi16>) -> ()
    %c34 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
    %c35 = stablehlo.constant dense<1> : tensor<i32>
    %c36 = stablehlo.constant dense<9> : tensor<i32>
    %r37 = stablehlo.dynamic_slice %c34, %c35, %c36, sizes = [2, 2] : (tensor<3x4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x2xi32>
    %c38 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r37, %c38) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %r39 = stablehlo.custom_call @test.identity(%c35) : (tensor<i32>) -> tensor<i32>
    %r40 = stablehlo.dynamic_slice %c34, %r39, %r39, sizes = [2, 3] : (tensor<3x4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xi32>
    %c41 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r40, %c41) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %c42 = stablehlo.constant dense<0> : tensor<i32>
    %r43 = stablehlo.dynamic_slice %c34, %c42, %r39, sizes = [3, 2] : (tensor<3x4xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
    %c44 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%r43, %c44) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    %c45 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi64>
    %c46 = stablehlo.constant dense<1> : tensor<i32>
    %c47 = stablehlo.constant dense<9> : tensor<i32>
    %r48 = stablehlo.dynamic_slice %c45, %c46, %c47, sizes = [2, 2] : (tensor<3x4xi64>, tensor<i32>, tensor<i32>) -> tensor<2x2xi64>
    %c49 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r48, %c49) {has_side_effect = true} : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
    %r50 = stablehlo.custom_call @test.identity(%c46) : (tensor<i32>) -> tensor<i32>
    %r51 = stablehlo.dynamic_slice %c45, %r50, %r50, sizes = [2, 3] : (tensor<3x4xi64>, tensor<i32>, tensor<i32>) -> tensor<2x3xi64>
    %c52 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xi64>
    stablehlo.custom_call @check.expect_eq(%r51, %c52) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    %c53 = stablehlo.constant dense<0> : tensor<i32>
    %r54 = stablehlo.dynamic_slice %c45, %c53, %r50, sizes = [3, 2] : (tensor<3x4xi64>, tensor<i32>, tensor<i32>) -> tensor<3x2xi64>
    %c55 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xi64>
    stablehlo.custom_call @check.expect_eq(%r54, %c55) {has_side_effect = true} : (tensor<3x2xi64>, tensor<3x2xi64>) -> ()
    %c56 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui8>
    %c57 = stablehlo.constant dense<1> : tensor<i32>
    %c58 = stablehlo.constant dense<9> : tensor<i32>
    %r59 = stablehlo.dynamic_slice %c56, %c57, %c58, sizes = [2, 2] : (tensor<3x4xui8>, tensor<i32>, tensor<i32>) -> tensor<2x2xui8>
    %c60 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<2x2xui8>, tensor<2x2xui8>) -> ()
    %r61 = stablehlo.custom_call @test.identity(%c57) : (tensor<i32>) -> tensor<i32>
    %r62 = stablehlo.dynamic_slice %c56, %r61, %r61, sizes = [2, 3] : (tensor<3x4xui8>, tensor<i32>, tensor<i32>) -> tensor<2x3xui8>
    %c63 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xui8>
    stablehlo.custom_call @check.expect_eq(%r62, %c63) {has_side_effect = true} : (tensor<2x3xui8>, tensor<2x3xui8>) -> ()
    %c64 = stablehlo.constant dense<0> : tensor<i32>
    %r65 = stablehlo.dynamic_slice %c56, %c64, %r61, sizes = [3, 2] : (tensor<3x4xui8>, tensor<i32>, tensor<i32>) -> tensor<3x2xui8>
    %c66 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xui8>
    stablehlo.custom_call @check.expect_eq(%r65, %c66) {has_side_effect = true} : (tensor<3x2xui8>, tensor<3x2xui8>) -> ()
    %c67 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui16>
    %c68 = stablehlo.constant dense<1> : tensor<i32>
    %c69 = stablehlo.constant dense<9> : tensor<i32>
    %r70 = stablehlo.dynamic_slice %c67, %c68, %c69, sizes = [2, 2] : (tensor<3x4xui16>, tensor<i32>, tensor<i32>) -> tensor<2x2xui16>
    %c71 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r70, %c71) {has_side_effect = true} : (tensor<2x2xui16>, tensor<2x2xui16>) -> ()
    %r72 = stablehlo.custom_call @test.identity(%c68) : (tensor<i32>) -> tensor<i32>
    %r73 = stablehlo.dynamic_slice %c67, %r72, %r72, sizes = [2, 3] : (tensor<3x4xui16>, tensor<i32>, tensor<i32>) -> tensor<2x3xui16>
    %c74 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%r73, %c74) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %c75 = stablehlo.constant dense<0> : tensor<i32>
    %r76 = stablehlo.dynamic_slice %c67, %c75, %r72, sizes = [3, 2] : (tensor<3x4xui16>, tensor<i32>, tensor<i32>) -> tensor<3x2xui16>
    %c77 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xui16>
    stablehlo.custom_call @check.expect_eq(%r76, %c77) {has_side_effect = true} : (tensor<3x2xui16>, tensor<3x2xui16>) -> ()
    %c78 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui32>
    %c79 = stablehlo.constant dense<1> : tensor<i32>
    %c80 = stablehlo.constant dense<9> : tensor<i32>
    %r81 = stablehlo.dynamic_slice %c78, %c79, %c80, sizes = [2, 2] : (tensor<3x4xui32>, tensor<i32>, tensor<i32>) -> tensor<2x2xui32>
    %c82 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r81, %c82) {has_side_effect = true} : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
    %r83 = stablehlo.custom_call @test.identity(%c79) : (tensor<i32>) -> tensor<i32>
    %r84 = stablehlo.dynamic_slice %c78, %r83, %r83, sizes = [2, 3] : (tensor<3x4xui32>, tensor<i32>, tensor<i32>) -> tensor<2x3xui32>
    %c85 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xui32>
    stablehlo.custom_call @check.expect_eq(%r84, %c85) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    %c86 = stablehlo.constant dense<0> : tensor<i32>
    %r87 = stablehlo.dynamic_slice %c78, %c86, %r83, sizes = [3, 2] : (tensor<3x4xui32>, tensor<i32>, tensor<i32>) -> tensor<3x2xui32>
    %c88 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xui32>
    stablehlo.custom_call @check.expect_eq(%r87, %c88) {has_side_effect = true} : (tensor<3x2xui32>, tensor<3x2xui32>) -> ()
    %c89 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xui64>
    %c90 = stablehlo.constant dense<1> : tensor<i32>
    %c91 = stablehlo.constant dense<9> : tensor<i32>
    %r92 = stablehlo.dynamic_slice %c89, %c90, %c91, sizes = [2, 2] : (tensor<3x4xui64>, tensor<i32>, tensor<i32>) -> tensor<2x2xui64>
    %c93 = stablehlo.constant dense<[[7, 8], [11, 12]]> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r92, %c93) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %r94 = stablehlo.custom_call @test.identity(%c90) : (tensor<i32>) -> tensor<i32>
    %r95 = stablehlo.dynamic_slice %c89, %r94, %r94, sizes = [2, 3] : (tensor<3x4xui64>, tensor<i32>, tensor<i32>) -> tensor<2x3xui64>
    %c96 = stablehlo.constant dense<[[6, 7, 8], [10, 11, 12]]> : tensor<2x3xui64>
    stablehlo.custom_call @check.expect_eq(%r95, %c96) {has_side_effect = true} : (tensor<2x3xui64>, tensor<2x3xui64>) -> ()
    %c97 = stablehlo.constant dense<0> : tensor<i32>
    %r98 = stablehlo.dynamic_slice %c89, %c97, %r94, sizes = [3, 2] : (tensor<3x4xui64>, tensor<i32>, tensor<i32>) -> tensor<3x2xui64>
    %c99 = stablehlo.constant dense<[[2, 3], [6, 7], [10, 11]]> : tensor<3x2xui64>
    stablehlo.custom_call @check.expect_eq(%r98, %c99) {has_side_effect = true} : (tensor<3x2xui64>, tensor<3x2xui64>) -> ()
    %c100 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf16>
    %c101 = stablehlo.constant dense<1> : tensor<i32>
    %c102 = stablehlo.constant dense<9> : tensor<i32>
    %r103 = stablehlo.dynamic_slice %c100, %c101, %c102, sizes = [2, 2] : (tensor<3x4xf16>, tensor<i32>, tensor<i32>) -> tensor<2x2xf16>
    %c104 = stablehlo.constant dense<[[7.0, 8.0], [11.0, 12.0]]> : tensor<2x2xf16>
    stablehlo.custom_call @check.expect_eq(%r103, %c104) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
    %r105 = stablehlo.custom_call @test.identity(%c101) : (tensor<i32>) -> tensor<i32>
    %r106 = stablehlo.dynamic_slice %c100, %r105, %r105, sizes = [2, 3] : (tensor<3x4xf16>, tensor<i32>, tensor<i32>) -> tensor<2x3xf16>
    %c107 = stablehlo.constant dense<[[6.0, 7.0, 8.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf16>
    stablehlo.custom_call @check.expect_eq(%r106, %c107) {has_side_effect = true} : (tensor<2x3xf16>, tensor<2x3xf16>) -> ()
    %c108 = stablehlo.constant dense<0> : tensor<i32>
    %r109 = stablehlo.dynamic_slice %c100, %c108, %r105, sizes = [3, 2] : (tensor<3x4xf16>, tensor<i32>, tensor<i32>) -> tensor<3x2xf16>
    %c110 = stablehlo.constant dense<[[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]> : tensor<3x2xf16>
    stablehlo.custom_call @check.expect_eq(%r109, %c110) {has_side_effect = true} : (tensor<3x2xf16>, tensor<3x2xf16>) -> ()
    %c111 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>
    %c112 = stablehlo.constant dense<1> : tensor<i32>
    %c113 = stablehlo.constant dense<9> : tensor<i32>
    %r114 = stablehlo.dynamic_slice %c111, %c112, %c113, sizes = [2, 2] : (tensor<3x4xbf16>, tensor<i32>, tensor<i32>) -> tensor<2x2xbf16>
    %c115 = stablehlo.constant dense<[[7.0, 8.0], [11.0, 12.0]]> : tensor<2x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r114, %c115) {has_side_effect = true} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> ()
    %r116 = stablehlo.custom_call @test.identity(%c112) : (tensor<i32>) -> tensor<i32>
    %r117 = stablehlo.dynamic_slice %c111, %r116, %r116, sizes = [2, 3] : (tensor<3x4xbf16>, tensor<i32>, tensor<i32>) -> tensor<2x3xbf16>
    %c118 = stablehlo.constant dense<[[6.0, 7.0, 8.0], [10.0, 11.0, 12.0]]> : tensor<2x3xbf16>
    stablehlo.custom_call @check.expect_eq(%r117, %c118) {has_side_effect = true} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> ()
    %c119 = stablehlo.constant dense<0> : tensor<i32>
    %r120 = stablehlo.dynamic_slice %c111, %c119, %r116, sizes = [3, 2] : (tensor<3x4xbf16>, tensor<i32>, tensor<i32>) -> tensor<3x2xbf16>
    %c121 = stablehlo.constant dense<[[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]> : tensor<3x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r120, %c121) {has_side_effect = true} : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> ()
    %c122 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
    %c123 = stablehlo.constant dense<1> : tensor<i32>
    %c124 = stablehlo.constant dense<9> : tensor<i32>
    %r125 = stablehlo.dynamic_slice %c122, %c123, %c124, sizes = [2, 2] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    %c126 = stablehlo.constant dense<[[7.0, 8.0], [11.0, 12.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_eq(%r125, %c126) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %r127 = stablehlo.custom_call @test.identity(%c123) : (tensor<i32>) -> tensor<i32>
    %r128 = stablehlo.dynamic_slice %c122, %r127, %r127, sizes = [2, 3] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %c129 = stablehlo.constant dense<[[6.0, 7.0, 8.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r128, %c129) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c130 = stablehlo.constant dense<0> : tensor<i32>
    %r131 = stablehlo.dynamic_slice %c122, %c130, %r127, sizes = [3, 2] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
    %c132 = stablehlo.constant dense<[[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_eq(%r131, %c132) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %c133 = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf64>
    %c134 = stablehlo.constant dense<1> : tensor<i32>
    %c135 = stablehlo.constant dense<9> : tensor<i32>
    %r136 = stablehlo.dynamic_slice %c133, %c134, %c135, sizes = [2, 2] : (tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<2x2xf64>
    %c137 = stablehlo.constant dense<[[7.0, 8.0], [11.0, 12.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_eq(%r136, %c137) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %r138 = stablehlo.custom_call @test.identity(%c134) : (tensor<i32>) -> tensor<i32>
    %r139 = stablehlo.dynamic_slice %c133, %r138, %r138, sizes = [2, 3] : (tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<2x3xf64>
    %c140 = stablehlo.constant dense<[[6.0, 7.0, 8.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_eq(%r139, %c140) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %c141 = stablehlo.constant dense<0> : tensor<i32>
    %r142 = stablehlo.dynamic_slice %c133, %c141, %r138, sizes = [3, 2] : (tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<3x2xf64>
    %c143 = stablehlo.constant dense<[[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]> : tensor<3x2xf64>
    stablehlo.custom_call @check.expect_eq(%r142, %c143) {has_side_effect = true} : (tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    %c144 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f32>>
    %c145 = stablehlo.constant dense<1> : tensor<i32>
    %c146 = stablehlo.constant dense<9> : tensor<i32>
    %r147 = stablehlo.dynamic_slice %c144, %c145, %c146, sizes = [2, 2] : (tensor<3x4xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<2x2xcomplex<f32>>
    %c148 = stablehlo.constant dense<[[(7.0, -7.0), (8.0, -8.0)], [(11.0, -11.0), (12.0, -12.0)]]> : tensor<2x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r147, %c148) {has_side_effect = true} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> ()
    %r149 = stablehlo.custom_call @test.identity(%c145) : (tensor<i32>) -> tensor<i32>
    %r150 = stablehlo.dynamic_slice %c144, %r149, %r149, sizes = [2, 3] : (tensor<3x4xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<2x3xcomplex<f32>>
    %c151 = stablehlo.constant dense<[[(6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r150, %c151) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c152 = stablehlo.constant dense<0> : tensor<i32>
    %r153 = stablehlo.dynamic_slice %c144, %c152, %r149, sizes = [3, 2] : (tensor<3x4xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<3x2xcomplex<f32>>
    %c154 = stablehlo.constant dense<[[(2.0, -2.0), (3.0, -3.0)], [(6.0, -6.0), (7.0, -7.0)], [(10.0, -10.0), (11.0, -11.0)]]> : tensor<3x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r153, %c154) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    %c155 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(9.0, -9.0), (10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<3x4xcomplex<f64>>
    %c156 = stablehlo.constant dense<1> : tensor<i32>
    %c157 = stablehlo.constant dense<9> : tensor<i32>
    %r158 = stablehlo.dynamic_slice %c155, %c156, %c157, sizes = [2, 2] : (tensor<3x4xcomplex<f64>>, tensor<i32>, tensor<i32>) -> tensor<2x2xcomplex<f64>>
    %c159 = stablehlo.constant dense<[[(7.0, -7.0), (8.0, -8.0)], [(11.0, -11.0), (12.0, -12.0)]]> : tensor<2x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r158, %c159) {has_side_effect = true} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
    %r160 = stablehlo.custom_call @test.identity(%c156) : (tensor<i32>) -> tensor<i32>
    %r161 = stablehlo.dynamic_slice %c155, %r160, %r160, sizes = [2, 3] : (tensor<3x4xcomplex<f64>>, tensor<i32>, tensor<i32>) -> tensor<2x3xcomplex<f64>>
    %c162 = stablehlo.constant dense<[[(6.0, -6.0), (7.0, -7.0), (8.0, -8.0)], [(10.0, -10.0), (11.0, -11.0), (12.0, -12.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r161, %c162) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    %c163 = stablehlo.constant dense<0> : tensor<i32>
    %r164 = stablehlo.dynamic_slice %c155, %c163, %r160, sizes = [3, 2] : (tensor<3x4xcomplex<f64>>, tensor<i32>, tensor<i32>) -> tensor<3x2xcomplex<f64>>
    %c165 = stablehlo.constant dense<[[(2.0, -2.0), (3.0, -3.0)], [(6.0, -6.0), (7.0, -7.0)], [(10.0, -10.0), (11.0, -11.0)]]> : tensor<3x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r164, %c165) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    return
  }
}
