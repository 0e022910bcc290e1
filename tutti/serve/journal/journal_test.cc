#include "tutti/serve/journal/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <latch>

#include "tutti/base/fingerprint.h"
#include "tutti/serve/journal/frames.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

const std::string kId = "00112233445566778899aabbccddeeff";

// Written one by one, each is on the disk before the next; as one batch, none is. `promised` is
// what the marks say.
std::string journal_of(const std::vector<std::string>& payloads, int64_t promised,
                       bool one_by_one = false) {
  std::string frames;
  int64_t sequence = 0;
  for (const std::string& payload : payloads) {
    ++sequence;
    add_frame(frames, kId, sequence, one_by_one ? sequence - 1 : 0, payload);
  }
  return journal_header(kId, {promised, static_cast<int64_t>(kJournalHeader + frames.size())}) +
         frames;
}

std::string journal_1_of(const std::vector<std::string>& payloads) {
  std::string bytes(kJournalStart1);
  int64_t sequence = 0;
  for (const std::string& payload : payloads) {
    ++sequence;
    add_frame_1(bytes, sequence, sequence - 1, payload);
  }
  return bytes;
}

std::vector<std::string> texts(const Surveyed& surveyed) {
  std::vector<std::string> found;
  for (const Surveyed::Frame& frame : surveyed.frames) found.emplace_back(frame.payload);
  return found;
}

bool is_whole(const Surveyed& surveyed) {
  return check_whole(surveyed, "j", "f").has_value();
}

TEST(Frames, AreReadAsTheyWereWritten) {
  const std::vector<std::string> payloads = {"one", "", std::string(1000, '\0'), "four"};
  for (const std::string& bytes : {journal_of(payloads, 4), journal_1_of(payloads)}) {
    const Surveyed surveyed = survey(bytes);
    EXPECT_TRUE(is_whole(surveyed));
    EXPECT_EQ(texts(surveyed), payloads);
    EXPECT_EQ(surveyed.good_bytes, bytes.size());
  }
  EXPECT_EQ(survey(journal_of(payloads, 4)).id, kId);
}

// Row 4 of the audit: a journal cut where a record ends looked like one that was never longer.
TEST(Frames, CutAnywhereBeforeTheMarkAreRefusedAndBehindItAreTheWholeOnes) {
  const std::vector<std::string> payloads = {"first", "second", "third", "fourth"};
  const std::string bytes = journal_of(payloads, 2);
  const size_t promised = journal_of({"first", "second"}, 2).size();
  size_t whole = 2;
  for (size_t length = 0; length <= bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);  // payloads are parts of it
    const Surveyed surveyed = survey(cut);
    ASSERT_EQ(is_whole(surveyed), length >= promised) << length;
    if (length < promised) continue;
    EXPECT_GE(surveyed.frames.size(), whole) << length;
    whole = surveyed.frames.size();
    for (size_t i = 0; i < whole; ++i) EXPECT_EQ(surveyed.frames[i].payload, payloads[i]);
    EXPECT_LE(surveyed.good_bytes, length);
  }
  EXPECT_EQ(whole, payloads.size());
}

// Row 4 again: a flipped bit in the last batch was taken for a record that nobody was promised.
TEST(Frames, ThatWerePromisedAndAreDamagedAreRefusedWithThePlaceAndTheRemedy) {
  const std::vector<std::string> payloads = {"first", "second", "third"};
  for (const bool one_by_one : {false, true}) {
    const std::string bytes = journal_of(payloads, 3, one_by_one);
    for (size_t place = kJournalHeader; place < bytes.size(); ++place) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
      const Surveyed surveyed = survey(damaged);
      const Result<void> whole = check_whole(surveyed, "j", "f");
      ASSERT_FALSE(whole) << place;
      EXPECT_EQ(whole.error().kind, Error::Kind::invalid_input);
      EXPECT_TRUE(whole.error().message.starts_with("j: damaged at byte "))
          << whole.error().message;
      EXPECT_NE(whole.error().message.find("tutti journal repair f"), std::string::npos);
      EXPECT_EQ(surveyed.frames.size(), 2U) << "the others are still there: " << place;
    }
  }
}

TEST(Frames, OfADamagedHeaderAreFoundByTheMarksOrByThemselves) {
  const std::vector<std::string> payloads = {"first", "second"};
  for (const size_t length : {size_t{60}, size_t{1100}, size_t{2100}, kJournalHeader}) {
    std::string damaged = journal_of(payloads, 2);
    std::fill_n(damaged.begin(), length, '\0');
    const Surveyed surveyed = survey(damaged);
    EXPECT_FALSE(is_whole(surveyed)) << length;
    EXPECT_EQ(surveyed.id, kId) << length;
    EXPECT_EQ(texts(surveyed), payloads) << length;
  }
}

