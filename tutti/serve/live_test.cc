#include "tutti/serve/live.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tutti/serve/served_testing.h"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kFast{5};

// Samples that count themselves.
struct Counted {
  explicit Counted(size_t kept = 600)
      : live([this] { return LiveSample{.unix_ms = ++taken}; }, [] { return "{\n \"a\":1\n}"; },
             {.period = kFast, .kept = kept}) {}
  void wait_for(int64_t samples) const {
    while (taken < samples) std::this_thread::sleep_for(kFast);
  }
  std::atomic<int64_t> taken{0};
  Live live;
};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Live, KeepsTheLastSamplesAndGivesThoseAfterATime) {
  const Counted counted(10);
  counted.wait_for(30);
  const std::string all = counted.live.series(0);
  EXPECT_EQ(count_of(all, "unix_ms"), 10U) << all;
  EXPECT_EQ(all.find("\"unix_ms\":1,"), std::string::npos) << all;
  EXPECT_EQ(count_of(counted.live.series(int64_t{1} << 60), "unix_ms"), 0U);
}

TEST(Live, AStreamBeginsWithAllSamplesAndGoesOnWithEachNewOne) {
  const Counted counted;
  counted.wait_for(3);
  const auto stream = counted.live.stream();
  const std::string first = stream->next(std::chrono::seconds(5)).value_or("none");
  EXPECT_EQ(first.rfind("event: series\ndata: {", 0), 0U) << first;
  // Each line of the data is one of the event.
  EXPECT_NE(first.find("event: overview\ndata: {\ndata:  \"a\":1\ndata: }\n\n"), std::string::npos);
  const std::string second = stream->next(std::chrono::seconds(5)).value_or("none");
  EXPECT_EQ(second.rfind("event: sample\ndata: {\"unix_ms\":", 0), 0U) << second;
}

TEST(Live, EndsItsStreamsWhichMayOutliveIt) {
  std::shared_ptr<HttpStream> stream;
  {
    const Counted counted;
    stream = counted.live.stream();
    EXPECT_TRUE(stream->next(std::chrono::seconds(5)));
  }
  EXPECT_FALSE(stream->next(std::chrono::seconds(5)));
}

// Streams words for as long as it is asked.
class Talks : public HttpHandler {
 public:
  class Words : public HttpStream {
   public:
    explicit Words(bool silent) : silent_(silent) {}
    std::optional<std::string> next(std::chrono::milliseconds patience) override {
      std::this_thread::sleep_for(std::min(patience, kFast));
      return silent_ ? "" : "word\n";
    }

   private:
    bool silent_;
  };
  Admission admit(const HttpHead& /*head*/) override { return {.trusted = true}; }
  HttpReply answer(const HttpRequest& request) override {
    if (request.head.path == "/plain") return {.body = "plain"};
    if (request.head.path == "/large") return {.body = std::string(size_t{64} << 20, 'x')};
    return {.stream = std::make_shared<Words>(request.head.path == "/silent")};
  }
};

struct Talking {
  explicit Talking(const HttpLimits& limits) {
    server = std::move(*HttpServer::open({"127.0.0.1", "0"}, limits, talks));
  }
  int ask(const std::string& path) const {
    const int socket = connected(server->port());
    const std::string get = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    ::send(socket, get.data(), get.size(), MSG_NOSIGNAL);
    return socket;
  }
  Talks talks;
  std::unique_ptr<HttpServer> server;
};

