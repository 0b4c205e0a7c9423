"builtin.module"() <{sym_name = "jit_polymorphic"}> ({
  "func.func"() <{function_type = (tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<?x3xf32>):
    %24 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %25 = "stablehlo.get_dimension_size"(%arg4) <{dimension = 0 : i64}> : (tensor<?x3xf32>) -> tensor<i32>
    %26 = "stablehlo.convert"(%25) : (tensor<i32>) -> tensor<i64>
    %27 = "stablehlo.compare"(%26, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "stablehlo.custom_call"(%27, %26) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i64>) -> ()
    %28:3 = "func.call"(%26, %arg4) <{callee = @_wrapped_jax_export_main}> : (tensor<i64>, tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>)
    "func.return"(%28#0, %28#1, %28#2) : (tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {}], function_type = (tensor<i64>, tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<?x3xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
    %5 = "stablehlo.convert"(%arg0) : (tensor<i64>) -> tensor<i32>
    %6 = "stablehlo.reshape"(%5) : (tensor<i32>) -> tensor<1xi32>
    %7 = "stablehlo.concatenate"(%6, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = "stablehlo.dynamic_broadcast_in_dim"(%3, %7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %9 = "stablehlo.multiply"(%arg1, %8) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %10 = "stablehlo.concatenate"(%arg1, %9) <{dimension = 0 : i64}> : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %11 = "stablehlo.reduce"(%10, %1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %23 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
    %12 = "stablehlo.convert"(%arg0) : (tensor<i64>) -> tensor<i64>
    %13 = "stablehlo.multiply"(%12, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %14 = "stablehlo.convert"(%13) : (tensor<i64>) -> tensor<i32>
    %15 = "stablehlo.reshape"(%14) : (tensor<i32>) -> tensor<1xi32>
    %16 = "stablehlo.dynamic_reshape"(%arg1, %15) : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
    %17 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<1xi64>
    %18 = "stablehlo.gather"(%arg1, %17) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
    %19 = "stablehlo.convert"(%arg0) : (tensor<i64>) -> tensor<i32>
    %20 = "stablehlo.reshape"(%19) : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.concatenate"(%20, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = "stablehlo.dynamic_broadcast_in_dim"(%18, %21) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    "func.return"(%11, %16, %22) : (tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

