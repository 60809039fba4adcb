#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/mcp/server.h"
#include "league_manager/files/ledger.h"
#include "league_manager/service/loss_explanation.h"

namespace league::league_manager::service {

/// The last finished matches with facts that the league does not keep. Thread-safe.
class MatchNotes {
 public:
  explicit MatchNotes(std::size_t most = 10'000) : most_(most) {}
  void take(const events::Events& events);
  [[nodiscard]] std::optional<MatchNote> find(events::MatchKey match) const;

 private:
  MatchNote& note_of(events::MatchKey match);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<events::MatchKey, MatchNote> notes_;
  std::deque<events::MatchKey> order_;  ///< of `notes_`, the oldest first
};

/// Sends `result` once the facts in it are durable, as tools do.
void send_when_durable(files::Ledger& ledger, const mcp::Responder& reply, nlohmann::json result);

/// The prompt `why_did_i_lose(match_id[, player_id])` and the completion of its arguments, and of
/// the match in `league://match/{match_id}`, for clients of MCP. Thread-safe.
class ManagerPrompts {
 public:
  /// Both must outlive this object; nothing may be committed to the ledger during construction.
  ManagerPrompts(mcp::Server& server, files::Ledger& ledger);
  ManagerPrompts(const ManagerPrompts&) = delete;
  ManagerPrompts& operator=(const ManagerPrompts&) = delete;

 private:
  void explain(const mcp::ServerPrompt::Get& get) const;
  void complete(const mcp::ServedRequest& request) const;

  files::Ledger& ledger_;
  const std::shared_ptr<MatchNotes> notes_ = std::make_shared<MatchNotes>();
};

/// Completions of `begin`: ids of matches in the order of the schedule, at most `most` plus one
/// more, which shows that there are more. Pure.
[[nodiscard]] std::vector<std::string> matches_beginning(const League& league,
                                                         const std::string& begin,
                                                         std::size_t most);
/// Completions of `begin`: ids of players, at most `most` plus one more. If `match` is the id of a
/// match, only its two players. Pure.
[[nodiscard]] std::vector<std::string> players_beginning(const League& league,
                                                         const std::string& begin,
                                                         const std::string& match,
                                                         std::size_t most);

}  // namespace league::league_manager::service
