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

/// What a client of the legacy dialect has agreed upon, and what it wants to hear. Thread-safe.
class ServerSession {
 public:
  struct Setup {
    std::string id;  ///< of the session, or of the connection that it lives and dies with
    std::string revision;
    nlohmann::json client_capabilities = nullptr;
    std::shared_ptr<transport::PeerChannel> connection = nullptr;  ///< null on HTTP
  };
  explicit ServerSession(Setup setup) : setup_(std::move(setup)) {}

  [[nodiscard]] const std::string& id() const { return setup_.id; }
  [[nodiscard]] const std::string& revision() const { return setup_.revision; }
  [[nodiscard]] const nlohmann::json& client_capabilities() const {
    return setup_.client_capabilities;
  }
  /// The client has said `notifications/initialized`.
  void set_active() { is_active_ = true; }

  void set_log_level(LogLevel level) { log_level_ = level; }
  [[nodiscard]] LogLevel log_level() const { return log_level_; }

  /// False when the session has too many.
  bool subscribe(const std::string& uri);
  void unsubscribe(const std::string& uri);
  [[nodiscard]] bool is_subscribed(const std::string& uri) const;

  /// Takes the place of the one stream that a client may listen on. The place is free again when
  /// the reservation is let go of, or with `leave` once a stream has been set.
  [[nodiscard]] std::shared_ptr<void> reserve_stream();
  void set_stream(std::shared_ptr<transport::PeerChannel> stream);
  void leave(const std::string& channel_id);
  [[nodiscard]] bool has_stream() const;
  /// To the stream or connection, if there is one.
  void push(const std::shared_ptr<const std::string>& bytes) const;
  /// Closes the stream.
  void close() const;

 private:
  const Setup setup_;
  std::atomic<bool> is_active_{false};
  std::atomic<LogLevel> log_level_{LogLevel::kDebug};
  mutable std::mutex mutex_;  // guards the rest
  std::set<std::string> subscriptions_;
  std::shared_ptr<transport::PeerChannel> stream_;
  std::weak_ptr<void> reservation_;
};

/// The sessions of a server: a bounded number over HTTP, of which the least recently used idle one
/// makes room for a new one, and one for each connection that has initialised. Thread-safe.
class ServerSessions {
 public:
  struct Options {
    /// As many as there may be connections: who is evicted has to begin anew (404).
    std::size_t most = 20'000;
    std::chrono::nanoseconds idle = std::chrono::hours(1);  ///< forgotten when not used so long
  };
  /// Both references outlive this.
  ServerSessions(Options options, core::RandomSource& random, const core::Clock& clock)
      : options_(options), random_(random), clock_(clock) {}

  /// A new session with a random id; null when all places are taken by sessions that listen.
  std::shared_ptr<ServerSession> create(ServerSession::Setup setup);
  /// That of a connection.
  std::shared_ptr<ServerSession> create_for_connection(ServerSession::Setup setup);
  /// Null for an unknown id, and one that has expired.
  std::shared_ptr<ServerSession> find(const std::string& id);
  std::shared_ptr<ServerSession> find_connection(const std::string& channel_id);
  /// Ends a session; null if it is unknown.
  std::shared_ptr<ServerSession> remove(const std::string& id);
  /// The channel is gone: ends the session of that connection and returns it, and takes a stream
  /// from the session that it belonged to.
  std::shared_ptr<ServerSession> on_channel_closed(const std::string& channel_id);
  /// For channels of streams, so that on_channel_closed finds their session.
  void note_stream(const std::string& channel_id, const std::shared_ptr<ServerSession>& session);

  [[nodiscard]] std::vector<std::shared_ptr<ServerSession>> all() const;
  [[nodiscard]] std::size_t size() const;

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
