module @m { func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.1>>) { return } }
