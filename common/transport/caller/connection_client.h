#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/rpc/id.h"
#include "common/task/task.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::caller {

/// How a ConnectionClient behaves. The functions run on its executor and must be short.
struct ConnectionClientOptions {
  std::string peer;  ///< for texts of errors: the URL that was called
  std::size_t max_pending = 1024;  ///< requests beyond are refused with kOverloaded
  /// Receives everything that is not an answer to one of our requests: the peer's requests (except
  /// `ping`, which is answered here), notifications, batches, and invalid JSON. If empty, requests
  /// are answered with -32601 and the rest is dropped.
  std::function<void(link::ReceivedMessage)> on_other = nullptr;
  /// The connection is closed; runs after all pending requests have failed. Not called once the
  /// client is destroyed.
  std::function<void(const core::Error&)> on_closed = nullptr;
};

/// Sends requests over one connection and matches answers to them by id, so answers may arrive in
/// any order. Answers that nobody waits for are counted and dropped. Used on its executor only,
/// except for close() and is_open(); may be destroyed anywhere.
class ConnectionClient {
 public:
  virtual ~ConnectionClient() = default;
  /// Starts the connection. `clock` and `timer` outlive the client. When the last reference to the
  /// client is released, it closes the connection, and pending requests fail with kShuttingDown, on
  /// the executor; afterwards none of the functions of `options` is called any more.
  [[nodiscard]] static std::shared_ptr<ConnectionClient> start(
      std::shared_ptr<link::MessageConnection> connection, task::Executor executor,
      const core::Clock& clock, core::Timer& timer, ConnectionClientOptions options = {});

  /// Sends a request whose id in `message.bytes` is `id`, and waits for its answer. Fails with
  /// kTimeout at `message.deadline`, kConnectionError (the connection closed, or the request could
  /// not be sent), kReplyTooLarge, kOverloaded, kInternalError (an id that is null or already
  /// pending). The client may be let go meanwhile. A task that is cancelled leaves the request
  /// pending; abandon() ends it.
  [[nodiscard]] virtual task::Task<link::CallOutcome> request(rpc::Id id,
                                                              link::OutboundMessage message) = 0;
  /// Sends a message without an answer: a notification, or an answer to the peer's request.
  virtual void send(link::OutboundMessage message) = 0;
  /// Fails a pending request with `why`; false if it is not pending. Its answer will be dropped.
  virtual bool abandon(const rpc::Id& id, const core::Error& why) = 0;
  /// Fails pending requests with kShuttingDown and closes the connection after sending queued
  /// messages; on_closed follows, for a child process after it has ended.
  virtual void close() = 0;

  [[nodiscard]] virtual bool is_open() const = 0;
  [[nodiscard]] virtual std::size_t pending() const = 0;
  [[nodiscard]] virtual link::MessageConnection& connection() = 0;
};

}  // namespace league::transport::caller
