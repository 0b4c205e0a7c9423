// Cumulative reduce_window whose initial value, which is also the padding, is not the identity.
module {
  func.func @main() {
    %1 = stablehlo.constant dense<[1.0, 1.0, 1.0]> : tensor<3xf32>
    %2 = stablehlo.constant dense<1.0> : tensor<f32>
    %3 = "stablehlo.reduce_window"(%1, %2) <{window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %4 = stablehlo.constant dense<[4.0, 4.0, 4.0]> : tensor<3xf32>
    stablehlo.custom_call @check.expect_eq(%3, %4) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %5 = "stablehlo.reduce_window"(%1, %2) <{window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %6 = stablehlo.constant dense<[4.0, 4.0, 4.0]> : tensor<3xf32>
    stablehlo.custom_call @check.expect_eq(%5, %6) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %7 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %8 = stablehlo.constant dense<4.0> : tensor<f32>
    %9 = "stablehlo.reduce_window"(%7, %8) <{window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %p = stablehlo.multiply %a, %h : tensor<f32>
      %s = stablehlo.add %p, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %10 = stablehlo.constant dense<[4.5, 4.0, 4.75]> : tensor<3xf32>
    stablehlo.custom_call @check.expect_eq(%9, %10) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %11 = "stablehlo.reduce_window"(%7, %8) <{window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %p = stablehlo.multiply %a, %h : tensor<f32>
      %s = stablehlo.add %p, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %12 = stablehlo.constant dense<[4.75, 6.5, 7.25]> : tensor<3xf32>
    stablehlo.custom_call @check.expect_eq(%11, %12) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %13 = stablehlo.constant dense<[1.0, -2.0, 3.0, 0.5]> : tensor<4xf32>
    %14 = stablehlo.constant dense<2.0> : tensor<f32>
    %15 = "stablehlo.reduce_window"(%13, %14) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %16 = stablehlo.constant dense<[16.0, -16.0, -24.0, -6.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%15, %16) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %17 = "stablehlo.reduce_window"(%13, %14) <{window_dimensions = array<i64: 4>, padding = dense<[[0, 3]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %18 = stablehlo.constant dense<[-6.0, -12.0, 12.0, 8.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%17, %18) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %19 = stablehlo.constant dense<[1.0, 7.0, 3.0]> : tensor<3xf32>
    %20 = stablehlo.constant dense<5.0> : tensor<f32>
    %21 = "stablehlo.reduce_window"(%19, %20) <{window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %22 = stablehlo.constant dense<[5.0, 7.0, 7.0]> : tensor<3xf32>
    stablehlo.custom_call @check.expect_eq(%21, %22) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %23 = "stablehlo.reduce_window"(%19, %20) <{window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %24 = stablehlo.constant dense<[7.0, 7.0, 5.0]> : tensor<3xf32>
    stablehlo.custom_call @check.expect_eq(%23, %24) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %25 = stablehlo.constant dense<[1, 1, 1]> : tensor<3xi32>
    %26 = stablehlo.constant dense<1> : tensor<i32>
    %27 = "stablehlo.reduce_window"(%25, %26) <{window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %28 = stablehlo.constant dense<[4, 4, 4]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%27, %28) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %29 = "stablehlo.reduce_window"(%25, %26) <{window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %30 = stablehlo.constant dense<[4, 4, 4]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%29, %30) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %31 = stablehlo.constant dense<[1, -2, 3, 4]> : tensor<4xi32>
    %32 = stablehlo.constant dense<2> : tensor<i32>
    %33 = "stablehlo.reduce_window"(%31, %32) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.multiply %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %34 = stablehlo.constant dense<[16, -16, -24, -48]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%33, %34) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %35 = "stablehlo.reduce_window"(%31, %32) <{window_dimensions = array<i64: 4>, padding = dense<[[0, 3]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.multiply %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %36 = stablehlo.constant dense<[-48, -96, 96, 64]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%35, %36) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %37 = stablehlo.constant dense<[1, 7, 3]> : tensor<3xi32>
    %38 = stablehlo.constant dense<5> : tensor<i32>
    %39 = "stablehlo.reduce_window"(%37, %38) <{window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %40 = stablehlo.constant dense<[5, 7, 7]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%39, %40) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %41 = "stablehlo.reduce_window"(%37, %38) <{window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %42 = stablehlo.constant dense<[7, 7, 5]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%41, %42) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %43 = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]> : tensor<20xi32>
    %44 = stablehlo.constant dense<1> : tensor<i32>
    %45 = "stablehlo.reduce_window"(%43, %44) <{window_dimensions = array<i64: 20>, padding = dense<[[19, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %46 = stablehlo.constant dense<[20, 20, 21, 23, 26, 30, 35, 41, 48, 56, 65, 75, 86, 98, 111, 125, 140, 156, 173, 191]> : tensor<20xi32>
    stablehlo.custom_call @check.expect_eq(%45, %46) {has_side_effect = true} : (tensor<20xi32>, tensor<20xi32>) -> ()
    %47 = "stablehlo.reduce_window"(%43, %44) <{window_dimensions = array<i64: 20>, padding = dense<[[0, 19]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %48 = stablehlo.constant dense<[191, 192, 192, 191, 189, 186, 182, 177, 171, 164, 156, 147, 137, 126, 114, 101, 87, 72, 56, 39]> : tensor<20xi32>
    stablehlo.custom_call @check.expect_eq(%47, %48) {has_side_effect = true} : (tensor<20xi32>, tensor<20xi32>) -> ()
    %49 = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]> : tensor<20xi32>
    %50 = stablehlo.constant dense<7> : tensor<i32>
    %51 = "stablehlo.reduce_window"(%49, %50) <{window_dimensions = array<i64: 20>, padding = dense<[[19, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %52 = stablehlo.constant dense<[7, 7, 7, 7, 7, 7, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]> : tensor<20xi32>
    stablehlo.custom_call @check.expect_eq(%51, %52) {has_side_effect = true} : (tensor<20xi32>, tensor<20xi32>) -> ()
    %53 = "stablehlo.reduce_window"(%49, %50) <{window_dimensions = array<i64: 20>, padding = dense<[[0, 19]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %54 = stablehlo.constant dense<[19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19]> : tensor<20xi32>
    stablehlo.custom_call @check.expect_eq(%53, %54) {has_side_effect = true} : (tensor<20xi32>, tensor<20xi32>) -> ()
    // The sums of 0, 1, 2, … up to each i, plus 300 - i ones.
    %55 = stablehlo.iota dim = 0 : tensor<300xf32>
    %56 = stablehlo.constant dense<1.0> : tensor<f32>
    %57 = "stablehlo.reduce_window"(%55, %56) <{window_dimensions = array<i64: 300>, padding = dense<[[299, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<300xf32>, tensor<f32>) -> tensor<300xf32>
    %58 = stablehlo.constant dense<0.5> : tensor<300xf32>
    %59 = stablehlo.constant dense<300.0> : tensor<300xf32>
    %60 = stablehlo.multiply %55, %55 : tensor<300xf32>
    %61 = stablehlo.subtract %60, %55 : tensor<300xf32>
    %62 = stablehlo.multiply %61, %58 : tensor<300xf32>
    %63 = stablehlo.add %62, %59 : tensor<300xf32>
    stablehlo.custom_call @check.expect_eq(%57, %63) {has_side_effect = true} : (tensor<300xf32>, tensor<300xf32>) -> ()
    return
  }
}
