#include "league_manager/rounds/announcer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/agent/bus/event_signature.h"
#include "common/envelope/envelope_testing.h"
#include "common/journal/discarding_journal.h"
#include "league_manager/core/league_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::league_manager::rounds {
namespace {

using nlohmann::json;

/// Keeps what is published; the test says when it is done.
class FakeBoard final : public bus::EventBoard {
 public:
  void publish(bus::PublishedEvent event, std::function<void()> done) override {
    events.push_back(std::move(event));
    waiting.push_back(std::move(done));
  }
  void stop() override { is_stopped = true; }
  void finish() {
    for (auto& done : std::exchange(waiting, {})) {
      if (done) done();
    }
  }
  [[nodiscard]] json params(std::size_t i) const {
    return json::parse(*events.at(i).text)["params"];
  }

  std::vector<bus::PublishedEvent> events;
  std::vector<std::function<void()>> waiting;
  bool is_stopped = false;
};

/// Takes every call at once.
class CountingCaller final : public transport::link::Caller {
 public:
  void call(transport::link::OutboundCall call, Completion completion) override {
    const auto message = json::parse(call.bytes);
    sent.push_back(message["params"]);
    peers.push_back(call.notes->peer);
    transport::link::CallOutcome outcome;
    outcome.http_status = 204;
    if (!answer.is_null()) {
      outcome.http_status = 200;
      outcome.bytes = json{{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", answer}}.dump();
    }
    completion(std::move(outcome));
  }
  json answer = nullptr;
  std::vector<json> sent;
  std::vector<std::string> peers;
};

class AnnouncerTest : public ::testing::Test {
 protected:
  /// A league in its first round, of which `called` players and the referee are on no bus.
  void start(int players, int called) {
    ledger_ = std::make_unique<files::Ledger>(testing::settings(players, 1), journal_, time_);
    ASSERT_TRUE(ledger_->open());
    for (int i = 0; i < players; ++i) {
      auto profile = testing::profile("bot " + std::to_string(i), 10000 + i);
      if (i >= called) {
        profile.endpoint = "nats:session-of-" + std::to_string(i);
        profile.hears_events = true;
      }
      enter({events::AgentKind::kPlayer, profile, {}, {}});
    }
    enter({events::AgentKind::kReferee, testing::profile("r", 9000), {}, {}});
    commit([](const League& league, core::UtcTimestamp now) {
      return *league.decide_step({now, {}});
    });
    commit([](const League& league, core::UtcTimestamp now) {
      StepFacts facts{now, {}};
      facts.draw_seeds.resize(league.seeds_needed());
      return *league.decide_step(facts);
    });
    announcer_ = std::make_unique<Announcer>(RoundDependencies{.ledger = *ledger_,
                                                               .token_issuer = token_issuer_,
                                                               .peers = peers_,
                                                               .timer = time_,
                                                               .clock = time_,
                                                               .random = random_,
                                                               .settings = settings_,
                                                               .envelopes = envelopes_,
                                                               .term = 7,
                                                               .events = &board_,
                                                               .executor = executor_});
  }
  void enter(const RegistrationRequest& request) {
    commit([&](const League& league, core::UtcTimestamp now) {
      return league.decide_register(request, testing::facts("n", now))->events;
    });
  }
  void commit(const std::function<events::Events(const League&, core::UtcTimestamp)>& decision) {
    ledger_->commit(decision, [](const core::Result<events::Events>&) {});
  }
  void announce() {
    executor_.post([this] { follow(announcer_->announce_round(1)); });
  }
  void complete_round() {
    executor_.post([this] { follow(announcer_->round_completed(1)); });
  }
  void follow(const Announcer::Told& told) {
    ASSERT_TRUE(told);
    waits_.spawn(count_then(told));
    waits_.spawn(count_delivered(told));
  }
  task::Task<void> count_then(Announcer::Told told) {
    co_await announcer_->wait_a_while(told);
    ++then_;
  }
  task::Task<void> count_delivered(Announcer::Told told) {
    co_await told->open.wait();
    heads_ = told->heads;
    ++delivered_;
  }

  league::testing::FakeTime time_;
  league::testing::ScriptedRandom random_;
  core::LeagueId id_{"league_a"};
  admission::TokenIssuer token_issuer_{id_, random_};
  journal::DiscardingJournal journal_;
  CountingCaller caller_;
  agent::peers::PeerClient peers_{caller_, envelope::testing::schemas(), time_,
                                  envelope::Mode::kOpen};
  const agent::runtime::Settings settings_{};
  envelope::EnvelopeBuilder envelopes_{envelope::Sender::league_manager(), id_, time_};
  FakeBoard board_;
  const task::Executor executor_;
  std::unique_ptr<files::Ledger> ledger_;
  std::unique_ptr<Announcer> announcer_;
  int then_ = 0;
  int delivered_ = 0;
  LogHeads heads_;
  task::Scope waits_{executor_, nullptr};
};

TEST_F(AnnouncerTest, ABroadcastToAThousandPlayersIsPublishedOnce) {
  start(1000, 0);
  announce();
  EXPECT_EQ(board_.events.size(), 1U);
  EXPECT_TRUE(caller_.sent.empty());
  EXPECT_EQ(board_.events[0].type, "round_announcement");
  EXPECT_EQ(board_.params(0)["matches"].size(), 500U);
  EXPECT_EQ(then_ + delivered_, 0) << "before matches are given out the broker has it";
  board_.finish();
  EXPECT_EQ(then_, 1);
  EXPECT_EQ(delivered_, 1);
}

TEST_F(AnnouncerTest, UpToSixtyFourPlayersEverybodyIsToldTheWholeRound) {
  start(64, 64);
  announce();
  ASSERT_EQ(caller_.sent.size(), 64U);
  for (const auto& message : caller_.sent) {
    EXPECT_EQ(message["matches"].size(), 32U);
    EXPECT_FALSE(message.contains("total_matches"));
  }
}

TEST_F(AnnouncerTest, BeyondThatEachIsToldItsOwnMatch) {
  start(65, 64);  // one has a bye
  announce();
  ASSERT_EQ(caller_.sent.size(), 64U);
  std::set<std::string> tokens;
  int byes = 0;
  for (std::size_t i = 0; i < caller_.sent.size(); ++i) {
    const json& message = caller_.sent[i];
    EXPECT_TRUE(
        envelope::testing::schemas().validate(envelope::MessageType::kRoundAnnouncement, message));
    tokens.insert(message["auth_token"]);
    EXPECT_EQ(message["total_matches"], 32);
    const std::string id = caller_.peers[i].substr(std::string("player:").size());
    byes += static_cast<int>(message["matches"].empty());
    for (const auto& match : message["matches"]) {
      EXPECT_TRUE(match["player_A_id"] == id || match["player_B_id"] == id) << match;
      EXPECT_EQ(match["draw_commitment"].get<std::string>().size(), 64U);
    }
    EXPECT_LE(message["matches"].size(), 1U);
  }
  EXPECT_EQ(tokens.size(), 64U);
  EXPECT_LE(byes, 1);
  // Who listens on a bus hears what everybody hears: the whole round.
  EXPECT_EQ(board_.params(0)["matches"].size(), 32U);
  EXPECT_FALSE(board_.params(0).contains("total_matches"));
}

TEST_F(AnnouncerTest, ItIsSignedAndShowsNoToken) {
  start(4, 0);
  announce();
  const auto& text = *board_.events.at(0).text;
  auto params = board_.params(0);
  EXPECT_FALSE(params.contains("auth_token"));
  EXPECT_EQ(params["term"], 7);
  EXPECT_EQ(json::parse(text)["method"],
            envelope::spec(envelope::MessageType::kRoundAnnouncement).method);
  EXPECT_FALSE(json::parse(text).contains("id")) << "nobody answers it";
  auto key = token_issuer_.league_key().public_key();
  EXPECT_TRUE(agent::bus::check_event_signature(text, params["signature"].get<std::string>(), key));
}

TEST_F(AnnouncerTest, WhoDoesNotListenIsCalled) {
  start(4, 1);
  announce();
  EXPECT_EQ(caller_.peers, (std::vector<std::string>{"player:P01"}));
  EXPECT_TRUE(caller_.sent.at(0).contains("auth_token"));
  EXPECT_FALSE(caller_.sent.at(0).contains("signature"));
  EXPECT_EQ(board_.events.size(), 1U);
  EXPECT_EQ(then_, 0) << "not before the others have it too";
  board_.finish();
  EXPECT_EQ(then_, 1);
}

TEST_F(AnnouncerTest, ABrokerThatSaysNothingCostsTheGraceOnly) {
  start(4, 0);
  announce();
  time_.advance(settings_.league.announcement_grace);
  EXPECT_EQ(then_, 1);
  EXPECT_EQ(delivered_, 0) << "and after a restart it is said again";
  board_.finish();
  EXPECT_EQ(then_, 1);
  EXPECT_EQ(delivered_, 1);
}

TEST_F(AnnouncerTest, OfALongTableEverybodyHearsTheHead) {
  start(201, 1);
  complete_round();
  ASSERT_EQ(board_.events.size(), 2U);
  EXPECT_EQ(board_.events[0].type, "league_standings_update");
  EXPECT_EQ(board_.params(0)["standings"].size(), 50U);
  EXPECT_EQ(board_.params(0)["total_players"], 201);
  EXPECT_EQ(board_.events[1].type, "round_completed");
  EXPECT_NE(board_.events[0].id, board_.events[1].id);
  // The one that is called gets its own place too; the referee the summary.
  ASSERT_EQ(caller_.sent.size(), 3U);
  const json& rows = caller_.sent[0]["standings"];
  EXPECT_EQ(caller_.sent[0]["total_players"], 201);
  EXPECT_EQ(rows[0]["rank"], 1);
  EXPECT_GE(rows.size(), 50U);
  board_.finish();
  EXPECT_EQ(delivered_, 1);
}

TEST_F(AnnouncerTest, EachGetsItsOwnPlaceInALongTable) {
  start(201, 201);
  complete_round();
  int updates = 0;
  for (std::size_t i = 0; i < caller_.sent.size(); ++i) {
    const json& message = caller_.sent[i];
    if (message["message_type"] != "LEAGUE_STANDINGS_UPDATE") continue;
    ++updates;
    EXPECT_EQ(message["total_players"], 201);
    std::vector<std::string> got;
    for (const auto& row : message["standings"]) got.push_back(row["player_id"]);
    // Nobody has played, so all stand in the order of their numbers.
    const int own =
        events::AgentRef::parse(caller_.peers[i].substr(std::string("player:").size()))->index;
    std::vector<std::string> expected;
    for (int place = 0; place < 201; ++place) {
      if (place < 50 || std::abs(place - own) <= 5)
        expected.push_back(events::AgentRef::player(place).id());
    }
    EXPECT_EQ(got, expected) << caller_.peers[i];
  }
  EXPECT_EQ(updates, 201);
}

TEST_F(AnnouncerTest, WhatIsSaidAgainHasTheSameName) {
  start(4, 0);
  announce();
  announce();
  EXPECT_EQ(board_.events[0].id, board_.events[1].id);
  executor_.post([this] { follow(announcer_->league_completed()); });
  EXPECT_EQ(board_.events[2].type, "league_completed");
  EXPECT_NE(board_.events[2].id, board_.events[0].id);
}

TEST_F(AnnouncerTest, TheEndOfARoundBindsTheJournal) {
  start(2, 2);
  const auto head = ledger_->journal_head();
  complete_round();
  for (const auto& message : caller_.sent) {
    const bool is_end = message["message_type"] == "ROUND_COMPLETED";
    EXPECT_EQ(message.contains("journal_head"), is_end);
    if (!is_end) continue;
    EXPECT_EQ(message["journal_head"]["seq"], head.sequence);
    EXPECT_EQ(message["journal_head"]["hash"], core::to_hex(head.digest));
  }
}

TEST_F(AnnouncerTest, TheEndsOfTheAgentsLogsAreCollected) {
  start(2, 2);
  const std::string hash(64, 'a');
  caller_.answer = {{"log_head", {{"seq", 7}, {"hash", hash}}}};
  complete_round();
  board_.finish();
  const auto referee = events::AgentRef::referee(0);
  EXPECT_EQ(heads_.size(), 3U);
  EXPECT_EQ(heads_.at(referee), (events::AgentLogHead{referee, 7, hash}));
}

TEST_F(AnnouncerTest, StopsTheBoard) {
  start(4, 0);
  announcer_->stop();
  EXPECT_TRUE(board_.is_stopped);
}

}  // namespace
}  // namespace league::league_manager::rounds
