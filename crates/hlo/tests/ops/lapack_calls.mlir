// LAPACK custom calls that JAX exports for CPUs instead of cholesky and triangular_solve.
module {
  func.func @main() {
    %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 10.0]]> : tensor<2x2xf64>
    %f:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
    %l = stablehlo.constant dense<[[2.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf64>
    stablehlo.custom_call @check.expect_close(%f#0, %l) {has_side_effect = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
    %zero = stablehlo.constant dense<0> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%f#1, %zero) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %n = stablehlo.negate %a : tensor<2x2xf64>
    %g:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%n) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
    %one = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%g#1, %one) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %b = stablehlo.constant dense<[[4.0], [11.0]]> : tensor<2x1xf64>
    %x = stablehlo.custom_call @lapack_dtrsm_ffi(%l, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
    %e = stablehlo.constant dense<[[2.0], [3.0]]> : tensor<2x1xf64>
    stablehlo.custom_call @check.expect_close(%x, %e) {has_side_effect = true} : (tensor<2x1xf64>, tensor<2x1xf64>) -> ()
    return
  }
}
