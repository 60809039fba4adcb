// Order, repetition, and several matches at once.
#include <future>

#include "tools/league/check/game_truth.h"
#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

void add_ordered(Checks& out, const char* id, Level level, const char* text, const char* fix,
                 std::function<Verdict()> run) {
  out.push_back({{.id = id, .level = level, .text = text, .fix = fix}, std::move(run)});
}

Verdict same_choice(const BotReply& first, const BotReply& second) {
  const std::string word = PlayerBench::choice_in(first);
  if (word.empty()) return expect_choice(first, "the match was joined");
  if (PlayerBench::choice_in(second) == word) return pass();
  return fail(second.exchange, second.place + "/parity_choice", "\"" + word + "\" again",
              shown_answer(second));
}

void add_repetitions(PlayerBench& bench, Checks& out) {
  add_ordered(
      out, "P-6/second-invitation", Level::kMust, "The same invitation again is accepted again.",
      "Answer a repeated GAME_INVITATION as the first time: the first answer may be lost.",
      [&bench] {
        const TestMatch match = bench.new_match();
        (void)bench.ask(kInvite, bench.invitation(match));
        return expect_accepted(bench.ask(kInvite, bench.invitation(match)), "it is a repetition");
      });
  add_ordered(out, "P-6/same-choice-again", Level::kShould,
              "A repeated call for a choice gets the choice that was given.",
              "Keep the choice of each match, and give the same one again.", [&bench] {
                // A bot that chooses anew each time gives the same word three times in one of four
                // cases.
                for (int round = 0; round < 4; ++round) {
                  const TestMatch match = bench.new_match();
                  (void)bench.ask(kInvite, bench.invitation(match));
                  const BotReply first = bench.ask(kCall, bench.choice_call(match));
                  for (int again = 0; again < 2; ++again) {
                    const BotReply second = bench.ask(kCall, bench.choice_call(match));
                    if (auto verdict = same_choice(first, second); !verdict.passed())
                      return verdict;
                  }
                }
                return pass();
              });
  add_ordered(out, "P-6/choice-after-invitation-twice", Level::kMust,
              "Two invitations and one call give a choice.",
              "Let a second invitation to the same match change nothing.", [&bench] {
                const TestMatch match = bench.new_match();
                (void)bench.ask(kInvite, bench.invitation(match));
                (void)bench.ask(kInvite, bench.invitation(match));
                return expect_choice(bench.ask(kCall, bench.choice_call(match)),
                                     "the match was joined twice");
              });
  add_ordered(out, "P-4.10/game-over-twice", Level::kRobust, "GAME_OVER twice does no harm.",
              "Acknowledge a result that you know already.", [&bench] {
                PlayedGame game = bench.play(bench.new_match());
                const BotReply again = bench.ask(MessageType::kGameOver, bench.game_over(game));
                if (!again.error.is_null())
                  return fail(again.exchange, "/error", "an acknowledgement", shown_answer(again));
                return expect_alive(bench, again);
              });
  out.back().info.needs_word = true;
}

