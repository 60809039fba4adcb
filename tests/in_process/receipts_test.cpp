// What a referee cannot do in the name of a player that declares receipts.
#include <gtest/gtest.h>

#include "common/agent/identity/match_credential.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using league_manager::events::AgentRef;
using league_manager::events::MatchDisputed;
using league_manager::events::MatchReleased;
using league_manager::events::PlayersAsked;
using nlohmann::json;

constexpr auto kBotUrl = "http://127.0.0.1:8190/mcp";
const std::string kBotNonce(32, '7');

/// A bot that knows nothing but `get_match_record`, and swears that it answered.
class SwearingBot final : public transport::link::MessageHandler {
 public:
  void on_message(transport::link::Inbound message, transport::link::ReplySlot slot) override {
    const json frame = json::parse(message.bytes.str(), nullptr, false);
    const json params = frame.value("params", json::object());
    const bool is_tool = frame.value("method", "") == "tools/call";
    const std::string method = is_tool ? params.value("name", "") : frame.value("method", "");
    json answer = {{"jsonrpc", "2.0"}, {"id", frame.value("id", json())}};
    if (method == "get_match_record") {
      const json arguments = is_tool ? params["arguments"] : params;
      ++asked;
      token = arguments.value("auth_token", "");
      answer["result"] = record_of(arguments.value("match_id", ""));
    } else {
      answer["error"] = {{"code", -32000}, {"message", "it is broken"}};
    }
    transport::link::OutboundReply reply;
    reply.bytes = answer.dump();
    slot.send(std::move(reply));
  }

  int asked = 0;
  std::string token;

 private:
  static json record_of(const std::string& match) {
    json calls = json::array();
    for (int attempt = 1; attempt <= 3; ++attempt) {
      calls.push_back({{"message_type", "GAME_INVITATION"},
                       {"attempt", attempt},
                       {"play", 0},
                       {"at", "2025-01-15T10:30:00.000000Z"},
                       {"answered_at", "2025-01-15T10:30:00.001000Z"},
                       {"answer_ms", 1},
                       {"accept", true}});
    }
    return {{"match_id", match}, {"player_id", "P03"}, {"calls", calls}};
  }
};

/// A league of two of our players and one bot, P03, that declares receipts.
class ReceiptsOfABot : public ::testing::Test {
 protected:
  ReceiptsOfABot() {
    league_.network.listen(kBotUrl, bot_);
    league_.links.listen(kBotUrl, bot_);
    league_.register_all();
    answer_ = register_bot("", kBotNonce);
    league_.run_until([this] { return league_.status()["state"] != "REGISTERING"; });
    league_.settle();
  }

  json register_bot(const std::string& token, const std::string& nonce,
                    const std::string& url = kBotUrl, bool receipts = true) {
    json fields = {{"player_meta",
                    {{"display_name", "swearing"},
                     {"version", "1.0.0"},
                     {"game_types", {"even_odd"}},
                     {"contact_endpoint", url},
                     {"receipts", receipts}}}};
    if (!nonce.empty()) fields["registration_nonce"] = nonce;
    return league_.call(
        "league_manager", "register_player",
        league_.message("LEAGUE_REGISTER_REQUEST", "player:swearing", token, fields))["result"];
  }
  [[nodiscard]] std::string token() const { return answer_.value("auth_token", ""); }
  [[nodiscard]] league_manager::events::AgentProfile profile() const {
    league_manager::events::AgentProfile found;
    league_.read([&](const league_manager::League& league) {
      found = league.roster().agent(AgentRef::player(2)).profile;
    });
    return found;
  }

  SwearingBot bot_;
  LeagueFixture league_{{.players = 2, .referees = 2, .players_expected = 3}};
  json answer_;
};

TEST_F(ReceiptsOfABot, ARefereeCannotUseAnythingThatItSees) {
  ASSERT_EQ(answer_["status"], "ACCEPTED") << answer_;
  ASSERT_EQ(answer_["receipt_key"].get<std::string>().size(), 64u);
  const core::AuthToken own(token());
  std::vector<std::string> seen = {own.hash(), league_.token_of("REF01").reveal()};
  for (const char* match : {"R1M1", "R2M1", "R3M1"}) {
    for (int attempt = 1; attempt <= 3; ++attempt) {
      const core::MatchId id(match);
      seen.push_back(agent::identity::match_credential(own, id, attempt).reveal());
      const auto answer = agent::identity::answer_credential(own, id, attempt);
      seen.push_back(answer.reveal());
      seen.push_back(answer.hash());
    }
  }
  for (const auto& shown : seen) {
    for (const std::string& nonce : {std::string(), std::string(32, '9')}) {
      const json moved = register_bot(shown, nonce, "http://127.0.0.1:8191/mcp");
      EXPECT_EQ(moved["status"], "REJECTED") << moved;
      EXPECT_FALSE(moved.contains("receipt_key"));
    }
    const json withdrawn =
        league_.call("league_manager", "withdraw", {{"auth_token", shown}, {"reason", "tired"}});
    EXPECT_EQ(withdrawn["result"]["error_code"], "E012") << withdrawn;
    const json report = league_.call("league_manager", "get_my_report", {{"auth_token", shown}});
    EXPECT_EQ(report["result"]["error_code"], "E012") << report;
    const json asked = league_.call(
        "league_manager", "league_query",
        league_.message("LEAGUE_QUERY", "player:P03", shown, {{"query_type", "GET_STANDINGS"}}));
    EXPECT_NE(asked.dump().find("E012"), std::string::npos) << asked;
  }
  EXPECT_EQ(register_bot("", "")["status"], "REJECTED") << "the same endpoint and name, too late";
  EXPECT_EQ(register_bot("", std::string(32, '9'))["status"], "REJECTED");
  EXPECT_EQ(profile().endpoint, kBotUrl);
  const json back = register_bot(token(), kBotNonce);
  EXPECT_EQ(back["status"], "ACCEPTED");
  EXPECT_EQ(back["receipt_key"], answer_["receipt_key"]) << "whoever has token and nonce";
}

