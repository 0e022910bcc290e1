"builtin.module"() <{sym_name = "attention"}> ({
  "func.func"() <{function_type = (tensor<2x64x32xf32>, tensor<2x128x32xf32>, tensor<2x128x32xf32>) -> tensor<2x64x32xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x64x32xf32>, %arg1: tensor<2x128x32xf32>, %arg2: tensor<2x128x32xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>]}> : (tensor<2x64x32xf32>, tensor<2x128x32xf32>) -> tensor<2x64x128xf32>
    %1 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %20 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x64xf32>) -> tensor<2x64x128xf32>
    %4 = "stablehlo.subtract"(%0, %3) : (tensor<2x64x128xf32>, tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
    %5 = "stablehlo.exponential"(%4) : (tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
    %6 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%5, %6) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %20 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) {dimensions = dense<2> : tensor<1xi64>} : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
    %8 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x64xf32>) -> tensor<2x64x128xf32>
    %9 = "stablehlo.divide"(%5, %8) : (tensor<2x64x128xf32>, tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
    %10 = "stablehlo.dot_general"(%9, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x64x128xf32>, tensor<2x128x32xf32>) -> tensor<2x64x32xf32>
    "func.return"(%10) : (tensor<2x64x32xf32>) -> ()
  }) : () -> ()
}) : () -> ()
