#include "league_manager/events/event_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>
#include <set>

namespace league::league_manager::events {
namespace {

/// Events with every field filled or left out at random.
class Maker {
 public:
  explicit Maker(unsigned seed) : engine_(seed) {}

  Event event(std::size_t type) {
    core::UtcTimestamp::TimePoint at(
        std::chrono::microseconds(1736937000000000 + number(1000000000)));
    return {core::UtcTimestamp(at), body(type)};
  }

 private:
  int number(int below) { return static_cast<int>(engine_() % static_cast<unsigned>(below)); }
  bool coin() { return number(2) == 0; }
  std::string text() {
    static const std::vector<std::string> kParts = {"a",      "\"", "\\", "\n", "\u00e9",
                                                    "\u4e2d", " ",  "{",  "0",  "\u0001"};
    std::string text;
    for (int i = number(12); i > 0; --i) text += kParts[static_cast<std::size_t>(number(10))];
    return text;
  }
  AgentRef agent() { return {coin() ? AgentKind::kPlayer : AgentKind::kReferee, number(2000)}; }
  MatchKey match() { return {1 + number(999), 1 + number(500)}; }
  std::optional<MatchKey> maybe_match() { return coin() ? std::optional(match()) : std::nullopt; }
  AgentProfile profile() {
    AgentProfile profile{text(),       text(),       {text(), text()}, text(),
                         std::nullopt, std::nullopt, number(50),       coin()};
    if (coin()) profile.protocol_version = text();
    if (coin()) profile.contact_email = text();
    if (coin()) profile.log_public_key = text();
    profile.hears_events = coin();
    profile.match_credentials = coin();
    if (coin()) profile.manager_url = text();
    if (coin()) profile.played_by = "person";
    profile.is_from_loopback = coin();
    if (coin()) profile.code_digest = text();
    return profile;
  }
  game::MatchResult result() {
    game::MatchResult result;
    result.outcome = static_cast<game::Outcome>(number(4));
    if (coin()) result.drawn_number = 1 + number(10);
    for (game::Side side : game::kBothSides) {
      if (coin()) result.choices[side] = text();
    }
    result.technical_reason = text();
    return result;
  }
  RoundStarted round() {
    RoundStarted round{1 + number(999), {}, {}};
    for (int i = number(4); i > 0; --i) {
      auto& seed = round.draw_seeds.emplace_back();
      for (auto& byte : seed) byte = static_cast<std::uint8_t>(number(256));
      round.planned_referees.push_back(number(5) - 1);
    }
    return round;
  }
  EventBody body(std::size_t type) {
    switch (type) {
      case 0:
        return LeagueCreated{core::LeagueId(text()),
                             text(),
                             number(99),
                             number(9),
                             coin() ? std::optional(text()) : std::nullopt,
                             coin(),
                             coin() ? std::optional(number(100)) : std::nullopt,
                             coin() ? std::optional(*game::even_odd()) : std::nullopt};
      case 1:
        return AgentRegistered{agent(), profile(), {text(), text()}, text()};
      case 2:
        return AgentReregistered{
            agent(), profile(), {text(), text()}, text(), static_cast<Recognition>(number(4))};
      case 3:
        return LeagueStarted{number(1000), number(10), text()};
      case 4:
        return round();
      case 5:
        return MatchAssigned{match(), number(9), number(9), maybe_match()};
      case 6:
        return MatchReleased{match(), number(9), text(), coin()};
      case 7:
        return MatchReported{
            match(), number(9), number(9), result(), static_cast<game::Fairness>(number(3)),
            coin()};
      case 8:
        return MatchForfeited{match(), result()};
      case 9:
        return ReportConflictRecorded{match(), number(9), result()};
      case 10:
        return StaleReportRecorded{match(), number(9), number(9)};
      case 11:
        return FailureCounted{
            agent(), static_cast<FailureKind>(number(3)), maybe_match(),
            coin() ? std::optional(FailureCause{text(), text(), number(9), text(), text()})
                   : std::nullopt,
            coin()};
      case 12:
        return AgentStateChanged{agent(), static_cast<AgentState>(number(5)), text(),
                                 coin() ? std::optional(text()) : std::nullopt,
                                 coin() ? std::optional(text()) : std::nullopt};
      case 13:
        return RoundCompleted{number(999), {number(99), number(99), number(99), number(99)}};
      case 14:
        return LeagueCompleted{number(1000)};
      case 15:
        return LeagueContinued{number(2) == 0 ? std::nullopt : std::optional<int>(number(99)),
                               number(2) == 0 ? std::nullopt : std::optional<std::string>("R1M1")};
      case 16:
        return NotificationDelivered{static_cast<NotificationKind>(number(3)), number(99)};
      case 17:
        return MatchDisputed{match(), number(99), text()};
      case 18:
        return OperatorActed{static_cast<OperatorAct>(number(6)),
                             text(),
                             text(),
                             maybe_match(),
                             maybe_match(),
                             coin() ? std::optional(number(99)) : std::nullopt};
      case 19:
        return PlayersAsked{match(),
                            number(99),
                            number(99),
                            {{number(99), static_cast<PlayerWord>(number(5)), text()},
                             {number(99), PlayerWord::kNone, ""}}};
      default:
        return LogHeadsRecorded{number(99), {{agent(), 7, text()}}};
    }
  }

