module {
  func.func public @main(%p: tensor<i1>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = "stablehlo.if"(%p) ({
      %1 = stablehlo.dot %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %1 : tensor<8x8xf32>
    }, {
      %1 = stablehlo.sine %x : tensor<8x8xf32>
      stablehlo.return %1 : tensor<8x8xf32>
    }) : (tensor<i1>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
