#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::core {

/// Compresses data that is added piece by piece into one gzip member (RFC 1952). Not thread-safe.
class Compressor {
 public:
  /// Throws std::bad_alloc if memory is short.
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Compresses `bytes` and appends the output that is ready to `out`.
  void add(std::string_view bytes, std::string& out);
  /// Appends the rest of the output. Must be the last call.
  void end(std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decompresses one gzip member piece by piece, so that memory use does not depend on its content.
/// Not thread-safe.
class Decompressor {
 public:
  /// Of at most `limit` bytes of content. Throws std::bad_alloc if memory is short.
  explicit Decompressor(std::size_t limit);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// Decompresses the beginning of `bytes`, which it removes, and appends at most `most` bytes to
  /// `out`. True if the member is complete: what is left of `bytes` follows it. Fails with
  /// kMalformedMessage for anything else than a member, and for more content than the limit.
  [[nodiscard]] Result<bool> step(std::string_view& bytes, std::size_t most, std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `bytes` as one gzip member. Thread-safe.
[[nodiscard]] std::string compress(std::string_view bytes);

/// The content of `compressed`, one gzip member. Fails with kMalformedMessage for anything else,
/// for trailing bytes, and for content of more than `limit` bytes, before it uses that much memory.
/// Thread-safe.
[[nodiscard]] Result<std::string> decompress(std::string_view compressed, std::size_t limit);

}  // namespace league::core
