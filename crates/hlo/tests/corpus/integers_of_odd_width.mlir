func.func @main() -> tensor<4xi39> {
  %0 = stablehlo.constant dense<"0x0102030405060708"> : tensor<4xi39>
  return %0 : tensor<4xi39>
}
