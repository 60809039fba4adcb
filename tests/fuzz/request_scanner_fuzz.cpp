// However a request is cut into pieces, the same is found: where it ends, or why it is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/transport/front/request_scanner.h"

namespace {

using league::transport::front::RequestScanner;
using league::transport::http::HttpLimits;

struct Found {
  RequestScanner::State state = RequestScanner::State::kIncomplete;
  std::size_t length = 0;
  int status = 0;
};

Found scan(std::string_view bytes, std::size_t piece, const HttpLimits& limits) {
  RequestScanner scanner(limits);
  Found found;
  for (std::size_t have = 0; have < bytes.size();) {
    have = std::min(bytes.size(), have + piece);
    found.state = scanner.scan(bytes.substr(0, have));
    if (found.state != RequestScanner::State::kIncomplete) break;
  }
  if (found.state == RequestScanner::State::kComplete) found.length = scanner.length();
  if (found.state == RequestScanner::State::kRefused) found.status = scanner.refusal().status;
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  HttpLimits limits;
  limits.max_head = 512;
  limits.max_body = 256;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Found whole = scan(bytes, size, limits);
  Found pieces = scan(bytes, 1 + data[0] % 13U, limits);
  if (whole.length > bytes.size()) std::abort();
  if (whole.state == RequestScanner::State::kComplete && whole.length == 0) std::abort();
  // A head over the limit may be refused before its fault is seen, and the reverse.
  bool is_refused = whole.state == RequestScanner::State::kRefused;
  if (whole.state != pieces.state && !is_refused) std::abort();
  if (whole.length != pieces.length && !is_refused) std::abort();
  return 0;
}
