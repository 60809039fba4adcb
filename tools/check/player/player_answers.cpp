// Checks of the messages of one ordinary match.
#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/timestamp.h"
#include "tools/check/game_truth.h"
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;
using Look = std::function<Verdict(const BotReply&, const TestMatch&)>;

/// One of the two answers that are a league message.
struct Answer {
  const char* clause;  ///< `P-4.7`
  const char* name;  ///< `join`, `choice`
  const char* type;  ///< `GAME_JOIN_ACK`
  BotReply PlayedGame::*reply;
};

/// Whether `token` is what a bot that declares receipts shows in answers to calls of this match.
bool shows_answer(PlayerBench& bench, const TestMatch& match, const std::string& token) {
  return bench.gives_receipts() && agent::identity::answer_credential(
                                       bench.bot().token, core::MatchId(match.id), match.attempt)
                                       .matches(token);
}

constexpr Answer kJoin = {"P-4.7", "join", "GAME_JOIN_ACK", &PlayedGame::join};
constexpr Answer kChoice = {"P-4.9", "choice", "CHOOSE_PARITY_RESPONSE", &PlayedGame::choice};

/// Adds checks of `answer` in the sample match.
class AnswerChecks {
 public:
  AnswerChecks(PlayerBench& bench, const Answer& answer, Checks& out)
      : bench_(bench), answer_(answer), out_(out) {}

  CheckInfo& add(const std::string& clause, const std::string& name, Level level,
                 const std::string& text, const std::string& fix, Look look) {
    out_.push_back({{.id = clause + "/" + answer_.name + "-" + name,
                     .level = level,
                     .text = std::string(answer_.type) + ": " + text,
                     .fix = fix},
                    [&bench = bench_, reply = answer_.reply, look = std::move(look)] {
                      const PlayedGame& game = bench.sample();
                      return look(game.*reply, game.match);
                    }});
    return out_.back().info;
  }

  /// Adds a check that the field equals the value of `wanted`; `text` describes that value for
  /// people.
  void equals(const std::string& clause, const std::string& name, const std::string& field,
              const std::string& text, const std::string& fix,
              std::function<json(const TestMatch&)> wanted) {
    add(clause, name, Level::kMust, "`" + field + "` " + text, fix,
        [field, wanted = std::move(wanted)](const BotReply& reply, const TestMatch& match) {
          const json expected = wanted(match);
          return expect_field(field_at(reply.message, field.c_str()) == expected, reply, field,
                              expected.dump());
        });
  }

  /// The field may be missing, but not wrong: strict mode refuses a wrong one.
  void equals_if_any(const std::string& clause, const std::string& name, const std::string& field,
                     const std::string& fix, std::function<json(const TestMatch&)> wanted) {
    add(clause, name, Level::kMust, "`" + field + "`, if present, is that of the request.", fix,
        [field, wanted = std::move(wanted)](const BotReply& reply, const TestMatch& match) {
          if (!reply.message.is_object() || !reply.message.contains(field)) return pass();
          const json expected = wanted(match);
          return expect_field(reply.message[field] == expected, reply, field, expected.dump());
        });
  }

 private:
  PlayerBench& bench_;
  const Answer& answer_;
  Checks& out_;
};

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

