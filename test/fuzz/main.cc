// The entry point that libFuzzer calls. Built once per harness, with TUTTI_FUZZ_TARGET naming it.

#include "test/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::TUTTI_FUZZ_TARGET(data, size);
  return 0;
}
