#include "league_manager/service/query_answers.h"

#include <algorithm>

#include "league_manager/rounds/league_view.h"

namespace league::league_manager::service {
namespace {

using envelope::LeagueQueryResponse;
using envelope::QueryType;

struct Page {
  std::size_t offset;
  std::size_t limit;
};

Page page_of(const envelope::QueryParams& params) {
  return {static_cast<std::size_t>(std::max(0, params.offset.value_or(0))),
          static_cast<std::size_t>(std::clamp(params.limit.value_or(kQueryPage), 0, kQueryPage))};
}

LeagueQueryResponse fail(LeagueQueryResponse response, core::ErrorCode code, std::string text) {
  const auto& row = core::error_info(code);
  response.success = false;
  response.error =
      envelope::QueryError{std::string(row.wire_code), std::string(row.name), std::move(text)};
  return response;
}

void add_schedule(const League& league, const envelope::QueryParams& params,
                  LeagueQueryResponse& response) {
  std::vector<envelope::ScheduledMatch> rows;
  Page page = page_of(params);
  int total = static_cast<int>(league.schedule().total_matches());
  std::size_t begin = page.offset;
  std::size_t limit = page.limit;
  if (params.round_id) {
    const Schedule& schedule = league.schedule();
    const int round = std::clamp(*params.round_id, 1, std::max(1, schedule.rounds()));
    total = schedule.rounds() > 0 ? schedule.matches_in(round) : 0;
    begin = schedule.index_of({round, 1}) + page.offset;
    limit = std::min(limit, static_cast<std::size_t>(total) -
                                std::min(page.offset, static_cast<std::size_t>(total)));
  }
  for (const auto& view : league.schedule_page(begin, limit))
    rows.push_back(rounds::scheduled_match(league, view));
  response.data.schedule = std::move(rows);
  response.data.total = total;
}

}  // namespace

LeagueQueryResponse answer_query(const League& league, const std::string& asker,
                                 const envelope::LeagueQuery& query) {
  LeagueQueryResponse response;
  response.query_type = std::string(envelope::query_type_name(query.query_type));
  response.success = true;
  const auto& params = query.query_params;
  if (query.query_type == QueryType::kGetStandings) {
    Page page = page_of(params);
    response.data.standings = rounds::standings_page(league, page.offset, page.limit);
    response.data.total = league.standings().players();
    return response;
  }
  if (query.query_type == QueryType::kGetSchedule) {
    const int rounds = league.schedule().rounds();
    const int round = params.round_id.value_or(1);
    if (rounds > 0 && (round < 1 || round > rounds)) {
      return fail(std::move(response), core::ErrorCode::kInvalidFieldValue,
                  "query_params.round_id " + std::to_string(round) +
                      " is not a round of this league, which has 1 to " + std::to_string(rounds));
    }
    add_schedule(league, params, response);
    return response;
  }
  if (query.query_type == QueryType::kGetRegistrations) return response;  // see RefereeTools
  std::string id = params.player_id ? params.player_id->str() : asker;
  auto player = league.roster().find(id);
  if (!player || player->kind != events::AgentKind::kPlayer) {
    return fail(
        std::move(response), core::ErrorCode::kPlayerNotRegistered,
        "query_params.player_id \"" + id.substr(0, 64) + "\" is not a player of this league");
  }
  if (query.query_type == QueryType::kGetNextMatch) {
    response.data.next_match = rounds::next_match(league, player->index);
  } else {
    const Page page = page_of(params);
    response.data.stats = rounds::player_row(league, player->index);
    response.data.matches = rounds::played_matches(league, player->index, page.offset, page.limit);
  }
  return response;
}

core::Result<events::Events> decide_dispute(const League& league, const std::string& asker,
                                            const envelope::QueryParams& params,
                                            core::UtcTimestamp now) {
  if (!params.match_id) {
    return core::Error{core::ErrorCode::kMissingRequiredField,
                       "DISPUTE_MATCH needs query_params.match_id", "/query_params/match_id"};
  }
  const auto match = events::MatchKey::parse(params.match_id->str());
  if (!match) {
    return core::Error{core::ErrorCode::kMatchNotFound,
                       "query_params.match_id \"" + params.match_id->str().substr(0, 64) +
                           "\" is not of the form R1M1",
                       "/query_params/match_id"};
  }
  const auto player = league.roster().find(asker);
  if (!player || player->kind != events::AgentKind::kPlayer) {
    return core::Error{core::ErrorCode::kNotAuthorized, "only a player can dispute a result",
                       "/sender"};
  }
  return league.decide_dispute(player->index, *match, params.reason.value_or("no reason given"),
                               now);
}

LeagueQueryResponse dispute_answer(const std::optional<core::Error>& refusal) {
  LeagueQueryResponse response;
  response.query_type = std::string(envelope::query_type_name(QueryType::kDisputeMatch));
  if (refusal) return fail(std::move(response), refusal->code, refusal->message);
  response.success = true;
  response.data.disputed = true;
  return response;
}

}  // namespace league::league_manager::service
