// chlo.asinh on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf16>
    %r2 = chlo.asinh %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[-1.6474609375, 0.693359375, 0.12469482421875, 1.818359375]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xbf16>
    %r5 = chlo.asinh %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-1.6484375, 0.69140625, 0.12451171875, 1.8203125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf32>
    %r8 = chlo.asinh %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[-1.647231101989746, 0.6931471824645996, 0.12467674911022186, 1.8184465169906616]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf64>
    %r11 = chlo.asinh %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[-1.6472311463710958, 0.6931471805599453, 0.12467674692144275, 1.8184464592320668]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.10000000149011612), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.asinh %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(-1.226456880569458, 0.27348729968070984), (1.3287633657455444, -1.4279241561889648), (0.0, 0.1001674234867096), (1.5285708904266357, 0.42707857489585876)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.1), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.asinh %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(-1.226456871251406, 0.2734872901415568), (1.3287633703408075, -1.427924144520526), (0.0, 0.1001674211615598), (1.528570919480998, 0.42707858639247614)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
