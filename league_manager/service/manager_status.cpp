#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/service/figure_fields.h"
#include "league_manager/service/manager_service.h"

// What get_league_status answers.
namespace league::league_manager::service {

using nlohmann::json;

namespace {

json ids_of(const std::vector<events::MatchKey>& matches) {
  json ids = json::array();
  for (events::MatchKey match : matches) ids.push_back(match.id().str());
  return ids;
}

/// By match, the players that dispute it.
json disputes_of(const League& league) {
  json out = json::object();
  for (const auto& [match, players] : league.disputes()) {
    for (int player : players)
      out[match.id().str()].push_back(events::AgentRef::player(player).id());
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
json voided_of(const League& league) {
  json out = json::object();
  for (const auto& [match, replay] : league.voided())
    out[match.id().str()] = replay ? json(replay->id().str()) : json();
  return out;
}

json replication_of(const spectators::ReplicationFigures& figures) {
  json standbys = json::array();
  for (const auto& standby : figures.standbys) {
    standbys.push_back({{"name", standby.name},
                        {"entries", standby.entries},
                        {"in_sync", standby.in_sync},
                        {"silent_seconds", standby.silent_seconds}});
  }
  json out = {{"leader", figures.leader},       {"term", figures.term},
              {"stream", figures.stream},       {"acknowledged", figures.acknowledged},
              {"written", figures.written},     {"standbys", std::move(standbys)},
              {"waits_for", figures.waits_for}, {"store_bytes", figures.store_bytes},
              {"store_max_bytes", nullptr}};
  if (figures.store_max_bytes >= 0) out["store_max_bytes"] = figures.store_max_bytes;
  return out;
}

}  // namespace

json ManagerService::status() const {
  json out = deps_.ledger.read([this](const League& league) { return status_of(league); });
  const auto replication = deps_.replication ? deps_.replication() : std::nullopt;
  if (replication) out["replication"] = replication_of(*replication);
  add_luck(out);
  return out;
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
  durable["replication"] = replication_of(*replication);
  add_luck(durable);
  call.reply.send(durable);
}

void ManagerService::add_luck(json& status) const {
  const auto known = figures();
  if (!known || known->matches == 0) return;
  if (known->luck) {
    status["luck"] = *known->luck;
    status["luck_sentence"] = table::luck_sentence(known->luck);
  }
  if (!status["champion"].is_object()) return;
  add_rating(status["champion"], *known);
  const auto champion = events::AgentRef::parse(schema::text_at(status["champion"], "player_id"));
  status["champion"]["decided"] = champion && table::is_decided(*known, champion->index);
}

json ManagerService::status_of(const League& league) const {
  auto status = league.status();
  json out = {{"league_id", options_.league_id.str()},
              {"state", league_state_name(status.state)},
              {"players", status.players},
              {"players_expected", league.settings().players},
              {"referees", status.referees},
              {"referees_expected", league.settings().referees},
              {"current_round", status.current_round},
              {"total_rounds", status.total_rounds},
              {"total_matches", status.total_matches},
              {"matches_completed", status.finished.total_matches},
              {"matches_in_play", league.board().with_status(MatchStatus::kAssigned).size()},
              {"wins", status.finished.wins},
              {"draws", status.finished.draws},
              {"technical_losses", status.finished.technical_losses},
              {"champion", nullptr},
              {"started_at", nullptr},
              {"completed_at", nullptr}};
  if (!options_.league_key.empty()) out["league_key"] = options_.league_key;
  if (options_.publishes_events) out["broadcast_key"] = options_.league_key;
  if (!league.unproven().empty()) out["unproven"] = ids_of(league.unproven());
  if (!league.disputes().empty()) out["disputed"] = disputes_of(league);
  if (!league.contradictions().empty()) out["contradicted"] = contradictions_of(league);
  if (const auto shared = rounds::shared_first_place(league); shared.size() > 1)
    out["shared_first_place"] = shared;
  if (league.is_paused()) {
    out["paused"] = true;
    if (!league.pause_reason().empty()) out["pause_reason"] = league.pause_reason();
  }
  if (league.is_ended_early()) out["ended_early"] = true;
  if (!league.voided().empty()) out["voided"] = voided_of(league);
  if (status.started_at) out["started_at"] = status.started_at->to_log();
  if (status.completed_at) out["completed_at"] = status.completed_at->to_log();
  if (league.champion()) {
    auto champion = rounds::league_completed(league).champion;
    out["champion"] = {{"player_id", champion->player_id.str()},
                       {"display_name", champion->display_name},
                       {"points", champion->points}};
  }
  return out;
}

}  // namespace league::league_manager::service
