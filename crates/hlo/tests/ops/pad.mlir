// pad: low, high and interior padding; negative padding.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false], [false, false, true]]> : tensor<2x3xi1>
    %c2 = stablehlo.constant dense<false> : tensor<i1>
    %r3 = stablehlo.pad %c1, %c2, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<5x5xi1>
    %c4 = stablehlo.constant dense<[[false, false, false, false, false], [true, false, true, false, false], [false, false, false, false, true], [false, false, false, false, false], [false, false, false, false, false]]> : tensor<5x5xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<5x5xi1>, tensor<5x5xi1>) -> ()
    %r5 = stablehlo.pad %c1, %c2, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xi1>, tensor<i1>) -> tensor<1x2xi1>
    %c6 = stablehlo.constant dense<[[true, false]]> : tensor<1x2xi1>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<1x2xi1>, tensor<1x2xi1>) -> ()
    %c7 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
    %c8 = stablehlo.constant dense<9> : tensor<i8>
    %r9 = stablehlo.pad %c7, %c8, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<5x5xi8>
    %c10 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xi8>
    stablehlo.custom_call @check.expect_eq(%r9, %c10) {has_side_effect = true} : (tensor<5x5xi8>, tensor<5x5xi8>) -> ()
    %r11 = stablehlo.pad %c7, %c8, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xi8>, tensor<i8>) -> tensor<1x2xi8>
    %c12 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xi8>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<1x2xi8>, tensor<1x2xi8>) -> ()
    %c13 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
    %c14 = stablehlo.constant dense<9> : tensor<i16>
    %r15 = stablehlo.pad %c13, %c14, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<5x5xi16>
    %c16 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xi16>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<5x5xi16>, tensor<5x5xi16>) -> ()
    %r17 = stablehlo.pad %c13, %c14, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xi16>, tensor<i16>) -> tensor<1x2xi16>
    %c18 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xi16>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<1x2xi16>, tensor<1x2xi16>) -> ()
    %c19 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %c20 = stablehlo.constant dense<9> : tensor<i32>
    %r21 = stablehlo.pad %c19, %c20, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x5xi32>
    %c22 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xi32>
    stablehlo.custom_call @check.expect_eq(%r21, %c22) {has_side_effect = true} : (tensor<5x5xi32>, tensor<5x5xi32>) -> ()
    %r23 = stablehlo.pad %c19, %c20, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<1x2xi32>
    %c24 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xi32>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<1x2xi32>, tensor<1x2xi32>) -> ()
    %c25 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
    %c26 = stablehlo.constant dense<9> : tensor<i64>
    %r27 = stablehlo.pad %c25, %c26, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<5x5xi64>
    %c28 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %r29 = stablehlo.pad %c25, %c26, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xi64>, tensor<i64>) -> tensor<1x2xi64>
    %c30 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xi64>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<1x2xi64>, tensor<1x2xi64>) -> ()
    %c31 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
    %c32 = stablehlo.constant dense<9> : tensor<ui8>
    %r33 = stablehlo.pad %c31, %c32, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<5x5xui8>
    %c34 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xui8>
    stablehlo.custom_call @check.expect_eq(%r33, %c34) {has_side_effect = true} : (tensor<5x5xui8>, tensor<5x5xui8>) -> ()
    %r35 = stablehlo.pad %c31, %c32, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<1x2xui8>
    %c36 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xui8>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<1x2xui8>, tensor<1x2xui8>) -> ()
    %c37 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui16>
    %c38 = stablehlo.constant dense<9> : tensor<ui16>
    %r39 = stablehlo.pad %c37, %c38, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<5x5xui16>
    %c40 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xui16>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<5x5xui16>, tensor<5x5xui16>) -> ()
    %r41 = stablehlo.pad %c37, %c38, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<1x2xui16>
    %c42 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xui16>
    stablehlo.custom_call @check.expect_eq(%r41, %c42) {has_side_effect = true} : (tensor<1x2xui16>, tensor<1x2xui16>) -> ()
    %c43 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui32>
    %c44 = stablehlo.constant dense<9> : tensor<ui32>
    %r45 = stablehlo.pad %c43, %c44, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<5x5xui32>
    %c46 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xui32>
    stablehlo.custom_call @check.expect_eq(%r45, %c46) {has_side_effect = true} : (tensor<5x5xui32>, tensor<5x5xui32>) -> ()
    %r47 = stablehlo.pad %c43, %c44, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<1x2xui32>
    %c48 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xui32>
    stablehlo.custom_call @check.expect_eq(%r47, %c48) {has_side_effect = true} : (tensor<1x2xui32>, tensor<1x2xui32>) -> ()
    %c49 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui64>
    %c50 = stablehlo.constant dense<9> : tensor<ui64>
    %r51 = stablehlo.pad %c49, %c50, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<5x5xui64>
    %c52 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9], [9, 9, 9, 9, 9]]> : tensor<5x5xui64>
    stablehlo.custom_call @check.expect_eq(%r51, %c52) {has_side_effect = true} : (tensor<5x5xui64>, tensor<5x5xui64>) -> ()
    %r53 = stablehlo.pad %c49, %c50, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<1x2xui64>
    %c54 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xui64>
    stablehlo.custom_call @check.expect_eq(%r53, %c54) {has_side_effect = true} : (tensor<1x2xui64>, tensor<1x2xui64>) -> ()
    %c55 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
    %c56 = stablehlo.constant dense<9.0> : tensor<f16>
    %r57 = stablehlo.pad %c55, %c56, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<5x5xf16>
    %c58 = stablehlo.constant dense<[[9.0, 9.0, 9.0, 9.0, 9.0], [1.0, 9.0, 2.0, 9.0, 3.0], [4.0, 9.0, 5.0, 9.0, 6.0], [9.0, 9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0, 9.0]]> : tensor<5x5xf16>
    stablehlo.custom_call @check.expect_eq(%r57, %c58) {has_side_effect = true} : (tensor<5x5xf16>, tensor<5x5xf16>) -> ()
    %r59 = stablehlo.pad %c55, %c56, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xf16>, tensor<f16>) -> tensor<1x2xf16>
    %c60 = stablehlo.constant dense<[[2.0, 3.0]]> : tensor<1x2xf16>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<1x2xf16>, tensor<1x2xf16>) -> ()
    %c61 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xbf16>
    %c62 = stablehlo.constant dense<9.0> : tensor<bf16>
    %r63 = stablehlo.pad %c61, %c62, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<5x5xbf16>
    %c64 = stablehlo.constant dense<[[9.0, 9.0, 9.0, 9.0, 9.0], [1.0, 9.0, 2.0, 9.0, 3.0], [4.0, 9.0, 5.0, 9.0, 6.0], [9.0, 9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0, 9.0]]> : tensor<5x5xbf16>
    stablehlo.custom_call @check.expect_eq(%r63, %c64) {has_side_effect = true} : (tensor<5x5xbf16>, tensor<5x5xbf16>) -> ()
    %r65 = stablehlo.pad %c61, %c62, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<1x2xbf16>
    %c66 = stablehlo.constant dense<[[2.0, 3.0]]> : tensor<1x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r65, %c66) {has_side_effect = true} : (tensor<1x2xbf16>, tensor<1x2xbf16>) -> ()
    %c67 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %c68 = stablehlo.constant dense<9.0> : tensor<f32>
    %r69 = stablehlo.pad %c67, %c68, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x5xf32>
    %c70 = stablehlo.constant dense<[[9.0, 9.0, 9.0, 9.0, 9.0], [1.0, 9.0, 2.0, 9.0, 3.0], [4.0, 9.0, 5.0, 9.0, 6.0], [9.0, 9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0, 9.0]]> : tensor<5x5xf32>
    stablehlo.custom_call @check.expect_eq(%r69, %c70) {has_side_effect = true} : (tensor<5x5xf32>, tensor<5x5xf32>) -> ()
    %r71 = stablehlo.pad %c67, %c68, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x2xf32>
    %c72 = stablehlo.constant dense<[[2.0, 3.0]]> : tensor<1x2xf32>
    stablehlo.custom_call @check.expect_eq(%r71, %c72) {has_side_effect = true} : (tensor<1x2xf32>, tensor<1x2xf32>) -> ()
    %c73 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
    %c74 = stablehlo.constant dense<9.0> : tensor<f64>
    %r75 = stablehlo.pad %c73, %c74, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<5x5xf64>
    %c76 = stablehlo.constant dense<[[9.0, 9.0, 9.0, 9.0, 9.0], [1.0, 9.0, 2.0, 9.0, 3.0], [4.0, 9.0, 5.0, 9.0, 6.0], [9.0, 9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0, 9.0]]> : tensor<5x5xf64>
    stablehlo.custom_call @check.expect_eq(%r75, %c76) {has_side_effect = true} : (tensor<5x5xf64>, tensor<5x5xf64>) -> ()
    %r77 = stablehlo.pad %c73, %c74, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xf64>, tensor<f64>) -> tensor<1x2xf64>
    %c78 = stablehlo.constant dense<[[2.0, 3.0]]> : tensor<1x2xf64>
    stablehlo.custom_call @check.expect_eq(%r77, %c78) {has_side_effect = true} : (tensor<1x2xf64>, tensor<1x2xf64>) -> ()
    %c79 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f32>>
    %c80 = stablehlo.constant dense<(9.0, -9.0)> : tensor<complex<f32>>
    %r81 = stablehlo.pad %c79, %c80, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5x5xcomplex<f32>>
    %c82 = stablehlo.constant dense<[[(9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0)], [(1.0, -1.0), (9.0, -9.0), (2.0, -2.0), (9.0, -9.0), (3.0, -3.0)], [(4.0, -4.0), (9.0, -9.0), (5.0, -5.0), (9.0, -9.0), (6.0, -6.0)], [(9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0)], [(9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0)]]> : tensor<5x5xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r81, %c82) {has_side_effect = true} : (tensor<5x5xcomplex<f32>>, tensor<5x5xcomplex<f32>>) -> ()
    %r83 = stablehlo.pad %c79, %c80, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<1x2xcomplex<f32>>
    %c84 = stablehlo.constant dense<[[(2.0, -2.0), (3.0, -3.0)]]> : tensor<1x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r83, %c84) {has_side_effect = true} : (tensor<1x2xcomplex<f32>>, tensor<1x2xcomplex<f32>>) -> ()
    %c85 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f64>>
    %c86 = stablehlo.constant dense<(9.0, -9.0)> : tensor<complex<f64>>
    %r87 = stablehlo.pad %c85, %c86, low = [1, 0], high = [2, 0], interior = [0, 1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<5x5xcomplex<f64>>
    %c88 = stablehlo.constant dense<[[(9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0)], [(1.0, -1.0), (9.0, -9.0), (2.0, -2.0), (9.0, -9.0), (3.0, -3.0)], [(4.0, -4.0), (9.0, -9.0), (5.0, -5.0), (9.0, -9.0), (6.0, -6.0)], [(9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0)], [(9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0), (9.0, -9.0)]]> : tensor<5x5xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r87, %c88) {has_side_effect = true} : (tensor<5x5xcomplex<f64>>, tensor<5x5xcomplex<f64>>) -> ()
    %r89 = stablehlo.pad %c85, %c86, low = [0, -1], high = [-1, 0], interior = [0, 0] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<1x2xcomplex<f64>>
    %c90 = stablehlo.constant dense<[[(2.0, -2.0), (3.0, -3.0)]]> : tensor<1x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r89, %c90) {has_side_effect = true} : (tensor<1x2xcomplex<f64>>, tensor<1x2xcomplex<f64>>) -> ()
    return
  }
}
