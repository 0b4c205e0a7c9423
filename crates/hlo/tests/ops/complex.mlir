// complex from real and imaginary parts.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf32>
    %c2 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf32>
    %r3 = stablehlo.complex %c1, %c2 : tensor<4xcomplex<f32>>
    %c4 = stablehlo.constant dense<[(-2.5, 0.5), (0.75, -1.25), (0.0, 4.0), (3.0, 3.0)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r3, %c4) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c5 = stablehlo.constant dense<[-2.5, 0.75, 0.0, 3.0]> : tensor<4xf64>
    %c6 = stablehlo.constant dense<[0.5, -1.25, 4.0, 3.0]> : tensor<4xf64>
    %r7 = stablehlo.complex %c5, %c6 : tensor<4xcomplex<f64>>
    %c8 = stablehlo.constant dense<[(-2.5, 0.5), (0.75, -1.25), (0.0, 4.0), (3.0, 3.0)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r7, %c8) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
