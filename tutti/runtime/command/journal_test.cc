#include "tutti/runtime/command/journal.h"

#include <gtest/gtest.h>

#include "tutti/runtime/command/testing.h"

namespace tutti {
namespace {

const JournalHead kHead{.graph = 0x1234, .commands = 7, .machine = 0xfedcba9876543210, .plan = 3};

class Journal : public ::testing::Test {
 protected:
  Journal() : path_(folder_.path("journal.jsonl")) {}

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  Result<JournalText> read() const {
    Result<Source> source = Source::open(path_);
    if (!source) return source.error();
    return read_journal(*source);
  }

  // Two ops, the second of which has no end.
  std::string sample() const {
    {
      CommandJournal journal = must(CommandJournal::begin(path_, kHead));
      EXPECT_TRUE(journal.add({.op = "a \"quoted\" op", .attempt = 1}));
      EXPECT_TRUE(journal.add({.op = "a \"quoted\" op",
                               .attempt = 1,
                               .ended = true,
                               .good = true,
                               .how = "ended with exit code 0",
                               .run_time = Duration(5),
                               .cpu_time = Duration(4),
                               .peak_memory_bytes = 3}));
      EXPECT_TRUE(journal.add({.op = "b", .attempt = 2}));
    }
    return testing::text_of(path_);
  }

  testing::Folder folder_;
  std::string path_;
};

TEST_F(Journal, IsReadAsItWasWritten) {
  sample();
  const Result<JournalText> text = read();
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->head, kHead);
  ASSERT_EQ(text->entries.size(), 3u);
  EXPECT_FALSE(text->entries[0].ended);
  EXPECT_EQ(text->entries[1].op, "a \"quoted\" op");
  EXPECT_TRUE(text->entries[1].ended && text->entries[1].good);
  EXPECT_EQ(text->entries[1].run_time, Duration(5));
  EXPECT_EQ(text->entries[1].cpu_time, Duration(4));
  EXPECT_EQ(text->entries[1].peak_memory_bytes, 3);
  EXPECT_EQ(text->entries[2].attempt, 2);
}

TEST_F(Journal, CountsUpToTheLastWholeLineWhereverItIsTorn) {
  const std::string whole = sample();
  for (size_t length = whole.find('\n') + 1; length <= whole.size(); ++length) {
    write(whole.substr(0, length));
    const Result<JournalText> text = read();
    ASSERT_TRUE(text) << length << ": " << text.error().message;
    const auto lines =
        std::count(whole.begin(), whole.begin() + static_cast<ssize_t>(length), '\n');
    EXPECT_EQ(text->entries.size(), static_cast<size_t>(lines - 1)) << length;
  }
}

TEST_F(Journal, CutsWhatIsTornBeforeItGoesOn) {
  const std::string whole = sample();
  write(whole + "{\"event\":\"end\",\"op\":\"b");
  {
    const JournalText text = must(read());
    CommandJournal journal = must(CommandJournal::go_on(path_, text));
    ASSERT_TRUE(journal.add({.op = "b", .attempt = 3}));
  }
  EXPECT_EQ(testing::text_of(path_), whole + "{\"event\":\"start\",\"op\":\"b\",\"attempt\":3}\n");
}

TEST_F(Journal, RefusesWhatIsNoJournal) {
  const std::string head = sample().substr(0, sample().find('\n') + 1);
  const struct {
    std::string text;
    const char* expected;
  } cases[] = {
      {"", "holds no whole line of a journal"},
      {head.substr(0, 20), "holds no whole line of a journal"},
      {head + "nonsense\n{}\n", "journal.jsonl:2: "},
      {head + "{\"event\":\"other\",\"op\":\"a\",\"attempt\":1}\n", "journal.jsonl:2: "},
      {head + "{\"event\":\"start\",\"op\":\"a\",\"attempt\":0}\n", "journal.jsonl:2: "},
      {head + "{\"event\":\"start\",\"attempt\":1}\n", "needs the key \"op\""},
      {"{\"format\":\"tutti-graph\"}\n", "format must be \"tutti-journal\""},
      {"[]\n", "journal.jsonl:1: "},
  };
  for (const auto& [text, expected] : cases) {
    write(text);
    const Result<JournalText> read_back = read();
    ASSERT_FALSE(read_back) << text;
    EXPECT_EQ(read_back.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(read_back.error().message.find(expected), std::string::npos)
        << read_back.error().message;
  }
}

}  // namespace
}  // namespace tutti
