#include "league_manager/events/match_key.h"

#include <charconv>
#include <string>
#include <utility>

namespace league::league_manager::events {

namespace {

/// Takes a number without sign or leading zero off the front of `text`.
std::optional<int> take_number(std::string_view& text) {
  if (text.empty() || text.front() < '1' || text.front() > '9') return std::nullopt;
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_letter(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<MatchKey> MatchKey::parse(std::string_view match_id) {
  if (!take_letter(match_id, 'R')) return std::nullopt;
  auto round = take_number(match_id);
  if (!round || !take_letter(match_id, 'M')) return std::nullopt;
  auto number = take_number(match_id);
  if (!number || !match_id.empty()) return std::nullopt;
  return MatchKey{*round, *number};
}

core::MatchId MatchKey::id() const {
  return core::MatchId(
      std::string("R").append(std::to_string(round)).append("M").append(std::to_string(number)));
}

core::ConversationId match_conversation(MatchKey match, int attempt) {
  std::string sequence = std::to_string(attempt);
  if (sequence.size() < 3) sequence.insert(0, 3 - sequence.size(), '0');
  std::string id("convr");
  id.append(std::to_string(match.round))
      .append("m")
      .append(std::to_string(match.number))
      .append(sequence);
  return core::ConversationId(std::move(id));
}

}  // namespace league::league_manager::events
