#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/runtime/command/journal.h"

namespace tutti::fuzz {

bool fuzz_command_journal(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<JournalText> text = read_journal(source);
  if (!text) {
    expect_refusal(text.error());
    return false;
  }
  // What counts is whole lines, and is read the same without the rest.
  const auto whole = static_cast<size_t>(text->whole_bytes);
  TUTTI_CHECK(whole <= size && whole > 0 && data[whole - 1] == '\n');
  Source again = source_of(data, whole);
  const Result<JournalText> cut = read_journal(again);
  TUTTI_CHECK(cut.has_value());
  TUTTI_CHECK(cut->head == text->head && cut->entries.size() == text->entries.size());
  TUTTI_CHECK(cut->whole_bytes == text->whole_bytes);
  return true;
}

}  // namespace tutti::fuzz
