#include "common/transport/client/response_reader.h"

#include <gtest/gtest.h>

#include <map>

namespace league::transport::client {
namespace {

struct CollectedResponse final : ResponseSink {
  void on_head(const ResponseHead& head) override { status = head.status; }
  void on_body(std::string_view piece) override {
    EXPECT_NE(status, 0) << "a body before its head: " << piece;
    body += piece;
  }

  int status = 0;
  std::string body;
};

TEST(ResponseReader, SkipsInterimAnswersHoweverTheyAreCut) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    ResponseReader reader(1000);
    CollectedResponse taken;
    for (std::size_t at = 0; at < text.size(); at += piece)
      ASSERT_TRUE(reader.feed(text.substr(at, piece), taken)) << reader.fault();
    EXPECT_TRUE(reader.is_done());
    EXPECT_EQ(taken.status, 404);
    EXPECT_EQ(taken.body, "no");
  }
}

TEST(ResponseReader, ReadsHeadsAsSmallServersWriteThem) {
  for (const std::string text :
       {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "HTTP/1.0 200\nContent-Length: 2\n\nok", "HTTP/1.1 100\n\nHTTP/1.1 200\n\r\nok"}) {
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      ResponseReader reader(1000);
      CollectedResponse taken;
      for (std::size_t at = 0; at < text.size(); at += piece)
        ASSERT_TRUE(reader.feed(text.substr(at, piece), taken)) << text << reader.fault();
      EXPECT_TRUE(reader.finish()) << text;
      EXPECT_EQ(taken.status, 200);
      EXPECT_EQ(taken.body, "ok");
    }
  }
}

TEST(ResponseReader, DoesNotWaitForTheEndOfWhatIsNoResponse) {
  ResponseReader reader(1000);
  CollectedResponse taken;
  EXPECT_FALSE(reader.feed("SSH-2.0-x\r\n", taken));
}

TEST(ResponseReader, ReadsChunksHoweverTheyAreCut) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto& [chunks, body] : std::map<std::string, std::string>{
           {"0\r\n\r\n", ""}, {"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"}}) {
    const std::string text = head + chunks;
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      ResponseReader reader(1000);
      CollectedResponse taken;
      for (std::size_t at = 0; at < text.size(); at += piece)
        ASSERT_TRUE(reader.feed(text.substr(at, piece), taken)) << reader.fault();
      EXPECT_TRUE(reader.is_done()) << piece;
      EXPECT_EQ(taken.body, body);
    }
  }
}

TEST(ResponseReader, HandsABodyOnBeforeItsNextChunk) {
  ResponseReader reader(1000);
  CollectedResponse taken;
  ASSERT_TRUE(reader.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na", taken));
  EXPECT_EQ(taken.body, "a");
}

TEST(ResponseReader, AStatusBelow100IsNone) {
  const std::string text = "HTTP/1.1 000 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nno";
  for (std::size_t piece : {std::size_t{1}, text.size()}) {
    ResponseReader reader(1000);
    CollectedResponse taken;
    bool is_fine = true;
    for (std::size_t at = 0; is_fine && at < text.size(); at += piece)
      is_fine = reader.feed(text.substr(at, piece), taken);
    EXPECT_FALSE(is_fine);
    EXPECT_FALSE(reader.fault().empty());
    EXPECT_EQ(taken.status, 0);
  }
}

}  // namespace
}  // namespace league::transport::client
