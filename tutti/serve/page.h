// The page that `tutti serve` shows to a browser (page.html): one HTML text without any parts from
// elsewhere. It asks /v1/overview every two seconds, and for a token if the server wants one. Texts
// of jobs and graphs come from clients: its script inserts them as text, never as HTML.

#ifndef TUTTI_SERVE_PAGE_H_
#define TUTTI_SERVE_PAGE_H_

#include <string_view>

namespace tutti {

std::string_view serve_page();

}  // namespace tutti

#endif  // TUTTI_SERVE_PAGE_H_
