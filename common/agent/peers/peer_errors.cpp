#include "common/agent/peers/peer_errors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/agent/dialects/reply_dialect.h"
#include "common/core/text.h"
#include "common/rpc/codec.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::agent::peers {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

constexpr std::string_view kManager = "league_manager";
constexpr int kTooManyRequests = 429;

/// The length, in characters, of the excerpt of an invalid answer in an error text.
constexpr std::size_t kShownBody = 160;

std::string with_status(int http_status, const std::string& text) {
  return is_success(http_status) ? text : "HTTP " + std::to_string(http_status) + ": " + text;
}

/// The Location of an answer that redirects; empty for every other answer.
std::string redirect_target(const transport::link::CallOutcome& outcome) {
  const auto* http = outcome.context.transport.as_http();
  if (outcome.http_status / 100 != 3 || http == nullptr || !http->headers) return {};
  const auto location = rpc::find_header(*http->headers, "location");
  return location ? core::shown(*location, kShownBody) : std::string();
}

}  // namespace

bool is_success(int http_status) {
  return http_status == 0 || (http_status >= 200 && http_status < 300);
}

/// The peer has not been asked, or is ending: whatever the body says.
static bool is_gateway(int http_status) { return http_status >= 502 && http_status <= 504; }

Error peer_error(const rpc::ErrorObject& error, int http_status, const std::string& peer) {
  const bool is_ours =
      peer == kManager && error.code == static_cast<int>(rpc::StandardCode::kInternalError);
  const bool is_too_much = peer == kManager && http_status == kTooManyRequests;
  const std::string said = error.code == 0 ? std::string("an error: ")
                                           : "the error " + std::to_string(error.code) + ": ";
  return {is_ours                   ? ErrorCode::kInternalError
          : is_too_much             ? ErrorCode::kOverloaded
          : is_gateway(http_status) ? ErrorCode::kConnectionError
                                    : ErrorCode::kInvalidReply,
          with_status(http_status, "the peer answered with " + said +
                                       core::shown(error.message, core::kMostEchoed)),
          ""};
}

Error no_message(const transport::link::CallOutcome& outcome, const std::string& why) {
  const std::string body =
      outcome.bytes.empty() ? std::string() : core::shown(outcome.bytes, kShownBody);
  std::string text;
  if (auto target = redirect_target(outcome); !target.empty()) {
    text = with_status(
        outcome.http_status,
        "it redirects to " + target + ", and redirects are not followed: register that address");
  } else if (!is_success(outcome.http_status)) {
    text = with_status(outcome.http_status, body.empty() ? "(no body)" : body);
  } else {
    text = "HTTP " + std::to_string(outcome.http_status) + ": " + why;
    if (!body.empty()) text += "; it begins: " + body;
  }
  return {is_gateway(outcome.http_status) ? ErrorCode::kConnectionError : ErrorCode::kInvalidReply,
          std::move(text), ""};
}

Error league_error(const json& message, const std::string& peer) {
  auto text = [&message](const char* key) {
    return core::shown(schema::text_at(message, key), core::kMostEchoed);
  };
  const std::string said =
      text("error_code") + " " + text("error_name") + ": " + text("error_description");
  if (peer != kManager)
    return {ErrorCode::kInvalidReply, "the peer answered with LEAGUE_ERROR " + said, ""};
  return {core::parse_error_code(text("error_code")).value_or(ErrorCode::kInvalidReply), said, ""};
}

bool says_type(const json& message, envelope::MessageType type) {
  return schema::text_at(message, "message_type") == envelope::wire_name(type);
}

Result<json> tool_result(const transport::link::CallOutcome& outcome, const rpc::Id& id,
                         const std::string& peer, const std::string& tool) {
  if (outcome.error) return *outcome.error;
  auto document = schema::parse_json(outcome.bytes);
  if (!document) return no_message(outcome, document.error().message);
  const bool is_bare =
      document->is_object() && is_success(outcome.http_status) &&
      std::ranges::none_of(std::array{"jsonrpc", "result", "error"},
                           [&](const char* key) { return document->contains(key); });
  if (is_bare) return std::move(*document);
  auto decoded = rpc::decode_response(std::move(*document), id);
  if (!decoded) return no_message(outcome, decoded.error().message);
  auto& response = decoded->response;
  if (!response.error) response.error = dialects::failed_tool(response.result);
  if (response.error) {
    auto error = peer_error(*response.error, outcome.http_status, peer);
    // A wrapper that the text names is not ours, whatever the call was wrapped in: a referee that
    // is started by tools/call also quotes what players answer to such calls.
    if (dialects::says_no_such_method(*response.error, {dialects::CallStyle::kToolName, tool},
                                      true))
      error.code = ErrorCode::kUnknownMessageType;
    return error;
  }
  if (says_type(response.result, envelope::MessageType::kLeagueError))
    return league_error(response.result, peer);
  return std::move(response.result);
}

}  // namespace league::agent::peers
