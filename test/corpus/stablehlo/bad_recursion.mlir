func.func @f() {
  call @f() : () -> ()
  return
}
