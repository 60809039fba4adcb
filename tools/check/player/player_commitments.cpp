// Checks of bots that commit to their choices; skipped for other bots.
#include "game/commitment.h"
#include "tools/check/game_truth.h"
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr const char* kFormula =
    "choice_commitment is the SHA-256 of draw_commitment|match_id|player_id|choice|nonce, in "
    "lower-case hexadecimal; the nonce is 64 such digits. Send the same choice, and the nonce as "
    "choice_nonce, in CHOOSE_PARITY_RESPONSE.";
constexpr const char* kCheckResult =
    "Calculate the result from seed, choices and nonces, as \"Checking the result\" in "
    "docs/writing_a_player.md does, and answer with the error -32602 if GAME_OVER says something "
    "else.";

std::string only_with_commitments(PlayerBench& bench) {
  return bench.commits() ? "" : "the bot does not commit to its choices";
}

Verdict check_opening(PlayerBench& bench, const PlayedGame& game) {
  const std::string committed = game.join.text("choice_commitment");
  const auto commitment_to = [&](const std::string& choice) {
    return game::choice_commitment({.draw_commitment = game.match.draw_commitment,
                                    .match_id = game.match.id,
                                    .player_id = bench.bot().id,
                                    .choice = choice,
                                    .nonce = game.choice.text("choice_nonce")});
  };
  const std::string computed = commitment_to(PlayerBench::choice_in(game.choice));
  if (committed == computed) return pass();
  return expect(committed == commitment_to(PlayerBench::word_in(game.choice)), game.choice.exchange,
                game.choice.place + "/choice_nonce",
                "a choice and a nonce with the commitment " + committed,
                "their commitment is " + computed);
}

const Probe<PlayerBench> kCommitmentProbes[] = {
    {"P-7.25/nonce-form", Level::kMust, "`choice_nonce` is 64 lower-case hexadecimal digits.",
     kFormula,
     [](PlayerBench& bench) {
       const BotReply& choice = bench.sample().choice;
       return expect_field(game::is_hex_256(choice.text("choice_nonce")), choice, "choice_nonce",
                           "64 characters of [0-9a-f]");
     }},
    {"P-7.25/opens-commitment", Level::kMust,
     "The choice and the nonce match the commitment in GAME_JOIN_ACK.", kFormula,
     [](PlayerBench& bench) { return check_opening(bench, bench.sample()); }},
    {"P-7.22/fresh-nonce", Level::kRobust, "The bot uses a new nonce in each match.",
     "For each match, take 32 new bytes from a cryptographic random generator (in Python: "
     "secrets.token_hex(32)).",
     [](PlayerBench& bench) {
       const PlayedGame one = bench.play(bench.new_match(), true);
       const PlayedGame two = bench.play(bench.new_match(), true);
       return expect(one.choice.text("choice_nonce") != two.choice.text("choice_nonce"),
                     two.choice.exchange, two.choice.place + "/choice_nonce",
                     "a different nonce from the one in the previous match",
                     "the same nonce, " + shown_value(two.choice.message, "choice_nonce"));
     }},
    {"P-7.22/no-seed-no-commitment", Level::kRobust,
     "The bot sends no commitment if the invitation has no `draw_commitment`.",
     "Leave choice_commitment out if the invitation has no draw_commitment.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match(false);
       const BotReply join = bench.ask(kInvite, bench.invitation(match));
       return expect_field(join.message.is_object() && !join.message.contains("choice_commitment"),
                           join, "choice_commitment", "nothing");
     }},
    {"P-7.22/no-seed-no-nonce", Level::kShould, "The bot sends no nonce if it has not committed.",
     "Send choice_nonce only if you have sent a choice_commitment.",
     [](PlayerBench& bench) {
       const PlayedGame game = bench.play(bench.new_match(false), true);
       return expect_field(
           game.choice.message.is_object() && !game.choice.message.contains("choice_nonce"),
           game.choice, "choice_nonce", "nothing");
     }},
    {"P-7.28/second-invitation", Level::kRobust,
     "The bot answers a repeated invitation with the same commitment.",
     "Store choice and nonce of each match by match_id, and send the same commitment again.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       const BotReply first = bench.ask(kInvite, bench.invitation(match));
       const BotReply second = bench.ask(kInvite, bench.invitation(match));
       return expect_field(second.text("choice_commitment") == first.text("choice_commitment"),
                           second, "choice_commitment",
                           "the commitment of the first answer, " +
                               shown_value(first.message, "choice_commitment"));
     }},
    {"P-7.28/same-nonce-again", Level::kRobust,
     "The bot answers a repeated call with the same choice and the same nonce.",
     "Store choice and nonce of each match until GAME_OVER, and send them again.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       (void)bench.ask(kInvite, bench.invitation(match));
       const BotReply first = bench.ask(kCall, bench.choice_call(match));
       const BotReply second = bench.ask(kCall, bench.choice_call(match));
       return expect(first.text("choice_nonce") == second.text("choice_nonce") &&
                         PlayerBench::choice_in(first) == PlayerBench::choice_in(second),
                     second.exchange, second.place + "/choice_nonce",
                     "the choice and nonce of the first answer, " +
                         shown_value(first.message, "parity_choice") + " and " +
                         shown_value(first.message, "choice_nonce"),
                     shown_value(second.message, "parity_choice") + " and " +
                         shown_value(second.message, "choice_nonce"));
     }},
    {"P-7.25/changed-opponent-commitment", Level::kRobust,
     "The bot keeps working after a repeated call with a changed `opponent_commitment`.",
     "Store the first opponent_commitment of a match, and check GAME_OVER against it.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       (void)bench.ask(kInvite, bench.invitation(match));
       (void)bench.ask(kCall, bench.choice_call(match));
       json message = bench.choice_call(match);
       message["context"]["opponent_commitment"] = std::string(64, 'e');
       return expect_alive(bench, bench.ask(kCall, message));
     }},
};

