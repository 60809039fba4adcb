#pragma once

#include <memory>
#include <vector>

#include "common/agent/host/agent_host.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/spectators/webhooks.h"

namespace league::league_manager {

/// Tells other people's servers of a running league's start, of its rounds' ends and of its own
/// end. Source: docs/operating.md, "Webhooks". Thread-safe.
class ManagerWebhooks {
 public:
  /// Nobody is told anything where `urls` are empty. All outlive it, but nothing is committed any
  /// more when it ends. Fails as parse_webhook_targets and open_webhook_secret.
  [[nodiscard]] static core::Result<std::unique_ptr<ManagerWebhooks>> open(
      const std::vector<std::string>& urls, const std::filesystem::path& secret_file,
      agent::AgentHost& host, Ledger& ledger, OperatorLog& log);

  /// A line of the operator's log; those that are no such news are passed over. Short.
  void on_line(const OperatorLine& line);
  /// What has just been begun has two seconds to end.
  void finish();

 private:
  ManagerWebhooks(agent::AgentHost& host, Ledger& ledger) : host_(host), ledger_(ledger) {}

  agent::AgentHost& host_;
  Ledger& ledger_;
  std::shared_ptr<Webhooks> webhooks_;  ///< null without URLs
};

}  // namespace league::league_manager
