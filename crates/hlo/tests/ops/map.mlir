// map with a scalar body.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true], [false, false]]> : tensor<2x2xi1>
    %c2 = stablehlo.constant dense<[[false, false], [false, true]]> : tensor<2x2xi1>
    %r3 = "stablehlo.map"(%c1, %c2) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<i1>, %b: tensor<i1>):
        %p = stablehlo.multiply %a, %b : tensor<i1>
        %s = stablehlo.add %p, %b : tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
    %c4 = stablehlo.constant dense<[[false, false], [false, true]]> : tensor<2x2xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<2x2xi1>, tensor<2x2xi1>) -> ()
    %c5 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
    %c6 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi8>
    %r7 = "stablehlo.map"(%c5, %c6) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>):
        %p = stablehlo.multiply %a, %b : tensor<i8>
        %s = stablehlo.add %p, %b : tensor<i8>
        stablehlo.return %s : tensor<i8>
    }) : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi8>
    %c8 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xi8>
    stablehlo.custom_call @check.expect_eq(%r7, %c8) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
    %c9 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>
    %c10 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi16>
    %r11 = "stablehlo.map"(%c9, %c10) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>):
        %p = stablehlo.multiply %a, %b : tensor<i16>
        %s = stablehlo.add %p, %b : tensor<i16>
        stablehlo.return %s : tensor<i16>
    }) : (tensor<2x2xi16>, tensor<2x2xi16>) -> tensor<2x2xi16>
    %c12 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xi16>
    stablehlo.custom_call @check.expect_eq(%r11, %c12) {has_side_effect = true} : (tensor<2x2xi16>, tensor<2x2xi16>) -> ()
    %c13 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %c14 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>
    %r15 = "stablehlo.map"(%c13, %c14) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %p = stablehlo.multiply %a, %b : tensor<i32>
        %s = stablehlo.add %p, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %c16 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r15, %c16) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    %c17 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %c18 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi64>
    %r19 = "stablehlo.map"(%c17, %c18) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %p = stablehlo.multiply %a, %b : tensor<i64>
        %s = stablehlo.add %p, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
    %c20 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xi64>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
    %c21 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
    %c22 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui8>
    %r23 = "stablehlo.map"(%c21, %c22) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
        %p = stablehlo.multiply %a, %b : tensor<ui8>
        %s = stablehlo.add %p, %b : tensor<ui8>
        stablehlo.return %s : tensor<ui8>
    }) : (tensor<2x2xui8>, tensor<2x2xui8>) -> tensor<2x2xui8>
    %c24 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xui8>
    stablehlo.custom_call @check.expect_eq(%r23, %c24) {has_side_effect = true} : (tensor<2x2xui8>, tensor<2x2xui8>) -> ()
    %c25 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui16>
    %c26 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui16>
    %r27 = "stablehlo.map"(%c25, %c26) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %p = stablehlo.multiply %a, %b : tensor<ui16>
        %s = stablehlo.add %p, %b : tensor<ui16>
        stablehlo.return %s : tensor<ui16>
    }) : (tensor<2x2xui16>, tensor<2x2xui16>) -> tensor<2x2xui16>
    %c28 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xui16>
    stablehlo.custom_call @check.expect_eq(%r27, %c28) {has_side_effect = true} : (tensor<2x2xui16>, tensor<2x2xui16>) -> ()
    %c29 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui32>
    %c30 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui32>
    %r31 = "stablehlo.map"(%c29, %c30) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
        %p = stablehlo.multiply %a, %b : tensor<ui32>
        %s = stablehlo.add %p, %b : tensor<ui32>
        stablehlo.return %s : tensor<ui32>
    }) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %c32 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xui32>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
    %c33 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui64>
    %c34 = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xui64>
    %r35 = "stablehlo.map"(%c33, %c34) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>):
        %p = stablehlo.multiply %a, %b : tensor<ui64>
        %s = stablehlo.add %p, %b : tensor<ui64>
        stablehlo.return %s : tensor<ui64>
    }) : (tensor<2x2xui64>, tensor<2x2xui64>) -> tensor<2x2xui64>
    %c36 = stablehlo.constant dense<[[6, 12], [20, 30]]> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%r35, %c36) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %c37 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
    %c38 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf16>
    %r39 = "stablehlo.map"(%c37, %c38) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>):
        %p = stablehlo.multiply %a, %b : tensor<f16>
        %s = stablehlo.add %p, %b : tensor<f16>
        stablehlo.return %s : tensor<f16>
    }) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
    %c40 = stablehlo.constant dense<[[6.0, 12.0], [20.0, 30.0]]> : tensor<2x2xf16>
    stablehlo.custom_call @check.expect_close(%r39, %c40) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
    %c41 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xbf16>
    %c42 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xbf16>
    %r43 = "stablehlo.map"(%c41, %c42) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
        %p = stablehlo.multiply %a, %b : tensor<bf16>
        %s = stablehlo.add %p, %b : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
    }) : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
    %c44 = stablehlo.constant dense<[[6.0, 12.0], [20.0, 30.0]]> : tensor<2x2xbf16>
    stablehlo.custom_call @check.expect_close(%r43, %c44) {has_side_effect = true} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> ()
    %c45 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %c46 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
    %r47 = "stablehlo.map"(%c45, %c46) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %p = stablehlo.multiply %a, %b : tensor<f32>
        %s = stablehlo.add %p, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %c48 = stablehlo.constant dense<[[6.0, 12.0], [20.0, 30.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_close(%r47, %c48) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %c49 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
    %c50 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf64>
    %r51 = "stablehlo.map"(%c49, %c50) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %p = stablehlo.multiply %a, %b : tensor<f64>
        %s = stablehlo.add %p, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %c52 = stablehlo.constant dense<[[6.0, 12.0], [20.0, 30.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_close(%r51, %c52) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %c53 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0)], [(3.0, -3.0), (4.0, -4.0)]]> : tensor<2x2xcomplex<f32>>
    %c54 = stablehlo.constant dense<[[(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]]> : tensor<2x2xcomplex<f32>>
    %r55 = "stablehlo.map"(%c53, %c54) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %p = stablehlo.multiply %a, %b : tensor<complex<f32>>
        %s = stablehlo.add %p, %b : tensor<complex<f32>>
        stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    %c56 = stablehlo.constant dense<[[(3.0, -9.0), (4.0, -20.0)], [(5.0, -35.0), (6.0, -54.0)]]> : tensor<2x2xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r55, %c56) {has_side_effect = true} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> ()
    %c57 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0)], [(3.0, -3.0), (4.0, -4.0)]]> : tensor<2x2xcomplex<f64>>
    %c58 = stablehlo.constant dense<[[(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]]> : tensor<2x2xcomplex<f64>>
    %r59 = "stablehlo.map"(%c57, %c58) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
        %p = stablehlo.multiply %a, %b : tensor<complex<f64>>
        %s = stablehlo.add %p, %b : tensor<complex<f64>>
        stablehlo.return %s : tensor<complex<f64>>
    }) : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %c60 = stablehlo.constant dense<[[(3.0, -9.0), (4.0, -20.0)], [(5.0, -35.0), (6.0, -54.0)]]> : tensor<2x2xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r59, %c60) {has_side_effect = true} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
    return
  }
}
