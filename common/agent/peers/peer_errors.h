#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/rpc/message.h"
#include "common/transport/link/caller.h"

/// What our log and operator read of an answer that is none. All are pure and thread-safe.
namespace league::agent {

/// True for 2xx, and where there is no status.
[[nodiscard]] bool is_success(int http_status);

/// A peer's JSON-RPC error. The codes that it writes into `data` are its own words and decide
/// nothing here: a bot that claims a time-out does not get a second attempt for it. Only the
/// manager's own fault is one on our side (E090): it passes, and a report is sent again.
[[nodiscard]] core::Error peer_error(const rpc::ErrorObject& error, int http_status,
                                     const std::string& peer);

/// An answer that is no league message: a gateway's status is trouble of the connection, everything
/// else is the peer's. Of an HTTP error the text is `HTTP 422:` and the beginning of the body, of
/// anything else `why` as well.
[[nodiscard]] core::Error no_message(const transport::CallOutcome& outcome, const std::string& why);

/// The error inside a LEAGUE_ERROR that came in place of the expected answer. What a bot calls its
/// fault decides nothing either.
[[nodiscard]] core::Error league_error(const nlohmann::json& message, const std::string& peer);

[[nodiscard]] bool says_type(const nlohmann::json& message, envelope::MessageType type);

/// What a tool answered, or why it did not; kUnknownMessageType: the peer has no such tool.
[[nodiscard]] core::Result<nlohmann::json> tool_result(const transport::CallOutcome& outcome,
                                                       const rpc::Id& id, const std::string& peer,
                                                       const std::string& tool);

}  // namespace league::agent
