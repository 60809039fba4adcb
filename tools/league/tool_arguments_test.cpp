#include "tools/league/tool_arguments.h"

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

}  // namespace
}  // namespace league::tools
