#include "league_manager/spectators/spectator_feed.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "league_manager/core/league_testing.h"
#include "league_manager/spectators/pages.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::spectators {
namespace {

using nlohmann::json;
using testing::at;
using testing::PlayedLeague;
using namespace std::chrono_literals;

struct Told {
  std::string id;
  std::string type;
  json view;
};

/// One spectator's stream.
class Stream final : public transport::link::PeerChannel {
 public:
  bool push(std::shared_ptr<const std::string> /*bytes*/) override { return false; }
  bool push_event(std::shared_ptr<const std::string> bytes, std::string_view id,
                  std::string_view type) override {
    if (!is_open_) return false;
    told.push_back({std::string(id), std::string(type), json::parse(*bytes)});
    text += *bytes;
    return true;
  }
  void close() override { is_open_ = false; }
  [[nodiscard]] bool is_open() const override { return is_open_; }
  [[nodiscard]] const std::string& id() const override { return id_; }

  std::vector<Told> told;
  std::string text;

 private:
  bool is_open_ = true;
  std::string id_ = "1";
};

/// A feed of a league of four players that is played event by event.
struct Watched {
  explicit Watched(std::size_t most = 10)
      : feed(std::make_shared<SpectatorFeed>(
            SpectatorOptions{.epoch = "e1", .most_spectators = most, .interval = 500ms},
            [this](const SpectatorFeed::BookReader& read) {
              if (is_busy) return false;
              ++reads;
              read(book);
              return true;
            },
            time, time)) {
    auto settings = testing::settings(4, 1);
    league.emplace(settings);
    league->enter_all(4);
    show();
  }

  /// Shows the feed what has happened since.
  void show() {
    events::Events news(league->events.begin() + static_cast<std::ptrdiff_t>(shown),
                        league->events.end());
    shown = league->events.size();
    for (const auto& event : news) ASSERT_TRUE(book.apply(event));
    feed->on_events(news);
  }
  std::shared_ptr<Stream> watch(std::optional<std::string_view> last = {}) {
    auto stream = std::make_shared<Stream>();
    auto page = feed->open({.name = {}, .last_event_id = last});
    EXPECT_EQ(page.status, 200);
    if (page.stream) page.stream->opened(stream);
    return stream;
  }
  void play(events::MatchKey match, int kind) {
    ASSERT_FALSE(
        league->report(0, testing::report_of(league->league, match, kind), at(20)).refusal);
    show();
  }
  void begin() {
    league->step(at(1));
    show();
  }

  league::testing::FakeTime time;
  files::LeagueBook book;
  std::optional<PlayedLeague> league;
  std::size_t shown = 0;
  int reads = 0;
  bool is_busy = false;
  std::shared_ptr<SpectatorFeed> feed;
};

TEST(SpectatorFeed, TheEndIsToldWithoutWaiting) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.time.advance(0ms);
  watched.play({1, 1}, 1);
  auto late = watched.watch();
  ASSERT_EQ(stream->told.size(), 1U);
  watched.feed->finish();
  ASSERT_EQ(stream->told.size(), 2U);
  EXPECT_EQ(stream->told[1].view["league"]["finished"], 1);
  ASSERT_EQ(late->told.size(), 1U);
  EXPECT_FALSE(stream->is_open() || late->is_open());
  watched.play({1, 2}, 1);
  watched.time.advance(10s);
  EXPECT_EQ(stream->told.size(), 2U);
}

TEST(SpectatorFeed, ABookThatCannotBeReadHoldsTheEndUpNoLonger) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.is_busy = true;
  watched.feed->finish();
  EXPECT_TRUE(stream->told.empty());
}

TEST(SpectatorFeed, ANewcomerGetsASnapshotAndThenUpdates) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.time.advance(0ms);
  ASSERT_EQ(stream->told.size(), 1U);
  const json first = stream->told[0].view;
  EXPECT_EQ(stream->told[0].type, "snapshot");
  EXPECT_EQ(first["league"]["state"], "RUNNING");
  EXPECT_EQ(first["players"].size(), 4U);
  EXPECT_EQ(first["matches"].size(), 2U);
  watched.play({1, 1}, 1);
  watched.time.advance(499ms);
  EXPECT_EQ(stream->told.size(), 1U);
  watched.time.advance(1ms);
  ASSERT_EQ(stream->told.size(), 2U);
  EXPECT_EQ(stream->told[1].type, "update");
  const json update = stream->told[1].view;
  ASSERT_EQ(update["matches"].size(), 1U);
  EXPECT_EQ(update["matches"][0][4], "COMPLETED");
  EXPECT_EQ(update["matches"][0][7], "A");
  EXPECT_EQ(update["league"]["finished"], 1);
  EXPECT_FALSE(update.contains("players"));
}

