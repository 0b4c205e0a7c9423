// while: a small constant trip count, a dynamic trip count, and a nested loop that captures outer values.
module {
  func.func @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %a:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<2xf32>
     cond {
      %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.add %v, %v : tensor<2xf32>
      stablehlo.return %n, %w : tensor<i32>, tensor<2xf32>
    }
    %e_a_1 = stablehlo.constant dense<[32.0, 64.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%a#1, %e_a_1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %limit = stablehlo.custom_call @test.identity(%five) : (tensor<i32>) -> tensor<i32>
    %b:3 = stablehlo.while(%i = %zero, %v = %x, %same = %x) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
     cond {
      %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %in:2 = stablehlo.while(%j = %zero, %u = %v) : tensor<i32>, tensor<2xf32>
       cond {
        %c = stablehlo.compare LT, %j, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %m = stablehlo.add %j, %one : tensor<i32>
        %w = stablehlo.add %u, %same : tensor<2xf32>
        stablehlo.return %m, %w : tensor<i32>, tensor<2xf32>
      }
      stablehlo.return %n, %in#1, %same : tensor<i32>, tensor<2xf32>, tensor<2xf32>
    }
    %e_b_0 = stablehlo.constant dense<5> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%b#0, %e_b_0) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %e_b_1 = stablehlo.constant dense<[11.0, 22.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%b#1, %e_b_1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %e_b_2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%b#2, %e_b_2) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return
  }
}
