#include "common/rpc/codec.h"

#include <gtest/gtest.h>

namespace league::rpc {
namespace {

using nlohmann::json;

Frame decode_single(const char* text, const DecodeOptions& options = {}) {
  Decoded decoded = decode(json::parse(text), options);
  EXPECT_FALSE(decoded.is_batch);
  EXPECT_EQ(decoded.frames.size(), 1U);
  return decoded.frames.front();
}

TEST(Decode, TellsTheThreeKindsApart) {
  EXPECT_EQ(
      std::get<Message>(decode_single(R"({"jsonrpc":"2.0","id":1,"method":"m","params":[2]})")),
      Message(make_request(Id(1), "m", json::array({2}))));
  EXPECT_EQ(std::get<Message>(decode_single(R"({"jsonrpc":"2.0","method":"m"})")),
            Message(make_notification("m")));
  EXPECT_EQ(std::get<Message>(decode_single(R"({"jsonrpc":"2.0","id":"a","result":{"x":1}})")),
            Message(make_result(Id("a"), {{"x", 1}})));
  ErrorObject error;
  error.code = 7;
  error.message = "no";
  error.data = {1};
  EXPECT_EQ(std::get<Message>(decode_single(
                R"({"jsonrpc":"2.0","id":null,"error":{"code":7,"message":"no","data":[1]}})")),
            Message(make_error(Id(), error)));
}

TEST(Decode, SaysWhichRuleWasBrokenAndWhere) {
  struct Row {
    const char* text;
    const char* field;
    Id id;
  };
  for (const Row& row :
       {Row{R"([])", "", Id()}, Row{R"(7)", "", Id()},
        Row{R"({"jsonrpc":"2.0","id":4,"method":7})", "/method", Id(4)},
        Row{R"({"jsonrpc":"2.0","id":4})", "/method", Id(4)},
        Row{R"({"id":4,"method":"m"})", "/jsonrpc", Id(4)},
        Row{R"({"jsonrpc":"2.0","id":4,"method":"m","params":"x"})", "/params", Id(4)},
        Row{R"({"jsonrpc":"2.0","id":4.5,"method":"m"})", "/id", Id()},
        Row{R"({"jsonrpc":"2.0","id":4,"result":1,"error":{}})", "/error", Id()},
        Row{R"({"jsonrpc":"2.0","id":4,"error":{"code":99999999999,"message":""}})", "/error",
            Id()},
        Row{R"({"jsonrpc":"2.0","result":1})", "/id", Id()}}) {
    SCOPED_TRACE(row.text);
    Frame frame = decode_single(row.text);
    const auto* invalid = std::get_if<InvalidRequest>(&frame);
    ASSERT_NE(invalid, nullptr);
    EXPECT_EQ(invalid->id, row.id);
    EXPECT_EQ(invalid->fault.code, core::ErrorCode::kMalformedMessage);
    EXPECT_EQ(invalid->fault.field, row.field);
    EXPECT_FALSE(invalid->fault.message.empty());
    EXPECT_EQ(to_response(*invalid).id, row.id);
    EXPECT_EQ(to_response(*invalid).error->code, -32600);
  }
}

TEST(Decode, NullIdsCanBeRefusedInRequestsOnly) {
  DecodeOptions strict{.refuse_null_id = true};
  const char* request = R"({"jsonrpc":"2.0","id":null,"method":"m"})";
  const char* answer = R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}})";
  EXPECT_TRUE(std::holds_alternative<Message>(decode_single(request)));
  EXPECT_TRUE(std::holds_alternative<InvalidRequest>(decode_single(request, strict)));
  EXPECT_TRUE(std::holds_alternative<Message>(decode_single(answer, strict)));
}

TEST(Decode, AnIdThatAnAnswerWouldRepeatHasAnEnd) {
  const auto frame_with = [](std::size_t length) {
    const std::string request =
        R"({"jsonrpc":"2.0","method":"m","id":")" + std::string(length, 'x') + "\"}";
    return decode_single(request.c_str(), {.refuse_null_id = true});
  };
  EXPECT_TRUE(std::holds_alternative<Message>(frame_with(200)));
  const Frame refused = frame_with(201);
  ASSERT_TRUE(std::holds_alternative<InvalidRequest>(refused));
  EXPECT_TRUE(std::get<InvalidRequest>(refused).id.is_null());
}

TEST(Decode, LongBatchIsOneInvalidRequest) {
  DecodeOptions options{.max_batch = 3};
  EXPECT_EQ(decode(json::array({1, 2, 3}), options).frames.size(), 3U);
  Decoded refused = decode(json::array({1, 2, 3, 4}), options);
  EXPECT_FALSE(refused.is_batch);
  ASSERT_EQ(refused.frames.size(), 1U);
  EXPECT_NE(std::get<InvalidRequest>(refused.frames[0]).fault.message.find("at most 3"),
            std::string::npos);
}

TEST(Decode, BatchOfOneStaysABatch) {
  Decoded decoded = decode(json::parse(R"([{"jsonrpc":"2.0","id":1,"method":"m"}])"));
  EXPECT_TRUE(decoded.is_batch);
  EXPECT_EQ(decoded.frames.size(), 1U);
}

