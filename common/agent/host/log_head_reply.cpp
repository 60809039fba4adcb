#include "common/agent/host/log_head_reply.h"

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/audit/log/audit_log.h"

namespace league::agent::host {

LogHeadSource heads_of(audit::log::AuditLog& log) {
  return {.newest = [&log] { return log.sealed_head(); },
          .seal = [&log](std::function<void()> done) { log.seal_then(std::move(done)); }};
}

void acknowledge_with_head(peers::Reply reply, const LogHeadSource& heads) {
  nlohmann::json answer = {{"status", "ok"}};
  if (auto head = heads.newest ? heads.newest() : std::nullopt)
    answer["log_head"] = {{"seq", head->seq}, {"hash", head->hash}};
  reply.send(answer);
}

void acknowledge_when_sealed(peers::Reply reply, const LogHeadSource& heads, core::Timer& timer,
                             std::chrono::milliseconds limit) {
  if (!heads.seal) return acknowledge_with_head(std::move(reply), heads);
  struct Waiting {
    Waiting(peers::Reply to, LogHeadSource source)
        : reply(std::move(to)), heads(std::move(source)) {}
    peers::Reply reply;
    LogHeadSource heads;
    std::atomic<bool> is_answered{false};
  };
  auto waiting = std::make_shared<Waiting>(std::move(reply), heads);
  const auto answer = [waiting] {
    if (!waiting->is_answered.exchange(true))
      acknowledge_with_head(std::move(waiting->reply), waiting->heads);
  };
  timer.schedule(limit, answer);
  // An answer is logged too, and the log's own thread must not wait for room in its queue.
  heads.seal([&timer, answer] { timer.schedule(std::chrono::milliseconds(0), answer); });
}

}  // namespace league::agent::host