// Reads until the text has come, or the connection ends.
std::string read_until(int socket, const std::string& wanted) {
  std::string text;
  char bytes[4096];
  ssize_t count = 0;
  while (text.find(wanted) == std::string::npos &&
         (count = ::recv(socket, bytes, sizeof bytes, 0)) > 0) {
    text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

TEST(HttpStreams, HaveNoLengthAndLastUntilTheServerStops) {
  const Talking talking({});
  const int socket = talking.ask("/");
  const std::string begun = read_until(socket, "word\nword\nword\n");
  EXPECT_EQ(begun.find("Content-Length"), std::string::npos) << begun;
  EXPECT_NE(begun.find("Connection: close"), std::string::npos) << begun;
  talking.server->stop();
  read_to_end(socket);
}

TEST(HttpStreams, EndWhenTheClientGoes) {
  const Talking talking({});
  for (const char* path : {"/", "/silent"}) {
    const int socket = talking.ask(path);
    EXPECT_NE(read_until(socket, "\r\n\r\n").find("200 OK"), std::string::npos);
    ::close(socket);
    while (talking.server->connections() > 0) std::this_thread::sleep_for(kFast);
  }
}

TEST(HttpStreams, SayNowAndThenThatTheyAreThere) {
  const Talking talking({.silence = std::chrono::milliseconds(10)});
  const int socket = talking.ask("/silent");
  EXPECT_NE(read_until(socket, ":\n\n:\n\n").find(":\n\n:\n\n"), std::string::npos);
  ::close(socket);
}

TEST(HttpStreams, OneTooManyEndsTheOldest) {
  const Talking talking({.streams = 2});
  const int first = talking.ask("/");
  read_until(first, "word");
  const int second = talking.ask("/");
  read_until(second, "word");
  const int third = talking.ask("/");
  EXPECT_NE(read_until(third, "word").find("word"), std::string::npos);
  read_to_end(first);  // it ends
  EXPECT_NE(read_until(second, "word").find("word"), std::string::npos) << "the younger one stays";
  ::close(second);
  ::close(third);
}

TEST(HttpStreams, GiveTheirPlaceToARequestIfConnectionsRunShort) {
  const Talking talking({.connections = 2});
  const int first = talking.ask("/");
  const int second = talking.ask("/");
  read_until(first, "word");
  read_until(second, "word");
  EXPECT_NE(read_until(talking.ask("/plain"), "plain").find("200 OK"), std::string::npos);
  EXPECT_EQ(talking.server->made_room_total(), 1);
  ::close(first);
  ::close(second);
}

TEST(HttpServer, ASlowReaderDelaysItsEndByLittle) {
  const Talking talking({.reply = std::chrono::minutes(10)});
  const int socket = talking.ask("/large");
  EXPECT_NE(read_until(socket, "\r\n\r\n").find("200 OK"), std::string::npos);
  const auto began = std::chrono::steady_clock::now();
  talking.server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::minutes(5));
  ::close(socket);
}

constexpr const char* kWaitForJob =
    "GET /v1/jobs/a?wait=60 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n";

TEST(Serve, WaitsForNoJobWhoseClientHasGone) {
  const TestFolder folder;
  const Served served(folder.path(), {}, "secret");
  EXPECT_EQ(served.submit("?id=a"), 201);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    const int socket = connected(served.server->port());
    ::send(socket, kWaitForJob, strlen(kWaitForJob), MSG_NOSIGNAL);
    ::close(socket);
  }
  while (served.server->requests_total() < 4) std::this_thread::sleep_for(kFast);
  while (served.server->connections() > 1) std::this_thread::sleep_for(kFast);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(50));
}

TEST(Serve, AWaitForAJobGivesItsPlaceToARequest) {
  const TestFolder folder;
  const Served served(folder.path(), {}, "secret", {.connections = 2});
  EXPECT_EQ(
      HttpClient::make(served.address(), "secret")->ask("POST", "/v1/jobs?id=a", kGraph)->status,
      201);
  int sockets[2];
  for (int& socket : sockets) {
    socket = connected(served.server->port());
    ::send(socket, kWaitForJob, strlen(kWaitForJob), MSG_NOSIGNAL);
  }
  while (served.server->requests_total() < 3) std::this_thread::sleep_for(kFast);
  int status = 503;
  for (int i = 0; i < 5000 && status == 503; ++i) {
    std::this_thread::sleep_for(kFast);
    const auto reply = HttpClient::make(served.address(), "secret")->ask("GET", "/v1/jobs", "");
    status = reply ? reply->status : 503;
  }
  EXPECT_EQ(status, 200);
  for (const int socket : sockets) ::close(socket);
}

TEST(Serve, TellsPagesOfEveryChange) {
  const TestFolder folder;
  const Served served(folder.path());
  const int socket = connected(served.server->port());
  const std::string get = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ::send(socket, get.data(), get.size(), MSG_NOSIGNAL);
  const std::string begun = read_until(socket, "event: overview");
  EXPECT_NE(begun.find("Content-Type: text/event-stream"), std::string::npos) << begun;
  EXPECT_NE(begun.find("event: series"), std::string::npos) << begun;
  EXPECT_EQ(served.submit("?id=new"), 201);
  EXPECT_NE(read_until(socket, "\"id\":\"new\"").find("\"id\":\"new\""), std::string::npos);
  ::close(socket);
  EXPECT_NE(served.ask("GET", "/v1/series").body.find("\"device0\":[0.500,0.500,0.500]"),
            std::string::npos);
  EXPECT_EQ(served.ask("GET", "/v1/series?after=x").status, 400);
  EXPECT_EQ(served.ask("POST", "/v1/events").status, 405);
  served.runner->let(1);
  EXPECT_EQ(served.state("new"), "done");
}

TEST(Serve, StreamsNothingWithoutTheToken) {
  const TestFolder folder;
  const Served served(folder.path(), {}, "secret");
  for (const char* path : {"/v1/events", "/v1/series"}) {
    const std::string text = exchanged(
        served.server->port(), std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(text.find(" 401 "), std::string::npos) << text;
    EXPECT_EQ(text.find("event:"), std::string::npos);
  }
}

TEST(Serve, EndsAStreamWhoseTokenIsNoLongerGood) {
  const TestFolder folder;
  const auto tokens = std::make_shared<TokenStore>(Tokens::single("the-first-token-of-this"));
  const Served served(folder.path(), {}, "the-first-token-of-this", {}, tokens);
  const int socket = connected(served.server->port());
  const std::string get =
      "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n"
      "Authorization: Bearer the-first-token-of-this\r\n\r\n";
  ::send(socket, get.data(), get.size(), MSG_NOSIGNAL);
  EXPECT_NE(read_until(socket, "event: overview").find("event: overview"), std::string::npos);
  tokens->replace(Tokens::single("another-token-from-now-on"));
  read_to_end(socket);  // it ends
}

}  // namespace
}  // namespace tutti
