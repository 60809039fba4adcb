#include "common/audit/log/seal_watch.h"

#include <algorithm>
#include <charconv>

namespace league::audit::log {
namespace {

constexpr std::int64_t kNanosecondsPerMs = 1'000'000;
/// How much later than the interval a record may come.
constexpr std::int64_t kAllowanceMs = 5000;
/// Far more than a program needs; a log with more of them is not read faster for it.
constexpr std::size_t kMostDelays = 100'000;

/// Nothing if the line has none: such a record is a fault of its own.
std::optional<std::int64_t> mono_of(std::string_view line) {
  constexpr std::string_view kKey = "\"mono_ns\":";
  const std::size_t key = line.find(kKey);
  std::int64_t found = 0;
  if (key == line.npos) return std::nullopt;
  const char* begin = line.data() + key + kKey.size();
  auto [end, error] = std::from_chars(begin, line.data() + line.size(), found);
  return error == std::errc{} && end != begin ? std::optional(found) : std::nullopt;
}

/// `12.3 s`.
std::string seconds(std::int64_t ms) {
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s";
}

/// Of two times in an untrusted file.
std::int64_t difference(std::int64_t later, std::int64_t earlier) {
  std::int64_t found = 0;
  if (__builtin_sub_overflow(later, earlier, &found)) return later > earlier ? INT64_MAX : 0;
  return found;
}

}  // namespace

void SealWatch::on_header(std::optional<std::uint64_t> interval_ms, bool begins_run) {
  interval_ms_ =
      interval_ms
          ? static_cast<std::int64_t>(std::min<std::uint64_t>(*interval_ms, kLongestIntervalMs))
          : kDefaultIntervalMs;
  if (begins_run) on_seal();
}

void SealWatch::on_seal() {
  first_.reset();
  delays_.clear();
  is_reported_ = false;
}

void SealWatch::on_delay(std::int64_t from_ns, std::int64_t to_ns) {
  if (delays_.size() < kMostDelays) delays_.emplace_back(from_ns, to_ns);
}

std::optional<std::string> SealWatch::on_record(std::uint64_t seq, std::string_view line) {
  const auto mono = mono_of(line);
  if (!mono || is_reported_) return std::nullopt;
  if (!first_ || *mono < first_->mono_ns) first_ = First{seq, *mono};
  const std::int64_t late_ms = difference(*mono, first_->mono_ns) / kNanosecondsPerMs;
  if (late_ms <= interval_ms_ + kAllowanceMs) return std::nullopt;
  // The newest note is the likeliest one.
  const bool is_said = std::any_of(delays_.rbegin(), delays_.rend(), [&](const auto& delay) {
    return delay.first <= first_->mono_ns && delay.second >= *mono;
  });
  if (is_said) return std::nullopt;
  is_reported_ = true;
  return "there is no seal between record " + std::to_string(first_->seq) + " and record " +
         std::to_string(seq) + ", " + seconds(late_ms) +
         " later, although the program seals at the latest after " + seconds(interval_ms_) +
         ": seals were removed. Ask whoever runs it for the log as it was written";
}

}  // namespace league::audit::log
