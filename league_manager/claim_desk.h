#pragma once

#include <string>
#include <vector>

#include "common/agent/agent_server.h"
#include "league_manager/conductor.h"
#include "league_manager/ledger.h"

namespace league::league_manager {

/// The tool `claim_match`: a referee that has got matches from the queue asks for them, and is
/// answered when the journal holds who plays which attempt; or gives back what it may not play.
/// Thread-safe. Source: docs/distributed.md.
class ClaimDesk {
 public:
  /// Binds the tool; all outlive it, and `server` calls it no more when it is gone.
  ClaimDesk(agent::AgentServer& server, Ledger& ledger, Conductor& conductor);

 private:
  struct Claims;
  [[nodiscard]] core::Result<Claims> read(const nlohmann::json& arguments) const;
  [[nodiscard]] core::Result<int> referee_of(const nlohmann::json& arguments) const;
  void on_claims(agent::ToolCall call);
  [[nodiscard]] nlohmann::json answer(const Claims& claims, const ClaimDecision& decision) const;

  Ledger& ledger_;
  Conductor& conductor_;
};

}  // namespace league::league_manager
