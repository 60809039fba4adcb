#include "bus/transport/bus_discovery.h"

#include <gtest/gtest.h>

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

TEST(ReadAttachment, TakesIntervalsAsTheyAreMeant) {
  auto interval = [](const std::string& value) {
    auto read = read_attachment(R"({"result":{"league_id":"l","keep_alive_ms":)" + value + "}}");
    return read ? read->keep_alive : -1ms;
  };
  EXPECT_EQ(interval("5000"), 5s);
  EXPECT_EQ(interval("0"), 0ms);
  EXPECT_EQ(interval("4294967297"), 1h) << "2^32 + 1";
  EXPECT_EQ(interval("18446744073709551615"), 1h);
  for (const char* odd : {"-1", "1.5", "1e300", "\"5\"", "null", "[]"})
    EXPECT_EQ(interval(odd), 0ms);
}

TEST(ReadAttachment, SaysWhatIsWrong) {
  for (const char* text : {"", "[]", "null", "{}", R"({"result":[]})", R"({"result":{}})",
                           R"({"result":{"league_id":7}})", R"({"error":7})"}) {
    auto read = read_attachment(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, core::ErrorCode::kInvalidReply);
  }
  auto refused = read_attachment(R"({"error":{"code":-32000,"message":"no room"}})");
  EXPECT_NE(refused.error().message.find("no room"), std::string::npos);
}

}  // namespace
}  // namespace league::transport::bus
