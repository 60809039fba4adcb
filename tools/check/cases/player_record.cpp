// get_match_record: what a player tells the manager about the calls of a match that it got. Skipped
// for bots that do not declare receipts.
#include "common/agent/identity/match_credential.h"
#include "common/envelope/match_record.h"
#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

using envelope::RecordedCall;
using nlohmann::json;

constexpr const char* kRecordFix =
    "Answer get_match_record with {\"match_id\": ..., \"player_id\": ..., \"calls\": [...]}, one "
    "entry for each call of the match that you got, with message_type, attempt, play, at, "
    "answered_at, answer_ms, and the fields of your answer (accept, choice_commitment, "
    "parity_choice, choice_nonce, opponent_commitment, receipt).";

BotReply ask_record(PlayerBench& bench, const TestMatch& match, const json& token) {
  json params = {{"match_id", match.id}};
  if (!token.is_null()) params["auth_token"] = token;
  return bench.call("get_match_record", params);
}

BotReply ask_record(PlayerBench& bench, const TestMatch& match) {
  return ask_record(bench, match, bench.bot().token.reveal());
}

/// The calls in the answer; a failure if it is no record of this match.
core::Result<std::vector<RecordedCall>> calls_in(const PlayerBench& bench, const TestMatch& match,
                                                 const BotReply& reply) {
  const auto wrong = [](std::string text, std::string pointer) {
    return core::Error{core::ErrorCode::kInvalidFieldValue, std::move(text), std::move(pointer)};
  };
  if (!reply.message.is_object()) return wrong(shown_answer(reply), "");
  auto record = envelope::decode_match_record(reply.message);
  if (!record) return record.error();
  if (record->match_id.str() != match.id)
    return wrong(shown_value(reply.message, "match_id"), "/match_id");
  if (record->player_id.str() != bench.bot().id)
    return wrong(shown_value(reply.message, "player_id"), "/player_id");
  return std::move(record->calls);
}

/// What the record should say of an answered call.
struct Recorded {
  RecordedCall call;
  std::size_t number;  ///< of the entry
};

Verdict expect_recorded(const BotReply& reply, const std::vector<RecordedCall>& calls,
                        const Recorded& wanted) {
  const std::string place = reply.place + "/calls/" + std::to_string(wanted.number);
  if (wanted.number >= calls.size())
    return fail(reply.exchange, place, "the call " + wanted.call.message_type, "nothing");
  const RecordedCall& got = calls[wanted.number];
  const auto times = [&]() -> const char* {
    if (got.at.empty()) return "at";
    if (!got.answered_at) return "answered_at";
    return got.answer_ms ? nullptr : "answer_ms";
  };
  if (const char* missing = times(); missing != nullptr)
    return fail(reply.exchange, place + "/" + missing, "when it came and was answered", "nothing");
  RecordedCall same = wanted.call;
  same.at = got.at;
  same.answered_at = got.answered_at;
  same.answer_ms = got.answer_ms;
  const auto text = [](const RecordedCall& call) {
    return envelope::encode_match_record(
               {.match_id = {}, .player_id = {}, .calls = {call}})["calls"][0]
        .dump();
  };
  return expect(got == same, reply.exchange, place, text(same), text(got));
}

RecordedCall recorded_call(const TestMatch& match, const char* type) {
  return {.message_type = type, .attempt = match.attempt, .play = match.play};
}

/// What `judge` says of the calls in the record of the match.
template <typename Judge>
Verdict expect_record(const Talk& talk, Judge judge) {
  const BotReply reply = ask_record(talk.bench, talk.match);
  const auto calls = calls_in(talk.bench, talk.match, reply);
  if (calls) return judge(reply, *calls);
  return fail(reply.exchange, reply.place + calls.error().field, "the record of the match",
              calls.error().message);
}

