#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <random>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

/// One call in `one_in` meets with a random misfortune; the same seed gives the same ones.
FaultPlan random_faults(std::uint64_t seed, unsigned one_in) {
  auto engine = std::make_shared<std::mt19937_64>(seed);
  return [engine, one_in](const std::string& /*from*/, const transport::link::OutboundCall& call) {
    bool is_registration = call.notes->message_type.ends_with("_REGISTER_REQUEST");
    if (is_registration || (*engine)() % one_in != 0) return Fault{};
    constexpr std::array kKinds = {Fault::Kind::kLoseRequest, Fault::Kind::kLoseReply,
                                   Fault::Kind::kDelay, Fault::Kind::kDuplicate,
                                   Fault::Kind::kRefuse};
    return Fault{kKinds[(*engine)() % kKinds.size()],
                 std::chrono::milliseconds((*engine)() % 15'000)};
  };
}

TEST(Faults, ALeagueOnABadNetworkEndsWithEveryMatchCountedOnce) {
  bool holds = rc::check("league on a bad network", [] {
    auto seed = *rc::gen::arbitrary<std::uint64_t>();
    int players = *rc::gen::inRange(2, 6);
    int referees = *rc::gen::inRange(1, 3);
    int capacity = *rc::gen::inRange(1, 4);
    auto one_in = *rc::gen::elementOf(std::vector<unsigned>{2, 4, 10, 40});
    LeagueFixture league({.players = players,
                          .referees = referees,
                          .capacity = capacity,
                          .seed = seed,
                          .faults = random_faults(seed, one_in)});
    RC_ASSERT(league.play(std::chrono::hours(3)));
    expect_sound(league);
    RC_ASSERT_FALSE(::testing::Test::HasFailure());
    int open = 0;  // matches in the hands of referees
    for (const auto& event : league.events()) {
      open += std::holds_alternative<league_manager::events::MatchAssigned>(event.body) ? 1 : 0;
      open -= std::holds_alternative<league_manager::events::MatchReported>(event.body) ? 1 : 0;
      open -= std::holds_alternative<league_manager::events::MatchReleased>(event.body) ? 1 : 0;
      RC_ASSERT(open <= referees * capacity);
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace league::testing