TEST(Frames, GoOnWithOneMarkAsPowerMayHaveCutTheOther) {
  const std::string bytes = journal_of({"first", "second"}, 2);
  for (const int which : {0, 1}) {
    std::string torn = bytes;
    torn[mark_place(which) + 50] ^= 1;
    const Surveyed surveyed = survey(torn);
    EXPECT_TRUE(is_whole(surveyed));
    EXPECT_EQ(surveyed.promised, 2);
    EXPECT_EQ(surveyed.older_mark, which);
  }
}

TEST(Frames, OfABatchThatNeverCameToTheDiskWholeAreCutOff) {
  // Power fails while three are written: the second is missing, the third is there.
  std::string bytes = journal_of({"first", "second", "third"}, 1);
  const size_t second = journal_of({"first"}, 1).size();
  for (size_t place = second; place < second + 46; ++place) bytes[place] = 0;
  const Surveyed surveyed = survey(bytes);
  EXPECT_TRUE(is_whole(surveyed));
  EXPECT_EQ(texts(surveyed), std::vector<std::string>{"first"});
  EXPECT_EQ(surveyed.good_bytes, second);
}

TEST(Frames, OfAnotherJournalDoNotCount) {
  std::string bytes = journal_of({"first"}, 1);
  add_frame(bytes, "ffffffffffffffffffffffffffffffff", 2, 1, "foreign");
  EXPECT_EQ(texts(survey(bytes)), std::vector<std::string>{"first"});
}

TEST(Frames, OfAnotherKindOfFileOrALaterVersionAreRefused) {
  for (const std::string& text : {std::string("something else"), std::string(), std::string("x"),
                                  std::string("tutti-journal 2\nxxxxxxxxxxxxxxxxxxxxxx")}) {
    EXPECT_FALSE(is_whole(survey(text))) << text;
  }
}

TEST(Frames, WithOneBitTurnedOverAreMadeWholeAgain) {
  const std::string bytes = journal_of({"first", "second", "third"}, 3);
  const size_t second = journal_of({"first"}, 1).size();
  const size_t third = journal_of({"first", "second"}, 2).size();
  for (size_t place = second; place < third; ++place) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 8);
    const Surveyed surveyed = survey(damaged);
    ASSERT_EQ(surveyed.damages.size(), 1U) << place;
    const auto payload = with_a_bit_turned(damaged, surveyed, surveyed.damages[0]);
    ASSERT_TRUE(payload) << place;
    EXPECT_EQ(*payload, "second");
    damaged[second] = static_cast<char>(damaged[second] ^ 0x30);  // more than one
    EXPECT_FALSE(with_a_bit_turned(damaged, survey(damaged), surveyed.damages[0]));
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
                        .content = std::make_shared<const std::string>("{\n}"),
                        .client = "alice"};
  const Record ended{
      .kind = Record::Kind::ended, .job = 9, .outcome = {JobState::failed, Duration(4), "why"}};
  for (const Record& record : {accepted, ended}) {
    const std::string bytes = to_bytes(record);
    const Result<Record> again = read_record(bytes, kJournalVersion);
    ASSERT_TRUE(again);
    EXPECT_EQ(to_bytes(*again), bytes);
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(read_record(bytes.substr(0, length), kJournalVersion)) << length;
    }
    EXPECT_FALSE(read_record(bytes + "x", kJournalVersion));
  }
  EXPECT_EQ(read_record(to_bytes(accepted), kJournalVersion)->priority, -4);
  EXPECT_EQ(read_record(to_bytes(ended), kJournalVersion)->outcome.message, "why");
}

// Row 15 of the audit: a clock before 1970 made a journal that could not be read.
TEST(Record, OfAClockBefore1970IsRead) {
  for (const Record::Kind kind : {Record::Kind::accepted, Record::Kind::started}) {
    const Record early{
        .kind = kind, .job = 1, .time_ms = -5, .id = "a", .started_ms = -7, .client = "c"};
    const Result<Record> again = read_record(to_bytes(early), kJournalVersion);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->time_ms, -5);
  }
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
    (*journal)->begin();
  }
  std::ofstream(folder.path() + "/journal", std::ios::app) << "half a record";
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    ASSERT_EQ((*journal)->notices().size(), 1U);
    EXPECT_NE((*journal)->notices()[0].find("cut off 13 bytes"), std::string::npos);
    (*journal)->append(named("c", 2));
    (*journal)->begin();
  }
  EXPECT_EQ(ids_in(folder.path()), (std::vector<std::string>{"a", "c"}));
}

