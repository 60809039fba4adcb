// Order, repetition, and several matches at once.
#include <future>

#include "tools/check/game_truth.h"
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

Verdict same_choice(const BotReply& first, const BotReply& second) {
  const std::string word = PlayerBench::choice_in(first);
  if (word.empty()) return expect_choice(first, "the bot has joined this match");
  return expect(PlayerBench::choice_in(second) == word, second.exchange,
                second.place + "/parity_choice", "\"" + word + "\" again", shown_answer(second));
}

/// Joins `count` matches at the same time, then plays them in reverse order.
Verdict play_in_parallel(PlayerBench& bench, std::size_t count) {
  std::vector<TestMatch> matches;
  for (std::size_t i = 0; i < count; ++i) matches.push_back(bench.new_match());
  for (const MessageType type : {kInvite, kCall}) {
    std::vector<std::future<BotReply>> answers;
    for (const TestMatch& match : matches) {
      answers.push_back(std::async(std::launch::async, [&bench, type, &match] {
        return bench.ask(type,
                         type == kInvite ? bench.invitation(match) : bench.choice_call(match));
      }));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const BotReply reply = answers[i].get();
      Verdict verdict = type == kInvite
                            ? expect_accepted(reply, "other matches are played at the same time")
                            : expect_choice(reply, "other matches are played at the same time");
      if (!verdict.passed()) return verdict;
      if (reply.message.contains("match_id") && reply.text("match_id") != matches[i].id)
        return fail(reply.exchange, reply.place + "/match_id", "\"" + matches[i].id + "\"",
                    shown_value(reply.message, "match_id"));
    }
  }
  return pass();
}

