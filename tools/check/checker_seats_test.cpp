#include "tools/check/checker_seats.h"

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "tools/check/mock_manager.h"
#include "tools/check/wire.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// A manager of the checker, and a player that comes to it by hand.
class CheckerSeatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = std::move(*transport::front::HttpRuntime::start());
    wire_ = std::move(*Wire::open());
    manager_ = std::move(*MockManager::open(*runtime_, {.seats = &wire_->seats()}));
    manager_address_ = *transport::link::parse_endpoint(manager_->server().url());
    seat_ = *place_of("outward", "P07");
  }

  json ask(const std::string& method, const json& params) {
    const json frame = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    const Exchange exchange =
        wire_->send(manager_address_, frame.dump(), rpc::Id(1), milliseconds(5000));
    return json::parse(exchange.received, nullptr, false).value("result", json::object());
  }
  std::string open_seat() {
    const std::string time = core::SystemClock().utc_now().to_wire();
    const std::string nonce = core::to_hex(core::CryptoRandom().bytes<16>());
    const auto proof = core::hmac_sha256(core::as_bytes(manager_->token().reveal()),
                                         core::as_bytes("seat|" + time + "|" + nonce));
    return ask("open_seat", {{"player_id", "P07"},
                             {"timestamp", time},
                             {"nonce", nonce},
                             {"proof", core::to_hex(proof)}})
        .value("session", "");
  }
  void register_player(const std::string& endpoint) {
    ask("register_player", {{"player_meta", {{"contact_endpoint", endpoint}}}});
  }
  /// Waits only for a call that is to come.
  json poll(const std::string& session, int wait_s, const json& answers = json::array()) {
    return ask("await_calls", {{"session", session}, {"wait_s", wait_s}, {"answers", answers}});
  }
  std::future<Exchange> call(int id) {
    const json frame = {{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}};
    return std::async(std::launch::async, [this, id, bytes = frame.dump()] {
      return wire_->send(seat_, bytes, rpc::Id(id), milliseconds(5000));
    });
  }

  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<MockManager> manager_;
  transport::link::Endpoint manager_address_;
  transport::link::Endpoint seat_;
};

const json kDone = {{"jsonrpc", "2.0"}, {"id", 7}, {"result", {{"status", "ok"}}}};

TEST_F(CheckerSeatsTest, APlayerThatComesIsCalledAtItsSeat) {
  register_player("http://localhost:8101/mcp");
  EXPECT_EQ(open_seat(), "") << "it has not registered to come";
  register_player("outward");
  const std::string session = open_seat();
  ASSERT_NE(session, "");
  EXPECT_TRUE(wire_->seats().wait_for_session(0, milliseconds(0)));
  auto answer = call(7);
  const json polled = poll(session, 5);
  ASSERT_EQ(polled["calls"].size(), 1U) << polled;
  EXPECT_EQ(polled["calls"][0]["request"]["method"], "ping");
  poll(session, 0, json::array({kDone}));
  EXPECT_EQ(json::parse(answer.get().received), kDone);
  EXPECT_EQ(manager_->server().count(), 2U) << "the turns at a seat are no calls of the bot";
}

TEST_F(CheckerSeatsTest, AManagerThatHasForgottenASessionRefusesIt) {
  register_player("outward");
  const std::string session = open_seat();
  poll(session, 0);
  wire_->seats().forget_sessions();
  EXPECT_EQ(poll(session, 0)["error_code"], "E012");
  EXPECT_TRUE(poll(open_seat(), 0).contains("calls"));
}

TEST_F(CheckerSeatsTest, ACallWhoseAnswerWasLostIsOfferedAgain) {
  register_player("outward");
  std::string session = open_seat();
  auto answer = call(7);
  const json first = poll(session, 5);
  wire_->seats().lose_next_answer();
  poll(session, 0, json::array({kDone}));
  ASSERT_TRUE(wire_->seats().lost_answer());
  EXPECT_EQ(json::parse(*wire_->seats().lost_answer()), kDone);
  EXPECT_EQ(poll(session, 0)["error_code"], "E012") << "the session went with it";
  session = open_seat();
  EXPECT_EQ(poll(session, 5)["calls"][0]["request"], first["calls"][0]["request"]);
  poll(session, 0, json::array({kDone}));
  EXPECT_EQ(json::parse(answer.get().received), kDone);
}

TEST_F(CheckerSeatsTest, AnotherProgramTakesOver) {
  register_player("outward");
  const std::string session = open_seat();
  auto waiting = std::async(std::launch::async, [&] { return poll(session, 20); });
  wire_->seats().take_over("P07");
  waiting.wait();
  EXPECT_EQ(poll(session, 0)["error_code"], "E016");
}

}  // namespace
}  // namespace league::tools::check
