#include <algorithm>
#include <map>
#include <set>

#include "league_manager/core/schedule.h"
#include "league_manager/core/standings.h"
#include "league_manager/events/agent_ref.h"
#include "league_manager/events/settings.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/verify/verify_rules.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
using nlohmann::json;

struct Players {
  std::string a;
  std::string b;
};

/// The players of a match. A round in which no match could be played is not announced, so its
/// pairings are computed from the schedule.
Players players_of(const std::string& match_id, const LeagueEvidence& evidence,
                   const lm::Schedule& schedule, const JournalLeague* kept) {
  const MatchEvidence* match = evidence.match(match_id);
  if (match != nullptr && match->is_announced()) return {match->player_a, match->player_b};
  for (const VoidedMatch& one : kept != nullptr ? kept->voided : std::vector<VoidedMatch>()) {
    if (one.replay == match_id && one.match_id != match_id)
      return players_of(one.match_id, evidence, schedule, kept);
  }
  auto key = lm::events::MatchKey::parse(match_id);
  if (!key || !schedule.contains(*key)) return {};
  lm::Pairing planned = schedule.pairing(*key);
  return {lm::events::AgentRef::player(planned.player_a).id(),
          lm::events::AgentRef::player(planned.player_b).id()};
}

bool is_row_of(const json& row, const lm::RankedPlayer& own) {
  return text_at(row, "player_id") == lm::events::AgentRef::player(own.player).id() &&
         number_at(row, "rank") == own.rank && number_at(row, "points") == own.tally.points &&
         number_at(row, "wins") == own.tally.wins && number_at(row, "draws") == own.tally.draws &&
         number_at(row, "losses") == own.tally.losses &&
         number_at(row, "played") == own.tally.played;
}

/// The seats below the highest one in the table that have no row: they were freed before the start.
/// Nothing if that cannot be, because most of them are.
std::vector<int> seats_without_row(const std::set<std::string>& with_row) {
  std::set<int> seats;
  for (const std::string& id : with_row) {
    if (const auto player = lm::events::AgentRef::parse(id)) seats.insert(player->index);
  }
  std::vector<int> absent;
  if (seats.empty() || *seats.rbegin() > 2 * static_cast<int>(with_row.size())) return absent;
  for (int seat = 0; seat < *seats.rbegin(); ++seat)
    if (!seats.contains(seat)) absent.push_back(seat);
  return absent;
}

}  // namespace

void check_table(const FinalTable& table, const LeagueEvidence& evidence,
                 const LeagueResults& results, const JournalLeague* kept, Findings& findings) {
  const json& rows = table.standings;
  const LogPosition& place = table.place;
  if (rows.empty() || rows.size() > 10'000) return;
  if (kept != nullptr) {
    std::set<std::string> voided;
    for (const VoidedMatch& one : kept->voided) voided.insert(one.match_id);
    if (voided != table.voided)
      findings.fault(
          place, "table.voided",
          "the matches that the final table leaves out are not those that are void in the journal");
  }
  std::set<std::string> with_row;
  for (const json& row : rows) with_row.insert(text_at(row, "player_id"));
  const std::vector<int> absent = seats_without_row(with_row);
  const auto seated = static_cast<int>(rows.size());
  // The journal says by which rule the table is made; without it, the manager's message.
  const std::optional<int> stated = kept != nullptr ? kept->meetings : table.meetings;
  const int meetings = std::clamp(stated.value_or(1), 1, lm::events::kMostMeetings);
  const lm::Schedule schedule(seated, absent, meetings);
  lm::Standings standings(seated + static_cast<int>(absent.size()), absent,
                          stated ? lm::DirectMatches::kIfEquallyOften : lm::DirectMatches::kAlways);
  std::map<std::pair<int, int>, int> played;
  for (const auto& [match, result] : results) {
    if (table.voided.contains(match)) continue;
    Players players = players_of(match, evidence, schedule, kept);
    auto a = lm::events::AgentRef::parse(players.a);
    auto b = lm::events::AgentRef::parse(players.b);
    if (!a || !b || !with_row.contains(players.a) || !with_row.contains(players.b) ||
        a->index >= standings.players() || b->index >= standings.players() ||
        a->index == b->index || ++played[std::minmax(a->index, b->index)] > meetings)
      return findings.fault(place, "table.players", match + " has a player without a row");
    lm::events::CompactResult counted;
    counted.outcome = result.score.outcome;
    for (game::Side side : game::kBothSides)
      counted.points[side] = static_cast<std::uint8_t>(result.score.points[side]);
    standings.record(a->index, b->index, counted);
  }
  auto expected = standings.table();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_row_of(rows[i], expected[i])) continue;
    return findings.fault(
        place, "table.differs",
        "row " + std::to_string(i + 1) + " of the final table does not follow from the results");
  }
}

}  // namespace league::tools::auditor
