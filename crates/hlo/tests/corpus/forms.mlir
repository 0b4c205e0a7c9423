#alias = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
!pair = tuple<tensor<2xf32>, !stablehlo.token>
module @"a name" attributes {jax.flag, x.other = #sdy.thing<[{"a"}]>, y = [1 : i8, -2.5e-3 : f16, @s, tensor<?xf32>]} {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<1x1xi32> loc("a")) -> (tensor<2xf32> {jax.result_info = "r"}) attributes {note} {
    %cst = stablehlo.constant dense<[[0x7F800000, -0.0], [1.5e10, 2.0]]> : tensor<2x2xf32>
    %c = stablehlo.constant dense<"0x0102030405060708"> : tensor<4xi16>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %k = stablehlo.constant dense<(1.0, -2.0)> : tensor<3xcomplex<f64>>
    %r = stablehlo.constant dense_resource<blob> : tensor<2xi32>
    %0 = stablehlo.reduce(%arg0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %1:2 = stablehlo.reduce(%0 init: %z), (%0 init: %z) across dimensions = [0] : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%d: tensor<f32>, %e: tensor<f32>) {
      stablehlo.return %b, %d : tensor<f32>, tensor<f32>
    }
    %2 = "stablehlo.gather"(%0, %arg1) <{dimension_numbers = #alias, slice_sizes = array<i64: 1>}> : (tensor<2xf32>, tensor<1x1xi32>) -> tensor<1xf32>
    %3 = stablehlo.slice %arg0 [0:2, 1:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %4 = stablehlo.while(%i = %1#0) : tensor<f32> cond {
      %5 = stablehlo.compare LT, %i, %z, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      stablehlo.return %1#1 : tensor<f32>
    }
    %6 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    stablehlo.custom_call @check.eq(%0, %6) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %7 = stablehlo.exponential %6 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
    return %7 : tensor<2xf32> loc(callsite("f"("g.py":1:2) at unknown))
  }
}
{-# dialect_resources: { builtin: { blob: "0x040000000100000002000000" } } #-}
