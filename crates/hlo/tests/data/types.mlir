module @jit_types attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<300xf32>, %arg1: tensor<5xi32>) -> (tensor<300xbf16> {jax.result_info = "result[0]"}, tensor<300xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<300xf32> {jax.result_info = "result[2]"}, tensor<5xi32> {jax.result_info = "result[3]"}, tensor<5xui8> {jax.result_info = "result[4]"}, tensor<5xi32> {jax.result_info = "result[5]"}, tensor<300xi32> {jax.result_info = "result[6]"}, tensor<3xi1> {jax.result_info = "result[7]"}, tensor<40xi16> {jax.result_info = "result[8]"}, tensor<3xf64> {jax.result_info = "result[9]"}) {
    %c = stablehlo.constant dense<"0x010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000010000"> : tensor<300xi1>
    %cst = stablehlo.constant dense<(1.000000e+00,1.000000e+00)> : tensor<1xcomplex<f32>>
    %c_0 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %c_1 = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]> : tensor<40xi16>
    %cst_2 = stablehlo.constant dense<[0x7FF0000000000000, 0x7FF8000000000000, -0.000000e+00]> : tensor<3xf64>
    %0 = stablehlo.convert %arg0 : (tensor<300xf32>) -> tensor<300xf64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %1 = call @_where(%c, %cst_3, %0) : (tensor<300xi1>, tensor<f64>, tensor<300xf64>) -> tensor<300xf64>
    %2 = stablehlo.convert %1 : (tensor<300xf64>) -> tensor<300xbf16>
    %3 = stablehlo.convert %arg0 : (tensor<300xf32>) -> tensor<300xcomplex<f32>>
    %cst_4 = stablehlo.constant dense<(0.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %4 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<complex<f32>>) -> tensor<300xcomplex<f32>>
    %5 = stablehlo.add %3, %4 : tensor<300xcomplex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [0] : (tensor<1xcomplex<f32>>) -> tensor<300xcomplex<f32>>
    %7 = stablehlo.multiply %5, %6 : tensor<300xcomplex<f32>>
    %8 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<300xf32>
    %9 = stablehlo.popcnt %arg1 : tensor<5xi32>
    %10 = stablehlo.convert %arg1 : (tensor<5xi32>) -> tensor<5xui8>
    %11 = stablehlo.not %arg1 : tensor<5xi32>
    %12 = stablehlo.bitcast_convert %arg0 : (tensor<300xf32>) -> tensor<300xi32>
    return %2, %7, %8, %9, %10, %11, %12, %c_0, %c_1, %cst_2 : tensor<300xbf16>, tensor<300xcomplex<f32>>, tensor<300xf32>, tensor<5xi32>, tensor<5xui8>, tensor<5xi32>, tensor<300xi32>, tensor<3xi1>, tensor<40xi16>, tensor<3xf64>
  }
  func.func private @_where(%arg0: tensor<300xi1>, %arg1: tensor<f64>, %arg2: tensor<300xf64>) -> tensor<300xf64> {
    %0 = stablehlo.convert %arg1 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<300xf64>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<300xi1>, tensor<300xf64>
    return %2 : tensor<300xf64>
  }
}

