#include "tools/check/roles/role_checks.h"

#include <algorithm>
#include <set>

#include "common/core/timestamp.h"
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// A message that has to be refused, in any form: LEAGUE_ERROR, REJECTED or a JSON-RPC error.
struct Refusal {
  const char* id;
  const char* kept;  ///< the name under which the bench keeps the answer
  Level level;
  const char* what;  ///< the end of "... is refused: "
  const char* code;  ///< the league's code; empty: any
};

const Refusal kRefusals[] = {
    {"P-4.3/without-meta", "without_meta", Level::kMust, "a registration without player_meta",
     "E003"},
    {"P-3/registration-time", "bad_timestamp", Level::kMust,
     "a registration whose timestamp has a blank in place of T", "E021"},
    {"P-2/other-protocol", "other_protocol", Level::kMust,
     "a registration with the protocol league.v3", "E018"},
    {"P-6/other-version", "other_version", Level::kMust,
     "a registration with the protocol_version 3.0.0", "E018"},
    {"P-4.3/unknown-game", "unknown_game", Level::kMust, "the registration of a player of chess",
     ""},
    {"P-4.3/no-games", "no_games", Level::kMust, "the registration of a player without game_types",
     ""},
    {"P-4.3/bad-endpoint", "bad_endpoint", Level::kMust,
     "a registration whose contact_endpoint is not a URL", ""},
    {"P-4.3/long-name", "long_name", Level::kMust,
     "a registration with a display_name of 51 characters", ""},
    {"P-2/null-name", "null_name", Level::kMust, "a registration whose display_name is null",
     "E003"},
    {"P-8/same-name", "same_name", Level::kShould, "a second player with the same display_name",
     ""},
    {"P-8/same-address", "same_place", Level::kMust, "a second player at the same address", ""},
    {"P-4.15/unknown-query", "unknown_query", Level::kMust, "a query with an unknown query_type",
     ""},
    {"P-4.15/without-query-type", "without_query_type", Level::kMust, "a query without query_type",
     "E003"},
    {"P-8/query-without-token", "without_token", Level::kMust, "a query without a token", "E011"},
    {"P-8/query-wrong-token", "wrong_token", Level::kMust, "a query with a wrong token", "E012"},
    {"P-8/query-foreign-sender", "foreign_sender", Level::kMust, "a query in another player's name",
     ""},
    {"P-4/start-without-key", "start_without_key", Level::kMust,
     "start_league without the operator's key", ""},
    {"P-6/late-registration", "late", Level::kMust, "a registration after the start", "E019"},
    {"P-7/report-number", "report_number", Level::kMust, "a report with a wrong number", ""},
    {"P-7/report-winner", "report_winner", Level::kMust, "a report with a wrong winner", ""},
    {"P-7/report-score", "report_score", Level::kMust, "a report with a score of 300", ""},
    {"P-7/report-seed", "report_seed", Level::kMust,
     "a report with a seed that does not match the draw_commitment", ""},
    {"P-7/report-choice", "report_choice", Level::kMust, "a report with an invalid choice", ""},
    {"P-7/report-round", "report_round", Level::kMust, "a report with another round_id", ""},
    {"P-7/report-match", "report_match", Level::kMust, "a report on a match that does not exist",
     ""},
    {"P-7/report-game", "report_game", Level::kMust, "a report with another game_type", ""},
    {"P-8/report-player-token", "report_player_token", Level::kMust,
     "a report in the referee's name with a player's token", ""},
    {"P-8/report-by-player", "report_player_sender", Level::kMust, "a report by a player", ""},
    {"P-8/report-without-token", "report_without_token", Level::kMust, "a report without a token",
     ""},
    {"P-7/report-stranger", "report_stranger", Level::kMust,
     "a report whose winner is not a player of the match", ""},
    {"P-8/report-conflict", "report_conflict", Level::kMust, "a second report with another result",
     ""},
};

bool is_refusal(const BotReply& reply) {
  if (!reply.error.is_null()) return true;
  return reply.text("message_type") == "LEAGUE_ERROR" || reply.text("status") == "REJECTED" ||
         (reply.message.is_object() && reply.message.value("success", json(true)) == false);
}

std::string code_in(const BotReply& reply) {
  const json data = field_at(reply.error, "data");
  for (const json* place : {&reply.message, &data}) {
    std::string code = text_at(*place, "error_code");
    if (!code.empty()) return code;
  }
  if (reply.message.is_object()) return text_at(reply.message.value("error", json()), "error_code");
  return {};
}

