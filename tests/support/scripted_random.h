#pragma once

#include <mutex>
#include <random>

#include "common/core/random_source.h"

namespace league::testing {

/// Repeatable bytes from a seed. Thread-safe.
class ScriptedRandom final : public core::RandomSource {
 public:
  explicit ScriptedRandom(std::uint64_t seed = 1) : engine_(seed) {}
  void fill(std::span<std::uint8_t> out) override {
    std::lock_guard lock(mutex_);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(engine_());
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace league::testing
