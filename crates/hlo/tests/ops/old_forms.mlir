// Operations of earlier versions: broadcast, torch_index_select.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %b = "stablehlo.broadcast"(%x) <{broadcast_sizes = array<i64: 2>}> : (tensor<3xi32>) -> tensor<2x3xi32>
    %e_b = stablehlo.constant dense<[[1, 2, 3], [1, 2, 3]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%b, %e_b) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    %i = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
    %s = "stablehlo.torch_index_select"(%b, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x2xi32>
    %e_s = stablehlo.constant dense<[[3, 1], [3, 1]]> : tensor<2x2xi32>
    stablehlo.custom_call @check.expect_eq(%s, %e_s) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
    return
  }
}
