#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace league::core {

/// A credential in memory. It has no stream operator and no implicit conversion: code that needs
/// the secret calls `reveal()`, code that prints or logs it calls `masked()`. Source: protocol §8.
class AuthToken {
 public:
  AuthToken() = default;
  explicit AuthToken(std::string secret) : secret_(std::move(secret)) {}

  [[nodiscard]] const std::string& reveal() const { return secret_; }
  [[nodiscard]] bool empty() const { return secret_.empty(); }
  /// At most the first 8 characters, then `...`. Source: protocol §4, message 17.
  [[nodiscard]] std::string masked() const;
  /// SHA-256 in hexadecimal: what may be stored and handed to a referee.
  [[nodiscard]] std::string hash() const;
  /// Compares in constant time.
  [[nodiscard]] bool matches(std::string_view other) const;

 private:
  std::string secret_;
};

/// The first 8 characters of `token` and `...`; a token of 8 characters or fewer shows half of
/// them.
[[nodiscard]] std::string mask_token(std::string_view token);

}  // namespace league::core
