#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace league::core {

/// A text that names one kind of thing; ids of different things cannot be mixed up. An empty id
/// names nothing.
template <typename Tag>
class StringId {
 public:
  StringId() = default;
  explicit StringId(std::string text) : text_(std::move(text)) {}
  explicit StringId(std::string_view text) : text_(text) {}
  explicit StringId(const char* text) : text_(text) {}

  [[nodiscard]] const std::string& str() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

  bool operator==(const StringId&) const = default;
  auto operator<=>(const StringId&) const =
      default;  // NOLINT(modernize-use-nullptr): a false alarm

 private:
  std::string text_;
};

using LeagueId = StringId<struct LeagueIdTag>;  ///< `league_2025_even_odd`
using PlayerId = StringId<struct PlayerIdTag>;  ///< `P01`, `P100`
using RefereeId = StringId<struct RefereeIdTag>;  ///< `REF01`
using MatchId = StringId<struct MatchIdTag>;  ///< `R1M1`
using ConversationId = StringId<struct ConversationIdTag>;  ///< `convr1m1001`, 1-100 characters

/// `prefix` and `number` with at least two digits: `P01`, `P100`, `REF01`. Source: protocol §1.
[[nodiscard]] inline std::string numbered_id(std::string_view prefix, int number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 2) digits.insert(digits.begin(), '0');
  return std::string(prefix) + digits;
}

}  // namespace league::core

template <typename Tag>
struct std::hash<league::core::StringId<Tag>> {
  std::size_t operator()(const league::core::StringId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
