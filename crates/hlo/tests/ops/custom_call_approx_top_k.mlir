// ApproxTopK, to which JAX lowers approx_max_k: the first elements in the order of a comparator, along any axis.
module {
  func.func @top_k_gt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func @main() {
    %x = stablehlo.constant dense<[[3.0, 1.0], [7.0, -1.0], [5.0, 9.0]]> : tensor<3x2xf32>
    %i = stablehlo.iota dim = 0 : tensor<3x2xi32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {backend_config = "", called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<3x2xf32>, tensor<3x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %values = stablehlo.constant dense<[[7.0, 9.0], [5.0, 1.0]]> : tensor<2x2xf32>
    %positions = stablehlo.constant dense<[[1, 2], [2, 0]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r#0, %values) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%r#1, %positions) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    return
  }
}
