#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "player/core/history.h"

namespace league::player {

namespace {

using nlohmann::json;

constexpr const char* kSchemaVersion = "1.0.0";

core::Error fault(std::string pointer, const std::string& rule) {
  return {core::ErrorCode::kInvalidFieldValue,
          "history.json: " + (pointer.empty() ? "the document" : pointer) + " " + rule +
              "; move the file away to start with an empty history.",
          std::move(pointer)};
}

json choice_to_json(const std::optional<std::string>& choice) {
  return choice ? json(*choice) : json(nullptr);
}

json key_to_json(const std::string& key) { return key.empty() ? json(nullptr) : json(key); }

json match_to_json(const PlayedMatch& match) {
  return {{"league_id", match.league_id.str()},
          {"league_key", key_to_json(match.league_key)},
          {"match_id", match.match_id.str()},
          {"round_id", match.round_id},
          {"opponent_id", match.opponent_id.str()},
          {"result", verdict_name(match.verdict)},
          {"technical", match.is_technical},
          {"my_choice", choice_to_json(match.own_choice)},
          {"opponent_choice", choice_to_json(match.opponent_choice)},
          {"drawn_number", match.drawn_number ? json(*match.drawn_number) : json(nullptr)}};
}

json disputed_to_json(const DisputedMatch& match) {
  return {{"league_id", match.league_id.str()},     {"league_key", key_to_json(match.league_key)},
          {"match_id", match.match_id.str()},       {"round_id", match.round_id},
          {"opponent_id", match.opponent_id.str()}, {"reason", match.reason}};
}

/// Reads the fields of one object and keeps the first fault, so that reading needs no branch per
/// field.
class Fields {
 public:
  Fields(const json& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {
    if (!object.is_object()) fault_ = fault(pointer_, "must be an object");
  }

  std::string text(const char* name) {
    const json* field = find(name);
    if (field && field->is_string()) return field->get<std::string>();
    complain(name, "must be a string");
    return {};
  }
  int integer(const char* name) {
    const json* field = find(name);
    // The limit ensures that any number in the file fits into an int.
    if (field && field->is_number_integer() && *field >= 0 && *field <= 1'000'000'000) {
      return field->get<int>();
    }
    complain(name, "must be an integer from 0 to 1000000000");
    return 0;
  }
  bool flag(const char* name) {
    const json* field = find(name);
    if (field && field->is_boolean()) return field->get<bool>();
    complain(name, "must be true or false");
    return false;
  }
  std::optional<int> optional_integer(const char* name) {
    return is_absent(name) ? std::nullopt : std::optional(integer(name));
  }
  /// Empty if it is absent or null.
  std::string optional_text(const char* name) {
    return is_absent(name) ? std::string() : text(name);
  }
  /// Accepts any word, since the valid choices depend on the game of the match.
  std::optional<std::string> optional_choice(const char* name) {
    if (is_absent(name)) return std::nullopt;
    std::string choice = text(name);
    if (choice.empty()) complain(name, "must be a choice of the game or null");
    return choice;
  }
  MatchVerdict verdict(const char* name) {
    const auto verdict = parse_verdict(text(name));
    if (!verdict) complain(name, "must be WIN, LOSS or DRAW");
    return verdict.value_or(MatchVerdict::kDraw);
  }
  [[nodiscard]] const std::optional<core::Error>& first_fault() const { return fault_; }

 private:
  const json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(name);
    return it == object_.end() ? nullptr : &*it;
  }
  bool is_absent(const char* name) const {
    const json* field = find(name);
    return field == nullptr || field->is_null();
  }
  void complain(const char* name, const char* rule) {
    if (!fault_) fault_ = fault(pointer_ + "/" + name, rule);
  }

