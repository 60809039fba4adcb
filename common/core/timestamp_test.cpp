#include "common/core/timestamp.h"

#include <date/date.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace league::core {
namespace {

std::string text_of(const char* format, int a, int b, int c, int d, int e, int f) {
  std::array<char, 80> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, a, b, c, d, e, f);
  return buffer.data();
}

TEST(UtcTimestamp, ReadsEveryFormOfTheProtocol) {
  for (const char* form : {"2025-01-15T10:30:00", "20250115T10:30:00", "20250115T103000"}) {
    for (const char* fraction : {"", ".1", ".123456", ".123456789"}) {
      for (const char* zone : {"Z", "+00:00"}) {
        std::string text = std::string(form) + fraction + zone;
        auto parsed = UtcTimestamp::parse(text);
        ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
        EXPECT_EQ(parsed->to_wire(), "2025-01-15T10:30:00Z") << text;
      }
    }
  }
}

TEST(UtcTimestamp, ReadsFractionsAsMicroseconds) {
  EXPECT_EQ(UtcTimestamp::parse("2025-01-15T10:30:00.5Z")->to_log(), "2025-01-15T10:30:00.500000Z");
  EXPECT_EQ(UtcTimestamp::parse("2025-01-15T10:30:00.000001Z")->to_log(),
            "2025-01-15T10:30:00.000001Z");
  EXPECT_EQ(UtcTimestamp::parse("2025-01-15T10:30:00.123456789Z")->to_log(),
            "2025-01-15T10:30:00.123456Z");
}

TEST(UtcTimestamp, RefusesEverythingElse) {
  for (const char* text : {"",
                           "Z",
                           "now",
                           "2025-01-15",
                           "2025-01-15T10:30Z",
                           "2025-01-15T10:30:00",
                           "2025-01-15T10:30:00+02:00",
                           "2025-01-15T10:30:00-00:00",
                           "2025-01-15T10:30:00+0000",
                           "2025-01-15T10:30:00+00",
                           "2025-01-15T10:30:00-05:00",
                           "2025-01-15 10:30:00Z",
                           "2025-01-15t10:30:00Z",
                           "2025-01-15T10:30:00z",
                           "2025-02-30T10:30:00Z",
                           "2025-02-29T10:30:00Z",
                           "2025-00-15T10:30:00Z",
                           "2025-13-15T10:30:00Z",
                           "2025-01-00T10:30:00Z",
                           "2025-01-32T10:30:00Z",
                           "2025-01-15T24:00:00Z",
                           "2025-01-15T10:60:00Z",
                           "2025-01-15T10:30:60Z",
                           "2025-01-15T103000Z",
                           "2025-0115T10:30:00Z",
                           "202501-15T10:30:00Z",
                           "20250115T10:3000Z",
                           "20250115T1030:00Z",
                           "2025-01-15T10:30:00.Z",
                           "2025-01-15T10:30:00.1234567890Z",
                           "2025-01-15T10:30:00,5Z",
                           "2025-01-15T10:30:00ZZ",
                           "2025-01-15T10:30:00Z ",
                           " 2025-01-15T10:30:00Z",
                           "25-01-15T10:30:00Z",
                           "+2025-01-15T10:30:00Z",
                           "2025-1-15T10:30:00Z",
                           "2025-01-15T 1:30:00Z",
                           "2025-01-15T10:30:00\xD9\xA0Z",
                           "-025-01-15T10:30:00Z"}) {
    auto parsed = UtcTimestamp::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidTimestamp) << text;
    EXPECT_NE(parsed.error().message.find("2025-01-15T10:30:00Z"), std::string::npos)
        << "no example for " << text;
  }
}

TEST(UtcTimestamp, TextsStayShort) {
  auto parsed = UtcTimestamp::parse(std::string(100000, '2'));
  ASSERT_FALSE(parsed);
  EXPECT_LT(parsed.error().message.size(), 300U);
}