  std::mt19937 engine_;
};

constexpr std::size_t kTypes = std::variant_size_v<EventBody>;

TEST(EventCodec, ReadsBackWhatItWrote) {
  EXPECT_TRUE(rc::check("round trip", [] {
    auto seed = *rc::gen::noShrink(rc::gen::arbitrary<unsigned>());
    Maker maker(seed);
    for (std::size_t type = 0; type < kTypes; ++type) {
      Event event = maker.event(type);
      RC_ASSERT(event.body.index() == type);
      auto back = from_record(to_record(event));
      RC_ASSERT(back.has_value());
      RC_ASSERT(*back == event);
    }
  }));
}

TEST(EventCodec, GivesEachTypeItsName) {
  Maker maker(1);
  std::set<std::string> names;
  for (std::size_t type = 0; type < kTypes; ++type) names.insert(to_record(maker.event(type)).type);
  EXPECT_EQ(names.size(), kTypes);
  EXPECT_EQ(event_type(MatchReported{}), "MATCH_REPORTED");
  EXPECT_EQ(event_type(LeagueCompleted{}), "LEAGUE_COMPLETED");
}

TEST(EventCodec, WritesReadableJson) {
  Event event{core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000))),
              MatchAssigned{{1, 2}, 1, 0, std::nullopt}};
  EXPECT_EQ(to_record(event),
            (journal::EventRecord{
                "MATCH_ASSIGNED",
                R"({"at":"2025-01-15T10:30:00.000000Z","attempt":1,"match":"R1M2","referee":0})"}));
}

TEST(EventCodec, ReadsReportsOfJournalsBeforeThereWereCommitments) {
  auto event = from_record(
      {"MATCH_REPORTED",
       R"({"at":"2025-01-15T10:30:00Z","match":"R1M1","attempt":1,"referee":0,"result":{"outcome":"A","drawn_number":4,"choice_a":"even","choice_b":"odd"}})"});
  ASSERT_TRUE(event) << event.error().message;
  const auto& reported = std::get<MatchReported>(event->body);
  EXPECT_FALSE(reported.fairness);
  EXPECT_FALSE(reported.is_unproven);
  EXPECT_EQ(reported.result.choices[game::Side::kB], "odd");
}

TEST(EventCodec, ReadsFailuresAndStatesOfJournalsBeforeTheyHadCauses) {
  auto event = from_record(
      {"FAILURE_COUNTED",
       R"({"at":"2025-01-15T10:30:00Z","agent":"P01","kind":"TIMEOUT","match":"R1M1"})"});
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_FALSE(std::get<FailureCounted>(event->body).cause);
  EXPECT_FALSE(std::get<FailureCounted>(event->body).is_excused);
  event = from_record(
      {"AGENT_STATE_CHANGED",
       R"({"at":"2025-01-15T10:30:00Z","agent":"P01","to":"SHUTDOWN","reason":"FAILURES_IN_ALL"})"});
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(std::get<AgentStateChanged>(event->body).to, AgentState::kShutdown);
  EXPECT_FALSE(std::get<AgentStateChanged>(event->body).detail);
}

TEST(EventCodec, RefusesDamagedRecordsWithTheirType) {
  for (
      const journal::EventRecord& record : std::vector<journal::EventRecord>{
          {"NO_SUCH_EVENT", R"({"at":"2025-01-15T10:30:00Z"})"},
          {"MATCH_ASSIGNED", "{"},
          {"MATCH_ASSIGNED", "[]"},
          {"MATCH_ASSIGNED", R"({"at":"2025-01-15T10:30:00Z","attempt":1,"referee":0})"},
          {"MATCH_ASSIGNED", R"({"at":"yesterday","attempt":1,"match":"R1M2","referee":0})"},
          {"MATCH_ASSIGNED",
           R"({"at":"2025-01-15T10:30:00Z","attempt":1,"match":"R1M02","referee":0})"},
          {"MATCH_ASSIGNED",
           R"({"at":"2025-01-15T10:30:00Z","attempt":"1","match":"R1M2","referee":0})"},
          {"MATCH_ASSIGNED",
           R"({"at":"2025-01-15T10:30:00Z","attempt":1e46,"match":"R1M2","referee":0})"},
          {"ROUND_COMPLETED",
           R"({"at":"2025-01-15T10:30:00Z","round":1,"summary":{"draws":1,"technical_losses":0,"total_matches":25555555555555555555555555555555555555555555555,"wins":1}})"},
          {"AGENT_STATE_CHANGED",
           R"({"at":"2025-01-15T10:30:00Z","agent":"P01","to":"ASLEEP","reason":""})"},
          {"ROUND_STARTED",
           R"({"at":"2025-01-15T10:30:00Z","round":1,"draw_seeds":["00"],"planned_referees":[0]})"},
      }) {
    auto event = from_record(record);
    ASSERT_FALSE(event) << record.payload;
    EXPECT_NE(event.error().message.find(record.type), std::string::npos);
  }
}

}  // namespace
}  // namespace league::league_manager::events
