#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/journal/sqlite_journal.h"
#include "common/schema/parse_json.h"
#include "league_manager/core/schedule.h"
#include "league_manager/core/standings.h"
#include "league_manager/events/agent_ref.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/events/settings.h"
#include "league_manager/files/league_files.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

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

void check_table(const FinalTable& table, const LeagueCase& league, const LeagueResults& results,
                 Findings& findings) {
  const JournalLeague* kept = league.kept;
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
    Players players = players_of(match, league.evidence, schedule, kept);
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

namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;
using nlohmann::json;

/// The table that the manager sent to everybody; null if it sent none.
json final_standings_of(const std::vector<LeagueLog>& logs) {
  for (const LeagueLog& log : logs) {
    if (const FinalTable* table = log.facts.final_table()) return table->standings;
  }
  return nullptr;
}

/// One file, and its expected content.
struct Projection {
  fs::path file;
  const char* rule;
  const lm::files::LeagueBook::LastChange& (lm::files::LeagueBook::*stamp)() const;
  core::Result<void> (*write)(const lm::files::LeagueBook&, const lm::files::FileSink&);
  std::string content = {};
  std::uint64_t entry = 0;  ///< of the journal, after which it was made
  std::string last_updated = {};
  std::optional<std::string> expected = {};
};

std::vector<Projection> projections_in(const fs::path& data) {
  std::vector<Projection> found;
  std::error_code error;
  for (const auto& league : fs::directory_iterator(data / "leagues", error)) {
    found.push_back({league.path() / "standings.json", "projection.standings",
                     &lm::files::LeagueBook::table_change, lm::files::write_standings});
    found.push_back({league.path() / "rounds.json", "projection.rounds",
                     &lm::files::LeagueBook::rounds_change, lm::files::write_rounds});
  }
  std::erase_if(found, [](const Projection& one) { return !fs::exists(one.file); });
  std::ranges::sort(found, {}, &Projection::file);
  return found;
}

std::string written(const lm::files::LeagueBook& book, const Projection& projection) {
  std::string text;
  auto done = projection.write(book, [&text](std::string_view part) {
    text += part;
    return core::Result<void>();
  });
  return done ? text : std::string();
}

/// The last entry of the journal, and when a manager last took over from another one.
struct JournalEnd {
  std::uint64_t entry = 0;
  std::optional<core::UtcTimestamp> last_term;
};

/// Replays the journal and renders each file again at the entry from which it was made.
core::Result<JournalEnd> replay(const fs::path& journal, std::vector<Projection>& projections) {
  lm::files::LeagueBook book;
  JournalEnd end;
  auto read = journal::read_journal(journal, [&](const journal::Entry& entry) {
    auto event = lm::events::from_record(entry.record);
    if (!event) return core::Result<void>(event.error());
    if (auto applied = book.apply(*event); !applied) return applied;
    end.entry = book.entries();
    const auto* continued = std::get_if<lm::events::LeagueContinued>(&event->body);
    if (continued != nullptr && continued->term) end.last_term = event->at;
    for (Projection& one : projections) {
      if (!one.expected && (book.*one.stamp)().entry == one.entry)
        one.expected = written(book, one);
    }
    return core::Result<void>();
  });
  if (!read) return read.error();
  return end;
}

/// Reports a file that is ahead of the journal: an incident if another manager took over since,
/// because it may lack results of its predecessor; otherwise a fault.
void note_ahead(const Projection& one, const JournalEnd& end, Findings& findings) {
  std::string text = "it was made after entry " + std::to_string(one.entry) +
                     " of the journal, whose last entry is " + std::to_string(end.entry);
  auto updated = core::UtcTimestamp::parse(one.last_updated);
  bool was_taken_over = end.last_term && updated && *updated < *end.last_term;
  auto& list = was_taken_over ? findings.incidents : findings.faults;
  list.push_back(
      {one.file.string(), 0, "projection.ahead",
       text + (was_taken_over ? ": another manager took over since, at " + end.last_term->to_wire()
                              : ": the journal has lost entries")});
}

/// The number of the first line in which two texts differ.
std::size_t first_other_line(const std::string& a, const std::string& b) {
  auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(std::count(a.begin(), at, '\n')) + 1;
}

void compare_with_message(const Projection& projection, const json& file, const json& rows,
                          Findings& findings) {
  if (!rows.is_array() || text_at(file, "status") != "COMPLETED" || !file.contains("standings") ||
      file["standings"] == rows)
    return;
  findings.faults.push_back(
      {projection.file.string(), 0, projection.rule,
       "its rows are not those of the final table that was sent to everybody"});
}

/// Removes from `expected` the parts that older programs did not write, if `file` has none of them.
void forget_new(json& expected, const json& file) {
  if (expected.is_object() && file.is_object()) {
    for (const char* name : {"states", "failures"}) {
      if (!file.contains(name)) expected.erase(name);
    }
    for (auto& [name, value] : expected.items()) {
      if (auto own = file.find(name); own != file.end()) forget_new(value, *own);
    }
  } else if (expected.is_array() && file.is_array() && expected.size() == file.size()) {
    for (std::size_t i = 0; i < file.size(); ++i) forget_new(expected[i], file[i]);
  }
}

/// Whether a file differs from the output of this program only in parts that older programs did not
/// write.
bool is_of_older_program(const Projection& one) {
  auto file = schema::parse_json(one.content);
  auto expected = schema::parse_json(*one.expected);
  if (!file || !expected) return false;
  const json whole = *expected;
  forget_new(*expected, *file);
  return *expected != whole && *expected == *file;
}

void compare_with_journal(const Projection& one, const JournalEnd& end, Findings& findings) {
  if (one.entry == 0) return;
  if (one.entry > end.entry) return note_ahead(one, end, findings);
  if (!one.expected) {
    findings.faults.push_back({one.file.string(), 0, one.rule,
                               "it says that it was made after entry " + std::to_string(one.entry) +
                                   " of the journal, but that entry does not change it"});
  } else if (*one.expected != one.content && !is_of_older_program(one)) {
    findings.faults.push_back({one.file.string(), first_other_line(one.content, *one.expected),
                               one.rule, "it does not follow from the journal"});
  }
}

}  // namespace

/// Compares `standings.json` and `rounds.json`, byte by byte, with what follows from the journal up
/// to the entry that the file names, and the rows of a finished league with the final table that
/// was sent. A file that is older than the journal is no fault, since files are written in the
/// background; one that is ahead is, unless a manager took over since. docs/files.md.
void check_projections(const LeagueCase& league, Findings& findings) {
  const fs::path& data = league.data;
  const json final_standings = final_standings_of(league.logs);
  auto projections = projections_in(data);
  for (Projection& one : projections) {
    one.content = bytes_of(one.file);
    auto file = schema::parse_json(one.content);
    if (!file || !field_at(*file, "journal_entry").is_number_unsigned()) {
      findings.faults.push_back(
          {one.file.string(), 0, one.rule,
           "it has no journal_entry: it is damaged, or not a table of a league"});
      continue;
    }
    one.entry = (*file)["journal_entry"].get<std::uint64_t>();
    one.last_updated = text_at(*file, "last_updated");
    compare_with_message(one, *file, final_standings, findings);
  }
  fs::path journal = data / "journal" / "journal.sqlite";
  if (!fs::exists(journal) || projections.empty()) return;
  auto end = replay(journal, projections);
  if (!end) return;  // reported as journal.damaged
  for (const Projection& one : projections) compare_with_journal(one, *end, findings);
}

}  // namespace league::tools::auditor
