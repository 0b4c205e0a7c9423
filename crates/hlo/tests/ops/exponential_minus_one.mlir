// exponential_minus_one on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.exponential_minus_one %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.91796875, 1.1171875, 0.1331787109375, 19.078125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.exponential_minus_one %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-0.91796875, 1.1171875, 0.1328125, 19.125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.exponential_minus_one %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.9179149866104126, 1.1169999837875366, 0.1331484466791153, 19.08553695678711]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.exponential_minus_one %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.9179150013761012, 1.1170000166126746, 0.13314845306682632, 19.085536923187668]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.10000000149011612), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.exponential_minus_one %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(-0.8041848540306091, 0.106974296271801), (-1.5343431234359741, -1.1675610542297363), (-0.004995835013687611, 0.0998334214091301), (2.992324113845825, 6.217676162719727)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.1), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.exponential_minus_one %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(-0.8041848624219319, 0.10697429720800304), (-1.5343431152007299, -1.167561007372937), (-0.004995834721974234, 0.09983341664682815), (2.992324048441272, 6.217676312367968)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
