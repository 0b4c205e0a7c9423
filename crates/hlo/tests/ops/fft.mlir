// fft of every type; expected values from NumPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0), (3.0, 0.0), (-2.0, 1.0), (0.5, 0.5), (1.0, -1.0)]> : tensor<6xcomplex<f32>>
    %c2 = stablehlo.constant dense<[1.0, 0.0, 3.0, -2.0, 0.5, 1.0]> : tensor<6xf32>
    %r3 = stablehlo.fft %c1, type = FFT, length = [6] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
    %c4 = stablehlo.constant dense<[(3.5, 1.5), (1.3169872760772705, -1.549038052558899), (-2.8169872760772705, 6.781088829040527), (5.5, 3.5), (-3.6830127239227295, 0.7189111113548279), (2.1830127239227295, 1.049038052558899)]> : tensor<6xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r3, %c4) {has_side_effect = true} : (tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>) -> ()
    %r5 = stablehlo.fft %c1, type = IFFT, length = [6] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
    %c6 = stablehlo.constant dense<[(0.5833333134651184, 0.25), (0.3638354539871216, 0.17483969032764435), (-0.6138354539871216, 0.11981851607561111), (0.9166666865348816, 0.5833333134651184), (-0.4694978892803192, 1.1301814317703247), (0.2194978892803192, -0.25817301869392395)]> : tensor<6xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r5, %c6) {has_side_effect = true} : (tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>) -> ()
    %r7 = stablehlo.fft %c2, type = RFFT, length = [6] : (tensor<6xf32>) -> tensor<4xcomplex<f32>>
    %c8 = stablehlo.constant dense<[(3.5, 0.0), (1.75, -1.299038052558899), (-3.25, 3.0310888290405273), (5.5, 0.0)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r7, %c8) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c9 = stablehlo.constant dense<[(3.5, 0.0), (1.75, -1.299038052558899), (-3.25, 3.0310888290405273), (5.5, 0.0)]> : tensor<4xcomplex<f32>>
    %r10 = stablehlo.fft %c9, type = IRFFT, length = [6] : (tensor<4xcomplex<f32>>) -> tensor<6xf32>
    %c11 = stablehlo.constant dense<[1.0, 0.0, 3.0, -2.0, 0.5, 1.0]> : tensor<6xf32>
    stablehlo.custom_call @check.expect_almost_eq(%r10, %c11) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    %c12 = stablehlo.constant dense<[[(1.0, 2.0), (0.0, -1.0), (3.0, 0.0)], [(-2.0, 1.0), (0.5, 0.5), (1.0, -1.0)]]> : tensor<2x3xcomplex<f32>>
    %r13 = stablehlo.fft %c12, type = FFT, length = [2, 3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c14 = stablehlo.constant dense<[[(3.5, 1.5), (-2.8169872760772705, 6.781088829040527), (-3.6830127239227295, 0.7189111113548279)], [(4.5, 0.5), (0.08493649214506149, 3.4150636196136475), (4.415063381195068, -0.9150635004043579)]]> : tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%r13, %c14) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    %c15 = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0), (3.0, 0.0), (-2.0, 1.0), (0.5, 0.5), (1.0, -1.0)]> : tensor<6xcomplex<f64>>
    %c16 = stablehlo.constant dense<[1.0, 0.0, 3.0, -2.0, 0.5, 1.0]> : tensor<6xf64>
    %r17 = stablehlo.fft %c15, type = FFT, length = [6] : (tensor<6xcomplex<f64>>) -> tensor<6xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(3.5, 1.5), (1.3169872981077806, -1.549038105676658), (-2.816987298107781, 6.781088913245535), (5.5, 3.5), (-3.683012701892219, 0.7189110867544648), (2.1830127018922196, 1.049038105676658)]> : tensor<6xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r17, %c18) {has_side_effect = true} : (tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>) -> ()
    %r19 = stablehlo.fft %c15, type = IFFT, length = [6] : (tensor<6xcomplex<f64>>) -> tensor<6xcomplex<f64>>
    %c20 = stablehlo.constant dense<[(0.5833333333333333, 0.25), (0.3638354503153699, 0.174839684279443), (-0.6138354503153698, 0.11981851445907746), (0.9166666666666666, 0.5833333333333333), (-0.46949788301796347, 1.1301814855409225), (0.21949788301796347, -0.2581730176127762)]> : tensor<6xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r19, %c20) {has_side_effect = true} : (tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>) -> ()
    %r21 = stablehlo.fft %c16, type = RFFT, length = [6] : (tensor<6xf64>) -> tensor<4xcomplex<f64>>
    %c22 = stablehlo.constant dense<[(3.5, 0.0), (1.75, -1.2990381056766576), (-3.25, 3.031088913245535), (5.5, 0.0)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r21, %c22) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    %c23 = stablehlo.constant dense<[(3.5, 0.0), (1.75, -1.2990381056766576), (-3.25, 3.031088913245535), (5.5, 0.0)]> : tensor<4xcomplex<f64>>
    %r24 = stablehlo.fft %c23, type = IRFFT, length = [6] : (tensor<4xcomplex<f64>>) -> tensor<6xf64>
    %c25 = stablehlo.constant dense<[1.0, 0.0, 3.0, -2.0, 0.5, 1.0]> : tensor<6xf64>
    stablehlo.custom_call @check.expect_almost_eq(%r24, %c25) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    %c26 = stablehlo.constant dense<[[(1.0, 2.0), (0.0, -1.0), (3.0, 0.0)], [(-2.0, 1.0), (0.5, 0.5), (1.0, -1.0)]]> : tensor<2x3xcomplex<f64>>
    %r27 = stablehlo.fft %c26, type = FFT, length = [2, 3] : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %c28 = stablehlo.constant dense<[[(3.5, 1.5), (-2.8169872981077804, 6.781088913245535), (-3.6830127018922196, 0.7189110867544647)], [(4.5, 0.5), (0.0849364905389034, 3.415063509461097), (4.415063509461096, -0.9150635094610967)]]> : tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%r27, %c28) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return
  }
}