TEST(UtcTimestamp, AgreesWithTheCalendarAboutEveryDate) {
  EXPECT_TRUE(rc::check("accepted exactly when the calendar has the date", [] {
    int year = *rc::gen::inRange(0, 10000);
    int month = *rc::gen::inRange(0, 14);
    int day = *rc::gen::inRange(0, 33);
    int hour = *rc::gen::inRange(0, 26);
    int minute = *rc::gen::inRange(0, 62);
    int second = *rc::gen::inRange(0, 62);
    const char* format =
        *rc::gen::element("%04d-%02d-%02dT%02d:%02d:%02dZ", "%04d%02d%02dT%02d:%02d:%02dZ",
                          "%04d%02d%02dT%02d%02d%02dZ");
    date::year_month_day ymd{date::year{year}, date::month{static_cast<unsigned>(month)},
                             date::day{static_cast<unsigned>(day)}};
    bool exists = ymd.ok() && hour < 24 && minute < 60 && second < 60;
    auto parsed = UtcTimestamp::parse(text_of(format, year, month, day, hour, minute, second));
    RC_ASSERT(parsed.has_value() == exists);
    if (!exists) return;
    auto expected = date::sys_days{ymd} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
                    std::chrono::seconds{second};
    RC_ASSERT(parsed->instant() == expected);
    RC_ASSERT(parsed->to_wire() ==
              text_of("%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute, second));
  }));
}

TEST(UtcTimestamp, ReadsBackWhatItLogs) {
  EXPECT_TRUE(rc::check("parse undoes to_log, to_wire drops the fraction", [] {
    // From the year 0001 to the year 9999.
    auto micros = *rc::gen::inRange<std::int64_t>(-62135596800000000, 253402300799999999);
    UtcTimestamp instant{UtcTimestamp::TimePoint(std::chrono::microseconds(micros))};
    RC_ASSERT(*UtcTimestamp::parse(instant.to_log()) == instant);
    RC_ASSERT(UtcTimestamp::parse(instant.to_wire())->instant() ==
              date::floor<std::chrono::seconds>(instant.instant()));
  }));
}

/// How timestamps were formatted before they were written digit by digit.
std::string printed(UtcTimestamp::TimePoint instant) {
  auto day = date::floor<date::days>(instant);
  date::year_month_day ymd{day};
  date::hh_mm_ss time{instant - day};
  std::string text = text_of(
      "%04d-%02d-%02dT%02d:%02d:%02d", static_cast<int>(ymd.year()),
      static_cast<int>(static_cast<unsigned>(ymd.month())),
      static_cast<int>(static_cast<unsigned>(ymd.day())), static_cast<int>(time.hours().count()),
      static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  return text + text_of(".%06dZ", static_cast<int>(time.subseconds().count()), 0, 0, 0, 0, 0);
}

void expect_printed(std::int64_t micros) {
  UtcTimestamp instant{UtcTimestamp::TimePoint(std::chrono::microseconds(micros))};
  std::string log = printed(instant.instant());
  ASSERT_EQ(instant.to_log(), log);
  ASSERT_EQ(instant.to_wire(), log.substr(0, log.size() - 8) + "Z");
  std::string appended = "x";
  instant.append_log(appended);
  ASSERT_EQ(appended, "x" + log);
}

TEST(UtcTimestamp, WritesTheDigitsThatPrintfWould) {
  constexpr std::int64_t kDay = 86'400'000'000;
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t micros :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, kDay - 1, kDay, -kDay, -kDay - 1,
        std::int64_t{951'782'400'000'000}, std::int64_t{-62'167'219'200'000'000},
        std::int64_t{-62'167'219'200'000'001}, std::int64_t{253'402'300'800'000'000}, kMax,
        kMin + kDay}) {
    expect_printed(micros);
  }
  EXPECT_TRUE(rc::check("any instant", [] {
    expect_printed(*rc::gen::inRange<std::int64_t>(kMin + kDay, kMax));
    expect_printed(
        *rc::gen::inRange<std::int64_t>(-70'000'000'000'000'000, 300'000'000'000'000'000));
  }));
}

TEST(UtcTimestamp, SurvivesEveryMutationOfAGoodText) {
  EXPECT_TRUE(rc::check("one changed character is refused or still a timestamp of its length", [] {
    std::string text = *rc::gen::element<std::string>(
        "2025-01-15T10:30:00Z", "20250115T103000.123Z", "2025-01-15T10:30:00+00:00");
    auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::character<char>();
    auto parsed = UtcTimestamp::parse(text);
    if (parsed) RC_ASSERT(text.find_first_not_of("0123456789-:.TZ+") == std::string::npos);
  }));
}

TEST(UtcTimestamp, IsOrderedAndMovable) {
  auto early = *UtcTimestamp::parse("2024-12-31T23:59:59Z");
  EXPECT_LT(early, early.after(std::chrono::seconds(1)));
  EXPECT_EQ(early.after(std::chrono::seconds(1)).to_wire(), "2025-01-01T00:00:00Z");
}

}  // namespace
}  // namespace league::core
