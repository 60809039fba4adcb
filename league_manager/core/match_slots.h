#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "league_manager/core/match_slot.h"

namespace league::league_manager {

/// The matches of one round, counted from 0. Copy-on-write, since every decision works on a copy
/// and changes only a few matches: a copy costs one pointer for each 32 matches. Not thread-safe;
/// all copies of one table need the same lock.
class MatchSlots {
 public:
  /// Replaces the content with `count` pending matches.
  void reset(std::size_t count);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const MatchSlot& operator[](std::size_t index) const {
    return (*blocks_[index / kBlock])[index % kBlock];
  }
  /// The match, to be changed; the reference is valid until the table is copied.
  [[nodiscard]] MatchSlot& change(std::size_t index);

  bool operator==(const MatchSlots& other) const;

 private:
  static constexpr std::size_t kBlock = 32;
  using Block = std::array<MatchSlot, kBlock>;

  std::vector<std::shared_ptr<Block>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace league::league_manager
