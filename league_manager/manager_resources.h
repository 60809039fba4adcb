#pragma once

#include <memory>
#include <string>

#include "common/mcp/server.h"
#include "league_manager/ledger.h"
#include "league_manager/news_pace.h"

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
  void read_standings(mcp::ServerResource::Read read);
  void read_schedule(mcp::ServerResource::Read read);
  void read_match(mcp::ServerResource::Read read);
  /// Sends what has been read once it is durable, as tools do.
  void answer(mcp::ServerResource::Read read, std::string text);

  Ledger& ledger_;
  std::shared_ptr<NewsPace> news_;
};

}  // namespace league::league_manager
