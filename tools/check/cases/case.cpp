#include "tools/check/cases/case.h"

#include <algorithm>
#include <charconv>

#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using nlohmann::json;

CheckInfo case_info(std::string id, Level level, std::string text, std::string fix,
                    unsigned traits) {
  return {.id = std::move(id),
          .level = level,
          .text = std::move(text),
          .fix = std::move(fix),
          .is_basic = (traits & kBasic) != 0,
          .needs_play = (traits & kAlways) == 0,
          .needs_word = (traits & kNeedsWord) != 0,
          .is_slow = (traits & kSlow) != 0,
          .is_last = (traits & kLast) != 0};
}

bool Wanted::takes(const nlohmann::json& value, const Names& names) const {
  if (is_right != nullptr) return is_right(value);
  return value == described(nlohmann::json::parse(json), names);
}

bool is_any_text(const json& value) { return value.is_string(); }

bool is_time(const json& value) {
  return value.is_string() && core::UtcTimestamp::parse(value.get<std::string>()).has_value();
}

bool is_short_name(const json& value) {
  return value.is_string() && !value.get_ref<const std::string&>().empty() &&
         value.get_ref<const std::string&>().size() <= 200;
}

bool is_semver(const json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  const char* at = text.data();
  const char* end = at + text.size();
  for (int part = 0; part < 3; ++part) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return false;
    at = stop;
    if (part < 2 && (at == end || *at++ != '.')) return false;
  }
  return at == end || *at == '-' || *at == '+';
}

bool has_tested_game(const json& value) {
  return value.is_array() &&
         std::ranges::find(value, json(tested_game()->game_type())) != value.end();
}

std::string only_over_http(PlayerBench& bench) {
  return bench.is_http() ? "" : "this can be checked over HTTP only";
}

std::string only_with_token(PlayerBench& bench) {
  if (bench.has_token()) return {};
  return "the bot has no token from this checker; use --listen or --start, or --token with --id";
}

Verdict survive_bytes(PlayerBench& bench, const std::string& bytes, const rpc::Id& id) {
  if (!bench.is_http()) return skip(kOnlyHttpHasNoIds);
  return expect_alive(bench, bench.send(bytes, id));
}

Exchange seen_call(const InboundCall* call) {
  Exchange exchange;
  if (call != nullptr) exchange.received = call->bytes;
  return exchange;
}

std::string shown_value(const json& object, const std::string& field) {
  if (!object.is_object() || !object.contains(field)) return "nothing";
  std::string text = object[field].dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 80) + "...";
  return text;
}

std::string shown_answer(const BotReply& reply) {
  if (!reply.has_answer()) return reply.exchange.trouble;
  if (reply.exchange.status >= 300) {
    const Exchange& page = reply.exchange;
    return "HTTP status " + std::to_string(page.status) +
           (page.content_type.empty() ? std::string() : " with " + page.content_type) +
           (page.received.empty() ? ", an empty body" : ": " + page.received.substr(0, 120));
  }
  if (reply.exchange.received.empty())
    return "an empty body with HTTP status " + std::to_string(reply.exchange.status);
  std::string text = reply.exchange.received.substr(0, 120);
  if (reply.exchange.received.size() > 120) text += "...";
  return text;
}

std::string shown_field(const BotReply& reply, const std::string& field) {
  const bool is_there = reply.message.is_object() && reply.message.contains(field);
  return is_there ? field + ": " + shown_value(reply.message, field) : shown_answer(reply);
}

std::string shown_fault(const BotReply& reply, const std::string& field) {
  if (!reply.fault || !reply.message.is_object()) return shown_field(reply, field);
  return core::shown(reply.fault->message, 300);
}

/// The pointer to the value that a league refuses, otherwise to `field`.
static std::string pointer_of(const BotReply& reply, const std::string& field) {
  if (!reply.error.is_null()) return "/error";
  const bool is_known = reply.fault && !reply.fault->field.empty();
  return reply.place + (is_known ? reply.fault->field : "/" + field);
}

Verdict expect_accepted(const BotReply& reply, const std::string& why) {
  return expect(PlayerBench::accepts(reply), reply.exchange, pointer_of(reply, "accept"),
                "GAME_JOIN_ACK with accept: true; " + why, shown_fault(reply, "accept"));
}