TEST(SpectatorFeed, WhoComesBackGetsWhatItMissed) {
  Watched watched;
  watched.begin();
  auto stays = watched.watch();
  watched.time.advance(0ms);
  const std::string had = stays->told[0].id;
  watched.play({1, 1}, 0);
  watched.time.advance(500ms);
  watched.play({1, 2}, 2);
  watched.time.advance(500ms);
  auto back = watched.watch(had);
  watched.time.advance(500ms);
  ASSERT_EQ(back->told.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back->told[i].id, stays->told[i + 1].id);
    EXPECT_EQ(back->told[i].view, stays->told[i + 1].view);
  }
  auto current = watched.watch(back->told[1].id);
  watched.time.advance(500ms);
  EXPECT_TRUE(current->told.empty());
}

TEST(SpectatorFeed, OfAnotherRunOrTooLongAgoComesASnapshot) {
  Watched watched;
  watched.begin();
  for (const char* id :
       {"e0-1", "e1-99", "e1-", "e1-1x", "e1", "", "e1--1", "e1-99999999999999999999"}) {
    auto stream = watched.watch(id);
    watched.time.advance(500ms);
    ASSERT_EQ(stream->told.size(), 1U) << id;
    EXPECT_EQ(stream->told[0].type, "snapshot") << id;
    stream->close();
  }
}

TEST(SpectatorFeed, WhileNobodyWatchesNothingIsRenderedAndWhatWasMissedIsKnown) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.time.advance(0ms);
  const std::string had = stream->told[0].id;
  stream->close();
  watched.play({1, 1}, 0);
  watched.time.advance(500ms);  // kept for one who returns soon
  EXPECT_EQ(watched.reads, 2);
  watched.time.advance(61s);
  watched.feed->on_line({.event = "X", .text = "one more tick"});
  watched.time.advance(1s);
  const int reads = watched.reads;
  watched.play({1, 2}, 0);
  watched.time.advance(10s);
  EXPECT_EQ(watched.reads, reads);
  EXPECT_EQ(watched.feed->match({.name = "R1M2", .last_event_id = {}}).status, 200);
  auto back = watched.watch(had);
  watched.time.advance(500ms);
  ASSERT_EQ(back->told.size(), 1U);
  EXPECT_EQ(back->told[0].type, "snapshot");
  EXPECT_EQ(back->told[0].view["league"]["finished"], 2);
}

TEST(SpectatorFeed, NoMoreThanSoManyWatch) {
  Watched watched(2);
  auto one = watched.watch();
  auto two = watched.watch();
  EXPECT_EQ(watched.feed->open({}).status, 503);
  watched.time.advance(1s);
  one->close();
  EXPECT_EQ(watched.feed->open({}).status, 503);
  watched.time.advance(1s);  // the refusal has made it look who is still there
  EXPECT_EQ(watched.feed->open({}).status, 200);
}

TEST(SpectatorFeed, ABookThatIsBusyIsReadLater) {
  Watched watched;
  auto stream = watched.watch();
  watched.is_busy = true;
  watched.time.advance(1s);
  EXPECT_TRUE(stream->told.empty());
  EXPECT_EQ(watched.feed->match({.name = "R1M1", .last_event_id = {}}).status, 503);
  watched.is_busy = false;
  watched.time.advance(500ms);
  EXPECT_EQ(stream->told.size(), 1U);
}

TEST(SpectatorFeed, LinesOfTheLogComeOnceAndWithoutAddresses) {
  Watched watched;
  auto stream = watched.watch();
  watched.time.advance(0ms);
  watched.feed->on_line({.is_warning = true,
                         .event = "REGISTRATION_REFUSED",
                         .text = "player 'x' at http://10.0.0.7:81/mcp is refused: "
                                 "tok_abcdefghijklmnopqrstuvwxyz0123456789"});
  watched.time.advance(500ms);
  watched.feed->on_line({.event = "OTHER", .text = "more"});
  watched.time.advance(500ms);
  ASSERT_EQ(stream->told.size(), 3U);
  const json line = stream->told[1].view["log"][0];
  EXPECT_EQ(line["event"], "REGISTRATION_REFUSED");
  EXPECT_TRUE(line["warning"]);
  EXPECT_EQ(stream->text.find("10.0.0.7"), std::string::npos);
  EXPECT_EQ(stream->text.find("tok_abcdefghijklmnop"), std::string::npos);
  EXPECT_EQ(stream->told[2].view["log"].size(), 1U);
  auto late = watched.watch();
  watched.time.advance(500ms);
  EXPECT_EQ(late->told[0].view["log"].size(), 2U);
}

