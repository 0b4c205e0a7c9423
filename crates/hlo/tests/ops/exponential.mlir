// exponential on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.exponential %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.08209228515625, 2.1171875, 1.0, 20.078125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.exponential %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.08203125, 2.109375, 1.0, 20.125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.exponential %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.08208499848842621, 2.117000102996826, 1.0, 20.08553695678711]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.exponential %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.0820849986238988, 2.117000016612675, 1.0, 20.085536923187668]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.exponential %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.19581513106822968, 0.106974296271801), (-0.5343431234359741, -1.1675610542297363), (1.0, 0.0), (3.992324113845825, 6.217676162719727)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.exponential %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.1958151375780682, 0.10697429720800304), (-0.53434311520073, -1.167561007372937), (1.0, 0.0), (3.992324048441272, 6.217676312367968)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
