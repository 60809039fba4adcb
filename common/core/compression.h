#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::core {

/// Makes one gzip member (RFC 1952) of what it is given bit by bit. Not thread-safe.
class Compressor {
 public:
  /// Throws std::bad_alloc.
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Appends to `out` what is ready once `bytes` are in.
  void add(std::string_view bytes, std::string& out);
  /// Appends what is left. The last call.
  void end(std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `bytes` as one gzip member. Thread-safe.
[[nodiscard]] std::string compress(std::string_view bytes);

/// What is in `compressed`, which is one gzip member. kMalformedMessage for anything else, for
/// bytes that follow it, and for more than `limit` bytes, before they take up memory. Thread-safe.
[[nodiscard]] Result<std::string> decompress(std::string_view compressed, std::size_t limit);

}  // namespace league::core
