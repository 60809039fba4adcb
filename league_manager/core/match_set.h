#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace league::league_manager {

/// Some of the matches of one round, by number from 1; a copy costs a bit for each match of the
/// round. Not thread-safe.
class MatchSet {
 public:
  MatchSet() = default;
  /// An empty set for a round of `matches` matches.
  explicit MatchSet(int matches) : words_(static_cast<std::size_t>(matches) / kBits + 1) {}

  void insert(int number) { word(number) |= bit(number); }
  void erase(int number) { word(number) &= ~bit(number); }
  /// Calls `visit(number)` for each, in order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        visit(static_cast<int>(i * kBits) + std::countr_zero(left));
    }
  }

  bool operator==(const MatchSet&) const = default;

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(int number) {
    return std::uint64_t{1} << (static_cast<std::size_t>(number) % kBits);
  }
  std::uint64_t& word(int number) { return words_[static_cast<std::size_t>(number) / kBits]; }

  std::vector<std::uint64_t> words_;
};

}  // namespace league::league_manager
