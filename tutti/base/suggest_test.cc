#include "tutti/base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

const std::vector<std::string> kWords{"heft", "cpop", "critical_path", "denselu", "lu-solve"};

TEST(Suggest, CountsInsertedRemovedReplacedAndSwappedLetters) {
  EXPECT_EQ(edits_between("heft", "heft"), 0);
  EXPECT_EQ(edits_between("het", "heft"), 1);
  EXPECT_EQ(edits_between("hefft", "heft"), 1);
  EXPECT_EQ(edits_between("hexf", "heft"), 2);
  EXPECT_EQ(edits_between("hetf", "heft"), 1);
  EXPECT_EQ(edits_between("", "heft"), 4);
  EXPECT_EQ(edits_between("heft", ""), 4);
  EXPECT_EQ(edits_between("kitten", "sitting"), 3);
}

TEST(Suggest, TheNearestIsTheFirstOfThoseWithFewestEdits) {
  const std::vector<std::string> words{"gpu", "cpu", "npu"};
  EXPECT_EQ(nearest("xpu", words, 2), "gpu");
  EXPECT_EQ(nearest("cpuu", words, 2), "cpu");
  EXPECT_EQ(nearest("cpu", words, 0), "cpu");
  EXPECT_EQ(nearest("slow-gpu", words, 2), std::nullopt);
  EXPECT_EQ(nearest("cp", {}, 2), std::nullopt);
}

TEST(Suggest, WhatAPersonMeantAllowsMoreEditsInLongerWords) {
  EXPECT_EQ(closest_word("Heft", kWords), "heft");
  EXPECT_EQ(closest_word("hetf", kWords), "heft");
  EXPECT_EQ(closest_word("critcal-path", kWords), "critical_path");
  EXPECT_EQ(closest_word("abcd", kWords), std::nullopt);
  EXPECT_EQ(closest_word("", kWords), std::nullopt);
}

TEST(Suggest, ABeginningOrAnEndIsEnough) {
  EXPECT_EQ(closest_word("critical", kWords), "critical_path");
  EXPECT_EQ(closest_word("lu", kWords), "lu-solve");
  EXPECT_EQ(closest_word("selu", kWords), "denselu");
  EXPECT_EQ(closest_word("h", kWords), std::nullopt);
}

TEST(Suggest, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean("hef", kWords), "; did you mean 'heft'?");
  EXPECT_EQ(did_you_mean("zzzz", kWords), "");
  EXPECT_EQ(unknown_word("policy", "hef", {kWords.data(), 2}),
            "there is no policy 'hef'; did you mean 'heft'? known are: heft, cpop");
  EXPECT_EQ(unknown_word("policy", "zzz", {kWords.data(), 2}),
            "there is no policy 'zzz'; known are: heft, cpop");
  EXPECT_EQ(comma_list(kWords), "heft, cpop, critical_path, denselu, lu-solve");
}

}  // namespace
}  // namespace tutti
