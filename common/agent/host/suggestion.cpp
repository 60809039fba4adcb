#include "common/agent/host/suggestion.h"

#include <algorithm>
#include <numeric>

namespace league::agent::host {
namespace {

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestWord = 40;
  std::optional<std::string> best;
  std::size_t best_distance = 3;
  if (word.size() > kLongestWord) return best;
  for (const auto& name : names) {
    std::size_t far = distance(word, name);
    if (far < best_distance && far < name.size()) {
      best_distance = far;
      best = name;
    }
  }
  return best;
}

}  // namespace league::agent::host
