#include "tools/audit/inspect/audit_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

/// The first of `keys` that is an object inside `outer`.
const json* object_at(const json& outer, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    auto found = outer.find(key);
    if (found != outer.end() && found->is_object()) return &*found;
  }
  return nullptr;
}

json error_of(const json& error) {
  json data = field_at(error, "data");
  if (!data.is_object()) data = json::object();
  if (!data.contains("error_name") && error.contains("message")) data["reason"] = error["message"];
  if (!data.contains("error_code") && error.contains("code")) data["error_code"] = error["code"];
  return data;
}

json text_content(const json& payload) {
  auto content = payload.find("content");
  if (content == payload.end() || !content->is_array() || content->empty()) return nullptr;
  const json& first = content->front();
  return json::parse(text_at(first, "text"), nullptr, false);
}

struct LocatedMessage {
  json message;
  std::string way;
};

LocatedMessage inside(const json& payload, const std::string& outer) {
  for (const char* key : {"message", "arguments", "response", "structuredContent"}) {
    if (const json* inner = object_at(payload, {key})) return {*inner, outer + "." + key};
  }
  if (json text = text_content(payload); text.is_object())
    return {std::move(text), outer + ".content[0].text"};
  return {payload, outer};
}

LocatedMessage locate(const std::string& raw) {
  json frame = json::parse(raw, nullptr, false);
  if (!frame.is_object()) return {nullptr, "no JSON object"};
  if (const json* error = object_at(frame, {"error"})) {
    auto code = error->find("code");
    bool has_code = code != error->end() && code->is_number_integer();
    return {error_of(*error), has_code ? "error " + code->dump() : "error"};
  }
  if (const json* result = object_at(frame, {"result"})) return inside(*result, "result");
  const json* params = object_at(frame, {"params"});
  if (params == nullptr) return {frame, "bare body"};
  auto found = inside(*params, "params");
  std::string method = text_at(frame, "method");
  if (method == "tools/call") method += " " + text_at(*params, "name");
  if (method.empty()) method = "no method";
  found.way = found.way == "params" ? method : method + ", " + found.way;
  return found;
}

constexpr std::size_t kSummaryLength = 100;

/// The fields that are shown in a summary of a message, in this order.
constexpr std::array<const char*, 17> kTelling{
    "status",        "reason",        "referee_id", "player_id",     "accept",      "accepted",
    "parity_choice", "choice",        "deadline",   "role_in_match", "opponent_id", "query_type",
    "success",       "next_round_id", "error_code", "error_name",    "consequence"};

