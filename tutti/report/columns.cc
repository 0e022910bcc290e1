#include "tutti/report/columns.h"

#include <algorithm>

namespace tutti {

void Column::add(uint64_t number) {
  for (; number >= 128; number >>= 7) bytes_ += static_cast<char>((number & 127) | 128);
  bytes_ += static_cast<char>(number);
}

void Column::add_signed(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  add(number < 0 ? ~(bits << 1) : bits << 1);
}

void Column::add_name(std::string_view name) {
  const auto differs =
      std::mismatch(name.begin(), name.end(), last_name_.begin(), last_name_.end());
  const auto kept = static_cast<size_t>(differs.first - name.begin());
  add(kept);
  add(name.size() - kept);
  bytes_ += name.substr(kept);
  last_name_ = name;
}

std::string Column::base64() const {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes_.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes_.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes_[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string Column::base64_unless_zero() const {
  return bytes_.find_first_not_of('\0') == std::string::npos ? "" : base64();
}

}  // namespace tutti