void add_credential_checks(PlayerBench& bench, AnswerChecks& checks) {
  checks.add(
      "P-8", "token", Level::kMust,
      "`auth_token` is the token that the manager gave to the bot, or the answer credential.",
      "Send the auth_token from LEAGUE_REGISTER_RESPONSE in every reply.",
      [&bench](const BotReply& reply, const TestMatch& match) {
        if (auto why = only_with_token(bench); !why.empty()) return skip(why);
        const std::string token = reply.text("auth_token");
        const bool is_right = bench.bot().token.matches(token) || shows_answer(bench, match, token);
        return expect(is_right, reply.exchange, reply.place + "/auth_token",
                      "the token that the manager gave to the bot",
                      token.empty() ? "nothing" : "another token");
      });
  checks.add("P-8.16", "answer-credential", Level::kRobust,
             "A bot that declares receipts shows a referee the answer credential of the match and "
             "attempt, and not its token.",
             "Set auth_token to the HMAC-SHA-256 of \"answer|\" + match_id + \"#\" + attempt with "
             "your token as the key, in lower-case hexadecimal.",
             [&bench](const BotReply& reply, const TestMatch& match) {
               if (!bench.gives_receipts()) return skip(kNoReceipts);
               const std::string token = reply.text("auth_token");
               return expect(shows_answer(bench, match, token), reply.exchange,
                             reply.place + "/auth_token",
                             "the answer credential of " + match.id + ", attempt " +
                                 std::to_string(match.attempt),
                             bench.bot().token.matches(token) ? "the bot's own token"
                             : token.empty()                  ? "nothing"
                                                              : "another credential");
             });
}

void add_envelope_checks(PlayerBench& bench, AnswerChecks& checks, const Answer& answer) {
  const std::string type = answer.type;
  checks.equals("P-2", "message-type", "message_type", "is \"" + type + "\".",
                "Set message_type to \"" + type + "\".",
                [type](const TestMatch&) { return json(type); });
  checks.equals("P-2", "protocol", "protocol", "is \"league.v2\".",
                "Set protocol to \"league.v2\" in every message.",
                [](const TestMatch&) { return json("league.v2"); });
  checks.equals("P-2", "sender", "sender", "is \"player:\" followed by the bot's id.",
                "Set sender to \"player:\" plus the player_id from LEAGUE_REGISTER_RESPONSE.",
                [&bench](const TestMatch&) { return json("player:" + bench.bot().id); });
  checks.equals("P-2", "conversation", "conversation_id", "is that of the request.",
                "Copy conversation_id from the request into the reply.",
                [](const TestMatch& match) { return json(match.conversation); });
  checks.equals(answer.clause, "match-id", "match_id", "is that of the request.",
                "Copy match_id from the request into the reply.",
                [](const TestMatch& match) { return json(match.id); });
  checks.equals(answer.clause, "player-id", "player_id", "is the bot's own id.",
                "Send the player_id from LEAGUE_REGISTER_RESPONSE.",
                [&bench](const TestMatch&) { return json(bench.bot().id); });
  checks.equals_if_any("P-2", "round-id", "round_id",
                       "Copy round_id from the request, as an integer.",
                       [](const TestMatch& match) { return json(match.round); });
  checks.equals_if_any("P-2", "league-id", "league_id", "Copy league_id from the request.",
                       [&bench](const TestMatch&) { return json(bench.bot().league_id); });
  checks.add(
      "P-3", "timestamp", Level::kMust,
      "`timestamp` is a UTC time in one of the protocol's formats.",
      "Send the current time in UTC, ending in Z. In Python: "
      "datetime.now(timezone.utc).strftime(\"%Y-%m-%dT%H:%M:%SZ\").",
      [](const BotReply& reply, const TestMatch&) { return check_timestamp(reply, "timestamp"); });
  checks.add(
      "P-3", "timestamp-now", Level::kShould, "`timestamp` is the current time.",
      "Read the clock when you answer, in UTC and not in local time.",
      [](const BotReply& reply, const TestMatch&) { return check_recent(reply, "timestamp"); });
}

/// Whether it is a leniency that a league needs because of the answer's id.
bool is_about_id(const std::string& leniency) {
  return leniency == "id_not_echoed" || leniency == "id_type_changed";
}

