// rsqrt on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf16>
    %r2 = stablehlo.rsqrt %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[2.0, 0.81640625, 0.5, 0.316162109375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xbf16>
    %r5 = stablehlo.rsqrt %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[2.0, 0.81640625, 0.5, 0.31640625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf32>
    %r8 = stablehlo.rsqrt %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[2.0, 0.8164966106414795, 0.5, 0.3162277638912201]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, 1.5, 4.0, 10.0]> : tensor<4xf64>
    %r11 = stablehlo.rsqrt %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[2.0, 0.8164965809277261, 0.5, 0.31622776601683794]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.rsqrt %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.7850017547607422, -0.12738825380802155), (0.5280517935752869, 0.46615472435951233), (0.32179713249206543, -0.7768869996070862), (0.6508508324623108, -0.15364503860473633)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(1.5, 0.5), (0.25, -2.0), (-1.0, 1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.rsqrt %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.7850017617921872, -0.12738824913169158), (0.5280517966522296, 0.4661547365512724), (0.3217971264527913, -0.7768869870150186), (0.6508508260346444, -0.15364503815606595)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
