#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "league_manager/events/agent.h"
#include "league_manager/events/agent_ref.h"

namespace league::league_manager {

/// All registered agents, in the order of their ids, with indexes to find them. Not thread-safe.
class Roster {
 public:
  [[nodiscard]] int count(AgentKind kind) const { return static_cast<int>(list(kind).size()); }
  [[nodiscard]] std::span<const Agent> agents(AgentKind kind) const { return list(kind); }
  [[nodiscard]] bool contains(AgentRef ref) const {
    return ref.index >= 0 && ref.index < count(ref.kind);
  }
  /// `ref` must be contained.
  [[nodiscard]] const Agent& agent(AgentRef ref) const {
    return list(ref.kind)[static_cast<std::size_t>(ref.index)];
  }
  [[nodiscard]] AgentLifecycle& lifecycle(AgentRef ref) {
    return list(ref.kind)[static_cast<std::size_t>(ref.index)].lifecycle;
  }

  /// The agent with this id (`P01`), if it is registered.
  [[nodiscard]] std::optional<AgentRef> find(std::string_view id) const;
  [[nodiscard]] std::optional<AgentRef> find_by_token_hash(const std::string& hash) const;
  /// The agent at this address, however it is spelt (core::ComparableAddress).
  [[nodiscard]] std::optional<AgentRef> find_by_endpoint(const std::string& endpoint) const;
  /// The agent with this name among those of a kind, but for case and white space at its ends. Of
  /// several, which journals of old hold, one.
  [[nodiscard]] std::optional<AgentRef> find_by_name(AgentKind kind,
                                                     const std::string& display_name) const;
  [[nodiscard]] std::optional<AgentRef> find_by_registration_nonce(
      const std::string& nonce_hash) const;
  /// The player that was let in with the code of this digest.
  [[nodiscard]] std::optional<AgentRef> find_by_code(const std::string& code_digest) const;

  /// Adds an agent at the end of its kind.
  void add(AgentKind kind, Agent agent);
  /// Marks all referees as awaited, since the manager was restarted and has not heard of them yet.
  void await_referees();
  /// The manager has heard of a referee; registering again counts, too.
  void note_heard(AgentRef referee) {
    list(referee.kind)[static_cast<std::size_t>(referee.index)].is_awaited = false;
  }
  /// Replaces profile, credential and nonce of an agent.
  void update(AgentRef ref, AgentProfile profile, Credential credential,
              std::string registration_nonce_hash);

 private:
  using Index = std::unordered_map<std::string, AgentRef>;
  [[nodiscard]] const std::vector<Agent>& list(AgentKind kind) const {
    return kind == AgentKind::kPlayer ? players_ : referees_;
  }
  [[nodiscard]] std::vector<Agent>& list(AgentKind kind) {
    return kind == AgentKind::kPlayer ? players_ : referees_;
  }
  [[nodiscard]] static std::string name_key(AgentKind kind, const std::string& display_name);
  void index(AgentRef ref);
  void unindex(AgentRef ref);

  std::vector<Agent> players_;
  std::vector<Agent> referees_;
  Index by_token_hash_;
  Index by_endpoint_;
  Index by_name_;
  Index by_registration_nonce_;
  Index by_code_;
};

}  // namespace league::league_manager
