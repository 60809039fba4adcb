#include "common/core/compression.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace league::core {
namespace {

Error not_compressed(const std::string& why) {
  return {ErrorCode::kMalformedMessage, "compressed bytes " + why, ""};
}

constexpr std::size_t kStep = std::size_t{64} << 10;
constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header

Bytef* writable(char* bytes) { return reinterpret_cast<Bytef*>(bytes); }
const Bytef* readable(std::string_view bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

/// Calls inflateEnd in its destructor.
class Inflation {
 public:
  Inflation() {
    if (inflateInit2(&stream, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(&stream); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  z_stream stream{};
};

}  // namespace

struct Compressor::State {
  State() {
    constexpr int kMemory = 8;  // zlib's default
    // The quickest level takes a quarter of the time of the default one for a tenth more bytes.
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~State() { deflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void run(int flush, std::string& out) {
    int status = Z_OK;
    do {
      const auto before = out.size();
      out.resize(before + kStep);
      stream.next_out = writable(out.data() + before);
      stream.avail_out = static_cast<uInt>(kStep);
      status = deflate(&stream, flush);
      out.erase(out.size() - stream.avail_out);
    } while (flush == Z_FINISH ? status == Z_OK || status == Z_BUF_ERROR : stream.avail_out == 0);
  }

  z_stream stream{};
};

Compressor::Compressor() : state_(std::make_unique<State>()) {}
Compressor::~Compressor() = default;

void Compressor::add(std::string_view bytes, std::string& out) {
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, kMost);
    state_->stream.next_in = const_cast<Bytef*>(readable(piece));
    state_->stream.avail_in = static_cast<uInt>(piece.size());
    state_->run(Z_NO_FLUSH, out);
    bytes.remove_prefix(piece.size());
  }
}

void Compressor::end(std::string& out) {
  state_->stream.avail_in = 0;
  state_->run(Z_FINISH, out);
}

struct Decompressor::State {
  Inflation inflation;
  std::size_t left;  ///< bytes of content that may still come
};

Decompressor::Decompressor(std::size_t limit) : state_(std::make_unique<State>()) {
  state_->left = limit;
}
Decompressor::~Decompressor() = default;

Result<bool> Decompressor::step(std::string_view& bytes, std::size_t most, std::string& out) {
  auto& stream = state_->inflation.stream;
  const auto piece = bytes.substr(0, std::numeric_limits<uInt>::max());
  stream.next_in = const_cast<Bytef*>(readable(piece));
  stream.avail_in = static_cast<uInt>(piece.size());
  const auto before = out.size();
  out.resize(before + std::min<std::size_t>(most, std::numeric_limits<uInt>::max()));
  stream.next_out = writable(out.data() + before);
  stream.avail_out = static_cast<uInt>(out.size() - before);
  const int status = inflate(&stream, Z_NO_FLUSH);
  out.erase(out.size() - stream.avail_out);
  bytes.remove_prefix(piece.size() - stream.avail_in);
  const auto added = out.size() - before;
  if (added > state_->left) return not_compressed("hold more than the limit");
  state_->left -= added;
  // Z_BUF_ERROR: it needs more input or more room.
  if (status == Z_OK || status == Z_BUF_ERROR) return false;
  if (status == Z_STREAM_END) return true;
  return not_compressed("are damaged");
}

std::string compress(std::string_view bytes) {
  Compressor compressor;
  std::string out;
  compressor.add(bytes, out);
  compressor.end(out);
  return out;
}

Result<std::string> decompress(std::string_view compressed, std::size_t limit) {
  if (compressed.size() > std::numeric_limits<uInt>::max()) return not_compressed("are too many");
  Inflation inflation;
  auto& stream = inflation.stream;
  stream.next_in = const_cast<Bytef*>(readable(compressed));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    const auto before = out.size();
    // One byte more than allowed, to detect that the limit is exceeded.
    out.resize(std::min(before + kStep, limit + 1));
    stream.next_out = writable(out.data() + before);
    stream.avail_out = static_cast<uInt>(out.size() - before);
    status = inflate(&stream, Z_NO_FLUSH);
    out.erase(out.size() - stream.avail_out);
    if (out.size() > limit)
      return not_compressed("hold more than " + std::to_string(limit) + " bytes");
    if (status != Z_OK && status != Z_STREAM_END) return not_compressed("are damaged or cut off");
  }
  if (stream.avail_in > 0) return not_compressed("are followed by others");
  return out;
}

}  // namespace league::core
