// Checks with failing players, with false messages, and of JSON-RPC.
#include <algorithm>
#include <cstdint>
#include <future>

#include "tools/check/game_truth.h"
#include "tools/check/roles/role_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// The expected end of a match with a bad player.
enum class Ending : std::uint8_t {
  kPlayed,
  kLost,  ///< the other player wins without a number
  kEither,  ///< a referee may overlook the fault, or count it as an invalid answer
};

/// A player whose answers of `type` have one fault: all of them, or the first `times`.
struct BadPlayer {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  const char* type;
  int times;
  void (*spoil)(json&);  ///< adds the fault to the right answer
  Ending ending;
  bool commits = false;
};

const char* const kInvalid =
    "Send GAME_ERROR to the player and ask again. After three invalid answers, report a technical "
    "loss of that player.";

const char* const kNames =
    "Match the answer to its call by the JSON-RPC id. Either accept the answer, or treat it as "
    "invalid: send GAME_ERROR and ask again, up to three times.";

const BadPlayer kBadPlayers[] = {
    {"P-6/invalid-choice-asked-again", Level::kMust,
     "After an invalid choice, the referee asks again and accepts a valid answer.", kInvalid,
     "CHOOSE_PARITY_RESPONSE", 1, [](json& m) { m["parity_choice"] = "Even"; }, Ending::kPlayed},
    {"P-6/three-invalid-choices-lose", Level::kMust,
     "A player that answers with three invalid choices loses the match.", kInvalid,
     "CHOOSE_PARITY_RESPONSE", 99, [](json& m) { m["parity_choice"] = "both"; }, Ending::kLost},
    {"P-6/choice-of-another-match", Level::kMust, "An answer with another match_id is invalid.",
     kInvalid, "CHOOSE_PARITY_RESPONSE", 99, [](json& m) { m["match_id"] = "R9M9"; },
     Ending::kLost},
    {"P-4.7/declined", Level::kMust, "A player that declines the invitation loses the match.",
     "Report a technical loss, with the other player as the winner and drawn_number null.",
     "GAME_JOIN_ACK", 99, [](json& m) { m["accept"] = false; }, Ending::kLost},
    {"P-7.25/unopened-commitment", Level::kMust,
     "A choice whose nonce does not match the commitment is invalid.", kInvalid,
     "CHOOSE_PARITY_RESPONSE", 99, [](json& m) { m["choice_nonce"] = std::string(64, '0'); },
     Ending::kLost, true},
    {"P-7.25/other-choice-than-committed", Level::kMust,
     "A choice other than the committed one is invalid.", kInvalid, "CHOOSE_PARITY_RESPONSE", 99,
     [](json& m) {
       m["parity_choice"] = m["parity_choice"] == game_word(1) ? game_word(0) : game_word(1);
     },
     Ending::kLost, true},
    {"P-2/extra-fields-of-players", Level::kMust,
     "The referee ignores unknown fields in a player's answer.",
     "Read the fields that you know, and ignore all others.", "CHOOSE_PARITY_RESPONSE", 99,
     [](json& m) {
       m["league_check_extra"] = {{"a", json::array({1, 2})}};
     },
     Ending::kPlayed},
    {"P-7.27/stray-nonce-ignored", Level::kShould,
     "The nonce of a player that did not commit does not count in the draw.",
     "Use a nonce only if both choice_commitment and draw_commitment were sent in this match.",
     "CHOOSE_PARITY_RESPONSE", 99, [](json& m) { m["choice_nonce"] = std::string(64, '5'); },
     Ending::kPlayed},
    {"P-3/compact-time-of-players", Level::kMust,
     "The referee accepts a player's timestamp in the compact format, with a fraction.",
     "Accept every format of section 3 of docs/protocol.md.", "GAME_JOIN_ACK", 99,
     [](json& m) { m["timestamp"] = "20250115T103000.5Z"; }, Ending::kPlayed},
    {"P-9/answer-without-round", Level::kShould,
     "The referee accepts a player's answer without round_id and league_id.",
     "Require only the fields that docs/protocol.md requires of players.", "CHOOSE_PARITY_RESPONSE",
     99,
     [](json& m) {
       m.erase("round_id");
       m.erase("league_id");
     },
     Ending::kPlayed},
    {"P-2/answer-in-other-conversation", Level::kMust,
     "An answer with another conversation_id is either accepted or invalid; the match ends either "
     "way.",
     kNames, "CHOOSE_PARITY_RESPONSE", 99,
     [](json& m) { m["conversation_id"] = "my-own-conversation"; }, Ending::kEither},
    {"P-2/answer-in-other-league", Level::kMust,
     "An answer with another league_id is either accepted or invalid; the match ends either way.",
     kNames, "CHOOSE_PARITY_RESPONSE", 99, [](json& m) { m["league_id"] = "my_own_league"; },
     Ending::kEither},
    {"P-2/answer-in-other-round", Level::kMust,
     "An answer with another round_id is either accepted or invalid; the match ends either way.",
     kNames, "GAME_JOIN_ACK", 99, [](json& m) { m["round_id"] = 99; }, Ending::kEither},
};

