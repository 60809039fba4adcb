#include "player/core/seeded_random.h"

namespace league::player {

namespace {

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

void SeededRandom::fill(std::span<std::uint8_t> out) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < out.size(); ++i, word >>= 8) {
    if (i % sizeof word == 0) word = mix(state_.fetch_add(kStep) + kStep);
    out[i] = static_cast<std::uint8_t>(word);
  }
}

}  // namespace league::player
