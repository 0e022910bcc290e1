#include "tutti/serve/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "tutti/serve/core.h"
#include "tutti/serve/journal/frames.h"
#include "tutti/serve/journal/journal.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Three jobs: a done, b running, c queued. Records 1 to 6.
void write_three_jobs(const std::string& folder) {
  auto journal = Journal::open(
      folder, [](const Record&) -> Result<void> { return {}; },
      [](int64_t, const Result<void>&) {});
  const auto accepted = [](const std::string& id, int64_t number) {
    return Record{.kind = Record::Kind::accepted,
                  .job = number,
                  .id = id,
                  .content = std::make_shared<const std::string>("content of " + id)};
  };
  (*journal)->append(accepted("a", 1));
  (*journal)->append({.kind = Record::Kind::started, .job = 1});
  (*journal)->append({.kind = Record::Kind::ended, .job = 1});
  (*journal)->append(accepted("b", 2));
  (*journal)->append({.kind = Record::Kind::started, .job = 2});
  (*journal)->append(accepted("c", 3));
  (*journal)->begin();
}

// The ids of jobs in a journal on which a server starts, with their states.
std::string jobs_in(const std::string& folder) {
  Core core({});
  const auto journal =
      Journal::open(folder, [&](Record record) { return core.replay(std::move(record)); }, {});
  if (!journal) return journal.error().message;
  std::string found;
  for (const JobFacts& job : core.list({}, 1000, 1000)) {
    found = job.id + ":" + to_text(job.state) + " " + found;
  }
  return found;
}

constexpr const char* kAll = "a:done b:running c:queued ";

// Where each record begins, and at last where all ends.
std::vector<size_t> places_in(const std::string& folder) {
  const std::string bytes = content_of(folder + "/journal");
  std::vector<size_t> places;
  for (const Surveyed::Frame& frame : survey(bytes).frames) places.push_back(frame.place);
  places.push_back(bytes.size());
  return places;
}

class Damaged : public ::testing::Test {
 protected:
  void SetUp() override {
    write_three_jobs(folder());
    places_ = places_in(folder());
  }
  const std::string& folder() const { return folder_.path(); }
  void damage(const std::function<void(std::string&)>& how) const {
    std::string bytes = content_of(folder() + "/journal");
    how(bytes);
    std::ofstream(folder() + "/journal", std::ios::binary) << bytes;
  }
  std::vector<size_t> places_;

 private:
  TestFolder folder_;
};

TEST_F(Damaged, NothingIsFoundAndNothingChangedWhereNothingIs) {
  const std::string before = content_of(folder() + "/journal");
  const Result<JournalReport> checked = check_journal(folder());
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->fault, "");
  EXPECT_EQ(checked->records, 6);
  EXPECT_EQ(checked->promised, 6);
  EXPECT_EQ(checked->open_jobs, 2);
  EXPECT_EQ(checked->over_jobs, 1);
  const Result<JournalReport> repaired = repair_journal(folder());
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->kept_as, "");
  EXPECT_EQ(content_of(folder() + "/journal"), before);
  EXPECT_FALSE(check_journal(folder() + "/none"));
  EXPECT_FALSE(repair_journal(folder() + "/none"));
  EXPECT_FALSE(std::filesystem::exists(folder() + "/none"));
}

// Row 4 of the audit: one flipped bit lost a whole batch.
TEST_F(Damaged, AFlippedBitAnywhereLosesNothing) {
  const std::string before = content_of(folder() + "/journal");
  for (size_t place = kJournalHeader; place < before.size(); place += 7) {
    damage([&](std::string& bytes) { bytes[place] = static_cast<char>(bytes[place] ^ 16); });
    EXPECT_NE(jobs_in(folder()), kAll) << place;
    const Result<JournalReport> repaired = repair_journal(folder());
    ASSERT_TRUE(repaired) << place;
    EXPECT_EQ(repaired->corrected.size(), 1U) << place;
    EXPECT_TRUE(repaired->lost.empty() && repaired->unusable.empty()) << place;
    EXPECT_EQ(jobs_in(folder()), kAll) << place;
    std::filesystem::remove(repaired->kept_as);
    std::ofstream(folder() + "/journal", std::ios::binary) << before;
  }
}

