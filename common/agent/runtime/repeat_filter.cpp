#include "common/agent/runtime/repeat_filter.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/operations_log.h"
#include "common/core/timestamp.h"

namespace league::agent::runtime {
namespace {

core::UtcTimestamp utc(RepeatFilter::Instant instant) {
  return core::UtcTimestamp(
      std::chrono::time_point_cast<core::UtcTimestamp::TimePoint::duration>(instant));
}

/// `text` followed by `times`; for an event, `times` is added to the event's message.
std::string with_count(const std::string& text, const std::string& times, int repeats) {
  if (!text.starts_with(kEventStart)) return text + times;
  auto line = nlohmann::json::parse(text, nullptr, false);
  if (!line.is_object()) return text + times;
  return event_text(line.value("event", ""), line.value("message", "") + times, [&] {
    line["repeats"] = repeats;
    return line;
  }());
}

}  // namespace

std::vector<RepeatFilter::Line> RepeatFilter::pass(Instant now, bool is_warning, Line line) {
  std::vector<Line> out = take_counts(now);
  if (is_warning) {
    const auto found = seen_.find(line.text);
    if (found != seen_.end()) {
      ++found->second.repeats;
      return out;
    }
    if (seen_.size() < kMostKinds)
      seen_.emplace(line.text, Seen{.since = now, .level = line.level});
  }
  out.push_back(std::move(line));
  return out;
}

std::vector<RepeatFilter::Line> RepeatFilter::take_counts(Instant now) {
  std::vector<Line> out;
  end_windows(now - kWindow, out);
  return out;
}

std::vector<RepeatFilter::Line> RepeatFilter::take_all_counts() {
  std::vector<Line> out;
  end_windows(Instant::max(), out);
  return out;
}

void RepeatFilter::end_windows(Instant since, std::vector<Line>& out) {
  for (auto it = seen_.begin(); it != seen_.end();) {
    const Seen& seen = it->second;
    // If the clock is set back, the window must not stay open for that much longer.
    const bool is_of_future = since < Instant::max() - kWindow && seen.since > since + kWindow;
    if (seen.since > since && !is_of_future) {
      ++it;
      continue;
    }
    if (seen.repeats > 0) {
      const std::string times =
          " (" + std::to_string(seen.repeats) + " more since " + utc(seen.since).to_log() + ")";
      out.push_back({seen.level, with_count(it->first, times, seen.repeats)});
    }
    it = seen_.erase(it);
  }
}

}  // namespace league::agent::runtime
