module @m { func.func @main(%x: tensor<?xf32>) { return } }
