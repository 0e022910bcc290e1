#include "tutti/report/training_log.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/base/file/document.h"
#include "tutti/report/page.h"

namespace tutti::fuzz {

bool fuzz_training_log(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  Result<TrainingLog> log = read_training_log(source);
  if (!log) {
    expect_refusal(log.error());
    return false;
  }
  TUTTI_CHECK(!log->updates.empty() && !log->stages.empty());
  Source page = Source::from_text("page", page_data({.training = {std::move(*log)}}));
  TUTTI_CHECK(read_json(page).has_value());
  return true;
}

}  // namespace tutti::fuzz
