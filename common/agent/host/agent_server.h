#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/agent/dialects/request_dialect.h"
#include "common/agent/peers/reply.h"
#include "common/core/clock.h"
#include "common/envelope/mode.h"
#include "common/envelope/read_message.h"
#include "common/mcp/server.h"
#include "common/transport/link/message_handler.h"

namespace league::agent::host {

/// A league message that was admitted: its envelope, schema, semantics, direction and token are
/// right.
template <typename Message>
struct Call {
  envelope::Envelope envelope;
  Message message;
  rpc::MessageContext context;
  peers::Reply reply;
  dialects::CallStyle style = dialects::CallStyle::kToolName;  ///< in which the sender spoke
  /// Notes of the message, for the log: a handler may add leniencies before it answers.
  std::shared_ptr<rpc::MessageNotes> notes = nullptr;
};

/// A call of a tool that does not carry a league message (`ping`, `get_standings`).
struct ToolCall {
  nlohmann::json arguments;  ///< an object
  rpc::MessageContext context;
  peers::Reply reply;
  std::shared_ptr<transport::link::PeerChannel> channel;  ///< see transport::link::Inbound
  /// Notes of the call, for the log: a handler may add leniencies before it answers.
  std::shared_ptr<rpc::MessageNotes> notes = nullptr;
  /// The request of a client of MCP, until it is answered; null for the league's own calls.
  std::shared_ptr<mcp::RequestContext> client = nullptr;
};

struct AgentServerOptions {
  envelope::Role role = envelope::Role::kPlayer;
  envelope::Mode mode = envelope::Mode::kOpen;
  /// Whether the envelope's `auth_token` belongs to its sender. Called for every type that needs a
  /// token (protocol §4), as the last check; also for a message that is refused for another reason,
  /// to find out who sent it.
  std::function<core::Result<void>(const envelope::Envelope&)> check_token;
  /// Whether the agent is the guest of a third-party manager; then that manager's message forms are
  /// accepted too (protocol §8). Called in open mode only. Empty: never a guest.
  std::function<bool()> is_guest = {};
  /// The leniency under which a call is admitted although its token is missing or `check_token`
  /// refuses it; nothing: the call is refused. Called in open mode only. Empty: such calls are
  /// always refused.
  std::function<std::optional<envelope::Leniency>(const envelope::Envelope&)> pardon = {};
  /// `check_token` accepts any token, as of a standalone player: the calls of such senders carry
  /// the leniency kForeignCallToken, in both modes, so that no auditor takes their senders for
  /// proven.
  bool accepts_any_token = false;
  /// The agent's tool for which `name`, a method or message type outside of league.v2, is an alias;
  /// empty if there is none. May be empty.
  std::function<std::string_view(std::string_view name)> tool_alias = {};
  /// Defaults for a query without an envelope, found by the `auth_token` that it shows. If this is
  /// empty, or returns no defaults because the token is unknown, the query stays incomplete.
  std::function<envelope::NormaliseDefaults(const std::string& token)> query_defaults = {};
  /// The same for an answer that a player sent as a call of its own: its credential and its match
  /// tell whose answer it is. The defaults must name no match, which such an answer has to name.
  std::function<envelope::NormaliseDefaults(const core::AuthToken& token,
                                            const core::MatchId& match)>
      answer_defaults = {};
  /// Whether league messages are kept until release(): an agent can be called before it has read
  /// the answer to its registration.
  bool starts_held = false;
  /// Set by the league manager only.
  peers::LeagueErrorBuilder league_error;
  /// Called with each message that is not admitted, as far as it was normalised, and why. May be
  /// empty.
  std::function<void(envelope::MessageType type, const nlohmann::json& message,
                     const rpc::MessageContext& context, const core::Error& why)>
      on_not_admitted = {};
  /// The tools that are listed for clients of MCP that are strangers; empty: all.
  std::set<std::string, std::less<>> strangers_tools = {};
  /// How the agent presents itself to clients of MCP.
  mcp::ServerOptions mcp = {};
};

/// The only decoder and the only admission of an agent: bytes → JSON → dialect → envelope → schema
/// → semantics → direction → token → typed handler. A message that is exactly as the protocol has
/// it is read from the parser's tree; every other one is made a document, in which leniencies can
/// be normalised, and then read in the same way. An MCP server in front of it offers everything
/// that is bound as tools; calls of these tools are admitted like any other message. Bind
/// everything before the first message arrives; after that it is thread-safe. Handlers run on the
/// transport's threads and must not block; a handler's exception is answered with -32603.
class AgentServer final : public transport::link::MessageHandler, private mcp::Application {
 public:
  /// `schemas` and `clock` must outlive the server; the server must outlive the last reply.
  AgentServer(AgentServerOptions options, const envelope::MessageSchemas& schemas,
              const core::Clock& clock);

