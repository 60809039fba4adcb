#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "league_manager/core/schedule.h"
#include "league_manager/events/agent.h"
#include "league_manager/events/agent_ref.h"
#include "league_manager/events/events.h"

namespace league::league_manager {

/// All registered agents, in the order of their ids, with indexes to find them. Not thread-safe.
class Roster {
 public:
  /// The number of seats, also of free ones: ids are below it.
  [[nodiscard]] int count(events::AgentKind kind) const {
    return static_cast<int>(list(kind).size());
  }
  /// The seats that were freed before the start and that nobody has taken, in order.
  [[nodiscard]] std::vector<int> free_seats(events::AgentKind kind) const;
  /// The number of seats that are taken.
  [[nodiscard]] int taken(events::AgentKind kind) const {
    return count(kind) - static_cast<int>(free_seats(kind).size());
  }
  /// How many players are people or chat programs.
  [[nodiscard]] int people() const { return people_; }
  /// Whether one of them plays in a match.
  [[nodiscard]] bool has_people(const Pairing& pairing) const {
    return people_ > 0 && (is_person(pairing.player_a) || is_person(pairing.player_b));
  }
  /// Whether this player is a person or a chat program.
  [[nodiscard]] bool is_person(int player) const {
    return agent(events::AgentRef::player(player)).profile.has_seat_limits();
  }
  /// The seat that the next new agent gets.
  [[nodiscard]] events::AgentRef next_seat(events::AgentKind kind) const;
  [[nodiscard]] std::span<const events::Agent> agents(events::AgentKind kind) const {
    return list(kind);
  }
  [[nodiscard]] bool contains(events::AgentRef ref) const {
    return ref.index >= 0 && ref.index < count(ref.kind);
  }
  /// `ref` must be contained.
  [[nodiscard]] const events::Agent& agent(events::AgentRef ref) const {
    return list(ref.kind)[static_cast<std::size_t>(ref.index)];
  }
  [[nodiscard]] events::AgentLifecycle& lifecycle(events::AgentRef ref) {
    return list(ref.kind)[static_cast<std::size_t>(ref.index)].lifecycle;
  }

  /// The agent with this id (`P01`), if it is registered and its seat is not free.
  [[nodiscard]] std::optional<events::AgentRef> find(std::string_view id) const;
  [[nodiscard]] std::optional<events::AgentRef> find_by_token_hash(const std::string& hash) const;
  /// The agent at this address, however it is spelt (core::ComparableAddress).
  [[nodiscard]] std::optional<events::AgentRef> find_by_endpoint(const std::string& endpoint) const;
  /// The agent of this kind with this name, ignoring case and white space at its ends. If several
  /// agents have the name, which is possible in old journals, one of them.
  [[nodiscard]] std::optional<events::AgentRef> find_by_name(events::AgentKind kind,
                                                             const std::string& display_name) const;
  [[nodiscard]] std::optional<events::AgentRef> find_by_registration_nonce(
      const std::string& nonce_hash) const;
  /// The player that was let in with the code of this digest.
  [[nodiscard]] std::optional<events::AgentRef> find_by_code(const std::string& code_digest) const;

  /// Puts a new agent on next_seat().
  void add(events::AgentRef seat, events::Agent agent);
  /// Frees the seat of an agent.
  void free(events::AgentRef ref);
  /// Marks all referees as awaited, since the manager was restarted and has not heard of them yet.
  void await_referees();
  /// The manager has heard of a referee; registering again counts, too.
  void note_heard(events::AgentRef referee) {
    list(referee.kind)[static_cast<std::size_t>(referee.index)].is_awaited = false;
  }
  /// Replaces profile, credential and nonce of an agent, as `event` says.
  void update(const events::AgentReregistered& event);
  /// Keeps the agent's credential, which is about to be replaced, for what was made with its keys.
  void keep_credential(events::AgentRef ref, core::UtcTimestamp until);

 private:
  using Index = std::unordered_map<std::string, events::AgentRef>;
  [[nodiscard]] const std::vector<events::Agent>& list(events::AgentKind kind) const {
    return kind == events::AgentKind::kPlayer ? players_ : referees_;
  }
  [[nodiscard]] std::vector<events::Agent>& list(events::AgentKind kind) {
    return kind == events::AgentKind::kPlayer ? players_ : referees_;
  }
  [[nodiscard]] static std::string name_key(events::AgentKind kind,
                                            const std::string& display_name);
  void index(events::AgentRef ref);
  void unindex(events::AgentRef ref);

  std::vector<events::Agent> players_;
  std::vector<events::Agent> referees_;
  Index by_token_hash_;
  Index by_endpoint_;
  Index by_name_;
  Index by_registration_nonce_;
  Index by_code_;
  int people_ = 0;
};

}  // namespace league::league_manager
