#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/transport/caller/link_caller.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/event_loop.h"
#include "tools/check/checker_seats.h"
#include "tools/check/verdict.h"
#include "tools/league/client/bus_link.h"

namespace league::tools::check {

using std::chrono::milliseconds;

/// The checker on a message bus: calls agents there, and can be their league manager. Thread-safe.
class CheckerBus {
 public:
  /// Fails like BusLink::join.
  [[nodiscard]] static core::Result<std::unique_ptr<CheckerBus>> join(
      const agent::bus::BusOptions& options);

  /// Calls `nats:` endpoints.
  [[nodiscard]] transport::link::Caller& caller() { return *caller_; }
  /// Serves agents that look for the league, until the returned pointer is destroyed; `handler` and
  /// this object must outlive it.
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve_league(
      transport::link::MessageHandler& handler, const std::string& league_id);

 private:
  explicit CheckerBus(std::unique_ptr<transport::link::EventLoop> loop) : loop_(std::move(loop)) {}
  [[nodiscard]] BusLink::Context context() { return {*loop_, timer_, clock_, random_}; }

  const std::unique_ptr<transport::link::EventLoop> loop_;
  core::SystemClock clock_;
  core::CryptoRandom random_;
  core::ThreadTimer timer_;
  std::unique_ptr<BusLink> link_;
  std::unique_ptr<transport::caller::LinkCaller> caller_;  // last: it uses everything above
};

/// Bytes to be written as they are, in pieces.
struct RawRequest {
  std::vector<std::string> pieces;
  milliseconds between{0};  ///< pause between two pieces
  milliseconds limit{3000};  ///< for the whole answer
};

/// An HTTP server's answer on one connection.
struct RawAnswer {
  int status = 0;
  std::string content_type;
  std::string body;
  std::string trouble;
  bool has_timed_out = false;
  bool is_refused = false;
};

/// One HTTP exchange on a connection of its own, without the tolerance of our own client. Can read
/// several answers (`answers`) on one connection, in order. Blocks.
[[nodiscard]] std::vector<RawAnswer> raw_http(const transport::link::Endpoint& endpoint,
                                              const RawRequest& request, std::size_t answers = 1);

/// `POST PATH` with the usual headers and this body.
[[nodiscard]] std::string http_post(const transport::link::Endpoint& endpoint,
                                    const std::string& body, const std::string& headers = {},
                                    bool keeps_alive = false);

/// Sends JSON-RPC messages to one endpoint, over any transport, and keeps the bytes. Thread-safe;
/// calls block.
class Wire {
 public:
  /// Fails if the system lacks resources, and like CheckerBus::join if `bus` is given or
  /// `needs_bus`.
  [[nodiscard]] static core::Result<std::unique_ptr<Wire>> open(
      const agent::bus::BusOptions& bus = {}, bool needs_bus = false);

  /// Null if no bus is used.
  [[nodiscard]] CheckerBus* bus() { return bus_.get(); }
  /// Where bots sit that come to the checker. Its caller calls them, and everybody else.
  [[nodiscard]] CheckerSeats& seats() { return seats_; }

  /// The caller of everything but HTTP in `send`; it calls HTTP as well, over kept connections.
  [[nodiscard]] transport::link::Caller& caller() { return *caller_; }

  /// Sends one request and waits for its answer. `id`: of the request in `bytes`, by which
  /// transports other than HTTP find the answer.
  [[nodiscard]] Exchange send(const transport::link::Endpoint& endpoint, std::string bytes,
                              const rpc::Id& id, milliseconds limit);

 private:
  Wire(std::unique_ptr<transport::link::Caller> caller, std::unique_ptr<CheckerBus> bus)
      : caller_(std::move(caller)),
        bus_(std::move(bus)),
        seats_(bus_ ? bus_->caller() : *caller_) {}

  const std::unique_ptr<transport::link::Caller> caller_;
  const std::unique_ptr<CheckerBus> bus_;
  CheckerSeats seats_;
};

/// The exchange that `outcome` ends; `sent`: the bytes of the request.
[[nodiscard]] Exchange exchange_of(const std::string& url, std::string sent,
                                   const transport::link::CallOutcome& outcome);

/// Whether an endpoint from the command line is on a message bus.
[[nodiscard]] inline bool is_on_bus(const std::string& endpoint) {
  return endpoint.starts_with("nats:");
}

}  // namespace league::tools::check
