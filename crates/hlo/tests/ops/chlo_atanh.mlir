// chlo.atanh on every supported element type; expected values from NumPy or SciPy.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.89990234375]> : tensor<4xf16>
    %r2 = chlo.atanh %c1 : tensor<4xf16> -> tensor<4xf16>
    %c3 = stablehlo.constant dense<[0.25537109375, -0.97314453125, 0.0, 1.4716796875]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_close(%r2, %c3) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c4 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8984375]> : tensor<4xbf16>
    %r5 = chlo.atanh %c4 : tensor<4xbf16> -> tensor<4xbf16>
    %c6 = stablehlo.constant dense<[0.255859375, -0.97265625, 0.0, 1.4609375]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_close(%r5, %c6) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c7 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.8999999761581421]> : tensor<4xf32>
    %r8 = chlo.atanh %c7 : tensor<4xf32> -> tensor<4xf32>
    %c9 = stablehlo.constant dense<[0.2554128170013428, -0.972955048084259, 0.0, 1.4722193479537964]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%r8, %c9) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c10 = stablehlo.constant dense<[0.25, -0.75, 0.0, 0.9]> : tensor<4xf64>
    %r11 = chlo.atanh %c10 : tensor<4xf64> -> tensor<4xf64>
    %c12 = stablehlo.constant dense<[0.25541281188299536, -0.9729550745276566, 0.0, 1.4722194895832204]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%r11, %c12) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c13 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.30000001192092896), (0.75, 0.10000000149011612)]> : tensor<4xcomplex<f32>>
    %r14 = chlo.atanh %c13 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c15 = stablehlo.constant dense<[(0.4023594856262207, 0.5535743832588196), (0.049544233828783035, -1.1121113300323486), (-0.0, -0.29145681858062744), (0.9366650581359863, 0.218793585896492)]> : tensor<4xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r14, %c15) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    %c16 = stablehlo.constant dense<[(0.5, 0.5), (0.25, -2.0), (-0.0, -0.3), (0.75, 0.1)]> : tensor<4xcomplex<f64>>
    %r17 = chlo.atanh %c16 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %c18 = stablehlo.constant dense<[(0.40235947810852507, 0.5535743588970452), (0.04954423214593717, -1.1121113339878292), (-0.0, -0.2914567944778671), (0.9366650698948902, 0.21879357975931477)]> : tensor<4xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r17, %c18) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return
  }
}
