#pragma once

#include <chrono>
#include <optional>

#include "common/core/clock.h"

namespace league::rpc {

/// When a message was made and handled. Instants are monotonic but for `system_time`, which is for
/// what is written down. A value.
struct TimingContext {
  using Instant = core::Clock::Steady;
  using Duration = std::chrono::nanoseconds;

  Instant created{};
  core::UtcTimestamp system_time;  ///< of the creation, with microseconds
  std::optional<Instant> processing_started;
  std::optional<Instant> processing_completed;
  std::optional<Instant> sent;

  /// Created now.
  [[nodiscard]] static TimingContext now(const core::Clock& clock) {
    return at(clock.steady_now(), clock.utc_now());
  }
  /// Created then.
  [[nodiscard]] static TimingContext at(Instant created, core::UtcTimestamp system_time) {
    return {created, system_time, {}, {}, {}};
  }

  void start_processing(Instant when) { processing_started = when; }
  void complete_processing(Instant when) { processing_completed = when; }
  void mark_sent(Instant when) { sent = when; }
  void start_processing(const core::Clock& clock) { start_processing(clock.steady_now()); }
  void complete_processing(const core::Clock& clock) { complete_processing(clock.steady_now()); }
  void mark_sent(const core::Clock& clock) { mark_sent(clock.steady_now()); }

  /// How long it waited for a handler; nothing before that began.
  [[nodiscard]] std::optional<Duration> waiting_duration() const {
    return between(created, processing_started);
  }
  /// How long the handler took; nothing before it ended.
  [[nodiscard]] std::optional<Duration> processing_duration() const {
    return processing_started ? between(*processing_started, processing_completed) : std::nullopt;
  }
  /// From creation to the operating system; nothing before it was sent.
  [[nodiscard]] std::optional<Duration> total_duration() const { return between(created, sent); }

  bool operator==(const TimingContext&) const = default;

 private:
  [[nodiscard]] static std::optional<Duration> between(Instant from, std::optional<Instant> to) {
    if (!to) return std::nullopt;
    return std::chrono::duration_cast<Duration>(*to - from);
  }
};

}  // namespace league::rpc