void add_disorder(PlayerBench& bench, Checks& out) {
  add_ordered(out, "P-6/choice-without-invitation", Level::kRobust,
              "A call for a choice in a match that the bot does not know is answered.",
              "Choose all the same: the bot may have been restarted since the invitation.",
              [&bench] {
                const TestMatch match = bench.new_match(false);
                return expect_choice(bench.ask(kCall, bench.choice_call(match)),
                                     "there was no invitation before");
              });
  add_ordered(
      out, "P-4.10/unknown-match-over", Level::kRobust,
      "GAME_OVER of an unknown match does no harm.",
      "Acknowledge or refuse a result of a match that you do not know, and go on.", [&bench] {
        PlayedGame game{.match = bench.new_match(false), .join = {}, .choice = {}, .over = {}};
        game.choice.message = {{"parity_choice", game_word(0)}};
        return expect_alive(bench, bench.ask(MessageType::kGameOver, bench.game_over(game)));
      });
  add_ordered(out, "P-4.18/error-of-unknown-match", Level::kRobust,
              "GAME_ERROR of an unknown match does no harm.", "Acknowledge GAME_ERROR always.",
              [&bench] {
                return expect_alive(
                    bench, bench.ask(MessageType::kGameError, bench.game_error(bench.new_match())));
              });
  add_ordered(out, "P-4.18/choice-after-game-error", Level::kMust,
              "After GAME_ERROR the repeated call is answered.",
              "Take GAME_ERROR as news: the match goes on until GAME_OVER.", [&bench] {
                const TestMatch match = bench.new_match();
                (void)bench.ask(kInvite, bench.invitation(match));
                json error = bench.game_error(match);
                error["affected_player"] = bench.bot().id;
                error["action_required"] = "CHOOSE_PARITY_RESPONSE";
                (void)bench.ask(MessageType::kGameError, error);
                return expect_choice(bench.ask(kCall, bench.choice_call(match)),
                                     "a GAME_ERROR came before");
              });
  add_ordered(out, "P-4.5/unannounced-match", Level::kMust, "A match needs no announcement.",
              "Accept invitations to matches that no ROUND_ANNOUNCEMENT named.", [&bench] {
                TestMatch match = bench.new_match();
                match.id = "R951M" + match.id.substr(match.id.find('M') + 1);
                match.draw_commitment.clear();
                match.round = 951;
                return expect_accepted(bench.ask(kInvite, bench.invitation(match)),
                                       "the match was not announced");
              });
  add_ordered(out, "P-4.5/announcement-of-others", Level::kRobust,
              "An announcement without a match of the bot does no harm.",
              "Search your matches in `matches`; there may be none.", [&bench] {
                json message = bench.news(MessageType::kRoundAnnouncement);
                message["matches"][0]["player_A_id"] = "P88";
                message["matches"][0]["player_B_id"] = "P89";
                message["matches"][0]["match_id"] = "R901M1";
                message["round_id"] = 901;
                return expect_alive(bench, bench.ask(MessageType::kRoundAnnouncement, message));
              });
}

/// Joins `count` matches at the same time, then plays them all, the last first.
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
      const Verdict verdict = type == kInvite
                                  ? expect_accepted(reply, "other matches run at the same time")
                                  : expect_choice(reply, "other matches run at the same time");
      if (!verdict.passed()) return verdict;
      if (reply.message.contains("match_id") && reply.text("match_id") != matches[i].id)
        return fail(reply.exchange, reply.place + "/match_id", "\"" + matches[i].id + "\"",
                    shown_value(reply.message, "match_id"));
    }
  }
  return pass();
}

void add_parallel(PlayerBench& bench, Checks& out) {
  add_ordered(out, "P-6/parallel-matches", Level::kRobust,
              "The bot keeps eight simultaneous matches apart.",
              "Keep what you know per match_id, with a lock if there are threads.",
              [&bench] { return play_in_parallel(bench, 8); });
  add_ordered(
      out, "P-6/interleaved-matches", Level::kMust, "Two matches in turns do not get mixed up.",
      "Keep what you know in a table by match_id.", [&bench] {
        const TestMatch one = bench.new_match();
        const TestMatch two = bench.new_match();
        (void)bench.ask(kInvite, bench.invitation(one));
        (void)bench.ask(kInvite, bench.invitation(two));
        const BotReply first = bench.ask(kCall, bench.choice_call(one));
        const BotReply second = bench.ask(kCall, bench.choice_call(two));
        if (auto verdict = expect_choice(second, "another match runs"); !verdict.passed())
          return verdict;
        for (const auto& [reply, match] : {std::pair(&first, &one), std::pair(&second, &two)}) {
          if (reply->message.is_object() && reply->message.contains("match_id") &&
              reply->text("match_id") != match->id)
            return fail(reply->exchange, reply->place + "/match_id", match->id,
                        shown_value(reply->message, "match_id"));
        }
        return pass();
      });
}

}  // namespace

void add_order_checks(PlayerBench& bench, Checks& out) {
  add_repetitions(bench, out);
  add_disorder(bench, out);
  add_parallel(bench, out);
}

}  // namespace league::tools::check
