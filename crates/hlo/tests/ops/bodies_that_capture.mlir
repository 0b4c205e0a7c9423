// sort and reduce with bodies that capture values that are not constant.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[-14, 7, 8, 19, -6, 15, 16], [11, 12, -7, 4, 3, -4, 3], [-3, -17, -3, 7, 13, 0, -20]]> : tensor<3x7xi32>
    %h2 = stablehlo.custom_call @test.identity(%c1) : (tensor<3x7xi32>) -> tensor<3x7xi32>
    %c3 = stablehlo.constant dense<4> : tensor<i32>
    %h4 = stablehlo.custom_call @test.identity(%c3) : (tensor<i32>) -> tensor<i32>
    %r = "stablehlo.sort"(%h2) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %d = stablehlo.subtract %a, %h4 : tensor<i32>
        %e = stablehlo.subtract %b, %h4 : tensor<i32>
        %f = stablehlo.abs %d : tensor<i32>
        %g = stablehlo.abs %e : tensor<i32>
        %l = stablehlo.compare LT, %f, %g : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
    }) : (tensor<3x7xi32>) -> tensor<3x7xi32>
    %c5 = stablehlo.constant dense<[[7, 8, -6, 15, 16, 19, -14], [4, 3, 3, 11, 12, -4, -7], [7, 0, -3, -3, 13, -17, -20]]> : tensor<3x7xi32>
    stablehlo.custom_call @check.expect_eq(%r, %c5) {has_side_effect = true} : (tensor<3x7xi32>, tensor<3x7xi32>) -> ()
    %c6 = stablehlo.constant dense<-99> : tensor<i32>
    %m = "stablehlo.reduce"(%h2, %c6) <{dimensions = array<i64: 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %d = stablehlo.maximum %a, %h4 : tensor<i32>
        %e = stablehlo.maximum %d, %b : tensor<i32>
        stablehlo.return %e : tensor<i32>
    }) : (tensor<3x7xi32>, tensor<i32>) -> tensor<3xi32>
    %c7 = stablehlo.constant dense<[19, 12, 13]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%m, %c7) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    return
  }
}
