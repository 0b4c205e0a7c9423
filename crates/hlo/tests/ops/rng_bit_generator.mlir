// rng_bit_generator: bit-identical to XLA.
module {
  func.func @main() {
    %c1 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g2:2 = stablehlo.rng_bit_generator %c1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui8>)
    %c3 = stablehlo.constant dense<[11150031900141442680, 0]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g2#0, %c3) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c4 = stablehlo.constant dense<[8, 149, 36]> : tensor<3xui8>
    stablehlo.custom_call @check.expect_eq(%g2#1, %c4) {has_side_effect = true} : (tensor<3xui8>, tensor<3xui8>) -> ()
    %c5 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g6:2 = stablehlo.rng_bit_generator %c5, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui16>)
    %c7 = stablehlo.constant dense<[11150031900141442680, 1]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g6#0, %c7) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c8 = stablehlo.constant dense<[[5384, 58916, 889], [21653, 21606, 29635]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%g6#1, %c8) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %c9 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g10:2 = stablehlo.rng_bit_generator %c9, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %c11 = stablehlo.constant dense<[11150031900141442680, 7]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g10#0, %c11) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c12 = stablehlo.constant dense<[[3061519624, 3494794389, 582215204, 4205532262, 3978822521], [420485989, 1647470385, 1580406350, 2031222694, 1132217343], [1011212531, 1707533992, 934438394, 3006547072, 187114590]]> : tensor<3x5xui32>
    stablehlo.custom_call @check.expect_eq(%g10#1, %c12) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    %c13 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g14:2 = stablehlo.rng_bit_generator %c13, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
    %c15 = stablehlo.constant dense<[11150031900141442680, 1]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g14#0, %c15) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c16 = stablehlo.constant dense<[15010027610060821768, 18062623528145118756, 11581978152048001913]> : tensor<3xui64>
    stablehlo.custom_call @check.expect_eq(%g14#1, %c16) {has_side_effect = true} : (tensor<3xui64>, tensor<3xui64>) -> ()
    %c17 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g18:2 = stablehlo.rng_bit_generator %c17, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %c19 = stablehlo.constant dense<[11150031900141442680, 18446744073709551615]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g18#0, %c19) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c20 = stablehlo.constant dense<3061519624> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%g18#1, %c20) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %c21 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g22:2 = stablehlo.rng_bit_generator %c21, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui8>)
    %c23 = stablehlo.constant dense<[11150031900141442680, 18446744073709551615]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g22#0, %c23) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c24 = stablehlo.constant dense<[92, 203, 245]> : tensor<3xui8>
    stablehlo.custom_call @check.expect_eq(%g22#1, %c24) {has_side_effect = true} : (tensor<3xui8>, tensor<3xui8>) -> ()
    %c25 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g26:2 = stablehlo.rng_bit_generator %c25, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui16>)
    %c27 = stablehlo.constant dense<[11150031900141442680, 0]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g26#0, %c27) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c28 = stablehlo.constant dense<[[2908, 26827, 4853], [20520, 29408, 15462]]> : tensor<2x3xui16>
    stablehlo.custom_call @check.expect_eq(%g26#1, %c28) {has_side_effect = true} : (tensor<2x3xui16>, tensor<2x3xui16>) -> ()
    %c29 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g30:2 = stablehlo.rng_bit_generator %c29, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %c31 = stablehlo.constant dense<[11150031900141442680, 2]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g30#0, %c31) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c32 = stablehlo.constant dense<[[2028276572, 3510593739, 2053116661, 2996457512, 529953504], [751516774, 3962810239, 2353479234, 3938551892, 1342516440], [2991998059, 4187146839, 591700487, 3264003632, 1400399271]]> : tensor<3x5xui32>
    stablehlo.custom_call @check.expect_eq(%g30#1, %c32) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    %c33 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g34:2 = stablehlo.rng_bit_generator %c33, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
    %c35 = stablehlo.constant dense<[11150031900141442680, 0]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g34#0, %c35) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c36 = stablehlo.constant dense<[15077885300575636316, 12869687019946644213, 3227739967255376608]> : tensor<3xui64>
    stablehlo.custom_call @check.expect_eq(%g34#1, %c36) {has_side_effect = true} : (tensor<3xui64>, tensor<3xui64>) -> ()
    %c37 = stablehlo.constant dense<[11150031900141442680, 18446744073709551614]> : tensor<2xui64>
    %g38:2 = stablehlo.rng_bit_generator %c37, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %c39 = stablehlo.constant dense<[11150031900141442680, 18446744073709551615]> : tensor<2xui64>
    stablehlo.custom_call @check.expect_eq(%g38#0, %c39) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    %c40 = stablehlo.constant dense<2028276572> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%g38#1, %c40) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    return
  }
}
