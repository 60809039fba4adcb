#include "league_manager/service/manager_resources.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/fields.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/service/query_answers.h"

namespace league::league_manager::service {
namespace {

using nlohmann::json;

constexpr const char* kStandings = "league://standings";
constexpr std::chrono::milliseconds kNotificationInterval{200};
constexpr const char* kSchedule = "league://schedule";
/// A resource is one text: for more matches than this the schedule is available only from
/// `league_query`.
constexpr std::size_t kMostMatches = 2000;

bool is_table_news(const events::Event& event) {
  return std::holds_alternative<events::AgentRegistered>(event.body) ||
         std::holds_alternative<events::LeagueStarted>(event.body) ||
         std::holds_alternative<events::MatchReported>(event.body) ||
         std::holds_alternative<events::MatchForfeited>(event.body);
}

json match_row(const League& league, const MatchView& view) {
  auto match = rounds::scheduled_match(league, view);
  return schema::object_to_json([&](schema::Fields& a) {
    a.required("match_id", match.match_id, "round_id", match.round_id, "game_type", match.game_type,
               "player_A_id", match.player_a_id, "player_B_id", match.player_b_id);
    a.nullable("referee_id", match.referee_id);
    a.required("status", match.status);
    a.nullable("winner", match.winner);
    a.required("attempt", view.attempt);
    a.flag("technical", view.result && view.result->is_technical());
    a.flag("void", view.result && view.result->is_voided);
  });
}

}  // namespace

ManagerResources::ManagerResources(mcp::Server& server, files::Ledger& ledger, core::Timer& timer,
                                   const News& news)
    : ledger_(ledger),
      news_(std::make_shared<rounds::NotificationThrottle>(timer, kNotificationInterval,
                                                           [&server] {
                                                             if (!server.has_followers())
                                                               return false;
                                                             server.notify_resource_updated(
                                                                 kStandings);
                                                             return true;
                                                           })),
      prompts_(server, ledger) {
  auto& registry = server.registry();
  registry.add(
      {.uri = kStandings,
       .name = "standings",
       .title = "Standings",
       .description = "The league's table by rank. Subscribe to be notified when it changes.",
       .is_subscribable = true,
       .read = [this](const auto& read) { read_standings(read); }});
  registry.add({.uri = kSchedule,
                .name = "schedule",
                .title = "Schedule",
                .description = "The matches of the league in the order of their rounds.",
                .read = [this](const auto& read) { read_schedule(read); }});
  registry.add({.uri = "league://round/{round}",
                .name = "round",
                .title = "Round",
                .description = "The matches of one round, from 1 on.",
                .read = [this](const auto& read) { read_round(read); }});
  if (news) {
    registry.add(
        {.uri = "league://news",
         .name = "news",
         .title = "News",
         .description = "The last 200 lines of the operator's log.",
         .read = [this, news](const auto& read) { answer(read, R"({"lines":)" + news() + "}"); }});
  }
  registry.add({.uri = "league://match/{match_id}",
                .name = "match",
                .title = "Match",
                .description = "One match: its players, state and winner.",
                .read = [this](const auto& read) { read_match(read); }});
  ledger.observe([news = news_](const events::Events& events) {
    if (std::ranges::any_of(events, is_table_news)) news->changed();
  });
}

ManagerResources::~ManagerResources() { news_->end(); }

void ManagerResources::answer(const mcp::ServerResource::Read& read, const std::string& text) {
  send_when_durable(ledger_, read.request.reply,
                    mcp::text_contents(read.uri, "application/json", text));
}

void ManagerResources::read_standings(const mcp::ServerResource::Read& read) {
  json table = ledger_.read([](const League& league) {
    return json{{"league_id", league.settings().league_id.str()},
                {"standings", envelope::encode_standings(rounds::standings_rows(league))},
                {"total_players", league.roster().taken(events::AgentKind::kPlayer)}};
  });
  answer(read, rpc::to_json_text(table));
}

void ManagerResources::read_schedule(const mcp::ServerResource::Read& read) {
  json schedule = ledger_.read([](const League& league) {
    json rows = json::array();
    for (const auto& view : league.schedule_page(0, kMostMatches))
      rows.push_back(match_row(league, view));
    return json{{"league_id", league.settings().league_id.str()},
                {"matches", std::move(rows)},
                {"total_matches", league.schedule().total_matches()}};
  });
  answer(read, rpc::to_json_text(schedule));
}

void ManagerResources::read_round(const mcp::ServerResource::Read& read) {
  // Parses the round by the id of its first match.
  const auto key = events::MatchKey::parse("R" + read.variables.at("round") + "M1");
  const json round = ledger_.read([&](const League& league) {
    const Schedule& schedule = league.schedule();
    if (!key || !schedule.contains(*key)) return json();
    json rows = json::array();
    for (const auto& view : league.schedule_page(
             schedule.index_of(*key), static_cast<std::size_t>(schedule.matches_in(key->round))))
      rows.push_back(match_row(league, view));
    return json{{"league_id", league.settings().league_id.str()},
                {"round_id", key->round},
                {"total_rounds", schedule.rounds()},
                {"matches", std::move(rows)}};
  });
  if (round.is_null()) return fail_unknown(read, "round");
  answer(read, rpc::to_json_text(round));
}

void ManagerResources::fail_unknown(const mcp::ServerResource::Read& read,
                                    const std::string& what) {
  read.request.reply.fail(mcp::not_found_code(read.request.reply),
                          "Resource not found: the league has no such " + what,
                          {{"uri", read.uri}});
}

void ManagerResources::read_match(const mcp::ServerResource::Read& read) {
  const std::string& id = read.variables.at("match_id");
  auto key = events::MatchKey::parse(id);
  json match = ledger_.read([&](const League& league) {
    auto view = key ? league.match(*key) : std::nullopt;
    return view ? match_row(league, *view) : json(nullptr);
  });
  if (match.is_null()) return fail_unknown(read, "match");
  answer(read, rpc::to_json_text(match));
}

}  // namespace league::league_manager::service
