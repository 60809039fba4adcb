// Cases of league managers: what they answer to the messages of a whole league, and what they send.
#include <set>

#include "tools/check/cases/case.h"
#include "tools/check/cases/cases.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// A correct message of the bench, with these changes, and what the manager has to make of it.
struct ManagerCase {
  const char* id;  ///< also the name under which the bench keeps the answer
  Level level;
  const char* what;  ///< the end of "... refuses", or the name of a correct call
  const char* code;  ///< of the league, with which it is refused; empty: any
  ManagerPhase phase;
  const char* changes;
};

/// What has to be accepted.
const ManagerCase kAccepted[] = {
    {"P-4/ping", kMust, "ping", "", ManagerPhase::kPing, R"({})"},
    {"P-4.16/standings", kMust, "standings", "", ManagerPhase::kQueries, R"({})"},
    {"P-2/extra-field-ignored", kMust, "extra_field", "", ManagerPhase::kQueries,
     R"({"league_check_extra": {"a": 1}})"},
    {"P-4.16/schedule", kMust, "schedule", "", ManagerPhase::kEnd, R"({})"},
    {"P-4.11/accepted", kMust, "report", "", ManagerPhase::kReport, R"({})"},
    {"P-8/repeated-report", kMust, "report_again", "", ManagerPhase::kReport, R"({})"},
    {"P-4.11/later-accepted", kMust, "later_report", "", ManagerPhase::kLater, R"({})"},
};

