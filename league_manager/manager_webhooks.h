#pragma once

#include <memory>
#include <vector>

#include "common/agent/host/agent_host.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/spectators/webhooks.h"

namespace league::league_manager {

/// Notifies other servers of a running league's start, of the end of each round and of the league's
/// end. Source: docs/operating.md, "Webhooks". Thread-safe.
class ManagerWebhooks {
 public:
  /// Does nothing if `urls` is empty. All arguments must outlive this object; no commits may happen
  /// any more when it is destroyed. Fails like parse_webhook_targets and open_webhook_secret.
  [[nodiscard]] static core::Result<std::unique_ptr<ManagerWebhooks>> open(
      const std::vector<std::string>& urls, const std::filesystem::path& secret_file,
      agent::AgentHost& host, Ledger& ledger, OperatorLog& log);

  /// A line of the operator's log; lines about other events are ignored. Short.
  void on_line(const OperatorLine& line);
  /// Running deliveries have two seconds to end.
  void finish();

 private:
  ManagerWebhooks(agent::AgentHost& host, Ledger& ledger) : host_(host), ledger_(ledger) {}

  agent::AgentHost& host_;
  Ledger& ledger_;
  std::shared_ptr<Webhooks> webhooks_;  ///< null without URLs
};

}  // namespace league::league_manager
