#include "game/rules.h"

#include <algorithm>

#include "common/core/text.h"

namespace league::game {

std::optional<std::size_t> Rules::index_of(std::string_view choice) const {
  const auto words = choices();
  const auto found = std::ranges::find(words, choice);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

core::Result<void> Rules::check_choice(std::string_view choice) const {
  if (index_of(choice)) return {};
  std::string words;
  for (std::string_view word : choices()) {
    words += (words.empty() ? "\"" : " or \"") + std::string(word) + '"';
  }
  return core::Error{core::ErrorCode::kInvalidParityChoice,
                     "parity_choice is \"" + core::shown(choice) + "\"; it must be exactly " +
                         words + ", spelled like this. Send one of these words.",
                     "/parity_choice"};
}

}  // namespace league::game
