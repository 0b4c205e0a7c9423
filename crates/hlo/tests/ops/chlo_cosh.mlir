// chlo.cosh on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf16>
    %r2 = chlo.cosh %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[6.1328125, 1.294921875, 1.0078125, 10.0703125]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xbf16>
    %r5 = chlo.cosh %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[6.125, 1.296875, 1.0078125, 10.0625]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf32>
    %r8 = chlo.cosh %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[6.132289409637451, 1.2946833372116089, 1.0078226327896118, 10.067662239074707]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf64>
    %r11 = chlo.cosh %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[6.132289479663686, 1.2946832846768448, 1.0078226778257109, 10.067661995777765]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.10000000149011612), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.cosh %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(2.0644335746765137, -1.0208309888839722), (-0.4292193055152893, -0.2296997308731079), (0.9950041770935059, 0.0), (2.0327229499816895, 3.0518977642059326)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.1), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.cosh %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(2.064433656760715, -1.0208309495976966), (-0.4292192986881662, -0.22969972965814137), (0.9950041652780258, 0.0), (2.0327230070196656, 3.0518977991518)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
