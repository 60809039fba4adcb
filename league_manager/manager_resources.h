#pragma once

#include <memory>
#include <string>

#include "common/mcp/server.h"
#include "league_manager/ledger.h"

namespace league::league_manager {

/// The league as resources for clients of MCP: `league://standings`, of whose changes subscribers
/// are told, `league://schedule` and `league://match/{match_id}`. Thread-safe.
class ManagerResources {
 public:
  /// Both references outlive this; nothing is committed to the ledger while this is being made.
  ManagerResources(mcp::Server& server, Ledger& ledger);
  ~ManagerResources();
  ManagerResources(const ManagerResources&) = delete;
  ManagerResources& operator=(const ManagerResources&) = delete;

 private:
  struct News;
  void read_standings(mcp::ServerResource::Read read);
  void read_schedule(mcp::ServerResource::Read read);
  void read_match(mcp::ServerResource::Read read);
  /// Sends what has been read once it is durable, as tools do.
  void answer(mcp::ServerResource::Read read, std::string text);

  Ledger& ledger_;
  std::shared_ptr<News> news_;
};

}  // namespace league::league_manager
