#include "league_manager/service/referee_tools.h"

#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/envelope/codec.h"
#include "common/schema/json_fields.h"

namespace league::league_manager::service {
namespace {

using core::ErrorCode;
using nlohmann::json;

}  // namespace

RefereeTools::RefereeTools(agent::host::AgentServer& server, files::Ledger& ledger,
                           rounds::LeagueRunner& league_runner, core::LeagueId league_id)
    : ledger_(ledger), league_runner_(league_runner), league_id_(std::move(league_id)) {
  server.bind_tool("get_assigned_matches", [this](agent::host::ToolCall call) {
    on_get_assigned_matches(std::move(call));
  });
}

std::optional<int> RefereeTools::referee_of(const std::string& token) const {
  const std::string hash = core::AuthToken(token).hash();
  return ledger_.read([&](const League& league) -> std::optional<int> {
    for (int i = 0; i < league.roster().count(events::AgentKind::kReferee); ++i) {
      const events::Agent& agent = league.roster().agent(events::AgentRef::referee(i));
      if (core::constant_time_equal(agent.credential.token_hash, hash)) return i;
    }
    return std::nullopt;
  });
}

void RefereeTools::note_polling(int referee) {
  const bool is_ours = ledger_.read([referee](const League& league) {
    return league.roster().agent(events::AgentRef::referee(referee)).profile.match_credentials;
  });
  if (!is_ours) league_runner_.note_polling(referee);
}

envelope::NormaliseDefaults RefereeTools::query_defaults(const std::string& token) const {
  envelope::NormaliseDefaults defaults;
  if (token.empty()) return defaults;
  if (auto referee = referee_of(token)) {
    defaults.sender = events::AgentRef::referee(*referee).sender();
    defaults.league_id = league_id_;
  }
  return defaults;
}

std::optional<json> RefereeTools::registrations_for(const std::string& asker) {
  const auto referee = events::AgentRef::parse(asker);
  if (!referee || referee->kind != events::AgentKind::kReferee) return std::nullopt;
  note_polling(referee->index);
  const auto open = announced_matches(referee->index);
  {
    std::lock_guard lock(mutex_);
    told_[referee->index] = Attempts(open.begin(), open.end());
  }
  return ledger_.read([&](const League& league) {
    json players = json::array();
    for (const auto& [match, attempt] : open) {
      const Pairing pairing = league.schedule().pairing(match);
      for (int index : {pairing.player_a, pairing.player_b}) {
        const events::AgentRef player = events::AgentRef::player(index);
        const events::AgentProfile& profile = league.roster().agent(player).profile;
        const std::string endpoint =
            league_runner_.called_at(profile.endpoint, league.roster().agent(*referee).profile);
        players.push_back({{"player_id", player.id()},
                           {"display_name", profile.display_name},
                           {"endpoint", endpoint},
                           {"contact_endpoint", endpoint}});
      }
    }
    return players;
  });
}

std::vector<std::pair<events::MatchKey, int>> RefereeTools::announced_matches(int referee) const {
  std::vector<std::pair<events::MatchKey, int>> open;
  ledger_.read([&](const League& league) {
    for (events::MatchKey match : league.board().open_matches(referee))
      open.emplace_back(match, league.board().slot(match).attempts);
  });
  std::erase_if(open, [this](const auto& one) {
    return !league_runner_.is_announced(one.first, one.second);
  });
  return open;
}

void RefereeTools::on_get_assigned_matches(agent::host::ToolCall call) {
  const std::string& token = schema::text_at(call.arguments, "auth_token");
  const auto referee = token.empty() ? std::nullopt : referee_of(token);
  if (!referee) {
    return call.reply.refuse(
        {token.empty() ? ErrorCode::kAuthTokenMissing : ErrorCode::kAuthTokenInvalid,
         "get_assigned_matches is for referees: auth_token must be the one from the answer to the "
         "registration",
         "/auth_token"});
  }
  note_polling(*referee);
  auto open = announced_matches(*referee);
  {
    // A referee that asks for players does not know the players of a match that was assigned after
    // its question. It would ignore the match, which is shown as PENDING only once: withhold it
    // until the referee has asked again.
    std::lock_guard lock(mutex_);
    if (auto told = told_.find(*referee); told != told_.end())
      std::erase_if(open, [&](const auto& one) { return !told->second.contains(one); });
  }
  json matches = json::array();
  for (const auto& [match, attempt] : open) {
    auto assignment = league_runner_.assignments(*referee, {match});
    if (assignment.empty()) continue;
    json row = envelope::encode_assignments(assignment).front();
    row["round"] = match.round;
    row["round_id"] = match.round;
    // A match is PENDING only in the first answer: the referee starts pending matches, and polls
    // again while it plays them.
    std::lock_guard lock(mutex_);
    row["status"] = shown_.emplace(match, attempt).second ? "PENDING" : "IN_PROGRESS";
    matches.push_back(std::move(row));
  }
  rounds::add_spellings(matches);
  call.reply.send({{"status", "ok"},
                   {"referee_id", events::AgentRef::referee(*referee).id()},
                   {"matches", std::move(matches)}});
}

}  // namespace league::league_manager::service