/// A bot of another library may have shown its token to a referee.
TEST_F(ReceiptsOfABot, ATokenAloneFetchesNoKeyAndChangesNoDeclaration) {
  json thief = register_bot(token(), "", kBotUrl, false);
  EXPECT_EQ(thief["status"], "ACCEPTED");
  EXPECT_FALSE(thief.contains("receipt_key"));
  EXPECT_TRUE(profile().receipts);
  thief = register_bot(token(), std::string(32, '9'));
  EXPECT_FALSE(thief.contains("receipt_key")) << "nor with a nonce of its own";
  const auto is_told = [](const std::string& line) {
    return line.find("! REGISTRATION_IGNORED: of the registration of P03") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(league_.operator_lines, is_told));
}

TEST_F(ReceiptsOfABot, ItsWordIsHeardBoundedAndNobodyIsHarmed) {
  ASSERT_TRUE(league_.run_until([this] { return league_.is_over(); }));
  EXPECT_EQ(league_.status()["matches_completed"], 3);
  EXPECT_EQ(bot_.token, token()) << "the manager shows the bot its own token";
  const auto asked = events_of<PlayersAsked>(league_);
  EXPECT_EQ(asked.size(), static_cast<std::size_t>(bot_.asked));
  int contradicted = 0;
  for (const auto& one : events_of<MatchReleased>(league_))
    contradicted += one.reason == league_manager::events::kReasonLossContradicted ? 1 : 0;
  EXPECT_EQ(contradicted, 2) << "each of its two matches was played again by the other referee";
  EXPECT_EQ(events_of<MatchDisputed>(league_).size(), 2u);
  for (int referee : {0, 1}) {
    EXPECT_EQ(state_of(league_, AgentRef::referee(referee)),
              league_manager::events::AgentState::kActive);
  }
  EXPECT_EQ(league_.status()["contradicted"].size(), 2u);
  const json stats = league_.call(
      "league_manager", "league_query",
      league_.message("LEAGUE_QUERY", "player:P03", token(), {{"query_type", "GET_PLAYER_STATS"}}));
  ASSERT_EQ(stats["result"]["data"]["matches"].size(), 2u) << stats;
  EXPECT_EQ(stats["result"]["data"]["matches"][0]["result"], "LOSS");
}

TEST(Receipts, OfOurPlayersAreValidInEveryMatch) {
  LeagueFixture league({.players = 6, .referees = 2, .receipts = true});
  ASSERT_TRUE(league.play());
  expect_sound(league);
  const auto reported = events_of<league_manager::events::MatchReported>(league);
  ASSERT_EQ(reported.size(), 15u);
  for (const auto& one : reported) {
    ASSERT_TRUE(one.receipts);
    EXPECT_EQ(one.fairness, game::Fairness::kBoth);
    for (const auto& of_player : one.receipts->both) {
      EXPECT_EQ(of_player.state, league_manager::events::ReceiptState::kValid);
      EXPECT_TRUE(of_player.join && of_player.choice);
    }
  }
  EXPECT_TRUE(events_of<PlayersAsked>(league).empty());
}

TEST(Receipts, ADeadPlayerIsAskedAndLosesAsBefore) {
  LeagueFixture league({.players = 4, .referees = 2, .receipts = true});
  league.register_all();
  league.disconnect("P01");
  ASSERT_TRUE(league.play());
  expect_sound(league);
  const auto asked = events_of<PlayersAsked>(league);
  ASSERT_EQ(asked.size(), 3u);
  for (const auto& one : asked)
    EXPECT_EQ(one.words.at(0).word, league_manager::events::PlayerWord::kNone);
  EXPECT_TRUE(events_of<MatchReleased>(league).empty());
  EXPECT_TRUE(events_of<MatchDisputed>(league).empty());
}

TEST(Receipts, ASilentPlayerConfirmsItsLossOrHasNoWord) {
  LeagueFixture league({.players = 4, .referees = 2, .receipts = true});
  league.register_all();
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence());
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_GT(league.script("P01").arrived("get_match_record"), 0);
}

}  // namespace
}  // namespace league::testing
