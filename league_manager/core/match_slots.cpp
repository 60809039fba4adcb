#include "league_manager/core/match_slots.h"

namespace league::league_manager {

int MatchSlot::last_attempt_of(int referee) const {
  for (int attempt = attempts; attempt > 0 && attempt > attempts - kKnownAttempts; --attempt) {
    if (referee_of(attempt) == referee) return attempt;
  }
  return 0;
}

void MatchSlots::reset(std::size_t count) {
  size_ = count;
  blocks_.clear();
  for (std::size_t begin = 0; begin < count; begin += kBlock)
    blocks_.push_back(std::make_shared<Block>());
}

MatchSlot& MatchSlots::change(std::size_t index) {
  auto& block = blocks_[index / kBlock];
  if (block.use_count() > 1) block = std::make_shared<Block>(*block);
  return (*block)[index % kBlock];
}

bool MatchSlots::operator==(const MatchSlots& other) const {
  if (size_ != other.size_) return false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i] != other.blocks_[i] && *blocks_[i] != *other.blocks_[i]) return false;
  }
  return true;
}

}  // namespace league::league_manager
