// Cases of the answers in one ordinary match.
#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/timestamp.h"
#include "tools/check/cases/case.h"
#include "tools/check/cases/cases.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// One of the two answers that are a league message.
struct AnswerKind {
  const char* clause;  ///< `P-4.7`
  const char* name;  ///< `join`, `choice`
  const char* type;  ///< `GAME_JOIN_ACK`
  MessageType call;
  BotReply PlayedGame::*reply;
};

constexpr AnswerKind kJoin = {"P-4.7", "join", "GAME_JOIN_ACK", kInvite, &PlayedGame::join};
constexpr AnswerKind kChoice = {"P-4.9", "choice", "CHOOSE_PARITY_RESPONSE", kCall,
                                &PlayedGame::choice};

/// The answer of the sample match.
struct Answered {
  PlayerBench& bench;
  const BotReply& reply;
  const TestMatch& match;
};

/// A case of an answer. `{clause}`, `{name}` and `{type}` in texts are those of the answer.
struct AnswerCase {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  Verdict (*judge)(const Answered&);
};

/// What a field of an answer has to be.
struct AnswerField {
  const char* id;
  const char* field;
  const char* text;  ///< after the field's name
  const char* fix;
  const char* wanted;
  bool may_be_missing = false;  ///< but not wrong: strict mode refuses a wrong one
};

const AnswerField kCopiedFields[] = {
    {"P-2/{name}-message-type", "message_type", " is \"{type}\".",
     "Set message_type to \"{type}\".", "$type"},
    {"P-2/{name}-protocol", "protocol", " is \"league.v2\".",
     "Set protocol to \"league.v2\" in every message.", "league.v2"},
    {"P-2/{name}-sender", "sender", " is \"player:\" followed by the bot's id.",
     "Set sender to \"player:\" plus the player_id from LEAGUE_REGISTER_RESPONSE.", "$sender"},
    {"P-2/{name}-conversation", "conversation_id", " is that of the request.",
     "Copy conversation_id from the request into the reply.", "$conversation"},
    {"{clause}/{name}-match-id", "match_id", " is that of the request.",
     "Copy match_id from the request into the reply.", "$match"},
    {"{clause}/{name}-player-id", "player_id", " is the bot's own id.",
     "Send the player_id from LEAGUE_REGISTER_RESPONSE.", "$self"},
    {"P-2/{name}-round-id", "round_id", ", if present, is that of the request.",
     "Copy round_id from the request, as an integer.", "$round", true},
    {"P-2/{name}-league-id", "league_id", ", if present, is that of the request.",
     "Copy league_id from the request.", "$league", true},
};

Verdict judge_answer_field(const AnswerField& row, const AnswerKind& kind, const Answered& in) {
  const json& message = in.reply.message;
  if (row.may_be_missing && !(message.is_object() && message.contains(row.field))) return pass();
  const BotIdentity& bot = in.bench.bot();
  const json wanted = described(row.wanted, {{"type", kind.type},
                                             {"sender", "player:" + bot.id},
                                             {"conversation", in.match.conversation},
                                             {"match", in.match.id},
                                             {"self", bot.id},
                                             {"round", in.match.round},
                                             {"league", bot.league_id}});
  return expect_field(value_at(message, row.field) == wanted, in.reply, row.field, wanted.dump());
}

Verdict check_timestamp(const BotReply& reply, const std::string& field) {
  auto parsed = core::UtcTimestamp::parse(reply.text(field));
  Verdict verdict =
      expect_field(parsed.has_value(), reply, field, "a UTC time such as 2025-01-15T10:30:00Z");
  if (parsed || reply.text(field).empty()) return verdict;
  return with_fix(std::move(verdict),
                  "Use one of the forms of the protocol, in UTC: " + parsed.error().message);
}

Verdict check_recent(const BotReply& reply, const std::string& field) {
  auto parsed = core::UtcTimestamp::parse(reply.text(field));
  if (!parsed) return skip("`" + field + "` cannot be read; see the check of its format");
  const auto age = core::SystemClock().utc_now().instant() - parsed->instant();
  return expect_field(std::chrono::abs(age) < std::chrono::minutes(10), reply, field,
                      "the current time, in UTC");
}

