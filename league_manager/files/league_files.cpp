#include "league_manager/files/league_files.h"

#include <algorithm>

#include "common/rpc/json_object.h"

namespace league::league_manager::files {
namespace {

using rpc::JsonObject;

constexpr std::size_t kPart = 256UL * 1024;  // bytes that are passed to the sink at once

std::string id_of_player(int index) {
  return index < 0 ? std::string() : events::AgentRef::player(index).id();
}

/// Writes the head that both files have in common.
JsonObject head(std::string& out, const LeagueBook& book, const LeagueBook::LastChange& stamp) {
  const League& league = book.league();
  LeagueStatus status = league.status();
  JsonObject object(out, ",\n");
  object.text("schema_version", kFilesVersion).text("league_id", league.settings().league_id.str());
  if (league.are_files_keyed()) object.text("league_key", league.settings().league_key);
  object.text("game_type", league.settings().rules->game_type())
      .text("status", league_state_name(status.state))
      .number("journal_entry", stamp.entry)
      .time("last_updated", stamp.at)
      .number("total_rounds", status.total_rounds)
      .number("total_matches", status.total_matches);
  return object;
}

void add_row(std::string& out, const LeagueBook& book, const RankedPlayer& row) {
  const events::Agent& agent = book.league().roster().agent(events::AgentRef::player(row.player));
  JsonObject(out)
      .number("rank", row.rank)
      .text("player_id", id_of_player(row.player))
      .text("display_name", agent.profile.display_name)
      .number("played", row.tally.played)
      .number("wins", row.tally.wins)
      .number("draws", row.tally.draws)
      .number("losses", row.tally.losses)
      .number("points", row.tally.points)
      .end();
}

/// Adds the players that are suspended or shut down, by id, with the reason. Separate from the
/// rows, which are the same as in the broadcast table.
void add_states(JsonObject& object, std::string& out, const League& league) {
  object.name("states");
  JsonObject by_player(out);
  for (int i = 0; i < league.roster().count(events::AgentKind::kPlayer); ++i) {
    const events::Agent& agent = league.roster().agent(events::AgentRef::player(i));
    const events::AgentLifecycle& lifecycle = agent.lifecycle;
    const events::AgentState state = lifecycle.state();
    if (agent.is_free) continue;
    if (state != events::AgentState::kSuspended && state != events::AgentState::kShutdown) continue;
    by_player.name(id_of_player(i));
    JsonObject(out)
        .text("state", events::agent_state_name(state))
        .text("reason", lifecycle.reason())
        .text("detail", lifecycle.detail())
        .time("since", lifecycle.state_since())
        .end();
  }
  by_player.end();
}

/// Why the players of a match lost it technically, by id.
void add_failures(JsonObject& object, std::string& out, const LeagueBook& book,
                  const MatchView& view) {
  if (!book.cause(view.match, game::Side::kA) && !book.cause(view.match, game::Side::kB)) return;
  object.name("failures");
  JsonObject by_player(out);
  for (game::Side side : game::kBothSides) {
    const auto* cause = book.cause(view.match, side);
    if (cause == nullptr) continue;
    by_player.name(id_of_player(view.pairing.player(side)));
    JsonObject(out)
        .text("call", cause->call)
        .text("error_code", cause->error_code)
        .number("attempts", cause->attempts)
        .text("text", cause->text)
        .optional_text("field", cause->field)
        .end();
  }
  by_player.end();
}

void add_choices(std::string& out, const LeagueBook& book, const MatchView& view) {
  const auto choices = book.choices(view.match);
  JsonObject(out)
      .optional_text(id_of_player(view.pairing.player_a), choices[game::Side::kA])
      .optional_text(id_of_player(view.pairing.player_b), choices[game::Side::kB])
      .end();
}

void add_disputes(JsonObject& object, std::string& out, const League& league,
                  events::MatchKey match) {
  const auto disputed = league.disputes().find(match);
  if (disputed == league.disputes().end()) return;
  object.name("disputed_by");
  const char* separator = "[";
  for (int player : disputed->second) {
    out += separator + ('"' + id_of_player(player)) + '"';
    separator = ",";
  }
  out += ']';
}

void add_result(JsonObject& object, std::string& out, const LeagueBook& book,
                const MatchView& view) {
  const events::CompactResult& result = *view.result;
  const LeagueBook::MatchNote& note = book.note(view.match);
  object.text("result", result_status(result))
      .optional_text("winner_player_id", id_of_player(winner_of(view.pairing, result)));
  object.name("score");
  JsonObject(out)
      .number(id_of_player(view.pairing.player_a), int{result.points[game::Side::kA]})
      .number(id_of_player(view.pairing.player_b), int{result.points[game::Side::kB]})
      .end();
  object.name("choices");
  add_choices(out, book, view);
  if (result.drawn_number > 0) {
    object.number("drawn_number", static_cast<int>(result.drawn_number));
  } else {
    object.null("drawn_number");
  }
  if (!note.technical_reason.empty()) object.text("technical_reason", note.technical_reason);
  add_failures(object, out, book, view);
  // A file of an older version must still be what follows from its journal, byte for byte.
  const auto fairness =
      book.league().are_files_keyed() ? shown_fairness(book.league(), view) : result.fairness;
  if (fairness) object.text("fairness", game::fairness_name(*fairness));
  if (result.is_unproven) object.flag("unproven", true);
  add_disputes(object, out, book.league(), view.match);
  object.text("decided_by", result.by_manager ? "league_manager" : "referee");
  if (result.incidents > 0) object.number("incidents", static_cast<int>(result.incidents));
  object.time("finished_at", note.finished_at);
}

void add_match(std::string& out, const LeagueBook& book, const MatchView& view) {
  JsonObject object(out);
  object.text("match_id", view.match.id().str())
      .text("player_A_id", id_of_player(view.pairing.player_a))
      .text("player_B_id", id_of_player(view.pairing.player_b))
      .text("status", match_status(view.status));
  object.optional_text("referee_id",
                       view.referee < 0 ? "" : events::AgentRef::referee(view.referee).id());
  object.number("attempt", view.attempt);
  const League& league = book.league();
  if (league.schedule().meetings() > 1)
    object.number("meeting", league.schedule().meeting_of(view.match));
  if (const auto original = league.schedule().replay_of(view.match))
    object.text("replay_of", original->id().str());
  if (view.result) add_result(object, out, book, view);
  if (const auto found = league.voided().find(view.match);
      found != league.voided().end() && found->second)
    object.text("replayed_as", found->second->id().str());
  object.end();
}

void add_round(std::string& out, const LeagueBook& book, int round) {
  const League& league = book.league();
  const LeagueBook::RoundNote& note = book.rounds()[static_cast<std::size_t>(round - 1)];
  JsonObject object(out);
  object.number("round_id", round)
      .text("status", note.completed_at ? "COMPLETED" : "IN_PROGRESS")
      .time("started_at", note.started_at)
      .time("completed_at", note.completed_at);
  if (auto summary = league.round_summary(round)) {
    object.name("summary");
    JsonObject(out)
        .number("total_matches", summary->total_matches)
        .number("wins", summary->wins)
        .number("draws", summary->draws)
        .number("technical_losses", summary->technical_losses)
        .end();
  }
  object.name("matches");
  out += "[";
  const char* separator = "\n  ";
  for (const auto& view :
       league.schedule_page(league.schedule().index_of({round, 1}),
                            static_cast<std::size_t>(league.schedule().matches_in(round)))) {
    out += separator;
    separator = ",\n  ";
    add_match(out, book, view);
  }
  out += "]}";
}

}  // namespace

std::filesystem::path standings_file(const std::filesystem::path& data,
                                     const core::LeagueId& league_id) {
  return data / "leagues" / league_id.str() / "standings.json";
}

std::filesystem::path rounds_file(const std::filesystem::path& data,
                                  const core::LeagueId& league_id) {
  return data / "leagues" / league_id.str() / "rounds.json";
}

std::string_view result_status(const events::CompactResult& result) {
  if (result.is_voided) return "VOID";
  if (result.is_technical()) return "TECHNICAL_LOSS";
  return result.outcome == game::Outcome::kDraw ? "DRAW" : "WIN";
}

std::string_view match_status(MatchStatus status) {
  switch (status) {
    case MatchStatus::kPending:
      break;
    case MatchStatus::kAssigned:
      return "IN_PROGRESS";
    case MatchStatus::kFinished:
      return "COMPLETED";
  }
  return "PENDING";
}

std::optional<game::Fairness> shown_fairness(const League& league, const MatchView& view) {
  if (!view.result || !view.result->fairness) return std::nullopt;
  const game::Fairness reported = *view.result->fairness;
  return league.disputes().contains(view.match) ? std::min(reported, game::Fairness::kClaimed)
                                                : reported;
}

int winner_of(const Pairing& pairing, const events::CompactResult& result) {
  const auto winner = result.is_voided ? std::nullopt : game::winner_of(result.outcome);
  return winner ? pairing.player(*winner) : -1;
}

core::Result<void> write_standings(const LeagueBook& book, const FileSink& sink) {
  std::string out;
  const League& league = book.league();
  LeagueStatus status = league.status();
  JsonObject object = head(out, book, book.table_change());
  int rounds = 0;
  for (const auto& note : book.rounds()) rounds += note.completed_at ? 1 : 0;
  object.number("rounds_completed", rounds)
      .number("matches_completed", status.finished.total_matches)
      .optional_text("champion", id_of_player(league.champion().value_or(-1)));
  add_states(object, out, league);
  object.name("standings");
  out += '[';
  const char* separator = "\n ";
  for (const auto& row : book.table()) {
    out += separator;
    separator = ",\n ";
    add_row(out, book, row);
  }
  out += "]}\n";
  return sink(out);
}

core::Result<void> write_rounds(const LeagueBook& book, const FileSink& sink) {
  std::string out;
  head(out, book, book.rounds_change()).name("rounds");
  out += '[';
  const char* separator = "\n ";
  for (int round = 1; round <= static_cast<int>(book.rounds().size()); ++round) {
    out += separator;
    separator = ",\n ";
    add_round(out, book, round);
    if (out.size() < kPart) continue;
    if (auto taken = sink(out); !taken) return taken;
    out.clear();
  }
  out += "]}\n";
  return sink(out);
}

}  // namespace league::league_manager::files
