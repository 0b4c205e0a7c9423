// broadcast_in_dim: axis mapping, also permuted, and repetition.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true], [true]]> : tensor<2x1xi1>
    %r2 = stablehlo.broadcast_in_dim %c1, dims = [2, 0] : (tensor<2x1xi1>) -> tensor<3x2x2xi1>
    %c3 = stablehlo.constant dense<[[[true, true], [true, true]], [[true, true], [true, true]], [[true, true], [true, true]]]> : tensor<3x2x2xi1>
    stablehlo.custom_call @check.expect_eq(%r2, %c3) {has_side_effect = true} : (tensor<3x2x2xi1>, tensor<3x2x2xi1>) -> ()
    %c4 = stablehlo.constant dense<true> : tensor<i1>
    %r5 = stablehlo.broadcast_in_dim %c4, dims = [] : (tensor<i1>) -> tensor<2x2xi1>
    %c6 = stablehlo.constant dense<[[true, true], [true, true]]> : tensor<2x2xi1>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<2x2xi1>, tensor<2x2xi1>) -> ()
    %c7 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi8>
    %r8 = stablehlo.broadcast_in_dim %c7, dims = [2, 0] : (tensor<2x1xi8>) -> tensor<3x2x2xi8>
    %c9 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<3x2x2xi8>, tensor<3x2x2xi8>) -> ()
    %c10 = stablehlo.constant dense<1> : tensor<i8>
    %r11 = stablehlo.broadcast_in_dim %c10, dims = [] : (tensor<i8>) -> tensor<2x2xi8>
    %c12 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
    %c13 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi16>
    %r14 = stablehlo.broadcast_in_dim %c13, dims = [2, 0] : (tensor<2x1xi16>) -> tensor<3x2x2xi16>
    %c15 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<3x2x2xi16>, tensor<3x2x2xi16>) -> ()
    %c16 = stablehlo.constant dense<1> : tensor<i16>
    %r17 = stablehlo.broadcast_in_dim %c16, dims = [] : (tensor<i16>) -> tensor<2x2xi16>
    %c18 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<2x2xi16>, tensor<2x2xi16>) -> ()
    %c19 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
    %r20 = stablehlo.broadcast_in_dim %c19, dims = [2, 0] : (tensor<2x1xi32>) -> tensor<3x2x2xi32>
    %c21 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<3x2x2xi32>, tensor<3x2x2xi32>) -> ()
    %c22 = stablehlo.constant dense<1> : tensor<i32>
    %r23 = stablehlo.broadcast_in_dim %c22, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %c24 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c25 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %r26 = stablehlo.broadcast_in_dim %c25, dims = [2, 0] : (tensor<2x1xi64>) -> tensor<3x2x2xi64>
    %c27 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r26, %c27) {has_side_effect = true} : (tensor<3x2x2xi64>, tensor<3x2x2xi64>) -> ()
    %c28 = stablehlo.constant dense<1> : tensor<i64>
    %r29 = stablehlo.broadcast_in_dim %c28, dims = [] : (tensor<i64>) -> tensor<2x2xi64>
    %c30 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
    %c31 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui8>
    %r32 = stablehlo.broadcast_in_dim %c31, dims = [2, 0] : (tensor<2x1xui8>) -> tensor<3x2x2xui8>
    %c33 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r32, %c33) {has_side_effect = true} : (tensor<3x2x2xui8>, tensor<3x2x2xui8>) -> ()
    %c34 = stablehlo.constant dense<1> : tensor<ui8>
    %r35 = stablehlo.broadcast_in_dim %c34, dims = [] : (tensor<ui8>) -> tensor<2x2xui8>
    %c36 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<2x2xui8>, tensor<2x2xui8>) -> ()
    %c37 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui16>
    %r38 = stablehlo.broadcast_in_dim %c37, dims = [2, 0] : (tensor<2x1xui16>) -> tensor<3x2x2xui16>
    %c39 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r38, %c39) {has_side_effect = true} : (tensor<3x2x2xui16>, tensor<3x2x2xui16>) -> ()
    %c40 = stablehlo.constant dense<1> : tensor<ui16>
    %r41 = stablehlo.broadcast_in_dim %c40, dims = [] : (tensor<ui16>) -> tensor<2x2xui16>
    %c42 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r41, %c42) {has_side_effect = true} : (tensor<2x2xui16>, tensor<2x2xui16>) -> ()
    %c43 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui32>
    %r44 = stablehlo.broadcast_in_dim %c43, dims = [2, 0] : (tensor<2x1xui32>) -> tensor<3x2x2xui32>
    %c45 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r44, %c45) {has_side_effect = true} : (tensor<3x2x2xui32>, tensor<3x2x2xui32>) -> ()
    %c46 = stablehlo.constant dense<1> : tensor<ui32>
    %r47 = stablehlo.broadcast_in_dim %c46, dims = [] : (tensor<ui32>) -> tensor<2x2xui32>
    %c48 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r47, %c48) {has_side_effect = true} : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
    %c49 = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xui64>
    %r50 = stablehlo.broadcast_in_dim %c49, dims = [2, 0] : (tensor<2x1xui64>) -> tensor<3x2x2xui64>
    %c51 = stablehlo.constant dense<[[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 2]]]> : tensor<3x2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r50, %c51) {has_side_effect = true} : (tensor<3x2x2xui64>, tensor<3x2x2xui64>) -> ()
    %c52 = stablehlo.constant dense<1> : tensor<ui64>
    %r53 = stablehlo.broadcast_in_dim %c52, dims = [] : (tensor<ui64>) -> tensor<2x2xui64>
    %c54 = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r53, %c54) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %c55 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf16>
    %r56 = stablehlo.broadcast_in_dim %c55, dims = [2, 0] : (tensor<2x1xf16>) -> tensor<3x2x2xf16>
    %c57 = stablehlo.constant dense<[[[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]]]> : tensor<3x2x2xf16>
    stablehlo.custom_call @check.expect_eq(%r56, %c57) {has_side_effect = true} : (tensor<3x2x2xf16>, tensor<3x2x2xf16>) -> ()
    %c58 = stablehlo.constant dense<1.0> : tensor<f16>
    %r59 = stablehlo.broadcast_in_dim %c58, dims = [] : (tensor<f16>) -> tensor<2x2xf16>
    %c60 = stablehlo.constant dense<[[1.0, 1.0], [1.0, 1.0]]> : tensor<2x2xf16>
    stablehlo.custom_call @check.expect_eq(%r59, %c60) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
    %c61 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xbf16>
    %r62 = stablehlo.broadcast_in_dim %c61, dims = [2, 0] : (tensor<2x1xbf16>) -> tensor<3x2x2xbf16>
    %c63 = stablehlo.constant dense<[[[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]]]> : tensor<3x2x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r62, %c63) {has_side_effect = true} : (tensor<3x2x2xbf16>, tensor<3x2x2xbf16>) -> ()
    %c64 = stablehlo.constant dense<1.0> : tensor<bf16>
    %r65 = stablehlo.broadcast_in_dim %c64, dims = [] : (tensor<bf16>) -> tensor<2x2xbf16>
    %c66 = stablehlo.constant dense<[[1.0, 1.0], [1.0, 1.0]]> : tensor<2x2xbf16>
    stablehlo.custom_call @check.expect_eq(%r65, %c66) {has_side_effect = true} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> ()
    %c67 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %r68 = stablehlo.broadcast_in_dim %c67, dims = [2, 0] : (tensor<2x1xf32>) -> tensor<3x2x2xf32>
    %c69 = stablehlo.constant dense<[[[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]]]> : tensor<3x2x2xf32>
    stablehlo.custom_call @check.expect_eq(%r68, %c69) {has_side_effect = true} : (tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> ()
    %c70 = stablehlo.constant dense<1.0> : tensor<f32>
    %r71 = stablehlo.broadcast_in_dim %c70, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c72 = stablehlo.constant dense<[[1.0, 1.0], [1.0, 1.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_eq(%r71, %c72) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %c73 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf64>
    %r74 = stablehlo.broadcast_in_dim %c73, dims = [2, 0] : (tensor<2x1xf64>) -> tensor<3x2x2xf64>
    %c75 = stablehlo.constant dense<[[[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]]]> : tensor<3x2x2xf64>
    stablehlo.custom_call @check.expect_eq(%r74, %c75) {has_side_effect = true} : (tensor<3x2x2xf64>, tensor<3x2x2xf64>) -> ()
    %c76 = stablehlo.constant dense<1.0> : tensor<f64>
    %r77 = stablehlo.broadcast_in_dim %c76, dims = [] : (tensor<f64>) -> tensor<2x2xf64>
    %c78 = stablehlo.constant dense<[[1.0, 1.0], [1.0, 1.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_eq(%r77, %c78) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %c79 = stablehlo.constant dense<[[(1.0, -1.0)], [(2.0, -2.0)]]> : tensor<2x1xcomplex<f32>>
    %r80 = stablehlo.broadcast_in_dim %c79, dims = [2, 0] : (tensor<2x1xcomplex<f32>>) -> tensor<3x2x2xcomplex<f32>>
    %c81 = stablehlo.constant dense<[[[(1.0, -1.0), (2.0, -2.0)], [(1.0, -1.0), (2.0, -2.0)]], [[(1.0, -1.0), (2.0, -2.0)], [(1.0, -1.0), (2.0, -2.0)]], [[(1.0, -1.0), (2.0, -2.0)], [(1.0, -1.0), (2.0, -2.0)]]]> : tensor<3x2x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r80, %c81) {has_side_effect = true} : (tensor<3x2x2xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>) -> ()
    %c82 = stablehlo.constant dense<(1.0, -1.0)> : tensor<complex<f32>>
    %r83 = stablehlo.broadcast_in_dim %c82, dims = [] : (tensor<complex<f32>>) -> tensor<2x2xcomplex<f32>>
    %c84 = stablehlo.constant dense<[[(1.0, -1.0), (1.0, -1.0)], [(1.0, -1.0), (1.0, -1.0)]]> : tensor<2x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r83, %c84) {has_side_effect = true} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> ()
    %c85 = stablehlo.constant dense<[[(1.0, -1.0)], [(2.0, -2.0)]]> : tensor<2x1xcomplex<f64>>
    %r86 = stablehlo.broadcast_in_dim %c85, dims = [2, 0] : (tensor<2x1xcomplex<f64>>) -> tensor<3x2x2xcomplex<f64>>
    %c87 = stablehlo.constant dense<[[[(1.0, -1.0), (2.0, -2.0)], [(1.0, -1.0), (2.0, -2.0)]], [[(1.0, -1.0), (2.0, -2.0)], [(1.0, -1.0), (2.0, -2.0)]], [[(1.0, -1.0), (2.0, -2.0)], [(1.0, -1.0), (2.0, -2.0)]]]> : tensor<3x2x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r86, %c87) {has_side_effect = true} : (tensor<3x2x2xcomplex<f64>>, tensor<3x2x2xcomplex<f64>>) -> ()
    %c88 = stablehlo.constant dense<(1.0, -1.0)> : tensor<complex<f64>>
    %r89 = stablehlo.broadcast_in_dim %c88, dims = [] : (tensor<complex<f64>>) -> tensor<2x2xcomplex<f64>>
    %c90 = stablehlo.constant dense<[[(1.0, -1.0), (1.0, -1.0)], [(1.0, -1.0), (1.0, -1.0)]]> : tensor<2x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_eq(%r89, %c90) {has_side_effect = true} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
    return
  }
}
