#pragma once

#include <filesystem>
#include <mutex>

#include "common/agent/host/agent_host.h"
#include "common/agent/identity/identity_store.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "player/service/player_service.h"

namespace league::player {

/// Finds out who a player is whose processes are started by those who call it. The manager tells
/// its own process the answer to the registration (protocol 4.4.2), and that process stores it in
/// the player's data directory; the processes that referees start find it there, so it never passes
/// through a referee. Thread-safe.
class ChildIdentity {
 public:
  struct Options {
    agent::identity::IdentityStore::Options place;
    std::filesystem::path logs;
  };

  /// The references outlive this object and the timer's last callback.
  ChildIdentity(Options options, service::PlayerService& service, agent::host::AgentPort& port,
                core::Timer& timer)
      : options_(std::move(options)), service_(service), port_(port), timer_(timer) {}

  /// Call it before the player serves. Calls wait until the identity is known, at most two seconds.
  void begin();

 private:
  // With the lock held.
  void look(int further_looks);
  void play_as(const agent::identity::Identity& identity);

  const Options options_;
  service::PlayerService& service_;
  agent::host::AgentPort& port_;
  core::Timer& timer_;
  core::CryptoRandom random_;
  std::mutex mutex_;
  bool is_known_ = false;
};

}  // namespace league::player
