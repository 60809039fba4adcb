#include "common/schema/fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::schema {
namespace {

using nlohmann::json;

struct Inner {
  std::string name{};
  std::optional<int> size{};

  void describe(Fields& a) {
    a.required("name", name);
    a.nullable("size", size);
  }
};

struct Outer {
  int count = 0;
  std::vector<Inner> list{};
  std::map<std::string, std::vector<std::string>> by_name{};
  std::optional<double> share{};
  bool is_marked = false;
  std::uint64_t big = 0;
  std::string inside{};

  void describe(Fields& a) {
    a.version("version", 1);
    a.count("count", count);
    a.required("list", list);
    a.filled("by_name", by_name);
    a.optional("share", share);
    a.flag("marked", is_marked);
    a.defaulted("big", big);
    a.object("object", [this](Fields& inner) { inner.filled("inside", inside); });
  }
};

const json kGood = {{"version", 1},
                    {"count", 3},
                    {"list", {{{"name", "a"}, {"size", 2}}, {{"name", "b"}, {"size", nullptr}}}},
                    {"by_name", {{"x", {"y", "z"}}}},
                    {"share", 0.5},
                    {"marked", true},
                    {"big", 9'000'000'000},
                    {"object", {{"inside", "i"}}}};

TEST(Fields, ReadWhatTheyWrite) {
  const auto read = schema::read<Outer>(kGood);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->list.size(), 2U);
  EXPECT_EQ(read->inside, "i");
  EXPECT_EQ(to_json(*read), kGood);
  EXPECT_EQ(json::parse(to_text(*read)), kGood);
}

TEST(Fields, AreWrittenInTheirOrderWithoutWhatIsNotThere) {
  EXPECT_EQ(to_text(Outer{}), R"({"version":1,"count":0,"list":[],"big":0,"object":{}})");
  EXPECT_EQ(to_text(Inner{"\"", {}}), R"({"name":"\"","size":null})");
}

TEST(Fields, NameTheFieldOfTheFirstFault) {
  const auto fault = [](const char* pointer, const json& value) {
    json bad = kGood;
    bad[json::json_pointer(pointer)] = value;
    const auto read = schema::read<Outer>(bad);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(fault("/version", 2), "/version is of another version");
  EXPECT_EQ(fault("/count", -1), "/count must be an integer from 0 to 1000000000");
  EXPECT_EQ(fault("/list/1/name", 7), "/list/1/name must be a string");
  EXPECT_EQ(fault("/list/0", json::object()), "/list/0/name is required");
  EXPECT_EQ(fault("/by_name/x/1", 1), "/by_name/x/1 must be a string");
  EXPECT_EQ(fault("/share", "1"), "/share must be a number");
  EXPECT_EQ(fault("/marked", nullptr), "") << "null is absent";
  EXPECT_EQ(fault("/big", -1), "/big is out of range");
  EXPECT_EQ(fault("/object/inside", 1), "/object/inside must be a string");
  EXPECT_FALSE(schema::read<Outer>(json::array()));
}

TEST(Fields, ReadLooselyWhatFits) {
  const auto read = read_loosely<Outer>(json{{"count", "x"},
                                             {"list", {1, {{"name", "b"}}, "c"}},
                                             {"by_name", {{"x", 1}, {"y", {"z", 2}}}},
                                             {"share", true}});
  EXPECT_EQ(read.count, 0);
  ASSERT_EQ(read.list.size(), 1U);
  EXPECT_EQ(read.list.front().name, "b");
  EXPECT_EQ(read.by_name, (std::map<std::string, std::vector<std::string>>{{"y", {"z"}}}));
  EXPECT_FALSE(read.share);
  EXPECT_EQ(read_loosely<Outer>(json(7)).count, 0);
}

TEST(Fields, AreListed) {
  const auto listed = field_type<Outer>().list({});
  ASSERT_EQ(listed.fields.size(), 8U);
  EXPECT_EQ(listed.fields[2].type, "array");
  EXPECT_EQ(listed.fields[2].element.front().fields[1].name, "size");
  EXPECT_TRUE(listed.fields[2].element.front().fields[1].may_be_null);
  EXPECT_FALSE(listed.fields[4].is_required);
}

}  // namespace
}  // namespace league::schema