void add_frame_checks(AnswerChecks& checks) {
  checks.add("P-1", "jsonrpc", Level::kMust, "the JSON-RPC response has `\"jsonrpc\": \"2.0\"`.",
             "Answer {\"jsonrpc\": \"2.0\", \"id\": ..., \"result\": {...}}.",
             [](const BotReply& reply, const TestMatch&) {
               return expect(field_at(reply.document, "jsonrpc") == "2.0", reply.exchange,
                             "/jsonrpc", "\"2.0\"", shown_value(reply.document, "jsonrpc"));
             });
  checks.add("P-1", "id-echoed", Level::kMust, "the JSON-RPC response repeats the request's `id`.",
             "Copy id from the request into the response. Do not change its type: a number stays a "
             "number.",
             [](const BotReply& reply, const TestMatch&) {
               const json sent = json::parse(reply.exchange.sent, nullptr, false);
               const json wanted = field_at(sent, "id");
               return expect(reply.document.is_object() &&
                                 std::ranges::none_of(reply.leniencies, is_about_id),
                             reply.exchange, "/id", wanted.dump(),
                             shown_value(reply.document, "id"));
             });
  checks.add("P-1", "place", Level::kMust,
             "the message itself is the `result`, without anything around it.",
             "Return {\"jsonrpc\": \"2.0\", \"id\": ..., \"result\": MESSAGE}, with the message's "
             "fields directly in result.",
             [](const BotReply& reply, const TestMatch&) {
               const bool is_flat = field_at(reply.document, "result").is_object() &&
                                    reply.document["result"].contains("message_type");
               return expect(is_flat, reply.exchange, "/result", "an object that has message_type",
                             reply.message.is_null() ? shown_answer(reply)
                                                     : "the message is at " + reply.place);
             });
}

void add_answer_forms(PlayerBench& bench, AnswerChecks& checks) {
  checks.add("P-1", "size", Level::kShould, "the response has at most 64 KiB.",
             "Send only the message. A league rejects responses of more than 1 MiB.",
             [](const BotReply& reply, const TestMatch&) {
               constexpr std::size_t kMost = 64U * 1024U;
               return expect(reply.exchange.received.size() <= kMost, reply.exchange, "",
                             "at most 65536 bytes",
                             std::to_string(reply.exchange.received.size()) + " bytes");
             });
  checks.add("P-1", "no-null-error", Level::kMust,
             "a response with a `result` has no `error`, not even null.",
             "Leave error out of responses that have a result.",
             [](const BotReply& reply, const TestMatch&) {
               const bool has_both = reply.document.is_object() &&
                                     reply.document.contains("result") &&
                                     reply.document.contains("error");
               return expect(!has_both, reply.exchange, "/error", "no error",
                             shown_value(reply.document, "error"));
             });
  checks.add("P-1", "http-200", Level::kShould, "the response has HTTP status 200.",
             "Send HTTP status 200 with every JSON-RPC response.",
             [&bench](const BotReply& reply, const TestMatch&) {
               if (!bench.is_http()) return skip("this can be checked over HTTP only");
               return expect(reply.exchange.status == 200, reply.exchange, "", "HTTP status 200",
                             "HTTP status " + std::to_string(reply.exchange.status));
             });
  checks.add(
      "P-1", "content-type", Level::kShould, "the response has `Content-Type: application/json`.",
      "Send the header Content-Type: application/json.",
      [&bench](const BotReply& reply, const TestMatch&) {
        if (!bench.is_http()) return skip("this can be checked over HTTP only");
        const auto& type = reply.exchange.content_type;
        return expect(type.starts_with("application/json") || type.starts_with("text/event-stream"),
                      reply.exchange, "", "Content-Type: application/json",
                      type.empty() ? "no Content-Type" : type);
      });
}