/// What has to be refused, in any form: LEAGUE_ERROR, REJECTED or a JSON-RPC error.
const ManagerCase kRefusals[] = {
    {"P-4.3/without-meta", kMust, "a registration without player_meta", "E003",
     ManagerPhase::kStrangers, R"({"player_meta": "$gone"})"},
    {"P-3/registration-time", kMust, "a registration whose timestamp has a blank in place of T",
     "E021", ManagerPhase::kStrangers, R"({"timestamp": "2025-01-15 10:30:00"})"},
    {"P-2/other-protocol", kMust, "a registration with the protocol league.v3", "E018",
     ManagerPhase::kStrangers, R"({"protocol": "league.v3"})"},
    {"P-6/other-version", kMust, "a registration with the protocol_version 3.0.0", "E018",
     ManagerPhase::kStrangers, R"({"player_meta/protocol_version": "3.0.0"})"},
    {"P-4.3/unknown-game", kMust, "the registration of a player of chess", "",
     ManagerPhase::kStrangers, R"({"player_meta/game_types": ["chess"]})"},
    {"P-4.3/no-games", kMust, "the registration of a player without game_types", "",
     ManagerPhase::kStrangers, R"({"player_meta/game_types": []})"},
    {"P-4.3/bad-endpoint", kMust, "a registration whose contact_endpoint is not a URL", "",
     ManagerPhase::kStrangers, R"({"player_meta/contact_endpoint": "not a url"})"},
    {"P-4.3/long-name", kMust, "a registration with a display_name of 51 characters", "",
     ManagerPhase::kStrangers, R"({"player_meta/display_name": "$n*51"})"},
    {"P-2/null-name", kMust, "a registration whose display_name is null", "E003",
     ManagerPhase::kStrangers, R"({"player_meta/display_name": null})"},
    {"P-8/same-name", kShould, "a second player with the same display_name", "",
     ManagerPhase::kCopies, R"({"registration_nonce": "league_check_same_name",
         "player_meta/contact_endpoint": "http://127.0.0.1:9/mcp"})"},
    {"P-8/same-address", kMust, "a second player at the same address", "", ManagerPhase::kCopies,
     R"({"registration_nonce": "league_check_same_place",
         "player_meta/display_name": "check_double"})"},
    {"P-4.15/unknown-query", kMust, "a query with an unknown query_type", "",
     ManagerPhase::kQueries, R"({"query_type": "GET_EVERYTHING"})"},
    {"P-4.15/without-query-type", kMust, "a query without query_type", "E003",
     ManagerPhase::kQueries, R"({"query_type": "$gone"})"},
    {"P-8/query-without-token", kMust, "a query without a token", "E011", ManagerPhase::kQueries,
     R"({"auth_token": "$gone"})"},
    {"P-8/query-wrong-token", kMust, "a query with a wrong token", "E012", ManagerPhase::kQueries,
     R"({"auth_token": "tok_leaguecheck_must_not_be_repeated"})"},
    {"P-8/query-foreign-sender", kMust, "a query in another player's name", "",
     ManagerPhase::kQueries, R"({"sender": "player:P98"})"},
    {"P-4/start-without-key", kMust, "start_league without the operator's key", "",
     ManagerPhase::kStart, R"({})"},
    {"P-6/late-registration", kMust, "a registration after the start", "E019", ManagerPhase::kLate,
     R"({})"},
    {"P-7/report-number", kMust, "a report with a wrong number", "", ManagerPhase::kLies,
     R"({"result/details/drawn_number": "$another_number"})"},
    {"P-7/report-winner", kMust, "a report with a wrong winner", "", ManagerPhase::kLies,
     R"({"result/winner": "$another_winner", "result/score": "$another_score"})"},
    {"P-7/report-score", kMust, "a report with a score of 300", "", ManagerPhase::kLies,
     R"({"result/score/$a": 300, "result/score/$b": 0})"},
    {"P-7/report-seed", kMust, "a report with a seed that does not match the draw_commitment", "",
     ManagerPhase::kLies, R"({"result/details/draw_proof": "$7*64"})"},
    {"P-7/report-choice", kMust, "a report with an invalid choice", "", ManagerPhase::kLies,
     R"({"result/details/choices/$a": "Even"})"},
    {"P-7/report-round", kMust, "a report with another round_id", "", ManagerPhase::kLies,
     R"({"round_id": 7})"},
    {"P-7/report-match", kMust, "a report on a match that does not exist", "", ManagerPhase::kLies,
     R"({"match_id": "R7M7"})"},
    {"P-7/report-game", kMust, "a report with another game_type", "", ManagerPhase::kLies,
     R"({"game_type": "chess"})"},
    {"P-8/report-player-token", kMust, "a report in the referee's name with a player's token", "",
     ManagerPhase::kLies, R"({"auth_token": "$player_token"})"},
    {"P-8/report-by-player", kMust, "a report by a player", "", ManagerPhase::kLies,
     R"({"auth_token": "$player_token", "sender": "$player_sender"})"},
    {"P-8/report-without-token", kMust, "a report without a token", "", ManagerPhase::kLies,
     R"({"auth_token": "$gone"})"},
    {"P-7/report-stranger", kMust, "a report whose winner is not a player of the match", "",
     ManagerPhase::kLies, R"({"result/winner": "P999", "result/score": {"P999": 3}})"},
    {"P-8/report-conflict", kMust, "a second report with another result", "",
     ManagerPhase::kConflicts, R"({"result/winner": "$another_winner"})"},
};

bool is_refusal(const BotReply& reply) {
  if (!reply.error.is_null()) return true;
  return reply.text("message_type") == "LEAGUE_ERROR" || reply.text("status") == "REJECTED" ||
         (reply.message.is_object() && value_at(reply.message, "success") == false);
}

std::string code_in(const BotReply& reply) {
  for (const json* place :
       {&reply.message, &value_at(reply.error, "data"), &value_at(reply.message, "error")}) {
    if (std::string code = text_at(*place, "error_code"); !code.empty()) return code;
  }
  return {};
}

Verdict expect_refusal(const BotReply& reply, const ManagerCase& refusal) {
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
                code.empty() ? "no error_code" : code);
}

Verdict expect_acceptance(const BotReply& reply) {
  if (reply.exchange.sent.empty()) return skip("the league did not get that far");
  return expect(reply.has_answer() && !is_refusal(reply), reply.exchange, "/result",
                "an answer without an error", shown_answer(reply));
}

bool is_player_id(const json& v) {
  return v.is_string() && v.get_ref<const std::string&>().starts_with("P");
}

bool is_long_text(const json& v) {
  return v.is_string() && v.get_ref<const std::string&>().size() >= 20;
}

