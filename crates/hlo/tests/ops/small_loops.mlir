// Loops with short iterations: swapped carried values, matmuls, rows of a table, and few iterations.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<1000> : tensor<i32>
    %h2 = stablehlo.custom_call @test.identity(%c1) : (tensor<i32>) -> tensor<i32>
    %c3 = stablehlo.constant dense<0> : tensor<i64>
    %h4 = stablehlo.custom_call @test.identity(%c3) : (tensor<i64>) -> tensor<i64>
    %c5 = stablehlo.constant dense<1> : tensor<i64>
    %h6 = stablehlo.custom_call @test.identity(%c5) : (tensor<i64>) -> tensor<i64>
    %c7 = stablehlo.constant dense<0> : tensor<i32>
    %c8 = stablehlo.constant dense<1> : tensor<i32>
    %f:3 = stablehlo.while(%i = %c7, %a = %h4, %b = %h6) : tensor<i32>, tensor<i64>, tensor<i64>
     cond {
      %c = stablehlo.compare LT, %i, %h2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = stablehlo.add %a, %b : tensor<i64>
      %j = stablehlo.add %i, %c8 : tensor<i32>
      stablehlo.return %j, %b, %s : tensor<i32>, tensor<i64>, tensor<i64>
    }
    %c9 = stablehlo.constant dense<817770325994397771> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%f#1, %c9) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c10 = stablehlo.constant dense<9079565065540428013> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%f#2, %c10) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c11 = stablehlo.constant dense<1000> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%f#0, %c11) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c12 = stablehlo.constant dense<[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]> : tensor<3x3xf32>
    %h13 = stablehlo.custom_call @test.identity(%c12) : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %c14 = stablehlo.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
    %h15 = stablehlo.custom_call @test.identity(%c14) : (tensor<1x3xf32>) -> tensor<1x3xf32>
    %c16 = stablehlo.constant dense<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<40x3xf32>
    %h17 = stablehlo.custom_call @test.identity(%c16) : (tensor<40x3xf32>) -> tensor<40x3xf32>
    %c18 = stablehlo.constant dense<40> : tensor<i32>
    %h19 = stablehlo.custom_call @test.identity(%c18) : (tensor<i32>) -> tensor<i32>
    %c20 = stablehlo.constant dense<[[100.0, 100.0, 100.0]]> : tensor<1x3xf32>
    %c21 = stablehlo.constant dense<0> : tensor<i32>
    %g:5 = stablehlo.while(%i = %c7, %x = %h15, %all = %h17, %before = %h15, %same = %h15) : tensor<i32>, tensor<1x3xf32>, tensor<40x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
     cond {
      %c = stablehlo.compare LT, %i, %h19 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %p = stablehlo.dot_general %x, %h13, contracting_dims = [1] x [0] : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>
      %l = stablehlo.compare GT, %p, %c20 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xi1>
      %d = stablehlo.subtract %p, %c20 : tensor<1x3xf32>
      %n = stablehlo.select %l, %d, %p : tensor<1x3xi1>, tensor<1x3xf32>
      %u = stablehlo.dynamic_update_slice %all, %n, %i, %c21 : (tensor<40x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<40x3xf32>
      %j = stablehlo.add %i, %c8 : tensor<i32>
      stablehlo.return %j, %n, %u, %x, %n : tensor<i32>, tensor<1x3xf32>, tensor<40x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
    }
    %c22 = stablehlo.constant dense<[[52.0, 53.0, 51.0]]> : tensor<1x3xf32>
    stablehlo.custom_call @check.expect_eq(%g#1, %c22) {has_side_effect = true} : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
    %c23 = stablehlo.constant dense<[[4.0, 3.0, 5.0], [9.0, 7.0, 8.0], [17.0, 16.0, 15.0], [32.0, 33.0, 31.0], [63.0, 65.0, 64.0], [27.0, 28.0, 29.0], [56.0, 55.0, 57.0], [13.0, 11.0, 12.0], [25.0, 24.0, 23.0], [48.0, 49.0, 47.0], [95.0, 97.0, 96.0], [91.0, 92.0, 93.0], [84.0, 83.0, 85.0], [69.0, 67.0, 68.0], [37.0, 36.0, 35.0], [72.0, 73.0, 71.0], [43.0, 45.0, 44.0], [87.0, 88.0, 89.0], [76.0, 75.0, 77.0], [53.0, 51.0, 52.0], [5.0, 4.0, 3.0], [8.0, 9.0, 7.0], [15.0, 17.0, 16.0], [31.0, 32.0, 33.0], [64.0, 63.0, 65.0], [29.0, 27.0, 28.0], [57.0, 56.0, 55.0], [12.0, 13.0, 11.0], [23.0, 25.0, 24.0], [47.0, 48.0, 49.0], [96.0, 95.0, 97.0], [93.0, 91.0, 92.0], [85.0, 84.0, 83.0], [68.0, 69.0, 67.0], [35.0, 37.0, 36.0], [71.0, 72.0, 73.0], [44.0, 43.0, 45.0], [89.0, 87.0, 88.0], [77.0, 76.0, 75.0], [52.0, 53.0, 51.0]]> : tensor<40x3xf32>
    stablehlo.custom_call @check.expect_eq(%g#2, %c23) {has_side_effect = true} : (tensor<40x3xf32>, tensor<40x3xf32>) -> ()
    %c24 = stablehlo.constant dense<[[77.0, 76.0, 75.0]]> : tensor<1x3xf32>
    stablehlo.custom_call @check.expect_eq(%g#3, %c24) {has_side_effect = true} : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
    %c25 = stablehlo.constant dense<[[52.0, 53.0, 51.0]]> : tensor<1x3xf32>
    stablehlo.custom_call @check.expect_eq(%g#4, %c25) {has_side_effect = true} : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
    %c26 = stablehlo.constant dense<0> : tensor<i32>
    %h27 = stablehlo.custom_call @test.identity(%c26) : (tensor<i32>) -> tensor<i32>
    %w28:2 = stablehlo.while(%i = %c7, %a = %h4) : tensor<i32>, tensor<i64>
     cond {
      %c = stablehlo.compare LT, %i, %h27 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c8 : tensor<i32>
      %s = stablehlo.convert %j : (tensor<i32>) -> tensor<i64>
      %q = stablehlo.add %a, %s : tensor<i64>
      stablehlo.return %j, %q : tensor<i32>, tensor<i64>
    }
    %c29 = stablehlo.constant dense<0> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%w28#0, %c29) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c30 = stablehlo.constant dense<0> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%w28#1, %c30) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c31 = stablehlo.constant dense<1> : tensor<i32>
    %h32 = stablehlo.custom_call @test.identity(%c31) : (tensor<i32>) -> tensor<i32>
    %w33:2 = stablehlo.while(%i = %c7, %a = %h4) : tensor<i32>, tensor<i64>
     cond {
      %c = stablehlo.compare LT, %i, %h32 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c8 : tensor<i32>
      %s = stablehlo.convert %j : (tensor<i32>) -> tensor<i64>
      %q = stablehlo.add %a, %s : tensor<i64>
      stablehlo.return %j, %q : tensor<i32>, tensor<i64>
    }
    %c34 = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%w33#0, %c34) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c35 = stablehlo.constant dense<1> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%w33#1, %c35) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c36 = stablehlo.constant dense<2> : tensor<i32>
    %h37 = stablehlo.custom_call @test.identity(%c36) : (tensor<i32>) -> tensor<i32>
    %w38:2 = stablehlo.while(%i = %c7, %a = %h4) : tensor<i32>, tensor<i64>
     cond {
      %c = stablehlo.compare LT, %i, %h37 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c8 : tensor<i32>
      %s = stablehlo.convert %j : (tensor<i32>) -> tensor<i64>
      %q = stablehlo.add %a, %s : tensor<i64>
      stablehlo.return %j, %q : tensor<i32>, tensor<i64>
    }
    %c39 = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%w38#0, %c39) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c40 = stablehlo.constant dense<3> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%w38#1, %c40) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c41 = stablehlo.constant dense<3> : tensor<i32>
    %h42 = stablehlo.custom_call @test.identity(%c41) : (tensor<i32>) -> tensor<i32>
    %w43:2 = stablehlo.while(%i = %c7, %a = %h4) : tensor<i32>, tensor<i64>
     cond {
      %c = stablehlo.compare LT, %i, %h42 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c8 : tensor<i32>
      %s = stablehlo.convert %j : (tensor<i32>) -> tensor<i64>
      %q = stablehlo.add %a, %s : tensor<i64>
      stablehlo.return %j, %q : tensor<i32>, tensor<i64>
    }
    %c44 = stablehlo.constant dense<3> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%w43#0, %c44) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c45 = stablehlo.constant dense<6> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%w43#1, %c45) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    return
  }
}
