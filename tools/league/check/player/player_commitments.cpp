// The rules of a bot that commits to its choices; the others are asked whether they leave it.
#include "game/commitment.h"
#include "tools/league/check/game_truth.h"
#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr const char* kFormula =
    "choice_commitment is the lower-case hexadecimal SHA-256 of "
    "DRAW_COMMITMENT|MATCH|PLAYER|CHOICE|NONCE; give choice_nonce and the same choice in the "
    "answer.";
constexpr const char* kCheckResult =
    "Recompute GAME_OVER from seed, choices and nonces, and answer -32602 where it does not "
    "follow.";

void add_committed(PlayerBench& bench, Checks& out, const char* id, Level level, const char* text,
                   const char* fix, std::function<Verdict()> run) {
  out.push_back(
      {{.id = id, .level = level, .text = text, .fix = fix}, [&bench, run = std::move(run)] {
         return bench.commits() ? run() : skip("the bot does not commit to its choices");
       }});
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
  if (committed == commitment_to(PlayerBench::word_in(game.choice))) return pass();
  return fail(game.choice.exchange, game.choice.place + "/choice_nonce",
              "a nonce and choice that give the commitment " + committed, "they give " + computed);
}

void add_opening(PlayerBench& bench, Checks& out) {
  add_committed(bench, out, "P-7.22/commitment-form", Level::kMust,
                "`choice_commitment` is 64 lower-case hexadecimal digits.", kFormula, [&bench] {
                  const BotReply& join = bench.sample().join;
                  if (game::is_hex_256(join.text("choice_commitment"))) return pass();
                  return fail(join.exchange, join.place + "/choice_commitment",
                              "64 characters of [0-9a-f]",
                              shown_value(join.message, "choice_commitment"));
                });
  add_committed(bench, out, "P-7.25/nonce-form", Level::kMust,
                "`choice_nonce` is 64 lower-case hexadecimal digits.", kFormula, [&bench] {
                  const BotReply& choice = bench.sample().choice;
                  if (game::is_hex_256(choice.text("choice_nonce"))) return pass();
                  return fail(choice.exchange, choice.place + "/choice_nonce",
                              "64 characters of [0-9a-f]",
                              shown_value(choice.message, "choice_nonce"));
                });
  add_committed(bench, out, "P-7.25/opens-commitment", Level::kMust,
                "Choice and nonce open the commitment of the GAME_JOIN_ACK.", kFormula,
                [&bench] { return check_opening(bench, bench.sample()); });
  add_committed(bench, out, "P-7.22/fresh-nonce", Level::kMust,
                "Each match has a nonce of its own.",
                "Take 32 bytes from the cryptographic source for each match.", [&bench] {
                  const PlayedGame one = bench.play(bench.new_match(), true);
                  const PlayedGame two = bench.play(bench.new_match(), true);
                  if (one.choice.text("choice_nonce") != two.choice.text("choice_nonce"))
                    return pass();
                  return fail(two.choice.exchange, two.choice.place + "/choice_nonce",
                              "another nonce than in the match before", "the same");
                });
  add_committed(bench, out, "P-7.22/no-seed-no-commitment", Level::kMust,
                "Where no `draw_commitment` is given, nobody commits.",
                "Leave choice_commitment out where the invitation has no draw_commitment.",
                [&bench] {
                  const TestMatch match = bench.new_match(false);
                  const BotReply join = bench.ask(kInvite, bench.invitation(match));
                  if (join.message.is_object() && !join.message.contains("choice_commitment"))
                    return pass();
                  return fail(join.exchange, join.place + "/choice_commitment", "nothing",
                              shown_value(join.message, "choice_commitment"));
                });
  add_committed(
      bench, out, "P-7.22/no-seed-no-nonce", Level::kShould,
      "Where the bot did not commit, its answer has no nonce.",
      "Send choice_nonce only where you have committed.", [&bench] {
        const PlayedGame game = bench.play(bench.new_match(false), true);
        if (game.choice.message.is_object() && !game.choice.message.contains("choice_nonce"))
          return pass();
        return fail(game.choice.exchange, game.choice.place + "/choice_nonce", "nothing",
                    shown_value(game.choice.message, "choice_nonce"));
      });
}

