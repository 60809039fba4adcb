// Checks with failing players, with false messages, and of JSON-RPC.
#include <algorithm>
#include <cstdint>
#include <future>

#include "tools/check/cases/cases.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {
namespace {

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
  const char* changes;  ///< of the right answer; `$other_word` is a word that was not chosen
  Ending ending;
  bool commits = false;
  unsigned traits = 0;
};

const char* const kInvalid =
    "Send GAME_ERROR to the player and ask again. After three invalid answers, report a technical "
    "loss of that player.";

const char* const kNames =
    "Match the answer to its call by the JSON-RPC id. Either accept the answer, or treat it as "
    "invalid: send GAME_ERROR and ask again, up to three times.";

constexpr const char* kJoins = "GAME_JOIN_ACK";
constexpr const char* kChoices = "CHOOSE_PARITY_RESPONSE";

const BadPlayer kBadPlayers[] = {
    {"P-6/invalid-choice-asked-again", kMust,
     "After an invalid choice, the referee asks again and accepts a valid answer.", kInvalid,
     kChoices, 1, R"({"parity_choice": "Even"})", Ending::kPlayed},
    {"P-6/three-invalid-choices-lose", kMust,
     "A player that answers with three invalid choices loses the match.", kInvalid, kChoices, 99,
     R"({"parity_choice": "both"})", Ending::kLost},
    {"P-6/choice-of-another-match", kMust, "An answer with another match_id is invalid.", kInvalid,
     kChoices, 99, R"({"match_id": "R9M9"})", Ending::kLost},
    {"P-4.7/declined", kMust, "A player that declines the invitation loses the match.",
     "Report a technical loss, with the other player as the winner and drawn_number null.", kJoins,
     99, R"({"accept": false})", Ending::kLost},
    {"P-7.25/unopened-commitment", kMust,
     "A choice whose nonce does not match the commitment is invalid.", kInvalid, kChoices, 99,
     R"({"choice_nonce": "$0*64"})", Ending::kLost, true},
    {"P-7.25/other-choice-than-committed", kMust,
     "A choice other than the committed one is invalid.", kInvalid, kChoices, 99,
     R"({"parity_choice": "$other_word"})", Ending::kLost, true},
    {"P-2/extra-fields-of-players", kMust,
     "The referee ignores unknown fields in a player's answer.",
     "Read the fields that you know, and ignore all others.", kChoices, 99,
     R"({"league_check_extra": {"a": [1, 2]}})", Ending::kPlayed},
    {"P-7.27/stray-nonce-ignored", kShould,
     "The nonce of a player that did not commit does not count in the draw.",
     "Use a nonce only if both choice_commitment and draw_commitment were sent in this match.",
     kChoices, 99, R"({"choice_nonce": "$5*64"})", Ending::kPlayed},
    {"P-3/compact-time-of-players", kMust,
     "The referee accepts a player's timestamp in the compact format, with a fraction.",
     "Accept every format of section 3 of docs/protocol.md.", kJoins, 99,
     R"({"timestamp": "20250115T103000.5Z"})", Ending::kPlayed},
    {"P-9/answer-without-round", kShould,
     "The referee accepts a player's answer without round_id and league_id.",
     "Require only the fields that docs/protocol.md requires of players.", kChoices, 99,
     R"({"round_id": "$gone", "league_id": "$gone"})", Ending::kPlayed},
    {"P-2/answer-in-other-conversation", kMust,
     "An answer with another conversation_id is either accepted or invalid; the match ends either "
     "way.",
     kNames, kChoices, 99, R"({"conversation_id": "my-own-conversation"})", Ending::kEither},
    {"P-2/answer-in-other-league", kMust,
     "An answer with another league_id is either accepted or invalid; the match ends either way.",
     kNames, kChoices, 99, R"({"league_id": "my_own_league"})", Ending::kEither},
    {"P-2/answer-in-other-round", kMust,
     "An answer with another round_id is either accepted or invalid; the match ends either way.",
     kNames, kJoins, 99, R"({"round_id": 99})", Ending::kEither},
};

/// A script for seat 0 that adds the fault to the right answers.
std::function<void(json&, int)> spoilt(const BadPlayer& bad) {
  return [&bad](json& answer, int before) {
    if (value_at(answer, "message_type") != bad.type || before >= bad.times) return;
    const bool is_second = value_at(answer, "parity_choice") == game_word(1);
    change(answer, json::parse(bad.changes), {{"other_word", game_word(is_second ? 0 : 1)}});
  };
}

