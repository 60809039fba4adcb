#include "common/agent/seats/seats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/agent/seats/seat_caller.h"
#include "common/rpc/codec.h"
#include "tests/support/fake_clock.h"

namespace league::agent::seats {
namespace {

using namespace std::chrono_literals;
using core::ErrorCode;
using nlohmann::json;

/// The connection of a client; remembers what was pushed.
class Socket final : public transport::link::PeerChannel {
 public:
  explicit Socket(std::string id) : id_(std::move(id)) {}
  bool push(std::shared_ptr<const std::string> bytes) override {
    if (is_open_) pushed.push_back(*bytes);
    return is_open_;
  }
  void close() override { is_open_ = false; }
  [[nodiscard]] bool is_open() const override { return is_open_; }
  [[nodiscard]] const std::string& id() const override { return id_; }

  std::vector<std::string> pushed;

 private:
  const std::string id_;
  bool is_open_ = true;
};

class SeatsTest : public ::testing::Test {
 protected:
  std::string open(const std::shared_ptr<Socket>& socket = nullptr) {
    std::string session = seats_.name_session("P07");
    seats_.open("P07", session, socket ? Line::kWebSocket : Line::kPoll, socket);
    return session;
  }
  /// A call of a referee; its answer appears in the returned place.
  std::shared_ptr<std::optional<SeatAnswer>> call(std::int64_t id,
                                                  const std::string& caller = "referee:REF01",
                                                  std::size_t size = 2) {
    auto answer = std::make_shared<std::optional<SeatAnswer>>();
    const std::string params = "{" + std::string(size - 2, ' ') + "}";
    seats_.call("P07",
                {.bytes = rpc::encode_request(rpc::Id(id), "choose_parity", params),
                 .id = rpc::Id(id),
                 .caller = caller,
                 .deadline = time_.steady_now() + 30s},
                [answer](SeatAnswer one) { *answer = std::move(one); });
    return answer;
  }
  std::shared_ptr<std::optional<core::Result<Polled>>> poll(const std::string& session,
                                                            std::vector<std::string> answers = {},
                                                            std::chrono::milliseconds wait = 25s) {
    auto got = std::make_shared<std::optional<core::Result<Polled>>>();
    seats_.poll(session, wait, std::move(answers),
                [got](core::Result<Polled> polled) { *got = std::move(polled); });
    return got;
  }
  static std::string answer_to(std::string_view request, const std::string& result) {
    const auto id = json::parse(request)["id"];
    return json{{"jsonrpc", "2.0"}, {"id", id}, {"result", {{"said", result}}}}.dump();
  }
  static std::string said(const SeatAnswer& answer) {
    return json::parse(answer.bytes.view())["result"]["said"];
  }

