// Pages of other origins and their browsers, at a whole server.
#include "common/transport/stream/streams_testing.h"

namespace league::transport::stream {
namespace {

using league::testing::post;
using league::testing::RawClient;

constexpr std::string_view kPage = "Origin: https://page.example\r\n";
constexpr std::string_view kMayRead = "Access-Control-Allow-Origin: https://page.example\r\n";

http::HttpServerOptions with_origins(std::vector<std::string> origins) {
  auto options = stream_options();
  options.allow_origins = std::move(origins);
  return options;
}

std::string preflight(std::string_view path, std::string_view origin,
                      std::string_view more = "Access-Control-Request-Method: POST\r\n") {
  return "OPTIONS " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(origin) +
         std::string(more) + "\r\n";
}

bool contains(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

class CrossOrigin : public ::testing::Test {
 protected:
  std::string ask(const std::string& request) { return RawClient(served_.port()).ask(request); }
  StreamServer served_{with_origins({"https://page.example"})};
};

TEST_F(CrossOrigin, AListedPageReadsAnswersAndRefusals) {
  std::string answer = ask(post("{}", kPage));
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_TRUE(contains(answer, kMayRead)) << answer;
  EXPECT_TRUE(contains(answer, "Access-Control-Expose-Headers: Mcp-Session-Id"));
  EXPECT_TRUE(contains(answer, "Vary: Origin"));
  EXPECT_FALSE(contains(answer, "Allow-Credentials"));
  for (const auto& request : {get("/nothing", kPage), get("/mcp", kPage),
                              post("{}", std::string(kPage) + "Accept: x/y\r\n"),
                              "PUT /mcp HTTP/1.1\r\nHost: localhost\r\n" + std::string(kPage) +
                                  "Content-Length: 0\r\n\r\n"}) {
    std::string refusal = ask(request);
    EXPECT_GE(status_of(refusal), 400) << request;
    EXPECT_TRUE(contains(refusal, kMayRead)) << request;
  }
  EXPECT_FALSE(contains(ask(post("{}")), "Access-Control")) << "nobody asked";
}

TEST_F(CrossOrigin, ForeignPagesAreRefusedWhateverTheyAsk) {
  for (std::string_view origin :
       {"Origin: https://evil.example\r\n", "Origin: null\r\n", "Origin: *\r\n",
        "Origin: https://page.example:8443\r\n", "Origin: http://page.example\r\n",
        "Origin: https://page.example\r\nOrigin: https://evil.example\r\n"}) {
    for (const auto& request :
         {post("{}", origin), preflight("/mcp", origin),
          get("/mcp", "Accept: text/event-stream\r\n" + std::string(origin))}) {
      std::string refusal = ask(request);
      EXPECT_EQ(status_of(refusal), 403) << request;
      EXPECT_FALSE(contains(refusal, "Access-Control")) << refusal;
    }
  }
}

TEST_F(CrossOrigin, PreflightsSayWhatAPageMaySend) {
  std::string answer =
      ask(preflight("/mcp", kPage,
                    "Access-Control-Request-Method: DELETE\r\n"
                    "Access-Control-Request-Headers: mcp-session-id,x-odd,cookie,mcp-param-a\r\n"));
  EXPECT_EQ(status_of(answer), 204) << answer;
  EXPECT_TRUE(contains(answer, kMayRead));
  EXPECT_TRUE(contains(answer, "Access-Control-Allow-Methods: POST, GET, DELETE\r\n"));
  EXPECT_TRUE(contains(answer, "mcp-session-id, mcp-param-a\r\n")) << answer;
  EXPECT_FALSE(contains(answer, "x-odd"));
  EXPECT_FALSE(contains(answer, "cookie"));
  EXPECT_FALSE(contains(answer, "Credentials"));
  EXPECT_TRUE(contains(ask(preflight("/sse", kPage)), "Access-Control-Allow-Methods: GET\r\n"));
  EXPECT_EQ(status_of(ask(preflight("/nothing", kPage))), 404);
  EXPECT_EQ(status_of(ask(preflight("/mcp", kPage, ""))), 405) << "an OPTIONS that asks nothing";
  EXPECT_EQ(status_of(ask(preflight("/mcp", ""))), 405) << "no browser";
}

TEST_F(CrossOrigin, StreamsCanBeReadToo) {
  StreamClient listening(served_.port(), listen_request(kPage));
  EXPECT_TRUE(contains(listening.read_until("\r\n\r\n"), kMayRead));
  StreamClient legacy(served_.port(), get("/sse", kPage));
  EXPECT_TRUE(contains(legacy.read_until("\r\n\r\n"), kMayRead));
  StreamServer pushing(with_origins({"https://page.example"}),
                       [](link::Inbound message, link::ReplySlot reply) {
                         EXPECT_TRUE(message.channel->push(shared("{}")));
                         league::testing::echo(std::move(message), std::move(reply));
                       });
  StreamClient answer(pushing.port(), post("{\"id\":7}", std::string(kBoth) + std::string(kPage)));
  EXPECT_TRUE(contains(answer.read_all(), kMayRead));
  StreamClient plain(served_.port(), listen_request());
  EXPECT_FALSE(contains(plain.read_until("\r\n\r\n"), "Access-Control"));
}

TEST(EveryOrigin, IsAllowedWithoutCredentialsButNotNull) {
  StreamServer served(with_origins({"*"}));
  std::string answer = RawClient(served.port()).ask(post("{}", kPage));
  EXPECT_TRUE(contains(answer, "Access-Control-Allow-Origin: *\r\n")) << answer;
  EXPECT_FALSE(contains(answer, "Credentials"));
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post("{}", "Origin: null\r\n"))), 403);
}

TEST(NoOrigin, NothingIsSaidOfOtherOrigins) {
  StreamServer served;
  EXPECT_FALSE(contains(RawClient(served.port()).ask(post("{}")), "Vary"));
  EXPECT_EQ(status_of(RawClient(served.port()).ask(preflight("/mcp", kPage))), 403);
}

}  // namespace
}  // namespace league::transport::stream
