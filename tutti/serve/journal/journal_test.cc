#include "tutti/serve/journal/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <latch>

#include "tutti/serve/journal/frames.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

std::string journal_of(const std::vector<std::string>& payloads, int64_t durable_each = 0) {
  std::string bytes(kJournalStart);
  int64_t sequence = 0;
  for (const std::string& payload : payloads) {
    ++sequence;
    // Written one by one, each is on the disk before the next; as one batch, none is.
    add_frame(bytes, sequence, durable_each > 0 ? sequence - 1 : 0, payload);
  }
  return bytes;
}

std::vector<std::string> texts(const Scanned& scanned) {
  return {scanned.payloads.begin(), scanned.payloads.end()};
}

TEST(Frames, AreReadAsTheyWereWritten) {
  const std::vector<std::string> payloads = {"one", "", std::string(1000, '\0'), "four"};
  const std::string bytes = journal_of(payloads);
  const Result<Scanned> scanned = scan_frames(bytes, "j");
  ASSERT_TRUE(scanned);
  EXPECT_EQ(texts(*scanned), payloads);
  EXPECT_EQ(scanned->good_bytes, bytes.size());
}

TEST(Frames, CutAnywhereAreTheWholeOnesBeforeTheCut) {
  const std::vector<std::string> payloads = {"first", "second", "third"};
  for (const int64_t durable : {0, 1}) {
    const std::string bytes = journal_of(payloads, durable);
    size_t whole = 0;
    for (size_t length = 0; length <= bytes.size(); ++length) {
      const std::string cut = bytes.substr(0, length);  // payloads are parts of it
      const Result<Scanned> scanned = scan_frames(cut, "j");
      ASSERT_TRUE(scanned) << length;
      EXPECT_GE(scanned->payloads.size(), whole) << length;
      whole = scanned->payloads.size();
      for (size_t i = 0; i < whole; ++i) EXPECT_EQ(scanned->payloads[i], payloads[i]);
      EXPECT_LE(scanned->good_bytes, length);
    }
    EXPECT_EQ(whole, payloads.size());
  }
}

TEST(Frames, ThatWereOnTheDiskAndAreDamagedAreRefused) {
  const std::vector<std::string> payloads = {"first", "second", "third"};
  const std::string bytes = journal_of(payloads, 1);
  const size_t last = journal_of({payloads[0], payloads[1]}, 1).size();
  for (size_t place = 0; place < bytes.size(); ++place) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x41);
    const Result<Scanned> scanned = scan_frames(damaged, "j");
    if (place < last) {
      ASSERT_FALSE(scanned) << place;
      EXPECT_EQ(scanned.error().kind, Error::Kind::invalid_input);
      EXPECT_TRUE(scanned.error().message.starts_with("j: ")) << scanned.error().message;
    } else {
      // Of the last nobody knows whether it was promised: it goes.
      ASSERT_TRUE(scanned) << place;
      EXPECT_EQ(texts(*scanned), (std::vector<std::string>{"first", "second"}));
    }
  }
}

TEST(Frames, OfABatchThatNeverCameToTheDiskWholeAreCutOff) {
  // Power fails while three are written: the second is missing, the third is there.
  std::string bytes = journal_of({"first", "second", "third"}, 0);
  const size_t second = journal_of({"first"}, 0).size();
  for (size_t place = second; place < second + 30; ++place) bytes[place] = 0;
  const Result<Scanned> scanned = scan_frames(bytes, "j");
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_EQ(texts(*scanned), std::vector<std::string>{"first"});
}

TEST(Frames, OfAnotherKindOfFileAreRefused) {
  for (const char* text : {"something else", "tutti-journal 2\nxxxxxxxxxxxxxxxxxxxxxx", "x"}) {
    EXPECT_FALSE(scan_frames(text, "j")) << text;
  }
}

TEST(Record, ComesBackFromItsBytesAndNotFromFewer) {
  const Record accepted{.kind = Record::Kind::accepted,
                        .job = 7,
                        .time_ms = 123456789012,
                        .id = "night",
                        .priority = -4,
                        .graph = "g",
                        .ops = 12,
                        .attempts = 2,
                        .started_ms = 5,
                        .digest = 0xfedcba9876543210U,
                        .content = std::make_shared<const std::string>("{\n}")};
  const Record ended{
      .kind = Record::Kind::ended, .job = 9, .outcome = {JobState::failed, Duration(4), "why"}};
  for (const Record& record : {accepted, ended}) {
    const std::string bytes = to_bytes(record);
    const Result<Record> again = read_record(bytes);
    ASSERT_TRUE(again);
    EXPECT_EQ(to_bytes(*again), bytes);
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(read_record(bytes.substr(0, length))) << length;
    }
    EXPECT_FALSE(read_record(bytes + "x"));
  }
  EXPECT_EQ(read_record(to_bytes(accepted))->priority, -4);
  EXPECT_EQ(read_record(to_bytes(ended))->outcome.message, "why");
}

Record named(const std::string& id, int64_t number) {
  return {.kind = Record::Kind::accepted,
          .job = number,
          .id = id,
          .content = std::make_shared<const std::string>("content of " + id)};
}

