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
#include "common/task/task.h"
#include "common/transport/link/caller.h"

namespace league::agent::peers {

/// One league message to one peer.
struct PeerCall {
  transport::link::Endpoint endpoint;
  std::string peer;  ///< `player:P01`, for the log
  envelope::MessageType type = envelope::MessageType::kLeagueQuery;
  std::shared_ptr<const std::string>
      message;  ///< the message as JSON text, complete with envelope and token
  std::string conversation_id;
  std::string match_id;
  std::chrono::milliseconds time_limit{10000};
  /// The call is one at a seat, which is told the time limit and answers when that is over: for
  /// this much longer it is waited for.
  std::optional<std::chrono::milliseconds> grace = std::nullopt;
  transport::link::Budget budget = transport::link::Budget::kControl;
  /// The message's ids, if it has them.
  std::optional<core::LeagueId> league_id = std::nullopt;
  std::optional<int> round_id = std::nullopt;
  /// To send the message together with others (call_together).
  std::shared_ptr<transport::caller::CallBatch> batch = nullptr;
  /// Fills in what an incomplete answer leaves out (protocol §9). An answer whose sender is not the
  /// one given here, or whose conversation, league or round differs from the call's, is refused in
  /// strict mode; in open mode it is accepted and noted as a leniency.
  envelope::NormaliseDefaults reply_defaults;
};

/// The call that sends a Message to a peer, made by call_with. `Message::Answer` is the type of its
/// answer; messages without it are only acknowledged.
template <typename Message>
struct MessageCall : PeerCall {};

/// Who is called.
struct Peer {
  transport::link::Endpoint endpoint;
  std::string name;  ///< `player:P01`: the sender of its answers, and its name in the log
};

/// The call that sends a message with this envelope to `to`: its text, its time limit, and the
/// values that its answer is checked against.
[[nodiscard]] PeerCall call_with(Peer to, const envelope::Envelope& envelope, std::string message,
                                 std::chrono::milliseconds time_limit);
template <typename Message>
[[nodiscard]] MessageCall<Message> call_with(Peer to, const envelope::Envelope& envelope,
                                             const Message& message,
                                             std::chrono::milliseconds time_limit) {
  return {call_with(std::move(to), envelope, envelope::encode_text(envelope, message), time_limit)};
}

/// A call of a tool that does not carry a league message.
struct PeerToolCall {
  transport::link::Endpoint endpoint;
  std::string peer;  ///< `league_manager`, for the log
  std::string tool;
  std::string arguments;  ///< JSON text of an object
  dialects::CallStyle style = dialects::CallStyle::kToolName;  ///< or kToolsCall, kBareBody
  std::string conversation_id = {};  ///< that `arguments` name, for the log
  std::string match_id = {};  ///< as conversation_id
  std::chrono::milliseconds time_limit{10000};
  transport::link::Budget budget = transport::link::Budget::kControl;
  /// The call only finds out whether the peer has the tool; if it has none, the log records no
  /// fault.
  bool is_search = false;
};

/// How a call ended.
struct PeerReply {
  /// kTimeout, kConnectionError: no answer. kInvalidReply or a validation code: an invalid answer.
  /// Otherwise the code of a LEAGUE_ERROR or of the peer's JSON-RPC error, if it names one.
  std::optional<core::Error> error = std::nullopt;
  /// A valid answer, if the call is answered with a message.
  std::optional<envelope::Received<envelope::AnswerMessage>> answer = std::nullopt;
  nlohmann::json acknowledgement = nullptr;  ///< what came if any answer will do; may be null
  /// Set together with an error: the peer has only confirmed receipt, so its answer may still
  /// arrive as a separate call. In open mode only.
  bool is_receipt = false;
  /// The peer has no method for this message under any name. Notifications still count as
  /// acknowledged.
  bool has_no_method = false;
  int http_status = 0;  ///< 0 where there is none
  std::chrono::nanoseconds elapsed{};
  /// When the request was passed to the system; nothing if it was not, or if that is unknown.
  std::optional<core::Clock::Steady> sent_at = std::nullopt;
  /// Of a seat that says that its player has not answered: how long it kept the call by itself.
  std::optional<std::chrono::microseconds> seat_delay = std::nullopt;
  /// Notes of the answer, for the log: a completion may add a verdict (a wrong token) before it
  /// writes the record or returns.
  std::shared_ptr<rpc::MessageNotes> notes = nullptr;
  /// Writes the answer into the log before the completion acts on it (CallOutcome::record); nothing
  /// if this client has not received it.
  std::function<void()> record = nullptr;

  void write_record() const {
    if (record) record();
  }
};

/// How to reach peers that are plain MCP servers: by calls through negotiated sessions
/// (common/mcp/client). Empty if that is not possible.
struct PlainMcp {
  transport::link::Caller* caller = nullptr;
  /// True when the last negotiation with this peer showed that it is no MCP server.
  std::function<bool(const transport::link::Endpoint&)> is_refused = nullptr;
};

/// Sends league messages and understands the answers of bots in the wild. Finds out how each peer
/// wants to be called with each type of message, and remembers it (DialectCache). Thread-safe.
/// Completions run on the caller's threads, must be short, and run exactly once.
class PeerClient {
 public:
  using Completion = std::function<void(PeerReply)>;

