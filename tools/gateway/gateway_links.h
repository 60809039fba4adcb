#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tools/gateway/gateway_link.h"

namespace league::tools::gateway {

/// The options for the sessions of a gateway with one backend.
struct GatewayLinksOptions {
  /// The options of the shared session; those of clients' own sessions are derived from them.
  /// Notifications go to the clients that share the session, instead of `on_notification`.
  GatewayLinkOptions shared;
  /// The maximum number of clients' own sessions.
  std::size_t most_own = 1000;
  /// A session that has been idle for this long makes room for another client's.
  std::chrono::seconds idle{60};
};

/// The sessions of a gateway with its backend: one that all clients share, and one of its own for
/// each client whose answers depend on it. That is a client that has completed the handshake and
/// * whose backend is an HTTP server, where a session needs no process or connection of its own; or
/// * that can be asked something (sampling, elicitation, roots), since only a session of its own
///   declares these capabilities to the backend; or
/// * that sets a log level or subscribes to a resource, from then on. Clients without a handshake,
/// and those of revision 2026-07-28, use the shared session. Thread-safe.
class GatewayLinks final : public GatewayBackend {
 public:
  /// All references must outlive this object and its calls.
  GatewayLinks(const mcp::client::SessionTools& tools, audit::record::RecordSink& log,
               GatewayLinksOptions options);
  /// Ends the sessions.
  ~GatewayLinks() override;

  /// Connects to the backend and negotiates now, not at the first request.
  void connect();

  Cancel forward(GatewayCall call, Answered answered) override;
  void describe(const GatewayCall& call, Answered answered) override;
  [[nodiscard]] core::Result<void> begin(GatewayClient client) override;
  void end(const std::string& owner) override;
  void notify(const std::string& owner, const rpc::Notification& note) override;
  [[nodiscard]] bool takes(std::string_view /*method*/) const override { return true; }
  [[nodiscard]] bool ends_with_client() const override { return false; }

  /// Sessions of clients' own.
  [[nodiscard]] std::size_t own() const;

 private:
  using LinkPtr = std::shared_ptr<GatewayLink>;
  struct Entry {
    GatewayClient client;
    LinkPtr link;  ///< null: it uses the shared session
    std::size_t running = 0;  ///< running calls
    core::Clock::Steady used_at{};
  };
  /// Objects to destroy after the lock is released.
  struct EvictedLink {
    LinkPtr link;
    std::function<void()> on_forgotten;
  };
  /// Can outlive this object if a call's completion still holds it.
  struct State {
    std::mutex mutex;  // guards the rest, never held during calls of others
    std::map<std::string, Entry> clients;
    std::size_t own = 0;

    void tell_sharers(const rpc::Notification& note);
    void on_call_ended(const std::string& owner, const GatewayLink* link, core::Clock::Steady now);
  };

  [[nodiscard]] bool begins_with_own(const GatewayClient& client) const;
  [[nodiscard]] LinkPtr make_own(const GatewayClient& client) const;
  [[nodiscard]] LinkPtr make_shared_link() const;
  // Needs the lock.
  [[nodiscard]] core::Result<void> make_room(EvictedLink& evicted);
  [[nodiscard]] Entry* entry_of(const GatewayCall& call);
  // Takes the lock.
  [[nodiscard]] core::Result<LinkPtr> link_for(const GatewayCall& call, EvictedLink& evicted);

  const mcp::client::SessionTools tools_;
  audit::record::RecordSink& log_;
  const GatewayLinksOptions options_;
  mutable task::Scope scope_{task::Executor(), nullptr};  ///< of the links, which end before it
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  const LinkPtr shared_;
};

}  // namespace league::tools::gateway
