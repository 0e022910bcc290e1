#include "tutti/serve/tokens.h"

#include <gtest/gtest.h>

#include "tutti/serve/guard.h"

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

}  // namespace
}  // namespace tutti
