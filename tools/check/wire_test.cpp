#include "tools/check/wire.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "common/transport/link/socket.h"

namespace league::tools::check {
namespace {

/// A server that answers its one connection with fixed bytes, and closes it.
class OneAnswer {
 public:
  explicit OneAnswer(std::string bytes)
      : listener_(std::move(*transport::link::listen_on("127.0.0.1", 0))) {
    port_ = transport::link::local_address(listener_.get()).port;
    thread_ = std::jthread([this, bytes = std::move(bytes)] {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      if (!transport::link::wait_ready(listener_.get(), POLLIN, deadline)) return;
      core::FileDescriptor peer(::accept(listener_.get(), nullptr, nullptr));
      char buffer[4096];
      (void)::recv(peer.get(), buffer, sizeof buffer, 0);
      (void)::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    });
  }
  [[nodiscard]] transport::link::Endpoint endpoint() const {
    return *transport::link::parse_endpoint("http://127.0.0.1:" + std::to_string(port_) + "/mcp");
  }

 private:
  core::FileDescriptor listener_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

RawAnswer answer_to(const std::string& bytes) {
  const OneAnswer server(bytes);
  return raw_http(server.endpoint(), {.pieces = {http_post(server.endpoint(), "{}")}}).front();
}

TEST(RawHttp, ReadsABodyOfKnownLength) {
  const auto answer =
      answer_to("HTTP/1.1 404 Nope\r\ncontent-length: 3\r\nContent-Type: a/b\r\n\r\nabc");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "abc");
  EXPECT_EQ(answer.content_type, "a/b");
  EXPECT_TRUE(answer.trouble.empty());
}

TEST(RawHttp, ReadsChunksAndBodiesThatEndWithTheConnection) {
  EXPECT_EQ(
      answer_to(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
          .body,
      "abc");
  EXPECT_EQ(answer_to("HTTP/1.0 200 OK\r\n\r\nabc").body, "abc");
}

TEST(RawHttp, TakesTheLastEventOfAStream) {
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                      "data: {\"a\":1}\n\ndata: {\"b\":2}\n\n")
                .body,
            "{\"b\":2}");
}

TEST(RawHttp, SaysWhatIsWrong) {
  EXPECT_NE(answer_to("").trouble.find("closed"), std::string::npos);
  EXPECT_NE(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").trouble, "");
  const auto nobody = *transport::link::parse_endpoint("http://127.0.0.1:1/mcp");
  const auto answer = raw_http(nobody, {.pieces = {"x"}}).front();
  EXPECT_TRUE(answer.is_refused);
}

}  // namespace
}  // namespace league::tools::check