/// A script for seat 0 that adds the fault to the right answers.
std::function<void(json&, int)> spoilt(const BadPlayer& bad) {
  return [&bad](json& answer, int before) {
    if (answer["message_type"] == bad.type && before < bad.times) bad.spoil(answer);
  };
}

/// Whether a report with these details is of a match that nobody has lost by a failure.
bool was_played(const json& details) {
  if (!details.is_object()) return false;
  if (tested_game()->numbers()) return field_at(details, "drawn_number").is_number();
  return details.value("termination", json("NORMAL")) == json("NORMAL");
}

Verdict judge_bad_player(RefereeBench& bench, const BadPlayer& bad) {
  RefereeMatch match;
  match.seats[0].commits = bad.commits;
  match.seats[0].spoil = spoilt(bad);
  match.seats[1].choice = game_word(1);
  const RefereeTrace trace = bench.play(match);
  const Exchange seen = seen_call(trace.reports.empty() ? nullptr : &trace.reports.front());
  if (trace.reports.empty()) return fail(seen, "", "a report", "none within the time limit");
  const json result = trace.result();
  const json details = result.is_object() ? result.value("details", json::object()) : json();
  const bool is_played = was_played(details);
  const bool is_lost = details.is_object() && !is_played &&
                       field_at(details, "drawn_number").is_null() &&
                       result.value("winner", json()) == bench.player_id(1);
  if ((is_lost && bad.ending != Ending::kPlayed) || (is_played && bad.ending != Ending::kLost))
    return pass();
  const char* const played = "a match that was played to its end";
  const char* const lost = "player B as the winner, and no number";
  return fail(seen, "/params/result",
              bad.ending == Ending::kLost     ? lost
              : bad.ending == Ending::kPlayed ? played
                                              : std::string(played) + ", or " + lost,
              shown_value(trace.reports.front().message, "result"));
}

void add_bad_players(RefereeBench& bench, Checks& out) {
  for (const BadPlayer& bad : kBadPlayers) {
    out.push_back({{.id = bad.id, .level = bad.level, .text = bad.text, .fix = bad.fix},
                   [&bench, &bad] { return judge_bad_player(bench, bad); }});
  }
}

