#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/mcp/request_context.h"
#include "common/rpc/session_id.h"
#include "common/transport/link/message_handler.h"

namespace league::mcp {

/// What a client of the legacy dialect has negotiated and subscribed to. Thread-safe.
class ServerSession {
 public:
  struct Setup {
    std::string id;  ///< of the session, or of the connection whose lifetime it shares
    std::string revision;
    nlohmann::json client_capabilities = nullptr;
    std::shared_ptr<transport::link::PeerChannel> connection = nullptr;  ///< null on HTTP
  };
  explicit ServerSession(Setup setup) : setup_(std::move(setup)) {}

  [[nodiscard]] const std::string& id() const { return setup_.id; }
  [[nodiscard]] const std::string& revision() const { return setup_.revision; }
  [[nodiscard]] const nlohmann::json& client_capabilities() const {
    return setup_.client_capabilities;
  }

  void set_log_level(LogLevel level) { log_level_ = level; }
  [[nodiscard]] LogLevel log_level() const { return log_level_; }

  /// False if the session has too many subscriptions.
  bool subscribe(const std::string& uri);
  void unsubscribe(const std::string& uri);
  [[nodiscard]] bool is_subscribed(const std::string& uri) const;

  /// Reserves the only stream that a client may listen on. It becomes free when the reservation is
  /// destroyed, or, once a stream has been set, by `leave`.
  [[nodiscard]] std::shared_ptr<void> reserve_stream();
  void set_stream(std::shared_ptr<transport::link::PeerChannel> stream);
  void leave(const std::string& channel_id);
  [[nodiscard]] bool has_stream() const;
  /// Sends to the stream or connection, if there is one.
  void push(const std::shared_ptr<const std::string>& bytes) const;
  /// Closes the stream.
  void close() const;

 private:
  const Setup setup_;
  std::atomic<LogLevel> log_level_{LogLevel::kDebug};
  mutable std::mutex mutex_;  // guards the rest
  std::set<std::string> subscriptions_;
  std::shared_ptr<transport::link::PeerChannel> stream_;
  std::weak_ptr<void> reservation_;
};

/// The sessions of a server: over HTTP a limited number, of which the least recently used one
/// without a stream makes room for a new one, and one for each initialised connection. Thread-safe.
class ServerSessions {
 public:
  struct Options {
    /// As many as there can be connections, because the client of an evicted session has to start
    /// again (404).
    std::size_t most = 20'000;
    std::chrono::nanoseconds idle = std::chrono::hours(1);  ///< unused for longer: forgotten
  };
  /// Both references outlive this.
  ServerSessions(Options options, core::RandomSource& random, const core::Clock& clock)
      : options_(options), random_(random), clock_(clock) {}

  /// A new session with a random id; null if all sessions have a stream and there is no room.
  std::shared_ptr<ServerSession> create(ServerSession::Setup setup);
  /// A session for a connection.
  std::shared_ptr<ServerSession> create_for_connection(ServerSession::Setup setup);
  /// Null for an unknown or expired id.
  std::shared_ptr<ServerSession> find(const std::string& id);
  std::shared_ptr<ServerSession> find_connection(const std::string& channel_id);
  /// Ends a session; null if it is unknown.
  std::shared_ptr<ServerSession> remove(const std::string& id);
  /// The channel has closed: ends and returns the session of that connection, or removes the stream
  /// from the session that it belonged to.
  std::shared_ptr<ServerSession> on_channel_closed(const std::string& channel_id);
  /// Registers the channel of a stream, so that on_channel_closed finds its session.
  void note_stream(const std::string& channel_id, const std::shared_ptr<ServerSession>& session);

  [[nodiscard]] std::vector<std::shared_ptr<ServerSession>> all() const;

 private:
  struct Place {
    std::shared_ptr<ServerSession> session;
    core::Clock::Steady last_used;
  };
  using Places = std::list<Place>;  ///< the least recently used first
  bool make_room();

  const Options options_;
  core::RandomSource& random_;
  const core::Clock& clock_;
  mutable std::mutex mutex_;  // guards the rest
  Places places_;
  std::unordered_map<std::string, Places::iterator> by_id_;
  std::unordered_map<std::string, std::shared_ptr<ServerSession>> by_connection_;
  std::unordered_map<std::string, std::weak_ptr<ServerSession>> by_stream_;
};

}  // namespace league::mcp
