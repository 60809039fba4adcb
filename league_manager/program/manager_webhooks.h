#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/agent/host/agent_host.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/spectators/webhooks.h"

namespace league::league_manager {

/// The webhooks that notify other servers of a league's start, of the end of each round, of the
/// league's end and of the operator's commands; null if `urls` is empty. `host` and `log` must
/// outlive them. Fails like parse_webhook_targets and open_webhook_secret. Source:
/// docs/operating_in_a_network.md, "Webhooks".
[[nodiscard]] core::Result<std::shared_ptr<spectators::Webhooks>> open_webhooks(
    const std::vector<std::string>& urls, const std::filesystem::path& secret_file,
    agent::host::AgentHost& host, rounds::OperatorLog& log);

/// Sends a line of the operator's log to the webhooks if it is about one of the events for which
/// there are webhooks; otherwise does nothing. Returns quickly: the message is made on the timer of
/// `host`, which `ledger` must outlive. Thread-safe.
void send_news(const std::shared_ptr<spectators::Webhooks>& webhooks,
               const rounds::OperatorLine& line, agent::host::AgentHost& host,
               const files::Ledger& ledger);

}  // namespace league::league_manager