/// The fields of the answer to the first player's registration.
const FieldCase kAnswerFields[] = {
    {"P-4.4/status", kMust, "`status` is ACCEPTED.", "Set status in LEAGUE_REGISTER_RESPONSE.",
     "status", R"("ACCEPTED")", nullptr, kBasic},
    {"P-4.4/type", kMust, "The answer is a LEAGUE_REGISTER_RESPONSE.",
     "Set message_type in LEAGUE_REGISTER_RESPONSE.", "message_type",
     R"("LEAGUE_REGISTER_RESPONSE")"},
    {"P-4.4/protocol", kMust, "`protocol` is \"league.v2\".",
     "Set protocol in LEAGUE_REGISTER_RESPONSE.", "protocol", R"("league.v2")"},
    {"P-4.4/sender", kMust, "`sender` is `league_manager`.",
     "Set sender in LEAGUE_REGISTER_RESPONSE.", "sender", R"("league_manager")"},
    {"P-4.4/timestamp", kMust, "`timestamp` is a UTC time in one of the protocol's formats.",
     "Set timestamp in LEAGUE_REGISTER_RESPONSE.", "timestamp", is_time},
    {"P-4.4/conversation", kMust, "`conversation_id` is that of the request.",
     "Set conversation_id in LEAGUE_REGISTER_RESPONSE.", "conversation_id",
     R"("convleaguecheck001")"},
    {"P-4.4/player-id", kMust, "`player_id` is present, such as P01.",
     "Set player_id in LEAGUE_REGISTER_RESPONSE.", "player_id", is_player_id},
    {"P-4.4/token", kMust, "`auth_token` has at least 20 characters.",
     "Set auth_token in LEAGUE_REGISTER_RESPONSE.", "auth_token", is_long_text},
    {"P-4.4/league-id", kMust, "`league_id` is present.",
     "Set league_id in LEAGUE_REGISTER_RESPONSE.", "league_id", is_any_text},
};

Verdict expect_kept_code(ManagerBench& bench, const char* name, int code) {
  const BotReply& reply = bench.kept(name);
  if (reply.exchange.sent.empty()) return skip("this can be checked over HTTP only");
  return expect(reply.code() == code, reply.exchange, "/error/code", std::to_string(code),
                shown_answer(reply));
}

Verdict expect_same_id(ManagerBench& bench, const char* name) {
  const BotReply& reply = bench.kept(name);
  const std::string& id = bench.players().front().id;
  return expect(reply.text("player_id") == id, reply.exchange, reply.place + "/player_id", id,
                shown_answer(reply));
}

constexpr const char* kLookUp =
    "Look the token and the nonce up among the registered agents before you register a new one.";
constexpr const char* kRpcCode = "Answer with this code of JSON-RPC 2.0.";

const Probe<ManagerBench> kAnswers[] = {
    {"P-4.2/accepted", kMust, "The manager accepts a referee, and gives it an id and a token.",
     "Answer register_referee with REFEREE_REGISTER_RESPONSE, status ACCEPTED, referee_id and "
     "auth_token.",
     [](ManagerBench& bench) {
       const BroughtAgent& referee = bench.referees().front();
       return expect(!referee.id.empty() && !referee.token.empty(), referee.registration.exchange,
                     "/result", "referee_id and auth_token", shown_answer(referee.registration));
     },
     kBasic},
    {"P-8/tokens-differ", kMust, "Every agent gets its own token.",
     "Generate each token with a cryptographic random generator.",
     [](ManagerBench& bench) {
       const auto all = bench.secrets();
       return expect(std::set<std::string>(all.begin(), all.end()).size() == all.size(), {}, "",
                     "different tokens", "two agents have the same token");
     }},
    {"P-8/returns-with-token", kMust,
     "An agent that registers again with its token gets the same id.", kLookUp,
     [](ManagerBench& bench) { return expect_same_id(bench, "again_with_token"); }},
    {"P-8/returns-with-nonce", kShould,
     "An agent that registers again with its registration_nonce gets the same id.", kLookUp,
     [](ManagerBench& bench) { return expect_same_id(bench, "same_nonce"); }},
    {"P-5/unknown-method", kMust, "Invalid JSON-RPC is answered with the error -32601.", kRpcCode,
     [](ManagerBench& bench) { return expect_kept_code(bench, "unknown_method", -32601); }},
    {"P-5/invalid-request", kMust, "Invalid JSON-RPC is answered with the error -32600.", kRpcCode,
     [](ManagerBench& bench) { return expect_kept_code(bench, "invalid_request", -32600); }},
    {"P-5/parse-error", kMust, "Invalid JSON-RPC is answered with the error -32700.", kRpcCode,
     [](ManagerBench& bench) { return expect_kept_code(bench, "parse_error", -32700); }},
};