Verdict expect_refusal(const BotReply& reply, const Refusal& refusal) {
  if (reply.exchange.sent.empty()) return skip("the league did not get that far");
  if (!reply.has_answer() || !is_refusal(reply))
    return fail(reply.exchange, "/result", "LEAGUE_ERROR, REJECTED or an error",
                shown_answer(reply));
  // Once the league is full, that is a reason, too.
  const std::string code = code_in(reply);
  const bool is_late = reply.exchange.sent.find("REGISTER_REQUEST") != std::string::npos &&
                       (code == "E019" || code == "E017");
  return expect(std::string(refusal.code).empty() || code == refusal.code || is_late,
                reply.exchange, reply.place + "/error_code", refusal.code,
                code_in(reply).empty() ? "no error_code" : code_in(reply));
}

using Run = std::function<Verdict()>;

/// Adds checks of stored answers.
class ManagerChecks {
 public:
  ManagerChecks(ManagerBench& bench, std::vector<Check>& out) : bench_(bench), out_(out) {}

  CheckInfo& add(const std::string& id, Level level, const std::string& text,
                 const std::string& fix, Run run) {
    out_.push_back({{.id = id, .level = level, .text = text, .fix = fix, .needs_play = false},
                    [&bench = bench_, run = std::move(run)] {
                      if (auto played = bench.play(); !played)
                        return harness_fault(played.error().message);
                      return run();
                    }});
    return out_.back().info;
  }

  /// Adds a check of the first call of `type` to the first player.
  void call_field(const std::string& id, const std::string& type, const std::string& text,
                  std::function<bool(const json&)> is_right) {
    add(id, Level::kMust, text, "Compare your " + type + " with section 4 of docs/protocol.md.",
        [&bench = bench_, type, text, is_right = std::move(is_right)] {
          const auto calls = bench.to_player(type);
          if (calls.empty()) return fail({}, "", type + " to every player", "none");
          return expect(is_right(calls.front().message), seen_call(&calls.front()), "/params", text,
                        "another value");
        });
  }

 private:
  ManagerBench& bench_;
  std::vector<Check>& out_;
};

/// A field of the answer to the first player's registration.
struct RegistrationAnswer {
  const char* name;
  const char* field;
  const char* text;
  bool (*is_right)(const json&);
};

const RegistrationAnswer kRegistrationAnswers[] = {
    {"status", "status", "`status` is ACCEPTED.", [](const json& v) { return v == "ACCEPTED"; }},
    {"type", "message_type", "The answer is a LEAGUE_REGISTER_RESPONSE.",
     [](const json& v) { return v == "LEAGUE_REGISTER_RESPONSE"; }},
    {"protocol", "protocol", "`protocol` is \"league.v2\".",
     [](const json& v) { return v == "league.v2"; }},
    {"sender", "sender", "`sender` is `league_manager`.",
     [](const json& v) { return v == "league_manager"; }},
    {"timestamp", "timestamp", "`timestamp` is a UTC time in one of the protocol's formats.",
     [](const json& v) {
       return v.is_string() && core::UtcTimestamp::parse(v.get<std::string>()).has_value();
     }},
    {"conversation", "conversation_id", "`conversation_id` is that of the request.",
     [](const json& v) { return v == "convleaguecheck001"; }},
    {"player-id", "player_id", "`player_id` is present, such as P01.",
     [](const json& v) { return v.is_string() && v.get<std::string>().starts_with("P"); }},
    {"token", "auth_token", "`auth_token` has at least 20 characters.",
     [](const json& v) { return v.is_string() && v.get<std::string>().size() >= 20; }},
    {"league-id", "league_id", "`league_id` is present.",
     [](const json& v) { return v.is_string(); }},
};

