#include "common/schema/json_string.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace league::schema {
namespace {

using nlohmann::json;

TEST(JsonString, EscapesWhatJsonEscapesWhateverStandsBesideIt) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    std::size_t size = random() % 60;
    unsigned plain = random() % 4;
    for (std::size_t k = 0; k < size; ++k) {
      bool special = random() % 4 >= plain;
      text += special ? "\"\\\n\t\x01\x1f\x7f\b\xc3\xa9\xe2"[random() % 11]
                      : static_cast<char>(' ' + random() % 95);
    }
    std::string out = "before";
    append_json_string(out, text);
    ASSERT_EQ(out, "before" + json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  // The last blocks need all the room that there may be, in a string that has no more.
  for (std::size_t controls = 0; controls < 80; ++controls) {
    for (std::size_t plain = 0; plain < 140; ++plain) {
      const std::string text =
          std::string(controls, '\x01') + std::string(plain, 'a') + std::string(31, '\x01');
      std::string fresh;
      append_json_string(fresh, text);
      ASSERT_EQ(fresh, json(text).dump());
    }
  }
  std::string out;
  append_json_string(out, std::string(5000, '\x02'));
  EXPECT_EQ(json::parse(out), std::string(5000, '\x02'));
}

}  // namespace
}  // namespace league::schema