const Probe<RefereeBench> kOfPlayers[] = {
    {"P-4.18/told", Level::kShould,
     "The referee sends GAME_ERROR with the error code to a player whose answer is invalid.",
     "Send GAME_ERROR to that player, with error_code E004 for an invalid choice.",
     [](RefereeBench& bench) {
       RefereeMatch match;
       match.seats[0].spoil = spoilt(kBadPlayers[0]);
       const RefereeTrace trace = bench.play(match);
       const InboundCall* error = trace.first(0, "GAME_ERROR");
       if (error == nullptr) return fail({}, "", "a GAME_ERROR", "none");
       return expect(text_at(error->message, "error_code") == "E004", seen_call(error),
                     "/params/error_code", "\"E004\"", shown_value(error->message, "error_code"));
     }},
    {"P-6/nobody-there",
     Level::kMust,
     "A player that cannot be reached is called three times, and then loses the match.",
     "After a failed connection, try again after two seconds, three times in all. Then report a "
     "technical loss.",
     [](RefereeBench& bench) {
       if (bench.is_fast())
         return skip("this has to wait for the referee's own retries; leave out --fast");
       RefereeMatch match;
       match.seats[0].endpoint = "http://127.0.0.1:1/mcp";
       match.limit = milliseconds(15'000);
       const RefereeTrace trace = bench.play(match);
       if (trace.reports.empty()) return fail({}, "", "a report", "none within 15 s");
       return expect(trace.result().value("winner", json()) == bench.player_id(1),
                     seen_call(&trace.reports.front()), "/params/result/winner", bench.player_id(1),
                     shown_value(trace.result(), "winner"));
     },
     {.is_slow = true}},
    {"P-6/report-repeated",
     Level::kMust,
     "The referee repeats a report that failed with HTTP 503, unchanged.",
     "Send the same report again until the manager answers.",
     [](RefereeBench& bench) {
       if (bench.is_fast())
         return skip("this has to wait for the referee's own retries; leave out --fast");
       RefereeMatch match;
       match.limit = milliseconds(12'000);
       match.on_report = [](const InboundCall&, int before) -> std::optional<MockAnswer> {
         if (before > 0) return std::nullopt;
         return MockAnswer{.result = nullptr, .http_status = 503, .raw = "busy"};
       };
       const RefereeTrace trace = bench.play(match);
       if (trace.reports.size() < 2)
         return fail(seen_call(trace.reports.empty() ? nullptr : &trace.reports.front()), "",
                     "a second report", "none within 12 s");
       return expect(trace.reports[0].message.value("result", json()) ==
                         trace.reports[1].message.value("result", json()),
                     seen_call(&trace.reports[1]), "/params/result",
                     "the result of the first report", "another result");
     },
     {.is_slow = true}},
};

/// An assignment with one fault; it must be refused, and no match may start.
struct BadAssignment {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  void (*change)(json&);
};

const BadAssignment kBadAssignments[] = {
    {"P-8/assignment-of-stranger", Level::kMust,
     "The referee does not start a match that was assigned with a wrong token.",
     "Compare auth_token with your own token, and answer with an error if it is another.",
     [](json& m) { m["auth_token"] = "tok_ref03_somebody_else"; }},
    {"P-8/assignment-without-token", Level::kMust,
     "The referee does not start a match that was assigned without a token.",
     "Compare auth_token with your own token, and answer with an error if it is another.",
     [](json& m) { m.erase("auth_token"); }},
    {"P-4.5/unknown-game", Level::kMust, "The referee does not start a match of an unknown game.",
     "Answer the announcement with an error if you do not know game_type. Another referee then "
     "gets the match.",
     [](json& m) { m["matches"][0]["game_type"] = "chess"; }},
};

void add_bad_assignments(RefereeBench& bench, Checks& out) {
  for (const BadAssignment& bad : kBadAssignments) {
    out.push_back(
        {{.id = bad.id, .level = bad.level, .text = bad.text, .fix = bad.fix}, [&bench, &bad] {
           RefereeMatch match;
           match.change_assignment = bad.change;
           match.expects_report = false;
           const RefereeTrace trace = bench.play(match);
           const bool has_begun = trace.first(0, "CHOOSE_PARITY_CALL") != nullptr;
           return expect(!has_begun, trace.assignment.exchange, "", "no match",
                         "the match was started");
         }});
  }
}

Verdict expect_code_of(const BotReply& reply, int code) {
  return expect(reply.code() == code, reply.exchange, "/error/code", std::to_string(code),
                shown_answer(reply));
}

const Probe<RefereeBench> kOfManagers[] = {
    {"P-4.5/assignment-twice", Level::kMust,
     "The referee plays a match once, even if it is assigned twice.",
     "Remember match_id and attempt of each assignment, and only acknowledge a repetition.",
     [](RefereeBench& bench) {
       RefereeMatch match;
       match.change_assignment = [](json& m) { m["matches"].push_back(m["matches"][0]); };
       const RefereeTrace trace = bench.play(match);
       const std::size_t invitations = trace.count(0, "GAME_INVITATION");
       return expect(invitations <= 1, trace.assignment.exchange, "", "one GAME_INVITATION",
                     std::to_string(invitations));
     }},
    {"P-6/eight-matches", Level::kRobust,
     "The referee plays and reports eight matches at the same time.",
     "Keep the state of each match separate, and call players of different matches in parallel.",
     [](RefereeBench& bench) {
       std::vector<std::future<RefereeTrace>> running;
       for (int i = 0; i < 8; ++i)
         running.push_back(std::async(std::launch::async, [&bench] { return bench.play({}); }));
       std::size_t reported = 0;
       Exchange last;
       for (auto& one : running) {
         const RefereeTrace trace = one.get();
         last = trace.assignment.exchange;
         reported += trace.reports.empty() ? 0 : 1;
       }
       return expect(reported == 8, last, "", "8 reports", std::to_string(reported));
     }},
    {"P-5/unknown-method",
     Level::kMust,
     "A call of an unknown method is answered with the error -32601.",
     "Answer with the error -32601 (\"Method not found\").",
     [](RefereeBench& bench) {
       return expect_code_of(bench.rpc().call("league_check_no_such_method", json::object()),
                             -32601);
     },
     {.needs_play = false}},
    {"P-5/parse-error",
     Level::kMust,
     "A body that is not JSON is answered with the error -32700.",
     "Catch the JSON parser's exception, and answer with the error -32700 and id null.",
     [](RefereeBench& bench) {
       if (!bench.rpc().is_http()) return skip("this can be checked over HTTP only");
       return expect_code_of(bench.rpc().send("{\"jsonrpc\": ", rpc::Id(1)), -32700);
     },
     {.needs_play = false}},
    {"P-5/invalid-request",
     Level::kMust,
     "A request without `method` is answered with the error -32600.",
     "Answer with the error -32600 if method is missing or not a string.",
     [](RefereeBench& bench) {
       return expect_code_of(bench.rpc().send(R"({"jsonrpc":"2.0","id":7711})", rpc::Id(7711)),
                             -32600);
     },
     {.needs_play = false}},
    {"P-5/announcement-without-matches",
     Level::kMust,
     "A ROUND_ANNOUNCEMENT without `matches` is answered with an error.",
     "Answer with the error -32602 if a required field is missing.",
     [](RefereeBench& bench) {
       json message = bench.rpc().news(MessageType::kRoundAnnouncement);
       message.erase("matches");
       return expect_refused(bench.rpc().call("notify_round", message), "`matches` is missing");
     },
     {.needs_play = false}},
    {"P-4/ping",
     Level::kShould,
     "The referee answers `ping`.",
     "Answer ping with {\"status\": \"ok\"}.",
     [](RefereeBench& bench) {
       const BotReply reply = bench.rpc().call("ping", json::object());
       return expect(reply.has_answer() && reply.error.is_null(), reply.exchange, "/error",
                     "a result", shown_answer(reply));
     },
     {.needs_play = false}},
    {"P-8/start-match-of-stranger",
     Level::kMust,
     "The referee refuses `start_match` without its own token.",
     "Answer start_match with an error if auth_token is not your own token.",
     [](RefereeBench& bench) {
       return expect_refused(bench.rpc().call("start_match", {{"match_id", "R8M8"}}),
                             "only the manager may start matches");
     },
     {.needs_play = false}},
    {"P-5/survives",
     Level::kRobust,
     "The referee keeps working after invalid JSON-RPC.",
     "Catch every exception while you handle a request, and answer with an error.",
     [](RefereeBench& bench) {
       (void)bench.rpc().send(R"({"jsonrpc":"2.0","id":1,"method":["x"],"params":7})", rpc::Id(1));
       (void)bench.rpc().call("notify_round", json::array({nullptr}));
       const RefereeTrace trace = bench.play({});
       return expect(!trace.reports.empty(), trace.assignment.exchange, "", "a report",
                     "none within the time limit");
     },
     {.needs_play = false}},
};

}  // namespace

void add_referee_fault_checks(RefereeBench& bench, Checks& out) {
  add_bad_players(bench, out);
  add_probes(bench, kOfPlayers, out);
  add_bad_assignments(bench, out);
  add_probes(bench, kOfManagers, out);
}

}  // namespace league::tools::check
