"builtin.module"() <{sym_name = "jit_linear"}> ({
  "func.func"() <{function_type = (tensor<4x4xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<1x4x2xf32>, tensor<4x3xcomplex<f32>>, tensor<4x4xcomplex<f32>>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<4x4xf32>, %arg4: tensor<4x2xf32>):
    %17 = "func.call"(%arg3) <{callee = @cholesky}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %18 = "stablehlo.triangular_solve"(%17, %arg4) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %19 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
    %20 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %21 = "stablehlo.dot_general"(%19, %20) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<1x4x4xf32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
    %22 = "func.call"(%arg3) <{callee = @fft}> : (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>
    %23 = "stablehlo.convert"(%arg3) : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
    %24 = "stablehlo.constant"() <{value = dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    %26 = "stablehlo.multiply"(%25, %23) : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %27 = "stablehlo.convert"(%arg3) : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
    %28 = "stablehlo.add"(%27, %26) : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %29 = "func.call"(%28) <{callee = @fft_0}> : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    "func.return"(%18, %21, %22, %29) : (tensor<4x2xf32>, tensor<1x4x2xf32>, tensor<4x3xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> tensor<4x4xf32>, sym_name = "cholesky", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<4x4xf32>):
    %2 = "stablehlo.transpose"(%arg2) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.add"(%arg2, %2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %6 = "stablehlo.divide"(%3, %5) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = "stablehlo.cholesky"(%6) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %8 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x4xi64>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<4x4xi64>
    %11 = "stablehlo.add"(%8, %10) : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi64>
    %12 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xi64>
    %13 = "stablehlo.compare"(%11, %12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %16 = "stablehlo.select"(%13, %7, %15) : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%16) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>, sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<4x4xf32>):
    %1 = "stablehlo.fft"(%arg1) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>
    "func.return"(%1) : (tensor<4x3xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>, sym_name = "fft_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x4xcomplex<f32>>):
    %0 = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    "func.return"(%0) : (tensor<4x4xcomplex<f32>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

