// Checks of an ordinary match: the order of calls, that choices are hidden from the opponent, and
// that the result is right.
#include "tools/check/cases/cases.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// The seed and the two players' answers.
GameTruth truth_of(RefereeBench& bench, const RefereeTrace& trace) {
  GameTruth truth{.match_id = trace.match_id,
                  .players = {bench.player_id(0), bench.player_id(1)},
                  .choices = {trace.scripts[0].choice, trace.scripts[1].choice},
                  .commitments = {},
                  .nonces = {},
                  .seed = trace.seed,
                  .is_first_a = true};
  for (std::size_t seat = 0; seat < 2; ++seat) {
    if (!trace.scripts.at(seat).commits) continue;
    truth.commitments.at(seat) = bench.commitment(trace, seat);
    truth.nonces.at(seat) = bench.nonce(trace.match_id, seat);
  }
  return truth;
}

/// The result that follows from them.
json true_result(RefereeBench& bench, const RefereeTrace& trace) {
  return value_at(game_over_fields(truth_of(bench, trace)), "game_result");
}

/// Expects this value at `path` of the reported result.
Verdict expect_reported(const RefereeTrace& trace, const std::string& path, const json& wanted) {
  const json result = trace.result();
  const std::string name = path.substr(path.find('/') + 1);
  const json& parent = name == path ? result : value_at(result, path.substr(0, path.find('/')));
  // Without a report there is no result; a missing winner is right only where there is one.
  return expect(result.is_object() && value_at(parent, name) == wanted, trace.first_report(),
                "/params/result/" + path, wanted.dump(), shown_value(parent, name));
}

Verdict check_number(RefereeBench& bench, const RefereeTrace& trace) {
  return expect_reported(trace, "details/drawn_number",
                         value_at(true_result(bench, trace), "drawn_number"));
}

Verdict check_winner(RefereeBench& bench, const RefereeTrace& trace) {
  return expect_reported(trace, "winner", value_at(true_result(bench, trace), "winner_player_id"));
}

Verdict check_score(RefereeBench& bench, const RefereeTrace& trace) {
  return expect_reported(trace, "score", score_of(truth_of(bench, trace)));
}

template <std::size_t seat>
Verdict check_game_over(RefereeBench& bench, const RefereeTrace& trace) {
  const InboundCall* over = trace.first(seat, "GAME_OVER");
  if (over == nullptr) return fail({}, "", "GAME_OVER to " + bench.player_id(seat), "none");
  const json wanted = true_result(bench, trace);
  const json& got = value_at(over->message, "game_result");
  for (const char* field : {"status", "winner_player_id", "drawn_number", "choices"}) {
    if (value_at(got, field) != value_at(wanted, field))
      return fail(seen_call(over), std::string("/params/game_result/") + field,
                  value_at(wanted, field).dump(), shown_value(got, field));
  }
  return pass();
}

constexpr const char* kTellBoth =
    "Send GAME_OVER to both players, with status, winner_player_id, drawn_number and choices.";

/// What follows from a match; of one without and of one with commitments.
struct ResultCase {
  const char* name;  ///< the end of the id
  const char* text;
  const char* fix;
  Verdict (*judge)(RefereeBench&, const RefereeTrace&);
};

const ResultCase kMatchResults[] = {
    {"number", "The reported number is the one that seed, choices and nonces give",
     "Draw the number as section 7 of docs/protocol.md says; docs/verify_draw.py calculates it.",
     check_number},
    {"winner", "The reported winner is the one that number and choices give",
     "The higher payoff wins: in Even/Odd the player who alone chose the parity of the number. "
     "Equal payoffs are a draw, and winner is null.",
     check_winner},
    {"score", "The reported score has the payoffs of the game, in Even/Odd 3 and 0, or 1 and 1",
     "Report score as an object with the points of both players: {\"P01\": 3, \"P02\": 0}.",
     check_score},
    {"told-player-a", "GAME_OVER has the right result", kTellBoth, check_game_over<0>},
    {"told-player-b", "GAME_OVER has the right result", kTellBoth, check_game_over<1>},
};

void add_results(RefereeBench& bench, Checks& out, bool is_committed) {
  for (const ResultCase& row : kMatchResults) {
    const std::string name = row.name;
    const std::string clause = name.starts_with("told") ? "P-4.10/"
                               : is_committed           ? "P-7.27/"
                                                        : "P-7/";
    out.push_back(
        {case_info(clause + name + (is_committed ? "-committed" : ""), kMust,
                   std::string(row.text) + (is_committed ? " (both players committed)." : "."),
                   row.fix),
         [&bench, &row, is_committed] {
           return row.judge(bench, is_committed ? bench.committed_sample() : bench.sample());
         }});
  }
}

