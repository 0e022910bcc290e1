module @attention {
  func.func public @main(%arg0: tensor<2x64x32xf32>, %arg1: tensor<2x128x32xf32>, %arg2: tensor<2x128x32xf32>) -> tensor<2x64x32xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x64x32xf32>, tensor<2x128x32xf32>) -> tensor<2x64x128xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x64xf32>) -> tensor<2x64x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<2x64x1xf32>) -> tensor<2x64x128xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<2x64x128xf32>
    %5 = stablehlo.exponential %4 : tensor<2x64x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) across dimensions = [2] : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
      %10 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x64xf32>) -> tensor<2x64x128xf32>
    %8 = stablehlo.divide %5, %7 : tensor<2x64x128xf32>
    %9 = stablehlo.dot_general %8, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x64x128xf32>, tensor<2x128x32xf32>) -> tensor<2x64x32xf32>
    return %9 : tensor<2x64x32xf32>
  }
}