/// Whether the reported result is of a match that nobody has lost by a failure.
bool was_played(const json& result) {
  if (!value_at(result, "details").is_object()) return false;
  if (tested_game()->numbers()) return value_at(result, "details/drawn_number").is_number();
  const json& termination = value_at(result, "details/termination");
  return termination.is_null() || termination == "NORMAL";
}

bool was_lost(RefereeBench& bench, const json& result) {
  return value_at(result, "details").is_object() && !was_played(result) &&
         value_at(result, "details/drawn_number").is_null() &&
         value_at(result, "winner") == bench.player_id(1);
}

Verdict judge_bad_player(RefereeBench& bench, const BadPlayer& bad) {
  RefereeMatch match;
  match.seats[0].commits = bad.commits;
  match.seats[0].spoil = spoilt(bad);
  match.seats[1].choice = game_word(1);
  const RefereeTrace trace = bench.play(match);
  if (trace.reports.empty()) return fail({}, "", "a report", "none within the time limit");
  const json result = trace.result();
  if ((was_lost(bench, result) && bad.ending != Ending::kPlayed) ||
      (was_played(result) && bad.ending != Ending::kLost))
    return pass();
  const std::string played = "a match that was played to its end";
  const std::string lost = "player B as the winner, and no number";
  return fail(trace.first_report(), "/params/result",
              bad.ending == Ending::kLost     ? lost
              : bad.ending == Ending::kPlayed ? played
                                              : played + ", or " + lost,
              shown_value(trace.reports.front().message, "result"));
}

const Probe<RefereeBench> kOfPlayers[] = {
    {"P-4.18/told", kShould,
     "The referee sends GAME_ERROR with the error code to a player whose answer is invalid.",
     "Send GAME_ERROR to that player, with error_code E004 for an invalid choice.",
     [](RefereeBench& bench) {
       RefereeMatch match;
       match.seats[0].spoil = spoilt(kBadPlayers[0]);
       const RefereeTrace trace = bench.play(match);
       const InboundCall* error = trace.first(0, "GAME_ERROR");
       if (error == nullptr) return fail({}, "", "a GAME_ERROR", "none");
       return expect(error->text("error_code") == "E004", seen_call(error), "/params/error_code",
                     "\"E004\"", shown_value(error->message, "error_code"));
     }},
    {"P-6/nobody-there", kMust,
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
       return expect(value_at(trace.result(), "winner") == bench.player_id(1), trace.first_report(),
                     "/params/result/winner", bench.player_id(1),
                     shown_value(trace.result(), "winner"));
     },
     kSlow},
    {"P-6/report-repeated", kMust,
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
         return fail(trace.first_report(), "", "a second report", "none within 12 s");
       return expect(trace.result() == value_at(trace.reports[1].message, "result"),
                     seen_call(&trace.reports[1]), "/params/result",
                     "the result of the first report", "another result");
     },
     kSlow},
};

/// An assignment with one fault; it must be refused, and no match may start.
struct BadAssignment {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  const char* changes;
  unsigned traits = 0;
};

constexpr const char* kCompareToken =
    "Compare auth_token with your own token, and answer with an error if it is another.";

const BadAssignment kBadAssignments[] = {
    {"P-8/assignment-of-stranger", kMust,
     "The referee does not start a match that was assigned with a wrong token.", kCompareToken,
     R"({"auth_token": "tok_ref03_somebody_else"})"},
    {"P-8/assignment-without-token", kMust,
     "The referee does not start a match that was assigned without a token.", kCompareToken,
     R"({"auth_token": "$gone"})"},
    {"P-4.5/unknown-game", kMust, "The referee does not start a match of an unknown game.",
     "Answer the announcement with an error if you do not know game_type. Another referee then "
     "gets the match.",
     R"({"matches/0/game_type": "chess"})"},
};

Verdict judge_bad_assignment(RefereeBench& bench, const BadAssignment& bad) {
  RefereeMatch match;
  match.change_assignment = [&bad](json& m) { change(m, json::parse(bad.changes), {}); };
  match.expects_report = false;
  const RefereeTrace trace = bench.play(match);
  return expect(trace.first(0, "CHOOSE_PARITY_CALL") == nullptr, trace.assignment.exchange, "",
                "no match", "the match was started");
}

