#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/mcp/server.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/notification_throttle.h"
#include "league_manager/service/manager_prompts.h"

namespace league::league_manager::service {

/// The league as resources for clients of MCP: `league://standings`, whose subscribers are notified
/// of changes at most five times a second, `league://schedule`, `league://round/{round}`,
/// `league://match/{match_id}` and `league://news`. Thread-safe.
class ManagerResources {
 public:
  /// A JSON array: the lines of the operator's log that spectators may see.
  using News = std::function<std::string()>;

  /// All outlive this; nothing may be committed to the ledger during construction. Without `news`
  /// the resource `league://news` does not exist.
  ManagerResources(mcp::Server& server, files::Ledger& ledger, core::Timer& timer,
                   const News& news);
  ~ManagerResources();
  ManagerResources(const ManagerResources&) = delete;
  ManagerResources& operator=(const ManagerResources&) = delete;

 private:
  void read_standings(const mcp::ServerResource::Read& read);
  void read_schedule(const mcp::ServerResource::Read& read);
  void read_round(const mcp::ServerResource::Read& read);
  void read_match(const mcp::ServerResource::Read& read);
  static void fail_unknown(const mcp::ServerResource::Read& read, const std::string& what);
  /// Sends `text` once the facts in it are durable, as tools do.
  void answer(const mcp::ServerResource::Read& read, const std::string& text);

  files::Ledger& ledger_;
  std::shared_ptr<rounds::NotificationThrottle> news_;
  ManagerPrompts prompts_;
};

}  // namespace league::league_manager::service