void add_method_check(PlayerBench& bench, Checks& out, MessageType type, const char* name) {
  const std::string method(envelope::spec(type).method);
  out.push_back(
      {{.id = std::string("P-4/") + name + "-method",
        .level = Level::kShould,
        .text = "The bot answers the JSON-RPC method `" + method + "`, spelt exactly like this.",
        .fix = "Add a handler for the JSON-RPC method \"" + method + "\"."},
       [&bench, type, method] {
         const TestMatch match = bench.new_match();
         if (type != MessageType::kGameInvitation)
           (void)bench.ask(MessageType::kGameInvitation, bench.invitation(match));
         const BotReply reply =
             bench.call(method, type == MessageType::kGameInvitation ? bench.invitation(match)
                                                                     : bench.choice_call(match));
         const bool is_taken = type == MessageType::kGameInvitation
                                   ? PlayerBench::accepts(reply)
                                   : !PlayerBench::choice_in(reply).empty();
         return expect(is_taken, reply.exchange, "/error", "a correct answer to " + method,
                       shown_answer(reply));
       }});
}

void add_join_checks(PlayerBench& bench, Checks& out) {
  AnswerChecks join(bench, kJoin, out);
  add_method_check(bench, out, MessageType::kGameInvitation, "invitation");
  add_envelope_checks(bench, join, kJoin);
  add_credential_checks(bench, join);
  join.add("P-4.7", "accept-boolean", Level::kMust, "`accept` is present, and is a JSON boolean.",
           "Name the field accept, and send the JSON boolean true, without quotes.",
           [](const BotReply& reply, const TestMatch&) {
             return expect_field(field_at(reply.message, "accept").is_boolean(), reply, "accept",
                                 "true or false");
           });
  join.add("P-4.7", "arrival-timestamp", Level::kMust,
           "`arrival_timestamp` is a UTC time in one of the protocol's formats.",
           "Add arrival_timestamp, in the same format as timestamp.",
           [](const BotReply& reply, const TestMatch&) {
             return check_timestamp(reply, "arrival_timestamp");
           });
  join.add(
      "P-4.7", "arrival-timestamp-now", Level::kShould, "`arrival_timestamp` is the current time.",
      "Read the clock when the invitation arrives.", [](const BotReply& reply, const TestMatch&) {
        return check_recent(reply, "arrival_timestamp");
      });
  join.add("P-6", "quick", Level::kShould, "the bot answers an invitation within 1 second.",
           "Answer immediately, and do slow work in another thread. The limit is 5 seconds.",
           [](const BotReply& reply, const TestMatch&) {
             return expect(reply.exchange.elapsed < std::chrono::seconds(1), reply.exchange, "",
                           "an answer within 1 s",
                           std::to_string(reply.exchange.elapsed.count() / 1'000'000) + " ms");
           });
  add_frame_checks(join);
  add_answer_forms(bench, join);
}

void add_choice_checks(PlayerBench& bench, Checks& out) {
  AnswerChecks choice(bench, kChoice, out);
  add_method_check(bench, out, MessageType::kChooseParityCall, "choice");
  add_envelope_checks(bench, choice, kChoice);
  add_credential_checks(bench, choice);
  choice.add("P-4.9", "field-name", Level::kMust,
             "the field with the choice is called `parity_choice`.",
             "Rename the field to parity_choice.", [](const BotReply& reply, const TestMatch&) {
               return expect(reply.message.is_object() && reply.message.contains("parity_choice"),
                             reply.exchange, reply.place + "/parity_choice", "\"even\" or \"odd\"",
                             "no such field");
             });
  choice.add(
      "P-6", "quick", Level::kShould, "the bot chooses within 2 seconds.",
      "Answer immediately. The limit is 30 seconds, but the whole round waits for its slowest bot.",
      [](const BotReply& reply, const TestMatch&) {
        return expect(reply.exchange.elapsed < std::chrono::seconds(2), reply.exchange, "",
                      "an answer within 2 s",
                      std::to_string(reply.exchange.elapsed.count() / 1'000'000) + " ms");
      });
  add_frame_checks(choice);
  add_answer_forms(bench, choice);
}

}  // namespace

void add_answer_checks(PlayerBench& bench, Checks& out) {
  add_basic_checks(bench, out);
  add_join_checks(bench, out);
  add_choice_checks(bench, out);
}

}  // namespace league::tools::check
