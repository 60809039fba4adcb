#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/agent/reply.h"
#include "common/agent/request_dialect.h"
#include "common/core/clock.h"
#include "common/envelope/codec.h"
#include "common/envelope/message_schemas.h"
#include "common/envelope/mode.h"
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
};

/// The one decoder and the one admission of an agent: bytes → JSON → dialect → envelope → schema →
/// semantics → direction → token → typed handler. Bind everything before the first message arrives;
/// after that it is thread-safe. Handlers run on the transport's threads and must not block; a
/// handler's exception is answered with -32603.
class AgentServer final : public transport::MessageHandler {
 public:
  /// `schemas` and `clock` must outlive the server, and the server the last reply.
  AgentServer(AgentServerOptions options, const envelope::MessageSchemas& schemas,
              const core::Clock& clock);

  /// Has `handler(Call<Message>)` handle the messages of Message::kType.
  template <typename Message, typename Handler>
  void bind(Handler handler) {
    messages_[Message::kType] = [handler = std::move(handler)](Admitted admitted) {
      auto message = envelope::decode<Message>(admitted.message);
      if (!message) return admitted.reply.refuse(message.error());
      handler(Call<Message>{std::move(admitted.envelope), std::move(*message),
                            std::move(admitted.context), std::move(admitted.reply)});
    };
  }
  /// Acknowledges messages of `type` that were admitted, without looking into them further.
  void bind_news(envelope::MessageType type);
  /// Has `handler` serve the tool `name`.
  void bind_tool(std::string name, std::function<void(ToolCall)> handler);

  /// Handles what was held, and holds nothing from now on.
  void release();

  void on_message(transport::Inbound message, transport::ReplySlot slot) override;

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

  void on_batch(rpc::Decoded batch, const Arrival& arrival, transport::ReplySlot slot);
  void on_frame(rpc::Frame frame, const Arrival& arrival, transport::ReplySlot slot);
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
};

}  // namespace league::agent
