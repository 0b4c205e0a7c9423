// reduce with arbitrary bodies: two operands at once, the position of the largest, and one that is not
// commutative (2 × 2 matrices, multiplied in order).
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[3.0, 9.0, 0x7FC00000, 2.0, 9.0], [1.0, 4.0, 4.0, -2.0, 0.0]]> : tensor<2x5xf32>
    %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %max:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
      %8 = stablehlo.select %6, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
    }
    %at = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%max#1, %at) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()

    %p = stablehlo.constant dense<[1, 2, 1, 3, 2]> : tensor<5xi64>
    %q = stablehlo.constant dense<[1, 0, 3, 1, 5]> : tensor<5xi64>
    %r = stablehlo.constant dense<[0, 1, 1, 2, 1]> : tensor<5xi64>
    %s = stablehlo.constant dense<[1, 1, 2, 0, 3]> : tensor<5xi64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %none = stablehlo.constant dense<0> : tensor<i64>
    %m:4 = stablehlo.reduce(%p init: %one), (%q init: %none), (%r init: %none), (%s init: %one) across dimensions = [0] : (tensor<5xi64>, tensor<5xi64>, tensor<5xi64>, tensor<5xi64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
     reducer(%a: tensor<i64>, %e: tensor<i64>) (%b: tensor<i64>, %f: tensor<i64>) (%c: tensor<i64>, %g: tensor<i64>) (%d: tensor<i64>, %h: tensor<i64>) {
      %0 = stablehlo.multiply %a, %e : tensor<i64>
      %1 = stablehlo.multiply %b, %g : tensor<i64>
      %2 = stablehlo.add %0, %1 : tensor<i64>
      %3 = stablehlo.multiply %a, %f : tensor<i64>
      %4 = stablehlo.multiply %b, %h : tensor<i64>
      %5 = stablehlo.add %3, %4 : tensor<i64>
      %6 = stablehlo.multiply %c, %e : tensor<i64>
      %7 = stablehlo.multiply %d, %g : tensor<i64>
      %8 = stablehlo.add %6, %7 : tensor<i64>
      %9 = stablehlo.multiply %c, %f : tensor<i64>
      %10 = stablehlo.multiply %d, %h : tensor<i64>
      %11 = stablehlo.add %9, %10 : tensor<i64>
      stablehlo.return %2, %5, %8, %11 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
    }
    %e0 = stablehlo.constant dense<72> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%m#0, %e0) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %e1 = stablehlo.constant dense<182> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%m#1, %e1) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %e2 = stablehlo.constant dense<34> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%m#2, %e2) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %e3 = stablehlo.constant dense<86> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%m#3, %e3) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    return
  }
}
