#include "tutti/runtime/local/gpus.h"

#include <gtest/gtest.h>

#ifdef TUTTI_HAVE_CUDA
#include "tutti/kernels/cuda/error.h"
#endif

namespace tutti {
namespace {

TEST(Gpus, AreToldByTheFirstWordOfTheirKind) {
  for (const char* kind : {"gpu", "gpu-64", "gpu-h200-16"}) {
    EXPECT_TRUE(is_gpu({.name = "d", .kind = kind})) << kind;
  }
  for (const char* kind : {"cpu", "gpus", "", "-gpu", "cpu-gpu"}) {
    EXPECT_FALSE(is_gpu({.name = "d", .kind = kind})) << kind;
  }
}

TEST(Gpus, AMachineThatHasOneIsRefusedWhereThereIsNone) {
#ifdef TUTTI_HAVE_CUDA
  const Result<void> here = cuda::check_gpus();
  if (here) GTEST_SKIP() << "there is a GPU here";
  const std::string wanted = "device 'big' is a GPU, but " + here.error().message +
                             "; name a machine without GPUs, or run it where nvidia-smi shows one";
#else
  const std::string wanted =
      "device 'big' is a GPU, but this program was built without CUDA; build it where nvcc is";
#endif
  const Result<Machine> machine =
      Machine::build({.devices = {{.device = {.name = "big", .kind = "gpu-64", .units = 64}}},
                      .links = {{.name = "link", .ends = {"host", "big"}}}});
  ASSERT_TRUE(machine) << machine.error().message;
  const auto opened = with_gpus(*machine, nullptr);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Error::Kind::invalid_input);
  EXPECT_EQ(opened.error().message, wanted);
}

}  // namespace
}  // namespace tutti
