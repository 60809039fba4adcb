#include <nlohmann/json.hpp>
#include <utility>

#include "common/schema/fields.h"
#include "player/core/history.h"

template <>
inline constexpr auto league::schema::kText<league::player::MatchVerdict> =
    TextForm{league::player::verdict_name, league::player::parse_verdict};

namespace league::player {

using nlohmann::json;
using schema::Fields;

/// What tells a match of any league from others.
static void describe_match(Fields& a, auto& s) {
  a.required("league_id", s.league_id);
  std::optional<std::string> key;
  if (!s.league_key.empty()) key = s.league_key;
  a.nullable("league_key", key);
  s.league_key = std::move(key).value_or("");
  a.required("match_id", s.match_id);
  a.count("round_id", s.round_id);
  a.required("opponent_id", s.opponent_id);
}

/// Any word, since the valid choices depend on the game of the match.
static void describe_choice(Fields& a, const char* name, std::optional<std::string>& choice) {
  a.nullable(name, choice);
  if (a.reads() && choice && choice->empty())
    a.fail(core::ErrorCode::kInvalidFieldValue, name, "must be a choice of the game or null");
}

static void describe(Fields& a, PlayedMatch& s) {
  describe_match(a, s);
  a.required("result", s.verdict, "technical", s.is_technical);
  describe_choice(a, "my_choice", s.own_choice);
  describe_choice(a, "opponent_choice", s.opponent_choice);
  a.nullable("drawn_number", s.drawn_number);
}

static void describe(Fields& a, DisputedMatch& s) {
  describe_match(a, s);
  a.required("reason", s.reason);
}

static void describe(Fields& a, ResultCounts& s) {
  if (a.writes()) a.required("total_matches", s.wins + s.losses + s.draws);
  a.count("wins", s.wins);
  a.count("losses", s.losses);
  a.count("draws", s.draws);
}

namespace {

struct HistoryDocument {
  std::string player_id{};
  std::optional<std::string> display_name{};
  ResultCounts stats{};
  std::vector<PlayedMatch> matches{};
  std::vector<DisputedMatch> disputed{};

  HistoryDocument() = default;
  HistoryDocument(const MatchHistory& history, const core::PlayerId& player)
      : player_id(player.str()),
        stats(history.tally()),
        matches(history.matches().begin(), history.matches().end()),
        disputed(history.disputed().begin(), history.disputed().end()) {}

  void describe(Fields& a) {
    std::string version = "1.0.0";
    a.required("schema_version", version);
    if (version != "1.0.0")
      a.fail(core::ErrorCode::kInvalidFieldValue, "schema_version", "must be \"1.0.0\"");
    if (a.writes()) a.required("player_id", player_id);
    a.optional("display_name", display_name);
    a.required("stats", stats, "matches", matches);
    a.filled("disputed", disputed);
  }
};

}  // namespace

json history_to_json(const MatchHistory& history, const core::PlayerId& player) {
  return schema::to_json(HistoryDocument(history, player));
}

std::string history_text(const MatchHistory& history, const HistoryOwner& owner) {
  HistoryDocument document(history, owner.player_id);
  document.display_name = owner.display_name;
  return schema::to_json(document).dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

core::Result<MatchHistory> history_from_json(const json& document, std::size_t capacity) {
  auto read = schema::read<HistoryDocument>(document);
  if (!read) {
    core::Error fault = std::move(read).error();
    fault.code = core::ErrorCode::kInvalidFieldValue;
    fault.message = "history.json: " + std::string(fault.field.empty() ? "the document" : "") +
                    fault.message + "; move the file away to start with an empty history.";
    return fault;
  }
  MatchHistory history = MatchHistory::restore(std::move(read->matches), read->stats, capacity);
  for (DisputedMatch& match : read->disputed) history.dispute(std::move(match));
  return history;
}

}  // namespace league::player
