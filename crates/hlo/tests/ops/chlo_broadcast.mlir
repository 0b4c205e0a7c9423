// chlo.broadcast_…: operands of different shapes, aligned at the last axis or by `broadcast_dimensions`.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %c2 = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
    %r3 = chlo.broadcast_add %c1, %c2 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    %c4 = stablehlo.constant dense<[[11, 22, 33], [14, 25, 36]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %c5 = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
    %r6 = "chlo.broadcast_multiply"(%c1, %c5) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
    %c7 = stablehlo.constant dense<[[10, 20, 30], [80, 100, 120]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r6, %c7) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %c8 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %c9 = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
    %r10 = chlo.broadcast_add %c8, %c9 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %c11 = stablehlo.constant dense<[[11.0, 22.0, 33.0], [14.0, 25.0, 36.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r10, %c11) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c12 = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
    %r13 = "chlo.broadcast_multiply"(%c8, %c12) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
    %c14 = stablehlo.constant dense<[[10.0, 20.0, 30.0], [80.0, 100.0, 120.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%r13, %c14) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c15 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)], [(4.0, 0.0), (5.0, 0.0), (6.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    %c16 = stablehlo.constant dense<[(10.0, 0.0), (20.0, 0.0), (30.0, 0.0)]> : tensor<3xcomplex<f32>>
    %r17 = chlo.broadcast_add %c15, %c16 : (tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c18 = stablehlo.constant dense<[[(11.0, 0.0), (22.0, 0.0), (33.0, 0.0)], [(14.0, 0.0), (25.0, 0.0), (36.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r17, %c18) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c19 = stablehlo.constant dense<[(10.0, 0.0), (20.0, 0.0)]> : tensor<2xcomplex<f32>>
    %r20 = "chlo.broadcast_multiply"(%c15, %c19) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x3xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c21 = stablehlo.constant dense<[[(10.0, 0.0), (20.0, 0.0), (30.0, 0.0)], [(80.0, 0.0), (100.0, 0.0), (120.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    return
  }
}
