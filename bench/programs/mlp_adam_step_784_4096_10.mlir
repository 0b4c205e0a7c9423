module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<784x4096xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4096xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<4096x4096xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<4096xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<4096x4096xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<4096xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<4096x10xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<10xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<784x4096xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<4096xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<4096x4096xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<4096xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<4096x4096xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<4096xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<4096x10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<784x4096xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<4096xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<4096x4096xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<4096xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<4096x4096xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<4096xf32> {tf.aliasing_output = 21 : i32}, %arg22: tensor<4096x10xf32> {tf.aliasing_output = 22 : i32}, %arg23: tensor<10xf32> {tf.aliasing_output = 23 : i32}, %arg24: tensor<f32>, %arg25: tensor<1024x784xf32>, %arg26: tensor<1024xi32>) -> (tensor<784x4096xf32> {jax.result_info = "result[0][0][0]"}, tensor<4096xf32> {jax.result_info = "result[0][0][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[0][1][0]"}, tensor<4096xf32> {jax.result_info = "result[0][1][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[0][2][0]"}, tensor<4096xf32> {jax.result_info = "result[0][2][1]"}, tensor<4096x10xf32> {jax.result_info = "result[0][3][0]"}, tensor<10xf32> {jax.result_info = "result[0][3][1]"}, tensor<784x4096xf32> {jax.result_info = "result[1][0][0]"}, tensor<4096xf32> {jax.result_info = "result[1][0][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[1][1][0]"}, tensor<4096xf32> {jax.result_info = "result[1][1][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[1][2][0]"}, tensor<4096xf32> {jax.result_info = "result[1][2][1]"}, tensor<4096x10xf32> {jax.result_info = "result[1][3][0]"}, tensor<10xf32> {jax.result_info = "result[1][3][1]"}, tensor<784x4096xf32> {jax.result_info = "result[2][0][0]"}, tensor<4096xf32> {jax.result_info = "result[2][0][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[2][1][0]"}, tensor<4096xf32> {jax.result_info = "result[2][1][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[2][2][0]"}, tensor<4096xf32> {jax.result_info = "result[2][2][1]"}, tensor<4096x10xf32> {jax.result_info = "result[2][3][0]"}, tensor<10xf32> {jax.result_info = "result[2][3][1]"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg25, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x784xf32>, tensor<784x4096xf32>) -> tensor<1024x4096xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4096xf32>) -> tensor<1024x4096xf32>
    %3 = stablehlo.add %0, %2 : tensor<1024x4096xf32>
    %4 = call @relu(%3) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xi1>
    %7 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x4096xf32>) -> tensor<1024x4096xf32>
    %10 = stablehlo.add %7, %9 : tensor<1024x4096xf32>
    %11 = call @relu(%10) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %13 = stablehlo.compare GT, %10, %12, FLOAT : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xi1>
    %14 = stablehlo.dot_general %11, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %15 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x4096xf32>) -> tensor<1024x4096xf32>
    %17 = stablehlo.add %14, %16 : tensor<1024x4096xf32>
    %18 = call @relu(%17) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %20 = stablehlo.compare GT, %17, %19, FLOAT : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xi1>
    %21 = stablehlo.dot_general %18, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x10xf32>) -> tensor<1024x10xf32>
    %22 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<1024x10xf32>
    %24 = stablehlo.add %21, %23 : tensor<1024x10xf32>
    %25:3 = call @log_softmax(%24) : (tensor<1024x10xf32>) -> (tensor<1024x10xf32>, tensor<1024x10xf32>, tensor<1024x1xf32>)
    %26 = stablehlo.broadcast_in_dim %arg26, dims = [0] : (tensor<1024xi32>) -> tensor<1024x1xi32>
    %27:2 = call @take_along_axis(%25#0, %26) : (tensor<1024x10xf32>, tensor<1024x1xi32>) -> (tensor<1024x1xf32>, tensor<1024x1x1xi32>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27#0 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %29 = stablehlo.divide %28, %cst_3 : tensor<f32>
    %30 = stablehlo.negate %29 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.negate %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %32 = stablehlo.divide %31, %cst_5 : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %34 = call @take_along_axis_0(%27#1, %33) : (tensor<1024x1x1xi32>, tensor<1024x1xf32>) -> tensor<1024x10xf32>
    %35 = call @log_softmax_1(%25#1, %25#2, %34) : (tensor<1024x10xf32>, tensor<1024x1xf32>, tensor<1024x10xf32>) -> tensor<1024x10xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1024x10xf32>, tensor<f32>) -> tensor<10xf32>
    %37 = stablehlo.reshape %36 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %39 = stablehlo.dot_general %35, %18, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x10xf32>, tensor<1024x4096xf32>) -> tensor<10x4096xf32>
    %40 = stablehlo.transpose %39, dims = [1, 0] : (tensor<10x4096xf32>) -> tensor<4096x10xf32>
    %41 = stablehlo.dot_general %35, %arg6, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1024x10xf32>, tensor<4096x10xf32>) -> tensor<1024x4096xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %43 = stablehlo.select %20, %41, %42 : tensor<1024x4096xi1>, tensor<1024x4096xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %45 = stablehlo.reshape %44 : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %47 = stablehlo.dot_general %43, %11, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
    %48 = stablehlo.transpose %47, dims = [1, 0] : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %49 = stablehlo.dot_general %43, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %51 = stablehlo.select %13, %49, %50 : tensor<1024x4096xi1>, tensor<1024x4096xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %53 = stablehlo.reshape %52 : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_13) applies stablehlo.add across dimensions = [0] : (tensor<1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %55 = stablehlo.dot_general %51, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
    %56 = stablehlo.transpose %55, dims = [1, 0] : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %57 = stablehlo.dot_general %51, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %59 = stablehlo.select %6, %57, %58 : tensor<1024x4096xi1>, tensor<1024x4096xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_15) applies stablehlo.add across dimensions = [0] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %61 = stablehlo.reshape %60 : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %63 = stablehlo.dot_general %59, %arg25, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<1024x784xf32>) -> tensor<4096x784xf32>
    %64 = stablehlo.transpose %63, dims = [1, 0] : (tensor<4096x784xf32>) -> tensor<784x4096xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %65 = stablehlo.add %arg24, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %67 = stablehlo.multiply %66, %arg8 : tensor<784x4096xf32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %69 = stablehlo.multiply %68, %64 : tensor<784x4096xf32>
    %70 = stablehlo.add %67, %69 : tensor<784x4096xf32>
    %cst_20 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %72 = stablehlo.multiply %71, %arg9 : tensor<4096xf32>
    %cst_21 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %74 = stablehlo.multiply %73, %62 : tensor<4096xf32>
    %75 = stablehlo.add %72, %74 : tensor<4096xf32>
    %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %77 = stablehlo.multiply %76, %arg10 : tensor<4096x4096xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %79 = stablehlo.multiply %78, %56 : tensor<4096x4096xf32>
    %80 = stablehlo.add %77, %79 : tensor<4096x4096xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %82 = stablehlo.multiply %81, %arg11 : tensor<4096xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %84 = stablehlo.multiply %83, %54 : tensor<4096xf32>
    %85 = stablehlo.add %82, %84 : tensor<4096xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %87 = stablehlo.multiply %86, %arg12 : tensor<4096x4096xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %89 = stablehlo.multiply %88, %48 : tensor<4096x4096xf32>
    %90 = stablehlo.add %87, %89 : tensor<4096x4096xf32>
    %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %92 = stablehlo.multiply %91, %arg13 : tensor<4096xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %94 = stablehlo.multiply %93, %46 : tensor<4096xf32>
    %95 = stablehlo.add %92, %94 : tensor<4096xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %97 = stablehlo.multiply %96, %arg14 : tensor<4096x10xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %99 = stablehlo.multiply %98, %40 : tensor<4096x10xf32>
    %100 = stablehlo.add %97, %99 : tensor<4096x10xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %102 = stablehlo.multiply %101, %arg15 : tensor<10xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %104 = stablehlo.multiply %103, %38 : tensor<10xf32>
    %105 = stablehlo.add %102, %104 : tensor<10xf32>
    %cst_34 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %107 = stablehlo.multiply %106, %arg16 : tensor<784x4096xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %109 = stablehlo.multiply %108, %64 : tensor<784x4096xf32>
    %110 = stablehlo.multiply %109, %64 : tensor<784x4096xf32>
    %111 = stablehlo.add %107, %110 : tensor<784x4096xf32>
    %cst_36 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %113 = stablehlo.multiply %112, %arg17 : tensor<4096xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %115 = stablehlo.multiply %114, %62 : tensor<4096xf32>
    %116 = stablehlo.multiply %115, %62 : tensor<4096xf32>
    %117 = stablehlo.add %113, %116 : tensor<4096xf32>
    %cst_38 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %119 = stablehlo.multiply %118, %arg18 : tensor<4096x4096xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %121 = stablehlo.multiply %120, %56 : tensor<4096x4096xf32>
    %122 = stablehlo.multiply %121, %56 : tensor<4096x4096xf32>
    %123 = stablehlo.add %119, %122 : tensor<4096x4096xf32>
    %cst_40 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %125 = stablehlo.multiply %124, %arg19 : tensor<4096xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %127 = stablehlo.multiply %126, %54 : tensor<4096xf32>
    %128 = stablehlo.multiply %127, %54 : tensor<4096xf32>
    %129 = stablehlo.add %125, %128 : tensor<4096xf32>
    %cst_42 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %131 = stablehlo.multiply %130, %arg20 : tensor<4096x4096xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %133 = stablehlo.multiply %132, %48 : tensor<4096x4096xf32>
    %134 = stablehlo.multiply %133, %48 : tensor<4096x4096xf32>
    %135 = stablehlo.add %131, %134 : tensor<4096x4096xf32>
    %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %137 = stablehlo.multiply %136, %arg21 : tensor<4096xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %139 = stablehlo.multiply %138, %46 : tensor<4096xf32>
    %140 = stablehlo.multiply %139, %46 : tensor<4096xf32>
    %141 = stablehlo.add %137, %140 : tensor<4096xf32>
    %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %143 = stablehlo.multiply %142, %arg22 : tensor<4096x10xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %145 = stablehlo.multiply %144, %40 : tensor<4096x10xf32>
    %146 = stablehlo.multiply %145, %40 : tensor<4096x10xf32>
    %147 = stablehlo.add %143, %146 : tensor<4096x10xf32>
    %cst_48 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %149 = stablehlo.multiply %148, %arg23 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %151 = stablehlo.multiply %150, %38 : tensor<10xf32>
    %152 = stablehlo.multiply %151, %38 : tensor<10xf32>
    %153 = stablehlo.add %149, %152 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %154 = stablehlo.power %cst_50, %65 : tensor<f32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %155 = stablehlo.subtract %cst_51, %154 : tensor<f32>
    %cst_52 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %156 = stablehlo.power %cst_52, %65 : tensor<f32>
    %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %157 = stablehlo.subtract %cst_53, %156 : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %159 = stablehlo.divide %70, %158 : tensor<784x4096xf32>
    %cst_54 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %161 = stablehlo.multiply %160, %159 : tensor<784x4096xf32>
    %162 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %163 = stablehlo.divide %111, %162 : tensor<784x4096xf32>
    %164 = stablehlo.sqrt %163 : tensor<784x4096xf32>
    %cst_55 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<784x4096xf32>
    %166 = stablehlo.add %164, %165 : tensor<784x4096xf32>
    %167 = stablehlo.divide %161, %166 : tensor<784x4096xf32>
    %168 = stablehlo.subtract %arg0, %167 : tensor<784x4096xf32>
    %169 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %170 = stablehlo.divide %75, %169 : tensor<4096xf32>
    %cst_56 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %172 = stablehlo.multiply %171, %170 : tensor<4096xf32>
    %173 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %174 = stablehlo.divide %117, %173 : tensor<4096xf32>
    %175 = stablehlo.sqrt %174 : tensor<4096xf32>
    %cst_57 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %177 = stablehlo.add %175, %176 : tensor<4096xf32>
    %178 = stablehlo.divide %172, %177 : tensor<4096xf32>
    %179 = stablehlo.subtract %arg1, %178 : tensor<4096xf32>
    %180 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %181 = stablehlo.divide %80, %180 : tensor<4096x4096xf32>
    %cst_58 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %183 = stablehlo.multiply %182, %181 : tensor<4096x4096xf32>
    %184 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %185 = stablehlo.divide %123, %184 : tensor<4096x4096xf32>
    %186 = stablehlo.sqrt %185 : tensor<4096x4096xf32>
    %cst_59 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %188 = stablehlo.add %186, %187 : tensor<4096x4096xf32>
    %189 = stablehlo.divide %183, %188 : tensor<4096x4096xf32>
    %190 = stablehlo.subtract %arg2, %189 : tensor<4096x4096xf32>
    %191 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %192 = stablehlo.divide %85, %191 : tensor<4096xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %194 = stablehlo.multiply %193, %192 : tensor<4096xf32>
    %195 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %196 = stablehlo.divide %129, %195 : tensor<4096xf32>
    %197 = stablehlo.sqrt %196 : tensor<4096xf32>
    %cst_61 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %199 = stablehlo.add %197, %198 : tensor<4096xf32>
    %200 = stablehlo.divide %194, %199 : tensor<4096xf32>
    %201 = stablehlo.subtract %arg3, %200 : tensor<4096xf32>
    %202 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %203 = stablehlo.divide %90, %202 : tensor<4096x4096xf32>
    %cst_62 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %205 = stablehlo.multiply %204, %203 : tensor<4096x4096xf32>
    %206 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %207 = stablehlo.divide %135, %206 : tensor<4096x4096xf32>
    %208 = stablehlo.sqrt %207 : tensor<4096x4096xf32>
    %cst_63 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %210 = stablehlo.add %208, %209 : tensor<4096x4096xf32>
    %211 = stablehlo.divide %205, %210 : tensor<4096x4096xf32>
    %212 = stablehlo.subtract %arg4, %211 : tensor<4096x4096xf32>
    %213 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %214 = stablehlo.divide %95, %213 : tensor<4096xf32>
    %cst_64 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %216 = stablehlo.multiply %215, %214 : tensor<4096xf32>
    %217 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %218 = stablehlo.divide %141, %217 : tensor<4096xf32>
    %219 = stablehlo.sqrt %218 : tensor<4096xf32>
    %cst_65 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %221 = stablehlo.add %219, %220 : tensor<4096xf32>
    %222 = stablehlo.divide %216, %221 : tensor<4096xf32>
    %223 = stablehlo.subtract %arg5, %222 : tensor<4096xf32>
    %224 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %225 = stablehlo.divide %100, %224 : tensor<4096x10xf32>
    %cst_66 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %227 = stablehlo.multiply %226, %225 : tensor<4096x10xf32>
    %228 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %229 = stablehlo.divide %147, %228 : tensor<4096x10xf32>
    %230 = stablehlo.sqrt %229 : tensor<4096x10xf32>
    %cst_67 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<4096x10xf32>
    %232 = stablehlo.add %230, %231 : tensor<4096x10xf32>
    %233 = stablehlo.divide %227, %232 : tensor<4096x10xf32>
    %234 = stablehlo.subtract %arg6, %233 : tensor<4096x10xf32>
    %235 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %236 = stablehlo.divide %105, %235 : tensor<10xf32>
    %cst_68 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %237 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %238 = stablehlo.multiply %237, %236 : tensor<10xf32>
    %239 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %240 = stablehlo.divide %153, %239 : tensor<10xf32>
    %241 = stablehlo.sqrt %240 : tensor<10xf32>
    %cst_69 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %243 = stablehlo.add %241, %242 : tensor<10xf32>
    %244 = stablehlo.divide %238, %243 : tensor<10xf32>
    %245 = stablehlo.subtract %arg7, %244 : tensor<10xf32>
    return %168, %179, %190, %201, %212, %223, %234, %245, %70, %75, %80, %85, %90, %95, %100, %105, %111, %117, %123, %129, %135, %141, %147, %153, %65, %30 : tensor<784x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x10xf32>, tensor<10xf32>, tensor<784x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x10xf32>, tensor<10xf32>, tensor<784x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
  func.func private @log_softmax(%arg0: tensor<1024x10xf32>) -> (tensor<1024x10xf32>, tensor<1024x10xf32>, tensor<1024x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x10xf32>, tensor<f32>) -> tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<1024xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1024x10xf32>
    %6 = stablehlo.exponential %5 : tensor<1024x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<1024x10xf32>, tensor<f32>) -> tensor<1024xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %9 = stablehlo.log %8 : tensor<1024x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<1024x10xf32>
    return %11, %6, %8 : tensor<1024x10xf32>, tensor<1024x10xf32>, tensor<1024x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<1024x10xf32>, %arg1: tensor<1024x1xi32>) -> (tensor<1024x1xf32>, tensor<1024x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1024x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<1024x1xi32>, tensor<1024x1xi32>) -> tensor<1024x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1024x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<1024x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<1024x1xi1>, tensor<1024x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<1024x1xi32>) -> tensor<1024x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<1024x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<1024x1x1xi32>, tensor<1024x1x1xi32>) -> tensor<1024x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<1024x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<1024x1x1xi32>, tensor<1024x1x1xi32>) -> tensor<1024x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<1024x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<1024x1x1xi1>, tensor<i1>) -> tensor<1024x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<1024x10xf32>, tensor<1024x1x1xi32>) -> tensor<1024x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<1024x1xi1>, tensor<1024x1xf32>
    return %15, %5 : tensor<1024x1xf32>, tensor<1024x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<1024x1x1xi32>, %arg1: tensor<1024x1xf32>) -> tensor<1024x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1024x10xf32>, tensor<1024x1x1xi32>, tensor<1024x1xf32>) -> tensor<1024x10xf32>
    return %1 : tensor<1024x10xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<1024x10xf32>, %arg1: tensor<1024x1xf32>, %arg2: tensor<1024x10xf32>) -> tensor<1024x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<1024x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1024x10xf32>, tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.reshape %1 : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<1024x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<1024x1xf32>, tensor<f32>) -> tensor<1024xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<1024xf32>) -> tensor<1024x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<1024x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<1024x10xf32>
    return %7 : tensor<1024x10xf32>
  }
}
