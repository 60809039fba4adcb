#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "common/agent/dialects/dialect_cache.h"
#include "common/agent/dialects/reply_dialect.h"
#include "common/core/clock.h"
#include "common/envelope/envelope.h"
#include "common/envelope/leniency.h"
#include "common/envelope/mode.h"
#include "common/envelope/read_message.h"
#include "common/transport/link/caller.h"

namespace league::agent {

/// One league message to one peer.
struct PeerCall {
  transport::Endpoint endpoint;
  std::string peer;  ///< `player:P01`, for the log
  envelope::MessageType type = envelope::MessageType::kLeagueQuery;
  std::shared_ptr<const std::string>
      message;  ///< the message as JSON text, complete with envelope and token
  std::string conversation_id;
  std::string match_id;
  std::chrono::milliseconds time_limit{10000};
  transport::Budget budget = transport::Budget::kControl;
  /// Of the message, where it names them.
  std::optional<core::LeagueId> league_id = std::nullopt;
  std::optional<int> round_id = std::nullopt;
  /// Fills the holes of an incomplete answer (protocol §9). An answer with another sender than this
  /// one, or with another conversation, league or round than the call's, is refused in strict mode
  /// and a noted leniency in open mode.
  envelope::NormaliseDefaults reply_defaults;
};

/// The call of a peer with a Message, made by call_with. `Message::Answer` is what it is answered
/// with; messages without it are only acknowledged.
template <typename Message>
struct MessageCall : PeerCall {};

/// Who is called.
struct Peer {
  transport::Endpoint endpoint;
  std::string name;  ///< `player:P01`: the sender of its answers, and its name in the log
};

/// The call that brings `to` a message with this envelope: its text, its time limit, and what its
/// answer is held against.
[[nodiscard]] PeerCall call_with(Peer to, const envelope::Envelope& envelope, std::string message,
                                 std::chrono::milliseconds time_limit);
template <typename Message>
[[nodiscard]] MessageCall<Message> call_with(Peer to, const envelope::Envelope& envelope,
                                             const Message& message,
                                             std::chrono::milliseconds time_limit) {
  return {call_with(std::move(to), envelope, envelope::encode_text(envelope, message), time_limit)};
}

/// A call of a tool that is no league message.
struct PeerToolCall {
  transport::Endpoint endpoint;
  std::string peer;  ///< `league_manager`, for the log
  std::string tool;
  std::string arguments;  ///< JSON text of an object
  std::string conversation_id = {};  ///< that `arguments` name, for the log
  std::string match_id = {};  ///< as conversation_id
  std::chrono::milliseconds time_limit{10000};
  transport::Budget budget = transport::Budget::kControl;
  /// We only look whether the peer has that tool: that it has none is no fault in the log.
  bool is_search = false;
};

/// How a call ended.
struct PeerReply {
  /// kTimeout, kConnectionError: no answer. kInvalidReply or a validation code: an answer that is
  /// none. The code of a LEAGUE_ERROR or of the peer's JSON-RPC error where it names one.
  std::optional<core::Error> error = std::nullopt;
  /// A good answer, where the call is answered with a message.
  std::optional<envelope::Received<envelope::AnswerMessage>> answer = std::nullopt;
  nlohmann::json acknowledgement = nullptr;  ///< what came where any answer will do; may be null
  /// Beside an error: the peer has only said that it got the call, so its answer may still come as
  /// a call of its own. In open mode only.
  bool is_receipt = false;
  /// The peer knows no method for this message, however it is called. News are acknowledged so.
  bool has_no_method = false;
  std::chrono::nanoseconds elapsed{};
  /// When the request was with the system; nothing before, or where that is unknown.
  std::optional<core::Clock::Steady> sent_at = std::nullopt;
  /// Of the answer, for the log: a completion may add a verdict (a wrong token) before it returns.
  std::shared_ptr<rpc::MessageNotes> notes = nullptr;
};

/// The way to peers that are plain MCP servers: calls through negotiated sessions
/// (common/mcp/client). Empty where there is none.
struct PlainMcp {
  transport::Caller* caller = nullptr;
  /// True when the last negotiation with this peer showed that it is no MCP server.
  std::function<bool(const transport::Endpoint&)> is_refused = nullptr;
};

/// Sends league messages and understands the answers of bots in the wild. Finds out how each peer
/// wants to be called with each type of message, and remembers it (DialectCache). Thread-safe.
/// Completions run on threads of the caller, must be short, and run exactly once.
class PeerClient {
 public:
  using Completion = std::function<void(PeerReply)>;