const Probe<ManagerBench> kEchoes[] = {
    {"P-4.17/no-token-echoed", kMust,
     "An error text contains at most the first 8 characters of a token.",
     "Do not put tokens into error texts.",
     [](ManagerBench& bench) {
       return expect_untold(bench.kept("P-8/query-wrong-token"), "must_not_be_repeated", "",
                            "no token in the response", "the token that was sent");
     }},
};

// ---- What the manager sends.

/// Expects `is_right` of the first call of `type` to the first player; `text`: what is required.
Verdict expect_told(ManagerBench& bench, const char* type, const char* text,
                    bool (*is_right)(ManagerBench&, const json&)) {
  const auto calls = bench.to_player(type);
  if (calls.empty()) return fail({}, "", std::string(type) + " to every player", "none");
  return expect(is_right(bench, calls.front().message), seen_call(&calls.front()), "/params", text,
                "another value");
}

/// A message that the manager sends to the players.
struct ToldCase {
  const char* id;
  const char* type;
  const char* text;
  bool (*is_right)(ManagerBench&, const json&);
};

bool is_sum(ManagerBench& /*bench*/, const json& m) {
  const json& summary = value_at(m, "summary");
  int total = 0;
  for (const char* part : {"wins", "draws", "technical_losses"}) {
    const json& number = value_at(summary, part);
    if (!number.is_number_integer()) return false;
    total += number.get<int>();
  }
  return value_at(summary, "total_matches") == total;
}

bool is_first(ManagerBench& /*bench*/, const json& m) {
  const json& first = value_at(m, "final_standings/0/player_id");
  return !first.is_null() && first == value_at(m, "champion/player_id");
}

const ToldCase kTold[] = {
    {"P-4.5/announced", "ROUND_ANNOUNCEMENT", "Players are told the matches of the round.",
     [](ManagerBench&, const json& m) {
       const json& matches = value_at(m, "matches");
       return matches.is_array() && !matches.empty() && value_at(m, "round_id") == 1;
     }},
    {"P-8/announcement-token", "ROUND_ANNOUNCEMENT",
     "Notifications to a player have the player's own token.",
     [](ManagerBench& bench, const json& m) {
       return bench.players().front().token.matches(text_at(m, "auth_token"));
     }},
    {"P-4.12/standings", "LEAGUE_STANDINGS_UPDATE",
     "Players are told the standings, with a row for every player.",
     [](ManagerBench& bench, const json& m) {
       return value_at(m, "standings").size() == bench.players().size();
     }},
    {"P-4.13/summary", "ROUND_COMPLETED",
     "`total_matches` is the sum of wins, draws and technical losses.", is_sum},
    {"P-4.14/champion", "LEAGUE_COMPLETED",
     "The champion is the first player of the final standings.", is_first},
};

Verdict hides_seed(ManagerBench& bench) {
  const auto calls = bench.to_player("ROUND_ANNOUNCEMENT");
  for (const InboundCall& call : calls) {
    if (call.bytes.find("\"draw_seed\"") != std::string::npos)
      return fail(seen_call(&call), "/params/matches", "no draw_seed", "draw_seed");
  }
  return pass();
}

