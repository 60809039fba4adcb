// What a player accepts from whom, what it keeps of a match, and many matches.
#include <algorithm>
#include <future>

#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"
#include "tools/check/game_truth.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

// ---- Senders and tokens, for a bot that has a token from this checker.

constexpr const char* kCheckCredential =
    "Compute the HMAC-SHA-256 of match_id + \"#\" + attempt with your token as the key, in "
    "lower-case hexadecimal, for the attempts 1 to 16. Answer with an error if auth_token is none "
    "of them.";

const Conversation kTokens[] = {
    {"P-8/wrong-credential", kRobust, "The bot refuses an invitation with a wrong credential.",
     kCheckCredential, R"(invite {"auth_token": "$0*64"})", refuses, "the credential is wrong"},
    {"P-8/missing-credential", kRobust, "The bot refuses an invitation without a credential.",
     kCheckCredential, R"(invite {"auth_token": "$gone"})", refuses, "auth_token is missing"},
    {"P-8/credential-of-another-match", kRobust,
     "The bot refuses an invitation with the credential of another match.", kCheckCredential,
     R"(invite {"auth_token": "$elsewhere"})", refuses, "the credential belongs to another match"},
    {"P-8/later-attempt", kMust, "The bot accepts the credential of the second attempt at a match.",
     kCheckCredential, "attempt2 invite", accepts, "the match was assigned a second time"},
    {"P-7.63/attempt-contradicts", kRobust,
     "The bot refuses a call whose `context.attempt` is not the attempt that the credential "
     "proves.",
     "If the call has context.attempt, compare it with the attempt of the credential; answer with "
     "E023 at /context/attempt if they differ.",
     R"(attempt2 invite {"auth_token": "$earlier"})", refuses,
     "the credential is that of another attempt", kNeedsReceipts},
    {"P-8/choice-for-stranger", kRobust,
     "The bot does not reveal its choice to a call with a wrong credential.", kCheckCredential,
     R"(invite call {"auth_token": "$f*64"})",
     [](const Talk& talk) {
       return expect_field(PlayerBench::choice_in(talk.last()).empty(), talk.last(),
                           "parity_choice", "an error, and no choice");
     }},
    {"P-8/stranger-changes-nothing", kRobust,
     "A call that the bot refused changes nothing: the correct call is answered afterwards.",
     "Check auth_token before you change anything.",
     R"(invite {"auth_token": "$a*64", "draw_commitment": "$b*64"} invite call)",
     [](const Talk& talk) {
       Verdict verdict = chooses(talk);
       return verdict.passed() ? expect_accepted(talk.game.join, talk.because) : verdict;
     },
     "only a call with a wrong credential came before"},
    {"P-8/manager-token", kRobust, "The bot refuses notifications with a wrong token.",
     "Answer the manager's notifications with an error if auth_token is not your own token.",
     R"(round {"auth_token": "tok_p01_somebody_elses_token"})", refuses,
     "the token is not the bot's own"},
    {"P-8/state-for-strangers", kRobust,
     "The bot refuses `get_player_state` without its own token.",
     "Answer get_player_state with an error if auth_token is not your own token.",
     R"(get_player_state {"conversation_id": "convstate002", "auth_token": "wrong"})",
     [](const Talk& talk) {
       const BotReply& reply = talk.last();
       return expect(!reply.error.is_null() || !reply.has_answer(), reply.exchange, "/result",
                     "an error", shown_answer(reply));
     }},
    {"P-4.17/no-token-echoed", kRobust,
     "An error text contains at most the first 8 characters of a token, even of a wrong one.",
     "Do not put auth_token into error texts.",
     R"(invite {"auth_token": "tok_leaguecheck_must_not_be_repeated"})",
     [](const Talk& talk) {
       return expect_untold(talk.last(), "tok_leaguech", "/error", "no token in the response",
                            "the token that was sent");
     }},
    {"P-8/own-token-not-leaked", kRobust,
     "The response to a call with a wrong credential does not contain the bot's own token.",
     "Send auth_token only in replies to calls whose credential you have checked.",
     R"(invite {"auth_token": "wrong"})",
     [](const Talk& talk) {
       return expect_untold(talk.last(), talk.bench.bot().token.reveal(), "",
                            "no token in the response", "the bot's own token");
     }},
};

// ---- Order, repetition, and several matches at once.

