#include "tutti/serve/http/https.h"

#include <fmt/format.h>

#ifdef TUTTI_HAVE_CURL
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#endif

namespace tutti {

#ifndef TUTTI_HAVE_CURL

Result<std::unique_ptr<HttpsLink>> open_https(const std::string& server,
                                              const std::string& /*ca*/) {
  return invalid_input(fmt::format(
      "{}: this tutti was built without libcurl, which https needs; install libcurl4-openssl-dev "
      "and build it again, or go through 'ssh -L'",
      server));
}

#else

namespace {

constexpr size_t kMostHttpsReply = size_t{256} << 20;

// What of libcurl is used, found in the library when it is opened.
struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

template <class Function>
bool find_in(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Null if there is no such library.
const Curl* opened_curl() {
  static const Curl* const curl = []() -> const Curl* {
    void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    static Curl found;
    const bool all = find_in(library, "curl_global_init", found.global_init) &&
                     find_in(library, "curl_easy_init", found.easy_init) &&
                     find_in(library, "curl_easy_setopt", found.easy_setopt) &&
                     find_in(library, "curl_easy_perform", found.easy_perform) &&
                     find_in(library, "curl_easy_getinfo", found.easy_getinfo) &&
                     find_in(library, "curl_easy_reset", found.easy_reset) &&
                     find_in(library, "curl_easy_cleanup", found.easy_cleanup) &&
                     find_in(library, "curl_easy_strerror", found.easy_strerror) &&
                     find_in(library, "curl_slist_append", found.slist_append) &&
                     find_in(library, "curl_slist_free_all", found.slist_free_all);
    if (!all || found.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return nullptr;
    return &found;
  }();
  return curl;
}

size_t take_body(char* bytes, size_t one, size_t count, void* to) {
  auto& reply = *static_cast<HttpReply*>(to);
  if (reply.body.size() + one * count > kMostHttpsReply) return 0;
  reply.body.append(bytes, one * count);
  return one * count;
}

// The tool curl heeds these; the library leaves them to its user.
std::string ca_of_environment() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const path = std::getenv(name);
    if (path != nullptr && *path != '\0') return path;
  }
  return "";
}

class CurlLink : public HttpsLink {
 public:
  CurlLink(const Curl& curl, std::string server, std::string ca)
      : curl_(curl), easy_(curl.easy_init()), server_(std::move(server)), ca_(std::move(ca)) {}
  ~CurlLink() override { curl_.easy_cleanup(easy_); }
  CurlLink(const CurlLink&) = delete;
  CurlLink& operator=(const CurlLink&) = delete;

  Result<HttpReply> ask(const std::string& method, const std::string& target, const Pairs& headers,
                        const std::string& body, std::chrono::milliseconds patience) override {
    curl_.easy_reset(easy_);  // the connection stays
    HttpReply reply;
    curl_slist* lines = nullptr;
    for (const auto& [name, value] : headers) {
      lines = curl_.slist_append(lines, (name + ": " + value).c_str());
    }
    set(CURLOPT_URL, (server_ + target).c_str());
    set(CURLOPT_PROTOCOLS_STR, "https");
    set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(patience.count()));
    set(CURLOPT_HTTPHEADER, lines);
    if (!ca_.empty()) set(CURLOPT_CAINFO, ca_.c_str());
    if (method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else if (method == "POST") {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
      set(CURLOPT_POSTFIELDS, body.data());
    } else {
      set(CURLOPT_CUSTOMREQUEST, method.c_str());
    }
    set(CURLOPT_WRITEFUNCTION, &take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&reply));
    char why[CURL_ERROR_SIZE] = "";
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(why));
    const CURLcode code = curl_.easy_perform(easy_);
    curl_.slist_free_all(lines);
    if (code != CURLE_OK) return sentence_for(code, why);
    long status = 0;
    curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    return reply;
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_.easy_setopt(easy_, option, value);
  }

  Error sentence_for(CURLcode code, const char* why) const {
    const std::string reason = one_line(*why != '\0' ? why : curl_.easy_strerror(code));
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
      return failed(
          fmt::format("{}: its certificate is not trusted: {}; name the file of its certificate "
                      "authority by --ca",
                      server_, reason));
    }
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST) {
      return failed(fmt::format(
          "no tutti serve answers at {}: {}; start one, with a proxy in front that speaks TLS, or "
          "name another by --server",
          server_, reason));
    }
    return failed(fmt::format("{}: {}; ask again", server_, reason));
  }

  const Curl& curl_;
  CURL* easy_;
  std::string server_;
  std::string ca_;
};

}  // namespace

Result<std::unique_ptr<HttpsLink>> open_https(const std::string& server, const std::string& ca) {
  const Curl* const curl = opened_curl();
  if (curl == nullptr) {
    return invalid_input(fmt::format(
        "{}: https needs libcurl, which is not here; install libcurl4, or go through 'ssh -L'",
        server));
  }
  const std::string file = ca.empty() ? ca_of_environment() : ca;
  if (!ca.empty() && ::access(ca.c_str(), R_OK) != 0) {
    return invalid_input(fmt::format("{}: there is no such file that can be read", ca));
  }
  return std::unique_ptr<HttpsLink>(std::make_unique<CurlLink>(*curl, server, file));
}

#endif

}  // namespace tutti
