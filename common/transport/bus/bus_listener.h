#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/request_gate.h"
#include "common/transport/link/subject.h"

namespace league::transport {

/// Which of a session's two subjects is listened to.
enum class BusSide {
  kAgent,  ///< `.out`: what others send to the session's agent
  kServer,  ///< `.in`: what the session's agent sends to its server
};

struct BusListenerOptions {
  BusSide side = BusSide::kAgent;
  std::string queue;  ///< of servers that share a session's work; empty: none
  /// Decides before anybody reads or writes down what came; null: everything passes. A session that
  /// goes on although it is refused is not listened to for as long as it should wait, so that what
  /// it sends ends at the broker; one that goes on after that as well is stalled there, where the
  /// bus can.
  std::shared_ptr<RequestGate> gate = nullptr;
  core::Timer* timer = nullptr;  ///< with a gate; outlives the listener
  std::size_t max_in_work = 4096;  ///< messages beyond are thrown away; whoever asked asks again
  /// Whatever came shows that the other side lives; true: it was sent for that. Runs on a thread of
  /// the bus.
  std::function<void(bool is_keep_alive)> on_sign_of_life = nullptr;
};

/// Serves a handler with what is sent to one session. A request's answer goes to its reply subject
/// where answers may go to that, and else to the session's other subject; what is pushed goes to
/// the other subject as text of server-sent events. Keep-alives are taken out. Thread-safe.
class BusListener {
 public:
  /// `bus`, `handler` and `clock` outlive it. Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<BusListener>> start(Bus& bus,
                                                                        const BusSession& session,
                                                                        MessageHandler& handler,
                                                                        const core::Clock& clock,
                                                                        BusListenerOptions options);
  /// As stop without a grace.
  ~BusListener();
  BusListener(const BusListener&) = delete;
  BusListener& operator=(const BusListener&) = delete;

  /// Serves a message that came by another subject, as if it had come by the session's.
  void take(BusMessage message);
  /// Takes nothing more.
  void begin_stop();
  /// begin_stop, waits until everything was answered, at most for `grace`, and tells the handler
  /// that the channel is closed. Afterwards the handler is not called any more.
  void stop(std::chrono::milliseconds grace);

  /// False after begin_stop, and once the channel was closed.
  [[nodiscard]] bool is_listening() const;
  /// The way to the session's other side.
  [[nodiscard]] std::shared_ptr<PeerChannel> channel() const;
  /// Tells the other side that this one lives.
  void send_keep_alive();

 private:
  class State;
  explicit BusListener(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

/// The payload of a keep-alive.
inline constexpr std::string_view kBusKeepAlive = ": keepalive\n\n";

}  // namespace league::transport
