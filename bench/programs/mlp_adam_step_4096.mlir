module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4096x4096xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4096xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<4096x4096xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<4096xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<4096x4096xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<4096xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<4096x4096xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<4096xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<4096x4096xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<4096xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<4096x4096xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<4096xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<4096x4096xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<4096xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<4096x4096xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<4096xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<4096x4096xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<4096xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<f32>, %arg19: tensor<1024x4096xf32>, %arg20: tensor<1024xi32>) -> (tensor<4096x4096xf32> {jax.result_info = "result[0][0][0]"}, tensor<4096xf32> {jax.result_info = "result[0][0][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[0][1][0]"}, tensor<4096xf32> {jax.result_info = "result[0][1][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[0][2][0]"}, tensor<4096xf32> {jax.result_info = "result[0][2][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[1][0][0]"}, tensor<4096xf32> {jax.result_info = "result[1][0][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[1][1][0]"}, tensor<4096xf32> {jax.result_info = "result[1][1][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[1][2][0]"}, tensor<4096xf32> {jax.result_info = "result[1][2][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[2][0][0]"}, tensor<4096xf32> {jax.result_info = "result[2][0][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[2][1][0]"}, tensor<4096xf32> {jax.result_info = "result[2][1][1]"}, tensor<4096x4096xf32> {jax.result_info = "result[2][2][0]"}, tensor<4096xf32> {jax.result_info = "result[2][2][1]"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg19, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
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
    %18:3 = call @log_softmax(%17) : (tensor<1024x4096xf32>) -> (tensor<1024x4096xf32>, tensor<1024x4096xf32>, tensor<1024x1xf32>)
    %19 = stablehlo.broadcast_in_dim %arg20, dims = [0] : (tensor<1024xi32>) -> tensor<1024x1xi32>
    %20:2 = call @take_along_axis(%18#0, %19) : (tensor<1024x4096xf32>, tensor<1024x1xi32>) -> (tensor<1024x1xf32>, tensor<1024x1x1xi32>)
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20#0 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_2 : tensor<f32>
    %23 = stablehlo.negate %22 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.negate %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %25 = stablehlo.divide %24, %cst_4 : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %27 = call @take_along_axis_0(%20#1, %26) : (tensor<1024x1x1xi32>, tensor<1024x1xf32>) -> tensor<1024x4096xf32>
    %28 = call @log_softmax_1(%18#1, %18#2, %27) : (tensor<1024x4096xf32>, tensor<1024x1xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %30 = stablehlo.reshape %29 : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %32 = stablehlo.dot_general %28, %11, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
    %33 = stablehlo.transpose %32, dims = [1, 0] : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %34 = stablehlo.dot_general %28, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %36 = stablehlo.select %13, %34, %35 : tensor<1024x4096xi1>, tensor<1024x4096xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %38 = stablehlo.reshape %37 : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %40 = stablehlo.dot_general %36, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
    %41 = stablehlo.transpose %40, dims = [1, 0] : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %42 = stablehlo.dot_general %36, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %44 = stablehlo.select %6, %42, %43 : tensor<1024x4096xi1>, tensor<1024x4096xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %46 = stablehlo.reshape %45 : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<1x4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %48 = stablehlo.dot_general %44, %arg19, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
    %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.add %arg18, %cst_13 : tensor<f32>
    %cst_14 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %52 = stablehlo.multiply %51, %arg6 : tensor<4096x4096xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %54 = stablehlo.multiply %53, %49 : tensor<4096x4096xf32>
    %55 = stablehlo.add %52, %54 : tensor<4096x4096xf32>
    %cst_16 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %57 = stablehlo.multiply %56, %arg7 : tensor<4096xf32>
    %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %59 = stablehlo.multiply %58, %47 : tensor<4096xf32>
    %60 = stablehlo.add %57, %59 : tensor<4096xf32>
    %cst_18 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %62 = stablehlo.multiply %61, %arg8 : tensor<4096x4096xf32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %64 = stablehlo.multiply %63, %41 : tensor<4096x4096xf32>
    %65 = stablehlo.add %62, %64 : tensor<4096x4096xf32>
    %cst_20 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %67 = stablehlo.multiply %66, %arg9 : tensor<4096xf32>
    %cst_21 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %69 = stablehlo.multiply %68, %39 : tensor<4096xf32>
    %70 = stablehlo.add %67, %69 : tensor<4096xf32>
    %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %72 = stablehlo.multiply %71, %arg10 : tensor<4096x4096xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %74 = stablehlo.multiply %73, %33 : tensor<4096x4096xf32>
    %75 = stablehlo.add %72, %74 : tensor<4096x4096xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %77 = stablehlo.multiply %76, %arg11 : tensor<4096xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %79 = stablehlo.multiply %78, %31 : tensor<4096xf32>
    %80 = stablehlo.add %77, %79 : tensor<4096xf32>
    %cst_26 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %82 = stablehlo.multiply %81, %arg12 : tensor<4096x4096xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %84 = stablehlo.multiply %83, %49 : tensor<4096x4096xf32>
    %85 = stablehlo.multiply %84, %49 : tensor<4096x4096xf32>
    %86 = stablehlo.add %82, %85 : tensor<4096x4096xf32>
    %cst_28 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %88 = stablehlo.multiply %87, %arg13 : tensor<4096xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %90 = stablehlo.multiply %89, %47 : tensor<4096xf32>
    %91 = stablehlo.multiply %90, %47 : tensor<4096xf32>
    %92 = stablehlo.add %88, %91 : tensor<4096xf32>
    %cst_30 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %94 = stablehlo.multiply %93, %arg14 : tensor<4096x4096xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %96 = stablehlo.multiply %95, %41 : tensor<4096x4096xf32>
    %97 = stablehlo.multiply %96, %41 : tensor<4096x4096xf32>
    %98 = stablehlo.add %94, %97 : tensor<4096x4096xf32>
    %cst_32 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %100 = stablehlo.multiply %99, %arg15 : tensor<4096xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %102 = stablehlo.multiply %101, %39 : tensor<4096xf32>
    %103 = stablehlo.multiply %102, %39 : tensor<4096xf32>
    %104 = stablehlo.add %100, %103 : tensor<4096xf32>
    %cst_34 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %106 = stablehlo.multiply %105, %arg16 : tensor<4096x4096xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %108 = stablehlo.multiply %107, %33 : tensor<4096x4096xf32>
    %109 = stablehlo.multiply %108, %33 : tensor<4096x4096xf32>
    %110 = stablehlo.add %106, %109 : tensor<4096x4096xf32>
    %cst_36 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %112 = stablehlo.multiply %111, %arg17 : tensor<4096xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %114 = stablehlo.multiply %113, %31 : tensor<4096xf32>
    %115 = stablehlo.multiply %114, %31 : tensor<4096xf32>
    %116 = stablehlo.add %112, %115 : tensor<4096xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %117 = stablehlo.power %cst_38, %50 : tensor<f32>
    %cst_39 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %118 = stablehlo.subtract %cst_39, %117 : tensor<f32>
    %cst_40 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %119 = stablehlo.power %cst_40, %50 : tensor<f32>
    %cst_41 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %120 = stablehlo.subtract %cst_41, %119 : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %122 = stablehlo.divide %55, %121 : tensor<4096x4096xf32>
    %cst_42 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %124 = stablehlo.multiply %123, %122 : tensor<4096x4096xf32>
    %125 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %126 = stablehlo.divide %86, %125 : tensor<4096x4096xf32>
    %127 = stablehlo.sqrt %126 : tensor<4096x4096xf32>
    %cst_43 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %129 = stablehlo.add %127, %128 : tensor<4096x4096xf32>
    %130 = stablehlo.divide %124, %129 : tensor<4096x4096xf32>
    %131 = stablehlo.subtract %arg0, %130 : tensor<4096x4096xf32>
    %132 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %133 = stablehlo.divide %60, %132 : tensor<4096xf32>
    %cst_44 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %135 = stablehlo.multiply %134, %133 : tensor<4096xf32>
    %136 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %137 = stablehlo.divide %92, %136 : tensor<4096xf32>
    %138 = stablehlo.sqrt %137 : tensor<4096xf32>
    %cst_45 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %140 = stablehlo.add %138, %139 : tensor<4096xf32>
    %141 = stablehlo.divide %135, %140 : tensor<4096xf32>
    %142 = stablehlo.subtract %arg1, %141 : tensor<4096xf32>
    %143 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %144 = stablehlo.divide %65, %143 : tensor<4096x4096xf32>
    %cst_46 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %146 = stablehlo.multiply %145, %144 : tensor<4096x4096xf32>
    %147 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %148 = stablehlo.divide %98, %147 : tensor<4096x4096xf32>
    %149 = stablehlo.sqrt %148 : tensor<4096x4096xf32>
    %cst_47 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %151 = stablehlo.add %149, %150 : tensor<4096x4096xf32>
    %152 = stablehlo.divide %146, %151 : tensor<4096x4096xf32>
    %153 = stablehlo.subtract %arg2, %152 : tensor<4096x4096xf32>
    %154 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %155 = stablehlo.divide %70, %154 : tensor<4096xf32>
    %cst_48 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %157 = stablehlo.multiply %156, %155 : tensor<4096xf32>
    %158 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %159 = stablehlo.divide %104, %158 : tensor<4096xf32>
    %160 = stablehlo.sqrt %159 : tensor<4096xf32>
    %cst_49 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %162 = stablehlo.add %160, %161 : tensor<4096xf32>
    %163 = stablehlo.divide %157, %162 : tensor<4096xf32>
    %164 = stablehlo.subtract %arg3, %163 : tensor<4096xf32>
    %165 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %166 = stablehlo.divide %75, %165 : tensor<4096x4096xf32>
    %cst_50 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %168 = stablehlo.multiply %167, %166 : tensor<4096x4096xf32>
    %169 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %170 = stablehlo.divide %110, %169 : tensor<4096x4096xf32>
    %171 = stablehlo.sqrt %170 : tensor<4096x4096xf32>
    %cst_51 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %173 = stablehlo.add %171, %172 : tensor<4096x4096xf32>
    %174 = stablehlo.divide %168, %173 : tensor<4096x4096xf32>
    %175 = stablehlo.subtract %arg4, %174 : tensor<4096x4096xf32>
    %176 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %177 = stablehlo.divide %80, %176 : tensor<4096xf32>
    %cst_52 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %179 = stablehlo.multiply %178, %177 : tensor<4096xf32>
    %180 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %181 = stablehlo.divide %116, %180 : tensor<4096xf32>
    %182 = stablehlo.sqrt %181 : tensor<4096xf32>
    %cst_53 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %184 = stablehlo.add %182, %183 : tensor<4096xf32>
    %185 = stablehlo.divide %179, %184 : tensor<4096xf32>
    %186 = stablehlo.subtract %arg5, %185 : tensor<4096xf32>
    return %131, %142, %153, %164, %175, %186, %55, %60, %65, %70, %75, %80, %86, %92, %98, %104, %110, %116, %50, %23 : tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
  func.func private @log_softmax(%arg0: tensor<1024x4096xf32>) -> (tensor<1024x4096xf32>, tensor<1024x4096xf32>, tensor<1024x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<1024xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x4096xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1024x4096xf32>
    %6 = stablehlo.exponential %5 : tensor<1024x4096xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<1024xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %9 = stablehlo.log %8 : tensor<1024x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x4096xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<1024x4096xf32>
    return %11, %6, %8 : tensor<1024x4096xf32>, tensor<1024x4096xf32>, tensor<1024x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<1024x4096xf32>, %arg1: tensor<1024x1xi32>) -> (tensor<1024x1xf32>, tensor<1024x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1024x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<1024x1xi32>, tensor<1024x1xi32>) -> tensor<1024x1xi1>
    %c_0 = stablehlo.constant dense<4096> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1024x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<1024x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<1024x1xi1>, tensor<1024x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<1024x1xi32>) -> tensor<1024x1x1xi32>
    %c_1 = stablehlo.constant dense<4095> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<1024x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<1024x1x1xi32>, tensor<1024x1x1xi32>) -> tensor<1024x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<1024x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<1024x1x1xi32>, tensor<1024x1x1xi32>) -> tensor<1024x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<1024x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<1024x1x1xi1>, tensor<i1>) -> tensor<1024x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<1024x4096xf32>, tensor<1024x1x1xi32>) -> tensor<1024x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<1024x1xi1>, tensor<1024x1xf32>
    return %15, %5 : tensor<1024x1xf32>, tensor<1024x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<1024x1x1xi32>, %arg1: tensor<1024x1xf32>) -> tensor<1024x4096xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1024x4096xf32>, tensor<1024x1x1xi32>, tensor<1024x1xf32>) -> tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<1024x4096xf32>, %arg1: tensor<1024x1xf32>, %arg2: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
    %0 = stablehlo.negate %arg2 : tensor<1024x4096xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.reshape %1 : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<1024x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<1024x1xf32>, tensor<f32>) -> tensor<1024xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<1024xf32>) -> tensor<1024x4096xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<1024x4096xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<1024x4096xf32>
    return %7 : tensor<1024x4096xf32>
  }
}