  league::testing::FakeTime time_;
  core::CryptoRandom random_;
  Seats seats_{time_, time_, random_,
               [](const std::exception_ptr& fault) { std::rethrow_exception(fault); }};
};

TEST_F(SeatsTest, AWaitingPollGetsACallAtOnceAndTheNextOneHandsInTheAnswer) {
  const auto session = open();
  auto first = poll(session);
  EXPECT_FALSE(*first);
  auto answer = call(1);
  ASSERT_TRUE(*first && **first);
  ASSERT_EQ((**first)->calls.size(), 1U);
  EXPECT_EQ((**first)->calls.front().remaining, 30s);
  EXPECT_FALSE(*answer);
  auto second = poll(session, {answer_to((**first)->calls.front().request, "x")});
  ASSERT_TRUE(*answer);
  EXPECT_FALSE((*answer)->error);
  EXPECT_EQ(said(**answer), "x");
  EXPECT_TRUE((*answer)->sent_at);
  EXPECT_FALSE(*second) << "it waits";
  time_.advance(25s);
  ASSERT_TRUE(*second && **second);
  EXPECT_TRUE((**second)->calls.empty());
}

TEST_F(SeatsTest, ACallWaitsForAPlayerThatIsAwayForAMoment) {
  auto answer = call(1);
  time_.advance(10s);
  auto got = poll(open());
  ASSERT_TRUE(*got && **got);
  ASSERT_EQ((**got)->calls.size(), 1U);
  EXPECT_EQ((**got)->calls.front().remaining, 20s);
  EXPECT_FALSE(*answer);
}

TEST_F(SeatsTest, WhoIsNotThereInTimeHasNotAnswered) {
  auto answer = call(1);
  time_.advance(30s);
  ASSERT_TRUE(*answer && (*answer)->error);
  EXPECT_EQ((*answer)->error->code, ErrorCode::kTimeout);
  EXPECT_FALSE((*answer)->sent_at);
}

TEST_F(SeatsTest, CallsToAPlayerThatHasBeenAwayForLongFailAtOnce) {
  auto socket = std::make_shared<Socket>("ws-1");
  open(socket);
  seats_.on_channel_closed(*socket);
  time_.advance(31s);
  auto answer = call(1);
  ASSERT_TRUE(*answer && (*answer)->error);
  EXPECT_EQ((*answer)->error->code, ErrorCode::kConnectionError);
}

TEST_F(SeatsTest, CallsToAPersonWaitHoweverLongItHasBeenAway) {
  open(std::make_shared<Socket>("ws-1"));
  open(std::make_shared<Socket>("ws-2"));
  seats_.on_channel_closed(Socket("ws-2"));
  time_.advance(10min);
  auto answer = std::make_shared<std::optional<SeatAnswer>>();
  seats_.call("P07",
              {.bytes = rpc::encode_request(rpc::Id(1), "handle_game_invitation", "{}"),
               .id = rpc::Id(1),
               .caller = "referee:REF01",
               .deadline = time_.steady_now() + 60s,
               .waits = true},
              [answer](SeatAnswer one) { *answer = std::move(one); });
  time_.advance(50s);
  EXPECT_FALSE(*answer);
  auto got = poll(open());
  ASSERT_TRUE(*got && **got);
  EXPECT_EQ((**got)->calls.size(), 1U) << "the telephone has been unlocked";
}

TEST_F(SeatsTest, APollingSessionEndsWhenNobodyAsks) {
  const auto session = open();
  time_.advance(61s);
  call(1);  // notices it
  EXPECT_EQ(seats_.shown("P07")->line, Line::kAway);
  auto got = poll(session);
  ASSERT_TRUE(*got && !**got);
  EXPECT_EQ((**got).error().code, ErrorCode::kAuthTokenInvalid);
}

TEST_F(SeatsTest, APlayerIsThereWhileItHasAConnectionOrAsks) {
  const auto is_there = [this] {
    std::optional<bool> found;
    seats_.look_for("P07", [&found](bool one) { found = one; });
    return found.value();
  };
  EXPECT_FALSE(is_there());
  auto session = open();
  const auto waiting = poll(session);
  time_.advance(24s);
  EXPECT_TRUE(is_there()) << "its poll waits";
  time_.advance(3s);
  EXPECT_TRUE(is_there()) << "it may be about to ask again";
  time_.advance(4s);
  EXPECT_FALSE(is_there()) << "nobody asks any more";
  session = open();
  seats_.end(session);
  EXPECT_FALSE(is_there()) << "it has left";
  seats_.end(session);
  open(std::make_shared<Socket>("ws-1"));
  seats_.end(session);
  time_.advance(1h);
  EXPECT_TRUE(is_there()) << "an earlier session ends no later one";
}

TEST_F(SeatsTest, OverAConnectionCallsArriveAndAnswersGoBack) {
  auto socket = std::make_shared<Socket>("ws-1");
  open(socket);
  auto answer = call(1);
  ASSERT_EQ(socket->pushed.size(), 1U);
  EXPECT_TRUE(seats_.take_answer(*socket, answer_to(socket->pushed.front(), "y")));
  ASSERT_TRUE(*answer);
  EXPECT_EQ(said(**answer), "y");
  EXPECT_FALSE(seats_.take_answer(Socket("ws-2"), answer_to(socket->pushed.front(), "z")));
}

TEST_F(SeatsTest, ANewSessionTakesOverAndGetsWhatIsUnanswered) {
  auto socket = std::make_shared<Socket>("ws-1");
  open(socket);
  auto answer = call(1);
  const std::string request = socket->pushed.front();
  auto got = poll(open());
  ASSERT_TRUE(*got && **got);
  ASSERT_EQ((**got)->calls.size(), 1U);
  EXPECT_EQ((**got)->calls.front().request.view(), request) << "the same bytes";
  ASSERT_EQ(socket->pushed.size(), 2U);
  EXPECT_EQ(json::parse(socket->pushed.back())["params"]["reason"], "taken_over");
  EXPECT_FALSE(socket->is_open());
  EXPECT_FALSE(seats_.take_answer(*socket, answer_to(request, "late")));
  EXPECT_FALSE(*answer);
}

TEST_F(SeatsTest, TheEarlierPollHearsThatAnotherHasTakenOver) {
  const auto old = open();
  auto waiting = poll(old);
  const auto newer = open();
  ASSERT_TRUE(*waiting && **waiting);
  EXPECT_TRUE((**waiting)->is_taken_over);
  auto refused = poll(old);
  ASSERT_TRUE(*refused && !**refused);
  EXPECT_EQ((**refused).error().code, ErrorCode::kNotAuthorized);
  EXPECT_FALSE(*poll(newer));
}

TEST_F(SeatsTest, ANewerPollEndsTheEarlierOneOfTheSameSession) {
  const auto session = open();
  auto first = poll(session);
  auto second = poll(session);
  ASSERT_TRUE(*first && **first);
  EXPECT_TRUE((**first)->calls.empty());
  EXPECT_FALSE((**first)->is_taken_over);
  call(1);
  ASSERT_TRUE(*second && **second);
  EXPECT_EQ((**second)->calls.size(), 1U);
}

TEST_F(SeatsTest, CallsOfTwoCallersWithTheSameIdAreToldApart) {
  const auto session = open();
  auto one = call(1, "referee:REF01");
  auto other = call(1, "league_manager");
  auto got = poll(session);
  ASSERT_TRUE(*got && **got);
  const auto& calls = (**got)->calls;
  ASSERT_EQ(calls.size(), 2U);
  poll(session, {answer_to(calls[1].request, "second"), answer_to(calls[0].request, "first")});
  ASSERT_TRUE(*one && *other);
  EXPECT_EQ(said(**one), "first");
  EXPECT_EQ(said(**other), "second");
  EXPECT_EQ(json::parse((*other)->bytes.view())["id"], 1);
}

TEST_F(SeatsTest, OneCallerHasEightOpenCallsAndItsShareOfBytes) {
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(*call(i));
  auto refused = call(9);
  ASSERT_TRUE(*refused && (*refused)->error);
  EXPECT_EQ((*refused)->error->code, ErrorCode::kOverloaded);
  EXPECT_FALSE(*call(10, "referee:REF02"));
  EXPECT_FALSE(*call(11, "referee:REF03", 300 * 1024)) << "the only one";
  auto large = call(12, "referee:REF03");
  ASSERT_TRUE(*large && (*large)->error);
  EXPECT_EQ((*large)->error->code, ErrorCode::kOverloaded);
}

TEST_F(SeatsTest, OnlyAnswersToOpenCallsCountAndTheFirstOne) {
  const auto session = open();
  auto answer = call(1);
  auto got = poll(session);
  const std::string request = (**got)->calls.front().request.str();
  poll(session, {R"({"jsonrpc":"2.0","id":99,"result":{}})", "garbage", answer_to(request, "a"),
                 answer_to(request, "b")});
  ASSERT_TRUE(*answer);
  EXPECT_EQ(said(**answer), "a");
}

TEST_F(SeatsTest, AnAnswerCannotComeBeforeItsCall) {
  open();
  auto answer = call(1);
  poll(seats_.name_session("P07"), {R"({"jsonrpc":"2.0","id":1,"result":{}})"});
  EXPECT_FALSE(*answer);
}

TEST_F(SeatsTest, TheDelayOfTheSeatIsOnlyWhatThePlayerDidNotCause) {
  const auto session = open();
  time_.advance(1s);
  auto answer = call(1);  // nobody waits for it
  time_.advance(2s);
  auto got = poll(session);
  poll(session, {answer_to((**got)->calls.front().request, "x")});
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->own_delay, 0ns);
}

TEST_F(SeatsTest, ATimeOutSaysHowLateTheSeatItselfWas) {
  auto waiting = poll(open());
  auto answer = call(1);
  time_.advance(30s);
  ASSERT_TRUE(*answer && (*answer)->error);
  EXPECT_EQ((*answer)->own_delay, 0ns) << "the player had it all the time";
  answer = call(2);
  time_.jump(32s);  // the program stands still
  time_.advance(0s);
  ASSERT_TRUE(*answer && (*answer)->error);
  EXPECT_EQ((*answer)->own_delay, 2s);
}

TEST_F(SeatsTest, ASessionsNameProvesWhoseItIs) {
  const auto session = seats_.name_session("P07");
  EXPECT_EQ(seats_.player_of(session), "P07");
  EXPECT_EQ(seats_.player_of(seats_.name_session("P_1")), "P_1");
  for (const std::string& other :
       {std::string(), std::string("tok_seat_"), std::string("tok_seat_P07"), session + "0",
        session.substr(0, session.size() - 1), "tok_seat_P08" + session.substr(12)})
    EXPECT_EQ(seats_.player_of(other), std::nullopt) << other;
}

TEST_F(SeatsTest, TheProgramsOwnCallsGoToTheSeatAndOthersPass) {
  struct Others final : transport::link::Caller {
    void call(transport::link::OutboundCall, Completion completion) override { completion({}); }
  } others;
  SeatCaller caller(others, &seats_, time_);
  auto socket = std::make_shared<Socket>("ws-1");
  open(socket);
  transport::link::OutboundCall call;
  call.endpoint = {.scheme = "seat", .path = "P07"};
  call.id = rpc::Id(std::int64_t{5});
  call.bytes = rpc::encode_request(call.id, "ping", "{}");
  call.deadline = time_.steady_now() + 1s;
  std::optional<transport::link::CallOutcome> outcome;
  caller.call(std::move(call), [&](transport::link::CallOutcome one) { outcome = std::move(one); });
  ASSERT_EQ(socket->pushed.size(), 1U);
  seats_.take_answer(*socket, answer_to(socket->pushed.front(), "pong"));
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(outcome->http_status, 200);
  bool has_passed = false;
  transport::link::OutboundCall other;
  other.endpoint = {.scheme = "http", .host = "localhost", .port = 1};
  caller.call(std::move(other), [&](const transport::link::CallOutcome&) { has_passed = true; });
  EXPECT_TRUE(has_passed);
}

}  // namespace
}  // namespace league::agent::seats
