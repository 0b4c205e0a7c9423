// tanh on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf16>
    %r2 = stablehlo.tanh %c1 : tensor<4xf16>
    %c3 = stablehlo.constant dense<[-0.98681640625, 0.63525390625, 0.0, 0.9951171875]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xbf16>
    %r5 = stablehlo.tanh %c4 : tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-0.98828125, 0.63671875, 0.0, 0.99609375]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %r8 = stablehlo.tanh %c7 : tensor<4xf32>
    %c9 = stablehlo.constant dense<[-0.9866142868995667, 0.6351489424705505, 0.0, 0.9950547814369202]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %r11 = stablehlo.tanh %c10 : tensor<4xf64>
    %c12 = stablehlo.constant dense<[-0.9866142981514303, 0.6351489523872873, 0.0, 0.9950547536867305]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = stablehlo.tanh %c13 : tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(-0.9443730115890503, 0.07932445406913757), (1.099398136138916, 1.596689224243164), (0.0, 0.0), (1.0147936344146729, 0.03381282463669777)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = stablehlo.tanh %c16 : tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(-0.9443729864226215, 0.0793244548039567), (1.099398135211779, 1.596689210770756), (0.0, 0.0), (1.0147936161466335, 0.03381282607989669)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