Verdict expect_code_of(const BotReply& reply, int code) {
  return expect(reply.code() == code, reply.exchange, "/error/code", std::to_string(code),
                shown_answer(reply));
}

const Probe<RefereeBench> kOfManagers[] = {
    {"P-4.5/assignment-twice", kMust,
     "The referee plays a match once, even if it is assigned twice.",
     "Remember match_id and attempt of each assignment, and only acknowledge a repetition.",
     [](RefereeBench& bench) {
       RefereeMatch match;
       match.change_assignment = [](json& m) {
         change(m, {{"matches/1", value_at(m, "matches/0")}}, {});
       };
       const RefereeTrace trace = bench.play(match);
       const std::size_t invitations = trace.count(0, "GAME_INVITATION");
       return expect(invitations <= 1, trace.assignment.exchange, "", "one GAME_INVITATION",
                     std::to_string(invitations));
     }},
    {"P-6/eight-matches", kRobust, "The referee plays and reports eight matches at the same time.",
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
    {"P-5/unknown-method", kMust, "A call of an unknown method is answered with the error -32601.",
     "Answer with the error -32601 (\"Method not found\").",
     [](RefereeBench& bench) {
       return expect_code_of(bench.rpc().call("league_check_no_such_method", json::object()),
                             -32601);
     },
     kAlways},
    {"P-5/parse-error", kMust, "A body that is not JSON is answered with the error -32700.",
     "Catch the JSON parser's exception, and answer with the error -32700 and id null.",
     [](RefereeBench& bench) {
       if (!bench.rpc().is_http()) return skip("this can be checked over HTTP only");
       return expect_code_of(bench.rpc().send("{\"jsonrpc\": ", rpc::Id(1)), -32700);
     },
     kAlways},
    {"P-5/invalid-request", kMust, "A request without `method` is answered with the error -32600.",
     "Answer with the error -32600 if method is missing or not a string.",
     [](RefereeBench& bench) {
       return expect_code_of(bench.rpc().send(R"({"jsonrpc":"2.0","id":7711})", rpc::Id(7711)),
                             -32600);
     },
     kAlways},
    {"P-5/announcement-without-matches", kMust,
     "A ROUND_ANNOUNCEMENT without `matches` is answered with an error.",
     "Answer with the error -32602 if a required field is missing.",
     [](RefereeBench& bench) {
       json message = bench.rpc().news(envelope::MessageType::kRoundAnnouncement);
       message.erase("matches");
       return expect_refused(bench.rpc().call("notify_round", message), "`matches` is missing");
     },
     kAlways},
    {"P-4/ping", kShould, "The referee answers `ping`.", "Answer ping with {\"status\": \"ok\"}.",
     [](RefereeBench& bench) {
       const BotReply reply = bench.rpc().call("ping", json::object());
       return expect(reply.has_answer() && reply.error.is_null(), reply.exchange, "/error",
                     "a result", shown_answer(reply));
     },
     kAlways},
    {"P-8/start-match-of-stranger", kMust,
     "The referee refuses `start_match` without its own token.",
     "Answer start_match with an error if auth_token is not your own token.",
     [](RefereeBench& bench) {
       return expect_refused(bench.rpc().call("start_match", {{"match_id", "R8M8"}}),
                             "only the manager may start matches");
     },
     kAlways},
    {"P-5/survives", kRobust, "The referee keeps working after invalid JSON-RPC.",
     "Catch every exception while you handle a request, and answer with an error.",
     [](RefereeBench& bench) {
       (void)bench.rpc().send(R"({"jsonrpc":"2.0","id":1,"method":["x"],"params":7})", rpc::Id(1));
       (void)bench.rpc().call("notify_round", json::array({nullptr}));
       const RefereeTrace trace = bench.play({});
       return expect(!trace.reports.empty(), trace.assignment.exchange, "", "a report",
                     "none within the time limit");
     },
     kAlways},
};

}  // namespace

void add_referee_fault_cases(RefereeBench& bench, Checks& out) {
  add_cases(bench, std::span<const BadPlayer>(kBadPlayers), out, &judge_bad_player);
  add_probes(bench, kOfPlayers, out);
  add_cases(bench, std::span<const BadAssignment>(kBadAssignments), out, &judge_bad_assignment);
  add_probes(bench, kOfManagers, out);
}

}  // namespace league::tools::check
