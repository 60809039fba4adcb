#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "common/core/random_source.h"
#include "common/transport/message_handler.h"
#include "tools/league/gateway_backend.h"
#include "tools/league/gateway_sessions.h"

namespace league::tools {

struct GatewayOptions {
  std::chrono::milliseconds call_timeout{30'000};
  /// Tools that clients may see and call; nothing: all.
  std::optional<std::set<std::string>> allowed_tools;
  /// Gives clients sessions and streams of their own, for what the backend says unasked.
  bool has_sessions = false;
};

/// Answers MCP clients in front of a backend: `tools/list` and `tools/call` go to it, and what else
/// it takes; the rest is answered here. Clients speak JSON-RPC by whatever transport, in any
/// revision with a handshake, or without one. Thread-safe.
class Gateway final : public transport::MessageHandler {
 public:
  /// All outlive the gateway; the backend's calls end before it does.
  Gateway(GatewayOptions options, GatewayBackend& backend, const core::Clock& clock,
          core::RandomSource& random);

  void on_message(transport::Inbound message, transport::ReplySlot reply) override;
  transport::StreamAnswer on_stream(transport::StreamRequest request) override;
  std::optional<transport::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override;
  void on_channel_closed(const transport::PeerChannel& channel) override;

  /// What the backend tells all clients.
  void broadcast(const rpc::Notification& notification);
  /// Requests under way.
  [[nodiscard]] std::size_t in_work() const;

 private:
  struct Pending;
  using Slot = std::shared_ptr<transport::ReplySlot>;

  void on_request(rpc::Request request, transport::Inbound message, Slot slot);
  void on_notification(const rpc::Notification& notification, const std::string& owner);
  void initialize(const rpc::Request& request, const transport::Inbound& message, Slot slot);
  void forward(rpc::Request request, transport::Inbound message, Slot slot);
  void finish(const std::shared_ptr<Pending>& pending, rpc::Response response);
  void give_up(const std::shared_ptr<Pending>& pending, const std::string& why);
  bool take(const std::shared_ptr<Pending>& pending);
  void answer(const Slot& slot, const rpc::Response& response, int http_status = 200) const;
  [[nodiscard]] bool is_allowed(const rpc::Request& request) const;
  void filter_tools(rpc::Response& response) const;
  [[nodiscard]] std::optional<rpc::Response> refusal_of(const rpc::Request& request,
                                                        const rpc::MessageContext& context) const;

  const GatewayOptions options_;
  GatewayBackend& backend_;
  const core::Clock& clock_;
  core::RandomSource& random_;
  GatewaySessions sessions_;
  mutable std::mutex mutex_;  // never held during calls of others
  std::uint64_t next_correlation_ = 1;
  /// Under way, by the channel of the client that waits.
  std::multimap<std::string, std::shared_ptr<Pending>> pending_;
};

}  // namespace league::tools