/// GAME_OVER with one lie; `change` gets the message and the ids of bot and opponent.
struct Lie {
  const char* id;
  const char* text;
  void (*change)(json&, const std::string&, const std::string&);
};

const Lie kLies[] = {
    {"P-7.40/own-choice", "The bot refuses a GAME_OVER in which the bot's choice is wrong.",
     [](json& m, const std::string& self, const std::string&) {
       json& choice = m["game_result"]["choices"][self];
       choice = choice == game_word(0) ? game_word(1) : game_word(0);
     }},
    {"P-7.40/own-commitment", "The bot refuses a GAME_OVER in which the bot's commitment is wrong.",
     [](json& m, const std::string& self, const std::string&) {
       m["choice_commitments"][self] = std::string(64, '1');
     }},
    {"P-7.40/opponent-commitment",
     "The bot refuses a GAME_OVER in which the opponent's commitment is not the one in "
     "CHOOSE_PARITY_CALL.",
     [](json& m, const std::string&, const std::string& other) {
       m["choice_commitments"][other] = std::string(64, '2');
     }},
    {"P-7.40/seed", "The bot refuses a GAME_OVER whose seed does not match `draw_commitment`.",
     [](json& m, const std::string&, const std::string&) {
       m["draw_proof"] = std::string(64, '3');
     }},
    {"P-7.40/number", "The bot refuses a GAME_OVER with a wrong number.",
     [](json& m, const std::string&, const std::string&) {
       json& number = m["game_result"]["drawn_number"];
       number = false_number(number);
     }},
    {"P-7.40/winner", "The bot refuses a GAME_OVER with a wrong winner.",
     [](json& m, const std::string&, const std::string& other) {
       json& result = m["game_result"];
       const bool has_won = result["winner_player_id"] == json(other);
       result["winner_player_id"] = has_won ? json(nullptr) : json(other);
       result["status"] = has_won ? "DRAW" : "WIN";
     }},
};

void add_lies(PlayerBench& bench, Checks& out) {
  for (const Lie& lie : kLies) {
    out.push_back({{.id = lie.id,
                    .level = Level::kRobust,
                    .text = lie.text,
                    .fix = kCheckResult,
                    .needs_word = true},
                   [&bench, &lie] {
                     if (auto why = only_with_commitments(bench); !why.empty()) return skip(why);
                     const PlayedGame game = bench.play(bench.new_match(), true);
                     json message = bench.game_over(game);
                     lie.change(message, bench.bot().id, game.match.opponent);
                     return expect_refused(bench.ask(MessageType::kGameOver, message),
                                           "this result is false");
                   }});
  }
}

const Probe<PlayerBench> kDispute[] = {
    {"P-7.40/dispute-told",
     Level::kShould,
     "The bot disputes a GAME_OVER that it refused, with DISPUTE_MATCH at the manager.",
     "Call league_query at the manager with query_type \"DISPUTE_MATCH\" and query_params "
     "{\"match_id\": ..., \"reason\": ...}.",
     [](PlayerBench& bench) {
       if (bench.server == nullptr)
         return skip("the bot has not registered with this checker; use --listen or --start");
       const std::size_t before = bench.server->count();
       const PlayedGame game = bench.play(bench.new_match(), true);
       json message = bench.game_over(game);
       message["draw_proof"] = std::string(64, '4');
       const BotReply reply = bench.ask(MessageType::kGameOver, message);
       const auto told = bench.server->wait_for(
           [&](const InboundCall& call) {
             return call.bytes.find("DISPUTE_MATCH") != std::string::npos &&
                    call.bytes.find("\"" + game.match.id + "\"") != std::string::npos;
           },
           before, milliseconds(bench.is_fast() ? 1000 : 4000));
       return expect(told.has_value(), reply.exchange, "", "a LEAGUE_QUERY of type DISPUTE_MATCH",
                     "none within the time limit");
     },
     {.needs_word = true}},
};

}  // namespace

void add_commitment_checks(PlayerBench& bench, Checks& out) {
  add_probes(bench, kCommitmentProbes, out, &only_with_commitments);
  add_lies(bench, out);
  add_probes(bench, kDispute, out, &only_with_commitments);
}

}  // namespace league::tools::check
