#include "tutti/serve/http/tokens.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tutti/serve/http/guard.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

const std::string kAlice(32, 'a');
const std::string kBob(32, 'b');

TEST(Tokens, SayWhoAClientIs) {
  const Result<Tokens> tokens =
      Tokens::parse("# who  what\n\nalice " + kAlice + "\nbob\t" + kBob + "\r\n", "t");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->size(), 2U);
  EXPECT_EQ(*tokens->client_of(kAlice), "alice");
  EXPECT_EQ(*tokens->client_of(kBob), "bob");
  for (const std::string& other : {std::string(), kAlice + "a", kAlice.substr(1)}) {
    EXPECT_EQ(tokens->client_of(other), nullptr) << other;
  }
}

TEST(Tokens, OfOneBareLineAreThatOfTheDefaultClient) {
  const Result<Tokens> tokens = Tokens::parse(kAlice + "\n", "t");
  ASSERT_TRUE(tokens);
  EXPECT_EQ(*tokens->client_of(kAlice), "default");
}

TEST(Tokens, ThatAreNoneAreRefusedByTheirLine) {
  const std::pair<std::string, const char*> wrong[] = {
      {"", "t: there is no token"},
      {"# nothing\n", "t: there is no token"},
      {"alice short\n", "t:1: a token is"},
      {"alice " + kAlice + "\nbob " + kAlice + "\n", "t:2: this token is another"},
      {"alice " + kAlice + "\nalice " + kBob + "\n", "t:2: this name"},
      {"alice " + kAlice + "\n" + kBob + "\n", "t:2: a line is NAME TOKEN"},
      {kAlice + "\n" + kBob + "\n", "t:2: a line is NAME TOKEN"},
      {"a b " + kBob + "\n", "t:1: a line is NAME TOKEN"},
      {"al/ice " + kAlice + "\n", "t:1: a client's name"},
  };
  for (const auto& [text, sentence] : wrong) {
    const Result<Tokens> tokens = Tokens::parse(text, "t");
    ASSERT_FALSE(tokens) << text;
    EXPECT_TRUE(tokens.error().message.starts_with(sentence)) << tokens.error().message;
  }
}

TEST(Tokens, ThatAreReplacedHoldFromTheNextRequestOn) {
  const auto store = std::make_shared<TokenStore>(*Tokens::parse("alice " + kAlice, "t"));
  const Guard guard(store, {});
  const auto client = [&](const std::string& token) {
    HttpHead head{.method = "GET", .path = "/v1/jobs"};
    head.headers = {{"host", "localhost"}, {"authorization", "Bearer " + token}};
    const Admission admission = guard.admit(head);
    return admission.refused ? "nobody" : admission.client;
  };
  EXPECT_EQ(client(kAlice), "alice");
  EXPECT_EQ(client(kBob), "nobody");
  store->replace(*Tokens::parse("bob " + kBob, "t"));
  EXPECT_EQ(client(kAlice), "nobody");
  EXPECT_EQ(client(kBob), "bob");
}

TEST(Guard, TurnsForeignNamesAndOriginsAway) {
  const Guard guard("", {"known.example"});
  const auto status = [&](const std::string& method, const Pairs& headers) {
    HttpHead head{.method = method, .path = "/v1/jobs"};
    head.headers = headers;
    const Admission admission = guard.admit(head);
    return admission.refused ? admission.refused->status : 200;
  };
  for (const char* host : {"127.0.0.1:7171", "localhost", "LOCALHOST:1", "[::1]:7171", "10.1.2.3",
                           "known.example:80", "Known.Example"}) {
    EXPECT_EQ(status("GET", {{"host", host}}), 200) << host;
  }
  // Row 11 of the audit are the last ones.
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "", "[", "[evil]:80", "[localhost]evil.com",
        "127.0.0.1:evil.com", "localhost:", "localhost:80:80", "[::1]80", "[localhost]:80",
        "localhost:123456", "127.0.0.1:80@evil.com"}) {
    EXPECT_EQ(status("GET", {{"host", host}}), 403) << host;
  }
  const std::string here = "127.0.0.1:7171";
  EXPECT_EQ(status("POST", {{"host", here}, {"origin", "http://127.0.0.1:7171"}}), 200);
  EXPECT_EQ(status("POST", {{"host", here}, {"origin", "http://127.0.0.1:8080"}}), 403);
  EXPECT_EQ(status("DELETE", {{"host", here}, {"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(status("POST", {{"host", here}, {"origin", "null"}}), 403);
  EXPECT_EQ(status("GET", {{"host", here}, {"origin", "https://evil.example"}}), 200);
}

TEST(Guard, ComparesSecrets) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "abcabc"}) {
    EXPECT_FALSE(is_same_secret(other, "abc")) << other;
  }
  EXPECT_FALSE(is_same_secret("", ""));
}

TEST(Guard, TakesATokenOfOneLineFromAFile) {
  const TestFolder folder;
  const auto token_of = [&](const std::string& text) {
    const std::string path = folder.path() + "/token";
    std::ofstream(path) << text;
    return load_token(path);
  };
  EXPECT_EQ(*token_of("0123456789abcdef\n"), "0123456789abcdef");
  for (const char* wrong : {"", "short\n", "0123456789abc def0", "0123456789abcdef\nx"}) {
    EXPECT_FALSE(token_of(wrong)) << wrong;
  }
  EXPECT_FALSE(load_token(folder.path() + "/none"));
}

}  // namespace
}  // namespace tutti
