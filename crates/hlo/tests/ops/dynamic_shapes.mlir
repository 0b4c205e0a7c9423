// dynamic_* operations whose shapes are computed from constants and other shapes.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %d = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    %e_d = stablehlo.constant dense<3> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%d, %e_d) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %d1 = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
    %two = stablehlo.constant dense<[2]> : tensor<1xi32>
    %shape = stablehlo.concatenate %d1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %r = stablehlo.dynamic_reshape %x, %shape : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %s = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>
    %t = stablehlo.add %r, %s : tensor<?x?xf32>
    %u = stablehlo.dynamic_reshape %t, %shape : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<3x2xf32>
    %e_u = stablehlo.constant dense<[[1.0, 2.0], [4.0, 5.0], [7.0, 8.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_eq(%u, %e_u) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %v = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %c = stablehlo.dynamic_reshape %b, %shape : (tensor<?x2xf32>, tensor<2xi32>) -> tensor<3x2xf32>
    %e_c = stablehlo.constant dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]> : tensor<3x2xf32>
    stablehlo.custom_call @check.expect_eq(%c, %e_c) {has_side_effect = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
    %none = stablehlo.constant dense<0> : tensor<2xi32>
    %p = stablehlo.dynamic_pad %x, %zero, %low, %none, %none : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x3xf32>
    %e_p = stablehlo.constant dense<[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<3x3xf32>
    stablehlo.custom_call @check.expect_eq(%p, %e_p) {has_side_effect = true} : (tensor<3x3xf32>, tensor<3x3xf32>) -> ()
    %from = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %to = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %step = stablehlo.constant dense<1> : tensor<2xi32>
    %q = stablehlo.real_dynamic_slice %x, %from, %to, %step : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
    %e_q = stablehlo.constant dense<[[2.0, 3.0], [5.0, 6.0]]> : tensor<2x2xf32>
    stablehlo.custom_call @check.expect_eq(%q, %e_q) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %i = stablehlo.constant dense<[[1], [0]]> : tensor<2x1xi32>
    %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %g = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x3xf32>
    %e_g = stablehlo.constant dense<[[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%g, %e_g) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    %xr = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %kernel = stablehlo.constant dense<1.0> : tensor<1x1x2xf32>
    %amounts = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
    %conv = "stablehlo.dynamic_conv"(%xr, %kernel, %amounts) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>}> : (tensor<2x1x3xf32>, tensor<1x1x2xf32>, tensor<1x2xi32>) -> tensor<2x1x3xf32>
    %e_conv = stablehlo.constant dense<[[[1.0, 3.0, 5.0]], [[4.0, 9.0, 11.0]]]> : tensor<2x1x3xf32>
    stablehlo.custom_call @check.expect_eq(%conv, %e_conv) {has_side_effect = true} : (tensor<2x1x3xf32>, tensor<2x1x3xf32>) -> ()
    return
  }
}
