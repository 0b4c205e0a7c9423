// scatter of several tensors, with duplicate indices, and with a body that captures a value.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[1, 6, 7], [-1, -9, 8], [-5, -7, -6], [5, 0, -1]]> : tensor<4x3xi32>
    %h2 = stablehlo.custom_call @test.identity(%c1) : (tensor<4x3xi32>) -> tensor<4x3xi32>
    %c3 = stablehlo.constant dense<[[-3.0, -1.0, 3.0], [6.0, 8.0, -7.0], [4.0, 0.0, -3.0], [-5.0, -8.0, -3.0]]> : tensor<4x3xf32>
    %h4 = stablehlo.custom_call @test.identity(%c3) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %c5 = stablehlo.constant dense<[[2], [0], [2], [7], [2], [0]]> : tensor<6x1xi32>
    %h6 = stablehlo.custom_call @test.identity(%c5) : (tensor<6x1xi32>) -> tensor<6x1xi32>
    %c7 = stablehlo.constant dense<[[2, 7, 8], [4, 4, 7], [2, 1, 2], [8, 4, 8], [1, 6, 3], [2, 6, 6]]> : tensor<6x3xi32>
    %h8 = stablehlo.custom_call @test.identity(%c7) : (tensor<6x3xi32>) -> tensor<6x3xi32>
    %c9 = stablehlo.constant dense<[[7.0, 2.0, 7.0], [3.0, 1.0, 1.0], [1.0, 1.0, 6.0], [2.0, 5.0, 2.0], [7.0, 7.0, 7.0], [2.0, 4.0, 7.0]]> : tensor<6x3xf32>
    %h10 = stablehlo.custom_call @test.identity(%c9) : (tensor<6x3xf32>) -> tensor<6x3xf32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %r:2 = "stablehlo.scatter"(%h2, %h4, %h6, %h8, %h10) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<f32>, %u: tensor<i32>, %v: tensor<f32>):
        %d = stablehlo.multiply %a, %two : tensor<i32>
        %na = stablehlo.add %d, %u : tensor<i32>
        %p = stablehlo.compare GT, %a, %u : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %s = stablehlo.add %b, %v : tensor<f32>
        %t = stablehlo.subtract %v, %b : tensor<f32>
        %nb = stablehlo.select %p, %s, %t : tensor<i1>, tensor<f32>
        stablehlo.return %na, %nb : tensor<i32>, tensor<f32>
    }) : (tensor<4x3xi32>, tensor<4x3xf32>, tensor<6x1xi32>, tensor<6x3xi32>, tensor<6x3xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
    %c11 = stablehlo.constant dense<[[14, 38, 48], [-1, -9, 8], [-27, -20, -9], [5, 0, -1]]> : tensor<4x3xi32>
    stablehlo.custom_call @check.expect_eq(%r#0, %c11) {has_side_effect = true} : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
    %c12 = stablehlo.constant dense<[[8.0, 4.0, 5.0], [6.0, 8.0, -7.0], [9.0, 8.0, 11.0], [-5.0, -8.0, -3.0]]> : tensor<4x3xf32>
    stablehlo.custom_call @check.expect_eq(%r#1, %c12) {has_side_effect = true} : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
    %c13 = stablehlo.constant dense<3> : tensor<i32>
    %h14 = stablehlo.custom_call @test.identity(%c13) : (tensor<i32>) -> tensor<i32>
    %c15 = stablehlo.constant dense<[[5, -9, 2, -8, 2, -8], [1, 7, -2, 5, -4, -9], [0, 7, 3, -5, -5, -5], [1, 1, 1, -6, 4, 8], [-6, -3, -1, 1, 7, 1]]> : tensor<5x6xi32>
    %h16 = stablehlo.custom_call @test.identity(%c15) : (tensor<5x6xi32>) -> tensor<5x6xi32>
    %c17 = stablehlo.constant dense<[[0, 1], [1, 2], [1, 1], [4, 5], [1, 1]]> : tensor<5x2xi64>
    %h18 = stablehlo.custom_call @test.identity(%c17) : (tensor<5x2xi64>) -> tensor<5x2xi64>
    %c19 = stablehlo.constant dense<[[[8, 3], [6, 6]], [[7, 8], [4, 5]], [[6, 1], [6, 7]], [[5, 6], [7, 4]], [[1, 6], [5, 3]]]> : tensor<5x2x2xi32>
    %h20 = stablehlo.custom_call @test.identity(%c19) : (tensor<5x2x2xi32>) -> tensor<5x2x2xi32>
    %q = "stablehlo.scatter"(%h16, %h18, %h20) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %u: tensor<i32>):
        %d = stablehlo.multiply %a, %h14 : tensor<i32>
        %na = stablehlo.subtract %u, %d : tensor<i32>
        stablehlo.return %na : tensor<i32>
    }) : (tensor<5x6xi32>, tensor<5x2xi64>, tensor<5x2x2xi32>) -> tensor<5x6xi32>
    %c21 = stablehlo.constant dense<[[5, 35, -3, -8, 2, -8], [1, -152, -258, -7, -4, -9], [0, 50, -63, 20, -5, -5], [1, 1, 1, -6, 4, 8], [-6, -3, -1, 1, 7, 2]]> : tensor<5x6xi32>
    stablehlo.custom_call @check.expect_eq(%q, %c21) {has_side_effect = true} : (tensor<5x6xi32>, tensor<5x6xi32>) -> ()
    %c22 = stablehlo.constant dense<[[-2, -4, -7], [0, -2, -8], [-4, 1, -8], [-6, -5, -5]]> : tensor<4x3xi32>
    %h23 = stablehlo.custom_call @test.identity(%c22) : (tensor<4x3xi32>) -> tensor<4x3xi32>
    %c24 = stablehlo.constant dense<[[-2.0, -4.0, -7.0], [0.0, -2.0, -8.0], [-4.0, 1.0, -8.0], [-6.0, -5.0, -5.0]]> : tensor<4x3xf32>
    %h25 = stablehlo.custom_call @test.identity(%c24) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %c26 = stablehlo.constant dense<[[9], [-1]]> : tensor<2x1xi32>
    %h27 = stablehlo.custom_call @test.identity(%c26) : (tensor<2x1xi32>) -> tensor<2x1xi32>
    %c28 = stablehlo.constant dense<[[8, 8, 3], [5, 4, 2]]> : tensor<2x3xi32>
    %h29 = stablehlo.custom_call @test.identity(%c28) : (tensor<2x3xi32>) -> tensor<2x3xi32>
    %c30 = stablehlo.constant dense<[[8.0, 8.0, 3.0], [5.0, 4.0, 2.0]]> : tensor<2x3xf32>
    %h31 = stablehlo.custom_call @test.identity(%c30) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %o:2 = "stablehlo.scatter"(%h23, %h25, %h27, %h29, %h31) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<f32>, %u: tensor<i32>, %v: tensor<f32>):
        %na = stablehlo.add %a, %u : tensor<i32>
        %nb = stablehlo.multiply %b, %v : tensor<f32>
        stablehlo.return %na, %nb : tensor<i32>, tensor<f32>
    }) : (tensor<4x3xi32>, tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xi32>, tensor<2x3xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
    %c32 = stablehlo.constant dense<[[-2, -4, -7], [0, -2, -8], [-4, 1, -8], [-6, -5, -5]]> : tensor<4x3xi32>
    stablehlo.custom_call @check.expect_eq(%o#0, %c32) {has_side_effect = true} : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
    %c33 = stablehlo.constant dense<[[-2.0, -4.0, -7.0], [0.0, -2.0, -8.0], [-4.0, 1.0, -8.0], [-6.0, -5.0, -5.0]]> : tensor<4x3xf32>
    stablehlo.custom_call @check.expect_eq(%o#1, %c33) {has_side_effect = true} : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
    return
  }
}
