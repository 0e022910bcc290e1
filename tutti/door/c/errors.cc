#include <algorithm>
#include <cstring>

#include "tutti/door/c/handles.h"

namespace tutti::door {
namespace {

int code_of(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::invalid_input:
      return TUTTI_INVALID_INPUT;
    case Error::Kind::infeasible:
      return TUTTI_INFEASIBLE;
    case Error::Kind::out_of_time:
    case Error::Kind::failed:
      break;
  }
  return TUTTI_FAILED;
}

}  // namespace

int clear(tutti_error* error) {
  if (error == nullptr) return TUTTI_OK;
  error->code = TUTTI_OK;
  error->message[0] = 0;
  return TUTTI_OK;
}

int tell(tutti_error* error, const Error& what) {
  const int code = code_of(what.kind);
  if (error == nullptr) return code;
  error->code = code;
  size_t size = std::min(what.message.size(), sizeof(error->message) - 1);
  // Not within a character of several bytes.
  while (size < what.message.size() && size > 0 &&
         (static_cast<unsigned char>(what.message[size]) & 0xC0) == 0x80) {
    --size;
  }
  std::memcpy(error->message, what.message.data(), size);
  error->message[size] = 0;
  return code;
}

}  // namespace tutti::door

int tutti_c_version(void) {
  return TUTTI_C_VERSION;
}

const char* tutti_version(void) {
  return TUTTI_VERSION;
}
