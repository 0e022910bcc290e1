#include "tutti/serve/page.h"

// The assembler puts page.html in as it is.
asm(".section .rodata\n"
    ".global tutti_serve_page_begin\n"
    "tutti_serve_page_begin:\n"
    ".incbin \"" TUTTI_SERVE_PAGE
    "\"\n"
    ".global tutti_serve_page_end\n"
    "tutti_serve_page_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char tutti_serve_page_begin[];
extern "C" const char tutti_serve_page_end[];

namespace tutti {

std::string_view serve_page() {
  return {tutti_serve_page_begin,
          static_cast<size_t>(tutti_serve_page_end - tutti_serve_page_begin)};
}

}  // namespace tutti