Verdict same_choice(const BotReply& first, const BotReply& second) {
  const std::string word = PlayerBench::choice_in(first);
  if (word.empty()) return expect_choice(first, "the bot has joined this match");
  return expect(PlayerBench::choice_in(second) == word, second.exchange,
                second.place + "/parity_choice", "\"" + word + "\" again", shown_answer(second));
}

bool is_of_another(const BotReply& reply, const TestMatch& match) {
  return reply.message.is_object() && reply.message.contains("match_id") &&
         reply.text("match_id") != match.id;
}

Verdict names_another(const BotReply& reply, std::string expected) {
  return expect_field(false, reply, "match_id", std::move(expected));
}

/// Joins `count` matches at the same time, then plays them in reverse order.
Verdict play_in_parallel(PlayerBench& bench, std::size_t count) {
  std::vector<TestMatch> matches;
  for (std::size_t i = 0; i < count; ++i) matches.push_back(bench.new_match());
  for (const envelope::MessageType type : {kInvite, kCall}) {
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
      if (is_of_another(reply, matches[i]))
        return names_another(reply, "\"" + matches[i].id + "\"");
    }
  }
  return pass();
}

Verdict answers_repeated_calls(PlayerBench& bench) {
  // Four rounds, since a bot that makes a new random choice each time gives three equal answers in
  // one of four cases.
  for (int round = 0; round < 4; ++round) {
    const Talk talk = hold(bench, "invite call call call");
    for (const std::size_t again : {2U, 3U}) {
      Verdict verdict = same_choice(talk.replies[1], talk.replies[again]);
      if (!verdict.passed()) return verdict;
    }
  }
  return pass();
}

const Conversation kOrder[] = {
    {"P-6/second-invitation", kRobust, "The bot accepts a repeated invitation.",
     "Answer a repeated GAME_INVITATION like the first one. The first answer may have been lost.",
     "invite invite", accepts, "it repeats an earlier invitation"},
    {"P-6/same-choice-again", kShould,
     "The bot answers a repeated call for a choice with the same choice.",
     "Store the choice of each match by match_id, and send it again.", "",
     [](const Talk& talk) { return answers_repeated_calls(talk.bench); }},
    {"P-6/choice-after-invitation-twice", kRobust,
     "The bot chooses after it was invited to the match twice.",
     "Do not reset the match when its invitation is repeated.", "invite invite call", chooses,
     "the bot was invited to the match twice"},
    {"P-4.10/game-over-twice", kRobust, "The bot acknowledges a repeated GAME_OVER.",
     "Acknowledge a result even if you have received it before.", "invite call over over",
     [](const Talk& talk) {
       const BotReply& again = talk.last();
       if (again.error.is_null()) return plays_on(talk);
       return fail(again.exchange, "/error", "an acknowledgement", shown_answer(again));
     },
     "", kNeedsWord},
    {"P-6/choice-without-invitation", kRobust,
     "The bot chooses even in a match to which it was not invited.",
     "Choose anyway: your bot may have been restarted since the invitation. A bot that declares "
     "receipts may refuse the call.",
     "unbound call",
     [](const Talk& talk) {
       // Who signs its choices may refuse a call without an invitation: it has promised to commit.
       if (talk.bench.gives_receipts() && talk.last().error.is_object()) return pass();
       return chooses(talk);
     },
     "there was no invitation to this match"},
    {"P-4.10/unknown-match-over", kRobust,
     "The bot keeps working after GAME_OVER of an unknown match.",
     "Acknowledge or refuse the result of a match that you do not know. Do not assume that your "
     "table has the match_id.",
     "unbound over", plays_on},
    {"P-4.18/error-of-unknown-match", kRobust,
     "The bot keeps working after GAME_ERROR of an unknown match.",
     "Always acknowledge GAME_ERROR. Do not assume that your table has the match_id.", "error",
     plays_on},
    {"P-4.18/choice-after-game-error", kRobust,
     "The bot chooses when it is asked again after GAME_ERROR.",
     "Do not end the match at GAME_ERROR. It goes on until GAME_OVER.",
     R"(invite error {"affected_player": "$self", "action_required": "CHOOSE_PARITY_RESPONSE"} call)",
     chooses, "GAME_ERROR came before"},
    {"P-4.5/unannounced-match", kRobust,
     "The bot accepts an invitation to a match that was not announced.",
     "Accept invitations even if no ROUND_ANNOUNCEMENT named the match.",
     "unbound unannounced invite", accepts, "the match was not announced"},
    {"P-4.5/announcement-of-others", kRobust,
     "The bot keeps working after an announcement without a match of its own.",
     "Look for your matches in `matches`, and expect that there may be none.",
     R"(round {"matches/0/player_A_id": "P88", "matches/0/player_B_id": "P89",
               "matches/0/match_id": "R901M1", "round_id": 901})",
     plays_on},
    {"P-6/parallel-matches", kRobust,
     "The bot plays eight matches at the same time without mixing them up.",
     "Store what you know in a table by match_id. If your bot uses threads, protect the table with "
     "a lock.",
     "", [](const Talk& talk) { return play_in_parallel(talk.bench, 8); }},
    {"P-6/interleaved-matches", kRobust,
     "The bot plays two matches in turns without mixing them up.",
     "Store what you know in a table by match_id.", "invite other invite other call other call",
     [](const Talk& talk) {
       const BotReply& first = talk.replies[2];
       if (Verdict verdict = chooses(talk); !verdict.passed()) return verdict;
       return is_of_another(first, talk.other)         ? names_another(first, talk.other.id)
              : is_of_another(talk.last(), talk.match) ? names_another(talk.last(), talk.match.id)
                                                       : pass();
     },
     "another match is played at the same time"},
};

