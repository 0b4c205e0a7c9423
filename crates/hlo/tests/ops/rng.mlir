// rng: the values are not specified, but their range is.
module {
  func.func @main() {
    %a = stablehlo.constant dense<2.0> : tensor<f32>
    %b = stablehlo.constant dense<3.0> : tensor<f32>
    %n = stablehlo.constant dense<[64]> : tensor<1xi64>
    %u = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<64xf32>
    %c = stablehlo.clamp %a, %u, %b : (tensor<f32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    stablehlo.custom_call @check.expect_eq(%u, %c) {has_side_effect = true} : (tensor<64xf32>, tensor<64xf32>) -> ()
    %l = stablehlo.constant dense<-2> : tensor<i32>
    %h = stablehlo.constant dense<3> : tensor<i32>
    %i = stablehlo.rng %l, %h, %n, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<64xi32>
    %t = stablehlo.constant dense<2> : tensor<i32>
    %d = stablehlo.clamp %l, %i, %t : (tensor<i32>, tensor<64xi32>, tensor<i32>) -> tensor<64xi32>
    stablehlo.custom_call @check.expect_eq(%i, %d) {has_side_effect = true} : (tensor<64xi32>, tensor<64xi32>) -> ()
    %z = stablehlo.constant dense<0.0> : tensor<f64>
    %o = stablehlo.constant dense<1.0> : tensor<f64>
    %g = stablehlo.rng %z, %o, %n, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<64xf64>
    %f = stablehlo.is_finite %g : (tensor<64xf64>) -> tensor<64xi1>
    %e = stablehlo.constant dense<true> : tensor<64xi1>
    stablehlo.custom_call @check.expect_eq(%f, %e) {has_side_effect = true} : (tensor<64xi1>, tensor<64xi1>) -> ()
    return
  }
}
