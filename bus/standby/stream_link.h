#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bus/standby/core/effects.h"
#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"
#include "common/task/task.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::league_manager::stream {

/// How full a stream is, in bytes.
struct StreamRoom {
  std::uint64_t used = 0;
  std::int64_t most = -1;  ///< -1: no limit of its own
};

struct StreamLinkOptions {
  std::string league;
  int replicas = 1;  ///< how many brokers of a cluster keep a stream
  std::int64_t max_bytes = -1;  ///< of a stream; -1: no limit
};

/// Carries out a replica's effects at the broker, and reports what came of them as facts. A request
/// without an answer has no fact. Thread-safe; `report` runs on threads of the bus and must not
/// block. All references outlive it; the JetStream is ended before it.
class StreamLink {
 public:
  using Report = std::function<void(Fact)>;
  StreamLink(transport::bus::Bus& bus, transport::bus::JetStream& streams, const core::Clock& clock,
             StreamLinkOptions options, Report report);

  /// Removes all streams of an earlier league of this name, for a new one. Blocks for two seconds
  /// and until the broker answers, or until `stop`. Fails if a manager leads that league, which its
  /// heartbeats say, and if the broker refuses.
  [[nodiscard]] core::Result<void> remove_streams(transport::link::StopSignal& stop);
  /// Hears the heartbeats of others. Call it once. Fails as Bus::subscribe.
  [[nodiscard]] core::Result<void> begin();
  /// Hears nothing more when this returns.
  void end() { heartbeats_.reset(); }
  /// `request.message` with all its records.
  void carry(const Publish& request) { tasks_.spawn(publish(request)); }
  void carry(const Read& request) { tasks_.spawn(read(request)); }
  void carry(const Inspect& request) { tasks_.spawn(inspect(request)); }
  /// Not while another thread does.
  void carry(const Follow& request);
  void carry(const Heartbeat& heartbeat);

  /// Of the stream of `incarnation`, when the broker was last asked.
  [[nodiscard]] StreamRoom room(std::uint64_t incarnation) const;
  /// Why the broker does not say which streams there are; empty: it does.
  [[nodiscard]] std::string trouble() const;

 private:
  using Removed = core::Result<void>;

  task::Task<void> publish(Publish request);
  task::Task<void> read(Read request);
  task::Task<void> inspect(Inspect request);
  /// Goes on until there is a later Follow; if the consumer is gone, the replica asks for another.
  task::Task<void> follow(Follow request);
  task::Task<Removed> remove_all();
  /// The name of the manager that leads; empty: nobody says that it does.
  [[nodiscard]] core::Result<std::string> leader_heard(transport::link::StopSignal& stop);
  [[nodiscard]] core::Clock::Steady soon() const;

  transport::bus::Bus& bus_;
  transport::bus::JetStream& streams_;
  const core::Clock& clock_;
  const StreamLinkOptions options_;
  const Report report_;
  std::unique_ptr<transport::bus::Bus::Subscription> heartbeats_;
  task::Spawned following_;

  mutable std::mutex mutex_;  ///< of the next two
  std::vector<std::pair<std::uint64_t, StreamRoom>> rooms_;  ///< by incarnation
  std::string trouble_;
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::league_manager::stream