// ---- Many matches in a row.

using Nanoseconds = std::chrono::nanoseconds;

/// The time that a tenth of `times` keeps. A busy machine delays most matches and not all of them,
/// whereas a bot that searches everything it has kept is slow in each.
Nanoseconds best_tenth(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  return times.empty() ? Nanoseconds(0) : times[times.size() / 10];
}

std::string milliseconds_text(Nanoseconds time) {
  return short_number(std::chrono::duration<double, std::milli>(time).count()) + " ms";
}

/// Plays `count` matches; the last quarter is compared with the first, each by its fastest tenth.
Verdict play_many(PlayerBench& bench, std::size_t count) {
  std::vector<Nanoseconds> first;
  std::vector<Nanoseconds> last;
  PlayedGame game;
  for (std::size_t i = 0; i < count; ++i) {
    game = bench.play(bench.new_match());
    if (PlayerBench::choice_in(game.choice).empty()) {
      Verdict verdict = expect_choice(game.choice, "it is one of many matches in a row");
      verdict.got =
          "match " + std::to_string(i + 1) + " of " + std::to_string(count) + ": " + verdict.got;
      return verdict;
    }
    const Nanoseconds took = game.join.exchange.elapsed + game.choice.exchange.elapsed;
    if (i < count / 4) first.push_back(took);
    if (i >= count - count / 4) last.push_back(took);
  }
  const PlayedGame& sample = bench.sample();
  const auto before = std::min<Nanoseconds>(
      best_tenth(first), sample.join.exchange.elapsed + sample.choice.exchange.elapsed);
  const auto after = best_tenth(last);
  return expect(after < 3 * before + std::chrono::milliseconds(20), game.choice.exchange, "",
                "the last matches are as fast as the first",
                milliseconds_text(after) + " per match in the last quarter (its fastest tenth), " +
                    milliseconds_text(before) + " in the first");
}

const Conversation kEndurance[] = {
    {"P-6/many-matches", kRobust,
     "The bot plays many matches in a row, and the last are as fast as the first.",
     "Forget a match after GAME_OVER, and look matches up by match_id instead of searching all of "
     "them.",
     "", [](const Talk& talk) { return play_many(talk.bench, talk.bench.is_fast() ? 60 : 400); }},
    {"P-4.9/every-choice-valid", kMust,
     "The bot's choice is valid in every match, not only in the first.",
     "Send only \"even\" or \"odd\", in every match.", "",
     [](const Talk& talk) {
       for (int i = 0; i < (talk.bench.is_fast() ? 10 : 40); ++i) {
         const PlayedGame game = talk.bench.play(talk.bench.new_match());
         const std::string word = game.choice.text("parity_choice");
         if (!is_game_word(word))
           return fail(game.choice.exchange, game.choice.place + "/parity_choice",
                       "\"even\" or \"odd\"", shown_value(game.choice.message, "parity_choice"));
       }
       return pass();
     },
     "", kNeedsWord},
};

}  // namespace

void add_token_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kTokens, out, &only_with_token);
}

void add_order_cases(PlayerBench& bench, Checks& out) { add_conversations(bench, kOrder, out); }

void add_endurance_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kEndurance, out);
}

}  // namespace league::tools::check
