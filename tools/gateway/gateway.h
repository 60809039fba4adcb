#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/mcp/client_requests.h"
#include "common/transport/link/message_handler.h"
#include "tools/gateway/gateway_backend.h"
#include "tools/gateway/gateway_sessions.h"

namespace league::tools::gateway {

struct GatewayOptions {
  std::chrono::milliseconds call_timeout{30'000};
  /// Tools that clients may see and call; nothing: all.
  std::optional<std::set<std::string>> allowed_tools;
  /// Gives clients their own sessions and streams, for notifications and requests of the backend
  /// outside a call.
  bool has_sessions = false;
  /// Ends requests of the backend that a client does not answer within `call_timeout`; null: they
  /// end with the client. Must outlive the gateway.
  core::Timer* timer = nullptr;
  /// The maximum number of simultaneous subscriptions of clients of revision 2026-07-28.
  std::size_t most_listeners = 256;
};

/// Answers MCP clients on behalf of a backend: passes on `tools/list`, `tools/call` and the other
/// methods that the backend takes, and answers the rest itself. Messages and requests of the
/// backend go to the client that they concern, and only that client's answer goes back. Clients
/// speak JSON-RPC over any transport: in revision 2026-07-28, in any revision with a handshake, or
/// without a handshake. Thread-safe.
class Gateway final : public transport::link::MessageHandler {
 public:
  /// All references must outlive the gateway; the backend's calls must end before it does.
  Gateway(GatewayOptions options, GatewayBackend& backend, const core::Clock& clock,
          core::RandomSource& random);

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
  transport::link::StreamAnswer on_stream(transport::link::StreamRequest request) override;
  std::optional<transport::link::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override;
  void on_channel_closed(const transport::link::PeerChannel& channel) override;

  /// The number of running requests.
  [[nodiscard]] std::size_t in_work() const;

 private:
  using Slot = std::shared_ptr<transport::link::ReplySlot>;
  /// A request that the backend is working on.
  struct Pending {
    Slot slot;
    rpc::Id id;
    std::string method;
    std::string owner;  ///< only the owner may cancel it by its id; empty: nobody, since different
                        ///< clients can use the same ids
    std::string channel;
    std::shared_ptr<transport::link::PeerChannel> peer;  ///< that channel, to send to; may be null
    bool is_modern = false;
    GatewayBackend::Cancel cancel;
    bool has_ended = false;
  };

  void on_request(rpc::Request request, transport::link::Inbound message, Slot slot,
                  bool is_modern);
  void discover(const rpc::Request& request, Slot slot);
  [[nodiscard]] core::Result<void> begin(const rpc::Request& initialize, const std::string& owner);
  void end_client(const std::string& owner);
  void tell_client(const std::string& owner, const rpc::Notification& note);
  using Channels = std::vector<std::shared_ptr<transport::link::PeerChannel>>;
  [[nodiscard]] Channels ways_to(const std::string& owner, bool prefers_calls) const;
  void ask_client(const std::string& owner, Channels ways, rpc::Request request,
                  mcp::client::AnswerServer answer);
  [[nodiscard]] std::optional<rpc::Response> refuse_to_listen(
      const rpc::Request& request, const transport::link::Inbound& message);
  [[nodiscard]] GatewayCall described_call(const rpc::Request& request) const;
  void on_notification(const rpc::Notification& notification, const std::string& owner);
  void initialize(const rpc::Request& request, const transport::link::Inbound& message,
                  const Slot& slot);
  void forward(rpc::Request request, transport::link::Inbound message, Slot slot, bool is_modern);
  void finish(const std::shared_ptr<Pending>& pending, GatewayAnswer answer);
  void give_up(const std::shared_ptr<Pending>& pending, const std::string& why);
  bool take(const std::shared_ptr<Pending>& pending);
  static void answer(const Slot& slot, const rpc::Response& response, int http_status = 200);
  static void answer(const Slot& slot, GatewayAnswer answer);
  [[nodiscard]] bool is_allowed(const rpc::Request& request) const;
  void filter_tools(rpc::Response& response) const;
  [[nodiscard]] static bool is_unknown_revision(const rpc::MessageContext& context);

  const GatewayOptions options_;
  GatewayBackend& backend_;
  const core::Clock& clock_;
  core::RandomSource& random_;
  GatewaySessions sessions_;
  mcp::ClientRequests questions_;
  mutable std::mutex mutex_;  // never held during calls of others
  std::uint64_t next_correlation_ = 1;
  std::size_t listeners_ = 0;
  /// Running requests, by the channel of the waiting client.
  std::multimap<std::string, std::shared_ptr<Pending>> pending_;
};

}  // namespace league::tools::gateway
