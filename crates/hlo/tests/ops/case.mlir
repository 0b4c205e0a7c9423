// case: indices in range, and out of range, which selects the last branch.
module {
  func.func @main() {
    %m = stablehlo.constant dense<[[0, 1, 2, 0, 1], [2, 0, 1, 2, 0], [1, 2, 0, 1, 2], [0, 1, 2, 0, 1], [2, 0, 1, 2, 0]]> : tensor<5x5xi64>
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %i0 = stablehlo.custom_call @test.identity(%k0) : (tensor<i32>) -> tensor<i32>
    %r0 = "stablehlo.case"(%i0) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_r0 = stablehlo.constant dense<[[6, 4, 2, 6, 4], [1, 6, 8, 1, 6], [8, 2, 8, 8, 2], [6, 4, 2, 6, 4], [1, 6, 8, 1, 6]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%r0, %e_r0) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %s0 = "stablehlo.case"(%k0) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_s0 = stablehlo.constant dense<[[6, 4, 2, 6, 4], [1, 6, 8, 1, 6], [8, 2, 8, 8, 2], [6, 4, 2, 6, 4], [1, 6, 8, 1, 6]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%s0, %e_s0) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %i1 = stablehlo.custom_call @test.identity(%k1) : (tensor<i32>) -> tensor<i32>
    %r1 = "stablehlo.case"(%i1) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_r1 = stablehlo.constant dense<[[0, 1, 2, 0, 1], [2, 0, 1, 2, 0], [1, 2, 0, 1, 2], [0, 1, 2, 0, 1], [2, 0, 1, 2, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%r1, %e_r1) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %s1 = "stablehlo.case"(%k1) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_s1 = stablehlo.constant dense<[[0, 1, 2, 0, 1], [2, 0, 1, 2, 0], [1, 2, 0, 1, 2], [0, 1, 2, 0, 1], [2, 0, 1, 2, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%s1, %e_s1) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %i2 = stablehlo.custom_call @test.identity(%k2) : (tensor<i32>) -> tensor<i32>
    %r2 = "stablehlo.case"(%i2) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_r2 = stablehlo.constant dense<[[0, 2, 4, 0, 2], [4, 0, 2, 4, 0], [2, 4, 0, 2, 4], [0, 2, 4, 0, 2], [4, 0, 2, 4, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%r2, %e_r2) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %s2 = "stablehlo.case"(%k2) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_s2 = stablehlo.constant dense<[[0, 2, 4, 0, 2], [4, 0, 2, 4, 0], [2, 4, 0, 2, 4], [0, 2, 4, 0, 2], [4, 0, 2, 4, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%s2, %e_s2) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %k3 = stablehlo.constant dense<-1> : tensor<i32>
    %i3 = stablehlo.custom_call @test.identity(%k3) : (tensor<i32>) -> tensor<i32>
    %r3 = "stablehlo.case"(%i3) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_r3 = stablehlo.constant dense<[[0, 2, 4, 0, 2], [4, 0, 2, 4, 0], [2, 4, 0, 2, 4], [0, 2, 4, 0, 2], [4, 0, 2, 4, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%r3, %e_r3) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %s3 = "stablehlo.case"(%k3) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_s3 = stablehlo.constant dense<[[0, 2, 4, 0, 2], [4, 0, 2, 4, 0], [2, 4, 0, 2, 4], [0, 2, 4, 0, 2], [4, 0, 2, 4, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%s3, %e_s3) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %k4 = stablehlo.constant dense<9> : tensor<i32>
    %i4 = stablehlo.custom_call @test.identity(%k4) : (tensor<i32>) -> tensor<i32>
    %r4 = "stablehlo.case"(%i4) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_r4 = stablehlo.constant dense<[[0, 2, 4, 0, 2], [4, 0, 2, 4, 0], [2, 4, 0, 2, 4], [0, 2, 4, 0, 2], [4, 0, 2, 4, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%r4, %e_r4) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    %s4 = "stablehlo.case"(%k4) ({
      %y = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }, {
      stablehlo.return %m : tensor<5x5xi64>
    }, {
      %y = stablehlo.add %m, %m : tensor<5x5xi64>
      stablehlo.return %y : tensor<5x5xi64>
    }) : (tensor<i32>) -> tensor<5x5xi64>
    %e_s4 = stablehlo.constant dense<[[0, 2, 4, 0, 2], [4, 0, 2, 4, 0], [2, 4, 0, 2, 4], [0, 2, 4, 0, 2], [4, 0, 2, 4, 0]]> : tensor<5x5xi64>
    stablehlo.custom_call @check.expect_eq(%s4, %e_s4) {has_side_effect = true} : (tensor<5x5xi64>, tensor<5x5xi64>) -> ()
    return
  }
}
