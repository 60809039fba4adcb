// Hostile answers to our calls, as bytes of an HTTP/1 connection: however they are cut, the same
// head and body come out of them, and what reads the body (events, JSON, dialects of replies) never
// throws. The first byte says how the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/agent/dialects/reply_dialect.h"
#include "common/schema/parse_json.h"
#include "common/transport/client/response_reader.h"
#include "common/transport/link/sse_parser.h"

namespace {

using league::transport::client::ResponseHead;
using league::transport::client::ResponseReader;

struct CollectedResponse final : league::transport::client::ResponseSink {
  void on_head(const ResponseHead& head) override {
    if (++heads > 1) std::abort();
    status = head.status;
    media_type = head.media_type();
  }
  void on_body(std::string_view piece) override {
    if (heads == 0) std::abort();
    body += piece;
  }
  bool operator==(const CollectedResponse& other) const {
    return heads == other.heads && status == other.status && media_type == other.media_type &&
           body == other.body && is_fine == other.is_fine && is_done == other.is_done;
  }

  int heads = 0;
  int status = 0;
  std::string media_type;
  std::string body;
  bool is_fine = true;
  bool is_done = false;
};

CollectedResponse read(std::string_view bytes, std::size_t piece) {
  ResponseReader reader(4096);
  CollectedResponse taken;
  while (taken.is_fine && !reader.is_done() && !bytes.empty()) {
    taken.is_fine = reader.feed(bytes.substr(0, piece), taken);
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (taken.is_fine != reader.fault().empty()) std::abort();
  if (taken.is_fine && !reader.is_done()) taken.is_fine = reader.finish();
  taken.is_done = reader.is_done();
  return taken;
}

void read_message(std::string_view body) {
  auto document = league::schema::parse_json(body);
  if (!document) return;
  auto reply = league::agent::dialects::read_reply(std::move(*document), league::rpc::Id(1));
  if (!reply && reply.error().message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto whole = read(bytes, size);
  auto pieces = read(bytes, 1 + data[0] % 16U);
  // A fault may show before or after a piece of the body is handed on; whole answers are the same.
  if (whole.is_fine && whole.is_done && !(whole == pieces)) std::abort();
  read_message(whole.body);
  league::transport::link::SseParser parser({.max_line = 4096, .max_event = 8192});
  (void)parser.feed(
      whole.body, [](const league::transport::link::SseEvent& event) { read_message(event.data); });
  return 0;
}