void add_registrations(ManagerBench& bench, ManagerChecks& checks) {
  for (const RegistrationAnswer& one : kRegistrationAnswers) {
    checks
        .add(std::string("P-4.4/") + one.name, Level::kMust, one.text,
             std::string("Set ") + one.field + " in LEAGUE_REGISTER_RESPONSE.",
             [&bench, &one] {
               const BotReply& reply = bench.players().front().registration;
               return expect_field(
                   reply.message.is_object() && one.is_right(field_at(reply.message, one.field)),
                   reply, one.field, one.text);
             })
        .is_basic = std::string(one.field) == "status";
  }
  checks
      .add("P-4.2/accepted", Level::kMust,
           "The manager accepts a referee, and gives it an id and a token.",
           "Answer register_referee with REFEREE_REGISTER_RESPONSE, status ACCEPTED, referee_id "
           "and auth_token.",
           [&bench] {
             const BroughtAgent& referee = bench.referees().front();
             return expect(!referee.id.empty() && !referee.token.empty(),
                           referee.registration.exchange, "/result", "referee_id and auth_token",
                           shown_answer(referee.registration));
           })
      .is_basic = true;
  checks.add("P-8/tokens-differ", Level::kMust, "Every agent gets its own token.",
             "Generate each token with a cryptographic random generator.", [&bench] {
               std::set<std::string> tokens;
               for (const std::string& token : bench.secrets()) tokens.insert(token);
               return expect(tokens.size() == bench.secrets().size(), {}, "", "different tokens",
                             "two agents have the same token");
             });
  for (const char* name : {"again_with_token", "same_nonce"}) {
    const bool is_token = std::string(name) == "again_with_token";
    checks.add(is_token ? "P-8/returns-with-token" : "P-8/returns-with-nonce",
               is_token ? Level::kMust : Level::kShould,
               std::string("An agent that registers again with its ") +
                   (is_token ? "token" : "registration_nonce") + " gets the same id.",
               "Look the token and the nonce up among the registered agents before you register a "
               "new one.",
               [&bench, name] {
                 const BotReply& reply = bench.kept(name);
                 return expect(reply.text("player_id") == bench.players().front().id,
                               reply.exchange, reply.place + "/player_id",
                               bench.players().front().id, shown_answer(reply));
               });
  }
}

void add_answers(ManagerBench& bench, ManagerChecks& checks) {
  struct Code {
    const char* id;
    const char* kept;
    int code;
  };
  for (const Code& one : {Code{"P-5/unknown-method", "unknown_method", -32601},
                          Code{"P-5/invalid-request", "invalid_request", -32600},
                          Code{"P-5/parse-error", "parse_error", -32700}}) {
    checks.add(one.id, Level::kMust,
               "Invalid JSON-RPC is answered with the error " + std::to_string(one.code) + ".",
               "Answer with this code of JSON-RPC 2.0.", [&bench, one] {
                 const BotReply& reply = bench.kept(one.kept);
                 if (reply.exchange.sent.empty()) return skip("this can be checked over HTTP only");
                 return expect(reply.code() == one.code, reply.exchange, "/error/code",
                               std::to_string(one.code), shown_answer(reply));
               });
  }
  for (const auto& [id, kept] :
       {std::pair("P-4/ping", "ping"), std::pair("P-4.16/standings", "standings"),
        std::pair("P-2/extra-field-ignored", "extra_field"),
        std::pair("P-4.16/schedule", "schedule"), std::pair("P-4.11/accepted", "report"),
        std::pair("P-8/repeated-report", "report_again"),
        std::pair("P-4.11/later-accepted", "later_report")}) {
    const std::string name = kept;
    checks.add(id, Level::kMust, "A correct call (" + name + ") is answered without an error.",
               "Accept this call; compare \"sent\" with the message's fields in section 4 of "
               "docs/protocol.md.",
               [&bench, name] {
                 const BotReply& reply = bench.kept(name);
                 if (reply.exchange.sent.empty()) return skip("the league did not get that far");
                 return expect(reply.has_answer() && !is_refusal(reply), reply.exchange, "/result",
                               "an answer without an error", shown_answer(reply));
               });
  }
  checks.add("P-4.17/no-token-echoed", Level::kMust,
             "An error text contains at most the first 8 characters of a token.",
             "Do not put tokens into error texts.", [&bench] {
               const BotReply& reply = bench.kept("wrong_token");
               return expect(
                   reply.exchange.received.find("must_not_be_repeated") == std::string::npos,
                   reply.exchange, "", "no token in the response", "the token that was sent");
             });
}

