"builtin.module"() <{sym_name = "jit_control"}> ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<i32>) -> (tensor<i64>, tensor<f32>, tensor<8xf32>, tensor<4xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[0][2]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<4xf32>, %arg6: tensor<i32>):
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %19 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20:5 = "stablehlo.while"(%arg6, %arg5, %18, %19, %17) ({
    ^bb0(%arg14: tensor<i32>, %arg15: tensor<4xf32>, %arg16: tensor<i64>, %arg17: tensor<f32>, %arg18: tensor<8xf32>):
      %50 = "stablehlo.convert"(%arg16) : (tensor<i64>) -> tensor<i32>
      %51 = "stablehlo.compare"(%50, %arg14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%51) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg7: tensor<i32>, %arg8: tensor<4xf32>, %arg9: tensor<i64>, %arg10: tensor<f32>, %arg11: tensor<8xf32>):
      %28 = "stablehlo.constant"() <{value = dense<2> : tensor<i64>}> : () -> tensor<i64>
      %29 = "func.call"(%arg9, %28) <{callee = @remainder}> : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
      %31 = "stablehlo.compare"(%29, %30) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %32 = "stablehlo.convert"(%31) : (tensor<i1>) -> tensor<i32>
      %33 = "stablehlo.case"(%32) ({
        %48 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
        %49 = "stablehlo.multiply"(%arg10, %48) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%49) : (tensor<f32>) -> ()
      }, {
        %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
        %45 = "stablehlo.reduce"(%arg8, %44) <{dimensions = array<i64: 0>}> ({
        ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
          %47 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%47) : (tensor<f32>) -> ()
        }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        %46 = "stablehlo.add"(%arg10, %45) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%46) : (tensor<f32>) -> ()
      }) : (tensor<i32>) -> tensor<f32>
      %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
      %35 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
      %36 = "stablehlo.compare"(%arg9, %35) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %37 = "stablehlo.convert"(%arg9) : (tensor<i64>) -> tensor<i64>
      %38 = "stablehlo.constant"() <{value = dense<8> : tensor<i64>}> : () -> tensor<i64>
      %39 = "stablehlo.add"(%37, %38) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %40 = "stablehlo.select"(%36, %39, %arg9) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
      %41 = "stablehlo.dynamic_update_slice"(%arg11, %34, %40) : (tensor<8xf32>, tensor<1xf32>, tensor<i64>) -> tensor<8xf32>
      %42 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %43 = "stablehlo.add"(%arg9, %42) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%arg7, %arg8, %43, %33, %41) : (tensor<i32>, tensor<4xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>) -> ()
    }) : (tensor<i32>, tensor<4xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<i64>, tensor<f32>, tensor<8xf32>)
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.clamp"(%21, %arg6, %22) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %24 = "stablehlo.case"(%23) ({
      %27 = "stablehlo.sine"(%arg5) : (tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%27) : (tensor<4xf32>) -> ()
    }, {
      %26 = "stablehlo.cosine"(%arg5) : (tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%26) : (tensor<4xf32>) -> ()
    }, {
      %25 = "stablehlo.exponential"(%arg5) : (tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%25) : (tensor<4xf32>) -> ()
    }) : (tensor<i32>) -> tensor<4xf32>
    "func.return"(%20#2, %20#3, %20#4, %24) : (tensor<i64>, tensor<f32>, tensor<8xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i64>, tensor<i64>) -> tensor<i64>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.compare"(%arg4, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %4 = "func.call"(%2, %3, %arg4) <{callee = @_where}> : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %5 = "stablehlo.remainder"(%arg3, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %7 = "stablehlo.compare"(%5, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %9 = "stablehlo.compare"(%5, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %11 = "stablehlo.compare"(%4, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %12 = "stablehlo.compare"(%9, %11) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %13 = "stablehlo.and"(%12, %7) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %14 = "stablehlo.add"(%5, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %15 = "stablehlo.select"(%13, %14, %5) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%15) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%0) : (tensor<i64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

