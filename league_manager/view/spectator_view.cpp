#include "league_manager/view/spectator_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/rpc/json_object.h"
#include "game/draw.h"
#include "league_manager/files/league_files.h"
#include "league_manager/files/remedies.h"
#include "league_manager/view/json_rows.h"
#include "league_manager/view/public_text.h"

namespace league::league_manager::view {
namespace {

using rpc::JsonObject;

void append_head(JsonObject& object, const League& league) {
  const LeagueStatus status = league.status();
  const events::LeagueSettings& settings = league.settings();
  std::string head;
  JsonObject members(head);
  members.text("id", settings.league_id.str())
      .text("game", settings.rules->game_type())
      .text("state", league_state_name(status.state))
      .flag("paused", league.is_paused())
      .flag("ended_early", league.is_ended_early())
      .flag("admits_people", league.roster().people() < settings.people)
      .number("players_expected", settings.players)
      .number("referees_expected", settings.referees)
      .time("started_at", status.started_at)
      .time("completed_at", status.completed_at)
      .number("round", status.current_round)
      .number("rounds", status.total_rounds)
      .number("matches", status.total_matches)
      .number("finished", status.finished.total_matches)
      .number("wins", status.finished.wins)
      .number("draws", status.finished.draws)
      .number("technical_losses", status.finished.technical_losses)
      .number("champion", league.champion().value_or(-1));
  if (league.meetings()) members.number("meetings", *league.meetings());
  members.raw("rules", settings.rules->to_json().dump());
  members.name("choices");
  Rows choices(head);
  for (const std::string& choice : settings.rules->choices()) choices.text(choice);
  choices.end();
  if (const auto numbers = settings.rules->numbers()) {
    members.name("numbers");
    Rows(head).number(numbers->lowest).number(numbers->highest).end();
    members.name("kinds");  // the kind of each number, in the game's words
    Rows kinds(head);
    for (int number = numbers->lowest; number <= numbers->highest; ++number)
      kinds.text(settings.rules->kind_of(number).value_or(""));
    kinds.end();
  }
  members.end();
  object.raw("league", head);
}

/// Rows of name, state, reason, detail, since, failed matches, who plays.
void append_agents(JsonObject& object, std::string& out, const League& league,
                   events::AgentKind kind) {
  object.name(kind == events::AgentKind::kPlayer ? "players" : "referees");
  Rows rows(out);
  for (const events::Agent& agent : league.roster().agents(kind)) {
    const events::AgentLifecycle& life = agent.lifecycle;
    Rows(rows.next())
        .text(agent.profile.display_name)
        .text(events::agent_state_name(life.state()))
        .text(life.reason())
        .text(public_text(life.detail()))
        .number(milliseconds_of(life.state_since()))
        .number(life.failed_matches())
        .text(agent.profile.played_by)
        .end();
  }
  rows.end();
}

/// Rows of rank, player, played, wins, draws, losses, points.
void append_table(JsonObject& object, std::string& out, const files::LeagueBook& book) {
  object.name("table");
  Rows rows(out);
  for (const RankedPlayer& row : book.table()) {
    const Tally& tally = row.tally;
    Rows(rows.next())
        .number(row.rank)
        .number(row.player)
        .number(tally.played)
        .number(tally.wins)
        .number(tally.draws)
        .number(tally.losses)
        .number(tally.points)
        .end();
  }
  rows.end();
}

std::string decimal(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

/// The matches that count, luck and what it means; and rows of player, rating, error, probability
/// of being the strongest (the last two null in a league of thousands).
void append_figures(JsonObject& object, std::string& out, const table::Figures& figures) {
  object.name("figures");
  JsonObject members(out);
  members.number("matches", figures.matches)
      .raw("luck", figures.luck ? decimal(*figures.luck, 4) : "null")
      .text("sentence", table::luck_sentence(figures.luck));
  members.name("players");
  Rows rows(out);
  for (std::size_t player = 0; player < figures.players.size(); ++player) {
    const auto& own = figures.players[player];
    if (!own) continue;
    rows.next() += "[" + std::to_string(player) + "," + decimal(own->rating, 1) + "," +
                   (own->error ? decimal(*own->error, 1) : "null") + "," +
                   (own->p_first ? decimal(*own->p_first, 4) : "null") + "]";
  }
  rows.end();
  members.end();
}

/// Rows of round, start, end, from the round `first` on.
void append_rounds(JsonObject& object, std::string& out, const files::LeagueBook& book, int first) {
  object.name("rounds");
  Rows rows(out);
  for (int round = first; round <= static_cast<int>(book.rounds().size()); ++round) {
    const auto& note = book.rounds()[static_cast<std::size_t>(round) - 1];
    Rows row(rows.next());
    row.number(round).number(milliseconds_of(note.started_at));
    (note.completed_at ? row.number(milliseconds_of(*note.completed_at)) : row.null()).end();
  }
  rows.end();
}

/// Call, code, failed attempts, text, wrong field.
void append_cause(std::string& out, const events::FailureCause* cause) {
  if (cause == nullptr) {
    out += "null";
    return;
  }
  Rows(out)
      .text(cause->call)
      .text(cause->error_code)
      .number(cause->attempts)
      .text(public_text(cause->text))
      .text(public_text(cause->field))
      .end();
}

/// Round, number, player A, player B, status, referee, attempt; of a finished match also outcome,
/// number, choices of A and B, technical reason, fairness, when it was finished, how it was decided
/// (see below), answer times (join A, choice A, join B, choice B), causes of A and B.
void append_match(std::string& out, const files::LeagueBook& book, const MatchTimelines& timelines,
                  const MatchView& view) {
  Rows row(out);
  row.number(view.match.round)
      .number(view.match.number)
      .number(view.pairing.player_a)
      .number(view.pairing.player_b)
      .text(files::match_status(view.status))
      .number(view.referee)
      .number(view.attempt);
  if (!view.result) return row.end();
  const events::CompactResult& result = *view.result;
  const files::LeagueBook::MatchNote& note = book.note(view.match);
  row.text(game::outcome_name(result.outcome)).number(result.drawn_number);
  for (game::Side side : game::kBothSides) row.number(result.choices[side] - 1);
  const auto fairness = files::shown_fairness(book.league(), view);
  row.text(note.technical_reason)
      .text(fairness ? game::fairness_name(*fairness) : "")
      .number(milliseconds_of(note.finished_at));
  const char* decided = result.by_manager ? "manager" : "referee";
  if (result.is_unproven) decided = "unproven";
  if (book.league().disputes().contains(view.match)) decided = "disputed";
  if (result.is_voided) decided = "void";
  row.text(decided);
  const MatchTimeline* timeline = timelines.find(view.match);
  const events::ReportEvidence* evidence =
      timeline != nullptr && timeline->evidence ? &*timeline->evidence : nullptr;
  Rows times(row.next());
  for (game::Side side : game::kBothSides) {
    if (evidence == nullptr) break;
    times.optional_number(evidence->answered_in[side].join_us)
        .optional_number(evidence->answered_in[side].choice_us);
  }
  times.end();
  if (result.is_technical()) {
    for (game::Side side : game::kBothSides) append_cause(row.next(), book.cause(view.match, side));
  }
  row.end();
}

/// Rows of time, act, match, replay, seconds, reason, by whom.
void append_acts(JsonObject& object, std::string& out, const files::LeagueBook& book) {
  object.name("acts");
  Rows rows(out);
  for (const auto& [at, act] : book.acts()) {
    Rows(rows.next())
        .number(milliseconds_of(at))
        .text(events::operator_act_name(act.act))
        .text(act.match ? act.match->id().str() : "")
        .text(act.replay ? act.replay->id().str() : "")
        .optional_number(act.seconds)
        .text(public_text(act.reason))
        .text(public_text(act.by))
        .end();
  }
  rows.end();
}

/// What the author of the player on `side` has to do about its failure: the clause of the protocol
/// and an advice.
void append_remedy(std::string& out, const events::FailureCause* cause) {
  if (cause == nullptr) {
    out += "null";
    return;
  }
  const files::Remedy& remedy = files::remedy_of(cause->error_code);
  Rows(out).text(remedy.clause_of(cause->call)).text(remedy.text).end();
}

}  // namespace

std::vector<events::MatchKey> shown_matches(const files::LeagueBook& book) {
  const Schedule& schedule = book.league().schedule();
  const auto rounds = static_cast<int>(book.rounds().size());
  const int per_round = std::max(1, schedule.players() / 2);
  const int shown = std::max(2, static_cast<int>(kMostMatchesShown) / per_round);
  std::vector<events::MatchKey> matches;
  for (int round = std::max(1, rounds - shown + 1); round <= rounds; ++round) {
    for (int number = 1; number <= schedule.matches_in(round); ++number)
      matches.push_back({round, number});
  }
  return matches;
}

std::string league_view(const files::LeagueBook& book, const MatchTimelines& timelines,
                        const ViewParts& parts, core::UtcTimestamp now) {
  const League& league = book.league();
  std::string out;
  JsonObject object(out);
  object.number("now", milliseconds_of(now));
  append_head(object, league);
  if (parts.is_whole || parts.has_agents) {
    append_agents(object, out, league, events::AgentKind::kPlayer);
    append_agents(object, out, league, events::AgentKind::kReferee);
  }
  if (parts.is_whole || parts.has_acts) append_acts(object, out, book);
  append_table(object, out, book);
  if (parts.figures) append_figures(object, out, *parts.figures);
  const auto rounds = static_cast<int>(book.rounds().size());
  const int first = parts.is_whole ? 1 : std::min(parts.first_round.value_or(rounds), rounds - 1);
  append_rounds(object, out, book, std::max(first, 1));
  object.name("matches");
  Rows rows(out);
  const auto add = [&](events::MatchKey key) {
    if (const auto view = league.match(key); view && key.round <= rounds)
      append_match(rows.next(), book, timelines, *view);
  };
  if (parts.is_whole) {
    for (events::MatchKey key : shown_matches(book)) add(key);
  } else {
    for (events::MatchKey key : parts.matches) add(key);
  }
  rows.end();
  if (!parts.registrations.empty()) object.raw("registrations", parts.registrations);
  object.raw("log", parts.log).end();
  return out;
}

std::string match_view(const files::LeagueBook& book, const MatchTimelines& timelines,
                       events::MatchKey match, std::string_view transcript) {
  const League& league = book.league();
  const auto view = league.match(match);
  if (!view || match.round > static_cast<int>(book.rounds().size())) return {};
  const events::DrawSeed& seed = book.note(match).seed;
  const std::string id = match.id().str();
  std::string out;
  JsonObject object(out);
  object.text("match_id", id).text("draw_commitment", game::draw_commitment(seed, id));
  object.name("match");
  append_match(out, book, timelines, *view);
  object.number(
      "announced_at",
      milliseconds_of(book.rounds()[static_cast<std::size_t>(match.round - 1)].started_at));
  const MatchTimeline* timeline = timelines.find(match);
  object.name("steps");  // when, attempt, referee (-1: taken back), reason
  Rows steps(out);
  if (timeline != nullptr) {
    for (const auto& step : timeline->steps)
      Rows(steps.next())
          .number(milliseconds_of(step.at))
          .number(step.attempt)
          .number(step.referee)
          .text(step.reason)
          .end();
  }
  steps.end();
  object.name("remedies");  // of A and B
  Rows remedies(out);
  for (game::Side side : game::kBothSides) append_remedy(remedies.next(), book.cause(match, side));
  remedies.end();
  if (!transcript.empty()) object.raw("transcript", transcript);
  // These values are secret until the report is accepted; after that they cannot be misused.
  if (view->result) {
    object.text("seed", core::to_hex(seed));
    const auto bindings =
        timeline != nullptr && timeline->evidence ? timeline->evidence->bindings : game::Bindings{};
    for (game::Side side : game::kBothSides) {
      const std::string suffix = side == game::Side::kA ? "_A" : "_B";
      object.optional_text("commitment" + suffix, bindings.commitments[side].value_or(""))
          .optional_text("nonce" + suffix, bindings.nonces[side].value_or(""));
    }
  }
  object.end();
  return out;
}

std::string player_view(const files::LeagueBook& book, int player, std::string_view leniencies,
                        const std::optional<std::pair<std::string, core::UtcTimestamp>>& line) {
  const auto agent = events::AgentRef::player(player);
  std::string out;
  JsonObject object(out);
  object.text("player_id", agent.id());
  object.name("states");  // when, state, reason, detail, by whom
  Rows rows(out);
  for (const auto& [at, change] : book.state_changes()) {
    if (change.agent != agent) continue;
    Rows(rows.next())
        .number(milliseconds_of(at))
        .text(events::agent_state_name(change.to))
        .text(change.reason)
        .text(public_text(change.detail.value_or("")))
        .text(public_text(change.by.value_or("")))
        .end();
  }
  rows.end();
  if (!leniencies.empty()) object.raw("leniencies", leniencies);
  if (line) {
    object.name("line");  // how it is connected, since when
    Rows(out).text(line->first).number(milliseconds_of(line->second)).end();
  }
  object.end();
  return out;
}

}  // namespace league::league_manager::view
