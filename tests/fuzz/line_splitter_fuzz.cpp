// However a stream is cut into pieces, the same lines come of it, none of them too long.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/transport/line/line_splitter.h"

namespace {

constexpr std::size_t kMaxLine = 64;

struct Split {
  std::vector<std::string> lines;
  bool is_faulty = false;
};

Split split(std::string_view bytes, std::size_t piece) {
  league::transport::line::LineSplitter splitter(kMaxLine);
  Split out;
  while (!bytes.empty()) {
    splitter.append(bytes.substr(0, piece));
    bytes.remove_prefix(piece < bytes.size() ? piece : bytes.size());
    while (auto line = splitter.next()) {
      if (line->empty() || line->size() > kMaxLine) std::abort();
      if (line->find('\n') != std::string::npos) std::abort();
      out.lines.push_back(std::move(*line));
    }
    if (splitter.buffered() > kMaxLine + 1) std::abort();
  }
  if (auto rest = splitter.rest()) out.lines.push_back(std::move(*rest));
  out.is_faulty = splitter.is_faulty();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto whole = split(bytes.substr(1), size);
  auto pieces = split(bytes.substr(1), 1 + data[0] % 17U);
  if (whole.lines != pieces.lines || whole.is_faulty != pieces.is_faulty) std::abort();
  return 0;
}
