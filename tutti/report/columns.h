// A Column is a long list of whole numbers or names, packed for the page: seven bits to a byte, the
// lowest first, a set eighth bit if more follow; signed numbers alternate (0, -1, 1, -2, ...). As
// text it is base 64, so that no name in it can end the script it stands in. web/src/data.js reads
// it.

#ifndef TUTTI_REPORT_COLUMNS_H_
#define TUTTI_REPORT_COLUMNS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

class Column {
 public:
  void add(uint64_t number);
  void add_signed(int64_t number);
  // Stores the name without the prefix that it shares with the one before.
  void add_name(std::string_view name);

  std::string base64() const;
  // As base64(), but empty if only zeros were added.
  std::string base64_unless_zero() const;

 private:
  std::string bytes_;
  std::string last_name_;
};

}  // namespace tutti

#endif  // TUTTI_REPORT_COLUMNS_H_
