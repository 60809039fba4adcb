#include "common/transport/front/request_scanner.h"

#include <gtest/gtest.h>

#include <string>

namespace league::transport::front {
namespace {

using State = RequestScanner::State;

const http::HttpLimits kLimits{.max_head = 1024, .max_body = 100};

std::string request(const std::string& headers, const std::string& body = "") {
  return "POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

int refused_with(const std::string& bytes) {
  RequestScanner scanner(kLimits);
  return scanner.scan(bytes) == State::kRefused ? scanner.refusal().status : 0;
}

/// Length of the request when it comes byte by byte.
std::size_t length_in_pieces(const std::string& bytes) {
  RequestScanner scanner(kLimits);
  for (std::size_t i = 1; i <= bytes.size(); ++i) {
    State state = scanner.scan(std::string_view(bytes).substr(0, i));
    if (state == State::kRefused) return 0;
    if (state == State::kComplete) return scanner.length();
  }
  return 0;
}

TEST(RequestScanner, FindsTheEndInPiecesAndAtOnce) {
  const std::string sized = request("Content-Length: 5\r\n", "hello");
  const std::string chunked =
      request("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n");
  for (const auto& bytes : {request(""), sized, chunked}) {
    EXPECT_EQ(length_in_pieces(bytes), bytes.size());
    RequestScanner scanner(kLimits);
    ASSERT_EQ(scanner.scan(bytes + "GET / HTTP/1.1\r\n"), State::kComplete);
    EXPECT_EQ(scanner.length(), bytes.size());
  }
}

TEST(RequestScanner, StartsAgainAfterReset) {
  RequestScanner scanner(kLimits);
  ASSERT_EQ(scanner.scan(request("Content-Length: 1\r\n", "x")), State::kComplete);
  scanner.reset();
  EXPECT_EQ(scanner.scan("GET / HT"), State::kIncomplete);
  EXPECT_EQ(scanner.scan("GET / HTTP/1.0\r\n\r\n"), State::kComplete);
}

TEST(RequestScanner, RefusesWhatIsTooLarge) {
  EXPECT_EQ(refused_with(std::string(1025, 'x')), 431);
  EXPECT_EQ(refused_with(request("X: " + std::string(1100, 'x') + "\r\n")), 431);
  EXPECT_EQ(refused_with(request("Content-Length: 101\r\n")), 413);
  EXPECT_EQ(refused_with(request("Content-Length: 99999999999999999999999\r\n")), 413);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n", "65\r\n")), 413);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n")), 413);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n",
                                 "40\r\n" + std::string(64, 'x') + "\r\n40\r\n")),
            413);
}

TEST(RequestScanner, RefusesAmbiguousFraming) {
  EXPECT_EQ(refused_with(request("Content-Length: 5\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(refused_with(request("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(refused_with(request("Content-Length: +5\r\n")), 400);
  EXPECT_EQ(refused_with(request("Content-Length: 5,5\r\n")), 400);
  EXPECT_EQ(refused_with(request("Content-Length: -1\r\n")), 400);
  EXPECT_EQ(refused_with(request("Content-Length:\r\n")), 400);
  EXPECT_EQ(refused_with(request("Content-Length : 5\r\n")), 400);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: gzip, chunked\r\n")), 501);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
            501);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n", "zz\r\n")), 400);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n", "1\r\nabc")), 400);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n", "0\r\nX: y\r\n\r\n")), 400);
  EXPECT_EQ(refused_with(request("Transfer-Encoding: chunked\r\n", std::string(65, '0'))), 400);
}

TEST(RequestScanner, RefusesMalformedHeads) {
  EXPECT_EQ(refused_with("\r\n\r\n"), 400);
  EXPECT_EQ(refused_with("garbage\r\n\r\n"), 400);
  EXPECT_EQ(refused_with("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(refused_with("GET  / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(refused_with(request("no colon\r\n")), 400);
  EXPECT_EQ(refused_with(request("A: b\r\n folded: c\r\n")), 400);
  EXPECT_EQ(refused_with(request("A: b\nC: d\r\n")), 400);
  EXPECT_EQ(refused_with(request(std::string("A: b\0c\r\n", 8))), 400);
}

TEST(RequestScanner, RefusesWhatTheParserShallNotSee) {
  EXPECT_EQ(refused_with(request("Content-Encoding: gzip\r\n")), 415);
  EXPECT_EQ(refused_with(request("Expect: 200-ok\r\n")), 417);
}

TEST(RequestScanner, SaysOnceThatThePeerWaits) {
  RequestScanner scanner(kLimits);
  std::string head =
      request("Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n");
  EXPECT_FALSE(scanner.take_continue());
  ASSERT_EQ(scanner.scan(head), State::kIncomplete);
  EXPECT_TRUE(scanner.take_continue());
  EXPECT_FALSE(scanner.take_continue());
  EXPECT_EQ(scanner.scan(head + "{}"), State::kComplete);
}

TEST(RequestScanner, AsksForNoBodyThatIsRefused) {
  EXPECT_EQ(refused_with(request(
                "Expect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n")),
            415);
}

TEST(RequestScanner, AnOldClientIsNotAskedForItsBody) {
  RequestScanner scanner(kLimits);
  ASSERT_EQ(scanner.scan("POST /mcp HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
            State::kIncomplete);
  EXPECT_FALSE(scanner.take_continue());
}

TEST(RequestScanner, NamesTheFieldsThatTheParserShallNotSee) {
  RequestScanner scanner(kLimits);
  const std::string bytes = request("A: b\r\nrange: bytes=0-1\r\nRange: x\r\n");
  ASSERT_EQ(scanner.scan(bytes), State::kComplete);
  ASSERT_EQ(scanner.ignored_fields().size(), 2U);
  EXPECT_EQ(bytes.substr(scanner.ignored_fields()[0], 6), "range:");
  EXPECT_EQ(bytes.substr(scanner.ignored_fields()[1], 6), "Range:");
}

}  // namespace
}  // namespace league::transport::front
