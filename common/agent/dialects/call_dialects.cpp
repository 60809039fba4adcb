#include "common/agent/dialects/call_dialects.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "common/core/text.h"
#include "common/rpc/codec.h"

namespace league::agent::dialects {
namespace {

using envelope::MessageType;

constexpr std::string_view kHandleMessageMethod = "handle_message";
constexpr std::string_view kToolsCallMethod = "tools/call";
constexpr std::size_t kMostDialects = 10;

struct NamedStyle {
  CallStyle style;
  std::string_view name;
};
constexpr auto kStyles = std::to_array<NamedStyle>({
    {CallStyle::kToolName, "tool_name"},
    {CallStyle::kMessageType, "message_type"},
    {CallStyle::kLowerCaseType, "lower_case_type"},
    {CallStyle::kHandleMessage, "handle_message"},
    {CallStyle::kBareBody, "bare_body"},
    {CallStyle::kToolsCall, "tools_call"},
    {CallStyle::kMcp, "mcp"},
});

/// Further names under which bots have been seen to accept a message, besides those derived from
/// its type. We accept more names ourselves (common/envelope/message_type.cpp); each name in this
/// list costs one more call to a peer that knows none of them.
std::span<const std::string_view> seen_names(MessageType type) {
  static constexpr auto kInvitation =
      std::to_array<std::string_view>({"receive_game_invitation", "receive_invitation"});
  static constexpr auto kChoice =
      std::to_array<std::string_view>({"parity_choose", "receive_choose_parity_call"});
  static constexpr auto kGameOver = std::to_array<std::string_view>({"receive_game_over"});
  static constexpr auto kStandings = std::to_array<std::string_view>({"notify_standings"});
  switch (type) {
    case MessageType::kGameInvitation:
      return kInvitation;
    case MessageType::kChooseParityCall:
      return kChoice;
    case MessageType::kGameOver:
      return kGameOver;
    case MessageType::kLeagueStandingsUpdate:
      return kStandings;
    default:
      return {};
  }
}

/// The type's name in lower case.
std::string_view lower_case_name(MessageType type) {
  static const auto kNames = [] {
    std::map<MessageType, std::string> names;
    for (const auto& row : envelope::all_messages())
      names.emplace(row.type, core::lower_case(row.wire_name));
    return names;
  }();
  return kNames.at(type);
}

bool says(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_wrapper(CallStyle style) {
  return style == CallStyle::kHandleMessage || style == CallStyle::kToolsCall;
}

bool is_method(std::string_view name) {
  if (name == kToolsCallMethod || name == kHandleMessageMethod) return true;
  using enum envelope::Role;
  return std::ranges::any_of(std::array{kLeagueManager, kReferee, kPlayer}, [name](auto role) {
    return envelope::message_type_from_method(name, role).has_value();
  });
}

/// Whether `text`, in lower case, names a method of the protocol, but not that of `way`.
bool names_another_method(std::string_view text, const CallDialect& way) {
  constexpr auto kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_/";
  const auto is_named = [text](std::string_view name) { return text.find(name) != text.npos; };
  if (is_named(core::lower_case(way.name)) || (is_wrapper(way.style) && is_named(kToolsCallMethod)))
    return false;
  for (std::size_t at = 0; (at = text.find_first_of(kNameCharacters, at)) != text.npos;) {
    const auto end = std::min(text.find_first_not_of(kNameCharacters, at), text.size());
    if (is_method(text.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

}  // namespace

std::string_view call_style_name(CallStyle style) {
  return std::ranges::find(kStyles, style, &NamedStyle::style)->name;
}

std::optional<CallStyle> parse_call_style(std::string_view name) {
  const auto* found = std::ranges::find(kStyles, name, &NamedStyle::name);
  if (found == kStyles.end()) return std::nullopt;
  return found->style;
}

std::vector<CallDialect> call_dialects(MessageType type, CallStyle first) {
  const auto& row = envelope::spec(type);
  std::vector<CallDialect> dialects;
  dialects.reserve(kMostDialects);
  const auto add_tools = [&](CallStyle style) {
    dialects.push_back({style, row.method});
    for (auto name : seen_names(type)) dialects.push_back({style, name, true});
  };
  if (first == CallStyle::kMcp) {
    add_tools(CallStyle::kMcp);
    return dialects;
  }
  dialects.push_back({CallStyle::kToolName, row.method});
  dialects.push_back({CallStyle::kMessageType, row.wire_name});
  dialects.push_back({CallStyle::kLowerCaseType, lower_case_name(type)});
  for (auto name : seen_names(type)) dialects.push_back({CallStyle::kToolName, name, true});
  dialects.push_back({CallStyle::kHandleMessage, kHandleMessageMethod});
  dialects.push_back({CallStyle::kBareBody, row.method});
  add_tools(CallStyle::kToolsCall);
  if (first == CallStyle::kToolName) return dialects;
  std::stable_partition(dialects.begin(), dialects.end(), [first](const CallDialect& way) {
    return way.style == first && !way.is_alias;
  });
  return dialects;
}

std::string frame_call(const CallDialect& way, const rpc::Id& id, std::string_view message_bytes) {
  if (way.style == CallStyle::kBareBody) return std::string(message_bytes);
  if (way.style == CallStyle::kHandleMessage) {
    std::string params = R"({"message":)";
    params.append(message_bytes).append("}");
    return rpc::encode_request(id, kHandleMessageMethod, params);
  }
  if (way.style == CallStyle::kToolsCall || way.style == CallStyle::kMcp) {
    std::string params = R"({"arguments":)";
    params.append(message_bytes).append(R"(,"name":")").append(way.name).append("\"}");
    return rpc::encode_request(id, kToolsCallMethod, params);
  }
  return rpc::encode_request(id, way.name, message_bytes);
}

bool says_no_such_method(const rpc::ErrorObject& error, const CallDialect& way, bool is_search) {
  constexpr int kServerFault = -32000;
  if (error.code == static_cast<int>(rpc::StandardCode::kMethodNotFound)) return true;
  // To a peer that expects JSON-RPC, a bare body is no request.
  if (way.style == CallStyle::kBareBody &&
      (error.code == static_cast<int>(rpc::StandardCode::kInvalidRequest) ||
       error.code == static_cast<int>(rpc::StandardCode::kParseError)))
    return true;
  const bool is_used_for_it = error.code == static_cast<int>(rpc::StandardCode::kInvalidParams) ||
                              error.code == static_cast<int>(rpc::StandardCode::kInternalError) ||
                              error.code == kServerFault ||
                              error.code == 0;  // the error of a tool has no code
  if (!is_used_for_it) return false;
  // A peer that answers with a league error code has read the message.
  if (error.data.is_object() && error.data.contains("error_code")) return false;
  const std::string text = core::lower_case(error.message);
  const bool is_about_names = says(text, {"tool", "method", "message type", "message_type"});
  if (is_about_names && says(text, {"unknown", "not found", "no such", "unsupported",
                                    "not supported", "not implemented"}))
    return !names_another_method(text, way);
  return is_search && way.style != CallStyle::kHandleMessage &&
         says(text, {"missing required field"});
}

bool says_no_such_wrapper(const rpc::ErrorObject& error, const CallDialect& way) {
  return is_wrapper(way.style) &&
         error.code == static_cast<int>(rpc::StandardCode::kMethodNotFound) &&
         (way.style == CallStyle::kHandleMessage ||
          error.message.find(way.name) == std::string::npos);
}

}  // namespace league::agent::dialects