const Probe<RefereeBench> kCourse[] = {
    {"P-4.5/assignment-taken", kMust,
     "The referee starts its matches when it gets their ROUND_ANNOUNCEMENT.",
     "Start each match in `matches` whose referee_id is yours.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       return expect(trace.first(0, "GAME_INVITATION") != nullptr, trace.assignment.exchange, "",
                     "a GAME_INVITATION to player A",
                     "none; the answer to the announcement was: " + shown_answer(trace.assignment));
     },
     kBasic | kAlways},
    {"P-4.11/reported", kMust, "The referee reports the result of an ordinary match.",
     "When the number is drawn, call report_match_result at the manager.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       return expect(!trace.reports.empty(), trace.assignment.exchange, "",
                     "a report within the time limit", "none");
     },
     kBasic | kAlways},
    {"P-7/opponent-choice-hidden", kMust,
     "Before GAME_OVER, no message tells a player the opponent's choice.",
     "Do not send a choice to anybody until the manager has accepted the report.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       for (const InboundCall& call : trace.seats[0]) {
         if (call.type() == "GAME_OVER") break;
         json told = call.message;
         // The words of the game are no secret.
         if (value_at(told, "context").is_object()) change(told, {{"context/game", "$gone"}}, {});
         if (told.dump().find("\"odd\"") != std::string::npos)
           return fail(seen_call(&call), "", "no choice of the opponent", "\"odd\"");
       }
       return pass();
     }},
    {"P-7/choice-asked-of-both", kMust,
     "The referee asks each player once for its choice if the answers are valid.",
     "Call choose_parity once for each player, and again only after a failed attempt.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       for (std::size_t seat = 0; seat < 2; ++seat) {
         const std::size_t calls = trace.count(seat, "CHOOSE_PARITY_CALL");
         if (calls != 1)
           return fail(seen_call(trace.first(seat, "CHOOSE_PARITY_CALL")), "",
                       "one CHOOSE_PARITY_CALL", std::to_string(calls));
       }
       return pass();
     }},
    {"P-7.25/calls-after-both-joined", kMust,
     "The referee asks for choices after both players have joined.",
     "Wait for GAME_JOIN_ACK of both players, then call choose_parity.",
     [](RefereeBench& bench) {
       RefereeMatch match;
       match.seats[1].choice = game_word(1);
       match.seats[1].join_delay = milliseconds(300);
       const RefereeTrace trace = bench.play(match);
       const InboundCall* called = trace.first(0, "CHOOSE_PARITY_CALL");
       const InboundCall* held = trace.first(1, "GAME_INVITATION");
       if (called == nullptr || held == nullptr)
         return fail({}, "", "a CHOOSE_PARITY_CALL", "none");
       return expect(called->at - held->at >= milliseconds(300), seen_call(called), "",
                     "after both players have joined", "before player B had joined");
     }},
    {"P-7/result-told-after-acceptance", kMust,
     "The referee sends GAME_OVER after the manager has accepted the report.",
     "Report the result first, and send GAME_OVER when the manager has answered.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       const InboundCall* over = trace.first(0, "GAME_OVER");
       if (over == nullptr) return fail({}, "", "GAME_OVER", "none");
       return expect(!trace.reports.empty() && over->at >= trace.reports.front().at,
                     seen_call(over), "", "after the report", "before it");
     }},
    {"P-4.11/seed-revealed", kMust, "The report contains the seed of the draw.",
     "Copy draw_seed of the assignment into draw_proof of the report.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       const Exchange report = trace.first_report();
       return expect(report.received.find(core::to_hex(trace.seed)) != std::string::npos, report,
                     "/params/draw_proof", "the draw_seed of the assignment",
                     "it is not in the report");
     }},
    {"P-7.25/opponent-commitment-handed-over", kMust,
     "CHOOSE_PARITY_CALL contains the opponent's commitment.",
     "Copy choice_commitment from the opponent's GAME_JOIN_ACK into context.opponent_commitment.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.committed_sample();
       const InboundCall* call = trace.first(0, "CHOOSE_PARITY_CALL");
       const std::string wanted = bench.commitment(trace, 1);
       return expect(call != nullptr && call->bytes.find(wanted) != std::string::npos,
                     seen_call(call), "/params/context/opponent_commitment", wanted,
                     call == nullptr ? "no call came" : "it is not in the call");
     }},
};

}  // namespace

void add_referee_match_cases(RefereeBench& bench, Checks& out) {
  add_probes(bench, kCourse, out);
  add_results(bench, out, false);
  add_results(bench, out, true);
}

}  // namespace league::tools::check
