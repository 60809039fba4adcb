#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/core/result.h"

namespace league::core {

using Signature = std::array<std::uint8_t, 64>;

/// A private Ed25519 key (RFC 8032). Immutable, so thread-safe.
class SigningKey {
 public:
  /// A key that lives as long as the process.
  [[nodiscard]] static SigningKey generate(RandomSource& random);
  /// The key of the 32 bytes from which RFC 8032 derives everything.
  [[nodiscard]] static SigningKey from_seed(const std::array<std::uint8_t, 32>& seed);
  /// The key that is kept in `file` (mode 0600, 64 hexadecimal digits), which is made if it is
  /// missing. Fails if the file holds something else or others may read it.
  [[nodiscard]] static Result<SigningKey> open(const std::filesystem::path& file,
                                               RandomSource& random);

  [[nodiscard]] Signature sign(std::string_view text) const;
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] const std::string& public_key() const { return public_key_; }

 private:
  struct Native;
  explicit SigningKey(std::shared_ptr<const Native> native);

  std::shared_ptr<const Native> native_;
  std::string public_key_;
};

/// Whether `signature` of `text` was made with the private half of `public_key` (both hexadecimal).
/// False for what is no key or no signature. Thread-safe.
[[nodiscard]] bool is_signature_of(std::string_view public_key, std::string_view text,
                                   std::string_view signature);

}  // namespace league::core