Verdict pairs_all_once(ManagerBench& bench) {
  const std::size_t n = bench.players().size();
  std::set<std::set<std::string>> pairs;
  for (const AssignedMatch& match : bench.assignments())
    pairs.insert({match.player_a, match.player_b});
  const std::size_t matches = bench.assignments().size();
  return expect(pairs.size() == n * (n - 1) / 2 && pairs.size() == matches, {}, "",
                std::to_string(n * (n - 1) / 2) + " matches",
                std::to_string(matches) + " matches of " + std::to_string(pairs.size()) + " pairs");
}

const Probe<ManagerBench> kStarted[] = {
    {"P-4.5/assigned", kMust,
     "The manager starts the league when all agents have registered, and assigns matches to "
     "referees.",
     "When all agents have registered, send ROUND_ANNOUNCEMENT to the players and, with the "
     "assignments, to the referees.",
     [](ManagerBench& bench) {
       return expect(bench.has_started(), {}, "", "a ROUND_ANNOUNCEMENT to the referee", "none");
     },
     kBasic},
};

const Probe<ManagerBench> kSchedule[] = {
    {"P-7/seed-hidden", kMust, "Players do not learn the seed of a draw before the match is over.",
     "Send draw_seed only to the referee of the match.", hides_seed},
    {"P-7/each-pair-once", kMust, "Every two players meet exactly once.",
     "Create a round-robin schedule.", pairs_all_once},
    {"P-7/capacity", kMust, "A referee never has more matches at a time than its capacity.",
     "Assign at most max_concurrent_matches matches to a referee, and further ones when it has "
     "reported some.",
     [](ManagerBench& bench) {
       const std::size_t places = 2 * bench.referees().size();
       return expect(bench.most_at_once() <= places, {}, "", "at most " + std::to_string(places),
                     std::to_string(bench.most_at_once()));
     }},
};

/// Why there is nothing to judge.
Verdict played(ManagerBench& bench, const std::function<Verdict()>& judge) {
  const auto done = bench.play();
  return done ? judge() : harness_fault(done.error().message);
}

void add_told(ManagerBench& bench, std::span<const ToldCase> rows, Checks& out) {
  for (const ToldCase& row : rows) {
    out.push_back(
        {case_info(
             row.id, kMust, row.text,
             std::string("Compare your ") + row.type + " with section 4 of docs/protocol.md."),
         [&bench, &row] { return expect_told(bench, row.type, row.text, row.is_right); }});
  }
}

}  // namespace

Checks manager_cases(ManagerBench& bench) {
  Checks out;
  add_cases(bench, std::span<const FieldCase>(kAnswerFields), out,
            [](ManagerBench& with, const FieldCase& row) {
              const BotReply& reply = with.players().front().registration;
              return judge_field(row, reply.message, {}, reply.exchange, reply.place);
            });
  add_probes(bench, kAnswers, out);
  for (const ManagerCase& row : kAccepted) {
    bench.add_probe({row.id, row.phase, row.changes});
    out.push_back(
        {case_info(row.id, row.level,
                   std::string("A correct call (") + row.what + ") is answered without an error.",
                   "Accept this call; compare \"sent\" with the message's fields in section "
                   "4 of docs/protocol.md."),
         [&bench, &row] { return expect_acceptance(bench.kept(row.id)); }});
  }
  add_probes(bench, kEchoes, out);
  for (const ManagerCase& row : kRefusals) {
    bench.add_probe({row.id, row.phase, row.changes});
    out.push_back(
        {case_info(row.id, row.level, std::string("The manager refuses ") + row.what + ".",
                   "Check this, and answer with LEAGUE_ERROR (or with REJECTED, if it is a "
                   "registration)."),
         [&bench, &row] { return expect_refusal(bench.kept(row.id), row); }});
  }
  add_probes(bench, kStarted, out);
  add_told(bench, std::span(kTold).first(2), out);
  add_probes(bench, kSchedule, out);
  add_told(bench, std::span(kTold).subspan(2), out);
  for (Check& check : out) {
    check.info.needs_play = false;
    check.run = [&bench, judge = std::move(check.run)] { return played(bench, judge); };
  }
  return out;
}

}  // namespace league::tools::check
