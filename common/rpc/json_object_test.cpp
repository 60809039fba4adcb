#include "common/rpc/json_object.h"

#include <gtest/gtest.h>

namespace league::rpc {
namespace {

TEST(JsonObject, WritesMembersInTheirOrder) {
  std::string out = "[";
  JsonObject object(out);
  object.text("name", "a\"b\n").number("count", 3).flag("good", true).null("nothing");
  object.optional_text("none", "").optional_text("some", "x").raw("list", "[1,2]");
  object.name("inner");
  JsonObject(out).end();
  object.end();
  EXPECT_EQ(out, R"([{"name":"a\"b\n","count":3,"good":true,"nothing":null,"none":null,"some":"x",)"
                 R"("list":[1,2],"inner":{}})");
}

TEST(JsonObject, TimesHaveMicroseconds) {
  std::string out;
  JsonObject object(out, ",\n");
  object.time("at", *core::UtcTimestamp::parse("2025-01-15T10:30:00.5Z")).time("never", {});
  object.end();
  EXPECT_EQ(out, "{\"at\":\"2025-01-15T10:30:00.500000Z\",\n\"never\":null}");
}

}  // namespace
}  // namespace league::rpc
