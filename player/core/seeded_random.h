#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "common/core/random_source.h"

namespace league::player {

/// Repeatable bytes from a seed (SplitMix64), so that `--seed` repeats a strategy's choices. For
/// strategies only: the draw never uses it. Thread-safe; calls from several threads share one
/// sequence.
class SeededRandom final : public core::RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  void fill(std::span<std::uint8_t> out) override;

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace league::player
