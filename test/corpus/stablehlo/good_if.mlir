module @conv {
  func.func @main(%x: tensor<1x32x32x8xf32>, %k: tensor<3x3x8x16xf32>, %b: tensor<16xf32>, %d: tensor<16x4x3x3xf32>) -> tensor<1x16x16x16xf32> {
    // The first layer.
    %c = stablehlo.convolution(%x, %k)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x32x32x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x32x32x16xf32>
    %bs = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<16xf32>) -> tensor<1x32x32x16xf32>
    %s = stablehlo.add %c, %bs : tensor<1x32x32x16xf32>
    %zeros = stablehlo.constant dense<0.0> : tensor<1x32x32x16xf32>
    %r = stablehlo.maximum %s, %zeros : tensor<1x32x32x16xf32>
    %t = stablehlo.transpose %r, dims = [0, 3, 1, 2] : (tensor<1x32x32x16xf32>) -> tensor<1x16x32x32xf32>
    %g = "stablehlo.convolution"(%t, %d) <{dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, padding = dense<1> : tensor<2x2xi64>, feature_group_count = 4 : i64, batch_group_count = 1 : i64}> : (tensor<1x16x32x32xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x32x32xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m = "stablehlo.reduce_window"(%g, %low) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<1x16x32x32xf32>, tensor<f32>) -> tensor<1x16x16x16xf32>
    return %m : tensor<1x16x16x16xf32>
  }
}
