#include "tools/check/player/player_checks.h"

#include "common/core/text.h"

namespace league::tools::check {

using nlohmann::json;

Checks player_checks(PlayerBench& bench) {
  Checks out;
  add_registration_checks(bench, out);
  add_answer_checks(bench, out);
  add_news_checks(bench, out);
  add_rpc_checks(bench, out);
  add_tolerance_checks(bench, out);
  add_refusal_checks(bench, out);
  add_token_checks(bench, out);
  add_order_checks(bench, out);
  add_commitment_checks(bench, out);
  add_receipt_checks(bench, out);
  add_record_checks(bench, out);
  add_mcp_checks(bench, out);
  add_http_checks(bench, out);
  add_seat_checks(bench, out);
  add_hostile_checks(bench, out);
  add_endurance_checks(bench, out);
  return out;
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

Verdict expect_refused(const BotReply& reply, const std::string& why) {
  if (reply.has_answer() && reply.error.is_object()) return pass();
  const std::string type = reply.text("message_type");
  return fail(reply.exchange, "/error", "a JSON-RPC error, because " + why,
              type.empty() ? shown_answer(reply) : "no error, but " + type);
}

Verdict expect_alive(PlayerBench& bench, const BotReply& before) {
  const TestMatch match = bench.new_match();
  const BotReply after = bench.ask(envelope::MessageType::kGameInvitation, bench.invitation(match));
  return expect(PlayerBench::accepts(after), before.exchange, "",
                "that the bot accepts an ordinary invitation afterwards",
                "the ordinary invitation after this request got: " + shown_answer(after));
}

}  // namespace league::tools::check
