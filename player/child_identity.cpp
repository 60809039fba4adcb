#include "player/child_identity.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "common/agent/runtime/log.h"

namespace league::player {
namespace {

constexpr int kLooks = 80;
constexpr std::chrono::milliseconds kBetweenLooks{25};

}  // namespace

void ChildIdentity::begin() {
  service_.on_registration([this](const agent::identity::Identity& identity) {
    std::lock_guard lock(mutex_);
    auto store = agent::identity::IdentityStore::open(options_.place, random_);
    auto kept = store ? (*store)->keep(identity) : core::Result<void>(store.error());
    if (!kept)
      agent::runtime::log::error("{}: the processes that referees start do not know who they are",
                                 kept.error().message);
    play_as(identity);
  });
  std::lock_guard lock(mutex_);
  look(kLooks);
}

void ChildIdentity::look(int further_looks) {
  if (is_known_) return;
  auto found = agent::identity::IdentityStore::find(options_.place, random_);
  if (!found) agent::runtime::log::error("{}", found.error().message);
  if (found && *found) return play_as(**found);
  if (further_looks > 0) {
    timer_.schedule(kBetweenLooks, [this, further_looks] {
      std::lock_guard lock(mutex_);
      look(further_looks - 1);
    });
    return;
  }
  agent::runtime::log::warn("nobody has registered {}, and {} holds no identity: calls are refused",
                            options_.place.display_name, options_.place.data.string());
  service_.stop_waiting();
}

void ChildIdentity::play_as(const agent::identity::Identity& identity) {
  is_known_ = true;
  if (auto learnt = service_.learn_game(identity); !learnt) {
    agent::runtime::log::error("{}; calls are refused", learnt.error().message);
    return service_.stop_waiting();
  }
  service_.set_identity(identity);
  port_.set_token(identity.token);
  // Each process of the player has a log of its own.
  const auto log =
      audit::log::agent_log_path(options_.logs, identity.id + "_" + std::to_string(::getpid()));
  if (log)
    (void)port_.log().retarget(*log, "player:" + identity.id,
                               agent::identity::log_league(identity, nullptr));
}

}  // namespace league::player
