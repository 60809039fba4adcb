#include "common/core/timestamp.h"

#include <date/date.h>

#include <array>
#include <cstdio>
#include <optional>

namespace league::core {
namespace {

constexpr std::size_t kLongestTimestamp = 40;

/// Consumes the parts of a timestamp from the left; every failure leaves the reason.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  /// Exactly `count` digits, or nothing.
  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }

  bool literal(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  /// The digits behind a decimal point as microseconds; nothing if there are none or more than
  /// nine.
  std::optional<int> fraction() {
    int micros = 0;
    std::size_t count = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
      if (count < 6) micros = micros * 10 + (rest_[count] - '0');
      ++count;
    }
    if (count == 0 || count > 9) return std::nullopt;
    for (std::size_t i = count; i < 6; ++i) micros *= 10;
    rest_.remove_prefix(count);
    return micros;
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

Error invalid(std::string_view text, std::string_view why) {
  std::string shown(text.substr(0, kLongestTimestamp));
  return Error{ErrorCode::kInvalidTimestamp,
               "timestamp \"" + shown + "\": " + std::string(why) +
                   "; send UTC as 2025-01-15T10:30:00Z (Python: "
                   "datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'))",
               "/timestamp"};
}

struct Fields {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
};

/// The date and time part up to and including the seconds; returns the reason of a failure.
std::optional<std::string_view> read_date_and_time(Reader& in, Fields& out) {
  auto take = [&in](int& field, std::size_t count) {
    auto value = in.digits(count);
    if (value) field = *value;
    return value.has_value();
  };
  if (!take(out.year, 4)) return "the year must have four digits";
  bool extended_date = in.literal("-");
  if (!take(out.month, 2)) return "the month must have two digits";
  if (extended_date && !in.literal("-")) return "a dash is missing behind the month";
  if (!take(out.day, 2)) return "the day must have two digits";
  if (!in.literal("T")) return "date and time are separated by an upper-case T";
  if (!take(out.hour, 2)) return "the hour must have two digits";
  bool extended_time = in.literal(":");
  if (extended_date && !extended_time) return "with dashes in the date the time needs colons";
  if (!take(out.minute, 2)) return "the minute must have two digits";
  if (extended_time && !in.literal(":")) return "a colon is missing behind the minute";
  if (!take(out.second, 2)) return "the second must have two digits";
  return std::nullopt;
}

}  // namespace

Result<UtcTimestamp> UtcTimestamp::parse(std::string_view text) {
  if (text.size() > kLongestTimestamp) return invalid(text, "it is longer than any timestamp");
  Reader in(text);
  Fields f;
  if (auto why = read_date_and_time(in, f)) return invalid(text, *why);
  if (in.literal(".")) {
    auto micros = in.fraction();
    if (!micros) return invalid(text, "a fraction has one to nine digits");
    f.micros = *micros;
  }
  if (in.rest() != "Z" && in.rest() != "+00:00") {
    return invalid(text, in.rest().empty()
                             ? "it has no time zone; only UTC is allowed, written Z or +00:00"
                             : "only UTC is allowed, written Z or +00:00");
  }
  date::year_month_day day{date::year{f.year}, date::month{static_cast<unsigned>(f.month)},
                           date::day{static_cast<unsigned>(f.day)}};
  if (!day.ok()) return invalid(text, "there is no such day");
  if (f.hour > 23 || f.minute > 59 || f.second > 59)
    return invalid(text, "there is no such time of day");
  return UtcTimestamp(TimePoint(date::sys_days{day} + std::chrono::hours{f.hour} +
                                std::chrono::minutes{f.minute} + std::chrono::seconds{f.second} +
                                std::chrono::microseconds{f.micros}));
}

namespace {

std::string format(UtcTimestamp::TimePoint instant, bool with_micros) {
  auto day = date::floor<date::days>(instant);
  date::year_month_day ymd{day};
  date::hh_mm_ss time{instant - day};
  std::array<char, 64> buffer{};
  int n = std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                        static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                        static_cast<unsigned>(ymd.day()), static_cast<int>(time.hours().count()),
                        static_cast<int>(time.minutes().count()),
                        static_cast<int>(time.seconds().count()));
  std::string text(buffer.data(), static_cast<std::size_t>(n));
  if (with_micros) {
    n = std::snprintf(buffer.data(), buffer.size(), ".%06d",
                      static_cast<int>(time.subseconds().count()));
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text + 'Z';
}

}  // namespace

std::string UtcTimestamp::to_wire() const { return format(instant_, false); }
std::string UtcTimestamp::to_log() const { return format(instant_, true); }

}  // namespace league::core
