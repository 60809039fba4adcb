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
/// block. All references outlive it, except the JetStream, which ends before it.
class StreamLink {
 public:
  using Report = std::function<void(Fact)>;
  StreamLink(transport::bus::Bus& bus, transport::bus::JetStream& streams, const core::Clock& clock,
             StreamLinkOptions options, Report report);

  /// Hears the heartbeats of others. Call it once. Fails as Bus::subscribe.
  [[nodiscard]] core::Result<void> begin();
  /// Hears nothing more when this returns.
  void end() { heartbeats_.reset(); }
  /// `request.message` with all its records.
  void carry(const Publish& request);
  void carry(const Read& request);
  void carry(const Inspect& request);
  void carry(const Follow& request);
  void carry(const Heartbeat& heartbeat);

  /// Of the stream of `incarnation`, when the broker was last asked.
  [[nodiscard]] StreamRoom room(std::uint64_t incarnation) const;
  /// Why the broker does not say which streams there are; empty: it does.
  [[nodiscard]] std::string trouble() const;

 private:
  void publish(const Publish& request);
  void fetch(const std::string& stream, const std::string& consumer, const Follow& request,
             std::uint64_t number);
  [[nodiscard]] core::Clock::Steady soon() const;

  transport::bus::Bus& bus_;
  transport::bus::JetStream& streams_;
  const core::Clock& clock_;
  const StreamLinkOptions options_;
  const Report report_;
  std::unique_ptr<transport::bus::Bus::Subscription> heartbeats_;

  mutable std::mutex mutex_;  ///< of everything below
  std::uint64_t follows_ = 0;  ///< number of the latest Follow, which alone goes on
  std::vector<std::pair<std::uint64_t, StreamRoom>> rooms_;  ///< by incarnation
  std::string trouble_;
};

}  // namespace league::league_manager::stream
