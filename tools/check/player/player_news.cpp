// Notifications, which the bot only has to acknowledge.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

struct News {
  MessageType type;
  const char* id;
  Level level;
};

/// An acknowledgement: any result without an error, or an empty 2xx body.
Verdict expect_acknowledged(const BotReply& reply) {
  return expect(reply.has_answer() && reply.error.is_null() &&
                    (reply.document.is_object() || reply.exchange.status / 100 == 2),
                reply.exchange, reply.error.is_null() ? "" : "/error",
                "an acknowledgement such as {\"status\": \"ok\"}", shown_answer(reply));
}

const Probe<PlayerBench> kResults[] = {
    {"P-4.10/game-over-acknowledged",
     Level::kRobust,
     "The bot acknowledges a correct GAME_OVER.",
     "Answer notify_match_result with {\"status\": \"ok\"}. If your bot refused this result, "
     "compare its calculation with docs/verify_draw.py. If a check of P-7.25 fails as well, fix "
     "that first.",
     [](PlayerBench& bench) { return expect_acknowledged(bench.sample().over); },
     {.needs_word = true}},
    {"P-4.10/technical-loss-acknowledged", Level::kRobust,
     "The bot acknowledges GAME_OVER of a technical loss, in which `drawn_number` and "
     "`number_parity` are null.",
     "Read drawn_number and number_parity only if game_result.status is not \"TECHNICAL_LOSS\".",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       PlayedGame game = bench.play(match, true);
       json message = bench.game_over(game);
       message["game_result"] = {{"status", "TECHNICAL_LOSS"},
                                 {"winner_player_id", bench.bot().id},
                                 {"drawn_number", nullptr},
                                 {"number_parity", nullptr},
                                 {"choices", {{match.opponent, nullptr}}},
                                 {"reason", match.opponent + " did not answer"}};
       message["game_result"]["choices"][bench.bot().id] = PlayerBench::choice_in(game.choice);
       message["choice_commitments"] = json::object();
       message["choice_nonces"] = json::object();
       if (const auto own = game.join.text("choice_commitment"); !own.empty()) {
         message["choice_commitments"][bench.bot().id] = own;
         message["choice_commitments"][match.opponent] = bench.opponent_commitment(match);
         message["choice_nonces"][bench.bot().id] = game.choice.text("choice_nonce");
       }
       message.erase("draw_version");
       return expect_acknowledged(bench.ask(MessageType::kGameOver, message));
     }},
};

}  // namespace

void add_news_checks(PlayerBench& bench, Checks& out) {
  add_probes(bench, kResults, out);
  for (const News& news :
       {News{MessageType::kRoundAnnouncement, "P-4.5/round-acknowledged", Level::kShould},
        News{MessageType::kLeagueStandingsUpdate, "P-4.12/standings-acknowledged", Level::kShould},
        News{MessageType::kRoundCompleted, "P-4.13/round-end-acknowledged", Level::kShould},
        News{MessageType::kLeagueError, "P-4.17/league-error-acknowledged", Level::kShould},
        News{MessageType::kGameError, "P-4.18/game-error-acknowledged", Level::kShould}}) {
    const std::string name(envelope::wire_name(news.type));
    const std::string method(envelope::spec(news.type).method);
    out.push_back({{.id = news.id,
                    .level = news.level,
                    .text = "The bot acknowledges " + name + " (method `" + method + "`).",
                    .fix = "Answer " + method + " with {\"status\": \"ok\"}."},
                   [&bench, type = news.type, method] {
                     const json message = type == MessageType::kGameError
                                              ? bench.game_error(bench.sample().match)
                                              : bench.news(type);
                     return expect_acknowledged(bench.call(method, message));
                   }});
  }
  out.push_back({{.id = "P-4/ping",
                  .level = Level::kShould,
                  .text = "The bot answers `ping`.",
                  .fix = "Answer the method ping with {\"status\": \"ok\"}."},
                 [&bench] {
                   return expect_acknowledged(bench.call(
                       "ping", bench.envelope(MessageType::kLeagueError, "convping001")));
                 }});
  out.push_back({{.id = "P-4/get-player-state",
                  .level = Level::kShould,
                  .text = "The bot answers `get_player_state` if the call has the bot's own token.",
                  .fix = "Answer get_player_state with an object, such as {\"player_id\": ID}, if "
                         "auth_token is your own token."},
                 [&bench] {
                   return expect_acknowledged(
                       bench.call("get_player_state",
                                  bench.envelope(MessageType::kLeagueError, "convstate001")));
                 }});
  out.push_back({{.id = "P-4.14/league-end-acknowledged",
                  .level = Level::kShould,
                  .text = "The bot acknowledges LEAGUE_COMPLETED before it exits.",
                  .fix = "Answer notify_league_completed first. If your bot exits at the end of "
                         "the league, let it exit after that.",
                  .is_last = true},
                 [&bench] {
                   return expect_acknowledged(bench.call(
                       "notify_league_completed", bench.news(MessageType::kLeagueCompleted)));
                 }});
}

}  // namespace league::tools::check
