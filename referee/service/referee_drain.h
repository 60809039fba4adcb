#pragma once

#include <chrono>
#include <future>
#include <optional>

#include "common/agent/identity/registration.h"
#include "common/agent/peers/peer_client.h"
#include "common/transport/link/signals.h"
#include "referee/service/referee_service.h"

namespace league::referee::service {

/// Before a referee ends, tells its manager to assign no more matches, and gives running matches
/// some time to finish.
class RefereeDrain {
 public:
  /// `service` and `peers` must outlive it. If `patience` is zero, `run` does not wait.
  RefereeDrain(std::chrono::seconds patience, const RefereeService& service,
               agent::peers::PeerClient& peers, transport::link::Endpoint manager)
      : patience_(patience), service_(service), peers_(peers), manager_(std::move(manager)) {}

  /// The referee has registered as `identity`. Not at the same time as `run`.
  void set_identity(const agent::identity::Identity& identity) { identity_ = identity; }
  /// Returns when every match that the manager has assigned is played and reported, the patience
  /// has run out, or `stop` is signalled once more.
  void run(transport::link::StopSignal& stop);

 private:
  /// The number of matches that are assigned to this referee; an error if the manager does not say.
  using Answer = core::Result<std::size_t>;
  [[nodiscard]] std::future<Answer> ask_for_no_more();
  /// See run; the referee has an identity. Returns the number of matches that are assigned and not
  /// reported; nothing if the manager has not said it, or not since the last match ended.
  [[nodiscard]] std::optional<std::size_t> wait(transport::link::StopSignal& stop);

  const std::chrono::seconds patience_;
  const RefereeService& service_;
  agent::peers::PeerClient& peers_;
  const transport::link::Endpoint manager_;
  std::optional<agent::identity::Identity> identity_;
};

}  // namespace league::referee::service
