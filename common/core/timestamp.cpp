#include "common/core/timestamp.h"

#include <date/date.h>

#include <array>
#include <cstdint>
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
  if (extended_date && !in.literal("-")) return "a dash is missing after the month";
  if (!take(out.day, 2)) return "the day must have two digits";
  if (!in.literal("T")) return "date and time are separated by an upper-case T";
  if (!take(out.hour, 2)) return "the hour must have two digits";
  bool extended_time = in.literal(":");
  if (extended_date && !extended_time) return "a date with dashes needs a time with colons";
  if (!take(out.minute, 2)) return "the minute must have two digits";
  if (extended_time && !in.literal(":")) return "a colon is missing after the minute";
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

/// Written without snprintf: every message has a few instants, and printf costs more than all else
/// that is done for one.
class Digits {
 public:
  void put(char c) { buffer_[size_++] = c; }

  /// `value` with at least `width` digits.
  void put(unsigned value, std::size_t width) {
    std::array<char, 12> reversed{};
    std::size_t count = 0;
    for (; value > 0 || count < width; value /= 10)
      reversed[count++] = static_cast<char>('0' + value % 10);
    while (count > 0) put(reversed[--count]);
  }

  /// Two digits after `before`.
  void put_two(char before, unsigned value) {
    put(before);
    put(static_cast<char>('0' + value / 10));
    put(static_cast<char>('0' + value % 10));
  }

  [[nodiscard]] std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  std::array<char, 48> buffer_;  // NOLINT(cppcoreguidelines-pro-type-member-init): size_ guards it
  std::size_t size_ = 0;
};

/// Years have four digits; a sign, which only years that no message may have need, takes the place
/// of one.
void put_year(int year, Digits& out) {
  if (year < 0) {
    out.put('-');
    out.put(static_cast<unsigned>(-year), 3);
  } else {
    out.put(static_cast<unsigned>(year), 4);
  }
}

Digits format(UtcTimestamp::TimePoint instant, bool with_micros) {
  constexpr std::int64_t kMicrosPerDay = 86'400'000'000;
  std::int64_t micros = instant.time_since_epoch().count();
  std::int64_t day = micros / kMicrosPerDay;
  std::int64_t of_day = micros % kMicrosPerDay;
  if (of_day < 0) {
    of_day += kMicrosPerDay;
    --day;
  }
  date::year_month_day ymd{date::sys_days{date::days{day}}};
  auto second = static_cast<unsigned>(of_day / 1'000'000);
  Digits out;
  put_year(static_cast<int>(ymd.year()), out);
  out.put_two('-', static_cast<unsigned>(ymd.month()));
  out.put_two('-', static_cast<unsigned>(ymd.day()));
  out.put_two('T', second / 3600);
  out.put_two(':', second / 60 % 60);
  out.put_two(':', second % 60);
  if (with_micros) {
    out.put('.');
    out.put(static_cast<unsigned>(of_day % 1'000'000), 6);
  }
  out.put('Z');
  return out;
}

}  // namespace

std::string UtcTimestamp::to_wire() const { return std::string(format(instant_, false).text()); }
std::string UtcTimestamp::to_log() const { return std::string(format(instant_, true).text()); }
void UtcTimestamp::append_log(std::string& out) const { out.append(format(instant_, true).text()); }

}  // namespace league::core