// The ids in a journal.
std::vector<std::string> ids_in(const std::string& folder) {
  std::vector<std::string> ids;
  const auto journal = Journal::open(folder,
                                     [&](const Record& record) -> Result<void> {
                                       ids.push_back(record.id);
                                       return {};
                                     },
                                     {});
  EXPECT_TRUE(journal) << journal.error().message;
  return ids;
}

Result<void> ignore(const Record&) {
  return {};
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Journal, KeepsWhatWasAppendedAndSaysWhenItIsThere) {
  const TestFolder folder;
  std::atomic<int64_t> on_disk{0};
  {
    auto journal = Journal::open(folder.path() + "/deep/er", ignore,
                                 [&](int64_t count, const Result<void>& good) {
                                   EXPECT_TRUE(good);
                                   on_disk = count;
                                 });
    ASSERT_TRUE(journal);
    for (int i = 1; i <= 100; ++i) (*journal)->append(named("r" + std::to_string(i), i));
    EXPECT_EQ(on_disk, 0);
    (*journal)->begin();
  }
  EXPECT_EQ(on_disk, 100);
  const auto ids = ids_in(folder.path() + "/deep/er");
  ASSERT_EQ(ids.size(), 100U);
  EXPECT_EQ(ids[99], "r100");
}

TEST(Journal, WritesTogetherWhatComesTogether) {
  const TestFolder folder;
  auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
  ASSERT_TRUE(journal);
  for (int i = 1; i <= 500; ++i) (*journal)->append(named("r", i));
  (*journal)->begin();
  while ((*journal)->figures().records_total < 500) std::this_thread::yield();
  EXPECT_EQ((*journal)->figures().syncs_total, 1);
}

TEST(Journal, GoesOnBehindARecordThatWasCutOff) {
  const TestFolder folder;
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    (*journal)->append(named("a", 1));
    (*journal)->append(named("b", 2));
    (*journal)->begin();
  }
  const std::string whole = bytes_of(folder.path() + "/journal");
  std::filesystem::resize_file(folder.path() + "/journal", whole.size() - 3);
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    EXPECT_GT((*journal)->cut_bytes(), 0);
    (*journal)->append(named("c", 2));
    (*journal)->begin();
  }
  EXPECT_EQ(ids_in(folder.path()), (std::vector<std::string>{"a", "c"}));
}

TEST(Journal, IsReplacedInOneStepAndGoesOnBehindThat) {
  const TestFolder folder;
  int64_t on_disk = 0;
  {
    auto journal = Journal::open(folder.path(), ignore,
                                 [&](int64_t count, const Result<void>&) { on_disk = count; });
    (*journal)->append(named("a", 1));
    (*journal)->append(named("b", 2));
    (*journal)->replace({named("b", 2)});
    (*journal)->append(named("c", 3));
    (*journal)->begin();
  }
  EXPECT_EQ(on_disk, 3);  // of those appended
  EXPECT_EQ(ids_in(folder.path()), (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/journal.new"));
}

TEST(Journal, LeftOverFromAReplacementThatWasCutShortDoesNoHarm) {
  const TestFolder folder;
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    (*journal)->append(named("a", 1));
    (*journal)->begin();
  }
  std::ofstream(folder.path() + "/journal.new") << "half a jour";
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    (*journal)->replace({named("z", 1)});
    (*journal)->begin();
  }
  EXPECT_EQ(ids_in(folder.path()), std::vector<std::string>{"z"});
}

TEST(Journal, BelongsToOneServer) {
  const TestFolder folder;
  const auto first = Journal::open(folder.path(), ignore, {});
  ASSERT_TRUE(first);
  const auto second = Journal::open(folder.path(), ignore, {});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another run is at work in this folder"),
            std::string::npos);
}

TEST(Journal, SaysThatTheDiskIsFullAndKeepsWhatItPromised) {
  const TestFolder folder;
  std::optional<Error> error;
  int64_t promised = 0;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    std::latch failed(1);
    auto journal =
        Journal::open(folder.path(), ignore, [&](int64_t count, const Result<void>& good) {
          promised = count;
          if (!good && !error) {
            error = good.error();
            failed.count_down();
          }
        });
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    (*journal)->begin();
    for (int i = 1; i <= 1000; ++i) (*journal)->append(named("r" + std::to_string(i), i));
    failed.wait();
    ::setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("writing failed: File too large"), std::string::npos)
      << error->message;
  EXPECT_GE(static_cast<int64_t>(ids_in(folder.path()).size()), promised);
}

TEST(Journal, WithARecordThatContradictsOthersIsRefusedByItsNumber) {
  const TestFolder folder;
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    (*journal)->append(named("a", 1));
    (*journal)->append(named("b", 2));
    (*journal)->begin();
  }
  const auto opened = Journal::open(folder.path(),
                                    [](const Record& record) -> Result<void> {
                                      if (record.id == "b") return invalid_input("no");
                                      return {};
                                    },
                                    {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, folder.path() + "/journal: record 2: no");
}

}  // namespace
}  // namespace tutti
