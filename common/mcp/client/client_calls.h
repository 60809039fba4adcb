#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/mcp/client/client_session.h"

namespace league::mcp::client {

/// Limits for listing tools, whatever a server sends.
struct ListLimits {
  std::size_t max_pages = 100;
  std::size_t max_items = 10'000;
};

/// All tools of a server (`tools/list`, page after page), as the server describes them. Fails with
/// the request's error, kInvalidReply for an error of the server, or kReplyTooLarge. The session
/// outlives the task.
[[nodiscard]] task::Task<core::Result<std::vector<nlohmann::json>>> list_tools(
    ClientSession* session, core::Clock::Steady deadline, ListLimits limits = {});

/// One call of a tool.
struct ToolCall {
  std::string name;
  std::string arguments = {};  ///< the text of a JSON object; empty: none
  core::Clock::Steady deadline = core::Clock::Steady::max();
  std::function<void(const nlohmann::json&)> on_progress = nullptr;
  /// Answers a question of the tool (2026-07-28, `inputRequests`). If it returns nothing, the call
  /// fails as SessionAnswer::is_unfinished. Must be short.
  std::function<std::optional<nlohmann::json>(const std::string& method,
                                              const nlohmann::json& params)>
      answer_question = nullptr;
};

/// Calls a tool and repeats the call with answers as often as the tool asks, up to a limit. The
/// answer's result may say `isError`. The session outlives the task.
[[nodiscard]] task::Task<SessionAnswer> call_tool(ClientSession* session, ToolCall call);

/// A server's error as an Error of ours, with its code and the beginning of its text.
[[nodiscard]] core::Error server_error(const rpc::ErrorObject& error);

}  // namespace league::mcp::client
