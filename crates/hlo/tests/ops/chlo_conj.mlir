// chlo.conj on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r2 = chlo.conj %c1 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c3 = stablehlo.constant dense<[(-1.5, -0.5), (0.25, 2.0), (0.0, -0.0), (2.0, -1.0)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c4 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r5 = chlo.conj %c4 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c6 = stablehlo.constant dense<[(-1.5, -0.5), (0.25, 2.0), (0.0, -0.0), (2.0, -1.0)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
