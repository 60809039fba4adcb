#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace league::core {

/// Random bytes as a dependency. Implementations are thread-safe.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// Fills `out` with independent, uniformly distributed bytes.
  virtual void fill(std::span<std::uint8_t> out) = 0;

  /// `N` random bytes.
  template <std::size_t N>
  [[nodiscard]] std::array<std::uint8_t, N> bytes() {
    std::array<std::uint8_t, N> out{};
    fill(out);
    return out;
  }
};

/// The operating system's cryptographic source by way of OpenSSL; ends the process if it fails,
/// because a league with predictable draws is worse than none.
class CryptoRandom final : public RandomSource {
 public:
  void fill(std::span<std::uint8_t> out) override;
};

}  // namespace league::core
