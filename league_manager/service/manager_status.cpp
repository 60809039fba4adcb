#include <nlohmann/json.hpp>

#include "common/schema/fields.h"
#include "common/schema/json_fields.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/service/figure_fields.h"
#include "league_manager/service/manager_service.h"

// What get_league_status answers.
namespace league::league_manager::service {

using nlohmann::json;

namespace {

std::vector<core::MatchId> ids_of(const std::vector<events::MatchKey>& matches) {
  std::vector<core::MatchId> ids;
  for (events::MatchKey match : matches) ids.push_back(match.id());
  return ids;
}

/// By match, the players that dispute it.
std::map<core::MatchId, std::vector<std::string>> disputes_of(const League& league) {
  std::map<core::MatchId, std::vector<std::string>> out;
  for (const auto& [match, players] : league.disputes()) {
    for (int player : players) out[match.id()].push_back(events::AgentRef::player(player).id());
  }
  return out;
}

/// By match, what players said against technical losses that were reported.
json contradictions_of(const League& league) {
  json out = json::object();
  for (const auto& [match, questions] : league.contradictions()) {
    for (const auto& asked : questions) {
      for (const auto& word : asked.words) {
        out[match.id().str()].push_back({{"attempt", asked.attempt},
                                         {"referee", events::AgentRef::referee(asked.referee).id()},
                                         {"player", events::AgentRef::player(word.player).id()},
                                         {"word", events::player_word_name(word.word)},
                                         {"text", word.text}});
      }
    }
  }
  return out;
}

/// By void match, the match that replays it; null if there is none.
std::map<core::MatchId, std::optional<core::MatchId>> voided_of(const League& league) {
  std::map<core::MatchId, std::optional<core::MatchId>> out;
  for (const auto& [match, replay] : league.voided())
    out[match.id()] = replay ? std::optional(replay->id()) : std::nullopt;
  return out;
}

/// Null before the end of the league.
json champion_of(const League& league) {
  if (!league.champion()) return {};
  const auto champion = rounds::league_completed(league).champion;
  return {{"player_id", champion->player_id.str()},
          {"display_name", champion->display_name},
          {"points", champion->points}};
}

}  // namespace

json ManagerService::status() const {
  return completed(deps_.ledger.read([this](const League& league) { return status_of(league); }));
}

void ManagerService::on_get_league_status(agent::host::ToolCall call) {
  // The latest events would be answered when they are acknowledged, but here somebody asks why that
  // takes so long.
  const auto replication = deps_.replication ? deps_.replication() : std::nullopt;
  json durable;
  const bool is_shown =
      replication && !replication->waits_for.empty() && deps_.read_durable &&
      deps_.read_durable([&](const League& league) { durable = status_of(league); });
  if (!is_shown) return answer_when_durable(deps_.ledger, std::move(call.reply), status());
  call.reply.send(completed(std::move(durable)));
}

json ManagerService::completed(json status) const {
  const auto replication = deps_.replication ? deps_.replication() : std::nullopt;
  if (replication) status["replication"] = schema::to_json(*replication);
  const auto known = figures();
  if (!known || known->matches == 0) return status;
  if (known->luck) {
    status["luck"] = *known->luck;
    status["luck_sentence"] = table::luck_sentence(known->luck);
  }
  json& champion = status["champion"];
  if (!champion.is_object()) return status;
  add_rating(champion, *known);
  champion["decided"] =
      table::is_decided(table::rating_of(*known, schema::text_at(champion, "player_id")));
  return status;
}

json ManagerService::status_of(const League& league) const {
  const auto status = league.status();
  const auto logged = [](const std::optional<core::UtcTimestamp>& at) {
    return at ? std::optional(at->to_log()) : std::nullopt;
  };
  return schema::object_to_json([&](schema::Fields& a) {
    a.required("league_id", options_.league_id);
    a.required("state", league_state_name(status.state));
    a.required("players", status.players);
    a.required("players_expected", league.settings().players);
    a.required("referees", status.referees);
    a.required("referees_expected", league.settings().referees);
    a.required("current_round", status.current_round);
    a.required("total_rounds", status.total_rounds);
    a.required("total_matches", status.total_matches);
    a.required("matches_completed", status.finished.total_matches);
    a.required("matches_in_play", league.board().with_status(MatchStatus::kAssigned).size());
    a.required("wins", status.finished.wins);
    a.required("draws", status.finished.draws);
    a.required("technical_losses", status.finished.technical_losses);
    a.required("champion", champion_of(league));
    a.nullable("started_at", logged(status.started_at));
    a.nullable("completed_at", logged(status.completed_at));
    a.filled("league_key", options_.league_key);
    if (options_.publishes_events) a.required("broadcast_key", options_.league_key);
    a.filled("unproven", ids_of(league.unproven()));
    a.filled("disputed", disputes_of(league));
    a.filled("contradicted", contradictions_of(league));
    if (const auto shared = rounds::shared_first_place(league); shared.size() > 1)
      a.required("shared_first_place", shared);
    a.flag("paused", league.is_paused());
    if (league.is_paused()) a.filled("pause_reason", league.pause_reason());
    a.flag("ended_early", league.is_ended_early());
    a.filled("voided", voided_of(league));
  });
}

}  // namespace league::league_manager::service
