// However a stream is cut into pieces, the same lines come of it, none of them too long, and as
// many are skipped.
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
  int skipped = 0;
};

Split split(std::string_view bytes, std::size_t piece) {
  league::transport::line::LineSplitter splitter(kMaxLine);
  Split out;
  while (!bytes.empty()) {
    splitter.append(bytes.substr(0, piece));
    bytes.remove_prefix(piece < bytes.size() ? piece : bytes.size());
    for (;;) {
      auto line = splitter.next();
      if (!line && !splitter.take_skipped()) break;
      if (!line) {
        ++out.skipped;
        continue;
      }
      if (line->empty() || line->size() > kMaxLine) std::abort();
      if (line->find('\n') != std::string::npos) std::abort();
      out.lines.push_back(std::move(*line));
    }
    if (splitter.buffered() > kMaxLine + 1) std::abort();
  }
  if (auto rest = splitter.rest()) out.lines.push_back(std::move(*rest));
  if (splitter.take_skipped()) ++out.skipped;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto whole = split(bytes.substr(1), size);
  auto pieces = split(bytes.substr(1), 1 + data[0] % 17U);
  if (whole.lines != pieces.lines || whole.skipped != pieces.skipped) std::abort();
  return 0;
}
