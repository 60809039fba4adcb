#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/agent/identity/match_credential.h"
#include "common/envelope/envelope_testing.h"
#include "player/service/player_service.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::testing {

/// One player, P01, and what is sent to it.
class PlayerServiceFixture : public ::testing::Test {
 protected:
  using json = nlohmann::json;

  void make(const std::string& strategy, bool standalone = false) {
    make(player::service::PlayerOptions{
        .display_name = "bot", .strategy = strategy, .standalone = standalone});
  }
  void make(player::service::PlayerOptions options,
            player::service::OpenMatchFile* open_matches = nullptr) {
    const bool standalone = options.standalone;
    auto made = player::service::PlayerService::create(
        std::move(options), {time_, time_, random_, envelope::testing::schemas(), open_matches});
    ASSERT_TRUE(made) << made.error().message;
    service_ = std::move(*made);
    if (standalone) return;
    if (open_matches != nullptr) {
      const core::PlayerId self("P01");
      service_->resume(open_matches->matches_of(self), open_matches->credentials_of(self));
    }
    service_->set_identity(at_home());
  }
  /// P01 of a league of ours.
  [[nodiscard]] agent::identity::Identity at_home() const {
    agent::identity::Identity identity{"P01", token_, core::LeagueId("league_2025_even_odd")};
    identity.league_key = std::string(64, 'a');
    identity.match_credentials = true;
    return identity;
  }
  /// The answer's bytes; nothing while there is none.
  std::optional<std::string> post(const std::string& bytes) {
    auto answer = std::make_shared<std::optional<std::string>>();
    transport::link::Inbound inbound;
    inbound.bytes = bytes;
    inbound.context = rpc::MessageContext::now(time_);
    notes_ = inbound.notes;
    service_->handler().on_message(
        std::move(inbound),
        transport::link::ReplySlot(
            [answer](transport::link::OutboundReply reply) { *answer = reply.bytes; }));
    last_ = answer;
    return *answer;
  }
  /// The leniencies that the last call needed.
  [[nodiscard]] std::vector<std::string_view> leniencies() const { return notes_->leniencies; }
  /// Who is proven to have sent the last call; empty: nobody.
  [[nodiscard]] const std::string& said_by() const { return notes_->said_by; }
  json call(const std::string& method, json message) {
    json frame = {
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(message)}};
    auto answer = post(frame.dump());
    return answer ? json::parse(*answer, nullptr, false) : json(nullptr);
  }
  /// `message` with what its referee, or the manager, shows to this player.
  [[nodiscard]] json authorised(json message, int attempt = 1) const {
    if (!message.contains("match_id")) {
      message["auth_token"] = token_.reveal();
      return message;
    }
    const core::MatchId match(message["match_id"].get<std::string>());
    message["auth_token"] = agent::identity::match_credential(token_, match, attempt).reveal();
    return message;
  }

  const core::AuthToken token_{"tok_p01_secret"};
  FakeTime time_;
  ScriptedRandom random_;
  std::shared_ptr<std::optional<std::string>> last_;
  std::shared_ptr<rpc::MessageNotes> notes_;
  std::unique_ptr<player::service::PlayerService> service_;
};

}  // namespace league::testing
