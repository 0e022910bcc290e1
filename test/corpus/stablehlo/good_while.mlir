module @jit_f {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0:2 = call @pair(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>)
    %1, %2 = "stablehlo.optimization_barrier"(%0#0, %0#1) : (tensor<8xf32>, tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>)
    %3 = stablehlo.tuple %1, %2 : tuple<tensor<8xf32>, tensor<4x8xf32>>
    %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<8xf32>, tensor<4x8xf32>>) -> tensor<4x8xf32>
    %5 = stablehlo.custom_call @attend(%4) {api_version = 2 : i32, backend_config = "{\"a\": [}", mhlo.frontend_attributes = {kernel = "x"}} : (tensor<4x8xf32>) -> tensor<8xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "{devices=[2]0,1}"} : (tensor<8xf32>) -> tensor<8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"a"}]> : tensor<8xf32>
    return %1, %7 : tensor<8xf32>, tensor<8xf32>
  }
  func.func private @pair(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
    %0 = chlo.erf_inv %arg0 : tensor<8xf32> -> tensor<8xf32>
    %1 = stablehlo.sort %arg0 : tensor<8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    return %0, %2 : tensor<8xf32>, tensor<4x8xf32>
  }
}
