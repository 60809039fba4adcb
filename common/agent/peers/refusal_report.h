#pragma once

#include <chrono>
#include <memory>

#include "common/core/timer.h"
#include "common/transport/link/rate_limiter.h"

namespace league::agent {

/// How often the operator is told of senders whose requests were refused.
inline constexpr std::chrono::seconds kRefusalReportInterval{10};

/// Has the operations log say of each sender how many of its requests were beyond its budget: one
/// line for a sender and interval, and one for all others where there are many. Goes on as long as
/// the rate limiter and the timer live.
void report_refusals(core::Timer& timer, const std::weak_ptr<transport::RateLimiter>& limiter);

}  // namespace league::agent
