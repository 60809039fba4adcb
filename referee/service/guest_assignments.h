#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <vector>

#include "common/agent/identity/registration.h"
#include "common/agent/peers/peer_client.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/round_messages.h"
#include "common/task/task.h"
#include "referee/service/foreign_start.h"

namespace league::referee::service {

struct GuestAssignmentsOptions {
  agent::identity::Identity identity;
  std::string contact_endpoint;  ///< URL of this referee, by which some managers identify it
  std::string game_type;  ///< of matches that name none
  transport::link::Endpoint manager;
  PlayerAddresses players = {};  ///< from the operator
  /// The pause between two polls of a manager that never calls.
  std::chrono::milliseconds poll_interval{5000};
};

/// All references outlive it.
struct GuestAssignmentsDependencies {
  agent::peers::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;  ///< of the draws' seeds
};

/// Gets the matches of a referee that is the guest of a third-party manager (protocol §8, §9). Such
/// a manager gives neither credentials nor seeds, and often no addresses: the referee shows players
/// its own token, as published, creates the seeds itself, and takes addresses from the message,
/// from the operator's file, from earlier messages, or from the manager's GET_REGISTRATIONS, in
/// this order. It asks a manager that never calls for matches. Thread-safe; what it waits for ends
/// with it.
class GuestAssignments {
 public:
  /// Starts a match. kCapacityExceeded keeps it waiting until place_is_free(); another error ends
  /// it with a line for the operator.
  using Play = std::function<core::Result<void>(envelope::MatchAssignment, int round_id)>;

  GuestAssignments(GuestAssignmentsOptions options,
                   const GuestAssignmentsDependencies& dependencies, Play play);

  /// The matches of `message` that are this referee's; see read_foreign_start. After the first such
  /// message a manager that answers polls with an error is not polled again. One that answers
  /// properly still is, since the message may be from anybody.
  [[nodiscard]] core::Result<std::vector<ForeignMatch>> read(const nlohmann::json& message);
  /// Plays each of `matches` as soon as its players' addresses are known and a place is free.
  void begin(std::vector<ForeignMatch> matches) { tasks_.spawn(place(std::move(matches))); }
  /// Starts a match that waits for a free place.
  void place_is_free() { tasks_.spawn(play_next()); }
  /// Begins to poll the manager for matches. Stops when the manager does not know the tool, or
  /// starts matches itself and answers polls only with errors.
  void watch() { tasks_.spawn(poll()); }
  /// Ends what waits.
  void stop() { tasks_.stop(); }

 private:
  task::Task<void> place(std::vector<ForeignMatch> matches);
  task::Task<void> play_next();
  task::Task<void> poll();
  /// A call of the manager's `tool` with an envelope and `fields`.
  [[nodiscard]] agent::peers::PeerToolCall question(std::string tool, nlohmann::json fields);
  /// Plays those matches in the answer to a poll that are due.
  void take_listed(nlohmann::json answer);
  /// Fills in known addresses and remembers new ones; returns whether both are known.
  bool complete(ForeignMatch& match);
  void remember(const core::PlayerId& player, const std::string& address);
  void play(ForeignMatch match);

  const GuestAssignmentsOptions options_;
  const GuestAssignmentsDependencies deps_;
  const Play play_;
  const envelope::EnvelopeBuilder envelopes_;
  std::atomic<bool> is_called_{false};  // by a message that names matches

  // What follows is used on the executor only.
  PlayerAddresses known_;
  std::deque<ForeignMatch> waiting_;  // for a free place
  int questions_ = 0;
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::referee::service
