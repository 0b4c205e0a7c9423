// chlo.atan on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.89990234375]> : tensor<4xf16>
    %r2 = chlo.atan %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.2449951171875, -0.6435546875, 0.0, 0.73291015625]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8984375]> : tensor<4xbf16>
    %r5 = chlo.atan %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.2451171875, -0.64453125, 0.0, 0.73046875]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8999999761581421]> : tensor<4xf32>
    %r8 = chlo.atan %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.244978666305542, -0.6435011029243469, 0.0, 0.7328150868415833]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.9]> : tensor<4xf64>
    %r11 = chlo.atan %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.24497866312686414, -0.6435011087932844, 0.0, 0.7328151017865066]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.30000001192092896), (0.75, 0.10000000149011612)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.atan %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.5535743832588196, 0.4023594856262207), (1.4898775815963745, -0.5358800888061523), (-0.0, -0.30951961874961853), (0.6465786099433899, 0.06393927335739136)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.3), (0.75, 0.1)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.atan %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.5535743588970452, 0.40235947810852507), (1.489877611175685, -0.5358800995910896), (-0.0, -0.30951960420311175), (0.6465785848376202, 0.06393927125564922)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
