// sort ascending and descending, stable, with a second operand; floats also in total order.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
    %c2 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s3:2 = "stablehlo.sort"(%c1, %c2) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i1>, %b: tensor<i1>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi1>, tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>)
    %c4 = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%s3#0, %c4) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c5 = stablehlo.constant dense<[1, 3, 0, 2]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s3#1, %c5) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s6:2 = "stablehlo.sort"(%c1, %c2) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i1>, %b: tensor<i1>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi1>, tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>)
    %c7 = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
    stablehlo.custom_call @check.expect_eq(%s6#0, %c7) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    %c8 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s6#1, %c8) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c9 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi8>
    %c10 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s11:2 = "stablehlo.sort"(%c9, %c10) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi8>, tensor<4xi32>) -> (tensor<4xi8>, tensor<4xi32>)
    %c12 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%s11#0, %c12) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c13 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s11#1, %c13) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s14:2 = "stablehlo.sort"(%c9, %c10) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i8>, %b: tensor<i8>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi8>, tensor<4xi32>) -> (tensor<4xi8>, tensor<4xi32>)
    %c15 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xi8>
    stablehlo.custom_call @check.expect_eq(%s14#0, %c15) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
    %c16 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s14#1, %c16) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c17 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi16>
    %c18 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s19:2 = "stablehlo.sort"(%c17, %c18) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi16>, tensor<4xi32>) -> (tensor<4xi16>, tensor<4xi32>)
    %c20 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%s19#0, %c20) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c21 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s19#1, %c21) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s22:2 = "stablehlo.sort"(%c17, %c18) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i16>, %b: tensor<i16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi16>, tensor<4xi32>) -> (tensor<4xi16>, tensor<4xi32>)
    %c23 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xi16>
    stablehlo.custom_call @check.expect_eq(%s22#0, %c23) {has_side_effect = true} : (tensor<4xi16>, tensor<4xi16>) -> ()
    %c24 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s22#1, %c24) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c25 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi32>
    %c26 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s27:2 = "stablehlo.sort"(%c25, %c26) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    %c28 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s27#0, %c28) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c29 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s27#1, %c29) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s30:2 = "stablehlo.sort"(%c25, %c26) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    %c31 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s30#0, %c31) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c32 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s30#1, %c32) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c33 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi64>
    %c34 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s35:2 = "stablehlo.sort"(%c33, %c34) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi64>, tensor<4xi32>) -> (tensor<4xi64>, tensor<4xi32>)
    %c36 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%s35#0, %c36) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c37 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s35#1, %c37) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s38:2 = "stablehlo.sort"(%c33, %c34) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi64>, tensor<4xi32>) -> (tensor<4xi64>, tensor<4xi32>)
    %c39 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xi64>
    stablehlo.custom_call @check.expect_eq(%s38#0, %c39) {has_side_effect = true} : (tensor<4xi64>, tensor<4xi64>) -> ()
    %c40 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s38#1, %c40) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c41 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xui8>
    %c42 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s43:2 = "stablehlo.sort"(%c41, %c42) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui8>, tensor<4xi32>) -> (tensor<4xui8>, tensor<4xi32>)
    %c44 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%s43#0, %c44) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c45 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s43#1, %c45) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s46:2 = "stablehlo.sort"(%c41, %c42) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui8>, %b: tensor<ui8>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui8>, tensor<4xi32>) -> (tensor<4xui8>, tensor<4xi32>)
    %c47 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%s46#0, %c47) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    %c48 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s46#1, %c48) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c49 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xui16>
    %c50 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s51:2 = "stablehlo.sort"(%c49, %c50) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui16>, tensor<4xi32>) -> (tensor<4xui16>, tensor<4xi32>)
    %c52 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%s51#0, %c52) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c53 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s51#1, %c53) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s54:2 = "stablehlo.sort"(%c49, %c50) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui16>, tensor<4xi32>) -> (tensor<4xui16>, tensor<4xi32>)
    %c55 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%s54#0, %c55) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %c56 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s54#1, %c56) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c57 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xui32>
    %c58 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s59:2 = "stablehlo.sort"(%c57, %c58) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui32>, tensor<4xi32>) -> (tensor<4xui32>, tensor<4xi32>)
    %c60 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%s59#0, %c60) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c61 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s59#1, %c61) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s62:2 = "stablehlo.sort"(%c57, %c58) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui32>, tensor<4xi32>) -> (tensor<4xui32>, tensor<4xi32>)
    %c63 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xui32>
    stablehlo.custom_call @check.expect_eq(%s62#0, %c63) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    %c64 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s62#1, %c64) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c65 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xui64>
    %c66 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s67:2 = "stablehlo.sort"(%c65, %c66) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui64>, tensor<4xi32>) -> (tensor<4xui64>, tensor<4xi32>)
    %c68 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%s67#0, %c68) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    %c69 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s67#1, %c69) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s70:2 = "stablehlo.sort"(%c65, %c66) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<ui64>, %b: tensor<ui64>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xui64>, tensor<4xi32>) -> (tensor<4xui64>, tensor<4xi32>)
    %c71 = stablehlo.constant dense<[3, 2, 1, 1]> : tensor<4xui64>
    stablehlo.custom_call @check.expect_eq(%s70#0, %c71) {has_side_effect = true} : (tensor<4xui64>, tensor<4xui64>) -> ()
    %c72 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s70#1, %c72) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c73 = stablehlo.constant dense<[3.0, 1.0, 2.0, 1.0]> : tensor<4xf16>
    %c74 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s75:2 = "stablehlo.sort"(%c73, %c74) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xf16>, tensor<4xi32>) -> (tensor<4xf16>, tensor<4xi32>)
    %c76 = stablehlo.constant dense<[1.0, 1.0, 2.0, 3.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_eq(%s75#0, %c76) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c77 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s75#1, %c77) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s78:2 = "stablehlo.sort"(%c73, %c74) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f16>, %b: tensor<f16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xf16>, tensor<4xi32>) -> (tensor<4xf16>, tensor<4xi32>)
    %c79 = stablehlo.constant dense<[3.0, 2.0, 1.0, 1.0]> : tensor<4xf16>
    stablehlo.custom_call @check.expect_eq(%s78#0, %c79) {has_side_effect = true} : (tensor<4xf16>, tensor<4xf16>) -> ()
    %c80 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s78#1, %c80) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c81 = stablehlo.constant dense<[3.0, 1.0, 2.0, 1.0]> : tensor<4xbf16>
    %c82 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s83:2 = "stablehlo.sort"(%c81, %c82) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xbf16>, tensor<4xi32>) -> (tensor<4xbf16>, tensor<4xi32>)
    %c84 = stablehlo.constant dense<[1.0, 1.0, 2.0, 3.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_eq(%s83#0, %c84) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c85 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s83#1, %c85) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s86:2 = "stablehlo.sort"(%c81, %c82) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<bf16>, %b: tensor<bf16>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xbf16>, tensor<4xi32>) -> (tensor<4xbf16>, tensor<4xi32>)
    %c87 = stablehlo.constant dense<[3.0, 2.0, 1.0, 1.0]> : tensor<4xbf16>
    stablehlo.custom_call @check.expect_eq(%s86#0, %c87) {has_side_effect = true} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
    %c88 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s86#1, %c88) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c89 = stablehlo.constant dense<[3.0, 1.0, 2.0, 1.0]> : tensor<4xf32>
    %c90 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s91:2 = "stablehlo.sort"(%c89, %c90) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    %c92 = stablehlo.constant dense<[1.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%s91#0, %c92) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c93 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s91#1, %c93) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s94:2 = "stablehlo.sort"(%c89, %c90) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    %c95 = stablehlo.constant dense<[3.0, 2.0, 1.0, 1.0]> : tensor<4xf32>
    stablehlo.custom_call @check.expect_eq(%s94#0, %c95) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    %c96 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s94#1, %c96) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %c97 = stablehlo.constant dense<[2.0, 0x7FC00000, -0.0, 0.0, -1.0]> : tensor<5xf32>
    %r98 = "stablehlo.sort"(%c97) <{dimension = 0 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<5xf32>) -> tensor<5xf32>
    %c99 = stablehlo.constant dense<[-1.0, -0.0, 0.0, 2.0, 0x7FC00000]> : tensor<5xf32>
    stablehlo.custom_call @check.expect_eq(%r98, %c99) {has_side_effect = true} : (tensor<5xf32>, tensor<5xf32>) -> ()
    %c100 = stablehlo.constant dense<[3.0, 1.0, 2.0, 1.0]> : tensor<4xf64>
    %c101 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %s102:2 = "stablehlo.sort"(%c100, %c101) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xf64>, tensor<4xi32>) -> (tensor<4xf64>, tensor<4xi32>)
    %c103 = stablehlo.constant dense<[1.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_eq(%s102#0, %c103) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c104 = stablehlo.constant dense<[1, 3, 2, 0]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s102#1, %c104) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    %s105:2 = "stablehlo.sort"(%c100, %c101) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>, %j: tensor<i32>, %k: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<4xf64>, tensor<4xi32>) -> (tensor<4xf64>, tensor<4xi32>)
    %c106 = stablehlo.constant dense<[3.0, 2.0, 1.0, 1.0]> : tensor<4xf64>
    stablehlo.custom_call @check.expect_eq(%s105#0, %c106) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    %c107 = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
    stablehlo.custom_call @check.expect_eq(%s105#1, %c107) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    return
  }
}