TEST(Encode, WritesExactBytes) {
  EXPECT_EQ(encode_request(Id(1), "choose_parity", R"({"a":1})"),
            R"({"jsonrpc":"2.0","id":1,"method":"choose_parity","params":{"a":1}})");
  EXPECT_EQ(encode_request(Id("x"), "ping", ""), R"({"jsonrpc":"2.0","id":"x","method":"ping"})");
  EXPECT_EQ(encode_notification("n", "[1]"), R"({"jsonrpc":"2.0","method":"n","params":[1]})");
  EXPECT_EQ(encode_result(Id(0), R"({"ok":true})"),
            R"({"jsonrpc":"2.0","id":0,"result":{"ok":true}})");
  EXPECT_EQ(encode_error(Id(), StandardCode::kParseError),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})");
  EXPECT_EQ(encode_error(Id(1), 5, "no \"x\"\n", R"({"f":1})"),
            R"({"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"no \"x\"\n","data":{"f":1}}})");
}

TEST(Encode, NeverSendsANullResultOrError) {
  EXPECT_EQ(encode_result(Id(1), ""), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(encode_result(Id(1), "null"), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(encode(make_result(Id(1), nullptr)), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(json::parse(encode(make_error(Id(1), StandardCode::kInternalError))).count("result"),
            0U);
  EXPECT_EQ(json::parse(encode(make_result(Id(1), 2))).count("error"), 0U);
}

TEST(Encode, ReplacesBytesThatAreNoUtf8) {
  std::string bytes = encode(make_request(Id("\xff"), "m\xc3", {{"k", "\xe2\x82"}}));
  json parsed = json::parse(bytes);
  EXPECT_EQ(parsed["id"], "\xef\xbf\xbd");
  EXPECT_EQ(parsed["method"], "m\xef\xbf\xbd");
}

TEST(Encode, BatchJoinsAndAnEmptyOneIsNothing) {
  std::vector<std::string> answers{"{}", "[1]"};
  EXPECT_EQ(encode_batch(answers), "[{},[1]]");
  EXPECT_EQ(encode_batch({}), "");
}

TolerantResponse tolerant(const char* text, const Id& expected = Id(1)) {
  auto decoded = decode_response(json::parse(text), expected);
  EXPECT_TRUE(decoded.has_value()) << text;
  return decoded.has_value() ? *decoded : TolerantResponse{};
}

TEST(DecodeResponse, NeedsNoLeniencyForExactAnswers) {
  TolerantResponse result = tolerant(R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})");
  EXPECT_EQ(result.leniencies, ResponseLeniencies{});
  EXPECT_EQ(result.response, make_result(Id(1), {{"a", 1}}));
  TolerantResponse error =
      tolerant(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}})");
  EXPECT_EQ(error.leniencies, ResponseLeniencies{});
  EXPECT_EQ(error.response, make_error(Id(1), StandardCode::kMethodNotFound));
  for (const char* text : {R"({"jsonrpc":"2.0","id":1,"result":null})",
                           R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}})"})
    EXPECT_EQ(tolerant(text).leniencies, ResponseLeniencies{});
}

TEST(DecodeResponse, NamesEachLeniencyItTook) {
  using L = ResponseLeniencies;
  struct Row {
    const char* text;
    L expected;
    bool is_error;
  };
  for (const Row& row : {
           Row{R"({"jsonrpc":"2.0","id":1,"result":2,"error":null})", L{.null_error = true}, false},
           Row{R"({"jsonrpc":"2.0","id":1,"result":null,"error":null})", L{.null_error = true},
               false},
           Row{R"({"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"x"}})",
               L{.null_result = true}, true},
           Row{R"({"jsonrpc":"2.0","result":2})", L{.missing_id = true}, false},
           Row{R"({"jsonrpc":"2.0","id":null,"result":2})", L{.missing_id = true}, false},
           Row{R"({"jsonrpc":"2.0","id":"1","result":2})", L{.changed_id_type = true}, false},
           Row{R"({"jsonrpc":"2.0","id":1.0,"result":2})", L{}, false},
           Row{R"({"jsonrpc":"2.0","id":1.5,"result":2})", L{.foreign_id = true}, false},
           Row{R"({"jsonrpc":"2.0","id":2,"result":2})", L{.foreign_id = true}, false},
           Row{R"({"id":1,"result":2})", L{.missing_version = true}, false},
           Row{R"({"jsonrpc":"2.0","id":1,"error":"went wrong"})", L{.malformed_error = true},
               true},
           Row{R"({"jsonrpc":"2.0","id":1,"error":{"code":"E001"}})", L{.malformed_error = true},
               true},
       }) {
    SCOPED_TRACE(row.text);
    TolerantResponse decoded = tolerant(row.text);
    EXPECT_EQ(decoded.leniencies, row.expected);
    EXPECT_EQ(decoded.response.error.has_value(), row.is_error);
    EXPECT_EQ(decoded.response.id, Id(1));
  }
}

TEST(DecodeResponse, SavesWhatAMalformedErrorSays) {
  Response text = tolerant(R"({"jsonrpc":"2.0","id":1,"error":"went wrong"})").response;
  EXPECT_EQ(text.error->message, "went wrong");
  EXPECT_EQ(text.error->code, -32603);
  Response coded = tolerant(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601}})").response;
  EXPECT_EQ(coded.error->code, -32601);
  EXPECT_EQ(coded.error->data["code"], -32601);
}

TEST(DecodeResponse, RefusesWhatAnswersNothing) {
  for (const char* text :
       {R"(7)", R"([])", R"({})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"error":null})", R"({"jsonrpc":"2.0","id":1,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1,"result":2,"error":{"code":1,"message":"x"}})"}) {
    auto decoded = decode_response(json::parse(text), Id(1));
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().code, core::ErrorCode::kInvalidReply);
  }
}

}  // namespace
}  // namespace league::rpc