/// Whether it is what a bot that declares receipts shows in answers to calls of this match.
bool shows_answer(const Answered& in) {
  return in.bench.gives_receipts() &&
         agent::identity::answer_credential(in.bench.bot().token, core::MatchId(in.match.id),
                                            in.match.attempt)
             .matches(in.reply.text("auth_token"));
}

Verdict has_token(const Answered& in) {
  if (auto why = only_with_token(in.bench); !why.empty()) return skip(why);
  const std::string token = in.reply.text("auth_token");
  return expect(in.bench.bot().token.matches(token) || shows_answer(in), in.reply.exchange,
                in.reply.place + "/auth_token", "the token that the manager gave to the bot",
                token.empty() ? "nothing" : "another token");
}

Verdict hides_token(const Answered& in) {
  if (!in.bench.gives_receipts()) return skip(kNoReceipts);
  const std::string token = in.reply.text("auth_token");
  return expect(
      shows_answer(in), in.reply.exchange, in.reply.place + "/auth_token",
      "the answer credential of " + in.match.id + ", attempt " + std::to_string(in.match.attempt),
      in.bench.bot().token.matches(token) ? "the bot's own token"
      : token.empty()                     ? "nothing"
                                          : "another credential");
}

/// Expects an answer within `seconds`.
Verdict expect_quick(const Answered& in, int seconds) {
  return expect(in.reply.exchange.elapsed < std::chrono::seconds(seconds), in.reply.exchange, "",
                "an answer within " + std::to_string(seconds) + " s",
                std::to_string(in.reply.exchange.elapsed.count() / 1'000'000) + " ms");
}

const AnswerCase kAnswerEnvelope[] = {
    {"P-3/{name}-timestamp", kMust, "`timestamp` is a UTC time in one of the protocol's formats.",
     "Send the current time in UTC, ending in Z. In Python: "
     "datetime.now(timezone.utc).strftime(\"%Y-%m-%dT%H:%M:%SZ\").",
     [](const Answered& in) { return check_timestamp(in.reply, "timestamp"); }},
    {"P-3/{name}-timestamp-now", kShould, "`timestamp` is the current time.",
     "Read the clock when you answer, in UTC and not in local time.",
     [](const Answered& in) { return check_recent(in.reply, "timestamp"); }},
    {"P-8/{name}-token", kMust,
     "`auth_token` is the token that the manager gave to the bot, or the answer credential.",
     "Send the auth_token from LEAGUE_REGISTER_RESPONSE in every reply.", has_token},
    {"P-8.16/{name}-answer-credential", kRobust,
     "A bot that declares receipts shows a referee the answer credential of the match and attempt, "
     "and not its token.",
     "Set auth_token to the HMAC-SHA-256 of \"answer|\" + match_id + \"#\" + attempt with your "
     "token "
     "as the key, in lower-case hexadecimal.",
     hides_token},
};

const AnswerCase kOfJoin[] = {
    {"P-4.7/join-accept-boolean", kMust, "`accept` is present, and is a JSON boolean.",
     "Name the field accept, and send the JSON boolean true, without quotes.",
     [](const Answered& in) {
       return expect_field(value_at(in.reply.message, "accept").is_boolean(), in.reply, "accept",
                           "true or false");
     }},
    {"P-4.7/join-arrival-timestamp", kMust,
     "`arrival_timestamp` is a UTC time in one of the protocol's formats.",
     "Add arrival_timestamp, in the same format as timestamp.",
     [](const Answered& in) { return check_timestamp(in.reply, "arrival_timestamp"); }},
    {"P-4.7/join-arrival-timestamp-now", kShould, "`arrival_timestamp` is the current time.",
     "Read the clock when the invitation arrives.",
     [](const Answered& in) { return check_recent(in.reply, "arrival_timestamp"); }},
    {"P-6/join-quick", kShould, "the bot answers an invitation within 1 second.",
     "Answer immediately, and do slow work in another thread. The limit is 5 seconds.",
     [](const Answered& in) { return expect_quick(in, 1); }},
};

