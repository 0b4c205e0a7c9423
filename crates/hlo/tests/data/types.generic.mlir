"builtin.module"() <{sym_name = "jit_types"}> ({
  "func.func"() <{function_type = (tensor<300xf32>, tensor<5xi32>) -> (tensor<300xbf16>, tensor<300xcomplex<f32>>, tensor<300xf32>, tensor<5xi32>, tensor<5xui8>, tensor<5xi32>, tensor<300xi32>, tensor<3xi1>, tensor<40xi16>, tensor<3xf64>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<300xf32>, %arg4: tensor<5xi32>):
    %3 = "stablehlo.constant"() <{value = dense<"0x010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000"> : tensor<300xi1>}> : () -> tensor<300xi1>
    %4 = "stablehlo.constant"() <{value = dense<(1.000000e+00,1.000000e+00)> : tensor<1xcomplex<f32>>}> : () -> tensor<1xcomplex<f32>>
    %5 = "stablehlo.constant"() <{value = dense<[true, false, true]> : tensor<3xi1>}> : () -> tensor<3xi1>
    %6 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]> : tensor<40xi16>}> : () -> tensor<40xi16>
    %7 = "stablehlo.constant"() <{value = dense<[0x7FF0000000000000, 0x7FF8000000000000, -0.000000e+00]> : tensor<3xf64>}> : () -> tensor<3xf64>
    %8 = "stablehlo.convert"(%arg3) : (tensor<300xf32>) -> tensor<300xf64>
    %9 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "func.call"(%3, %9, %8) <{callee = @_where}> : (tensor<300xi1>, tensor<f64>, tensor<300xf64>) -> tensor<300xf64>
    %11 = "stablehlo.convert"(%10) : (tensor<300xf64>) -> tensor<300xbf16>
    %12 = "stablehlo.convert"(%arg3) : (tensor<300xf32>) -> tensor<300xcomplex<f32>>
    %13 = "stablehlo.constant"() <{value = dense<(0.000000e+00,2.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f32>>) -> tensor<300xcomplex<f32>>
    %15 = "stablehlo.add"(%12, %14) : (tensor<300xcomplex<f32>>, tensor<300xcomplex<f32>>) -> tensor<300xcomplex<f32>>
    %16 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xcomplex<f32>>) -> tensor<300xcomplex<f32>>
    %17 = "stablehlo.multiply"(%15, %16) : (tensor<300xcomplex<f32>>, tensor<300xcomplex<f32>>) -> tensor<300xcomplex<f32>>
    %18 = "stablehlo.reduce_precision"(%arg3) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<300xf32>) -> tensor<300xf32>
    %19 = "stablehlo.popcnt"(%arg4) : (tensor<5xi32>) -> tensor<5xi32>
    %20 = "stablehlo.convert"(%arg4) : (tensor<5xi32>) -> tensor<5xui8>
    %21 = "stablehlo.not"(%arg4) : (tensor<5xi32>) -> tensor<5xi32>
    %22 = "stablehlo.bitcast_convert"(%arg3) : (tensor<300xf32>) -> tensor<300xi32>
    "func.return"(%11, %17, %18, %19, %20, %21, %22, %5, %6, %7) : (tensor<300xbf16>, tensor<300xcomplex<f32>>, tensor<300xf32>, tensor<5xi32>, tensor<5xui8>, tensor<5xi32>, tensor<300xi32>, tensor<3xi1>, tensor<40xi16>, tensor<3xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<300xi1>, tensor<f64>, tensor<300xf64>) -> tensor<300xf64>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<300xi1>, %arg1: tensor<f64>, %arg2: tensor<300xf64>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<300xf64>
    %2 = "stablehlo.select"(%arg0, %1, %arg2) : (tensor<300xi1>, tensor<300xf64>, tensor<300xf64>) -> tensor<300xf64>
    "func.return"(%2) : (tensor<300xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