// Whoever was told that a record is on the disk finds it, or is told that it is gone.
TEST(Journal, ThatLostWhatItPromisedIsRefused) {
  const TestFolder folder;
  size_t one = 0;
  for (const int64_t number : {1, 2}) {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    (*journal)->append(named("a", number));
    (*journal)->begin();
    (*journal)->finish();
    if (number == 1) one = bytes_of(folder.path() + "/journal").size();
  }
  const std::string whole = bytes_of(folder.path() + "/journal");
  for (const size_t length : {size_t{0}, size_t{100}, kJournalHeader, one, whole.size() - 1}) {
    std::filesystem::resize_file(folder.path() + "/journal", length);
    const auto journal = Journal::open(folder.path(), ignore, {});
    ASSERT_FALSE(journal) << length;
    EXPECT_NE(journal.error().message.find("tutti journal repair " + folder.path()),
              std::string::npos)
        << journal.error().message;
    std::ofstream(folder.path() + "/journal", std::ios::binary) << whole;
  }
  EXPECT_EQ(ids_in(folder.path()).size(), 2U);
}

// cp reads a file from its start: marks that it copied never speak of frames behind the copy's end.
TEST(Journal, CopiedWhileItIsWrittenIsGood) {
  const TestFolder folder;
  const TestFolder copies;
  auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
  (*journal)->begin();
  for (int i = 1; i <= 50; ++i) {
    (*journal)->append(named("r", i));
    // As cp does, to the end that the file has by then. A copy of the length that it had before
    // lacks what was appended meanwhile, and looks like a journal that was cut.
    const std::string copy = bytes_of(folder.path() + "/journal");
    std::ofstream(copies.path() + "/journal", std::ios::binary) << copy;
    ids_in(copies.path());  // fails the test if it is refused
  }
}

TEST(Journal, HasAnIdThatStaysWithItAndIsNobodyElses) {
  const TestFolder folder;
  const TestFolder other;
  const auto id_of = [](const std::string& path) {
    auto journal = Journal::open(path, ignore, [](int64_t, const Result<void>&) {});
    (*journal)->replace({named("a", 1)});
    (*journal)->begin();
    return (*journal)->journal_id();
  };
  const std::string id = id_of(folder.path());
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(id_of(folder.path()), id);
  EXPECT_NE(id_of(other.path()), id);
}

TEST(Journal, OfVersion1IsReadWrittenAnewAndKept) {
  const TestFolder folder;
  Record old = named("a", 1);
  std::string payload = to_bytes(old);
  payload.resize(payload.size() - 32);  // version 1 has no client, deadline, work and commands
  std::ofstream(folder.path() + "/journal", std::ios::binary) << journal_1_of({payload});
  std::string id;
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_NE((*journal)->notices().at(0).find("journal.0.1"), std::string::npos);
    (*journal)->append(named("b", 2));
    (*journal)->begin();
    id = (*journal)->journal_id();
  }
  EXPECT_EQ(bytes_of(folder.path() + "/journal.0.1"), journal_1_of({payload}));
  EXPECT_EQ(survey(bytes_of(folder.path() + "/journal")).id, id);
  EXPECT_EQ(ids_in(folder.path()), (std::vector<std::string>{"a", "b"}));
}

TEST(Journal, OfVersion2IsReadWrittenAnewAndKeptWithItsId) {
  const TestFolder folder;
  std::string payload = to_bytes(named("a", 1));
  payload.resize(payload.size() - 24);  // version 2 has no deadline, work and commands
  std::string bytes = journal_of({payload}, 1);
  bytes[14] = '2';
  Fingerprint checksum;
  checksum.add(std::string_view(bytes).substr(0, 48));
  bytes.replace(49, 16, fingerprint_text(checksum.value()));
  std::ofstream(folder.path() + "/journal", std::ios::binary) << bytes;
  {
    auto journal = Journal::open(folder.path(), ignore, [](int64_t, const Result<void>&) {});
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_NE((*journal)->notices().at(0).find("journal.2"), std::string::npos);
    EXPECT_EQ((*journal)->journal_id(), kId);
    (*journal)->append(named("b", 2));
    (*journal)->begin();
  }
  EXPECT_EQ(bytes_of(folder.path() + "/journal.2"), bytes);
  EXPECT_EQ(ids_in(folder.path()), (std::vector<std::string>{"a", "b"}));
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
    const rlimit small{8192, before.rlim_max};
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