const AnswerCase kOfChoice[] = {
    {"P-4.9/choice-field-name", kMust, "the field with the choice is called `parity_choice`.",
     "Rename the field to parity_choice.",
     [](const Answered& in) {
       const json& message = in.reply.message;
       return expect(message.is_object() && message.contains("parity_choice"), in.reply.exchange,
                     in.reply.place + "/parity_choice", "\"even\" or \"odd\"", "no such field");
     }},
    {"P-6/choice-quick", kShould, "the bot chooses within 2 seconds.",
     "Answer immediately. The limit is 30 seconds, but the whole round waits for its slowest bot.",
     [](const Answered& in) { return expect_quick(in, 2); }},
};

Verdict echoes_id(const Answered& in) {
  const json sent = json::parse(in.reply.exchange.sent, nullptr, false);
  const bool is_echoed = std::ranges::none_of(in.reply.leniencies, [](const std::string& name) {
    return name == "id_not_echoed" || name == "id_type_changed";
  });
  return expect(in.reply.document.is_object() && is_echoed, in.reply.exchange, "/id",
                value_at(sent, "id").dump(), shown_value(in.reply.document, "id"));
}

Verdict is_the_result(const Answered& in) {
  return expect(
      value_at(in.reply.document, "result").contains("message_type"), in.reply.exchange, "/result",
      "an object that has message_type",
      in.reply.message.is_null() ? shown_answer(in.reply) : "the message is at " + in.reply.place);
}

Verdict has_one_part(const Answered& in) {
  const json& document = in.reply.document;
  const bool has_both = document.contains("result") && document.contains("error");
  return expect(!has_both, in.reply.exchange, "/error", "no error", shown_value(document, "error"));
}

const AnswerCase kFrame[] = {
    {"P-1/{name}-jsonrpc", kMust, "the JSON-RPC response has `\"jsonrpc\": \"2.0\"`.",
     "Answer {\"jsonrpc\": \"2.0\", \"id\": ..., \"result\": {...}}.",
     [](const Answered& in) {
       return expect(value_at(in.reply.document, "jsonrpc") == "2.0", in.reply.exchange, "/jsonrpc",
                     "\"2.0\"", shown_value(in.reply.document, "jsonrpc"));
     }},
    {"P-1/{name}-id-echoed", kMust, "the JSON-RPC response repeats the request's `id`.",
     "Copy id from the request into the response. Do not change its type: a number stays a number.",
     echoes_id},
    {"P-1/{name}-place", kMust, "the message itself is the `result`, without anything around it.",
     "Return {\"jsonrpc\": \"2.0\", \"id\": ..., \"result\": MESSAGE}, with the message's fields "
     "directly in result.",
     is_the_result},
    {"P-1/{name}-size", kShould, "the response has at most 64 KiB.",
     "Send only the message. A league rejects responses of more than 1 MiB.",
     [](const Answered& in) {
       const std::size_t size = in.reply.exchange.received.size();
       return expect(size <= 65536, in.reply.exchange, "", "at most 65536 bytes",
                     std::to_string(size) + " bytes");
     }},
    {"P-1/{name}-no-null-error", kMust, "a response with a `result` has no `error`, not even null.",
     "Leave error out of responses that have a result.", has_one_part},
    {"P-1/{name}-http-200", kShould, "the response has HTTP status 200.",
     "Send HTTP status 200 with every JSON-RPC response.",
     [](const Answered& in) {
       if (auto why = only_over_http(in.bench); !why.empty()) return skip(why);
       const int status = in.reply.exchange.status;
       return expect(status == 200, in.reply.exchange, "", "HTTP status 200",
                     "HTTP status " + std::to_string(status));
     }},
    {"P-1/{name}-content-type", kShould, "the response has `Content-Type: application/json`.",
     "Send the header Content-Type: application/json.",
     [](const Answered& in) {
       if (auto why = only_over_http(in.bench); !why.empty()) return skip(why);
       const auto& type = in.reply.exchange.content_type;
       return expect(type.starts_with("application/json") || type.starts_with("text/event-stream"),
                     in.reply.exchange, "", "Content-Type: application/json",
                     type.empty() ? "no Content-Type" : type);
     }},
};

