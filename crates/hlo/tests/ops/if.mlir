// if with a constant predicate, a dynamic one, and branches too large for if-conversion.
module {
  func.func @main() {
    %p = stablehlo.constant dense<true> : tensor<i1>
    %x = stablehlo.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf64>
    %a = "stablehlo.if"(%p) ({
      %y = stablehlo.negate %x : tensor<3xf64>
      stablehlo.return %y : tensor<3xf64>
    }, {
      stablehlo.return %x : tensor<3xf64>
    }) : (tensor<i1>) -> tensor<3xf64>
    %e_a = stablehlo.constant dense<[-3.0, -1.0, -2.0]> : tensor<3xf64>
    stablehlo.custom_call @check.expect_eq(%a, %e_a) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()
    %q = stablehlo.custom_call @test.identity(%p) : (tensor<i1>) -> tensor<i1>
    %r = stablehlo.not %q : tensor<i1>
    %b = "stablehlo.if"(%r) ({
      %y = stablehlo.negate %x : tensor<3xf64>
      stablehlo.return %y : tensor<3xf64>
    }, {
      stablehlo.return %x : tensor<3xf64>
    }) : (tensor<i1>) -> tensor<3xf64>
    %e_b = stablehlo.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf64>
    stablehlo.custom_call @check.expect_eq(%b, %e_b) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()
    %c = "stablehlo.if"(%q) ({
      %y = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
      ^bb0(%s: tensor<f64>, %t: tensor<f64>):
        %l = stablehlo.compare LT, %s, %t, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
      }) : (tensor<3xf64>) -> tensor<3xf64>
      stablehlo.return %y : tensor<3xf64>
    }, {
      stablehlo.return %x : tensor<3xf64>
    }) : (tensor<i1>) -> tensor<3xf64>
    %e_c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
    stablehlo.custom_call @check.expect_eq(%c, %e_c) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()
    return
  }
}
