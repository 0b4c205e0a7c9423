// call of a private function, twice; composite by its decomposition; an optimization_barrier; tuples; tokens.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %a = func.call @double(%x) : (tensor<3xi32>) -> tensor<3xi32>
    %b = func.call @double(%a) : (tensor<3xi32>) -> tensor<3xi32>
    %e_b = stablehlo.constant dense<[4, 8, 12]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%b, %e_b) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %c = stablehlo.composite "my.double" %x {composite_attributes = {}, decomposition = @double} : (tensor<3xi32>) -> tensor<3xi32>
    %e_c = stablehlo.constant dense<[2, 4, 6]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%c, %e_c) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %d:2 = stablehlo.optimization_barrier %a, %x : tensor<3xi32>, tensor<3xi32>
    %e_d_1 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%d#1, %e_d_1) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %t = stablehlo.tuple %a, %x : tuple<tensor<3xi32>, tensor<3xi32>>
    %e = stablehlo.get_tuple_element %t[1] : (tuple<tensor<3xi32>, tensor<3xi32>>) -> tensor<3xi32>
    %e_e = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%e, %e_e) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    %k = stablehlo.create_token : !stablehlo.token
    %l = "stablehlo.after_all"(%k, %k) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    %id = stablehlo.partition_id : tensor<ui32>
    %e_id = stablehlo.constant dense<0> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%id, %e_id) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %ir = stablehlo.replica_id : tensor<ui32>
    %e_ir = stablehlo.constant dense<0> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%ir, %e_ir) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    return
  }
  func.func private @double(%x: tensor<3xi32>) -> tensor<3xi32> {
    %y = stablehlo.add %x, %x : tensor<3xi32>
    return %y : tensor<3xi32>
  }
}
