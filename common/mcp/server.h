#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/mcp/client_requests.h"
#include "common/mcp/listen_streams.h"
#include "common/mcp/registry.h"
#include "common/mcp/running_requests.h"
#include "common/mcp/session.h"
#include "common/mcp/signs.h"
#include "common/rpc/codec.h"
#include "common/schema/json_tree.h"
#include "common/transport/link/message_handler.h"

namespace league::mcp {

/// How a message arrived.
struct Arrival {
  rpc::MessageContext context;
  std::shared_ptr<rpc::MessageNotes> notes;
  std::shared_ptr<transport::link::PeerChannel> channel =
      nullptr;  ///< see transport::link::Inbound
  bool in_batch = false;
};

/// Handles messages of another JSON-RPC dialect on the same endpoint.
/// Implementations are thread-safe and must not block.
class Application {
 public:
  virtual ~Application() = default;
  /// `document` came from a client that has shown no sign of MCP. True if it was handled: the
  /// application takes what it needs from the arguments, which are then used up. False: they are
  /// untouched, and the document goes its normal way. `document` ends with the call.
  virtual bool on_plain(schema::JsonNode /*document*/, Arrival& /*arrival*/,
                        transport::link::ReplySlot& /*reply*/) {
    return false;
  }
  /// `document` is an object that is not an MCP message.
  virtual void on_document(nlohmann::json document, Arrival arrival,
                           transport::link::ReplySlot reply) = 0;
};

struct ServerOptions {
  std::string name = "league";
  std::string title = {};
  std::string version = LEAGUE_VERSION;
  std::string instructions = {};  ///< information for the model before it uses the tools
  /// Whether the list of tools (prompts, resources) can change; clients are then notified.
  bool tools_change = false;
  bool prompts_change = false;
  bool resources_change = false;
  bool has_logging = false;
  ServerSessions::Options sessions = {};
  std::size_t most_listeners = 4096;
  std::size_t page_size = 100;
  std::chrono::milliseconds retry{1000};  ///< how long a client waits before it reconnects
  core::RandomSource* random =
      nullptr;  ///< of session ids; null: the system's. Outlives the server
  /// Called with the notes and the exception's text when handling a request has thrown. May be
  /// empty.
  std::function<void(const rpc::MessageNotes&, std::string_view)> on_exception = {};
  core::Timer* timer = nullptr;  ///< of requests to clients; null: they wait. Outlives the server
};

/// An MCP server for the four revisions with a handshake and the stateless one, on any transport,
/// in front of an application that speaks its own dialect. Parses each message once. Fill the
/// registry before the first message; after adding more later, call notify_list_changed.
/// Thread-safe.
class Server final : public transport::link::MessageHandler {
 public:
  /// Both references outlive the server and every slot that came through it.
  Server(ServerOptions options, Application& application, const core::Clock& clock);
  ~Server() override;

  [[nodiscard]] Registry& registry() { return registry_; }

  /// Notifies the clients that listen that a list has changed.
  void notify_list_changed(Registry::List list);
  /// False if no client has ever subscribed or listened; then no notifications are needed.
  [[nodiscard]] bool has_followers() const { return subscriptions_ > 0 || !listeners_.is_empty(); }
  /// Notifies the clients that have subscribed to `uri` that it has changed. Costs nothing if there
  /// are none.
  void notify_resource_updated(const std::string& uri);

  void on_message(transport::link::Inbound message, transport::link::ReplySlot slot) override;
  transport::link::StreamAnswer on_stream(transport::link::StreamRequest request) override;
  std::optional<transport::link::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override;
  void on_channel_closed(const transport::link::PeerChannel& channel) override;

 private:
  /// What the headers and the connection say about the client, in the legacy dialect.
  struct Client {
    std::shared_ptr<ServerSession> session;  ///< null: none
    bool is_declared = false;  ///< it sent a session id or a version, so its messages are MCP
  };
  struct Refusal {
    int http_status;
    std::string why;
  };
  /// An MCP request, passed to the method that serves it.
  struct Served {
    rpc::Request request;
    Arrival arrival;
    std::shared_ptr<ServerSession> session;  ///< null: none, or modern
    Responder reply;
    std::uint64_t number;  ///< of the request
    bool is_declared = true;
  };
  using Method = void (Server::*)(Served);

  // server.cpp: which dialect
  void on_batch(nlohmann::json batch, Arrival arrival, transport::link::ReplySlot slot);
  void on_document(nlohmann::json document, Arrival arrival, transport::link::ReplySlot slot);
  void on_legacy(nlohmann::json document, Arrival arrival, const Client& client,
                 transport::link::ReplySlot slot);
  void on_modern(nlohmann::json document, const RequestSigns& signs, Arrival arrival,
                 transport::link::ReplySlot slot);
  /// Whether neither headers nor connection say that the sender is a client of MCP.
  [[nodiscard]] bool is_plain(const Arrival& arrival);
  [[nodiscard]] std::variant<Client, Refusal> client_of(const RequestSigns& signs,
                                                        const Arrival& arrival);
  void on_notification(const rpc::Notification& notification, const std::string& scope);
  [[nodiscard]] static std::string scope_of(const Arrival& arrival,
                                            const std::shared_ptr<ServerSession>& session);
  [[nodiscard]] Served serve(rpc::Request request, Arrival arrival, Dialect dialect,
                             std::shared_ptr<ServerSession> session,
                             transport::link::ReplySlot slot);
  void run(Method method, Served served);
  [[nodiscard]] static Method legacy_method(std::string_view name);
  [[nodiscard]] static Method modern_method(std::string_view name);

  // server_methods.cpp: what both dialects have
  void list_tools(Served served);
  void list_prompts(Served served);
  void list_resources(Served served);
  void list_resource_templates(Served served);
  void list(const Served& served, Registry::List list);
  void call_tool(Served served);
  void get_prompt(Served served);
  void read_resource(Served served);
  void complete(Served served);

  // server_lifecycle.cpp: what one dialect has
  void initialize(Served served);
  void ping(Served served);
  void set_log_level(Served served);
  void subscribe(Served served);
  void unsubscribe(Served served);
  void discover(Served served);
  void listen(Served served);
  [[nodiscard]] std::string capabilities() const;
  [[nodiscard]] bool has_news() const;

  const ServerOptions options_;
  Application& application_;
  core::CryptoRandom system_random_;
  const std::string server_info_;  ///< JSON
  const std::string modern_tail_;
  const std::string modern_read_tail_;  ///< of results that a client must not cache
  Registry registry_;
  ServerSessions sessions_;
  ClientRequests client_requests_;
  RunningRequests running_;
  ListenStreams listeners_;
  std::atomic<std::uint64_t> subscriptions_{0};  ///< ever made; while 0, no search is needed
};

}  // namespace league::mcp
