#include "tutti/report/columns.h"

#include <gtest/gtest.h>

#include <limits>

namespace tutti {
namespace {

TEST(Column, PacksSevenBitsToAByte) {
  Column column;
  column.add(1);
  column.add(300);  // 0b10'0101100: ac 02
  EXPECT_EQ(column.base64(), "AawC");
}

TEST(Column, TakesTheLargestNumbers) {
  Column largest;
  largest.add(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(largest.base64(), "////////////AQ==");
  Column least;  // -2^63 is the last of the alternation: 2^64 - 1
  least.add_signed(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(least.base64(), largest.base64());
}

TEST(Column, SignedNumbersAlternate) {
  Column column;
  for (const int64_t number : {0, -1, 1, -2}) column.add_signed(number);
  EXPECT_EQ(column.base64(), "AAECAw==");  // 0 1 2 3
}

TEST(Column, NamesRepeatTheBeginningOfTheOneBefore) {
  Column column;
  column.add_name("ab");
  column.add_name("ac");
  column.add_name("");
  EXPECT_EQ(column.base64(), "AAJhYgEBYwAA");  // 0 2 a b, 1 1 c, 0 0
}

TEST(Column, OnlyZerosNeedNoText) {
  Column column;
  column.add(0);
  column.add(0);
  EXPECT_EQ(column.base64_unless_zero(), "");
  column.add(1);
  EXPECT_EQ(column.base64_unless_zero(), "AAAB");
}

}  // namespace
}  // namespace tutti