std::string scalar(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void add(std::string& out, std::string_view key, const json& value) {
  if (value.is_null() || value.is_structured()) return;
  if (!out.empty()) out += ' ';
  out.append(key).append("=").append(printable(scalar(value), 60));
}

/// Adds the fields that are nested in GAME_OVER and MATCH_RESULT_REPORT, and the number of
/// `matches`.
void add_result(std::string& out, const json& message) {
  for (const char* key : {"game_result", "result"}) {
    for (const char* field : {"status", "winner_player_id", "winner", "drawn_number", "reason"})
      add(out, field, field_at(field_at(message, key), field));
  }
  if (const json& matches = field_at(message, "matches"); matches.is_array()) {
    if (!out.empty()) out += ' ';
    out.append(std::to_string(matches.size())).append(" matches");
  }
}

constexpr auto kLeniencies = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"method_message_type",
     "the method was the message type; the method is the tool's name, e.g. choose_parity"},
    {"method_lower_case_type",
     "the method was the message type in lower case; use the tool's name"},
    {"method_alias", "another name for the method; use the tool's name from the protocol"},
    {"method_generic", "a general method such as mcp_message; use the tool's name"},
    {"method_tools_call", "MCP tools/call; the tool's name as the method is shorter"},
    {"method_unknown_routed", "the method is unknown; the message was routed by its message_type"},
    {"params_message", "the message was in params.message; put its fields into params"},
    {"params_arguments", "the message was in params.arguments; put its fields into params"},
    {"bare_request_body",
     "no JSON-RPC frame; send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":...,\"params\":{...}}"},
    {"result_response", "the reply was in result.response; put its fields into result"},
    {"result_structured_content",
     "the reply was in result.structuredContent; put its fields into result"},
    {"result_content_text",
     "the reply was text in result.content[0].text; put its fields into result"},
    {"reply_as_request",
     "the reply was a JSON-RPC request; answer with {\"jsonrpc\",\"id\",\"result\"}"},
    {"bare_reply_body",
     "the reply had no JSON-RPC frame; answer with {\"jsonrpc\",\"id\",\"result\"}"},
    {"null_error_beside_result", "\"error\": null beside a result; leave error out"},
    {"null_result_beside_error", "\"result\": null beside an error; leave result out"},
    {"id_not_echoed", "the reply had no id; repeat the id of the request"},
    {"id_type_changed", "the id came back with another type; repeat it as it was"},
    {"foreign_id", "the reply had another id; repeat the id of the request"},
    {"reply_with_error_status", "a good reply with an HTTP error status; answer with 200"},
    {"ack_method_not_found", "-32601 to a notification; answer with any result"},
    {"ack_without_json",
     "the acknowledgement was not JSON-RPC; answer with {\"jsonrpc\",\"id\",\"result\"}"},
    {"choice_field", "choice instead of parity_choice"},
    {"accepted_field", "accepted instead of accept"},
    {"status_for_accept", "status ACCEPTED instead of accept: true"},
    {"status_ack", "status ACK or OK instead of accept: true"},
    {"bare_acknowledgement",
     "status ACK or OK without match_id; answer with GAME_JOIN_ACK and accept: true"},
    {"status_registered", "status REGISTERED instead of ACCEPTED"},
    {"played_field", "games_played or matches_played instead of played"},
    {"null_optional_field", "an optional field was null; leave it out"},
    {"empty_optional_field", "an optional field was empty; leave it out"},
    {"round_id_text", "round_id was a string; send an integer"},
    {"sender_manager_with_id", "the manager's sender is league_manager, without an id"},
    {"sender_plural_role", "players:ID instead of player:ID"},
    {"sender_unregistered", "UNREGISTERED as the id; send any temporary name"},
    {"missing_protocol", "no protocol field; send \"protocol\": \"league.v2\""},
    {"missing_message_type", "no message_type; send one in every message"},
    {"missing_sender", "no sender; send player:YOUR_ID"},
    {"missing_timestamp", "no timestamp; send UTC such as 2025-01-15T10:30:00Z"},
    {"missing_conversation_id", "no conversation_id; repeat the one of the request"},
    {"missing_league_id", "no league_id"},
    {"missing_player_id", "no player_id"},
    {"missing_match_id", "no match_id; repeat the one of the request"},
    {"missing_arrival_timestamp",
     "no arrival_timestamp; send the UTC time at which the invitation came"},
    {"missing_version", "no version in the registration; send one such as 1.0.0"},
    {"protocol_version_text", "protocol_version was league.v2; send a version such as 2.1.0"},
    {"report_form", "the result in another shape; send winner, score and details"},
    {"drawn_number_zero", "drawn_number was 0; where nothing was drawn it is null"},
    {"draw_score_zero", "a draw with 0 points; each player gets 1"},
    {"timestamp_zone_twice", "a timestamp with a zone and a Z; write 2025-01-15T10:30:00Z"},
    {"role_in_match_case", "role_in_match was in lower case; it is PLAYER_A or PLAYER_B"},
    {"missing_rank", "rows of the standings without rank; send it in each row"},
    {"missing_draws", "rows of the standings without draws; send it in each row"},
    {"accepted_without_token", "a registration was accepted without an auth_token"},
    {"foreign_conversation_id",
     "the answer was in another conversation; repeat the one of the request"},
    {"foreign_league_id", "another league_id; repeat the one of the request"},
    {"foreign_round_id", "another round_id; repeat the one of the request"},
    {"missing_call_token", "a call without auth_token, which a guest cannot check anyway"},
    {"foreign_call_token",
     "a call with a token that was not checked, because a guest or a standalone player cannot"},
    {"foreign_referee_token", "the token of a third-party referee, as the announcement names it"},
    {"commitment_ignored",
     "a choice_commitment where no draw_commitment was announced; it binds nobody"},
    {"nonce_ignored",
     "a choice_nonce without a commitment that counts; it is not part of the draw"},
    {"missing_reply_token", "no auth_token in the reply; send the token of your registration"},
    {"foreign_reply_token", "an auth_token that is not yours; send the token of your registration"},
    {"foreign_reply_sender", "another agent's name as sender; send player:YOUR_ID"},
    {"foreign_reply_player",
     "another player_id; send the one from the answer to your registration"},
    {"answer_posted_back", "the answer came as a call of its own; put it into the reply"},
});

}  // namespace

std::string Paint::in(std::string_view code, std::string_view text) const {
  if (!colour_) return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out;
}

std::string time_of_day(core::UtcTimestamp time) {
  std::string text = time.to_log();
  return text.substr(11, 15);
}

std::string duration_text(std::int64_t microseconds) {
  char text[32];
  auto value = static_cast<double>(microseconds);
  if (microseconds < 1000) {
    std::snprintf(text, sizeof(text), "%lld us", static_cast<long long>(microseconds));
  } else if (microseconds < 1000000) {
    std::snprintf(text, sizeof(text), "%.1f ms", value / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.2f s", value / 1e6);
  }
  return text;
}

std::string summarise(const audit::log::LogEntry& entry) {
  json message = message_of(entry);
  std::string out;
  if (message.is_object()) {
    add_result(out, message);
    for (const char* key : kTelling) {
      if (message.contains(key)) add(out, key, message[key]);
    }
  }
  if (out.empty() && entry.message_type.empty()) out = entry.raw;
  return printable(out, kSummaryLength);
}

std::string_view explain_leniency(std::string_view name) {
  auto found = std::find_if(kLeniencies.begin(), kLeniencies.end(),
                            [&](const auto& row) { return row.first == name; });
  return found == kLeniencies.end() ? std::string_view() : found->second;
}

json message_of(const audit::log::LogEntry& entry) { return locate(entry.raw).message; }

std::string way_of(const audit::log::LogEntry& entry) {
  if (entry.kind == "failure" || entry.raw.empty()) return {};
  std::string way = locate(entry.raw).way;
  constexpr int kFirstError = 400;
  if (entry.http_status >= kFirstError)
    way += std::string(way.empty() ? "" : ", ") + "HTTP " + std::to_string(entry.http_status);
  return way;
}

}  // namespace league::tools::auditor
