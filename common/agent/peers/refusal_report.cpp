#include "common/agent/peers/refusal_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/agent/runtime/operations_log.h"

namespace league::agent::peers {
namespace {

constexpr std::size_t kMostNamed = 8;

void tell(std::vector<transport::link::Overrun> overruns) {
  std::ranges::stable_sort(overruns, std::greater<>(), &transport::link::Overrun::refused);
  const std::string within =
      " within " + std::to_string(kRefusalReportInterval.count()) + " s (429)";
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < overruns.size(); ++i) {
    const auto& one = overruns[i];
    if (i >= kMostNamed) {
      others += one.refused;
      continue;
    }
    runtime::write_event(true, "REQUESTS_REFUSED",
                         shown_sender(one.sender) + ": " + std::to_string(one.refused) +
                             " requests beyond its budget were refused" + within,
                         {{"sender", one.sender.name}, {"refused", one.refused}});
  }
  if (others == 0) return;
  runtime::write_event(true, "REQUESTS_REFUSED",
                       std::to_string(overruns.size() - kMostNamed) +
                           " more senders: " + std::to_string(others) +
                           " requests beyond their budgets were refused" + within,
                       {{"senders", overruns.size() - kMostNamed}, {"refused", others}});
}

}  // namespace

void report_refusals(core::Timer& timer,
                     const std::weak_ptr<transport::link::RateLimiter>& limiter) {
  timer.schedule(kRefusalReportInterval, [&timer, limiter] {
    auto open = limiter.lock();
    if (!open) return;
    tell(open->take_overruns());
    report_refusals(timer, limiter);
  });
}

}  // namespace league::agent::peers