  const json& object_;
  std::string pointer_;
  std::optional<core::Error> fault_;
};

core::Result<PlayedMatch> match_from_json(const json& object, std::string pointer) {
  Fields fields(object, std::move(pointer));
  PlayedMatch match{.league_id = core::LeagueId(fields.text("league_id")),
                    .league_key = fields.optional_text("league_key"),
                    .match_id = core::MatchId(fields.text("match_id")),
                    .round_id = fields.integer("round_id"),
                    .opponent_id = core::PlayerId(fields.text("opponent_id")),
                    .verdict = fields.verdict("result"),
                    .is_technical = fields.flag("technical"),
                    .own_choice = fields.optional_choice("my_choice"),
                    .opponent_choice = fields.optional_choice("opponent_choice"),
                    .drawn_number = fields.optional_integer("drawn_number")};
  if (fields.first_fault()) return *fields.first_fault();
  return match;
}

core::Result<DisputedMatch> disputed_from_json(const json& object, std::string pointer) {
  Fields fields(object, std::move(pointer));
  DisputedMatch match{.league_id = core::LeagueId(fields.text("league_id")),
                      .league_key = fields.optional_text("league_key"),
                      .match_id = core::MatchId(fields.text("match_id")),
                      .round_id = fields.integer("round_id"),
                      .opponent_id = core::PlayerId(fields.text("opponent_id")),
                      .reason = fields.text("reason")};
  if (fields.first_fault()) return *fields.first_fault();
  return match;
}

/// Adds the disputes of `document`, if it contains any.
core::Result<void> read_disputes(const json& document, MatchHistory& history) {
  const auto list = document.find("disputed");
  if (list == document.end()) return {};
  if (!list->is_array()) return fault("/disputed", "must be an array");
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto match = disputed_from_json((*list)[i], "/disputed/" + std::to_string(i));
    if (!match) return match.error();
    history.dispute(std::move(*match));
  }
  return {};
}

}  // namespace

json history_to_json(const MatchHistory& history, const core::PlayerId& player) {
  const ResultCounts& tally = history.tally();
  json matches = json::array();
  for (const PlayedMatch& match : history.matches()) matches.push_back(match_to_json(match));
  json document = {{"schema_version", kSchemaVersion},
                   {"player_id", player.str()},
                   {"stats",
                    {{"total_matches", tally.wins + tally.losses + tally.draws},
                     {"wins", tally.wins},
                     {"losses", tally.losses},
                     {"draws", tally.draws}}},
                   {"matches", std::move(matches)}};
  for (const DisputedMatch& match : history.disputed()) {
    document["disputed"].push_back(disputed_to_json(match));
  }
  return document;
}

std::string history_text(const MatchHistory& history, const HistoryOwner& owner) {
  json document = history_to_json(history, owner.player_id);
  document["display_name"] = owner.display_name;
  return document.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

core::Result<MatchHistory> history_from_json(const json& document, std::size_t capacity) {
  if (!document.is_object()) return fault("", "must be an object");
  const std::string version = document.value("schema_version", json()).dump();
  if (version != json(kSchemaVersion).dump()) {
    return fault("/schema_version", std::string("must be \"") + kSchemaVersion + "\"");
  }
  const auto stats = document.find("stats");
  const auto list = document.find("matches");
  if (stats == document.end() || !stats->is_object()) return fault("/stats", "must be an object");
  if (list == document.end() || !list->is_array()) return fault("/matches", "must be an array");
  Fields counts(*stats, "/stats");
  const ResultCounts tally{counts.integer("wins"), counts.integer("losses"),
                           counts.integer("draws")};
  if (counts.first_fault()) return *counts.first_fault();

  std::vector<PlayedMatch> matches;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto match = match_from_json((*list)[i], "/matches/" + std::to_string(i));
    if (!match) return match.error();
    matches.push_back(std::move(*match));
  }
  MatchHistory history = MatchHistory::restore(std::move(matches), tally, capacity);
  if (auto read = read_disputes(document, history); !read) return read.error();
  return history;
}

}  // namespace league::player
