#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/rpc/message.h"
#include "common/transport/link/caller.h"

/// Errors for invalid answers, for our log and the operator. All functions are pure and
/// thread-safe.
namespace league::agent::peers {

/// True for 2xx, and for transports without a status.
[[nodiscard]] bool is_success(int http_status);

/// The error for a peer's JSON-RPC error. Codes that the peer puts into `data` have no effect: a
/// bot that claims a time-out does not get a second attempt for it. Only an internal fault of the
/// manager becomes a code for a fault on our side (E090), so that the report is sent again.
[[nodiscard]] core::Error peer_error(const rpc::ErrorObject& error, int http_status,
                                     const std::string& peer);

/// The error for an answer that is no league message: a gateway's status counts as a connection
/// error, everything else as a fault of the peer. For an HTTP error the text is `HTTP 422:` and the
/// beginning of the body; otherwise it also contains `why`.
[[nodiscard]] core::Error no_message(const transport::link::CallOutcome& outcome,
                                     const std::string& why);

/// The error inside a LEAGUE_ERROR that came instead of the expected answer. The code that a bot
/// gives there has no effect either.
[[nodiscard]] core::Error league_error(const nlohmann::json& message, const std::string& peer);

[[nodiscard]] bool says_type(const nlohmann::json& message, envelope::MessageType type);

/// A tool's answer, or the error; kUnknownMessageType: the peer has no such tool.
[[nodiscard]] core::Result<nlohmann::json> tool_result(const transport::link::CallOutcome& outcome,
                                                       const rpc::Id& id, const std::string& peer,
                                                       const std::string& tool);

}  // namespace league::agent::peers