void add_course(ManagerBench& bench, ManagerChecks& checks) {
  auto& started = checks.add("P-4.5/assigned", Level::kMust,
                             "The manager starts the league when all agents have registered, and "
                             "assigns matches to referees.",
                             "When all agents have registered, send ROUND_ANNOUNCEMENT to the "
                             "players and, with the assignments, to the referees.",
                             [&bench] {
                               return expect(bench.has_started(), {}, "",
                                             "a ROUND_ANNOUNCEMENT to the referee", "none");
                             });
  started.is_basic = true;
  checks.call_field("P-4.5/announced", "ROUND_ANNOUNCEMENT",
                    "Players are told the matches of the round.", [](const json& m) {
                      return m.contains("matches") && m["matches"].is_array() &&
                             !m["matches"].empty() && m.value("round_id", json()) == 1;
                    });
  checks.call_field("P-8/announcement-token", "ROUND_ANNOUNCEMENT",
                    "Notifications to a player have the player's own token.",
                    [&bench](const json& m) {
                      return bench.players().front().token.matches(text_at(m, "auth_token"));
                    });
  checks.add("P-7/seed-hidden", Level::kMust,
             "Players do not learn the seed of a draw before the match is over.",
             "Send draw_seed only to the referee of the match.", [&bench] {
               for (const InboundCall& call : bench.to_player("ROUND_ANNOUNCEMENT")) {
                 if (call.bytes.find("\"draw_seed\"") != std::string::npos)
                   return fail(seen_call(&call), "/params/matches", "no draw_seed", "draw_seed");
               }
               return pass();
             });
  checks.add("P-7/each-pair-once", Level::kMust, "Every two players meet exactly once.",
             "Create a round-robin schedule.", [&bench] {
               const std::size_t n = bench.players().size();
               std::set<std::set<std::string>> pairs;
               for (const json& row : bench.assignments())
                 pairs.insert({text_at(row, "player_A_id"), text_at(row, "player_B_id")});
               return expect(
                   pairs.size() == n * (n - 1) / 2 && pairs.size() == bench.assignments().size(),
                   {}, "", std::to_string(n * (n - 1) / 2) + " matches",
                   std::to_string(bench.assignments().size()) + " matches of " +
                       std::to_string(pairs.size()) + " pairs");
             });
}

void add_news(ManagerBench& bench, ManagerChecks& checks) {
  checks.add(
      "P-7/capacity", Level::kMust, "A referee never has more matches at a time than its capacity.",
      "Assign at most max_concurrent_matches matches to a referee, and further ones when it "
      "has reported some.",
      [&bench] {
        const std::size_t places = 2 * bench.referees().size();
        return expect(bench.most_at_once() <= places, {}, "", "at most " + std::to_string(places),
                      std::to_string(bench.most_at_once()));
      });
  checks.call_field(
      "P-4.12/standings", "LEAGUE_STANDINGS_UPDATE",
      "Players are told the standings, with a row for every player.", [&bench](const json& m) {
        return m.contains("standings") && m["standings"].size() == bench.players().size();
      });
  checks.call_field(
      "P-4.13/summary", "ROUND_COMPLETED",
      "`total_matches` is the sum of wins, draws and technical losses.", [](const json& m) {
        const json sum = m.value("summary", json::object());
        int total = 0;
        for (const char* part : {"wins", "draws", "technical_losses"}) {
          if (!sum.is_object() || !sum.contains(part) || !sum[part].is_number_integer())
            return false;
          total += sum[part].get<int>();
        }
        return sum.value("total_matches", json()) == total;
      });
  checks.call_field("P-4.14/champion", "LEAGUE_COMPLETED",
                    "The champion is the first player of the final standings.", [](const json& m) {
                      const json rows = m.value("final_standings", json::array());
                      const json champion = m.value("champion", json::object());
                      return !rows.empty() && rows[0].is_object() && champion.is_object() &&
                             rows[0].value("player_id", json()) ==
                                 champion.value("player_id", json(0));
                    });
}

}  // namespace

std::vector<Check> manager_checks(ManagerBench& bench) {
  std::vector<Check> out;
  ManagerChecks checks(bench, out);
  add_registrations(bench, checks);
  add_answers(bench, checks);
  for (const Refusal& refusal : kRefusals) {
    checks.add(
        refusal.id, refusal.level, std::string("The manager refuses ") + refusal.what + ".",
        "Check this, and answer with LEAGUE_ERROR (or with REJECTED, if it is a registration).",
        [&bench, &refusal] { return expect_refusal(bench.kept(refusal.kept), refusal); });
  }
  add_course(bench, checks);
  add_news(bench, checks);
  return out;
}

}  // namespace league::tools::check