/// `text` with the values of `{clause}`, `{name}` and `{type}`.
std::string filled(std::string text, const AnswerKind& kind) {
  for (const auto& [name, value] :
       {std::pair<std::string_view, const char*>("{clause}", kind.clause),
        {"{name}", kind.name},
        {"{type}", kind.type}}) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), value);
  }
  return text;
}

void add_answer(PlayerBench& bench, const AnswerKind& kind, Checks& out, const char* id,
                Level level, const std::string& text, const char* fix,
                std::function<Verdict(const Answered&)> judge) {
  out.push_back(
      {case_info(filled(id, kind), level, filled("{type}: " + text, kind), filled(fix, kind)),
       [&bench, reply = kind.reply, judge = std::move(judge)] {
         const PlayedGame& game = bench.sample();
         return judge({bench, game.*reply, game.match});
       }});
}

void add_rows(PlayerBench& bench, const AnswerKind& kind, Checks& out,
              std::span<const AnswerCase> rows) {
  for (const AnswerCase& row : rows)
    add_answer(bench, kind, out, row.id, row.level, row.text, row.fix, row.judge);
}

void add_method(PlayerBench& bench, const AnswerKind& kind, Checks& out) {
  const std::string method(envelope::spec(kind.call).method);
  const bool is_invitation = kind.call == kInvite;
  out.push_back(
      {case_info(std::string("P-4/") + (is_invitation ? "invitation" : "choice") + "-method",
                 kShould,
                 "The bot answers the JSON-RPC method `" + method + "`, spelt exactly like this.",
                 "Add a handler for the JSON-RPC method \"" + method + "\"."),
       [&bench, is_invitation, method] {
         const TestMatch match = bench.new_match();
         if (!is_invitation) (void)bench.ask(kInvite, bench.invitation(match));
         const BotReply reply =
             bench.call(method, is_invitation ? bench.invitation(match) : bench.choice_call(match));
         const bool is_taken =
             is_invitation ? PlayerBench::accepts(reply) : !PlayerBench::choice_in(reply).empty();
         return expect(is_taken, reply.exchange, "/error", "a correct answer to " + method,
                       shown_answer(reply));
       }});
}

}  // namespace

void add_answer_cases(PlayerBench& bench, Checks& out) {
  add_basic_cases(bench, out);
  for (const AnswerKind* kind : {&kJoin, &kChoice}) {
    add_method(bench, *kind, out);
    for (const AnswerField& row : kCopiedFields) {
      add_answer(bench, *kind, out, row.id, kMust, std::string("`") + row.field + "`" + row.text,
                 row.fix,
                 [&row, kind](const Answered& in) { return judge_answer_field(row, *kind, in); });
    }
    add_rows(bench, *kind, out, kAnswerEnvelope);
    if (kind == &kJoin) add_rows(bench, *kind, out, kOfJoin);
    if (kind == &kChoice) add_rows(bench, *kind, out, kOfChoice);
    add_rows(bench, *kind, out, kFrame);
  }
}

Checks player_cases(PlayerBench& bench) {
  Checks out;
  for (const auto add : {add_registration_cases, add_answer_cases, add_news_cases, add_rpc_cases,
                         add_tolerance_cases, add_refusal_cases, add_token_cases, add_order_cases,
                         add_commitment_cases, add_receipt_cases, add_record_cases, add_mcp_cases,
                         add_http_cases, add_seat_cases, add_hostile_cases, add_endurance_cases})
    add(bench, out);
  return out;
}

}  // namespace league::tools::check
