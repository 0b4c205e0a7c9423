// reduce with each combine op, from its identity and from another initial value.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[[true, true, false], [false, false, true]]> : tensor<2x3xi1>
    %c2 = stablehlo.constant dense<true> : tensor<i1>
    %r3 = stablehlo.reduce(%c1 init: %c2) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
    %c4 = stablehlo.constant dense<[false, false]> : tensor<2xi1>
    stablehlo.custom_call @check.expect_eq(%r3, %c4) {has_side_effect = true} : (tensor<2xi1>, tensor<2xi1>) -> ()
    %r5 = stablehlo.reduce(%c1 init: %c2) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<i1>
    %c6 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.custom_call @check.expect_eq(%r5, %c6) {has_side_effect = true} : (tensor<i1>, tensor<i1>) -> ()
    %c7 = stablehlo.constant dense<false> : tensor<i1>
    %r8 = stablehlo.reduce(%c1 init: %c7) applies stablehlo.or across dimensions = [1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
    %c9 = stablehlo.constant dense<[true, true]> : tensor<2xi1>
    stablehlo.custom_call @check.expect_eq(%r8, %c9) {has_side_effect = true} : (tensor<2xi1>, tensor<2xi1>) -> ()
    %r10 = stablehlo.reduce(%c1 init: %c7) applies stablehlo.or across dimensions = [0, 1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<i1>
    %c11 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.custom_call @check.expect_eq(%r10, %c11) {has_side_effect = true} : (tensor<i1>, tensor<i1>) -> ()
    %c12 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
    %c13 = stablehlo.constant dense<0> : tensor<i8>
    %r14 = stablehlo.reduce(%c12 init: %c13) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c15 = stablehlo.constant dense<[6, 15]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r14, %c15) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %r16 = stablehlo.reduce(%c12 init: %c13) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<i8>
    %c17 = stablehlo.constant dense<21> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r16, %c17) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    %c18 = stablehlo.constant dense<1> : tensor<i8>
    %r19 = stablehlo.reduce(%c12 init: %c18) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c20 = stablehlo.constant dense<[6, 120]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r19, %c20) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %r21 = stablehlo.reduce(%c12 init: %c18) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<i8>
    %c22 = stablehlo.constant dense<-48> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r21, %c22) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    %c23 = stablehlo.constant dense<-128> : tensor<i8>
    %r24 = stablehlo.reduce(%c12 init: %c23) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c25 = stablehlo.constant dense<[3, 6]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r24, %c25) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %r26 = stablehlo.reduce(%c12 init: %c23) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<i8>
    %c27 = stablehlo.constant dense<6> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r26, %c27) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    %c28 = stablehlo.constant dense<127> : tensor<i8>
    %r29 = stablehlo.reduce(%c12 init: %c28) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c30 = stablehlo.constant dense<[1, 4]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r29, %c30) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %r31 = stablehlo.reduce(%c12 init: %c28) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<i8>
    %c32 = stablehlo.constant dense<1> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r31, %c32) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    %c33 = stablehlo.constant dense<0> : tensor<i8>
    %r34 = stablehlo.reduce(%c12 init: %c33) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c35 = stablehlo.constant dense<[0, 7]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r34, %c35) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %r36 = stablehlo.reduce(%c12 init: %c33) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<i8>
    %c37 = stablehlo.constant dense<7> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r36, %c37) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    %c38 = stablehlo.constant dense<-1> : tensor<i8>
    %r39 = stablehlo.reduce(%c12 init: %c38) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c40 = stablehlo.constant dense<[0, 4]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r39, %c40) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %r41 = stablehlo.reduce(%c12 init: %c38) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<i8>
    %c42 = stablehlo.constant dense<0> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r41, %c42) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    %c43 = stablehlo.constant dense<10> : tensor<i8>
    %r44 = stablehlo.reduce(%c12 init: %c43) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
    %c45 = stablehlo.constant dense<[16, 25]> : tensor<2xi8>
    stablehlo.custom_call @check.expect_eq(%r44, %c45) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()
    %c46 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
    %c47 = stablehlo.constant dense<0> : tensor<i16>
    %r48 = stablehlo.reduce(%c46 init: %c47) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c49 = stablehlo.constant dense<[6, 15]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r48, %c49) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %r50 = stablehlo.reduce(%c46 init: %c47) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<i16>
    %c51 = stablehlo.constant dense<21> : tensor<i16>
    stablehlo.custom_call @check.expect_eq(%r50, %c51) {has_side_effect = true} : (tensor<i16>, tensor<i16>) -> ()
    %c52 = stablehlo.constant dense<1> : tensor<i16>
    %r53 = stablehlo.reduce(%c46 init: %c52) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c54 = stablehlo.constant dense<[6, 120]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r53, %c54) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %r55 = stablehlo.reduce(%c46 init: %c52) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<i16>
    %c56 = stablehlo.constant dense<720> : tensor<i16>
    stablehlo.custom_call @check.expect_eq(%r55, %c56) {has_side_effect = true} : (tensor<i16>, tensor<i16>) -> ()
    %c57 = stablehlo.constant dense<-32768> : tensor<i16>
    %r58 = stablehlo.reduce(%c46 init: %c57) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c59 = stablehlo.constant dense<[3, 6]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r58, %c59) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %r60 = stablehlo.reduce(%c46 init: %c57) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<i16>
    %c61 = stablehlo.constant dense<6> : tensor<i16>
    stablehlo.custom_call @check.expect_eq(%r60, %c61) {has_side_effect = true} : (tensor<i16>, tensor<i16>) -> ()
    %c62 = stablehlo.constant dense<32767> : tensor<i16>
    %r63 = stablehlo.reduce(%c46 init: %c62) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c64 = stablehlo.constant dense<[1, 4]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r63, %c64) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %r65 = stablehlo.reduce(%c46 init: %c62) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<i16>
    %c66 = stablehlo.constant dense<1> : tensor<i16>
    stablehlo.custom_call @check.expect_eq(%r65, %c66) {has_side_effect = true} : (tensor<i16>, tensor<i16>) -> ()
    %c67 = stablehlo.constant dense<0> : tensor<i16>
    %r68 = stablehlo.reduce(%c46 init: %c67) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c69 = stablehlo.constant dense<[0, 7]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r68, %c69) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %r70 = stablehlo.reduce(%c46 init: %c67) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<i16>
    %c71 = stablehlo.constant dense<7> : tensor<i16>
    stablehlo.custom_call @check.expect_eq(%r70, %c71) {has_side_effect = true} : (tensor<i16>, tensor<i16>) -> ()
    %c72 = stablehlo.constant dense<-1> : tensor<i16>
    %r73 = stablehlo.reduce(%c46 init: %c72) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c74 = stablehlo.constant dense<[0, 4]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r73, %c74) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %r75 = stablehlo.reduce(%c46 init: %c72) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<i16>
    %c76 = stablehlo.constant dense<0> : tensor<i16>
    stablehlo.custom_call @check.expect_eq(%r75, %c76) {has_side_effect = true} : (tensor<i16>, tensor<i16>) -> ()
    %c77 = stablehlo.constant dense<10> : tensor<i16>
    %r78 = stablehlo.reduce(%c46 init: %c77) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi16>, tensor<i16>) -> tensor<2xi16>
    %c79 = stablehlo.constant dense<[16, 25]> : tensor<2xi16>
    stablehlo.custom_call @check.expect_eq(%r78, %c79) {has_side_effect = true} : (tensor<2xi16>, tensor<2xi16>) -> ()
    %c80 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %c81 = stablehlo.constant dense<0> : tensor<i32>
    %r82 = stablehlo.reduce(%c80 init: %c81) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c83 = stablehlo.constant dense<[6, 15]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r82, %c83) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %r84 = stablehlo.reduce(%c80 init: %c81) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    %c85 = stablehlo.constant dense<21> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r84, %c85) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c86 = stablehlo.constant dense<1> : tensor<i32>
    %r87 = stablehlo.reduce(%c80 init: %c86) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c88 = stablehlo.constant dense<[6, 120]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r87, %c88) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %r89 = stablehlo.reduce(%c80 init: %c86) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    %c90 = stablehlo.constant dense<720> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r89, %c90) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c91 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %r92 = stablehlo.reduce(%c80 init: %c91) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c93 = stablehlo.constant dense<[3, 6]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r92, %c93) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %r94 = stablehlo.reduce(%c80 init: %c91) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    %c95 = stablehlo.constant dense<6> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r94, %c95) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c96 = stablehlo.constant dense<2147483647> : tensor<i32>
    %r97 = stablehlo.reduce(%c80 init: %c96) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c98 = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r97, %c98) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %r99 = stablehlo.reduce(%c80 init: %c96) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    %c100 = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r99, %c100) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c101 = stablehlo.constant dense<0> : tensor<i32>
    %r102 = stablehlo.reduce(%c80 init: %c101) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c103 = stablehlo.constant dense<[0, 7]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r102, %c103) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %r104 = stablehlo.reduce(%c80 init: %c101) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    %c105 = stablehlo.constant dense<7> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r104, %c105) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c106 = stablehlo.constant dense<-1> : tensor<i32>
    %r107 = stablehlo.reduce(%c80 init: %c106) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c108 = stablehlo.constant dense<[0, 4]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r107, %c108) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %r109 = stablehlo.reduce(%c80 init: %c106) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    %c110 = stablehlo.constant dense<0> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r109, %c110) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %c111 = stablehlo.constant dense<10> : tensor<i32>
    %r112 = stablehlo.reduce(%c80 init: %c111) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    %c113 = stablehlo.constant dense<[16, 25]> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%r112, %c113) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
    %c114 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
    %c115 = stablehlo.constant dense<0> : tensor<i64>
    %r116 = stablehlo.reduce(%c114 init: %c115) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c117 = stablehlo.constant dense<[6, 15]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r116, %c117) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %r118 = stablehlo.reduce(%c114 init: %c115) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<i64>
    %c119 = stablehlo.constant dense<21> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%r118, %c119) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c120 = stablehlo.constant dense<1> : tensor<i64>
    %r121 = stablehlo.reduce(%c114 init: %c120) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c122 = stablehlo.constant dense<[6, 120]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r121, %c122) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %r123 = stablehlo.reduce(%c114 init: %c120) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<i64>
    %c124 = stablehlo.constant dense<720> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%r123, %c124) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c125 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %r126 = stablehlo.reduce(%c114 init: %c125) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c127 = stablehlo.constant dense<[3, 6]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r126, %c127) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %r128 = stablehlo.reduce(%c114 init: %c125) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<i64>
    %c129 = stablehlo.constant dense<6> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%r128, %c129) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c130 = stablehlo.constant dense<9223372036854775807> : tensor<i64>
    %r131 = stablehlo.reduce(%c114 init: %c130) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c132 = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r131, %c132) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %r133 = stablehlo.reduce(%c114 init: %c130) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<i64>
    %c134 = stablehlo.constant dense<1> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%r133, %c134) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c135 = stablehlo.constant dense<0> : tensor<i64>
    %r136 = stablehlo.reduce(%c114 init: %c135) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c137 = stablehlo.constant dense<[0, 7]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r136, %c137) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %r138 = stablehlo.reduce(%c114 init: %c135) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<i64>
    %c139 = stablehlo.constant dense<7> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%r138, %c139) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c140 = stablehlo.constant dense<-1> : tensor<i64>
    %r141 = stablehlo.reduce(%c114 init: %c140) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c142 = stablehlo.constant dense<[0, 4]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r141, %c142) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %r143 = stablehlo.reduce(%c114 init: %c140) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<i64>
    %c144 = stablehlo.constant dense<0> : tensor<i64>
    stablehlo.custom_call @check.expect_eq(%r143, %c144) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    %c145 = stablehlo.constant dense<10> : tensor<i64>
    %r146 = stablehlo.reduce(%c114 init: %c145) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<2xi64>
    %c147 = stablehlo.constant dense<[16, 25]> : tensor<2xi64>
    stablehlo.custom_call @check.expect_eq(%r146, %c147) {has_side_effect = true} : (tensor<2xi64>, tensor<2xi64>) -> ()
    %c148 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
    %c149 = stablehlo.constant dense<0> : tensor<ui8>
    %r150 = stablehlo.reduce(%c148 init: %c149) applies stablehlo.add across dimensions = [1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui8>
    %c151 = stablehlo.constant dense<[6, 15]> : tensor<2xui8>
    stablehlo.custom_call @check.expect_eq(%r150, %c151) {has_side_effect = true} : (tensor<2xui8>, tensor<2xui8>) -> ()
    %r152 = stablehlo.reduce(%c148 init: %c149) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<ui8>
    %c153 = stablehlo.constant dense<21> : tensor<ui8>
    stablehlo.custom_call @check.expect_eq(%r152, %c153) {has_side_effect = true} : (tensor<ui8>, tensor<ui8>) -> ()
    %c154 = stablehlo.constant dense<1> : tensor<ui8>
    %r155 = stablehlo.reduce(%c148 init: %c154) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui8>
    %c156 = stablehlo.constant dense<[6, 120]> : tensor<2xui8>
    stablehlo.custom_call @check.expect_eq(%r155, %c156) {has_side_effect = true} : (tensor<2xui8>, tensor<2xui8>) -> ()
    %r157 = stablehlo.reduce(%c148 init: %c154) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<ui8>
    %c158 = stablehlo.constant dense<208> : tensor<ui8>
    stablehlo.custom_call @check.expect_eq(%r157, %c158) {has_side_effect = true} : (tensor<ui8>, tensor<ui8>) -> ()
    %c159 = stablehlo.constant dense<0> : tensor<ui8>
    %r160 = stablehlo.reduce(%c148 init: %c159) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui8>
    %c161 = stablehlo.constant dense<[3, 6]> : tensor<2xui8>
    stablehlo.custom_call @check.expect_eq(%r160, %c161) {has_side_effect = true} : (tensor<2xui8>, tensor<2xui8>) -> ()
    %r162 = stablehlo.reduce(%c148 init: %c159) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<ui8>
    %c163 = stablehlo.constant dense<6> : tensor<ui8>
    stablehlo.custom_call @check.expect_eq(%r162, %c163) {has_side_effect = true} : (tensor<ui8>, tensor<ui8>) -> ()
    %c164 = stablehlo.constant dense<255> : tensor<ui8>
    %r165 = stablehlo.reduce(%c148 init: %c164) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui8>
    %c166 = stablehlo.constant dense<[1, 4]> : tensor<2xui8>
    stablehlo.custom_call @check.expect_eq(%r165, %c166) {has_side_effect = true} : (tensor<2xui8>, tensor<2xui8>) -> ()
    %r167 = stablehlo.reduce(%c148 init: %c164) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<ui8>
    %c168 = stablehlo.constant dense<1> : tensor<ui8>
    stablehlo.custom_call @check.expect_eq(%r167, %c168) {has_side_effect = true} : (tensor<ui8>, tensor<ui8>) -> ()
    %c169 = stablehlo.constant dense<0> : tensor<ui8>
    %r170 = stablehlo.reduce(%c148 init: %c169) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui8>
    %c171 = stablehlo.constant dense<[0, 7]> : tensor<2xui8>
    stablehlo.custom_call @check.expect_eq(%r170, %c171) {has_side_effect = true} : (tensor<2xui8>, tensor<2xui8>) -> ()
    %r172 = stablehlo.reduce(%c148 init: %c169) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<ui8>
    %c173 = stablehlo.constant dense<7> : tensor<ui8>
    stablehlo.custom_call @check.expect_eq(%r172, %c173) {has_side_effect = true} : (tensor<ui8>, tensor<ui8>) -> ()
    %c174 = stablehlo.constant dense<255> : tensor<ui8>
    %r175 = stablehlo.reduce(%c148 init: %c174) applies stablehlo.and across dimensions = [1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2xui8>
    %c176 = stablehlo.constant dense<[0, 4]> : tensor<2xui8>
    stablehlo.custom_call @check.expect_eq(%r175, %c176) {has_side_effect = true} : (tensor<2xui8>, tensor<2xui8>) -> ()
    %r177 = stablehlo.reduce(%c148 init: %c174) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xui8>, tensor<ui8>) -> tensor<ui8>
    %c178 = stablehlo.constant dense<0> : tensor<ui8>
    stablehlo.custom_call @check.expect_eq(%r177, %c178) {has_side_effect = true} : (tensor<ui8>, tensor<ui8>) -> ()
    %c179 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui16>
    %c180 = stablehlo.constant dense<0> : tensor<ui16>
    %r181 = stablehlo.reduce(%c179 init: %c180) applies stablehlo.add across dimensions = [1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<2xui16>
    %c182 = stablehlo.constant dense<[6, 15]> : tensor<2xui16>
    stablehlo.custom_call @check.expect_eq(%r181, %c182) {has_side_effect = true} : (tensor<2xui16>, tensor<2xui16>) -> ()
    %r183 = stablehlo.reduce(%c179 init: %c180) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<ui16>
    %c184 = stablehlo.constant dense<21> : tensor<ui16>
    stablehlo.custom_call @check.expect_eq(%r183, %c184) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    %c185 = stablehlo.constant dense<1> : tensor<ui16>
    %r186 = stablehlo.reduce(%c179 init: %c185) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<2xui16>
    %c187 = stablehlo.constant dense<[6, 120]> : tensor<2xui16>
    stablehlo.custom_call @check.expect_eq(%r186, %c187) {has_side_effect = true} : (tensor<2xui16>, tensor<2xui16>) -> ()
    %r188 = stablehlo.reduce(%c179 init: %c185) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<ui16>
    %c189 = stablehlo.constant dense<720> : tensor<ui16>
    stablehlo.custom_call @check.expect_eq(%r188, %c189) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    %c190 = stablehlo.constant dense<0> : tensor<ui16>
    %r191 = stablehlo.reduce(%c179 init: %c190) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<2xui16>
    %c192 = stablehlo.constant dense<[3, 6]> : tensor<2xui16>
    stablehlo.custom_call @check.expect_eq(%r191, %c192) {has_side_effect = true} : (tensor<2xui16>, tensor<2xui16>) -> ()
    %r193 = stablehlo.reduce(%c179 init: %c190) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<ui16>
    %c194 = stablehlo.constant dense<6> : tensor<ui16>
    stablehlo.custom_call @check.expect_eq(%r193, %c194) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    %c195 = stablehlo.constant dense<65535> : tensor<ui16>
    %r196 = stablehlo.reduce(%c179 init: %c195) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<2xui16>
    %c197 = stablehlo.constant dense<[1, 4]> : tensor<2xui16>
    stablehlo.custom_call @check.expect_eq(%r196, %c197) {has_side_effect = true} : (tensor<2xui16>, tensor<2xui16>) -> ()
    %r198 = stablehlo.reduce(%c179 init: %c195) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<ui16>
    %c199 = stablehlo.constant dense<1> : tensor<ui16>
    stablehlo.custom_call @check.expect_eq(%r198, %c199) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    %c200 = stablehlo.constant dense<0> : tensor<ui16>
    %r201 = stablehlo.reduce(%c179 init: %c200) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<2xui16>
    %c202 = stablehlo.constant dense<[0, 7]> : tensor<2xui16>
    stablehlo.custom_call @check.expect_eq(%r201, %c202) {has_side_effect = true} : (tensor<2xui16>, tensor<2xui16>) -> ()
    %r203 = stablehlo.reduce(%c179 init: %c200) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<ui16>
    %c204 = stablehlo.constant dense<7> : tensor<ui16>
    stablehlo.custom_call @check.expect_eq(%r203, %c204) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    %c205 = stablehlo.constant dense<65535> : tensor<ui16>
    %r206 = stablehlo.reduce(%c179 init: %c205) applies stablehlo.and across dimensions = [1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<2xui16>
    %c207 = stablehlo.constant dense<[0, 4]> : tensor<2xui16>
    stablehlo.custom_call @check.expect_eq(%r206, %c207) {has_side_effect = true} : (tensor<2xui16>, tensor<2xui16>) -> ()
    %r208 = stablehlo.reduce(%c179 init: %c205) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xui16>, tensor<ui16>) -> tensor<ui16>
    %c209 = stablehlo.constant dense<0> : tensor<ui16>
    stablehlo.custom_call @check.expect_eq(%r208, %c209) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    %c210 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui32>
    %c211 = stablehlo.constant dense<0> : tensor<ui32>
    %r212 = stablehlo.reduce(%c210 init: %c211) applies stablehlo.add across dimensions = [1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<2xui32>
    %c213 = stablehlo.constant dense<[6, 15]> : tensor<2xui32>
    stablehlo.custom_call @check.expect_eq(%r212, %c213) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
    %r214 = stablehlo.reduce(%c210 init: %c211) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<ui32>
    %c215 = stablehlo.constant dense<21> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%r214, %c215) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c216 = stablehlo.constant dense<1> : tensor<ui32>
    %r217 = stablehlo.reduce(%c210 init: %c216) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<2xui32>
    %c218 = stablehlo.constant dense<[6, 120]> : tensor<2xui32>
    stablehlo.custom_call @check.expect_eq(%r217, %c218) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
    %r219 = stablehlo.reduce(%c210 init: %c216) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<ui32>
    %c220 = stablehlo.constant dense<720> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%r219, %c220) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c221 = stablehlo.constant dense<0> : tensor<ui32>
    %r222 = stablehlo.reduce(%c210 init: %c221) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<2xui32>
    %c223 = stablehlo.constant dense<[3, 6]> : tensor<2xui32>
    stablehlo.custom_call @check.expect_eq(%r222, %c223) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
    %r224 = stablehlo.reduce(%c210 init: %c221) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<ui32>
    %c225 = stablehlo.constant dense<6> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%r224, %c225) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c226 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %r227 = stablehlo.reduce(%c210 init: %c226) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<2xui32>
    %c228 = stablehlo.constant dense<[1, 4]> : tensor<2xui32>
    stablehlo.custom_call @check.expect_eq(%r227, %c228) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
    %r229 = stablehlo.reduce(%c210 init: %c226) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<ui32>
    %c230 = stablehlo.constant dense<1> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%r229, %c230) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c231 = stablehlo.constant dense<0> : tensor<ui32>
    %r232 = stablehlo.reduce(%c210 init: %c231) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<2xui32>
    %c233 = stablehlo.constant dense<[0, 7]> : tensor<2xui32>
    stablehlo.custom_call @check.expect_eq(%r232, %c233) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
    %r234 = stablehlo.reduce(%c210 init: %c231) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<ui32>
    %c235 = stablehlo.constant dense<7> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%r234, %c235) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c236 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %r237 = stablehlo.reduce(%c210 init: %c236) applies stablehlo.and across dimensions = [1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<2xui32>
    %c238 = stablehlo.constant dense<[0, 4]> : tensor<2xui32>
    stablehlo.custom_call @check.expect_eq(%r237, %c238) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
    %r239 = stablehlo.reduce(%c210 init: %c236) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xui32>, tensor<ui32>) -> tensor<ui32>
    %c240 = stablehlo.constant dense<0> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%r239, %c240) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c241 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui64>
    %c242 = stablehlo.constant dense<0> : tensor<ui64>
    %r243 = stablehlo.reduce(%c241 init: %c242) applies stablehlo.add across dimensions = [1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<2xui64>
    %c244 = stablehlo.constant dense<[6, 15]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%r243, %c244) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %r245 = stablehlo.reduce(%c241 init: %c242) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<ui64>
    %c246 = stablehlo.constant dense<21> : tensor<ui64>
    stablehlo.custom_call @check.expect_eq(%r245, %c246) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    %c247 = stablehlo.constant dense<1> : tensor<ui64>
    %r248 = stablehlo.reduce(%c241 init: %c247) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<2xui64>
    %c249 = stablehlo.constant dense<[6, 120]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%r248, %c249) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %r250 = stablehlo.reduce(%c241 init: %c247) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<ui64>
    %c251 = stablehlo.constant dense<720> : tensor<ui64>
    stablehlo.custom_call @check.expect_eq(%r250, %c251) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    %c252 = stablehlo.constant dense<0> : tensor<ui64>
    %r253 = stablehlo.reduce(%c241 init: %c252) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<2xui64>
    %c254 = stablehlo.constant dense<[3, 6]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%r253, %c254) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %r255 = stablehlo.reduce(%c241 init: %c252) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<ui64>
    %c256 = stablehlo.constant dense<6> : tensor<ui64>
    stablehlo.custom_call @check.expect_eq(%r255, %c256) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    %c257 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %r258 = stablehlo.reduce(%c241 init: %c257) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<2xui64>
    %c259 = stablehlo.constant dense<[1, 4]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%r258, %c259) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %r260 = stablehlo.reduce(%c241 init: %c257) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<ui64>
    %c261 = stablehlo.constant dense<1> : tensor<ui64>
    stablehlo.custom_call @check.expect_eq(%r260, %c261) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    %c262 = stablehlo.constant dense<0> : tensor<ui64>
    %r263 = stablehlo.reduce(%c241 init: %c262) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<2xui64>
    %c264 = stablehlo.constant dense<[0, 7]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%r263, %c264) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %r265 = stablehlo.reduce(%c241 init: %c262) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<ui64>
    %c266 = stablehlo.constant dense<7> : tensor<ui64>
    stablehlo.custom_call @check.expect_eq(%r265, %c266) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    %c267 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %r268 = stablehlo.reduce(%c241 init: %c267) applies stablehlo.and across dimensions = [1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<2xui64>
    %c269 = stablehlo.constant dense<[0, 4]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%r268, %c269) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %r270 = stablehlo.reduce(%c241 init: %c267) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xui64>, tensor<ui64>) -> tensor<ui64>
    %c271 = stablehlo.constant dense<0> : tensor<ui64>
    stablehlo.custom_call @check.expect_eq(%r270, %c271) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    %c272 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
    %c273 = stablehlo.constant dense<0.0> : tensor<f16>
    %r274 = stablehlo.reduce(%c272 init: %c273) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<2xf16>
    %c275 = stablehlo.constant dense<[6.0, 15.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%r274, %c275) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %r276 = stablehlo.reduce(%c272 init: %c273) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<f16>
    %c277 = stablehlo.constant dense<21.0> : tensor<f16>
    stablehlo.custom_call @check.expect_close(%r276, %c277) {has_side_effect = true} : (tensor<f16>, tensor<f16>) -> ()
    %c278 = stablehlo.constant dense<1.0> : tensor<f16>
    %r279 = stablehlo.reduce(%c272 init: %c278) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<2xf16>
    %c280 = stablehlo.constant dense<[6.0, 120.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%r279, %c280) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %r281 = stablehlo.reduce(%c272 init: %c278) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<f16>
    %c282 = stablehlo.constant dense<720.0> : tensor<f16>
    stablehlo.custom_call @check.expect_close(%r281, %c282) {has_side_effect = true} : (tensor<f16>, tensor<f16>) -> ()
    %c283 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %r284 = stablehlo.reduce(%c272 init: %c283) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<2xf16>
    %c285 = stablehlo.constant dense<[3.0, 6.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%r284, %c285) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %r286 = stablehlo.reduce(%c272 init: %c283) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<f16>
    %c287 = stablehlo.constant dense<6.0> : tensor<f16>
    stablehlo.custom_call @check.expect_close(%r286, %c287) {has_side_effect = true} : (tensor<f16>, tensor<f16>) -> ()
    %c288 = stablehlo.constant dense<0x7C00> : tensor<f16>
    %r289 = stablehlo.reduce(%c272 init: %c288) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<2xf16>
    %c290 = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%r289, %c290) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %r291 = stablehlo.reduce(%c272 init: %c288) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<f16>
    %c292 = stablehlo.constant dense<1.0> : tensor<f16>
    stablehlo.custom_call @check.expect_close(%r291, %c292) {has_side_effect = true} : (tensor<f16>, tensor<f16>) -> ()
    %c293 = stablehlo.constant dense<10.0> : tensor<f16>
    %r294 = stablehlo.reduce(%c272 init: %c293) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf16>, tensor<f16>) -> tensor<2xf16>
    %c295 = stablehlo.constant dense<[16.0, 25.0]> : tensor<2xf16>
    stablehlo.custom_call @check.expect_close(%r294, %c295) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
    %c296 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xbf16>
    %c297 = stablehlo.constant dense<0.0> : tensor<bf16>
    %r298 = stablehlo.reduce(%c296 init: %c297) applies stablehlo.add across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %c299 = stablehlo.constant dense<[6.0, 15.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%r298, %c299) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %r300 = stablehlo.reduce(%c296 init: %c297) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<bf16>
    %c301 = stablehlo.constant dense<21.0> : tensor<bf16>
    stablehlo.custom_call @check.expect_close(%r300, %c301) {has_side_effect = true} : (tensor<bf16>, tensor<bf16>) -> ()
    %c302 = stablehlo.constant dense<1.0> : tensor<bf16>
    %r303 = stablehlo.reduce(%c296 init: %c302) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %c304 = stablehlo.constant dense<[6.0, 120.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%r303, %c304) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %r305 = stablehlo.reduce(%c296 init: %c302) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<bf16>
    %c306 = stablehlo.constant dense<720.0> : tensor<bf16>
    stablehlo.custom_call @check.expect_close(%r305, %c306) {has_side_effect = true} : (tensor<bf16>, tensor<bf16>) -> ()
    %c307 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %r308 = stablehlo.reduce(%c296 init: %c307) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %c309 = stablehlo.constant dense<[3.0, 6.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%r308, %c309) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %r310 = stablehlo.reduce(%c296 init: %c307) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<bf16>
    %c311 = stablehlo.constant dense<6.0> : tensor<bf16>
    stablehlo.custom_call @check.expect_close(%r310, %c311) {has_side_effect = true} : (tensor<bf16>, tensor<bf16>) -> ()
    %c312 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %r313 = stablehlo.reduce(%c296 init: %c312) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %c314 = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%r313, %c314) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %r315 = stablehlo.reduce(%c296 init: %c312) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<bf16>
    %c316 = stablehlo.constant dense<1.0> : tensor<bf16>
    stablehlo.custom_call @check.expect_close(%r315, %c316) {has_side_effect = true} : (tensor<bf16>, tensor<bf16>) -> ()
    %c317 = stablehlo.constant dense<10.0> : tensor<bf16>
    %r318 = stablehlo.reduce(%c296 init: %c317) applies stablehlo.add across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %c319 = stablehlo.constant dense<[16.0, 25.0]> : tensor<2xbf16>
    stablehlo.custom_call @check.expect_close(%r318, %c319) {has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> ()
    %c320 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %c321 = stablehlo.constant dense<0.0> : tensor<f32>
    %r322 = stablehlo.reduce(%c320 init: %c321) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %c323 = stablehlo.constant dense<[6.0, 15.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%r322, %c323) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %r324 = stablehlo.reduce(%c320 init: %c321) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %c325 = stablehlo.constant dense<21.0> : tensor<f32>
    stablehlo.custom_call @check.expect_close(%r324, %c325) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    %c326 = stablehlo.constant dense<1.0> : tensor<f32>
    %r327 = stablehlo.reduce(%c320 init: %c326) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %c328 = stablehlo.constant dense<[6.0, 120.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%r327, %c328) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %r329 = stablehlo.reduce(%c320 init: %c326) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %c330 = stablehlo.constant dense<720.0> : tensor<f32>
    stablehlo.custom_call @check.expect_close(%r329, %c330) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    %c331 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r332 = stablehlo.reduce(%c320 init: %c331) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %c333 = stablehlo.constant dense<[3.0, 6.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%r332, %c333) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %r334 = stablehlo.reduce(%c320 init: %c331) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %c335 = stablehlo.constant dense<6.0> : tensor<f32>
    stablehlo.custom_call @check.expect_close(%r334, %c335) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    %c336 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %r337 = stablehlo.reduce(%c320 init: %c336) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %c338 = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%r337, %c338) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %r339 = stablehlo.reduce(%c320 init: %c336) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %c340 = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.custom_call @check.expect_close(%r339, %c340) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    %c341 = stablehlo.constant dense<10.0> : tensor<f32>
    %r342 = stablehlo.reduce(%c320 init: %c341) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %c343 = stablehlo.constant dense<[16.0, 25.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%r342, %c343) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %c344 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
    %c345 = stablehlo.constant dense<0.0> : tensor<f64>
    %r346 = stablehlo.reduce(%c344 init: %c345) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %c347 = stablehlo.constant dense<[6.0, 15.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%r346, %c347) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %r348 = stablehlo.reduce(%c344 init: %c345) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %c349 = stablehlo.constant dense<21.0> : tensor<f64>
    stablehlo.custom_call @check.expect_close(%r348, %c349) {has_side_effect = true} : (tensor<f64>, tensor<f64>) -> ()
    %c350 = stablehlo.constant dense<1.0> : tensor<f64>
    %r351 = stablehlo.reduce(%c344 init: %c350) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %c352 = stablehlo.constant dense<[6.0, 120.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%r351, %c352) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %r353 = stablehlo.reduce(%c344 init: %c350) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %c354 = stablehlo.constant dense<720.0> : tensor<f64>
    stablehlo.custom_call @check.expect_close(%r353, %c354) {has_side_effect = true} : (tensor<f64>, tensor<f64>) -> ()
    %c355 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %r356 = stablehlo.reduce(%c344 init: %c355) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %c357 = stablehlo.constant dense<[3.0, 6.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%r356, %c357) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %r358 = stablehlo.reduce(%c344 init: %c355) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %c359 = stablehlo.constant dense<6.0> : tensor<f64>
    stablehlo.custom_call @check.expect_close(%r358, %c359) {has_side_effect = true} : (tensor<f64>, tensor<f64>) -> ()
    %c360 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %r361 = stablehlo.reduce(%c344 init: %c360) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %c362 = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%r361, %c362) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %r363 = stablehlo.reduce(%c344 init: %c360) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %c364 = stablehlo.constant dense<1.0> : tensor<f64>
    stablehlo.custom_call @check.expect_close(%r363, %c364) {has_side_effect = true} : (tensor<f64>, tensor<f64>) -> ()
    %c365 = stablehlo.constant dense<10.0> : tensor<f64>
    %r366 = stablehlo.reduce(%c344 init: %c365) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %c367 = stablehlo.constant dense<[16.0, 25.0]> : tensor<2xf64>
    stablehlo.custom_call @check.expect_close(%r366, %c367) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
    %c368 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f32>>
    %c369 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
    %r370 = stablehlo.reduce(%c368 init: %c369) applies stablehlo.add across dimensions = [1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %c371 = stablehlo.constant dense<[(6.0, -6.0), (15.0, -15.0)]> : tensor<2xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r370, %c371) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
    %r372 = stablehlo.reduce(%c368 init: %c369) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    %c373 = stablehlo.constant dense<(21.0, -21.0)> : tensor<complex<f32>>
    stablehlo.custom_call @check.expect_close(%r372, %c373) {has_side_effect = true} : (tensor<complex<f32>>, tensor<complex<f32>>) -> ()
    %c374 = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
    %r375 = stablehlo.reduce(%c368 init: %c374) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %c376 = stablehlo.constant dense<[(-12.0, -12.0), (-240.0, -240.0)]> : tensor<2xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r375, %c376) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
    %r377 = stablehlo.reduce(%c368 init: %c374) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    %c378 = stablehlo.constant dense<(0.0, 5760.0)> : tensor<complex<f32>>
    stablehlo.custom_call @check.expect_close(%r377, %c378) {has_side_effect = true} : (tensor<complex<f32>>, tensor<complex<f32>>) -> ()
    %c379 = stablehlo.constant dense<(10.0, 0.0)> : tensor<complex<f32>>
    %r380 = stablehlo.reduce(%c368 init: %c379) applies stablehlo.add across dimensions = [1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %c381 = stablehlo.constant dense<[(16.0, -6.0), (25.0, -15.0)]> : tensor<2xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%r380, %c381) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
    %c382 = stablehlo.constant dense<[[(1.0, -1.0), (2.0, -2.0), (3.0, -3.0)], [(4.0, -4.0), (5.0, -5.0), (6.0, -6.0)]]> : tensor<2x3xcomplex<f64>>
    %c383 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f64>>
    %r384 = stablehlo.reduce(%c382 init: %c383) applies stablehlo.add across dimensions = [1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %c385 = stablehlo.constant dense<[(6.0, -6.0), (15.0, -15.0)]> : tensor<2xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r384, %c385) {has_side_effect = true} : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
    %r386 = stablehlo.reduce(%c382 init: %c383) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %c387 = stablehlo.constant dense<(21.0, -21.0)> : tensor<complex<f64>>
    stablehlo.custom_call @check.expect_close(%r386, %c387) {has_side_effect = true} : (tensor<complex<f64>>, tensor<complex<f64>>) -> ()
    %c388 = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f64>>
    %r389 = stablehlo.reduce(%c382 init: %c388) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %c390 = stablehlo.constant dense<[(-12.0, -12.0), (-240.0, -240.0)]> : tensor<2xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r389, %c390) {has_side_effect = true} : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
    %r391 = stablehlo.reduce(%c382 init: %c388) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %c392 = stablehlo.constant dense<(0.0, 5760.0)> : tensor<complex<f64>>
    stablehlo.custom_call @check.expect_close(%r391, %c392) {has_side_effect = true} : (tensor<complex<f64>>, tensor<complex<f64>>) -> ()
    %c393 = stablehlo.constant dense<(10.0, 0.0)> : tensor<complex<f64>>
    %r394 = stablehlo.reduce(%c382 init: %c393) applies stablehlo.add across dimensions = [1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %c395 = stablehlo.constant dense<[(16.0, -6.0), (25.0, -15.0)]> : tensor<2xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%r394, %c395) {has_side_effect = true} : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
    return
  }
}
