// Whom the bot obeys, and what it shows. Only for a bot that has a token of this checker's.
#include "common/agent/identity/match_credential.h"
#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr const char* kNoToken =
    "the bot has no token of this checker; use --listen, or --token and --id";
constexpr const char* kCheckCredential =
    "Compute HMAC-SHA-256(your token, match_id + \"#\" + attempt) in hexadecimal and compare it "
    "with auth_token, for the attempts 1 to 16.";

void add_guarded(PlayerBench& bench, Checks& out, const char* id, Level level, const char* text,
                 const char* fix, std::function<Verdict()> run) {
  out.push_back(
      {{.id = id, .level = level, .text = text, .fix = fix},
       [&bench, run = std::move(run)] { return bench.has_token() ? run() : skip(kNoToken); }});
}

BotReply invite_with(PlayerBench& bench, const json& token) {
  json message = bench.invitation(bench.new_match());
  message["auth_token"] = token;
  if (token.is_null()) message.erase("auth_token");
  return bench.ask(MessageType::kGameInvitation, message);
}

void add_invitation_tokens(PlayerBench& bench, Checks& out) {
  add_guarded(bench, out, "P-8/wrong-credential", Level::kRobust,
              "An invitation with a wrong credential is refused.", kCheckCredential, [&bench] {
                return expect_refused(invite_with(bench, std::string(64, '0')),
                                      "the credential is wrong");
              });
  add_guarded(bench, out, "P-8/missing-credential", Level::kRobust,
              "An invitation without a credential is refused.", kCheckCredential, [&bench] {
                return expect_refused(invite_with(bench, nullptr), "there is no auth_token");
              });
  add_guarded(bench, out, "P-8/credential-of-another-match", Level::kRobust,
              "The credential of one match does not open another.", kCheckCredential, [&bench] {
                return expect_refused(invite_with(bench, bench.credential("R77M7")),
                                      "the credential is that of another match");
              });
  add_guarded(bench, out, "P-8/later-attempt", Level::kMust,
              "The credential of the second attempt at a match is right.", kCheckCredential,
              [&bench] {
                const TestMatch match = bench.new_match();
                json message = bench.invitation(match);
                message["auth_token"] =
                    agent::match_credential(bench.bot().token, core::MatchId(match.id), 2).reveal();
                return expect_accepted(bench.ask(MessageType::kGameInvitation, message),
                                       "the match was assigned a second time");
              });
}

void add_other_tokens(PlayerBench& bench, Checks& out) {
  add_guarded(bench, out, "P-8/choice-for-stranger", Level::kRobust,
              "A call for a choice with a wrong credential learns no choice.", kCheckCredential,
              [&bench] {
                const TestMatch match = bench.new_match();
                (void)bench.ask(MessageType::kGameInvitation, bench.invitation(match));
                json message = bench.choice_call(match);
                message["auth_token"] = std::string(64, 'f');
                const BotReply reply = bench.ask(MessageType::kChooseParityCall, message);
                if (PlayerBench::choice_in(reply).empty()) return pass();
                return fail(reply.exchange, reply.place + "/parity_choice",
                            "an error, and no choice", shown_value(reply.message, "parity_choice"));
              });
  add_guarded(bench, out, "P-8/stranger-changes-nothing", Level::kRobust,
              "A refused call changes nothing: the right one is answered afterwards.",
              "Check auth_token before anything is changed.", [&bench] {
                const TestMatch match = bench.new_match();
                json wrong = bench.invitation(match);
                wrong["auth_token"] = std::string(64, 'a');
                wrong["draw_commitment"] = std::string(64, 'b');
                (void)bench.ask(MessageType::kGameInvitation, wrong);
                const PlayedGame game = bench.play(match, true);
                if (PlayerBench::choice_in(game.choice).empty())
                  return expect_choice(game.choice, "only a stranger was refused before");
                return expect_accepted(game.join, "only a stranger was refused before");
              });
  add_guarded(bench, out, "P-8/manager-token", Level::kRobust,
              "News with a wrong token are refused.",
              "Compare auth_token of the manager's messages with your own token.", [&bench] {
                json message = bench.news(MessageType::kRoundAnnouncement);
                message["auth_token"] = "tok_p01_somebody_elses_token";
                return expect_refused(bench.ask(MessageType::kRoundAnnouncement, message),
                                      "the token is not the bot's own");
              });
}

void add_secrets(PlayerBench& bench, Checks& out) {
  add_guarded(bench, out, "P-8/state-for-strangers", Level::kRobust,
              "`get_player_state` shows nothing to who does not know the bot's token.",
              "Answer get_player_state only where auth_token is your own.", [&bench] {
                const BotReply reply =
                    bench.call("get_player_state",
                               {{"conversation_id", "convstate002"}, {"auth_token", "wrong"}});
                if (!reply.error.is_null() || !reply.has_answer()) return pass();
                return fail(reply.exchange, "/result", "an error", shown_answer(reply));
              });
  add_guarded(bench, out, "P-4.17/no-token-echoed", Level::kMust,
              "An error never repeats a token beyond its first 8 characters, not even a wrong one.",
              "Leave auth_token out of error texts.", [&bench] {
                const std::string secret = "tok_leaguecheck_must_not_be_repeated";
                const BotReply reply = invite_with(bench, secret);
                if (reply.exchange.received.find(secret.substr(0, 12)) == std::string::npos)
                  return pass();
                return fail(reply.exchange, "/error", "no token in the answer",
                            "the token that was sent");
              });
  add_guarded(bench, out, "P-8/own-token-not-leaked", Level::kRobust,
              "An error to a stranger does not hold the bot's own token.",
              "Show auth_token only in replies to calls that were admitted.", [&bench] {
                const BotReply reply = invite_with(bench, "wrong");
                if (reply.exchange.received.find(bench.bot().token.reveal()) == std::string::npos)
                  return pass();
                return fail(reply.exchange, "", "no token in the answer", "the bot's own token");
              });
}

}  // namespace

void add_token_checks(PlayerBench& bench, Checks& out) {
  add_invitation_tokens(bench, out);
  add_other_tokens(bench, out);
  add_secrets(bench, out);
}

}  // namespace league::tools::check