Verdict lists_answers(const Talk& talk) {
  const PlayedGame& game = talk.game;
  return expect_record(talk, [&](const BotReply& reply, const std::vector<RecordedCall>& calls) {
    Recorded join{recorded_call(talk.match, "GAME_INVITATION"), 0};
    join.call.accept = true;
    join.call.choice_commitment = game.join.text("choice_commitment");
    join.call.receipt = game.join.text("receipt");
    Verdict verdict = expect_recorded(reply, calls, join);
    if (!verdict.passed()) return verdict;
    Recorded choice{recorded_call(talk.match, "CHOOSE_PARITY_CALL"), 1};
    choice.call.parity_choice = PlayerBench::word_in(game.choice);
    choice.call.choice_nonce = game.choice.text("choice_nonce");
    choice.call.opponent_commitment = talk.bench.opponent_commitment(talk.match);
    choice.call.receipt = game.choice.text("receipt");
    return expect_recorded(reply, calls, choice);
  });
}

Verdict lists_nothing(const Talk& talk) {
  const BotReply reply = ask_record(talk.bench, talk.match);
  const auto calls = calls_in(talk.bench, talk.match, reply);
  return expect(calls && calls->empty(), reply.exchange, reply.place + "/calls",
                "a record with \"calls\": []", shown_answer(reply));
}

Verdict lists_refused(const Talk& talk) {
  if (!talk.last().error.is_object())
    return skip("the bot did not refuse the call that this check needs");
  return expect_record(talk, [](const BotReply& reply, const std::vector<RecordedCall>& calls) {
    const bool is_told = calls.size() == 2 && calls.back().refused && calls.back().is_callers_fault;
    return expect(is_told, reply.exchange, reply.place + "/calls/1",
                  "the refused call, with refused, reason and caller_fault: true",
                  shown_answer(reply));
  });
}

Verdict hides_choice(const Talk& talk) {
  const BotReply reply = ask_record(talk.bench, talk.match);
  const BotReply choice = talk.bench.ask(kCall, talk.bench.choice_call(talk.match));
  const std::string& text = reply.exchange.received;
  const std::string nonce = choice.text("choice_nonce");
  const bool has_nonce = !nonce.empty() && text.find(nonce) != std::string::npos;
  const bool has_word = text.find('"' + PlayerBench::word_in(choice) + '"') != std::string::npos;
  return expect(!has_nonce && !has_word, reply.exchange, reply.place + "/calls",
                "neither the choice nor the nonce", has_nonce ? "the nonce" : "the choice");
}

Verdict tells_no_stranger(const Talk& talk) {
  const std::string answer =
      agent::identity::answer_credential(talk.bench.bot().token, core::MatchId(talk.match.id), 1)
          .reveal();
  for (const json& token :
       {json(), json("wrong"), json(talk.bench.credential(talk.match.id)), json(answer)}) {
    const BotReply reply = ask_record(talk.bench, talk.match, token);
    if (!reply.error.is_object()) return expect_refused(reply, "the call lacks the bot's token");
  }
  return pass();
}

// A player knows of a match that its record is complete only from the announcement on.
const Conversation kRecords[] = {
    {"P-7.66/record-answered", kRobust,
     "get_match_record lists the calls of a match, with what the bot answered.", kRecordFix,
     "announce invite call", lists_answers, "", kNeedsWord},
    {"P-7.66/record-empty", kShould,
     "get_match_record answers with no calls for an announced match of which the bot got none.",
     "Answer with \"calls\": [], so that the manager knows that nobody called you.", "announce",
     lists_nothing},
    {"P-7.66/record-refused", kShould, "get_match_record lists calls that the bot refused.",
     "List a refused call with its code as `refused`, the text as `reason`, and caller_fault: true "
     "if the call itself was wrong.",
     R"(announce invite invite {"draw_commitment": "$d*64"})", lists_refused},
    {"P-7.66/record-hides-choice", kRobust,
     "get_match_record shows no choice and no nonce before they have been revealed.",
     "List only what you have answered; the choice belongs to the entry of CHOOSE_PARITY_CALL.",
     "announce invite", hides_choice},
    {"P-7.66/record-for-strangers", kRobust,
     "get_match_record is answered only if the call has the bot's own token.",
     "Compare auth_token of get_match_record with your own token; a referee does not have it.",
     "announce invite", tells_no_stranger},
};

}  // namespace

void add_record_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kRecords, out, &only_with_receipts);
}

}  // namespace league::tools::check
