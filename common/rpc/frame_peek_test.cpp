#include "common/rpc/frame_peek.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

namespace league::rpc {
namespace {

TEST(FramePeek, KnowsTheKinds) {
  auto request = peek_frame(R"( {"jsonrpc":"2.0","id":7,"method":"ping","params":{"id":"x"}} )");
  EXPECT_EQ(request.kind, FrameKind::kRequest);
  EXPECT_EQ(request.id, Id(7));
  EXPECT_EQ(request.method, "ping");
  auto notification = peek_frame(R"({"method":"notifications/initialized"})");
  EXPECT_EQ(notification.kind, FrameKind::kNotification);
  EXPECT_EQ(notification.method, "notifications/initialized");
  auto response = peek_frame(R"({"jsonrpc":"2.0","id":"a","result":{"method":"no"}})");
  EXPECT_EQ(response.kind, FrameKind::kResponse);
  EXPECT_EQ(response.id, Id("a"));
  EXPECT_TRUE(response.method.empty());
  EXPECT_EQ(peek_frame(R"({"id":null,"error":{"code":1}})").kind, FrameKind::kResponse);
  EXPECT_EQ(peek_frame("[]").kind, FrameKind::kBatch);
  EXPECT_EQ(peek_frame(R"( [{"id":1,"method":"a"}] )").kind, FrameKind::kBatch);
}

TEST(FramePeek, CallsTheRestOther) {
  for (std::string_view text : {"",
                                " ",
                                "{",
                                "}",
                                "{}",
                                "null",
                                "7",
                                "\"a\"",
                                "[",
                                "[1",
                                "[}",
                                "{\"id\":1}",
                                "{\"method\":7,\"id\":1}",
                                "{\"method\":\"a\"",
                                "{\"method\":\"a\"} x",
                                "{\"method\"}",
                                "{\"method\":}",
                                "{\"method\":\"\\u12\"}",
                                "{\"method\":\"a\",}",
                                "{method:\"a\"}",
                                "{\"method\":\"a",
                                "{\"method\":\"\\",
                                "{\"a\":[}",
                                "{\"method\":\"\\ud800\"}"}) {
    EXPECT_NE(peek_frame(text).kind, FrameKind::kRequest) << text;
    EXPECT_NE(peek_frame(text).kind, FrameKind::kNotification) << text;
    EXPECT_NE(peek_frame(text).kind, FrameKind::kResponse) << text;
  }
}

TEST(FramePeek, ReadsIdsAsTheDecoderDoes) {
  EXPECT_EQ(peek_frame(R"({"id":0,"result":1})").id, Id(0));
  EXPECT_EQ(peek_frame(R"({"id":"","result":1})").id, Id(""));
  EXPECT_EQ(peek_frame(R"({"id":-9223372036854775808,"result":1})").id, Id(INT64_MIN));
  EXPECT_EQ(peek_frame(R"({"id":"\u00e4\ud83d\ude00\n","result":1})").id,
            Id("\xc3\xa4\xf0\x9f\x98\x80\n"));
  EXPECT_EQ(peek_frame(R"({"id":17.0,"result":1})").id, Id(17));
  EXPECT_EQ(peek_frame(R"({"id":1e3,"result":1})").id, Id(1000));
  EXPECT_EQ(peek_frame(R"({"id":-0.0,"result":1})").id, Id(0));
  for (std::string_view id :
       {"1.5", "1e-3", "1e19", "9223372036854775808", "{}", "[1]", "true", "01", "+1"}) {
    auto peek = peek_frame("{\"method\":\"a\",\"id\":" + std::string(id) + "}");
    EXPECT_EQ(peek.kind, FrameKind::kRequest) << id;
    EXPECT_TRUE(peek.id.is_null()) << id;
  }
}

TEST(FramePeek, TheLastOfTwoKeysCountsHoweverItIsWritten) {
  auto peek = peek_frame(R"({"method":"a","id":1,"m\u0065thod":"b","\u0069\u0064":2})");
  EXPECT_EQ(peek.method, "b");
  EXPECT_EQ(peek.id, Id(2));
  EXPECT_EQ(peek_frame(R"({"method":"a","method":1})").kind, FrameKind::kOther);
}

TEST(FramePeek, DepthAndLengthCostNothing) {
  std::string deep(1'000'000, '[');
  EXPECT_EQ(peek_frame(deep).kind, FrameKind::kOther);
  EXPECT_EQ(peek_frame("{\"params\":" + deep + std::string(deep.size(), ']') +
                       ",\"id\":3,\"method\":\"a\"}")
                .id,
            Id(3));
  EXPECT_EQ(peek_frame("{\"" + std::string(1'000'000, 'k') + "\":1,\"result\":2}").kind,
            FrameKind::kResponse);
}

/// Any object: what the peek says is what the parser says.
TEST(FramePeek, AgreesWithTheParser) {
  rc::check([] {
    nlohmann::json frame = nlohmann::json::object();
    auto text = [] { return *rc::gen::string<std::string>(); };
    auto ascii = [&] {
      std::string out;
      for (char c : text()) out.push_back(static_cast<char>(c & 0x7f));
      return out;
    };
    if (*rc::gen::arbitrary<bool>()) frame["method"] = ascii();
    if (*rc::gen::arbitrary<bool>()) frame["id"] = *rc::gen::arbitrary<std::int64_t>();
    if (*rc::gen::arbitrary<bool>()) frame["id"] = ascii();
    if (*rc::gen::arbitrary<bool>()) frame["result"] = {{"id", 5}, {"method", {ascii()}}};
    frame[ascii()] = {ascii(), 1.5, nullptr};
    auto peek = peek_frame(frame.dump(*rc::gen::inRange(-1, 3)));
    bool has_method = frame.contains("method") && frame["method"].is_string();
    if (frame.contains("method") && !has_method) {
      RC_ASSERT(peek.kind == FrameKind::kOther);
    } else if (has_method) {
      RC_ASSERT(peek.method == frame["method"].get<std::string>());
      RC_ASSERT((peek.kind == FrameKind::kRequest) == frame.contains("id"));
    }
    if (frame.contains("id")) RC_ASSERT(peek.id == Id::from_json(frame["id"]).value_or(Id()));
  });
}

/// Bytes that are no JSON do no harm.
TEST(FramePeek, SurvivesAnyBytes) {
  rc::check([](const std::string& bytes) {
    (void)peek_frame(bytes);
    (void)peek_frame("{\"id\":" + bytes);
    (void)peek_frame("{\"method\":\"" + bytes + "\"}");
  });
}

}  // namespace
}  // namespace league::rpc
