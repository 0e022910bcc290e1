#include "tutti/report/comparison.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/base/file/document.h"
#include "tutti/report/page.h"

namespace tutti::fuzz {

bool fuzz_comparison(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  Result<Comparison> comparison = read_comparison(source);
  if (!comparison) {
    expect_refusal(comparison.error());
    return false;
  }
  Source page = Source::from_text("page", page_data({.comparisons = {std::move(*comparison)}}));
  TUTTI_CHECK(read_json(page).has_value());
  return true;
}

}  // namespace tutti::fuzz