  /// Sets `handler(Call<Message>)` as the handler for messages of Message::kType.
  template <typename Message, typename Handler>
  void bind(Handler handler) {
    show_message(Message::kType);
    bind_answer<Message>(std::move(handler));
  }
  /// The same for a message that is normally an answer, but that some bots send as a separate call.
  /// It is not offered as a tool.
  template <typename Message, typename Handler>
  void bind_answer(Handler handler) {
    const auto deliver = [this, handler](Arrived arrived, ReadEnvelope read, Message message) {
      auto envelope = admit(arrived, std::move(read));
      if (!envelope) return arrived.reply.refuse(envelope.error());
      handler(Call<Message>{std::move(*envelope), std::move(message),
                            std::move(arrived.arrival.context), std::move(arrived.reply),
                            style_of(arrived.request), std::move(arrived.arrival.notes)});
    };
    messages_[Message::kType] = [this, deliver](Arrived arrived) {
      Message message;
      auto envelope = normalised(arrived.request, [&](const nlohmann::json& text) -> ReadEnvelope {
        auto received = envelope::read<Message>(schemas_, text);
        if (!received) return received.error();
        message = std::move(received->message);
        return std::move(received->envelope);
      });
      deliver(std::move(arrived), std::move(envelope), std::move(message));
    };
    exact_[Message::kType] = [this, deliver](PlainCall call) {
      auto received = envelope::read_exact<Message>(schemas_, call.message);
      if (!received) return false;
      deliver(arrived(call), std::move(received->envelope), std::move(received->message));
      return true;
    };
  }
  /// Sets `handler` for messages of `type`; they are admitted but not decoded.
  void bind_undecoded(envelope::MessageType type,
                      const std::function<void(Call<nlohmann::json>)>& handler);
  /// Acknowledges admitted messages of `type` without decoding them.
  void bind_news(envelope::MessageType type);
  /// Sets `handler` for a tool of schemas/tools/. Arguments that come by `tools/call` are checked
  /// against the input schema; those of the league's own calls are not. `is_secret`: no log has its
  /// calls, see ServerTool.
  void bind_tool(std::string name, std::function<void(ToolCall)> handler, bool is_secret = false);

  /// The MCP server, for resources and their notifications.
  [[nodiscard]] mcp::Server& mcp() { return mcp_; }

  /// Handles the messages that were kept, and keeps none from now on.
  void release();

  void on_message(transport::link::Inbound message, transport::link::ReplySlot slot) override {
    mcp_.on_message(std::move(message), std::move(slot));
  }
  transport::link::StreamAnswer on_stream(transport::link::StreamRequest request) override {
    return mcp_.on_stream(std::move(request));
  }
  std::optional<transport::link::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override {
    return mcp_.on_session_end(context);
  }
  void on_channel_closed(const transport::link::PeerChannel& channel) override {
    mcp_.on_channel_closed(channel);
  }

