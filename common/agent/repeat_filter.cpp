#include "common/agent/repeat_filter.h"

#include <nlohmann/json.hpp>

#include "common/agent/operations_log.h"
#include "common/core/timestamp.h"

namespace league::agent {
namespace {

using Instant = spdlog::log_clock::time_point;

core::UtcTimestamp utc(Instant instant) {
  return core::UtcTimestamp(
      std::chrono::time_point_cast<core::UtcTimestamp::TimePoint::duration>(instant));
}

/// `text` with `times` behind it, in an event within its message.
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

RepeatFilter::~RepeatFilter() {
  std::lock_guard lock(mutex_);
  end_windows(Instant::max(), spdlog::log_clock::now());
}

void RepeatFilter::log(const spdlog::details::log_msg& message) {
  std::lock_guard lock(mutex_);
  program_.assign(message.logger_name.data(), message.logger_name.size());
  end_windows(message.time - kWindow, message.time);
  if (message.level >= spdlog::level::warn) {
    const std::string text(message.payload.data(), message.payload.size());
    const auto found = seen_.find(text);
    if (found != seen_.end()) {
      ++found->second.repeats;
      return;
    }
    if (seen_.size() < kMostKinds)
      seen_.emplace(text, Seen{.since = message.time, .level = message.level});
  }
  inner_->log(message);
}

void RepeatFilter::flush() {
  std::lock_guard lock(mutex_);
  const auto now = spdlog::log_clock::now();
  end_windows(now - kWindow, now);
  inner_->flush();
}

void RepeatFilter::end_windows(Instant since, Instant now) {
  for (auto it = seen_.begin(); it != seen_.end();) {
    if (it->second.since > since) {
      ++it;
      continue;
    }
    if (it->second.repeats > 0) tell(it->first, it->second, now);
    it = seen_.erase(it);
  }
}

void RepeatFilter::tell(const std::string& text, const Seen& seen, Instant now) {
  const std::string times =
      " (" + std::to_string(seen.repeats) + " more since " + utc(seen.since).to_log() + ")";
  const std::string said = with_count(text, times, seen.repeats);
  inner_->log(spdlog::details::log_msg(now, {}, program_, seen.level, said));
}

}  // namespace league::agent
