#pragma once

#include <memory>
#include <string>

#include "common/mcp/server.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/news_pace.h"
#include "league_manager/service/manager_prompts.h"

namespace league::league_manager {

/// The league as resources for clients of MCP: `league://standings`, of whose changes subscribers
/// are told five times a second at most, `league://schedule` and `league://match/{match_id}`.
/// Thread-safe.
class ManagerResources {
 public:
  /// All outlive this; nothing is committed to the ledger while this is being made.
  ManagerResources(mcp::Server& server, Ledger& ledger, core::Timer& timer);
  ~ManagerResources();
  ManagerResources(const ManagerResources&) = delete;
  ManagerResources& operator=(const ManagerResources&) = delete;

 private:
  void read_standings(const mcp::ServerResource::Read& read);
  void read_schedule(const mcp::ServerResource::Read& read);
  void read_match(const mcp::ServerResource::Read& read);
  /// Sends what has been read once it is durable, as tools do.
  void answer(const mcp::ServerResource::Read& read, std::string text);

  Ledger& ledger_;
  std::shared_ptr<NewsPace> news_;
  ManagerPrompts prompts_;
};

}  // namespace league::league_manager
