// Checks of bots that commit to their choices; skipped for other bots.
#include "game/commitment.h"
#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

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

/// The last answer has no such field.
Verdict lacks(const Talk& talk, const char* field) {
  const json& message = talk.last().message;
  return expect_field(message.is_object() && !message.contains(field), talk.last(), field,
                      "nothing");
}

Verdict disputes(const Talk& talk) {
  PlayerBench& bench = talk.bench;
  if (bench.server == nullptr)
    return skip("the bot has not registered with this checker; use --listen or --start");
  const std::size_t before = bench.server->count();
  const Talk lie = hold(bench, R"(invite call over {"draw_proof": "$4*64"})");
  const auto told = bench.server->wait_for(
      [id = "\"" + lie.match.id + "\""](const InboundCall& call) {
        return call.bytes.find("DISPUTE_MATCH") != std::string::npos &&
               call.bytes.find(id) != std::string::npos;
      },
      before, milliseconds(bench.is_fast() ? 1000 : 4000));
  return expect(told.has_value(), lie.last().exchange, "", "a LEAGUE_QUERY of type DISPUTE_MATCH",
                "none within the time limit");
}

constexpr const char* kFalse = "this result is false";

const Conversation kCommitments[] = {
    {"P-7.25/nonce-form", kMust, "`choice_nonce` is 64 lower-case hexadecimal digits.", kFormula,
     "",
     [](const Talk& talk) {
       const BotReply& choice = talk.bench.sample().choice;
       return expect_field(game::is_hex_256(choice.text("choice_nonce")), choice, "choice_nonce",
                           "64 characters of [0-9a-f]");
     }},
    {"P-7.25/opens-commitment", kMust,
     "The choice and the nonce match the commitment in GAME_JOIN_ACK.", kFormula, "",
     [](const Talk& talk) { return check_opening(talk.bench, talk.bench.sample()); }},
    {"P-7.22/fresh-nonce", kRobust, "The bot uses a new nonce in each match.",
     "For each match, take 32 new bytes from a cryptographic random generator (in Python: "
     "secrets.token_hex(32)).",
     "invite call other invite call",
     [](const Talk& talk) {
       const BotReply& two = talk.last();
       return expect(talk.replies[1].text("choice_nonce") != two.text("choice_nonce"), two.exchange,
                     two.place + "/choice_nonce",
                     "a different nonce from the one in the previous match",
                     "the same nonce, " + shown_value(two.message, "choice_nonce"));
     }},
    {"P-7.22/no-seed-no-commitment", kRobust,
     "The bot sends no commitment if the invitation has no `draw_commitment`.",
     "Leave choice_commitment out if the invitation has no draw_commitment.", "unbound invite",
     [](const Talk& talk) { return lacks(talk, "choice_commitment"); }},
    {"P-7.22/no-seed-no-nonce", kShould, "The bot sends no nonce if it has not committed.",
     "Send choice_nonce only if you have sent a choice_commitment.", "unbound invite call",
     [](const Talk& talk) { return lacks(talk, "choice_nonce"); }},
    {"P-7.28/second-invitation", kRobust,
     "The bot answers a repeated invitation with the same commitment.",
     "Store choice and nonce of each match by match_id, and send the same commitment again.",
     "invite invite",
     [](const Talk& talk) {
       return expect_same_commitment(talk.replies[0], talk.last(),
                                     "the commitment of the first answer, ");
     }},
    {"P-7.28/same-nonce-again", kRobust,
     "The bot answers a repeated call with the same choice and the same nonce.",
     "Store choice and nonce of each match until GAME_OVER, and send them again.",
     "invite call call",
     [](const Talk& talk) {
       const BotReply& first = talk.replies[1];
       const BotReply& second = talk.last();
       const auto shown = [](const BotReply& reply) {
         return shown_value(reply.message, "parity_choice") + " and " +
                shown_value(reply.message, "choice_nonce");
       };
       return expect(first.text("choice_nonce") == second.text("choice_nonce") &&
                         PlayerBench::choice_in(first) == PlayerBench::choice_in(second),
                     second.exchange, second.place + "/choice_nonce",
                     "the choice and nonce of the first answer, " + shown(first), shown(second));
     }},
    {"P-7.25/changed-opponent-commitment", kRobust,
     "The bot keeps working after a repeated call with a changed `opponent_commitment`.",
     "Store the first opponent_commitment of a match, and check GAME_OVER against it.",
     R"(invite call call {"context/opponent_commitment": "$e*64"})", plays_on},
    {"P-7.40/own-choice", kRobust,
     "The bot refuses a GAME_OVER in which the bot's choice is wrong.", kCheckResult,
     R"(invite call over {"game_result/choices/$self": "$another_choice"})", refuses, kFalse,
     kNeedsWord},
    {"P-7.40/own-commitment", kRobust,
     "The bot refuses a GAME_OVER in which the bot's commitment is wrong.", kCheckResult,
     R"(invite call over {"choice_commitments/$self": "$1*64"})", refuses, kFalse, kNeedsWord},
    {"P-7.40/opponent-commitment", kRobust,
     "The bot refuses a GAME_OVER in which the opponent's commitment is not the one in "
     "CHOOSE_PARITY_CALL.",
     kCheckResult, R"(invite call over {"choice_commitments/$other": "$2*64"})", refuses, kFalse,
     kNeedsWord},
    {"P-7.40/seed", kRobust,
     "The bot refuses a GAME_OVER whose seed does not match `draw_commitment`.", kCheckResult,
     R"(invite call over {"draw_proof": "$3*64"})", refuses, kFalse, kNeedsWord},
    {"P-7.40/number", kRobust, "The bot refuses a GAME_OVER with a wrong number.", kCheckResult,
     R"(invite call over {"game_result/drawn_number": "$another_number"})", refuses, kFalse,
     kNeedsWord},
    {"P-7.40/winner", kRobust, "The bot refuses a GAME_OVER with a wrong winner.", kCheckResult,
     R"(invite call over {"game_result/winner_player_id": "$another_winner",
                          "game_result/status": "$another_status"})",
     refuses, kFalse, kNeedsWord},
    {"P-7.40/dispute-told", kShould,
     "The bot disputes a GAME_OVER that it refused, with DISPUTE_MATCH at the manager.",
     "Call league_query at the manager with query_type \"DISPUTE_MATCH\" and query_params "
     "{\"match_id\": ..., \"reason\": ...}.",
     "", disputes, "", kNeedsWord},
};

}  // namespace

void add_commitment_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kCommitments, out, &only_with_commitments);
}

}  // namespace league::tools::check
