#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace league::core {

using Digest = std::array<std::uint8_t, 32>;
using Bytes = std::span<const std::uint8_t>;

/// The bytes of a text.
[[nodiscard]] Bytes as_bytes(std::string_view text);

/// SHA-256. Thread-safe, like everything in this file.
[[nodiscard]] Digest sha256(Bytes data);
[[nodiscard]] Digest sha256(std::string_view text);

/// SHA-256 of one text after the other: for callers that hash many, since it keeps OpenSSL's state.
/// Not thread-safe; movable.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  [[nodiscard]] Digest operator()(std::string_view text);

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

/// HMAC-SHA-256.
[[nodiscard]] Digest hmac_sha256(Bytes key, Bytes data);

/// Compares in a time that depends on the lengths only.
[[nodiscard]] bool constant_time_equal(std::string_view a, std::string_view b);

/// Lower-case hexadecimal.
[[nodiscard]] std::string to_hex(Bytes data);
/// Appends to_hex(data) to `out`.
void append_hex(Bytes data, std::string& out);
/// The bytes of a hexadecimal text of either case; nothing if `hex` is not hexadecimal.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> from_hex(std::string_view hex);

/// RFC 4648 base-32 in lower case without padding: 32 bytes give 52 characters.
[[nodiscard]] std::string to_base32(Bytes data);

}  // namespace league::core
