#include "common/transport/link/sse_writer.h"

#include <algorithm>

namespace league::transport::link {

namespace {

constexpr std::string_view kSseLineEnds = "\r\n";
constexpr std::string_view kSseEventEnd = "\n\n";

std::string event_head(std::string_view id, std::string_view type) {
  std::string head;
  head.reserve(32 + id.size() + type.size());
  if (!id.empty()) head.append("id: ").append(id).append("\n");
  return head.append("event: ").append(type).append("\ndata: ");
}

/// Appends data lines; every line end that the standard allows starts another data line.
void append_data(std::string_view data, std::string& out) {
  for (;;) {
    std::size_t end = std::min(data.find_first_of(kSseLineEnds), data.size());
    out.append(data.substr(0, end));
    if (end == data.size()) return;
    data.remove_prefix(end + (data.substr(end).starts_with(kSseLineEnds) ? 2 : 1));
    out.append("\ndata: ");
  }
}

}  // namespace

StreamPiece sse_event(std::shared_ptr<const std::string> data, std::string_view id,
                      std::string_view type) {
  StreamPiece piece{event_head(id, type), nullptr, kSseEventEnd};
  // Two searches for one character each are many times faster than one search for either.
  if (data->find('\n') == std::string::npos && data->find('\r') == std::string::npos) {
    piece.body = std::move(data);
  } else {
    append_data(*data, piece.head);
  }
  return piece;
}

std::string sse_event_text(std::string_view data, std::string_view id, std::string_view type) {
  std::string text = event_head(id, type);
  text.reserve(text.size() + data.size() + kSseEventEnd.size());
  append_data(data, text);
  return text.append(kSseEventEnd);
}

std::string sse_preface(std::string_view id, std::optional<std::chrono::milliseconds> retry) {
  std::string text;
  if (!id.empty()) text.append("id: ").append(id).append("\nevent: message\n");
  if (retry) text.append("retry: ").append(std::to_string(retry->count())).append("\n");
  if (!id.empty()) text.append("data: \n");
  if (!text.empty()) text.append("\n");
  return text;
}

}  // namespace league::transport::link
