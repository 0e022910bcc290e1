#include "tutti/graph/name_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(NameTable, NumbersNamesByFirstAppearance) {
  NameTable names;
  EXPECT_EQ(names.add("b"), 0);
  EXPECT_EQ(names.add("a"), 1);
  EXPECT_EQ(names.add("b"), 0);
  EXPECT_EQ(names.add(""), 2);
  EXPECT_EQ(names.size(), 3);
  EXPECT_EQ(names.name(1), "a");
  EXPECT_EQ(names.find("a"), 1);
  EXPECT_EQ(names.find("c"), std::nullopt);
}

TEST(NameTable, FindsEveryNameAmongMany) {
  NameTable names;
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(names.add(fmt::format("op{}", i)), i);
  for (int i = 0; i < 100000; ++i) {
    ASSERT_EQ(names.find(fmt::format("op{}", i)), i);
    ASSERT_EQ(names.name(i), fmt::format("op{}", i));
  }
}

}  // namespace
}  // namespace tutti