TEST(SpectatorFeed, NothingSecretIsToldBeforeAMatchIsFinished) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.time.advance(0ms);
  const auto& slot = watched.league->league.board().slot({1, 1});
  const std::string seed = core::to_hex(slot.seed);
  const auto before = watched.feed->match({.name = "R1M1", .last_event_id = {}});
  ASSERT_EQ(before.status, 200);
  EXPECT_EQ(before.body.find(seed), std::string::npos);
  EXPECT_FALSE(json::parse(before.body).contains("seed"));
  EXPECT_EQ(json::parse(before.body)["draw_commitment"], game::draw_commitment(slot.seed, "R1M1"));
  EXPECT_EQ(watched.feed->match({.name = "R2M1", .last_event_id = {}}).status, 404);
  EXPECT_EQ(watched.feed->match({.name = "R1M9", .last_event_id = {}}).status, 404);
  EXPECT_EQ(watched.feed->match({.name = "<x>", .last_event_id = {}}).status, 404);
  watched.play({1, 1}, 1);
  const json after = json::parse(watched.feed->match({.name = "R1M1", .last_event_id = {}}).body);
  EXPECT_EQ(after["seed"], seed);
  EXPECT_EQ(after["nonce_A"].get<std::string>().size(), 64U);
  EXPECT_EQ(after["steps"].size(), 1U);
  watched.time.advance(500ms);
  for (const auto& agent : watched.league->league.roster().agents(events::AgentKind::kPlayer)) {
    EXPECT_EQ(stream->text.find(agent.profile.endpoint), std::string::npos);
    EXPECT_EQ(stream->text.find(agent.credential.token_hash), std::string::npos);
  }
  EXPECT_EQ(stream->text.find(seed), std::string::npos);
}

TEST(SpectatorFeed, APlayersStatesAreAskedFor) {
  Watched watched;
  watched.begin();
  ASSERT_TRUE(watched.book.apply(
      {at(5), events::AgentStateChanged{.agent = events::AgentRef::player(0),
                                        .to = events::AgentState::kSuspended,
                                        .reason = "SILENT",
                                        .detail = "no answer from http://10.0.0.1/mcp"}}));
  const auto page = watched.feed->player({.name = "P01", .last_event_id = {}});
  ASSERT_EQ(page.status, 200);
  const json told = json::parse(page.body);
  EXPECT_EQ(told["player_id"], "P01");
  ASSERT_EQ(told["states"].size(), 1U);
  const json& state = told["states"][0];
  EXPECT_EQ(state, json::array({state[0], "SUSPENDED", "SILENT", "no answer from [address]", ""}));
  EXPECT_FALSE(told.contains("leniencies")) << "a manager does not read logs";
  for (const char* name : {"P05", "REF01", "P1", ""})
    EXPECT_EQ(watched.feed->player({.name = name, .last_event_id = {}}).status, 404) << name;
}

TEST(SpectatorFeed, RoundsThatPassBetweenTwoUpdatesAreTold) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.time.advance(0ms);
  for (int round = 1; round <= 3; ++round) {
    for (int number : {1, 2}) watched.play({round, number}, number);
    watched.begin();
  }
  watched.time.advance(500ms);
  ASSERT_EQ(stream->told.size(), 2U);
  const json& rounds = stream->told[1].view["rounds"];
  ASSERT_EQ(rounds.size(), 3U);
  for (const json& round : rounds) EXPECT_FALSE(round[2].is_null()) << round;
}

TEST(SpectatorFeed, WhatTheOperatorDoesIsTold) {
  Watched watched;
  watched.begin();
  auto stream = watched.watch();
  watched.time.advance(0ms);
  EXPECT_TRUE(stream->told[0].view["acts"].empty());
  const events::Events acts = {
      {at(5), events::OperatorActed{
                  .act = events::OperatorAct::kPause, .by = "Ann", .reason = "x@y.org"}}};
  ASSERT_TRUE(watched.book.apply(acts[0]));
  watched.feed->on_events(acts);
  watched.time.advance(500ms);
  const json& told = stream->told.back().view["acts"];
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0], json::array({told[0][0], "PAUSE", "", "", nullptr, "[address]", "Ann"}));
  watched.play({1, 1}, 1);
  watched.time.advance(500ms);
  EXPECT_FALSE(stream->told.back().view.contains("acts")) << "only when they have changed";
}

TEST(SpectatorFeed, TellsNothingAfterItsEnd) {
  Watched watched;
  auto stream = watched.watch();
  watched.feed->stop();
  watched.time.advance(1s);
  EXPECT_TRUE(stream->told.empty());
  EXPECT_EQ(watched.feed->match({.name = "R1M1", .last_event_id = {}}).status, 503);
}

TEST(SpectatorPages, NothingMayComeFromElsewhere) {
  Watched watched;
  int scripts = 0;
  for (const auto& page : spectator_pages(watched.feed)) {
    if (page.path.starts_with("/live/")) continue;
    const auto file = page.handler({});
    const auto csp = file.headers.at(0);
    EXPECT_EQ(csp.first, "Content-Security-Policy");
    EXPECT_TRUE(csp.second.starts_with("default-src 'self';"));
    scripts += page.path == "/page.js" ? 1 : 0;
    if (page.path == "/league_player.js") continue;  // the library names addresses in its errors
    for (const char* foreign : {"https://", "innerHTML", "eval(", " style=\""})
      EXPECT_EQ(file.body.find(foreign), std::string::npos) << page.path << " has " << foreign;
  }
  EXPECT_EQ(scripts, 1) << "a site that is opened from a disk has the same one";
}

}  // namespace
}  // namespace league::league_manager::spectators