void add_binding(PlayerBench& bench, Checks& out) {
  add_committed(bench, out, "P-7.28/second-invitation", Level::kMust,
                "A second invitation resets nothing: the commitment is the same.",
                "Keep choice, nonce and commitment of each match, and answer with them again.",
                [&bench] {
                  const TestMatch match = bench.new_match();
                  const BotReply first = bench.ask(kInvite, bench.invitation(match));
                  const BotReply second = bench.ask(kInvite, bench.invitation(match));
                  if (second.text("choice_commitment") == first.text("choice_commitment"))
                    return pass();
                  return fail(second.exchange, second.place + "/choice_commitment",
                              "the commitment of the first answer", "another one");
                });
  add_committed(bench, out, "P-7.28/same-nonce-again", Level::kMust,
                "A repeated call gets the same choice and the same nonce.",
                "Keep choice and nonce until GAME_OVER.", [&bench] {
                  const TestMatch match = bench.new_match();
                  (void)bench.ask(kInvite, bench.invitation(match));
                  const BotReply first = bench.ask(kCall, bench.choice_call(match));
                  const BotReply second = bench.ask(kCall, bench.choice_call(match));
                  if (first.text("choice_nonce") == second.text("choice_nonce") &&
                      PlayerBench::choice_in(first) == PlayerBench::choice_in(second))
                    return pass();
                  return fail(second.exchange, second.place + "/choice_nonce",
                              "as in the first answer", "another choice or nonce");
                });
  add_committed(bench, out, "P-7.25/changed-opponent-commitment", Level::kRobust,
                "A repeated call with another commitment of the opponent does no harm.",
                "Keep the first opponent_commitment, and check GAME_OVER against it.", [&bench] {
                  const TestMatch match = bench.new_match();
                  (void)bench.ask(kInvite, bench.invitation(match));
                  (void)bench.ask(kCall, bench.choice_call(match));
                  json message = bench.choice_call(match);
                  message["context"]["opponent_commitment"] = std::string(64, 'e');
                  return expect_alive(bench, bench.ask(kCall, message));
                });
}

/// GAME_OVER with one lie; `change` gets the message and the ids of bot and opponent.
struct Lie {
  const char* id;
  const char* text;
  void (*change)(json&, const std::string&, const std::string&);
};

const Lie kLies[] = {
    {"P-7.40/own-choice", "GAME_OVER with another choice than the bot's own is refused.",
     [](json& m, const std::string& self, const std::string&) {
       json& choice = m["game_result"]["choices"][self];
       choice = choice == game_word(0) ? game_word(1) : game_word(0);
     }},
    {"P-7.40/own-commitment", "GAME_OVER with another commitment than the bot's own is refused.",
     [](json& m, const std::string& self, const std::string&) {
       m["choice_commitments"][self] = std::string(64, '1');
     }},
    {"P-7.40/opponent-commitment",
     "GAME_OVER with another commitment of the opponent than was handed over is refused.",
     [](json& m, const std::string&, const std::string& other) {
       m["choice_commitments"][other] = std::string(64, '2');
     }},
    {"P-7.40/seed", "GAME_OVER with a seed that was not promised is refused.",
     [](json& m, const std::string&, const std::string&) {
       m["draw_proof"] = std::string(64, '3');
     }},
    {"P-7.40/number", "GAME_OVER with a number that does not follow is refused.",
     [](json& m, const std::string&, const std::string&) {
       json& number = m["game_result"]["drawn_number"];
       number = number.get<int>() > 2 ? number.get<int>() - 2 : number.get<int>() + 2;
     }},
    {"P-7.40/winner", "GAME_OVER with a winner that does not follow is refused.",
     [](json& m, const std::string&, const std::string& other) {
       json& result = m["game_result"];
       const bool has_won = result["winner_player_id"] == json(other);
       result["winner_player_id"] = has_won ? json(nullptr) : json(other);
       result["status"] = has_won ? "DRAW" : "WIN";
     }},
};

void add_lies(PlayerBench& bench, Checks& out) {
  for (const Lie& lie : kLies) {
    add_committed(bench, out, lie.id, Level::kRobust, lie.text, kCheckResult, [&bench, &lie] {
      const PlayedGame game = bench.play(bench.new_match(), true);
      json message = bench.game_over(game);
      lie.change(message, bench.bot().id, game.match.opponent);
      return expect_refused(bench.ask(MessageType::kGameOver, message), lie.text);
    });
    out.back().info.needs_word = true;
  }
  add_committed(
      bench, out, "P-7.40/dispute-told", Level::kShould,
      "A refused GAME_OVER is disputed at the manager with DISPUTE_MATCH.",
      "Call league_query with query_type DISPUTE_MATCH and query_params {match_id, reason}.",
      [&bench] {
        if (bench.server == nullptr)
          return skip("the bot is not registered with this checker; use --listen");
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
        if (told) return pass();
        return fail(reply.exchange, "", "a LEAGUE_QUERY of type DISPUTE_MATCH",
                    "nothing within the time");
      });
  out.back().info.needs_word = true;
}

}  // namespace

void add_commitment_checks(PlayerBench& bench, Checks& out) {
  add_opening(bench, out);
  add_binding(bench, out);
  add_lies(bench, out);
}

}  // namespace league::tools::check
