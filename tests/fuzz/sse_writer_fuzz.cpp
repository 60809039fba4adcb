// Whatever is written as an event is read as one event with the same data.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/transport/link/sse_parser.h"
#include "common/transport/link/sse_writer.h"

namespace {

std::string with_plain_line_ends(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace league::transport::link;
  auto text = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  StreamPiece piece = sse_event(text, "a-1");
  std::string bytes = sse_preface("a-0", std::chrono::milliseconds(5));
  bytes += kSseComment;
  bytes += piece.head + (piece.body ? *piece.body : "");
  bytes += piece.tail;
  bytes += sse_event_text(*text);
  std::vector<SseEvent> events;
  SseParser parser;
  if (!parser.feed(bytes, [&](SseEvent event) { events.push_back(std::move(event)); })) {
    std::abort();
  }
  if (events.size() != 3 || !events[0].data.empty() || events[1].id != "a-1") std::abort();
  std::string expected = with_plain_line_ends(*text);
  if (events[1].data != expected || events[2].data != expected) std::abort();
  return 0;
}
