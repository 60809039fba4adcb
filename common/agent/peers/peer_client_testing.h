#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/peers/peer_client.h"
#include "common/envelope/envelope_testing.h"
#include "tests/support/fake_clock.h"

/// What the tests of PeerClient share: a peer whose every answer a test decides.
namespace league::agent::peers {

/// Answers every call at once as the test says.
class ScriptedCaller final : public transport::link::Caller {
 public:
  std::function<transport::link::CallOutcome(const nlohmann::json& frame)> answer;
  std::vector<nlohmann::json> frames;
  transport::link::OutboundCall last;

  void call(transport::link::OutboundCall call, Completion completion) override {
    frames.push_back(nlohmann::json::parse(call.bytes));
    last = std::move(call);
    completion(answer(frames.back()));
  }
};

/// Knows `name` (a method, or a tool where the method is tools/call) and answers it with `result`;
/// to everything else it says `error`.
inline std::function<transport::link::CallOutcome(const nlohmann::json& frame)> knows(
    const std::string& name, const nlohmann::json& result, const nlohmann::json& error) {
  return [=](const nlohmann::json& frame) {
    const nlohmann::json method = frame.value("method", nlohmann::json());  // null: a bare body
    const nlohmann::json called = method == "tools/call" ? frame["params"]["name"] : method;
    const bool is_known = called == name;
    transport::link::CallOutcome outcome;
    outcome.http_status = is_known ? 200 : 404;  // whatever the status says
    nlohmann::json reply = {{"jsonrpc", "2.0"}, {"id", frame.value("id", nlohmann::json())}};
    reply[is_known ? "result" : "error"] = is_known ? result : error;
    outcome.bytes = reply.dump();
    return outcome;
  };
}
inline const nlohmann::json kNotFound = {{"code", -32601}, {"message", "no"}};

class PeerClientTest : public ::testing::Test {
 protected:
  PeerReply ask(envelope::MessageType type, envelope::Mode mode = envelope::Mode::kOpen) {
    if (!client_ || mode != mode_) {
      client_ = std::make_unique<PeerClient>(caller_, envelope::testing::schemas(), time_, mode);
      mode_ = mode;
    }
    PeerCall call;
    call.endpoint = endpoint_;
    call.peer = "player:P01";
    call.conversation_id = "convr1m1001";
    call.type = type;
    call.message = std::make_shared<const std::string>("{}");
    call.grace = grace_;
    call.reply_defaults.sender = "player:P01";
    call.reply_defaults.conversation_id = core::ConversationId("convr1m1001");
    call.reply_defaults.player_id = core::PlayerId("P01");
    call.reply_defaults.match_id = core::MatchId("R1M1");
    if (call_ids_) {
      call.league_id = core::LeagueId("league_2025_even_odd");
      call.round_id = 1;
    }
    std::optional<PeerReply> got;
    client_->call(std::move(call), [&](PeerReply reply) {
      EXPECT_FALSE(got) << "twice";
      got = std::move(reply);
    });
    EXPECT_TRUE(got);
    return got ? std::move(*got) : PeerReply{};
  }
  void answer_with(std::string bytes, int http_status = 200) {
    caller_.answer = [bytes = std::move(bytes), http_status](const nlohmann::json& /*frame*/) {
      transport::link::CallOutcome outcome;
      outcome.http_status = http_status;
      outcome.bytes = bytes;
      return outcome;
    };
  }
  void answer_result(const nlohmann::json& result) {
    caller_.answer = [result](const nlohmann::json& frame) {
      transport::link::CallOutcome outcome;
      outcome.http_status = 200;
      outcome.bytes =
          nlohmann::json{{"jsonrpc", "2.0"}, {"id", frame["id"]}, {"result", result}}.dump();
      return outcome;
    };
  }

  static constexpr auto kInvite = envelope::MessageType::kGameInvitation;
  static constexpr auto kOver = envelope::MessageType::kGameOver;
  league::testing::FakeTime time_;
  ScriptedCaller caller_;
  std::unique_ptr<PeerClient> client_;
  envelope::Mode mode_ = envelope::Mode::kOpen;
  std::optional<std::chrono::milliseconds> grace_;
  bool call_ids_ = true;  ///< whether the call names league and round
  transport::link::Endpoint endpoint_ =
      *transport::link::parse_endpoint("http://127.0.0.1:8101/mcp");
};

}  // namespace league::agent::peers
