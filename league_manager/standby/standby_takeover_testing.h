#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/journal/memory_journal_testing.h"
#include "common/transport/bus/broker_testing.h"
#include "common/transport/bus/jet_stream_testing.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/standby/journal_stream.h"
#include "tests/support/temporary_directory.h"

namespace league::testing {

using league_manager::standby::JournalPiece;

inline constexpr const char* kStandbyLeague = "l";

/// A broker that keeps streams, with those of a league.
class StandbyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
    broker = std::make_unique<TestingBroker>(
        std::vector<std::string>{"-js", "-sd", directory.path().string()});
    agent = std::make_unique<JetAgent>(broker->url());
    ASSERT_TRUE(agent->ensure(league_manager::standby::journal_stream(kStandbyLeague)));
    ASSERT_TRUE(agent->ensure(league_manager::standby::lease_stream(kStandbyLeague, lease)));
  }

  /// An event that can be told from others.
  static journal::EventRecord record(int number) {
    auto at = core::UtcTimestamp::parse("2026-01-01T00:00:00Z");
    return league_manager::events::to_record(
        {*at, league_manager::events::RoundCompleted{number, {}}});
  }
  static std::vector<journal::EventRecord> records(int first, int count) {
    std::vector<journal::EventRecord> all;
    for (int i = 0; i < count; ++i) all.push_back(record(first + i));
    return all;
  }
  static std::vector<journal::EventRecord> written(const journal::Journal& journal) {
    std::vector<journal::EventRecord> all;
    EXPECT_TRUE(journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
      all.push_back(entry.record);
      return {};
    }));
    return all;
  }
  PublishAck publish(const JournalPiece& piece) {
    auto message = league_manager::standby::write_piece(kStandbyLeague, piece);
    return agent->publish(message.subject, message.payload);
  }
  /// Waits for the broker's answer.
  void api(const std::string& what, const std::string& request) {
    JetAnswers<bool> answers;
    auto heard =
        agent->bus->subscribe("_INBOX.api", "", [&](const transport::bus::BusMessage& answer) {
          answers.add(answer.payload.find("error") == std::string::npos);
        });
    ASSERT_TRUE(heard);
    ASSERT_TRUE(agent->bus->publish({"$JS.API." + what, "_INBOX.api", {}, request, false}));
    EXPECT_EQ(answers.next(), true);
  }
  /// A message of the journal's stream, which keeps its number.
  void remove(int sequence) {
    api("STREAM.MSG.DELETE.LEAGUE_JOURNAL_l", R"({"seq":)" + std::to_string(sequence) + "}");
  }
  /// What the stream holds, in order.
  std::vector<JournalPiece> pieces() {
    std::vector<JournalPiece> all;
    auto state = agent->state("LEAGUE_JOURNAL_l");
    for (auto i = state->first_sequence; state->messages > 0 && i <= state->last_sequence; ++i) {
      auto found = agent->wait<std::optional<StoredMessage>>(
          [&](auto done) { agent->streams->get("LEAGUE_JOURNAL_l", i, agent->in(10s), done); });
      EXPECT_TRUE(found);
      if (!found || !*found) continue;  // it is cut away
      auto piece = league_manager::standby::read_piece((**found).message);
      EXPECT_TRUE(piece);
      if (piece) all.push_back(std::move(*piece));
    }
    return all;
  }
  std::vector<journal::EventRecord> published() {
    std::vector<journal::EventRecord> all;
    for (auto& piece : pieces())
      for (auto& each : piece.records) all.push_back(std::move(each));
    return all;
  }

  std::chrono::milliseconds lease{1500};  // a busy machine may hold a renewal up for a second
  TemporaryDirectory directory;
  std::unique_ptr<TestingBroker> broker;
  std::unique_ptr<JetAgent> agent;
};

}  // namespace league::testing
