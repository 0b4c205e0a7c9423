// select_and_scatter with adjacent, overlapping, sparse and padded windows.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[6.0, 12.0, -20.0, 12.0, -2.0, 0.0, 5.0, -9.0], [19.0, -18.0, -9.0, -5.0, 2.0, -4.0, -15.0, -19.0], [-20.0, -19.0, -15.0, 19.0, -13.0, 6.0, 10.0, -11.0], [-9.0, -3.0, -10.0, 18.0, -13.0, 15.0, 11.0, 13.0], [-16.0, -5.0, 5.0, -1.0, 6.0, 7.0, 6.0, -18.0], [18.0, 2.0, 16.0, -10.0, -6.0, 15.0, -13.0, -18.0]]> : tensor<6x8xf32>
    %h2 = stablehlo.custom_call @test.identity(%c1) : (tensor<6x8xf32>) -> tensor<6x8xf32>
    %c3 = stablehlo.constant dense<[[3.0, 6.0, 1.0, 7.0], [3.0, 2.0, 5.0, 8.0], [8.0, 7.0, 3.0, 1.0]]> : tensor<3x4xf32>
    %h4 = stablehlo.custom_call @test.identity(%c3) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %c5 = stablehlo.constant dense<0.5> : tensor<f32>
    %r6 = "stablehlo.select_and_scatter"(%h2, %h4, %c5) <{padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<6x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<6x8xf32>
    %c7 = stablehlo.constant dense<[[0.5, 0.5, 0.5, 6.5, 0.5, 0.5, 7.5, 0.5], [3.5, 0.5, 0.5, 0.5, 1.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 2.5, 0.5, 0.5, 0.5, 0.5], [0.5, 3.5, 0.5, 0.5, 0.5, 5.5, 0.5, 8.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 0.5], [8.5, 0.5, 7.5, 0.5, 0.5, 3.5, 0.5, 0.5]]> : tensor<6x8xf32>
    stablehlo.custom_call @check.expect_eq(%r6, %c7) {has_side_effect = true} : (tensor<6x8xf32>, tensor<6x8xf32>) -> ()
    %c8 = stablehlo.constant dense<[[11.0, 8.0, 10.0, -20.0, -19.0, 0.0, -7.0, -3.0, 17.0], [-12.0, 1.0, -8.0, -9.0, 12.0, -14.0, -8.0, -16.0, -15.0], [-9.0, 7.0, 3.0, -3.0, -14.0, 11.0, 11.0, -11.0, -18.0], [-8.0, -15.0, 11.0, 0.0, 0.0, -9.0, 0.0, 18.0, -11.0], [10.0, -20.0, -8.0, 17.0, 14.0, -17.0, 13.0, 13.0, -2.0], [-6.0, 19.0, 18.0, 7.0, -5.0, -12.0, 17.0, -10.0, 2.0], [6.0, -11.0, -8.0, 9.0, -13.0, 6.0, 17.0, 7.0, 5.0]]> : tensor<7x9xf32>
    %h9 = stablehlo.custom_call @test.identity(%c8) : (tensor<7x9xf32>) -> tensor<7x9xf32>
    %c10 = stablehlo.constant dense<[[4.0, 8.0, 2.0], [3.0, 6.0, 6.0]]> : tensor<2x3xf32>
    %h11 = stablehlo.custom_call @test.identity(%c10) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %c12 = stablehlo.constant dense<0.5> : tensor<f32>
    %r13 = "stablehlo.select_and_scatter"(%h9, %h11, %c12) <{padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 3, 3>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<7x9xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<7x9xf32>
    %c14 = stablehlo.constant dense<[[4.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 2.5], [0.5, 0.5, 0.5, 0.5, 8.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 3.5, 0.5, 0.5, 0.5, 0.5, 6.5, 0.5], [0.5, 0.5, 0.5, 6.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]> : tensor<7x9xf32>
    stablehlo.custom_call @check.expect_eq(%r13, %c14) {has_side_effect = true} : (tensor<7x9xf32>, tensor<7x9xf32>) -> ()
    %c15 = stablehlo.constant dense<[[-16.0, -14.0, 7.0, 13.0, 5.0, 17.0], [-5.0, -7.0, 11.0, -19.0, -13.0, -13.0], [-5.0, -14.0, 11.0, 13.0, -5.0, -19.0], [8.0, -16.0, 4.0, -14.0, 17.0, 7.0], [19.0, 4.0, 8.0, -5.0, 12.0, -16.0]]> : tensor<5x6xf32>
    %h16 = stablehlo.custom_call @test.identity(%c15) : (tensor<5x6xf32>) -> tensor<5x6xf32>
    %c17 = stablehlo.constant dense<[[2.0, 3.0, 6.0], [4.0, 7.0, 8.0], [4.0, 4.0, 5.0]]> : tensor<3x3xf32>
    %h18 = stablehlo.custom_call @test.identity(%c17) : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %c19 = stablehlo.constant dense<0.5> : tensor<f32>
    %r20 = "stablehlo.select_and_scatter"(%h16, %h18, %c19) <{padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<5x6xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<5x6xf32>
    %c21 = stablehlo.constant dense<[[2.5, 0.5, 0.5, 3.5, 0.5, 6.5], [4.5, 0.5, 0.5, 0.5, 0.5, 8.5], [0.5, 0.5, 0.5, 7.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 5.5], [4.5, 0.5, 4.5, 0.5, 0.5, 0.5]]> : tensor<5x6xf32>
    stablehlo.custom_call @check.expect_eq(%r20, %c21) {has_side_effect = true} : (tensor<5x6xf32>, tensor<5x6xf32>) -> ()
    %c22 = stablehlo.constant dense<[[5.0, -1.0, 4.0, 18.0, 9.0], [-8.0, -3.0, -4.0, -14.0, -20.0], [11.0, -4.0, -6.0, 5.0, 2.0]]> : tensor<3x5xf32>
    %h23 = stablehlo.custom_call @test.identity(%c22) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %c24 = stablehlo.constant dense<[[8.0, 5.0, 8.0], [5.0, 3.0, 3.0], [8.0, 5.0, 2.0]]> : tensor<3x3xf32>
    %h25 = stablehlo.custom_call @test.identity(%c24) : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %c26 = stablehlo.constant dense<0.5> : tensor<f32>
    %r27 = "stablehlo.select_and_scatter"(%h23, %h25, %c26) <{padding = dense<[[2, 1], [0, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<3x5xf32>
    %c28 = stablehlo.constant dense<[[5.5, 0.5, 0.5, 3.5, 3.5], [0.5, 0.5, 0.5, 0.5, 0.5], [8.5, 0.5, 0.5, 5.5, 2.5]]> : tensor<3x5xf32>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<3x5xf32>, tensor<3x5xf32>) -> ()
    %c29 = stablehlo.constant dense<[[13.0, 12.0, -20.0, -14.0, 7.0, -4.0, -7.0], [-18.0, -13.0, 14.0, 13.0, 13.0, 2.0, -15.0], [-8.0, 1.0, 19.0, -10.0, 1.0, -1.0, 0.0], [2.0, 8.0, -16.0, 19.0, 14.0, 10.0, -9.0], [-3.0, -3.0, -8.0, -18.0, 9.0, -20.0, 10.0], [-13.0, 5.0, -7.0, -11.0, 17.0, -2.0, 15.0]]> : tensor<6x7xf32>
    %h30 = stablehlo.custom_call @test.identity(%c29) : (tensor<6x7xf32>) -> tensor<6x7xf32>
    %c31 = stablehlo.constant dense<[[2.0, 4.0, 3.0], [4.0, 1.0, 6.0]]> : tensor<2x3xf32>
    %h32 = stablehlo.custom_call @test.identity(%c31) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %c33 = stablehlo.constant dense<0.5> : tensor<f32>
    %r34 = "stablehlo.select_and_scatter"(%h30, %h32, %c33) <{padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<6x7xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<6x7xf32>
    %c35 = stablehlo.constant dense<[[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 3.5, 0.5, 0.5], [0.5, 0.5, 11.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 6.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]> : tensor<6x7xf32>
    stablehlo.custom_call @check.expect_eq(%r34, %c35) {has_side_effect = true} : (tensor<6x7xf32>, tensor<6x7xf32>) -> ()
    %c36 = stablehlo.constant dense<[[-7.0, 14.0, -12.0, -7.0, -19.0], [11.0, 1.0, -5.0, 16.0, 3.0], [18.0, 9.0, 3.0, 0.0, -12.0], [7.0, 11.0, 7.0, -4.0, -20.0], [9.0, -19.0, 12.0, -15.0, -8.0]]> : tensor<5x5xf32>
    %h37 = stablehlo.custom_call @test.identity(%c36) : (tensor<5x5xf32>) -> tensor<5x5xf32>
    %c38 = stablehlo.constant dense<[[2.0, 5.0, 2.0], [3.0, 1.0, 8.0], [2.0, 2.0, 5.0], [2.0, 8.0, 7.0], [3.0, 4.0, 3.0]]> : tensor<5x3xf32>
    %h39 = stablehlo.custom_call @test.identity(%c38) : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %c40 = stablehlo.constant dense<0.5> : tensor<f32>
    %r41 = "stablehlo.select_and_scatter"(%h37, %h39, %c40) <{padding = dense<[[1, 1], [2, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<5x5xf32>, tensor<5x3xf32>, tensor<f32>) -> tensor<5x5xf32>
    %c42 = stablehlo.constant dense<[[0.5, 5.5, 0.5, 0.5, 0.5], [2.5, 0.5, 0.5, 15.5, 0.5], [18.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.5], [3.5, 0.5, 14.5, 0.5, 0.5]]> : tensor<5x5xf32>
    stablehlo.custom_call @check.expect_eq(%r41, %c42) {has_side_effect = true} : (tensor<5x5xf32>, tensor<5x5xf32>) -> ()
    %c43 = stablehlo.constant dense<[[9, -4, -9, 7, -15, 11, -3, 17], [-10, -5, 14, 8, -19, -7, -20, 12], [-4, -11, 9, 14, -16, 0, -6, 9], [17, 1, 9, -8, 3, -1, 9, -18], [-11, -19, 19, 1, -1, -1, -19, 13], [13, -20, 4, 2, -5, -1, 15, 3]]> : tensor<6x8xi32>
    %h44 = stablehlo.custom_call @test.identity(%c43) : (tensor<6x8xi32>) -> tensor<6x8xi32>
    %c45 = stablehlo.constant dense<[[4, 6, 6, 5], [7, 5, 5, 4], [5, 5, 8, 2]]> : tensor<3x4xi32>
    %h46 = stablehlo.custom_call @test.identity(%c45) : (tensor<3x4xi32>) -> tensor<3x4xi32>
    %c47 = stablehlo.constant dense<3> : tensor<i32>
    %r48 = "stablehlo.select_and_scatter"(%h44, %h46, %c47) <{padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<6x8xi32>, tensor<3x4xi32>, tensor<i32>) -> tensor<6x8xi32>
    %c49 = stablehlo.constant dense<[[7, 3, 3, 3, 3, 9, 3, 8], [3, 3, 9, 3, 3, 3, 3, 3], [3, 3, 3, 8, 3, 3, 3, 7], [10, 3, 3, 3, 8, 3, 3, 3], [3, 3, 8, 3, 11, 3, 3, 3], [8, 3, 3, 3, 3, 3, 5, 3]]> : tensor<6x8xi32>
    stablehlo.custom_call @check.expect_eq(%r48, %c49) {has_side_effect = true} : (tensor<6x8xi32>, tensor<6x8xi32>) -> ()
    %c50 = stablehlo.constant dense<[[-6, 2, -7, 6, 12, -13, -18, 19, 0], [9, 10, 18, -19, -9, 19, -3, -5, -10], [-20, -19, 18, -20, -15, -11, -9, 14, -8], [-14, -5, 7, -3, -11, -16, -18, -1, -13], [3, 7, -5, 0, -18, 1, -13, -2, -16], [-10, -4, -1, -19, 16, -4, -12, -13, 9], [-3, -10, -2, -13, -14, -8, 18, -17, 1]]> : tensor<7x9xi32>
    %h51 = stablehlo.custom_call @test.identity(%c50) : (tensor<7x9xi32>) -> tensor<7x9xi32>
    %c52 = stablehlo.constant dense<[[8, 4, 3], [5, 2, 6]]> : tensor<2x3xi32>
    %h53 = stablehlo.custom_call @test.identity(%c52) : (tensor<2x3xi32>) -> tensor<2x3xi32>
    %c54 = stablehlo.constant dense<3> : tensor<i32>
    %r55 = "stablehlo.select_and_scatter"(%h51, %h53, %c54) <{padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 3, 3>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<7x9xi32>, tensor<2x3xi32>, tensor<i32>) -> tensor<7x9xi32>
    %c56 = stablehlo.constant dense<[[3, 3, 3, 3, 3, 3, 3, 6, 3], [3, 3, 11, 3, 3, 7, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 8, 3, 3, 3, 3, 9, 3], [3, 3, 3, 3, 3, 5, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3]]> : tensor<7x9xi32>
    stablehlo.custom_call @check.expect_eq(%r55, %c56) {has_side_effect = true} : (tensor<7x9xi32>, tensor<7x9xi32>) -> ()
    %c57 = stablehlo.constant dense<[[-20, 2, -18, -20, -12, 8], [-4, -4, 4, -18, 19, -1], [15, 10, -11, -8, 4, 13], [16, -1, -16, 19, 14, 8], [-5, -15, 11, -12, -8, 14]]> : tensor<5x6xi32>
    %h58 = stablehlo.custom_call @test.identity(%c57) : (tensor<5x6xi32>) -> tensor<5x6xi32>
    %c59 = stablehlo.constant dense<[[6, 3, 5], [5, 1, 3], [7, 6, 7]]> : tensor<3x3xi32>
    %h60 = stablehlo.custom_call @test.identity(%c59) : (tensor<3x3xi32>) -> tensor<3x3xi32>
    %c61 = stablehlo.constant dense<3> : tensor<i32>
    %r62 = "stablehlo.select_and_scatter"(%h58, %h60, %c61) <{padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 3>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<5x6xi32>, tensor<3x3xi32>, tensor<i32>) -> tensor<5x6xi32>
    %c63 = stablehlo.constant dense<[[9, 3, 6, 3, 3, 8], [3, 3, 4, 3, 3, 3], [8, 3, 3, 3, 3, 6], [10, 3, 3, 9, 3, 3], [3, 3, 3, 3, 3, 10]]> : tensor<5x6xi32>
    stablehlo.custom_call @check.expect_eq(%r62, %c63) {has_side_effect = true} : (tensor<5x6xi32>, tensor<5x6xi32>) -> ()
    %c64 = stablehlo.constant dense<[[9, -1, -9, -5, -12], [17, -19, -6, -18, 15], [6, -4, 11, -6, -2]]> : tensor<3x5xi32>
    %h65 = stablehlo.custom_call @test.identity(%c64) : (tensor<3x5xi32>) -> tensor<3x5xi32>
    %c66 = stablehlo.constant dense<[[3, 7, 1], [5, 3, 8], [2, 4, 1]]> : tensor<3x3xi32>
    %h67 = stablehlo.custom_call @test.identity(%c66) : (tensor<3x3xi32>) -> tensor<3x3xi32>
    %c68 = stablehlo.constant dense<3> : tensor<i32>
    %r69 = "stablehlo.select_and_scatter"(%h65, %h67, %c68) <{padding = dense<[[2, 1], [0, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<3x5xi32>, tensor<3x3xi32>, tensor<i32>) -> tensor<3x5xi32>
    %c70 = stablehlo.constant dense<[[3, 3, 3, 6, 3], [8, 3, 3, 3, 11], [5, 3, 7, 3, 4]]> : tensor<3x5xi32>
    stablehlo.custom_call @check.expect_eq(%r69, %c70) {has_side_effect = true} : (tensor<3x5xi32>, tensor<3x5xi32>) -> ()
    %c71 = stablehlo.constant dense<[[-1, 1, 10, -3, -11, -19, 16], [-14, 10, 16, -8, -15, 7, -6], [-19, 18, 16, -16, 9, -4, -18], [12, 14, -20, -16, -18, 18, 17], [13, 7, -17, -10, 0, -1, -16], [-11, 7, 15, -16, 17, -8, -18]]> : tensor<6x7xi32>
    %h72 = stablehlo.custom_call @test.identity(%c71) : (tensor<6x7xi32>) -> tensor<6x7xi32>
    %c73 = stablehlo.constant dense<[[8, 5, 6], [2, 8, 4]]> : tensor<2x3xi32>
    %h74 = stablehlo.custom_call @test.identity(%c73) : (tensor<2x3xi32>) -> tensor<2x3xi32>
    %c75 = stablehlo.constant dense<3> : tensor<i32>
    %r76 = "stablehlo.select_and_scatter"(%h72, %h74, %c75) <{padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<6x7xi32>, tensor<2x3xi32>, tensor<i32>) -> tensor<6x7xi32>
    %c77 = stablehlo.constant dense<[[3, 3, 3, 3, 3, 3, 9], [3, 3, 8, 3, 3, 3, 3], [3, 13, 11, 3, 3, 3, 3], [3, 3, 3, 3, 3, 7, 3], [3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3]]> : tensor<6x7xi32>
    stablehlo.custom_call @check.expect_eq(%r76, %c77) {has_side_effect = true} : (tensor<6x7xi32>, tensor<6x7xi32>) -> ()
    %c78 = stablehlo.constant dense<[[-6, 9, 10, 8, -11], [-13, 2, -7, -19, -3], [10, -5, -4, 7, 18], [11, -15, -7, 1, -3], [-11, -18, 5, -6, -8]]> : tensor<5x5xi32>
    %h79 = stablehlo.custom_call @test.identity(%c78) : (tensor<5x5xi32>) -> tensor<5x5xi32>
    %c80 = stablehlo.constant dense<[[8, 7, 5], [8, 5, 8], [5, 3, 5], [6, 7, 8], [3, 1, 3]]> : tensor<5x3xi32>
    %h81 = stablehlo.custom_call @test.identity(%c80) : (tensor<5x3xi32>) -> tensor<5x3xi32>
    %c82 = stablehlo.constant dense<3> : tensor<i32>
    %r83 = "stablehlo.select_and_scatter"(%h79, %h81, %c82) <{padding = dense<[[1, 1], [2, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<5x5xi32>, tensor<5x3xi32>, tensor<i32>) -> tensor<5x5xi32>
    %c84 = stablehlo.constant dense<[[11, 3, 20, 3, 3], [3, 3, 3, 3, 3], [11, 3, 3, 3, 24], [28, 3, 3, 3, 3], [3, 3, 6, 3, 3]]> : tensor<5x5xi32>
    stablehlo.custom_call @check.expect_eq(%r83, %c84) {has_side_effect = true} : (tensor<5x5xi32>, tensor<5x5xi32>) -> ()
    return
  }
}
