#include "league_manager/files/league_projector.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "league_manager/core/league_testing.h"
#include "league_manager/files/league_files.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::at;
using testing::PlayedLeague;

/// A whole league of four players: wins, draws, a technical loss, and one
/// report that contradicts an earlier one.
events::Events played_league() {
  auto settings = testing::settings(4, 1);
  settings.league_id = core::LeagueId("league_2025");
  PlayedLeague played(settings);
  played.enter_all(4);
  played.step(at(1));
  int kind = 0;
  for (int round = 1; round <= 3; ++round) {
    for (int number = 1; number <= 2; ++number) {
      events::MatchKey match{round, number};
      bool is_technical = match == events::MatchKey{2, 2};
      auto report = is_technical ? testing::technical_report_of(played.league, match)
                                 : testing::report_of(played.league, match, kind++ % 3);
      EXPECT_FALSE(played.report(0, report, at(10 * round + number)).refusal);
      if (match != events::MatchKey{1, 1}) continue;
      auto other = testing::report_of(played.league, match, 2);
      EXPECT_TRUE(played.report(0, other, at(13)).refusal);
    }
    played.step(at(10 * round + 5));
  }
  return played.events;
}

std::string text_of(core::Result<void> (*write)(const LeagueBook&, const FileSink&),
                    const LeagueBook& book) {
  std::string text;
  auto written = write(book, [&](std::string_view part) {
    text += part;
    return core::Result<void>();
  });
  EXPECT_TRUE(written);
  return text;
}

LeagueBook book_of(const events::Events& events) {
  LeagueBook book;
  for (const auto& event : events) {
    auto applied = book.apply(event);
    EXPECT_TRUE(applied) << applied.error().message;
  }
  return book;
}

