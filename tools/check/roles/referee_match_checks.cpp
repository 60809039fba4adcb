// Checks of an ordinary match: the order of calls, that choices are hidden from the opponent, and
// that the result is right.
#include "tools/check/game_truth.h"
#include "tools/check/roles/role_checks.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

void add_match_check(Checks& out, CheckInfo info, std::function<Verdict()> run) {
  out.push_back({std::move(info), std::move(run)});
}

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
json result_of(RefereeBench& bench, const RefereeTrace& trace) {
  return game_over_fields(truth_of(bench, trace))["game_result"];
}

Exchange report_of(const RefereeTrace& trace) {
  return seen_call(trace.reports.empty() ? nullptr : &trace.reports.front());
}

json details_of(const RefereeTrace& trace) {
  const json result = trace.result();
  return field_at(result, "details");
}

Verdict check_number(RefereeBench& bench, const RefereeTrace& trace) {
  const json wanted = result_of(bench, trace)["drawn_number"];
  const json details = details_of(trace);
  return expect(field_at(details, "drawn_number") == wanted, report_of(trace),
                "/params/result/details/drawn_number", wanted.dump(),
                shown_value(details, "drawn_number"));
}

Verdict check_winner(RefereeBench& bench, const RefereeTrace& trace) {
  const json wanted = result_of(bench, trace)["winner_player_id"];
  const json result = trace.result();
  // Without a report there is no result; a missing winner is right only where there is one.
  return expect(result.is_object() && field_at(result, "winner") == wanted, report_of(trace),
                "/params/result/winner", wanted.dump(), shown_value(result, "winner"));
}

Verdict check_score(RefereeBench& bench, const RefereeTrace& trace) {
  const json wanted = score_of(truth_of(bench, trace));
  const json result = trace.result();
  return expect(field_at(result, "score") == wanted, report_of(trace), "/params/result/score",
                wanted.dump(), shown_value(result, "score"));
}

Verdict check_game_over(RefereeBench& bench, const RefereeTrace& trace, std::size_t seat) {
  const InboundCall* over = trace.first(seat, "GAME_OVER");
  if (over == nullptr) return fail({}, "", "GAME_OVER to " + bench.player_id(seat), "none");
  const json wanted = result_of(bench, trace);
  const json got = over->message.value("game_result", json::object());
  for (const char* field : {"status", "winner_player_id", "drawn_number", "choices"}) {
    if (got.value(field, json()) != wanted[field])
      return fail(seen_call(over), std::string("/params/game_result/") + field,
                  wanted[field].dump(), shown_value(got, field));
  }
  return pass();
}

void add_results(RefereeBench& bench, Checks& out, bool is_committed) {
  const std::string end = is_committed ? "-committed" : "";
  const std::string of = is_committed ? " (both players committed)." : ".";
  const auto trace = [&bench, is_committed]() -> const RefereeTrace& {
    return is_committed ? bench.committed_sample() : bench.sample();
  };
  const std::string clause = is_committed ? "P-7.27/" : "P-7/";
  add_match_check(out,
                  {.id = clause + "number" + end,
                   .level = Level::kMust,
                   .text = "The reported number is the one that seed, choices and nonces give" + of,
                   .fix = "Draw the number as section 7 of docs/protocol.md says; "
                          "docs/verify_draw.py calculates it."},
                  [&bench, trace] { return check_number(bench, trace()); });
  add_match_check(
      out,
      {.id = clause + "winner" + end,
       .level = Level::kMust,
       .text = "The reported winner is the one that number and choices give" + of,
       .fix = "The higher payoff wins: in Even/Odd the player who alone chose the parity "
              "of the number. Equal payoffs are a draw, and winner is null."},
      [&bench, trace] { return check_winner(bench, trace()); });
  add_match_check(
      out,
      {.id = clause + "score" + end,
       .level = Level::kMust,
       .text =
           "The reported score has the payoffs of the game, in Even/Odd 3 and 0, or 1 and 1" + of,
       .fix =
           "Report score as an object with the points of both players: {\"P01\": 3, \"P02\": 0}."},
      [&bench, trace] { return check_score(bench, trace()); });
  for (std::size_t seat = 0; seat < 2; ++seat) {
    add_match_check(out,
                    {.id = "P-4.10/told-player-" + std::string(seat == 0 ? "a" : "b") + end,
                     .level = Level::kMust,
                     .text = "GAME_OVER has the right result" + of,
                     .fix = "Send GAME_OVER to both players, with status, winner_player_id, "
                            "drawn_number and choices."},
                    [&bench, trace, seat] { return check_game_over(bench, trace(), seat); });
  }
}

const Probe<RefereeBench> kCourse[] = {
    {"P-4.5/assignment-taken",
     Level::kMust,
     "The referee starts its matches when it gets their ROUND_ANNOUNCEMENT.",
     "Start each match in `matches` whose referee_id is yours.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       return expect(trace.first(0, "GAME_INVITATION") != nullptr, trace.assignment.exchange, "",
                     "a GAME_INVITATION to player A",
                     "none; the answer to the announcement was: " + shown_answer(trace.assignment));
     },
     {.is_basic = true, .needs_play = false}},
    {"P-4.11/reported",
     Level::kMust,
     "The referee reports the result of an ordinary match.",
     "When the number is drawn, call report_match_result at the manager.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       return expect(!trace.reports.empty(), trace.assignment.exchange, "",
                     "a report within the time limit", "none");
     },
     {.is_basic = true, .needs_play = false}},
    {"P-7/opponent-choice-hidden", Level::kMust,
     "Before GAME_OVER, no message tells a player the opponent's choice.",
     "Do not send a choice to anybody until the manager has accepted the report.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       for (const InboundCall& call : trace.seats[0]) {
         if (call.type() == "GAME_OVER") break;
         json told = call.message;
         // The words of the game are no secret.
         if (told.contains("context") && told["context"].is_object()) told["context"].erase("game");
         if (told.dump().find("\"odd\"") != std::string::npos)
           return fail(seen_call(&call), "", "no choice of the opponent", "\"odd\"");
       }
       return pass();
     }},
    {"P-7/choice-asked-of-both", Level::kMust,
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
    {"P-7.25/calls-after-both-joined", Level::kMust,
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
    {"P-7/result-told-after-acceptance", Level::kMust,
     "The referee sends GAME_OVER after the manager has accepted the report.",
     "Report the result first, and send GAME_OVER when the manager has answered.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       const InboundCall* over = trace.first(0, "GAME_OVER");
       if (over == nullptr) return fail({}, "", "GAME_OVER", "none");
       return expect(!trace.reports.empty() && over->at >= trace.reports.front().at,
                     seen_call(over), "", "after the report", "before it");
     }},
    {"P-4.11/seed-revealed", Level::kMust, "The report contains the seed of the draw.",
     "Copy draw_seed of the assignment into draw_proof of the report.",
     [](RefereeBench& bench) {
       const RefereeTrace& trace = bench.sample();
       const Exchange report = report_of(trace);
       return expect(report.received.find(core::to_hex(trace.seed)) != std::string::npos, report,
                     "/params/draw_proof", "the draw_seed of the assignment",
                     "it is not in the report");
     }},
    {"P-7.25/opponent-commitment-handed-over", Level::kMust,
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

void add_referee_match_checks(RefereeBench& bench, Checks& out) {
  add_probes(bench, kCourse, out);
  add_results(bench, out, false);
  add_results(bench, out, true);
}

}  // namespace league::tools::check
