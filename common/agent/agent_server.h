#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/agent/reply.h"
#include "common/agent/request_dialect.h"
#include "common/core/clock.h"
#include "common/envelope/codec.h"
#include "common/envelope/message_schemas.h"
#include "common/envelope/mode.h"
#include "common/mcp/server.h"
#include "common/transport/message_handler.h"

namespace league::agent {

/// A league message that was admitted: its envelope, schema, semantics, direction and token are
/// right.
template <typename Message>
struct Call {
  envelope::Envelope envelope;
  Message message;
  rpc::MessageContext context;
  Reply reply;
};

/// How a tool that is no league message is shown to clients of MCP. The schemas are JSON texts of
/// draft-07 with their `$schema`.
struct ToolDescription {
  std::string name;
  std::string description;
  std::string input_schema;
  std::string output_schema;
  bool is_read_only = true;  ///< calling it changes nothing
};

/// A call of a tool that is no league message (`ping`, `get_standings`).
struct ToolCall {
  nlohmann::json arguments;  ///< an object
  rpc::MessageContext context;
  Reply reply;
};

struct AgentServerOptions {
  envelope::Role role = envelope::Role::kPlayer;
  envelope::Mode mode = envelope::Mode::kOpen;
  /// Whether the envelope's `auth_token` is its sender's. Asked for every type that needs a token
  /// (protocol §4), last.
  std::function<core::Result<void>(const envelope::Envelope&)> check_token;
  /// Keep league messages until release(): an agent may be called before it has read the answer to
  /// its registration.
  bool starts_held = false;
  /// Set by the league manager only.
  LeagueErrorBuilder league_error;
  /// How the agent presents itself to clients of MCP.
  mcp::ServerOptions mcp = {};
};

/// The one decoder and the one admission of an agent: bytes → JSON → dialect → envelope → schema →
/// semantics → direction → token → typed handler. A server of MCP stands in front of it, to which
/// everything that is bound is a tool; what a client calls there is admitted like any message. Bind
/// everything before the first message arrives; after that it is thread-safe. Handlers run on the
/// transport's threads and must not block; a handler's exception is answered with -32603.
class AgentServer final : public transport::MessageHandler, private mcp::Application {
 public:
  /// `schemas` and `clock` must outlive the server, and the server the last reply.
  AgentServer(AgentServerOptions options, const envelope::MessageSchemas& schemas,
              const core::Clock& clock);

  /// Has `handler(Call<Message>)` handle the messages of Message::kType.
  template <typename Message, typename Handler>
  void bind(Handler handler) {
    show_message(Message::kType);
    messages_[Message::kType] = [handler = std::move(handler)](Admitted admitted) {
      auto message = envelope::decode<Message>(admitted.message);
      if (!message) return admitted.reply.refuse(message.error());
      handler(Call<Message>{std::move(admitted.envelope), std::move(*message),
                            std::move(admitted.context), std::move(admitted.reply)});
    };
  }
  /// Acknowledges messages of `type` that were admitted, without looking into them further.
  void bind_news(envelope::MessageType type);
  /// Has `handler` serve a tool. Arguments that come by `tools/call` keep the input schema; those
  /// of the league's own calls are not checked.
  void bind_tool(ToolDescription description, std::function<void(ToolCall)> handler);

  /// For resources and their news.
  [[nodiscard]] mcp::Server& mcp() { return mcp_; }

  /// Handles what was held, and holds nothing from now on.
  void release();

  void on_message(transport::Inbound message, transport::ReplySlot slot) override {
    mcp_.on_message(std::move(message), std::move(slot));
  }
  transport::StreamAnswer on_stream(transport::StreamRequest request) override {
    return mcp_.on_stream(std::move(request));
  }
  std::optional<transport::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override {
    return mcp_.on_session_end(context);
  }
  void on_channel_closed(const transport::PeerChannel& channel) override {
    mcp_.on_channel_closed(channel);
  }

 private:
  struct Admitted {
    envelope::Envelope envelope;
    nlohmann::json message;
    rpc::MessageContext context;
    Reply reply;
  };
  struct Arrival {
    std::shared_ptr<rpc::MessageNotes> notes;
    rpc::MessageContext context;
  };

  /// Whatever is no MCP.
  void on_document(mcp::ForeignDocument document, transport::ReplySlot slot) override;
  void on_tool_call(mcp::ServedToolCall call);
  /// What came by either way, taken apart.
  void on_outcome(std::variant<IncomingRequest, RpcRefusal> outcome, const Arrival& arrival,
                  transport::ReplySlot slot);
  void show_message(envelope::MessageType type);
  void show_tool(const ToolDescription& description);
  void on_request(IncomingRequest request, const Arrival& arrival, transport::ReplySlot slot);
  /// True if the message was put aside until release(); then its parts have been moved away.
  bool hold(IncomingRequest& request, const Arrival& arrival, Reply& reply);
  void on_league_message(IncomingRequest request, const Arrival& arrival, Reply reply);
  /// Normalises and checks a message in place; its envelope, or the first fault.
  core::Result<envelope::Envelope> admit(IncomingRequest& request, rpc::MessageNotes& notes);
  core::Result<void> check_direction(const envelope::MessageSpec& row,
                                     const envelope::Envelope& envelope) const;
  envelope::NormaliseDefaults defaults_for(envelope::MessageType type);
  static void refuse(const RpcRefusal& refusal, const Arrival& arrival, transport::ReplySlot slot);

  AgentServerOptions options_;
  const envelope::MessageSchemas& schemas_;
  const core::Clock& clock_;
  RequestReader reader_;
  std::unordered_map<envelope::MessageType, std::function<void(Admitted)>> messages_;
  std::unordered_map<std::string, std::function<void(ToolCall)>> tools_;
  std::atomic<int> unnamed_conversations_{0};
  std::atomic<bool> is_holding_;
  std::mutex held_mutex_;
  std::vector<std::function<void()>> held_;
  mcp::Server mcp_;  // last: what it holds refers to the rest
};

}  // namespace league::agent
