#include "common/transport/link/sse_writer.h"

#include <gtest/gtest.h>

#include "common/transport/stream/request_headers.h"

namespace league::transport::link {
namespace {

std::string text_of_piece(const StreamPiece& piece) {
  return piece.head + (piece.body ? *piece.body : "") + std::string(piece.tail);
}

std::string event(const std::string& data, std::string_view id = {}) {
  auto piece = sse_event(std::make_shared<const std::string>(data), id);
  EXPECT_EQ(piece.size(), text_of_piece(piece).size());
  EXPECT_EQ(text_of_piece(piece), sse_event_text(data, id));
  return text_of_piece(piece);
}

TEST(SseWriter, WritesEvents) {
  EXPECT_EQ(event("{}"), "event: message\ndata: {}\n\n");
  EXPECT_EQ(event("{}", "a-1"), "id: a-1\nevent: message\ndata: {}\n\n");
  EXPECT_EQ(sse_event_text("/x", {}, "endpoint"), "event: endpoint\ndata: /x\n\n");
}

TEST(SseWriter, LineEndsBeginNothingButData) {
  EXPECT_EQ(event("a\nid: evil"), "event: message\ndata: a\ndata: id: evil\n\n");
  EXPECT_EQ(event("a\r\nb\rc\n\n"),
            "event: message\ndata: a\ndata: b\ndata: c\ndata: \ndata: \n\n");
  EXPECT_EQ(event(""), "event: message\ndata: \n\n");
}

TEST(SseWriter, SharesTheBytesOfAnEvent) {
  auto data = std::make_shared<const std::string>("{}");
  EXPECT_EQ(sse_event(data).body, data);
}

TEST(SseWriter, WritesPrefaces) {
  EXPECT_EQ(sse_preface({}, std::nullopt), "");
  EXPECT_EQ(sse_preface({}, std::chrono::milliseconds(5)), "retry: 5\n\n");
  EXPECT_EQ(sse_preface("a-0", std::chrono::milliseconds(5)),
            "id: a-0\nevent: message\nretry: 5\ndata: \n\n");
}

TEST(AcceptedTypes, ReadsTheHeader) {
  auto of = [](const std::vector<std::string>& values) {
    rpc::HeaderMap headers;
    for (const auto& value : values) headers.emplace("accept", value);
    auto accepted = stream::accepted_types(headers);
    return std::pair{accepted.json, accepted.event_stream};
  };
  using Both = std::pair<bool, bool>;
  EXPECT_EQ(of({}), Both(true, false));
  EXPECT_EQ(of({"*/*"}), Both(true, false));
  EXPECT_EQ(of({"application/json"}), Both(true, false));
  EXPECT_EQ(of({"Text/Event-Stream"}), Both(false, true));
  EXPECT_EQ(of({"application/json, text/event-stream"}), Both(true, true));
  EXPECT_EQ(of({"application/json;q=0.9 ,\ttext/event-stream; q=0.5"}), Both(true, true));
  EXPECT_EQ(of({"application/json;q=0, text/event-stream"}), Both(false, true));
  EXPECT_EQ(of({"application/json", "text/event-stream"}), Both(true, true));
  EXPECT_EQ(of({"text/html"}), Both(false, false));
  EXPECT_EQ(of({""}), Both(false, false));
}

}  // namespace
}  // namespace league::transport::link
