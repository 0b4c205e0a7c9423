// cholesky: lower and upper factors.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[4.0, 2.0, -2.0], [2.0, 10.0, 5.0], [-2.0, 5.0, 6.0]]> : tensor<3x3xf32>
    %r2 = stablehlo.cholesky %c1, lower = true : tensor<3x3xf32>
    %c3 = stablehlo.constant dense<[[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 2.0, 1.0]]> : tensor<3x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r2, %c3) {has_side_effect = true} : (tensor<3x3xf32>, tensor<3x3xf32>) -> ()
    %r4 = "stablehlo.cholesky"(%c1) <{lower = false}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %c5 = stablehlo.constant dense<[[2.0, 1.0, -1.0], [0.0, 3.0, 2.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r4, %c5) {has_side_effect = true} : (tensor<3x3xf32>, tensor<3x3xf32>) -> ()
    %c6 = stablehlo.constant dense<[[4.0, 2.0, -2.0], [2.0, 10.0, 5.0], [-2.0, 5.0, 6.0]]> : tensor<3x3xf64>
    %r7 = stablehlo.cholesky %c6, lower = true : tensor<3x3xf64>
    %c8 = stablehlo.constant dense<[[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 2.0, 1.0]]> : tensor<3x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r7, %c8) {has_side_effect = true} : (tensor<3x3xf64>, tensor<3x3xf64>) -> ()
    %r9 = "stablehlo.cholesky"(%c6) <{lower = false}> : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %c10 = stablehlo.constant dense<[[2.0, 1.0, -1.0], [0.0, 3.0, 2.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r9, %c10) {has_side_effect = true} : (tensor<3x3xf64>, tensor<3x3xf64>) -> ()
    %c11 = stablehlo.constant dense<[[(4.0, 0.0), (2.0, -2.0), (-2.0, 0.0)], [(2.0, 2.0), (11.0, 0.0), (5.0, -1.0)], [(-2.0, 0.0), (5.0, 1.0), (6.0, 0.0)]]> : tensor<3x3xcomplex<f32>>
    %r12 = stablehlo.cholesky %c11, lower = true : tensor<3x3xcomplex<f32>>
    %c13 = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (3.0, 0.0), (0.0, 0.0)], [(-1.0, 0.0), (2.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r12, %c13) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    %r14 = "stablehlo.cholesky"(%c11) <{lower = false}> : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %c15 = stablehlo.constant dense<[[(2.0, -0.0), (1.0, -1.0), (-1.0, -0.0)], [(0.0, -0.0), (3.0, -0.0), (2.0, -0.0)], [(0.0, -0.0), (0.0, -0.0), (1.0, -0.0)]]> : tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r14, %c15) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[[(4.0, 0.0), (2.0, -2.0), (-2.0, 0.0)], [(2.0, 2.0), (11.0, 0.0), (5.0, -1.0)], [(-2.0, 0.0), (5.0, 1.0), (6.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
    %r17 = stablehlo.cholesky %c16, lower = true : tensor<3x3xcomplex<f64>>
    %c18 = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (3.0, 0.0), (0.0, 0.0)], [(-1.0, 0.0), (2.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r17, %c18) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    %r19 = "stablehlo.cholesky"(%c16) <{lower = false}> : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %c20 = stablehlo.constant dense<[[(2.0, -0.0), (1.0, -1.0), (-1.0, -0.0)], [(0.0, -0.0), (3.0, -0.0), (2.0, -0.0)], [(0.0, -0.0), (0.0, -0.0), (1.0, -0.0)]]> : tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r19, %c20) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return
  }
}
