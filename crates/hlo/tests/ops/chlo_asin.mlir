// chlo.asin on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.89990234375]> : tensor<4xf16>
    %r2 = chlo.asin %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.252685546875, -0.84814453125, 0.0, 1.119140625]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8984375]> : tensor<4xbf16>
    %r5 = chlo.asin %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.251953125, -0.84765625, 0.0, 1.1171875]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8999999761581421]> : tensor<4xf32>
    %r8 = chlo.asin %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.252680242061615, -0.8480620980262756, 0.0, 1.1197694540023804]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.9]> : tensor<4xf64>
    %r11 = chlo.asin %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.25268025514207865, -0.848062078981481, 0.0, 1.1197695149986342]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.30000001192092896), (0.75, 0.10000000149011612)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.asin %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.4522784352302551, 0.5306375026702881), (0.11147792637348175, -1.44920814037323), (-0.0, -0.29567307233810425), (0.8357478976249695, 0.14856791496276855)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.3), (0.75, 0.1)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.asin %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.45227844715119064, 0.5306375309525179), (0.11147792536848178, -1.4492081522551188), (-0.0, -0.29567304756342244), (0.8357479131574685, 0.14856791524250496)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
