// triangular_solve from either side: as is, transposed, and adjoint.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 2.0, 1.0]]> : tensor<3x3xf32>
    %c2 = stablehlo.constant dense<[[2.0, 4.0], [10.0, -1.0], [5.0, -2.0]]> : tensor<3x2xf32>
    %r3 = "stablehlo.triangular_solve"(%c1, %c2) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %c4 = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.0, 2.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r3, %c4) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %c5 = stablehlo.constant dense<[[5.0, 9.0, 0.0], [1.0, 1.0, 2.0]]> : tensor<2x3xf32>
    %r6 = "stablehlo.triangular_solve"(%c1, %c5) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %c7 = stablehlo.constant dense<[[1.0, 3.0, 0.0], [2.0, -1.0, 2.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r6, %c7) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c8 = stablehlo.constant dense<[[5.0, 1.0], [9.0, 1.0], [0.0, 2.0]]> : tensor<3x2xf32>
    %r9 = "stablehlo.triangular_solve"(%c1, %c8) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %c10 = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.0, 2.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r9, %c10) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %c11 = stablehlo.constant dense<[[2.0, 10.0, 5.0], [4.0, -1.0, -2.0]]> : tensor<2x3xf32>
    %r12 = "stablehlo.triangular_solve"(%c1, %c11) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %c13 = stablehlo.constant dense<[[1.0, 3.0, 0.0], [2.0, -1.0, 2.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r12, %c13) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c14 = stablehlo.constant dense<[[5.0, 1.0], [9.0, 1.0], [0.0, 2.0]]> : tensor<3x2xf32>
    %r15 = "stablehlo.triangular_solve"(%c1, %c14) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %c16 = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.0, 2.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r15, %c16) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %c17 = stablehlo.constant dense<[[2.0, 10.0, 5.0], [4.0, -1.0, -2.0]]> : tensor<2x3xf32>
    %r18 = "stablehlo.triangular_solve"(%c1, %c17) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %c19 = stablehlo.constant dense<[[1.0, 3.0, 0.0], [2.0, -1.0, 2.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r18, %c19) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %c20 = stablehlo.constant dense<[[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 2.0, 1.0]]> : tensor<3x3xf64>
    %c21 = stablehlo.constant dense<[[2.0, 4.0], [10.0, -1.0], [5.0, -2.0]]> : tensor<3x2xf64>
    %r22 = "stablehlo.triangular_solve"(%c20, %c21) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %c23 = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.0, 2.0]]> : tensor<3x2xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r22, %c23) {has_side_effect = true} : (tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    %c24 = stablehlo.constant dense<[[5.0, 9.0, 0.0], [1.0, 1.0, 2.0]]> : tensor<2x3xf64>
    %r25 = "stablehlo.triangular_solve"(%c20, %c24) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    %c26 = stablehlo.constant dense<[[1.0, 3.0, 0.0], [2.0, -1.0, 2.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r25, %c26) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %c27 = stablehlo.constant dense<[[5.0, 1.0], [9.0, 1.0], [0.0, 2.0]]> : tensor<3x2xf64>
    %r28 = "stablehlo.triangular_solve"(%c20, %c27) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %c29 = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.0, 2.0]]> : tensor<3x2xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r28, %c29) {has_side_effect = true} : (tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    %c30 = stablehlo.constant dense<[[2.0, 10.0, 5.0], [4.0, -1.0, -2.0]]> : tensor<2x3xf64>
    %r31 = "stablehlo.triangular_solve"(%c20, %c30) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    %c32 = stablehlo.constant dense<[[1.0, 3.0, 0.0], [2.0, -1.0, 2.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r31, %c32) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %c33 = stablehlo.constant dense<[[5.0, 1.0], [9.0, 1.0], [0.0, 2.0]]> : tensor<3x2xf64>
    %r34 = "stablehlo.triangular_solve"(%c20, %c33) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %c35 = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.0, 2.0]]> : tensor<3x2xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r34, %c35) {has_side_effect = true} : (tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    %c36 = stablehlo.constant dense<[[2.0, 10.0, 5.0], [4.0, -1.0, -2.0]]> : tensor<2x3xf64>
    %r37 = "stablehlo.triangular_solve"(%c20, %c36) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    %c38 = stablehlo.constant dense<[[1.0, 3.0, 0.0], [2.0, -1.0, 2.0]]> : tensor<2x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r37, %c38) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    %c39 = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (3.0, 0.0), (0.0, 0.0)], [(-1.0, 0.0), (2.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f32>>
    %c40 = stablehlo.constant dense<[[(2.0, 0.0), (4.0, 0.0)], [(10.0, 1.0), (-1.0, 2.0)], [(5.0, 0.0), (-2.0, 0.0)]]> : tensor<3x2xcomplex<f32>>
    %r41 = "stablehlo.triangular_solve"(%c39, %c40) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
    %c42 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (-1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r41, %c42) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    %c43 = stablehlo.constant dense<[[(5.0, 3.0), (9.0, 0.0), (0.0, 0.0)], [(1.0, -1.0), (1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    %r44 = "stablehlo.triangular_solve"(%c39, %c43) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c45 = stablehlo.constant dense<[[(1.0, 0.0), (3.0, 0.0), (0.0, 0.0)], [(2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r44, %c45) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c46 = stablehlo.constant dense<[[(5.0, 3.0), (1.0, -1.0)], [(9.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f32>>
    %r47 = "stablehlo.triangular_solve"(%c39, %c46) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
    %c48 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (-1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r47, %c48) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    %c49 = stablehlo.constant dense<[[(2.0, 0.0), (10.0, 1.0), (5.0, 0.0)], [(4.0, 0.0), (-1.0, 2.0), (-2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    %r50 = "stablehlo.triangular_solve"(%c39, %c49) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c51 = stablehlo.constant dense<[[(1.0, 0.0), (3.0, 0.0), (0.0, 0.0)], [(2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r50, %c51) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c52 = stablehlo.constant dense<[[(5.0, -3.0), (1.0, 1.0)], [(9.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f32>>
    %r53 = "stablehlo.triangular_solve"(%c39, %c52) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
    %c54 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (-1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r53, %c54) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    %c55 = stablehlo.constant dense<[[(2.0, 0.0), (10.0, -1.0), (5.0, 0.0)], [(4.0, 0.0), (-1.0, -2.0), (-2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    %r56 = "stablehlo.triangular_solve"(%c39, %c55) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c57 = stablehlo.constant dense<[[(1.0, 0.0), (3.0, 0.0), (0.0, 0.0)], [(2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r56, %c57) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c58 = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (3.0, 0.0), (0.0, 0.0)], [(-1.0, 0.0), (2.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
    %c59 = stablehlo.constant dense<[[(2.0, 0.0), (4.0, 0.0)], [(10.0, 1.0), (-1.0, 2.0)], [(5.0, 0.0), (-2.0, 0.0)]]> : tensor<3x2xcomplex<f64>>
    %r60 = "stablehlo.triangular_solve"(%c58, %c59) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %c61 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (-1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r60, %c61) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    %c62 = stablehlo.constant dense<[[(5.0, 3.0), (9.0, 0.0), (0.0, 0.0)], [(1.0, -1.0), (1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    %r63 = "stablehlo.triangular_solve"(%c58, %c62) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %c64 = stablehlo.constant dense<[[(1.0, 0.0), (3.0, 0.0), (0.0, 0.0)], [(2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r63, %c64) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    %c65 = stablehlo.constant dense<[[(5.0, 3.0), (1.0, -1.0)], [(9.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f64>>
    %r66 = "stablehlo.triangular_solve"(%c58, %c65) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %c67 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (-1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r66, %c67) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    %c68 = stablehlo.constant dense<[[(2.0, 0.0), (10.0, 1.0), (5.0, 0.0)], [(4.0, 0.0), (-1.0, 2.0), (-2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    %r69 = "stablehlo.triangular_solve"(%c58, %c68) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %c70 = stablehlo.constant dense<[[(1.0, 0.0), (3.0, 0.0), (0.0, 0.0)], [(2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r69, %c70) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    %c71 = stablehlo.constant dense<[[(5.0, -3.0), (1.0, 1.0)], [(9.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f64>>
    %r72 = "stablehlo.triangular_solve"(%c58, %c71) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %c73 = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (-1.0, 0.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<3x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r72, %c73) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    %c74 = stablehlo.constant dense<[[(2.0, 0.0), (10.0, -1.0), (5.0, 0.0)], [(4.0, 0.0), (-1.0, -2.0), (-2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    %r75 = "stablehlo.triangular_solve"(%c58, %c74) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %c76 = stablehlo.constant dense<[[(1.0, 0.0), (3.0, 0.0), (0.0, 0.0)], [(2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r75, %c76) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return
  }
}