std::string content_of(const fs::path& file) {
  std::stringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

TEST(LeagueFiles, AreJsonAfterEachEventAndAgreeWithTheLeague) {
  LeagueBook book;
  for (const auto& event : played_league()) {
    ASSERT_TRUE(book.apply(event));
    auto standings = json::parse(text_of(write_standings, book));
    auto rounds = json::parse(text_of(write_rounds, book));
    EXPECT_EQ(standings["schema_version"], "1.0.0");
    EXPECT_EQ(standings["league_id"], "league_2025");
    EXPECT_EQ(standings["status"], league_state_name(book.league().state()));
    EXPECT_EQ(standings["matches_completed"], book.league().status().finished.total_matches);
    EXPECT_EQ(rounds["rounds"].size(), book.rounds().size());
    std::size_t finished = 0;
    for (const auto& round : rounds["rounds"]) {
      EXPECT_EQ(round["matches"].size(), 2U);
      for (const auto& match : round["matches"]) finished += match.contains("result") ? 1 : 0;
    }
    EXPECT_EQ(standings["matches_completed"], finished);
  }
  EXPECT_EQ(book.league().state(), LeagueState::kCompleted);
}

TEST(LeagueFiles, SayHowMatchesEnded) {
  auto book = book_of(played_league());
  auto rounds = json::parse(text_of(write_rounds, book));
  const auto& first = rounds["rounds"][0]["matches"][0];
  EXPECT_EQ(first["match_id"], "R1M1");
  EXPECT_EQ(first["result"], "DRAW");
  EXPECT_TRUE(first["drawn_number"].is_number_integer());
  EXPECT_EQ(first["fairness"], "none");
  EXPECT_EQ(first["choices"][first["player_A_id"]], "even");
  EXPECT_EQ(first["referee_id"], "REF01");
  EXPECT_EQ(first["finished_at"], "2025-01-15T10:30:11.000000Z");
  EXPECT_EQ(first["incidents"], 1);
  const auto& technical = rounds["rounds"][1]["matches"][1];
  EXPECT_EQ(technical["result"], "TECHNICAL_LOSS");
  EXPECT_EQ(technical["technical_reason"], "CONNECTION_JOIN");
  EXPECT_TRUE(technical["drawn_number"].is_null());
  EXPECT_EQ(rounds["rounds"][1]["summary"]["technical_losses"], 1);
  auto standings = json::parse(text_of(write_standings, book));
  EXPECT_EQ(standings["champion"], standings["standings"][0]["player_id"]);
  EXPECT_EQ(standings["rounds_completed"], 3);
}

TEST(LeagueFiles, NamesAreEscaped) {
  auto events = played_league();
  for (auto& event : events) {
    if (auto* one = std::get_if<events::AgentRegistered>(&event.body))
      one->profile.display_name = "\"<b>\\\n\x01 \xff";
  }
  auto standings = json::parse(text_of(write_standings, book_of(events)));
  EXPECT_EQ(standings["standings"][0]["display_name"], "\"<b>\\\n\x01 \xef\xbf\xbd");
}

/// The played league as a journal of this version begins it.
events::Events keyed_league() {
  auto events = played_league();
  auto& created = std::get<events::LeagueCreated>(events[0].body);
  created.league_key = std::string(64, 'c');
  created.files_keyed = true;
  return events;
}

TEST(LeagueFiles, NameTheKeyOfTheirLeague) {
  for (auto write : {write_standings, write_rounds}) {
    const auto file = json::parse(text_of(write, book_of(keyed_league())));
    EXPECT_EQ(file["league_key"], std::string(64, 'c'));
    EXPECT_FALSE(json::parse(text_of(write, book_of(played_league()))).contains("league_key"))
        << "an older version wrote none";
  }
}

TEST(LeagueFiles, ADisputedMatchIsNotShownAsBound) {
  auto events = keyed_league();
  const auto fairness_of = [](const events::Events& of, std::size_t number) {
    const auto rounds = json::parse(text_of(write_rounds, book_of(of)));
    return rounds["rounds"][0]["matches"][number - 1]["fairness"];
  };
  EXPECT_EQ(fairness_of(events, 2), "both");
  for (int number : {1, 2}) {
    const events::MatchKey match{1, number};
    const int player = book_of(events).league().schedule().pairing(match).player_a;
    events.push_back({at(200), events::MatchDisputed{match, player, "it is false"}});
  }
  EXPECT_EQ(fairness_of(events, 1), "none");
  EXPECT_EQ(fairness_of(events, 2), "claimed");
}

TEST(LeagueBook, RefusesWhatDoesNotFit) {
  auto events = played_league();
  LeagueBook headless;
  EXPECT_FALSE(headless.apply(events[1]));
  LeagueBook twice;
  ASSERT_TRUE(twice.apply(events[0]));
  EXPECT_FALSE(twice.apply(events[0]));
  EXPECT_EQ(twice.entries(), 1U);
}

class LeagueProjectorTest : public ::testing::Test {
 protected:
  [[nodiscard]] static agent::runtime::ProjectionWriter::Options patient() {
    agent::runtime::ProjectionWriter::Options options;
    options.interval = std::chrono::hours(1);
    return options;
  }

  league::testing::TemporaryDirectory directory_;
  const core::LeagueId id_{"league_2025"};
  const fs::path standings_ = standings_file(directory_.path(), id_);
  const fs::path rounds_ = rounds_file(directory_.path(), id_);
};

TEST_F(LeagueProjectorTest, ItsFilesAreThoseOfTheEventsHoweverTheyCame) {
  auto events = played_league();
  for (std::size_t replayed : {std::size_t{0}, std::size_t{9}, events.size()}) {
    fs::remove_all(directory_.path() / "leagues");
    agent::runtime::ProjectionWriter writer(patient());
    LeagueProjector projector(writer, directory_.path(), id_);
    auto middle = events.begin() + static_cast<std::ptrdiff_t>(replayed);
    if (replayed > 0) projector.on_events({events.begin(), middle});
    projector.start();
    for (auto one = middle; one != events.end(); ++one) projector.on_events({*one});
    writer.stop();
    auto book = book_of(events);
    EXPECT_EQ(content_of(standings_), text_of(write_standings, book));
    EXPECT_EQ(content_of(rounds_), text_of(write_rounds, book));
    EXPECT_EQ(writer.written(), 2U);
  }
}

TEST_F(LeagueProjectorTest, BeforeTheStartNothingIsWritten) {
  agent::runtime::ProjectionWriter writer(patient());
  LeagueProjector projector(writer, directory_.path(), id_);
  projector.on_events(played_league());
  writer.stop();
  EXPECT_FALSE(fs::exists(standings_));
}

TEST_F(LeagueProjectorTest, ALongReplayIsNotKeptInMemory) {
  auto events = played_league();
  events::Event noise{at(99), events::FailureCounted{
                                  events::AgentRef::player(0), events::FailureKind::kTimeout, {}}};
  agent::runtime::ProjectionWriter writer(patient());
  LeagueProjector projector(writer, directory_.path(), id_);
  projector.on_events(events);
  for (int i = 0; i < 20'000; ++i) projector.on_events({noise});
  projector.start();
  writer.stop();
  EXPECT_EQ(content_of(standings_), text_of(write_standings, book_of(events)));
}

TEST_F(LeagueProjectorTest, SaysBeforehandThatItCannotWrite) {
  std::ofstream(directory_.path() / "leagues") << "in the way";
  agent::runtime::ProjectionWriter writer(patient());
  LeagueProjector projector(writer, directory_.path(), id_);
  auto usable = projector.check();
  ASSERT_FALSE(usable);
  EXPECT_NE(usable.error().message.find("standings.json: Not a directory"), std::string::npos)
      << usable.error().message;
}

}  // namespace
}  // namespace league::league_manager::files
