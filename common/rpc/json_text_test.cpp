#include "common/rpc/json_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace league::rpc {
namespace {

using nlohmann::json;

std::string text_of(const json& value) {
  std::string out = "before ";
  append_json(out, value);
  EXPECT_EQ(out.substr(0, 7), "before ");
  return out.substr(7);
}

std::string library_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

TEST(JsonText, IsTheLibrarysText) {
  const json samples = {nullptr,
                        true,
                        0,
                        -1,
                        std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::uint64_t>::max(),
                        1.0,
                        -0.0,
                        1e300,
                        0.1,
                        std::numeric_limits<double>::infinity(),
                        json::array(),
                        json::object(),
                        {{"a", json::array({json::array(), json::object()})}, {"", ""}},
                        "plain",
                        "quote \" backslash \\ slash / tab \t del \x7f",
                        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                        std::string("zero \0 byte", 11)};
  for (const auto& sample : samples) EXPECT_EQ(text_of(sample), library_text(sample));
  EXPECT_EQ(text_of(samples), library_text(samples));
}

TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(text_of(json("a\xff")), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(text_of(json{{"\xff", 1}}), library_text(json{{"\xff", 1}}));
}

TEST(JsonText, IsTheLibrarysTextForAnyStringsAndNumbers) {
  EXPECT_TRUE(rc::check([](const std::map<std::string, std::vector<std::int64_t>>& numbers,
                           const std::vector<std::string>& texts, double fraction) {
    json value = {{"numbers", numbers}, {"texts", texts}, {"fraction", fraction}};
    RC_ASSERT(text_of(value) == library_text(value));
  }));
}

TEST(JsonText, AnOrderedObjectKeepsItsOrder) {
  EXPECT_EQ(ordered_json_text({{"b", 1}, {"a", "\xff"}}), "{\"b\":1,\"a\":\"\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace league::rpc
