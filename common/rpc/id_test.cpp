#include "common/rpc/id.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace league::rpc {
namespace {

std::string bytes_of(const Id& id) {
  std::string out;
  id.append_to(out);
  return out;
}

TEST(Id, ReadsWhatJsonRpcAllows) {
  for (const char* text : {"0", "1", "-7", "9223372036854775807", "-9223372036854775808", "\"\"",
                           "\"abc\"", "\"1\"", "\"quo\\\"te\"", "null"}) {
    std::optional<Id> id = Id::from_json(nlohmann::json::parse(text));
    ASSERT_TRUE(id.has_value()) << text;
    EXPECT_EQ(bytes_of(*id), text);
    EXPECT_EQ(nlohmann::json(*id).dump(), text);
  }
}

TEST(Id, RefusesEverythingElse) {
  for (const char* text : {"1.5", "1e-3", "9223372036854775808", "1e19", "1e400", "true", "[]",
                           "{}", "[1]", "18446744073709551616"}) {
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    EXPECT_FALSE(!value.is_discarded() && Id::from_json(value).has_value()) << text;
  }
}

TEST(Id, ReadsIntegersAsOtherLanguagesWriteThem) {
  for (const auto& [text, number] :
       {std::pair("17.0", 17), {"1e3", 1000}, {"-2.0", -2}, {"0.0", 0}})
    EXPECT_EQ(Id::from_json(nlohmann::json::parse(text)), Id(number)) << text;
}

TEST(Id, KeepsTypesApart) {
  EXPECT_NE(Id(1), Id("1"));
  EXPECT_NE(Id(0), Id());
  EXPECT_NE(Id(""), Id());
  EXPECT_EQ(Id(5), Id(5));
  EXPECT_TRUE(Id().is_null());
  EXPECT_FALSE(Id(0).is_null());
  EXPECT_EQ(*Id(5).number(), 5);
  EXPECT_EQ(Id(5).text(), nullptr);
  EXPECT_EQ(*Id("x").text(), "x");
}

TEST(Id, CanBeAKey) {
  std::unordered_set<Id> waiting{Id(1), Id("1"), Id(), Id(1)};
  EXPECT_EQ(waiting.size(), 3U);
  EXPECT_TRUE(waiting.contains(Id("1")));
}

}  // namespace
}  // namespace league::rpc
