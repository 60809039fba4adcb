// What a bot needs to play at all, judged by a match as a league plays it.
#include "common/core/text.h"
#include "common/rpc/codec.h"
#include "tools/check/cases/cases.h"

namespace league::tools::check {
namespace {

using core::ErrorCode;

constexpr const char* kCredentialFix =
    "Accept calls with the match credential: auth_token is the HMAC-SHA-256 of match_id + \"#\" + "
    "attempt with your token as the key, in lower-case hexadecimal. A referee never shows your "
    "token.";

std::string in_seconds(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) +
         (tenths % 10 == 0 ? std::string() : "." + std::to_string(tenths % 10)) + " s";
}

bool is_about_credentials(const BotTrial& trial) {
  const ErrorCode code = trial.why.code;
  if (code == ErrorCode::kAuthTokenInvalid || code == ErrorCode::kAuthTokenMissing) return true;
  if (!trial.refused.error.is_object()) return false;
  const std::string text = core::lower_case(trial.refused.error.dump());
  for (const char* word : {"token", "credential", "e012", "e011", "unauthorized"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

/// What to do about the failure of the trial; empty: what the check says.
std::string fix_for(const BotTrial& trial) {
  const BotReply& reply = trial.refused;
  const int status = reply.exchange.status;
  if (is_about_credentials(trial)) return kCredentialFix;
  if (trial.why.code == ErrorCode::kTimeout)
    return "Answer within " + in_seconds(trial.limit) + ", in the response to the call.";
  if (trial.why.code == ErrorCode::kReplyTooLarge) return "Send only the message.";
  if (status >= 300 && status < 400)
    return "Register the address to which your server redirects: a league follows no redirects.";
  if (status >= 400 && reply.error.is_null())
    return "Your server has answered with an error of its own. Look at its output for the cause, "
           "and check the path of your contact_endpoint.";
  if (!reply.has_answer())
    return "Keep the connection open until the answer is sent, and keep the program running.";
  if (reply.code() == static_cast<int>(rpc::StandardCode::kMethodNotFound))
    return "Add a handler for the JSON-RPC method \"" +
           std::string(envelope::spec(trial.lost_at).method) + "\".";
  if (trial.why.code == ErrorCode::kInvalidTimestamp)
    return "Use one of the forms of the protocol (section 3), in UTC, such as "
           "2025-01-15T10:30:00Z.";
  const std::string& field = trial.why.field;
  if (!field.empty() && field != "/accept" && field != "/parity_choice" && field != "/result")
    return "Correct the field " + field.substr(1) + " of the answer.";
  return {};
}

/// What came instead of an answer that a league takes.
std::string got_by(const BotTrial& trial, const std::string& field) {
  const BotReply& reply = trial.refused;
  if (trial.why.code == ErrorCode::kTimeout) return "no answer within " + in_seconds(trial.limit);
  if (!reply.has_answer() || reply.exchange.status >= 300) return shown_answer(reply);
  if (!trial.why.message.empty()) return core::shown(trial.why.message, 300);
  return shown_field(reply, field);
}

/// Whether a message came that the league refused, so that its content is the fault.
bool has_message(const BotTrial& trial) {
  return trial.refused.has_answer() && trial.refused.message.is_object() &&
         trial.refused.error.is_null() && trial.refused.exchange.status < 300;
}

Verdict lost(const BotTrial& trial, const std::string& expected, const std::string& field) {
  const BotReply& reply = trial.refused;
  std::string pointer;
  if (!reply.error.is_null()) {
    pointer = "/error";
  } else if (has_message(trial)) {
    pointer = reply.place + (trial.why.field.empty() ? "/" + field : trial.why.field);
  }
  Verdict verdict = fail(reply.exchange, std::move(pointer), expected, got_by(trial, field));
  verdict.fix = fix_for(trial);
  return verdict;
}

Verdict joins_in_time(const BotTrial& trial) {
  if (!trial.is_lost_at(kInvite) || has_message(trial)) return pass();
  return lost(trial, "GAME_JOIN_ACK in the response", "accept");
}

Verdict accepts_in_trial(const BotTrial& trial) {
  if (!trial.is_lost_at(kInvite)) return pass();
  if (!has_message(trial))
    return skip_blocked("the invitation got no message; see P-4.7/join-answered");
  return lost(trial, "GAME_JOIN_ACK with accept: true", "accept");
}

/// Whether the answer has a choice, but not one of the words.
bool is_misspelt(const BotTrial& trial) {
  const bool is_about_word =
      trial.why.code == ErrorCode::kInvalidParityChoice || trial.why.field == "/parity_choice";
  return is_about_word && has_message(trial) &&
         (trial.refused.message.contains("parity_choice") ||
          trial.refused.message.contains("choice"));
}

Verdict chooses_in_trial(const BotTrial& trial) {
  if (trial.is_lost_at(kInvite)) return skip_blocked("the bot has not joined the match");
  if (!trial.lost_by || is_misspelt(trial)) return pass();
  return lost(trial, "CHOOSE_PARITY_RESPONSE with a choice", "parity_choice");
}

Verdict spells(const BotTrial& trial) {
  if (trial.is_lost_at(kInvite)) return skip_blocked("the bot has not joined the match");
  if (!trial.lost_by) return pass();
  if (!is_misspelt(trial)) return skip_blocked("the call got no choice; see P-4.9/choice-answered");
  const bool is_named = trial.refused.message.contains("parity_choice");
  const std::string field = is_named ? "parity_choice" : "choice";
  return fail(trial.refused.exchange, trial.refused.place + "/" + field, "\"even\" or \"odd\"",
              shown_value(trial.refused.message, field));
}

/// A step of the match at which the bot may lose it.
struct BasicCase {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  Verdict (*judge)(const BotTrial&);
  unsigned traits = kBasic | kAlways;
};

const BasicCase kBasics[] = {
    {"P-4.7/join-answered", kMust, "GAME_JOIN_ACK: the bot answers an invitation in time.",
     "Answer handle_game_invitation within 5 seconds, in the HTTP response to the call.",
     joins_in_time},
    {"P-4.7/join-accepts", kMust, "GAME_JOIN_ACK: the bot accepts an ordinary invitation.",
     "Return GAME_JOIN_ACK with accept: true (a JSON boolean, not a string) in the response to "
     "this "
     "call. accept: false loses the match.",
     accepts_in_trial},
    {"P-4.9/choice-answered", kMust,
     "CHOOSE_PARITY_RESPONSE: the bot answers a call for a choice in time, with a choice.",
     "Return CHOOSE_PARITY_RESPONSE with parity_choice \"even\" or \"odd\" in the response to this "
     "call.",
     chooses_in_trial},
    {"P-4.9/parity-choice-lower-case", kMust,
     "CHOOSE_PARITY_RESPONSE: `parity_choice` is exactly \"even\" or \"odd\".",
     "Send the word as a JSON string in lower case, without blanks.", spells},
};

Verdict judge_basic(PlayerBench& bench, const BasicCase& row) {
  const BotTrial& trial = bench.trial();
  if (!trial.trouble.empty()) return harness_fault(trial.trouble);
  if (bench.registration && trial.refused.exchange.is_refused && trial.is_lost_at(kInvite))
    return skip_blocked("nothing listens at its contact_endpoint");
  return row.judge(trial);
}

}  // namespace

void add_basic_cases(PlayerBench& bench, Checks& out) {
  add_cases(bench, std::span<const BasicCase>(kBasics), out, &judge_basic);
}

}  // namespace league::tools::check
