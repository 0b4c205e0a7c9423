// chlo.tan on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf16>
    %r2 = chlo.tan %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.7470703125, 0.931640625, 0.1256103515625, -0.142578125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xbf16>
    %r5 = chlo.tan %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.74609375, 0.9296875, 0.1259765625, -0.142578125]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf32>
    %r8 = chlo.tan %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.747022271156311, 0.9315964579582214, 0.1256551295518875, -0.14254654943943024]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf64>
    %r11 = chlo.tan %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.7470222972386603, 0.9315964599440725, 0.12565513657513097, -0.1425465430742778]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.10000000149011612), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.tan %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(-0.2551492154598236, 2.1247990131378174), (0.017009461298584938, -0.9682145714759827), (0.0, 0.0996679961681366), (-0.24345819652080536, 1.1667362451553345)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.1), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.tan %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(-0.2551492218136516, 2.124799127742996), (0.017009461384601497, -0.968214572183509), (0.0, 0.09966799462495582), (-0.2434582011857253, 1.16673625724092)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
