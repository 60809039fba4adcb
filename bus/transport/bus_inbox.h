#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "bus/transport/bus.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// Receives the answers to one session's calls. All its connections share the subscriptions, since
/// a subscription for each of a thousand peers would cost the broker and this program more than the
/// calls do. Each connection has a name of its own that nobody can guess, so a peer learns where
/// its own answers go and nothing about other answers. Thread-safe. Source: the design for
/// stateless sessions.
class BusInbox : public std::enable_shared_from_this<BusInbox> {
 public:
  /// Callbacks of one connection, on threads of the bus.
  struct Owner {
    std::function<void(BusMessage answer, std::uint64_t request)> on_answer;
    /// The broker is reachable, for the first time or again, or `peer` has attached.
    std::function<void()> on_back;
    std::optional<link::BusSession> peer = std::nullopt;
  };

  /// `bus` outlives it.
  [[nodiscard]] static std::shared_ptr<BusInbox> make(Bus& bus, const link::BusSession& session,
                                                      core::RandomSource& random);
  ~BusInbox();
  BusInbox(const BusInbox&) = delete;
  BusInbox& operator=(const BusInbox&) = delete;

  /// Adds an owner and returns its name. Fails as Bus::subscribe does; the next call subscribes
  /// again.
  [[nodiscard]] core::Result<std::string> add(Owner owner);
  /// The owner gets no more callbacks, except one that is running now.
  void remove(const std::string& name);
  /// The subject for the answer to this request of the connection `name`.
  [[nodiscard]] std::string subject(const std::string& name, std::uint64_t request) const;

 private:
  /// As many subscriptions as libnats has threads to deliver, so that answers share the processors.
  static constexpr std::size_t kLanes = 2;

  BusInbox(Bus& bus, const link::BusSession& session, core::RandomSource& random);
  [[nodiscard]] static std::size_t lane_of(std::string_view name);
  [[nodiscard]] core::Result<void> listen(std::size_t lane);
  void on_message(BusMessage message);
  [[nodiscard]] core::Result<void> listen_for_peers();
  /// To all owners, or to those with that peer.
  void tell_back(const std::optional<link::BusSession>& peer);

  Bus& bus_;
  const link::BusSession session_;
  core::RandomSource& random_;
  const std::string stem_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::unordered_map<std::string, std::shared_ptr<const Owner>> owners_;
  std::array<std::unique_ptr<Bus::Subscription>, kLanes> lanes_;
  std::unique_ptr<Bus::Subscription> state_;
  std::unique_ptr<Bus::Subscription> attached_;  ///< once there is an owner with a peer
};

}  // namespace league::transport::bus
