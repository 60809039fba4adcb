#include "tools/league/client/tool_arguments.h"

#include <gtest/gtest.h>

namespace league::tools {
namespace {

using nlohmann::json;

TEST(ToolArguments, JsonOrWords) {
  EXPECT_EQ(*parse_tool_arguments({}), json::object());
  EXPECT_EQ(*parse_tool_arguments({R"({"a":[1,2]})"}), (json{{"a", {1, 2}}}));
  EXPECT_EQ(*parse_tool_arguments({"limit=3", "name=alpha", "deep={\"x\":true}", "version=1.0.0",
                                   "empty=", "eq=a=b"}),
            (json{{"limit", 3},
                  {"name", "alpha"},
                  {"deep", {{"x", true}}},
                  {"version", "1.0.0"},
                  {"empty", ""},
                  {"eq", "a=b"}}));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"limit"}, {"=3"}, {"{broken"}, {"a=1", "{}"}})
    EXPECT_FALSE(parse_tool_arguments(words));
}

TEST(ToolArguments, ResultsAsPeopleReadThem) {
  EXPECT_EQ(readable_result({{"content",
                              {{{"type", "text"}, {"text", "one\ntwo"}},
                               {{"type", "image"}, {"mimeType", "image/png"}, {"data", "AAAA"}}}}}),
            "one\ntwo\n[image image/png, 4 bytes of base64]\n");
  EXPECT_EQ(readable_result({{"structuredContent", {{"a", 1}}}}), "{\n  \"a\": 1\n}\n");
  EXPECT_EQ(readable_result({{"message_type", "X"}}), "{\n  \"message_type\": \"X\"\n}\n");
  EXPECT_EQ(readable_result({{"content", {{{"type", "text"}, {"text", "\x1b[31mred"}}}}}),
            "?[31mred\n");
}

TEST(ToolArguments, AnAgentsFileSaysWhoAsks) {
  const auto with = [](const std::string& text, json arguments = json::object()) {
    return add_identity(arguments, text) ? arguments : json("refused");
  };
  const json expected = {{"sender", "player:P01"}, {"auth_token", "tok_p01_x"}};
  EXPECT_EQ(with(R"({"me":{"player_id":"P01","auth_token":"tok_p01_x"},"matches":{}})"), expected);
  EXPECT_EQ(with(R"({"id":"P01","auth_token":"tok_p01_x"})"), expected);
  EXPECT_EQ(with(R"({"referee_id":"REF01","auth_token":"t"})")["sender"], "referee:REF01");
  EXPECT_EQ(with("tok_p01_x\n", {{"sender", "player:P01"}}), expected);
  EXPECT_EQ(with(R"({"id":"P02","auth_token":"tok_p01_x"})", {{"sender", "player:P01"}}), expected);
  EXPECT_EQ(with(R"({"me":{"auth_token":7}})"), "refused");
  EXPECT_EQ(with("[]"), "refused");
}

}  // namespace
}  // namespace league::tools
