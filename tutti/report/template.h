// The page before data is put into it. web/ holds its sources; the build bundles them and makes
// this function from them, or an empty one where node or the packages of web/ are missing.

#ifndef TUTTI_REPORT_TEMPLATE_H_
#define TUTTI_REPORT_TEMPLATE_H_

#include <span>
#include <string_view>

namespace tutti {

// The text in pieces, because compilers limit how long a literal may be. Both empty: none was
// built in.
struct PageTemplate {
  std::span<const std::string_view> before_data;
  std::span<const std::string_view> after_data;
};

PageTemplate page_template();

}  // namespace tutti

#endif  // TUTTI_REPORT_TEMPLATE_H_