  /// All references must outlive the client and its last completion.
  PeerClient(transport::link::Caller& caller, const envelope::MessageSchemas& schemas,
             const core::Clock& clock, envelope::Mode mode, PlainMcp plain_mcp = {});

  void call(PeerCall call, Completion completion);
  /// As above, for a task, which goes on on its executor.
  [[nodiscard]] task::Task<PeerReply> call(PeerCall call);
  /// Calls one peer, which takes batches, with several messages: in one batch if it is called by
  /// JSON-RPC over HTTP, otherwise one after the other. The replies, in the same order.
  [[nodiscard]] task::Task<std::vector<PeerReply>> call_together(std::vector<PeerCall> calls);
  /// As above. `completion` also gets the decoded answer, or null if there was an error.
  template <typename Message>
  void call(MessageCall<Message> call,
            std::function<void(const PeerReply&, const typename Message::Answer*)> completion) {
    this->call(
        PeerCall(std::move(call)), [completion = std::move(completion)](const PeerReply& reply) {
          using Answer = typename Message::Answer;
          completion(reply, reply.error ? nullptr : &std::get<Answer>(reply.answer->message));
        });
  }
  /// How `call` would end if `outcome` were the answer to its request with this id, and no other
  /// way of calling were left to try. Nothing is remembered of it.
  [[nodiscard]] PeerReply judge(PeerCall call, const rpc::Id& id,
                                transport::link::CallOutcome outcome) const;
  /// Calls `ping`; any HTTP answer means that the peer is alive (protocol §6).
  void ping(transport::link::Endpoint endpoint, const std::string& peer,
            std::chrono::milliseconds time_limit, std::function<void(bool alive)> completion);

  /// Calls a tool by name. The completion gets the tool's answer, or the errors of PeerReply, or
  /// kUnknownMessageType if the peer has no such tool.
  void call_tool(PeerToolCall call, std::function<void(core::Result<nlohmann::json>)> completion);
  /// As above, for a task.
  [[nodiscard]] task::Task<core::Result<nlohmann::json>> call_tool(PeerToolCall call);

  /// Whether deviations of bots in the wild are tolerated (protocol §9).
  [[nodiscard]] envelope::Mode mode() const { return mode_; }
  /// The style of calling that worked last, otherwise the style to try first.
  [[nodiscard]] dialects::CallStyle style_of(const transport::link::Endpoint& endpoint) const;
  /// The peer has registered, perhaps as another program, and used `style`: forgets which dialects
  /// it did not know. The style kToolName is not stored, because a registration that somebody else
  /// sent for the peer may use it too.
  void on_registered(const transport::link::Endpoint& endpoint, dialects::CallStyle style);
  /// Stores the style in which others call the peer.
  void remember_style(const transport::link::Endpoint& endpoint, dialects::CallStyle style);

 private:
  struct Pending;
  task::Task<std::vector<PeerReply>> call_as_batch(std::vector<PeerCall> calls);
  void send(const std::shared_ptr<Pending>& pending);
  /// Adds the header that names the trace to an HTTP call.
  void trace(transport::link::OutboundCall& out, std::string_view message,
             std::string_view conversation_id);
  void on_outcome(const std::shared_ptr<Pending>& pending, transport::link::CallOutcome outcome);
  [[nodiscard]] transport::link::Caller& caller_for(dialects::CallStyle style) const;
  [[nodiscard]] dialects::CallStyle first_style(const transport::link::Endpoint& endpoint) const;
  [[nodiscard]] bool may_be_plain(const transport::link::Endpoint& endpoint) const;
  void note_silence(const Pending& pending, const core::Error& why);
  /// True when the call goes out again in another style.
  bool tries_another_way(Pending& pending, transport::link::CallOutcome& outcome,
                         const core::Result<dialects::IncomingReply>* reply, bool has_no_method);
  /// The reply, or nothing when the call goes out again in another style.
  std::optional<PeerReply> understand(Pending& pending, transport::link::CallOutcome& outcome);
  /// The reply, if the answer is exactly as the protocol has it: nothing to search, to unwrap or to
  /// normalise. Nothing for every other answer.
  std::optional<PeerReply> exact_answer(const Pending& pending,
                                        const transport::link::CallOutcome& outcome,
                                        schema::JsonNode document);
  PeerReply acknowledged(Pending& pending, transport::link::CallOutcome& outcome,
                         core::Result<dialects::IncomingReply>& reply, bool has_no_method);
  core::Result<PeerReply> admit_reply(Pending& pending, dialects::IncomingReply reply,
                                      const transport::link::CallOutcome& outcome);

  transport::link::Caller& caller_;
  const envelope::MessageSchemas& schemas_;
  const core::Clock& clock_;
  const envelope::Mode mode_;
  const PlainMcp plain_mcp_;
  std::atomic<std::int64_t> next_id_{1};
  std::atomic<std::uint64_t> next_span_{0};
  dialects::DialectCache known_;
};

}  // namespace league::agent::peers