const Probe<PlayerBench> kOrderProbes[] = {
    {"P-6/second-invitation", Level::kRobust, "The bot accepts a repeated invitation.",
     "Answer a repeated GAME_INVITATION like the first one. The first answer may have been lost.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       (void)bench.ask(kInvite, bench.invitation(match));
       return expect_accepted(bench.ask(kInvite, bench.invitation(match)),
                              "it repeats an earlier invitation");
     }},
    {"P-6/same-choice-again", Level::kShould,
     "The bot answers a repeated call for a choice with the same choice.",
     "Store the choice of each match by match_id, and send it again.",
     [](PlayerBench& bench) {
       // Four rounds, since a bot that makes a new random choice each time gives three
       // equal answers in one of four cases.
       for (int round = 0; round < 4; ++round) {
         const TestMatch match = bench.new_match();
         (void)bench.ask(kInvite, bench.invitation(match));
         const BotReply first = bench.ask(kCall, bench.choice_call(match));
         for (int again = 0; again < 2; ++again) {
           const BotReply second = bench.ask(kCall, bench.choice_call(match));
           if (auto verdict = same_choice(first, second); !verdict.passed()) return verdict;
         }
       }
       return pass();
     }},
    {"P-6/choice-after-invitation-twice", Level::kRobust,
     "The bot chooses after it was invited to the match twice.",
     "Do not reset the match when its invitation is repeated.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       (void)bench.ask(kInvite, bench.invitation(match));
       (void)bench.ask(kInvite, bench.invitation(match));
       return expect_choice(bench.ask(kCall, bench.choice_call(match)),
                            "the bot was invited to the match twice");
     }},
    {"P-4.10/game-over-twice",
     Level::kRobust,
     "The bot acknowledges a repeated GAME_OVER.",
     "Acknowledge a result even if you have received it before.",
     [](PlayerBench& bench) {
       PlayedGame game = bench.play(bench.new_match());
       const BotReply again = bench.ask(MessageType::kGameOver, bench.game_over(game));
       if (!again.error.is_null())
         return fail(again.exchange, "/error", "an acknowledgement", shown_answer(again));
       return expect_alive(bench, again);
     },
     {.needs_word = true}},
    {"P-6/choice-without-invitation", Level::kRobust,
     "The bot chooses even in a match to which it was not invited.",
     "Choose anyway: your bot may have been restarted since the invitation. A bot that declares "
     "receipts may refuse the call.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match(false);
       const BotReply reply = bench.ask(kCall, bench.choice_call(match));
       // Who signs its choices may refuse a call without an invitation: it has promised to commit.
       if (bench.gives_receipts() && reply.error.is_object()) return pass();
       return expect_choice(reply, "there was no invitation to this match");
     }},
    {"P-4.10/unknown-match-over", Level::kRobust,
     "The bot keeps working after GAME_OVER of an unknown match.",
     "Acknowledge or refuse the result of a match that you do not know. Do not assume that your "
     "table has the match_id.",
     [](PlayerBench& bench) {
       PlayedGame game{.match = bench.new_match(false), .join = {}, .choice = {}, .over = {}};
       game.choice.message = {{"parity_choice", game_word(0)}};
       return expect_alive(bench, bench.ask(MessageType::kGameOver, bench.game_over(game)));
     }},
    {"P-4.18/error-of-unknown-match", Level::kRobust,
     "The bot keeps working after GAME_ERROR of an unknown match.",
     "Always acknowledge GAME_ERROR. Do not assume that your table has the match_id.",
     [](PlayerBench& bench) {
       return expect_alive(bench,
                           bench.ask(MessageType::kGameError, bench.game_error(bench.new_match())));
     }},
    {"P-4.18/choice-after-game-error", Level::kRobust,
     "The bot chooses when it is asked again after GAME_ERROR.",
     "Do not end the match at GAME_ERROR. It goes on until GAME_OVER.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       (void)bench.ask(kInvite, bench.invitation(match));
       json error = bench.game_error(match);
       error["affected_player"] = bench.bot().id;
       error["action_required"] = "CHOOSE_PARITY_RESPONSE";
       (void)bench.ask(MessageType::kGameError, error);
       return expect_choice(bench.ask(kCall, bench.choice_call(match)), "GAME_ERROR came before");
     }},
    {"P-4.5/unannounced-match", Level::kRobust,
     "The bot accepts an invitation to a match that was not announced.",
     "Accept invitations even if no ROUND_ANNOUNCEMENT named the match.",
     [](PlayerBench& bench) {
       TestMatch match = bench.new_match();
       match.id = "R951M" + match.id.substr(match.id.find('M') + 1);
       match.draw_commitment.clear();
       match.round = 951;
       return expect_accepted(bench.ask(kInvite, bench.invitation(match)),
                              "the match was not announced");
     }},
    {"P-4.5/announcement-of-others", Level::kRobust,
     "The bot keeps working after an announcement without a match of its own.",
     "Look for your matches in `matches`, and expect that there may be none.",
     [](PlayerBench& bench) {
       json message = bench.news(MessageType::kRoundAnnouncement);
       message["matches"][0]["player_A_id"] = "P88";
       message["matches"][0]["player_B_id"] = "P89";
       message["matches"][0]["match_id"] = "R901M1";
       message["round_id"] = 901;
       return expect_alive(bench, bench.ask(MessageType::kRoundAnnouncement, message));
     }},
    {"P-6/parallel-matches", Level::kRobust,
     "The bot plays eight matches at the same time without mixing them up.",
     "Store what you know in a table by match_id. If your bot uses threads, protect the table with "
     "a lock.",
     [](PlayerBench& bench) { return play_in_parallel(bench, 8); }},
    {"P-6/interleaved-matches", Level::kRobust,
     "The bot plays two matches in turns without mixing them up.",
     "Store what you know in a table by match_id.",
     [](PlayerBench& bench) {
       const TestMatch one = bench.new_match();
       const TestMatch two = bench.new_match();
       (void)bench.ask(kInvite, bench.invitation(one));
       (void)bench.ask(kInvite, bench.invitation(two));
       const BotReply first = bench.ask(kCall, bench.choice_call(one));
       const BotReply second = bench.ask(kCall, bench.choice_call(two));
       if (auto verdict = expect_choice(second, "another match is played at the same time");
           !verdict.passed())
         return verdict;
       for (const auto& [reply, match] : {std::pair(&first, &one), std::pair(&second, &two)}) {
         if (reply->message.is_object() && reply->message.contains("match_id") &&
             reply->text("match_id") != match->id)
           return fail(reply->exchange, reply->place + "/match_id", match->id,
                       shown_value(reply->message, "match_id"));
       }
       return pass();
     }},
};

}  // namespace

void add_order_checks(PlayerBench& bench, Checks& out) { add_probes(bench, kOrderProbes, out); }

}  // namespace league::tools::check