Verdict expect_choice(const BotReply& reply, const std::string& why) {
  return expect(!PlayerBench::choice_in(reply).empty(), reply.exchange,
                pointer_of(reply, "parity_choice"), "CHOOSE_PARITY_RESPONSE with a choice; " + why,
                shown_fault(reply, "parity_choice"));
}

Verdict expect_field(bool is_right, const BotReply& reply, const std::string& field,
                     std::string expected) {
  return expect(is_right, reply.exchange, reply.place + "/" + field, std::move(expected),
                shown_value(reply.message, field));
}

Verdict expect_same_commitment(const BotReply& first, const BotReply& second,
                               const std::string& expected) {
  return expect_field(second.text("choice_commitment") == first.text("choice_commitment"), second,
                      "choice_commitment",
                      expected + shown_value(first.message, "choice_commitment"));
}

Verdict expect_refused(const BotReply& reply, const std::string& why) {
  if (reply.has_answer() && reply.error.is_object()) return pass();
  const std::string type = reply.text("message_type");
  return fail(reply.exchange, "/error", "a JSON-RPC error, because " + why,
              type.empty() ? shown_answer(reply) : "no error, but " + type);
}

Verdict expect_acknowledged(const BotReply& reply) {
  return expect(reply.has_answer() && reply.error.is_null() &&
                    (reply.document.is_object() || reply.exchange.status / 100 == 2),
                reply.exchange, reply.error.is_null() ? "" : "/error",
                "an acknowledgement such as {\"status\": \"ok\"}", shown_answer(reply));
}

Verdict expect_untold(const BotReply& reply, std::string_view secret, std::string pointer,
                      std::string expected, std::string got) {
  return expect(reply.exchange.received.find(secret) == std::string::npos, reply.exchange,
                std::move(pointer), std::move(expected), std::move(got));
}

Verdict expect_alive(PlayerBench& bench, const BotReply& before) {
  const TestMatch match = bench.new_match();
  const BotReply after = bench.ask(envelope::MessageType::kGameInvitation, bench.invitation(match));
  return expect(PlayerBench::accepts(after), before.exchange, "",
                "that the bot accepts an ordinary invitation afterwards",
                "the ordinary invitation after this request got: " + shown_answer(after));
}

namespace {

/// The request, with the message as its params in whatever way it was sent.
json plain_request(const InboundCall& call) {
  json request = {{"params", call.message}};
  for (const char* member : {"jsonrpc", "id"}) {
    if (const json& value = value_at(call.document, member); !value.is_null())
      request[member] = value;
  }
  return request;
}

/// How the call was made.
std::string shown_method(const InboundCall& call) {
  if (call.style == "bare") return "a bare message, without a method";
  const std::string method = text_at(call.document, "method");
  return method == call.method ? method : method + " with the tool " + call.method;
}

}  // namespace

Verdict judge_field(const FieldCase& row, const json& message, const Names& names,
                    Exchange exchange, const std::string& place, const char* expected) {
  const std::string field = row.field;
  const std::size_t slash = field.rfind('/');
  const bool is_deep = slash != std::string::npos;
  const json& parent = is_deep ? value_at(message, field.substr(0, slash)) : message;
  if (expected == nullptr) expected = row.expected == nullptr ? row.text : row.expected;
  return expect(row.wanted.takes(value_at(message, field), names), std::move(exchange),
                place + "/" + field, expected,
                shown_value(parent, is_deep ? field.substr(slash + 1) : field));
}

Verdict judge_registered(const FieldCase& row, const InboundCall& call) {
  const std::string_view field = row.field;
  if (field == "method") {
    return expect(call.method == "register_player" && call.style == "tool_name", seen_call(&call),
                  "/method", row.expected, shown_method(call));
  }
  const bool learns_games = value_at(call.meta(), "game_definitions") == true;
  if (field.ends_with("/game_types") && learns_games &&
      value_at(call.meta(), "game_types").is_array())
    return pass();
  return judge_field(row, plain_request(call), {}, seen_call(&call), "");
}

}  // namespace league::tools::check
