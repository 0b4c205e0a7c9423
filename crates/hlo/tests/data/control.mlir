module @jit_control attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> (tensor<i64> {jax.result_info = "result[0][0]"}, tensor<f32> {jax.result_info = "result[0][1]"}, tensor<8xf32> {jax.result_info = "result[0][2]"}, tensor<4xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1:5 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %arg0, %iterArg_4 = %c, %iterArg_5 = %cst_0, %iterArg_6 = %0) : tensor<i32>, tensor<4xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>
    cond {
      %4 = stablehlo.convert %iterArg_4 : (tensor<i64>) -> tensor<i32>
      %5 = stablehlo.compare LT, %4, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_7 = stablehlo.constant dense<2> : tensor<i64>
      %4 = func.call @remainder(%iterArg_4, %c_7) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %c_8 = stablehlo.constant dense<0> : tensor<i64>
      %5 = stablehlo.compare EQ, %4, %c_8, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %6 = stablehlo.convert %5 : (tensor<i1>) -> tensor<i32>
      %7 = "stablehlo.case"(%6) ({
        %cst_12 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %15 = stablehlo.multiply %iterArg_5, %cst_12 : tensor<f32>
        stablehlo.return %15 : tensor<f32>
      }, {
        %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %15 = stablehlo.reduce(%iterArg_3 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        %16 = stablehlo.add %iterArg_5, %15 : tensor<f32>
        stablehlo.return %16 : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %c_9 = stablehlo.constant dense<0> : tensor<i64>
      %9 = stablehlo.compare LT, %iterArg_4, %c_9, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %10 = stablehlo.convert %iterArg_4 : tensor<i64>
      %c_10 = stablehlo.constant dense<8> : tensor<i64>
      %11 = stablehlo.add %10, %c_10 : tensor<i64>
      %12 = stablehlo.select %9, %11, %iterArg_4 : tensor<i1>, tensor<i64>
      %13 = stablehlo.dynamic_update_slice %iterArg_6, %8, %12 : (tensor<8xf32>, tensor<1xf32>, tensor<i64>) -> tensor<8xf32>
      %c_11 = stablehlo.constant dense<1> : tensor<i64>
      %14 = stablehlo.add %iterArg_4, %c_11 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_3, %14, %7, %13 : tensor<i32>, tensor<4xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>
    }
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.clamp %c_1, %arg1, %c_2 : tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %4 = stablehlo.sine %arg0 : tensor<4xf32>
      stablehlo.return %4 : tensor<4xf32>
    }, {
      %4 = stablehlo.cosine %arg0 : tensor<4xf32>
      stablehlo.return %4 : tensor<4xf32>
    }, {
      %4 = stablehlo.exponential %arg0 : tensor<4xf32>
      stablehlo.return %4 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    return %1#2, %1#3, %1#4, %3 : tensor<i64>, tensor<f32>, tensor<8xf32>, tensor<4xf32>
  }
  func.func private @remainder(%arg0: tensor<i64>, %arg1: tensor<i64>) -> tensor<i64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %1 = call @_where(%0, %c_0, %arg1) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare NE, %2, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %4 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i64>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i64>
    return %9 : tensor<i64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
}