TEST_F(Damaged, ARecordThatIsGoneIsNamedAndTheOthersAreKept) {
  const std::string before = content_of(folder() + "/journal");
  const std::string id = survey(before).id;
  const std::string jobs[] = {"b:running c:queued ",           "a:done b:running c:queued ",
                              "a:running b:running c:queued ", "a:done c:queued ",
                              "a:done b:queued c:queued ",     "a:done b:running "};
  for (size_t lost = 0; lost < 6; ++lost) {
    damage([&](std::string& bytes) {
      for (size_t at = places_[lost]; at < places_[lost] + 40; ++at) bytes[at] = 'x';
    });
    const Result<JournalReport> repaired = repair_journal(folder());
    ASSERT_TRUE(repaired) << lost;
    ASSERT_EQ(repaired->lost.size(), 1U) << lost;
    EXPECT_EQ(repaired->lost[0].first, static_cast<int64_t>(lost) + 1);
    EXPECT_EQ(repaired->lost[0].last, repaired->lost[0].first);
    EXPECT_EQ(repaired->lost[0].from_byte, static_cast<int64_t>(places_[lost]));
    EXPECT_EQ(repaired->id, id) << "it stays the same journal";
    EXPECT_EQ(content_of(repaired->kept_as).size(), before.size());
    EXPECT_EQ(jobs_in(folder()), jobs[lost]) << lost;
    std::filesystem::remove(repaired->kept_as);
    std::ofstream(folder() + "/journal", std::ios::binary) << before;
  }
}

// What is left of the record tells people which job it was, and its other records say so too.
TEST_F(Damaged, ALostAcceptanceIsNamedWithItsJob) {
  damage([&](std::string& bytes) {
    bytes[places_[1] - 10] = '?';  // in the content of a
    bytes[places_[1] - 12] = '?';
  });
  const Result<JournalReport> checked = check_journal(folder());
  ASSERT_TRUE(checked);
  ASSERT_EQ(checked->lost.size(), 1U);
  EXPECT_EQ(checked->lost[0].looks_like, "the acceptance of job 1 ('a')");
  ASSERT_EQ(checked->unusable.size(), 2U);
  EXPECT_EQ(checked->unusable[1].what, "the end of job 1 (done)");
  EXPECT_EQ(checked->doubtful, (std::vector<std::string>{"b", "c"}));
}

TEST_F(Damaged, AJournalCutAtARecordIsNoticedAndNumbersGoOnAboveThoseThatWereGiven) {
  damage([&](std::string& bytes) { bytes.resize(places_[5]); });
  EXPECT_NE(jobs_in(folder()).find("number 6 is not whole"), std::string::npos)
      << jobs_in(folder());
  const Result<JournalReport> repaired = repair_journal(folder());
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->lost.size(), 1U);
  EXPECT_EQ(repaired->lost[0].first, 6);
  Core core({});
  const auto journal =
      Journal::open(folder(), [&](Record record) { return core.replay(std::move(record)); }, {});
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_GE(core.submit(submission("d"), 1).job.number, 4) << "3 was c's";
}

TEST_F(Damaged, AJournalWithoutAHeaderIsRecoveredAndTheDoubtIsSaid) {
  damage([&](std::string& bytes) { std::fill_n(bytes.begin(), kJournalHeader, '\0'); });
  const Result<JournalReport> repaired = repair_journal(folder());
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->lost.size(), 1U);
  EXPECT_EQ(repaired->lost[0].first, 7);
  EXPECT_EQ(repaired->lost[0].last, kUnknownLast);
  EXPECT_EQ(jobs_in(folder()), kAll);
}

TEST_F(Damaged, AnEmptyFileIsSaidToHaveLostWhateverThereWas) {
  damage([](std::string& bytes) { bytes.clear(); });
  const Result<JournalReport> repaired = repair_journal(folder());
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->lost.size(), 1U);
  EXPECT_EQ(repaired->lost[0].first, 1);
  EXPECT_EQ(jobs_in(folder()), "");
}

TEST_F(Damaged, AJournalInUseIsNotRepaired) {
  damage([&](std::string& bytes) { bytes.pop_back(); });
  const Result<FolderLock> lock = FolderLock::take(folder());
  EXPECT_FALSE(repair_journal(folder()));
  EXPECT_TRUE(check_journal(folder()));
}

}  // namespace
}  // namespace tutti
