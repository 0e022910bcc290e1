#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/serve/http/client.h"
#include "tutti/serve/http/server.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

int status_of(const std::string& text) {
  const auto read = read_head(text);
  if (const auto* refused = std::get_if<HttpReply>(&read)) return refused->status;
  return 0;
}

HttpHead good(const std::string& text) {
  auto read = read_head(text);
  auto* const head = std::get_if<HttpHead>(&read);
  EXPECT_NE(head, nullptr) << std::get<HttpReply>(read).body;
  return head == nullptr ? HttpHead{} : *head;
}

TEST(HttpHead, IsReadWithItsPathQueryAndHeaders) {
  const HttpHead head = good(
      "POST /v1/jobs/a%20b?id=x%2By&priority=3&empty&&plus=a+b HTTP/1.1\r\nHost: here:7171\r\n"
      "Content-Length:  12 \r\nX-Odd: caf\xc3\xa9\tx\r\n\r\n");
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/v1/jobs/a b");
  EXPECT_EQ(*head.parameter("id"), "x+y");
  EXPECT_EQ(*head.parameter("plus"), "a b");
  EXPECT_EQ(*head.parameter("empty"), "");
  EXPECT_EQ(head.parameter("none"), nullptr);
  EXPECT_EQ(*head.header("host"), "here:7171");
  EXPECT_EQ(head.content_length, 12);
  EXPECT_TRUE(head.keep_alive);
}

