#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "common/agent/peers/reply.h"
#include "common/audit/record/log_chain.h"
#include "common/core/timer.h"

namespace league::audit::log {
class AuditLog;
}

namespace league::agent::host {

/// Where an agent's answers get the newest seal of its own log from, so that the manager's log and
/// journal prove what it contained. Both may be empty: then there is no head to show. Source:
/// docs/audit.md, "Witnesses".
struct LogHeadSource {
  std::function<std::optional<audit::record::LogHead>()> newest = {};
  /// Seals what was logged before, and then calls `done`, on another thread.
  std::function<void(std::function<void()> done)> seal = {};
};

/// That of `log`, which must outlive it.
[[nodiscard]] LogHeadSource heads_of(audit::log::AuditLog& log);

/// Acknowledges a message, with `log_head`: the newest seal.
void acknowledge_with_head(peers::Reply reply, const LogHeadSource& heads);

/// The same after a new seal, but at the latest after `limit`. Answers on the timer's thread.
void acknowledge_when_sealed(peers::Reply reply, const LogHeadSource& heads, core::Timer& timer,
                             std::chrono::milliseconds limit = std::chrono::milliseconds(500));

}  // namespace league::agent::host
