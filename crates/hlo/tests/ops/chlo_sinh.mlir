// chlo.sinh on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf16>
    %r2 = chlo.sinh %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[-6.05078125, 0.822265625, 0.1253662109375, 10.015625]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xbf16>
    %r5 = chlo.sinh %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[-6.0625, 0.82421875, 0.125, 10.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf32>
    %r8 = chlo.sinh %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[-6.050204277038574, 0.8223167061805725, 0.1253257691860199, 10.017874717712402]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[-2.5, 0.75, 0.125, 3.0]> : tensor<4xf64>
    %r11 = chlo.sinh %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[-6.0502044810397875, 0.82231673193583, 0.12532577524111546, 10.017874927409903]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.10000000149011612), (2.0, 1.0)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.sinh %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(-1.8686184883117676, 1.127805233001709), (-0.10512381792068481, -0.9378612637519836), (0.0, 0.0998334214091301), (1.9596010446548462, 3.165778398513794)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(-1.5, 0.5), (0.25, -2.0), (0.0, 0.1), (2.0, 1.0)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.sinh %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(-1.8686185191826468, 1.1278052468056998), (-0.10512381651256378, -0.9378612777147958), (0.0, 0.09983341664682815), (1.9596010414216063, 3.165778513216168)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
