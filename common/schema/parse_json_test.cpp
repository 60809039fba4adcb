#include "common/schema/parse_json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/schema/json_fields.h"

namespace league::schema {
namespace {

using core::ErrorCode;
using nlohmann::json;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, BuildsWhatTheLibraryBuilds) {
  for (const char* text :
       {R"({"a":[1,-2,3.5,true,false,null,"x"],"b":{"c":{}},"d":[]})", "7", "\"text\"", "null",
        "[]", R"( {"u":"\u00e9\ud83d\ude00","":0} )", "18446744073709551615",
        "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "1e3", "-0.0",
        "4.9e-324", "0.1", "\"\\u0000\"", R"({"z":1,"a":{"c":[],"b":2}})"}) {
    auto parsed = parse_json(text);
    ASSERT_TRUE(parsed) << text << parsed.error().message;
    json expected = json::parse(text);
    EXPECT_EQ(*parsed, expected);
    EXPECT_EQ(parsed->type(), expected.type()) << text;
    EXPECT_EQ(parsed->dump(), expected.dump());
  }
}

TEST(ParseJson, RefusesBrokenTextWithTheOffset) {
  auto broken = parse_json(R"({"a":tru})");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kMalformedMessage);
  EXPECT_NE(broken.error().message.find("byte 9"), std::string::npos) << broken.error().message;
  for (const char* text : {"", " ", "{", "{\"a\":1,}", "[1 2]", "{} {}", "NaN", "'a'", "\"\x01\"",
                           "\"\xff\"", "\"\xc3\"", "\"\\ud800\"", "1e400", "{1:2}"}) {
    auto result = parse_json(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kMalformedMessage) << text;
  }
}

TEST(ParseJson, AZeroByteEndsNothing) {
  for (const std::string& text : {std::string("{}\0{}", 5), std::string("{}\0", 3)}) {
    auto result = parse_json(text);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("byte 3"), std::string::npos) << result.error().message;
  }
}

TEST(ParseJson, ReadsLongDocuments) {
  json rows = json::array();
  for (int i = 0; i < 5000; ++i)
    rows.push_back({{"rank", i}, {"player_id", "P" + std::to_string(i)}});
  auto parsed = parse_json(rows.dump());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, rows);
}

TEST(ParseJson, QuotesNoUnboundedInput) {
  auto result = parse_json("{\"auth_token\":\"" + std::string(100000, 's') + "\x01\"}");
  ASSERT_FALSE(result);
  EXPECT_LT(result.error().message.size(), 300U);
  EXPECT_EQ(result.error().message.find("sss"), std::string::npos);
  const std::string digits(200'000, '9');
  for (const std::string& number : {digits, "-" + digits, digits + "e9", "1e" + digits}) {
    result = parse_json("{\"params\":" + number + "}");
    ASSERT_FALSE(result) << number.substr(0, 10);
    EXPECT_LT(result.error().message.size(), 200U) << result.error().message.substr(0, 300);
    EXPECT_EQ(result.error().message.find("999"), std::string::npos);
  }
}

TEST(ParseJson, LimitsDepthWithoutRecursion) {
  EXPECT_TRUE(parse_json(nested(32)));
  auto deep = parse_json(nested(33));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, ErrorCode::kFieldTooLong);
  EXPECT_FALSE(parse_json(nested(1000000)));
  EXPECT_FALSE(parse_json(std::string(1000000, '[')));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(parse_json(objects).error().code, ErrorCode::kFieldTooLong);
  EXPECT_TRUE(parse_json(nested(3), {.max_depth = 3}));
  EXPECT_FALSE(parse_json(nested(4), {.max_depth = 3}));
}

TEST(ParseJson, NamesADuplicateKeyAndWhereItStands) {
  auto twice = parse_json(R"({"a":[{"x":1},{"b/c":{"choice":1,"other":2,"choice":3}}]})");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kDuplicateKey);
  EXPECT_EQ(twice.error().field, "/a/1/b~1c/choice");
  EXPECT_NE(twice.error().message.find("\"choice\""), std::string::npos);
  EXPECT_EQ(parse_json(R"({"a":1,"\u0061":2})").error().code, ErrorCode::kDuplicateKey);
  EXPECT_TRUE(parse_json(R"([{"a":1},{"a":2}])"));
}

TEST(ParseJson, LimitsKeys) {
  EXPECT_TRUE(parse_json("{\"" + std::string(256, 'k') + "\":1}"));
  auto longer = parse_json("{\"" + std::string(257, 'k') + "\":1}");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::kFieldTooLong);
  EXPECT_LT(longer.error().message.size(), 200U);
}

TEST(ParseJson, SurvivesAnyBytes) {
  EXPECT_TRUE(rc::check(
      "agrees with the library about every text it accepts", [](const std::string& noise) {
        std::string text = *rc::gen::element(noise, "{\"a\":" + noise + "}", "[" + noise + "]",
                                             "\"" + noise + "\"");
        auto parsed = parse_json(text);
        if (parsed) {
          RC_ASSERT(*parsed == json::parse(text));
        } else {
          RC_ASSERT(!parsed.error().message.empty());
        }
      }));
}

TEST(JsonFields, AreEmptyWhereThereIsNoneOfThatType) {
  const nlohmann::json value = {{"text", "a"}, {"number", 7}, {"half", 0.5}, {"null", nullptr}};
  EXPECT_EQ(text_at(value, "text"), "a");
  EXPECT_EQ(number_at(value, "number"), 7);
  EXPECT_EQ(field_at(value, "half"), 0.5);
  for (const char* key : {"number", "null", "missing"}) EXPECT_EQ(text_at(value, key), "") << key;
  for (const char* key : {"text", "half", "missing"}) EXPECT_FALSE(number_at(value, key)) << key;
  for (const nlohmann::json& other : {nlohmann::json(7), nlohmann::json::array({"text"})}) {
    EXPECT_EQ(text_at(other, "text"), "");
    EXPECT_TRUE(field_at(other, "text").is_null());
  }
}

TEST(Utf8, IsKnown) {
  for (std::string good : {"", "abc", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "0123456\xC3\xA4"
                           "0123456789"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (std::string bad : {"\xff", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "12345678\x80"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

}  // namespace
}  // namespace league::schema
