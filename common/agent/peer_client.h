#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/agent/reply_dialect.h"
#include "common/core/clock.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_schemas.h"
#include "common/envelope/mode.h"
#include "common/transport/caller.h"

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
  /// Fills the holes of an incomplete answer (protocol §9). An answer with another sender than
  /// this one is refused in strict mode and a noted leniency in open mode.
  envelope::NormaliseDefaults reply_defaults;
};

/// A call of a tool that is no league message.
struct PeerToolCall {
  transport::Endpoint endpoint;
  std::string peer;  ///< `league_manager`, for the log
  std::string tool;
  std::string arguments;  ///< JSON text of an object
  std::chrono::milliseconds time_limit{10000};
  transport::Budget budget = transport::Budget::kControl;
};

/// How a call ended.
struct PeerReply {
  /// kTimeout, kConnectionError: no answer. kInvalidReply or a validation code: an answer that is
  /// none. The code of a LEAGUE_ERROR or of the peer's JSON-RPC error where it names one.
  std::optional<core::Error> error = std::nullopt;
  nlohmann::json message = nullptr;  ///< exact and valid; null after a plain acknowledgement
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

/// Sends league messages and understands the answers of bots in the wild. Remembers per peer which
/// way of calling worked. Thread-safe. Completions run on threads of the caller, must be short, and
/// run exactly once.
class PeerClient {
 public:
  using Completion = std::function<void(PeerReply)>;

  /// All must outlive the client and its last completion.
  PeerClient(transport::Caller& caller, const envelope::MessageSchemas& schemas,
             const core::Clock& clock, envelope::Mode mode, PlainMcp plain_mcp = {});

  void call(PeerCall call, Completion completion);
  /// Calls `ping`; any HTTP answer means that the peer is alive (protocol §6).
  void ping(transport::Endpoint endpoint, const std::string& peer,
            std::chrono::milliseconds time_limit, std::function<void(bool alive)> completion);

  /// Calls a tool of one of our own programs by its name. The completion gets what it answered:
  /// errors as those of PeerReply.
  void call_tool(PeerToolCall call, std::function<void(core::Result<nlohmann::json>)> completion);

  /// The way of calling that worked last, or the first to try.
  [[nodiscard]] CallStyle style_of(const transport::Endpoint& endpoint) const;
  void remember_style(const transport::Endpoint& endpoint, CallStyle style);

 private:
  struct Pending;
  void send(const std::shared_ptr<Pending>& pending);
  void on_outcome(const std::shared_ptr<Pending>& pending, transport::CallOutcome outcome);
  [[nodiscard]] transport::Caller& caller_for(CallStyle style) const;
  [[nodiscard]] CallStyle first_style(const transport::Endpoint& endpoint) const;
  void prove_style(const transport::Endpoint& endpoint, CallStyle style);
  [[nodiscard]] bool is_proven(const transport::Endpoint& endpoint) const;
  [[nodiscard]] bool may_be_plain(const transport::Endpoint& endpoint) const;
  void note_silence(const Pending& pending, const core::Error& why);
  /// True when the call goes out again in another style.
  bool tries_another_way(Pending& pending, transport::CallOutcome& outcome,
                         const core::Result<IncomingReply>* reply);
  /// The reply, or nothing when the call goes out again in another style.
  std::optional<PeerReply> understand(Pending& pending, transport::CallOutcome& outcome);
  PeerReply acknowledged(Pending& pending, transport::CallOutcome& outcome,
                         core::Result<IncomingReply>& reply, bool not_found);
  core::Result<nlohmann::json> admit_reply(Pending& pending, IncomingReply reply, int http_status,
                                           rpc::MessageNotes& notes);

  transport::Caller& caller_;
  const envelope::MessageSchemas& schemas_;
  const core::Clock& clock_;
  const envelope::Mode mode_;
  const PlainMcp plain_mcp_;
  std::atomic<std::int64_t> next_id_{1};
  mutable std::mutex mutex_;
  struct KnownStyle {
    CallStyle style = CallStyle::kToolName;
    bool is_proven = false;  ///< a call of ours was answered
  };
  std::unordered_map<std::string, KnownStyle> styles_;
};

}  // namespace league::agent
