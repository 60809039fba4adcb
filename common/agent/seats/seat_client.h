#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/core/auth_token.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/task/latch.h"
#include "common/task/task.h"
#include "common/transport/link/message_connection.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/served_connection.h"

namespace league::agent::seats {

/// Whose seat it is.
struct SeatHolder {
  transport::link::Endpoint manager;  ///< over http or https; the seat is taken over a WebSocket
  std::string player;  ///< `P07`
  core::AuthToken token;
};

/// The player's end of a seat: opens it at the manager over a WebSocket, passes the calls that
/// arrive there to a handler, whose answers go back, and opens it again whenever the connection is
/// lost, after a wait that grows to ten seconds. Ends by itself when another program takes the seat
/// over, the manager does not know the player, or has no seats. Thread-safe. Source: protocol §10.
class SeatClient final : private transport::link::HandlerDecorator {
 public:
  struct Context {
    std::shared_ptr<transport::link::Connector> connector;
    core::Timer& timer;
    const core::Clock& clock;
    core::RandomSource& random;
  };
  /// Why it has ended by itself.
  using Ended = std::function<void(const core::Error& why)>;
  /// It sits at the seat; or why an attempt to has failed, or the connection was lost.
  using Changed = std::function<void(const std::optional<core::Error>& why)>;

  /// `handler` and the references of `context` outlive it. `changed` may be empty.
  SeatClient(Context context, SeatHolder holder, transport::link::MessageHandler& handler,
             Ended ended, Changed changed = {});
  /// Leaves the seat, and waits until its connection is closed; not on the connections' thread.
  ~SeatClient() override;
  SeatClient(const SeatClient&) = delete;
  SeatClient& operator=(const SeatClient&) = delete;

  void begin() { scope_.spawn(sit()); }

 private:
  /// How many connections may still call us.
  struct OpenConnections {
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<transport::link::ServedConnection> last;
    int count = 0;
    bool is_over = false;  ///< none is begun any more
  };
  /// One connection.
  struct Sitting {
    std::shared_ptr<transport::link::ServedConnection> served;
    task::Latch closed{1};
    bool is_seated = false;
    std::optional<core::Error> refusal = std::nullopt;  ///< of the manager, not for ever
    std::optional<core::Error> end = std::nullopt;  ///< there is no point in coming back
  };

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
  task::Task<void> sit();
  task::Task<void> sit_down(std::shared_ptr<transport::link::MessageConnection> connection);
  [[nodiscard]] std::string request();
  void take_answer(const std::string& bytes);
  void tell(const std::optional<core::Error>& why) const {
    if (changed_) changed_(why);
  }

  Context context_;
  const SeatHolder holder_;
  const Ended ended_;
  const std::shared_ptr<OpenConnections> connections_ = std::make_shared<OpenConnections>();
  const Changed changed_;
  std::shared_ptr<Sitting> sitting_;  // on the executor only
  task::Scope scope_;
};

}  // namespace league::agent::seats
