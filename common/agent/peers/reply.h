#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/agent/dialects/request_dialect.h"
#include "common/core/ids.h"
#include "common/core/result.h"
#include "common/transport/link/message_handler.h"

namespace league::agent::peers {

/// Builds an agent's refusal of an invalid league message. The league manager builds a
/// LEAGUE_ERROR, which becomes the result; the other roles have no builder and answer with the
/// JSON-RPC error -32602 (protocol §5). `request`: the notes of the refused message.
using LeagueErrorBuilder =
    std::function<nlohmann::json(const core::Error& error, const rpc::MessageNotes& request,
                                 const core::ConversationId& conversation)>;

/// Answers one request exactly once, in the shape of the request. Movable; can be kept and used
/// later from another thread. If it is destroyed unanswered, it answers with an internal error.
class Reply {
 public:
  struct Target {
    rpc::Id id;
    bool wants_reply = true;
    dialects::ReplyShape shape = dialects::ReplyShape::kResult;
    std::shared_ptr<rpc::MessageNotes> request;  ///< notes of the request
    std::string_view result_tail = {};  ///< of tool results (mcp::Responder); outlives the reply
  };

  /// `league_error` may be null and must outlive the reply.
  Reply(transport::link::ReplySlot slot, Target target, const LeagueErrorBuilder* league_error)
      : slot_(std::move(slot)), target_(std::move(target)), league_error_(league_error) {}

  /// Answers with a league message or any other object. `after_sent` runs when the bytes were sent.
  void send(const nlohmann::json& result, std::function<void()> after_sent = {});
  /// Answers a call that expects no message: `{"status": "ok"}` with the members of `more`.
  void acknowledge(std::function<void()> after_sent = {});
  /// Answers with these bytes instead of a frame; only for test agents that misbehave on purpose.
  void send_raw(std::string bytes);
  /// Refuses the message, and writes the verdict into the notes of the request.
  void refuse(const core::Error& error);
  /// Refuses the request with a JSON-RPC error.
  void refuse_rpc(rpc::StandardCode code, const core::Error& error, int http_status);

 private:
  /// `is_error` becomes the `isError` of a tool result.
  void send_result(const nlohmann::json& result, bool is_error, std::function<void()> after_sent);
  void send_bytes(std::string bytes, int http_status, std::function<void()> after_sent);
  [[nodiscard]] std::shared_ptr<rpc::MessageNotes> reply_notes(const nlohmann::json& message) const;

  transport::link::ReplySlot slot_;
  Target target_;
  const LeagueErrorBuilder* league_error_;
  std::shared_ptr<rpc::MessageNotes> notes_;
};

}  // namespace league::agent::peers
