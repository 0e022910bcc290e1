#include "studies/symphony/own_waiting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/machine/preset.h"

namespace tutti {
namespace {

// Alone it takes 100 ns, 300 ns with all that the memory carries: 150 is a quarter of the way.
TEST(OwnWaiting, IsHowFarWorkIsFromWhatItTakesAlone) {
  const Machine machine = make_preset("p100-4").value();
  const Resource memory = resource_of(machine.host_memory());
  OwnWaiting source({{"sum", memory, Duration(100), Duration(300)}});
  ASSERT_EQ(source.counters().size(), 1u);
  EXPECT_EQ(source.counters()[0].name, "sum.waiting");
  EXPECT_EQ(source.counters()[0].quantity, Quantity::waiting);
  EXPECT_EQ(source.counters()[0].resource, memory);
  double value = 0;
  source.read({&value, 1});
  EXPECT_TRUE(std::isnan(value)) << "nothing has run";
  for (const int taken : {150, 9000, 120}) source.note(0, Duration(taken));
  source.read({&value, 1});
  EXPECT_DOUBLE_EQ(value, 0.25) << "by the median";
  source.note(0, Duration(90));
  source.read({&value, 1});
  EXPECT_EQ(value, 0);
  source.note(0, Duration(1000));
  source.read({&value, 1});
  EXPECT_EQ(value, 1);
  source.read({&value, 1});
  EXPECT_TRUE(std::isnan(value)) << "what was read is not told again";
}

}  // namespace
}  // namespace tutti
