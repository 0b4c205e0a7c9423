// chlo.acos on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.89990234375]> : tensor<4xf16>
    %r2 = chlo.acos %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[1.318359375, 2.41796875, 1.5703125, 0.451171875]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8984375]> : tensor<4xbf16>
    %r5 = chlo.acos %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[1.3203125, 2.421875, 1.5703125, 0.455078125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8999999761581421]> : tensor<4xf32>
    %r8 = chlo.acos %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[1.3181160688400269, 2.418858289718628, 1.5707963705062866, 0.4510268568992615]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.9]> : tensor<4xf64>
    %r11 = chlo.acos %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[1.318116071652818, 2.4188584057763776, 1.5707963267948966, 0.45102681179626236]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.30000001192092896), (0.75, 0.10000000149011612)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.acos %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(1.1185178756713867, -0.5306375026702881), (1.4593183994293213, 1.44920814037323), (1.5707963705062866, 0.29567307233810425), (0.7350484132766724, -0.14856791496276855)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.3), (0.75, 0.1)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.acos %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(1.118517879643706, -0.5306375309525179), (1.459318401426415, 1.4492081522551188), (1.5707963267948966, 0.29567304756342244), (0.7350484136374281, -0.14856791524250496)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