  /// All must outlive the client and its last completion.
  PeerClient(transport::Caller& caller, const envelope::MessageSchemas& schemas,
             const core::Clock& clock, envelope::Mode mode, PlainMcp plain_mcp = {});

  void call(PeerCall call, Completion completion);
  /// As above. `completion` also gets the answer, or null beside an error.
  template <typename Message>
  void call(MessageCall<Message> call,
            std::function<void(const PeerReply&, const typename Message::Answer*)> completion) {
    this->call(
        PeerCall(std::move(call)), [completion = std::move(completion)](const PeerReply& reply) {
          using Answer = typename Message::Answer;
          completion(reply, reply.error ? nullptr : &std::get<Answer>(reply.answer->message));
        });
  }
  /// Calls `ping`; any HTTP answer means that the peer is alive (protocol §6).
  void ping(transport::Endpoint endpoint, const std::string& peer,
            std::chrono::milliseconds time_limit, std::function<void(bool alive)> completion);

  /// Calls a tool by its name. The completion gets what it answered: errors as those of PeerReply,
  /// and kUnknownMessageType where the peer has no such tool.
  void call_tool(PeerToolCall call, std::function<void(core::Result<nlohmann::json>)> completion);

  /// Whether what bots in the wild do is overlooked (protocol §9).
  [[nodiscard]] envelope::Mode mode() const { return mode_; }
  /// The style of calling that worked last, or the first to try.
  [[nodiscard]] CallStyle style_of(const transport::Endpoint& endpoint) const;
  /// The peer has registered, perhaps as another program, and spoke in `style`: what it did not
  /// know is asked for anew. A tool's name says nothing, since everybody can say one for somebody
  /// else.
  void on_registered(const transport::Endpoint& endpoint, CallStyle style);
  /// The style in which the peer is called by others.
  void remember_style(const transport::Endpoint& endpoint, CallStyle style);

 private:
  struct Pending;
  void send(const std::shared_ptr<Pending>& pending);
  /// Says in the headers of an HTTP call to which trace it belongs.
  void trace(transport::OutboundCall& out, std::string_view message,
             std::string_view conversation_id);
  void on_outcome(const std::shared_ptr<Pending>& pending, transport::CallOutcome outcome);
  [[nodiscard]] transport::Caller& caller_for(CallStyle style) const;
  [[nodiscard]] CallStyle first_style(const transport::Endpoint& endpoint) const;
  [[nodiscard]] bool may_be_plain(const transport::Endpoint& endpoint) const;
  void note_silence(const Pending& pending, const core::Error& why);
  /// True when the call goes out again in another style.
  bool tries_another_way(Pending& pending, transport::CallOutcome& outcome,
                         const core::Result<IncomingReply>* reply);
  /// The reply, or nothing when the call goes out again in another style.
  std::optional<PeerReply> understand(Pending& pending, transport::CallOutcome& outcome);
  PeerReply acknowledged(Pending& pending, transport::CallOutcome& outcome,
                         core::Result<IncomingReply>& reply, bool has_no_method);
  core::Result<PeerReply> admit_reply(Pending& pending, IncomingReply reply, int http_status,
                                      rpc::MessageNotes& notes);

  transport::Caller& caller_;
  const envelope::MessageSchemas& schemas_;
  const core::Clock& clock_;
  const envelope::Mode mode_;
  const PlainMcp plain_mcp_;
  std::atomic<std::int64_t> next_id_{1};
  std::atomic<std::uint64_t> next_span_{0};
  DialectCache known_;
};

}  // namespace league::agent