 private:
  using Arrival = mcp::Arrival;
  /// A league message before its admission.
  struct Arrived {
    dialects::IncomingRequest request;
    Arrival arrival;
    peers::Reply reply;
    /// The message, if it has not been made a document in `request`.
    schema::JsonNode plain = {};
  };
  /// A call in the protocol's own form, before its message is read.
  struct PlainCall {
    dialects::IncomingRequest& request;  ///< without its message
    schema::JsonNode message;
    Arrival& arrival;
    transport::link::ReplySlot& slot;
  };
  /// Reads the fields of a normalised message and checks it against its schema.
  using ReadEnvelope = core::Result<envelope::Envelope>;
  using Read = std::function<ReadEnvelope(const nlohmann::json& message)>;

  bool on_plain(schema::JsonNode document, Arrival& arrival,
                transport::link::ReplySlot& slot) override;
  /// Handles documents that are not MCP.
  void on_document(nlohmann::json document, Arrival arrival,
                   transport::link::ReplySlot slot) override;
  void on_tool_call(mcp::ServedToolCall call);
  /// Handles a request that came with or without MCP, after it was taken apart.
  void on_outcome(std::variant<dialects::IncomingRequest, dialects::RpcRefusal> outcome,
                  const Arrival& arrival, transport::link::ReplySlot slot,
                  std::shared_ptr<mcp::RequestContext> client = nullptr);
  void show_message(envelope::MessageType type);
  void show(mcp::ServerTool tool);
  void on_request(dialects::IncomingRequest request, const Arrival& arrival,
                  transport::link::ReplySlot slot, std::shared_ptr<mcp::RequestContext> client);
  /// True if the message is kept until release(); its parts have then been moved away.
  bool hold(dialects::IncomingRequest& request, const Arrival& arrival, peers::Reply& reply);
  void on_league_message(dialects::IncomingRequest request, const Arrival& arrival,
                         peers::Reply reply);
  /// Takes over what has been decided to be handled.
  Arrived arrived(PlainCall call);
  /// Checks a message that was read, or could not be, and completes its notes; returns its envelope
  /// or the first fault.
  ReadEnvelope admit(Arrived& arrived, ReadEnvelope envelope);
  /// Normalises a message in place and reads it.
  ReadEnvelope normalised(dialects::IncomingRequest& request, const Read& read);
  core::Result<void> check_direction(const envelope::MessageSpec& row,
                                     const envelope::Envelope& envelope) const;
  core::Result<void> check_sender(const envelope::MessageSpec& row,
                                  const envelope::Envelope& envelope, envelope::Leniencies& taken,
                                  rpc::MessageNotes& notes) const;
  /// Notes who sent a message that is refused, if its credential proves it.
  void note_speaker(const nlohmann::json& message, rpc::MessageNotes& notes) const;
  /// Whether a right token proves who the sender is.
  [[nodiscard]] bool proves_sender(envelope::MessageType type) const;
  [[nodiscard]] bool is_guest() const;
  /// Whether `message`, which has no token, comes from somebody who needs one.
  [[nodiscard]] bool lacks_needed_token(const envelope::MessageSpec& row,
                                        const nlohmann::json& message) const;
  envelope::NormaliseDefaults defaults_for(const dialects::IncomingRequest& request);
  static void refuse(const dialects::RpcRefusal& refusal, const Arrival& arrival,
                     transport::link::ReplySlot slot);

  AgentServerOptions options_;
  const envelope::MessageSchemas& schemas_;
  const core::Clock& clock_;
  dialects::RequestReader reader_;
  std::unordered_map<envelope::MessageType, std::function<void(Arrived)>> messages_;
  /// By type: false, and nothing is used up, if the message is not exact.
  std::unordered_map<envelope::MessageType, std::function<bool(PlainCall)>> exact_;
  std::unordered_map<std::string, std::function<void(ToolCall)>> tools_;
  std::atomic<int> unnamed_conversations_{0};
  std::atomic<bool> is_holding_;
  std::mutex held_mutex_;
  std::vector<std::function<void()>> held_;
  mcp::Server mcp_;  // last: what it holds refers to the rest
};

}  // namespace league::agent::host
