#include "common/transport/link/rate_limiter.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::transport::link::rate_limiter_tests {
namespace {

using std::chrono::milliseconds;

std::optional<RequestSender> recognise(std::string_view member, std::string_view shown,
                                       std::string_view /*body*/) {
  if (member == "auth_token" && shown == "tok_p01_right")
    return RequestSender{Standing::kPlayer, "P01"};
  if (member == "operator_key" && shown == "op_right")
    return RequestSender{Standing::kStaff, "operator"};
  return std::nullopt;
}

RequestBudgetOptions small() {
  RequestBudgetOptions options;
  options.burst = std::chrono::seconds(1);
  options.allowances.fill({3, 1000});
  return options;
}

class RateLimiterTest : public ::testing::Test {
 protected:
  Standing standing_of(std::string_view body) { return limiter_.admit(body, "10.0.0.1").standing; }
  /// How many of these pass in a row.
  int passing(std::string_view body, std::string_view address) {
    int count = 0;
    while (count < 100 && !limiter_.admit(body, address).retry_after) ++count;
    return count;
  }

  league::testing::FakeTime time_;
  RateLimiter limiter_{small(), recognise, time_};
};

TEST_F(RateLimiterTest, KnowsWhoShowsACredentialWhereverItStands) {
  EXPECT_EQ(standing_of(R"({"params":{"auth_token":"tok_p01_right"}})"), Standing::kPlayer);
  EXPECT_EQ(standing_of(R"({"params" : { "auth_token" : "tok_p01_right" }})"), Standing::kPlayer);
  EXPECT_EQ(standing_of(R"({"a":{"auth_token":null},"params":{"auth_token":"tok_p01_right"}})"),
            Standing::kPlayer);
  EXPECT_EQ(standing_of(R"({"params":{"arguments":{"operator_key":"op_right"}}})"),
            Standing::kStaff);
}

TEST_F(RateLimiterTest, TakesNobodyElseForKnown) {
  for (std::string_view body :
       {R"({"auth_token":"tok_p01_wrong"})", R"({"auth_token":tok_p01_right})",
        R"({"auth_token":"tok_p01_right)", R"({"operator_key":"tok_p01_right"})", R"(auth_token)",
        R"({"auth_token":)", R"({"auth_token" "tok_p01_right"})", "", "\xff\xfe",
        R"({"note":"auth_token","x":"tok_p01_right"})"}) {
    EXPECT_EQ(RateLimiter(small(), recognise, time_).admit(body, "10.0.0.1").standing,
              Standing::kStranger)
        << body;
  }
}

TEST_F(RateLimiterTest, LooksAtFewOfManyTokens) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += R"({"auth_token":"tok_p01_wrong"})";
  int asked = 0;
  RateLimiter limiter(
      small(),
      [&](std::string_view, std::string_view, std::string_view) -> std::optional<RequestSender> {
        ++asked;
        return std::nullopt;
      },
      time_);
  (void)limiter.admit(body, "10.0.0.1");
  EXPECT_LE(asked, 4);
}

TEST_F(RateLimiterTest, WrongTokensAreChargedToTheAddressAndNotToTheirName) {
  EXPECT_EQ(passing(R"({"auth_token":"tok_p01_wrong"})", "10.0.0.1"), 3);
  EXPECT_EQ(passing(R"({"method":"tools/list"})", "10.0.0.1"), 0);
  EXPECT_EQ(passing(R"({"auth_token":"tok_p01_right"})", "10.0.0.1"), 3);
  EXPECT_EQ(passing(R"({"method":"tools/list"})", "10.0.0.2"), 3);
}

TEST_F(RateLimiterTest, RegistrationsHaveAShareOfTheirOwn) {
  EXPECT_EQ(passing(R"({"method":"tools/list"})", "10.0.0.1"), 3);
  EXPECT_EQ(passing(R"({"method":"register_player"})", "10.0.0.1"), 3);
  EXPECT_EQ(passing(R"({"message_type":"REFEREE_REGISTER_REQUEST"})", "10.0.0.1"), 0);
}

TEST_F(RateLimiterTest, ABatchCostsAsMuchAsItsRequests) {
  EXPECT_EQ(passing(R"( [{"method":"a"},{"method":"b"},{"method":"c"}])", "10.0.0.1"), 1);
}

TEST_F(RateLimiterTest, WhoWaitsAsToldPasses) {
  EXPECT_EQ(passing("", "10.0.0.1"), 3);
  auto pass = limiter_.admit("", "10.0.0.1");
  ASSERT_TRUE(pass.retry_after);
  time_.advance(*pass.retry_after);
  EXPECT_FALSE(limiter_.admit("", "10.0.0.1").retry_after);
}

TEST_F(RateLimiterTest, AHostWithANetworkOfAddressesIsOneSender) {
  EXPECT_EQ(budget_address("2001:db8::1"), budget_address("2001:db8::ffff:1"));
  EXPECT_NE(budget_address("2001:db8::1"), budget_address("2001:db8:0:1::1"));
  EXPECT_EQ(budget_address("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(budget_address("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(budget_address("127.9.9.9"), budget_address("::1"));
}

TEST(OverBudget, AnswersSayWhenToComeBack) {
  const std::string body = over_budget_body(milliseconds(1250), "7");
  EXPECT_NE(body.find(R"("error":{"code":-32000)"), std::string::npos);
  EXPECT_NE(body.find(R"("data":{"error_code":"E091","error_name":"OVERLOADED",)"
                      R"("retry_after_ms":1250}},"id":7})"),
            std::string::npos);
  const std::string response = over_budget_response(milliseconds(1250));
  EXPECT_TRUE(response.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_NE(response.find("\r\nRetry-After: 2\r\n"), std::string::npos);
}

TEST(TextMember, FindsTheFirstThatIsAText) {
  EXPECT_EQ(text_member(R"({"match_id":7,"x":{"match_id": "R1M1"}})", "match_id"), "R1M1");
  EXPECT_EQ(text_member(R"({"match_id":")" + std::string(300, 'x') + R"("})", "match_id"), "");
  EXPECT_EQ(text_member("", "match_id"), "");
}

}  // namespace
}  // namespace league::transport::link::rate_limiter_tests
