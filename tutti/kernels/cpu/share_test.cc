#include "tutti/kernels/cpu/share.h"

#include <gtest/gtest.h>

namespace tutti::cpu {
namespace {

TEST(Share, PartsTakeAllOnceAndBeginAtGrains) {
  for (const int64_t count : {0, 1, 15, 16, 17, 100, 1000}) {
    for (const int64_t grain : {1, 8, 16}) {
      for (const int parts : {1, 2, 3, 7, 200}) {
        int64_t next = 0;
        for (int part = 0; part < parts; ++part) {
          const Range range = share(count, {part, parts}, grain);
          EXPECT_EQ(range.begin, next);
          EXPECT_TRUE(range.begin % grain == 0 || range.begin == count);
          EXPECT_LE(range.size(), (count / grain / parts + 1) * grain);
          next = range.end;
        }
        EXPECT_EQ(next, count);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::cpu
