// Real graphs for tests live beside the checkout in ../shared/data (or in $TUTTI_DATA) and are not
// part of the repository. Tests that use them skip with a clear message where they are absent.

#ifndef TUTTI_TEST_SUPPORT_SHARED_DATA_H_
#define TUTTI_TEST_SUPPORT_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tutti {

// The path of a file or folder there, whether or not it exists.
inline std::string shared_data(const std::string& relative) {
  const char* chosen = std::getenv("TUTTI_DATA");
  const std::string root = chosen != nullptr ? chosen : TUTTI_SOURCE_DIR "/../shared/data";
  return root + "/" + relative;
}

}  // namespace tutti

// The first line of a test that needs such a file.
#define TUTTI_NEEDS_SHARED_DATA(relative)                       \
  if (!std::filesystem::exists(::tutti::shared_data(relative))) \
  GTEST_SKIP() << "needs " << (relative) << " in ../shared/data or $TUTTI_DATA; not there"

#endif  // TUTTI_TEST_SUPPORT_SHARED_DATA_H_
