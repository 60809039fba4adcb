// Which senders the bot accepts, and that it keeps its token secret. Only for a bot that has a
// token from this checker.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr const char* kCheckCredential =
    "Compute the HMAC-SHA-256 of match_id + \"#\" + attempt with your token as the key, in "
    "lower-case hexadecimal, for the attempts 1 to 16. Answer with an error if auth_token is none "
    "of them.";

BotReply invite_with(PlayerBench& bench, const json& token) {
  json message = bench.invitation(bench.new_match());
  message["auth_token"] = token;
  if (token.is_null()) message.erase("auth_token");
  return bench.ask(MessageType::kGameInvitation, message);
}

const Probe<PlayerBench> kTokenProbes[] = {
    {"P-8/wrong-credential", Level::kRobust,
     "The bot refuses an invitation with a wrong credential.", kCheckCredential,
     [](PlayerBench& bench) {
       return expect_refused(invite_with(bench, std::string(64, '0')), "the credential is wrong");
     }},
    {"P-8/missing-credential", Level::kRobust,
     "The bot refuses an invitation without a credential.", kCheckCredential,
     [](PlayerBench& bench) {
       return expect_refused(invite_with(bench, nullptr), "auth_token is missing");
     }},
    {"P-8/credential-of-another-match", Level::kRobust,
     "The bot refuses an invitation with the credential of another match.", kCheckCredential,
     [](PlayerBench& bench) {
       return expect_refused(invite_with(bench, bench.credential("R77M7")),
                             "the credential belongs to another match");
     }},
    {"P-8/later-attempt", Level::kMust,
     "The bot accepts the credential of the second attempt at a match.", kCheckCredential,
     [](PlayerBench& bench) {
       TestMatch match = bench.new_match();
       match.attempt = 2;
       return expect_accepted(bench.ask(MessageType::kGameInvitation, bench.invitation(match)),
                              "the match was assigned a second time");
     }},
    {"P-7.63/attempt-contradicts", Level::kRobust,
     "The bot refuses a call whose `context.attempt` is not the attempt that the credential "
     "proves.",
     "If the call has context.attempt, compare it with the attempt of the credential; answer with "
     "E023 at /context/attempt if they differ.",
     [](PlayerBench& bench) {
       if (!bench.gives_receipts()) return skip(kNoReceipts);
       TestMatch match = bench.new_match();
       match.attempt = 2;
       json message = bench.invitation(match);
       message["auth_token"] = bench.credential(match.id, 1);
       return expect_refused(bench.ask(MessageType::kGameInvitation, message),
                             "the credential is that of another attempt");
     }},
    {"P-8/choice-for-stranger", Level::kRobust,
     "The bot does not reveal its choice to a call with a wrong credential.", kCheckCredential,
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       (void)bench.ask(MessageType::kGameInvitation, bench.invitation(match));
       json message = bench.choice_call(match);
       message["auth_token"] = std::string(64, 'f');
       const BotReply reply = bench.ask(MessageType::kChooseParityCall, message);
       return expect_field(PlayerBench::choice_in(reply).empty(), reply, "parity_choice",
                           "an error, and no choice");
     }},
    {"P-8/stranger-changes-nothing", Level::kRobust,
     "A call that the bot refused changes nothing: the correct call is answered afterwards.",
     "Check auth_token before you change anything.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       json wrong = bench.invitation(match);
       wrong["auth_token"] = std::string(64, 'a');
       wrong["draw_commitment"] = std::string(64, 'b');
       (void)bench.ask(MessageType::kGameInvitation, wrong);
       const PlayedGame game = bench.play(match, true);
       if (PlayerBench::choice_in(game.choice).empty())
         return expect_choice(game.choice, "only a call with a wrong credential came before");
       return expect_accepted(game.join, "only a call with a wrong credential came before");
     }},
    {"P-8/manager-token", Level::kRobust, "The bot refuses notifications with a wrong token.",
     "Answer the manager's notifications with an error if auth_token is not your own token.",
     [](PlayerBench& bench) {
       json message = bench.news(MessageType::kRoundAnnouncement);
       message["auth_token"] = "tok_p01_somebody_elses_token";
       return expect_refused(bench.ask(MessageType::kRoundAnnouncement, message),
                             "the token is not the bot's own");
     }},
    {"P-8/state-for-strangers", Level::kRobust,
     "The bot refuses `get_player_state` without its own token.",
     "Answer get_player_state with an error if auth_token is not your own token.",
     [](PlayerBench& bench) {
       const BotReply reply = bench.call(
           "get_player_state", {{"conversation_id", "convstate002"}, {"auth_token", "wrong"}});
       return expect(!reply.error.is_null() || !reply.has_answer(), reply.exchange, "/result",
                     "an error", shown_answer(reply));
     }},
    {"P-4.17/no-token-echoed", Level::kRobust,
     "An error text contains at most the first 8 characters of a token, even of a wrong one.",
     "Do not put auth_token into error texts.",
     [](PlayerBench& bench) {
       const std::string secret = "tok_leaguecheck_must_not_be_repeated";
       const BotReply reply = invite_with(bench, secret);
       return expect(reply.exchange.received.find(secret.substr(0, 12)) == std::string::npos,
                     reply.exchange, "/error", "no token in the response",
                     "the token that was sent");
     }},
    {"P-8/own-token-not-leaked", Level::kRobust,
     "The response to a call with a wrong credential does not contain the bot's own token.",
     "Send auth_token only in replies to calls whose credential you have checked.",
     [](PlayerBench& bench) {
       const BotReply reply = invite_with(bench, "wrong");
       return expect(reply.exchange.received.find(bench.bot().token.reveal()) == std::string::npos,
                     reply.exchange, "", "no token in the response", "the bot's own token");
     }},
};

}  // namespace

void add_token_checks(PlayerBench& bench, Checks& out) {
  add_probes(bench, kTokenProbes, out, &only_with_token);
}

}  // namespace league::tools::check