TEST(HttpHead, KeepsAConnectionUnlessEitherSideWantsItClosed) {
  EXPECT_TRUE(good("GET / HTTP/1.1\r\nHost: a\r\n\r\n").keep_alive);
  EXPECT_FALSE(good("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(good("GET / HTTP/1.0\r\n\r\n").keep_alive);
}

TEST(HttpHead, ThatIsNoneIsRefusedWithTheStatusThatSaysWhy) {
  const std::string host = "Host: a\r\n";
  const std::pair<int, std::string> wrong[] = {
      {400, "\r\n\r\n"},
      {400, "GET\r\n\r\n"},
      {505, "GET / \r\n\r\n"},
      {400, "GET  HTTP/1.1\r\n" + host + "\r\n"},
      {400, "G(T / HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET http://a/ HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /a b HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /%zz HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /%0a HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /%00 HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /%ff HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /?a=%f HTTP/1.1\r\n" + host + "\r\n"},
      {505, "GET / HTTP/2.0\r\n" + host + "\r\n"},
      {505, "GET / x\r\n" + host + "\r\n"},
      {400, "GET / HTTP/1.1\r\n\r\n"},  // no host
      {400, "GET / HTTP/1.1\r\n" + host + host + "\r\n"},
      {400, "GET / HTTP/1.1\r\n" + host + " folded: x\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" + host + "a b: x\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" + host + "a: x\x01\r\n\r\n"},
      {400, "GET / HTTP/1.1\n" + host + "\r\n"},
      {400, "POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" + host + "Content-Length: 1, 1\r\n\r\n"},
      {413, "POST / HTTP/1.1\r\n" + host + "Content-Length: 9999999999999999999\r\n\r\n"},
      {411, "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n"},
      {411,
       "POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {415, "POST / HTTP/1.1\r\n" + host + "Content-Encoding: gzip\r\n\r\n"},
      {417, "POST / HTTP/1.1\r\n" + host + "Expect: miracles\r\n\r\n"},
  };
  for (const auto& [status, text] : wrong) EXPECT_EQ(status_of(text), status) << text;
  std::string many = "GET / HTTP/1.1\r\n" + host;
  for (int i = 0; i < 70; ++i) many += "h" + std::to_string(i) + ": x\r\n";
  EXPECT_EQ(status_of(many + "\r\n"), 431);
}

TEST(HttpHead, SurvivesAnyBytes) {
  const std::string start =
      "POST /v1/jobs?id=a%20b HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nExpect: "
      "100-continue\r\n\r\n";
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text = start;
    for (uint64_t change = 1 + rng.below(6); change > 0; --change) {
      const size_t place = rng.below(text.size());
      switch (rng.below(3)) {
        case 0:
          text[place] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(place, 1 + rng.below(8));
          break;
        default:
          text.insert(place, text.substr(rng.below(text.size()), rng.below(12)));
      }
      if (text.empty()) break;
    }
    const auto read = read_head(text);
    if (const auto* refused = std::get_if<HttpReply>(&read)) {
      EXPECT_GE(refused->status, 400);
      EXPECT_LT(refused->status, 600);
    }
  }
}

TEST(HttpAddress, IsAHostAndAPort) {
  for (const char* text : {"127.0.0.1:7171", "[::1]:0", "localhost:80"}) {
    EXPECT_TRUE(parse_address(text)) << text;
  }
  for (const char* text : {"", "127.0.0.1", ":80", "a:", "a:b", "a:70000", "::1:80", "a:-1"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_EQ(parse_address("[::1]:0")->host, "::1");
  EXPECT_TRUE(*is_loopback({"127.0.0.1", "80"}));
  EXPECT_TRUE(*is_loopback({"::1", "80"}));
  EXPECT_FALSE(*is_loopback({"0.0.0.0", "80"}));
  EXPECT_FALSE(*is_loopback({"::", "80"}));
}

// Says what it was asked, and refuses /no before the body.
class Echo : public HttpHandler {
 public:
  Admission admit(const HttpHead& head) override {
    if (head.path == "/no") return {.refused = refusal(403, "no")};
    return {.trusted = head.header("authorization") != nullptr};
  }
  HttpReply answer(const HttpRequest& request) override {
    if (hook) hook(request);
    return {.body = request.head.path + " " + std::to_string(request.body.size()) + "\n"};
  }
  std::function<void(const HttpRequest&)> hook{};
};

struct Running {
  explicit Running(const HttpLimits& limits = {}) {
    auto opened = HttpServer::open({"127.0.0.1", "0"}, limits, echo);
    EXPECT_TRUE(opened) << opened.error().message;
    server = std::move(*opened);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server->port()); }
  Echo echo;
  std::unique_ptr<HttpServer> server;
};

TEST(HttpServer, AnswersManyRequestsOverOneConnection) {
  const Running running;
  auto client = HttpClient::make(running.address(), "");
  ASSERT_TRUE(client);
  for (int i = 0; i < 50; ++i) {
    const auto reply = client->ask("POST", "/x", std::string(static_cast<size_t>(i) * 1000, 'a'));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "/x " + std::to_string(i * 1000) + "\n");
  }
  EXPECT_EQ(running.server->requests_total(), 50);
}

TEST(HttpServer, AnswersRequestsThatCameTogetherInTheirOrder) {
  const Running running;
  const std::string text = exchanged(running.server->port(),
                                     "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
                                     "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz"
                                     "HEAD /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const size_t a = text.find("/a 0\n");
  const size_t b = text.find("/b 3\n");
  EXPECT_NE(a, std::string::npos) << text;
  EXPECT_NE(b, std::string::npos) << text;
  EXPECT_LT(a, b);
  EXPECT_EQ(text.find("/c"), std::string::npos) << "HEAD has no body: " << text;
}

TEST(HttpServer, NeverTakesABodyThatItDidNotReadForARequest) {
  Running running;
  int asked = 0;
  running.echo.hook = [&](const HttpRequest&) { ++asked; };
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string text =
      exchanged(running.server->port(), "POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                            std::to_string(hidden.size()) + "\r\n\r\n" + hidden);
  EXPECT_NE(text.find("403 Forbidden"), std::string::npos);
  EXPECT_EQ(asked, 0);
}

TEST(HttpServer, TellsWhoSendsTooMuchOrTooSlowly) {
  const Running running(
      {.head = std::chrono::milliseconds(100), .body = std::chrono::milliseconds(100)});
  const int port = running.server->port();
  EXPECT_NE(exchanged(port, "GET /" + std::string(9000, 'a')).find(" 431 "), std::string::npos);
  int slow = connected(port);
  ::send(slow, "GET / HT", 8, MSG_NOSIGNAL);
  EXPECT_NE(read_to_end(slow).find(" 408 "), std::string::npos);
  slow = connected(port);
  const std::string half = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc";
  ::send(slow, half.data(), half.size(), MSG_NOSIGNAL);
  EXPECT_NE(read_to_end(slow).find(" 408 "), std::string::npos);
}

TEST(HttpServer, TurnsAwayConnectionsAndBodiesBeyondItsLimits) {
  // The server's threads look at them until it is gone.
  std::atomic<bool> go{false};
  std::atomic<int> answering{0};
  Running running({.connections = 2, .body_bytes = 100});
  running.echo.hook = [&](const HttpRequest&) {
    ++answering;
    while (!go) std::this_thread::yield();
  };
  const int port = running.server->port();
  EXPECT_NE(exchanged(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n")
                .find("too many large requests"),
            std::string::npos);
  while (running.server->connections() > 0) std::this_thread::yield();  // that one is over
  // Two that are trusted and being answered: neither is closed for a third.
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\n\r\n";
  const int first = connected(port);
  ::send(first, get.data(), get.size(), MSG_NOSIGNAL);
  const int second = connected(port);
  ::send(second, get.data(), get.size(), MSG_NOSIGNAL);
  while (answering < 2) std::this_thread::yield();
  const std::string refused = read_to_end(connected(port));
  EXPECT_NE(refused.find(" 503 "), std::string::npos) << refused;
  EXPECT_NE(refused.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(running.server->turned_away_total(), 1);
  go = true;
  ::close(first);
  ::close(second);
}

// Connections that stay until the test ends.
class Crowd {
 public:
  Crowd(int port, int count, const std::string& each_says) {
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(connected(port));
      ::send(sockets_.back(), each_says.data(), each_says.size(), MSG_NOSIGNAL);
    }
  }
  ~Crowd() {
    for (const int socket : sockets_) ::close(socket);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::vector<int> sockets_;
};

// How long the server takes to answer a client with a token; a minute if it does not.
double seconds_to_answer(const Running& running, const std::string& body = {}) {
  const auto begin = std::chrono::steady_clock::now();
  auto client = HttpClient::make(running.address(), "a token");
  const auto reply = client->ask("POST", "/x", body, std::chrono::seconds(20));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return reply && reply->status == 200 ? taken.count() : 60;
}

// Limits of time that an answer within ten seconds does not wait for, even on a busy machine.
HttpLimits patient(HttpLimits limits) {
  limits.first = limits.head = limits.pause = std::chrono::seconds(60);
  return limits;
}

TEST(HttpServer, ServesAClientWithATokenWhileOthersSitIdle) {
  const Running running(patient({.connections = 16, .untrusted_of_an_address = 100}));
  const Crowd idle(running.server->port(), 40, "");
  EXPECT_LT(seconds_to_answer(running), 10);
  const Crowd slow(running.server->port(), 40, "GET / HTTP/1.1\r\nHo");
  EXPECT_LT(seconds_to_answer(running), 10);
  EXPECT_EQ(running.server->turned_away_total(), 0);
  EXPECT_GE(running.server->made_room_total(), 60);
}

TEST(HttpServer, ClosesTheOldestStrangersOfAnAddressThatHasTooMany) {
  const Running running(patient({.connections = 256, .untrusted_of_an_address = 8}));
  const Crowd idle(running.server->port(), 30, "");
  EXPECT_LT(seconds_to_answer(running), 10);
  while (running.server->connections() > 9) std::this_thread::yield();  // as threads notice
}

TEST(HttpServer, ClosesATrustedConnectionThatIsIdleBeforeItTurnsOthersAway) {
  const Running running({.connections = 4});
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\n\r\n";
  const Crowd kept(running.server->port(), 4, get);
  while (running.server->requests_total() < 4) std::this_thread::yield();
  // They are idle as soon as their replies are out.
  double taken = 60;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (taken == 60 && std::chrono::steady_clock::now() < deadline) {
    taken = seconds_to_answer(running);
  }
  EXPECT_LT(taken, 10);
}

TEST(HttpServer, ReservesMemoryForBodiesAsTheyComeAndNotAsTheyAreAnnounced) {
  const Running running(patient({.body_bytes = 1000}));
  const std::string announced =
      "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nContent-Length: 900\r\n\r\n";
  const Crowd silent(running.server->port(), 17, announced);
  EXPECT_LT(seconds_to_answer(running, std::string(900, 'b')), 10);
}

TEST(HttpServer, TakesMemoryBackFromABodyThatHasComeToAStand) {
  const Running running({.body_bytes = 1000});
  const std::string half =
      "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nContent-Length: 900\r\n\r\n" +
      std::string(800, 'b');
  const Crowd silent(running.server->port(), 1, half);
  // Until it stands for longer than the server waits.
  double taken = 60;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (taken == 60 && std::chrono::steady_clock::now() < deadline) {
    taken = seconds_to_answer(running, std::string(900, 'b'));
  }
  EXPECT_LT(taken, 20);
}

TEST(HttpServer, ClosesAConnectionThatDoesNotBegin) {
  const Running running({.first = std::chrono::milliseconds(50)});
  EXPECT_EQ(read_to_end(connected(running.server->port())), "");
}

TEST(HttpServer, SaysContinueToWhoWaitsForIt) {
  const Running running;
  const std::string text =
      exchanged(running.server->port(),
                "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 100 Continue\r\n\r\n")) << text;
}

TEST(HttpServer, FinishesWhatItIsAnsweringBeforeItStops) {
  Running running;
  std::atomic<bool> answering{false};
  std::atomic<bool> go{false};
  running.echo.hook = [&](const HttpRequest&) {
    answering = true;
    while (!go) std::this_thread::yield();
  };
  const int idle = connected(running.server->port());
  std::string text;
  std::thread client(
      [&] { text = exchanged(running.server->port(), "GET /last HTTP/1.1\r\nHost: a\r\n\r\n"); });
  while (!answering) std::this_thread::yield();
  std::thread stopper([&] { running.server->stop(); });
  go = true;
  stopper.join();
  client.join();
  EXPECT_NE(text.find("/last 0"), std::string::npos) << text;
  EXPECT_EQ(read_to_end(idle), "");
}

TEST(HttpServer, GoesOnWhenAHandlerRunsOutOfMemory) {
  Running running;
  running.echo.hook = [](const HttpRequest& request) {
    if (request.head.path == "/bad") throw std::bad_alloc();
  };
  const int port = running.server->port();
  const std::string get = " HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_NE(exchanged(port, "GET /bad" + get).find(" 500 "), std::string::npos);
  EXPECT_NE(exchanged(port, "GET /good" + get).find(" 200 "), std::string::npos);
}

TEST(HttpClient, SaysThatNobodyListens) {
  int port = 0;
  { port = Running().server->port(); }
  auto client = HttpClient::make("http://127.0.0.1:" + std::to_string(port) + "/", "");
  ASSERT_TRUE(client);
  const auto reply = client->ask("GET", "/");
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("no tutti serve answers at http://127.0.0.1:"),
            std::string::npos)
      << reply.error().message;
  EXPECT_FALSE(HttpClient::make("ftp://x", ""));
  EXPECT_FALSE(HttpClient::make("https://", ""));
  EXPECT_FALSE(HttpClient::make("http://127.0.0.1:1", "", "ca.pem"));
  EXPECT_FALSE(HttpClient::make("https://x:1", "", "/no/such/ca.pem"));
}

}  // namespace
}  // namespace tutti
