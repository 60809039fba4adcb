#pragma once

#include <chrono>
#include <memory>

#include "common/core/timer.h"
#include "common/transport/link/rate_limiter.h"

namespace league::agent::peers {

/// How often the operator is told about senders whose requests were refused.
inline constexpr std::chrono::seconds kRefusalReportInterval{10};

/// Regularly writes to the operations log how many requests of each sender exceeded its budget: one
/// line per sender and interval, and a common line for the rest if there are many senders. Runs as
/// long as the rate limiter and the timer live.
void report_refusals(core::Timer& timer,
                     const std::weak_ptr<transport::link::RateLimiter>& limiter);

}  // namespace league::agent::peers
