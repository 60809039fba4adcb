// Receipts, and losses that are heard on both sides.
#include <gtest/gtest.h>

#include <algorithm>

#include "game/receipt.h"
#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;
using events::PlayerWord;
using std::chrono::seconds;
using testing::at;
using testing::PlayedLeague;

constexpr auto kCall = "GAME_INVITATION";

std::string key_of(const std::string& id, const std::string& nonce) {
  return core::to_hex(core::sha256(id + nonce));
}

std::vector<events::MatchReleased> releases_in(const events::Events& events) {
  std::vector<events::MatchReleased> found;
  for (const auto& event : events) {
    if (const auto* one = std::get_if<events::MatchReleased>(&event.body)) found.push_back(*one);
  }
  return found;
}

template <typename Body>
const Body* first_of(const events::Events& events) {
  for (const auto& event : events) {
    if (const auto* one = std::get_if<Body>(&event.body)) return one;
  }
  return nullptr;
}

/// A league whose players all declare receipts, in its first round.
class Hearing : public ::testing::Test {
 protected:
  explicit Hearing(int players = 2, int referees = 2, const std::string& played_by = "")
      : played_(testing::settings(players, referees)) {
    for (int i = 0; i < players; ++i) {
      RegistrationRequest request{
          events::AgentKind::kPlayer, testing::profile("p" + std::to_string(i), 10000 + i), {}, {}};
      request.profile.receipts = true;
      if (i == 0 && !played_by.empty()) {
        request.profile.endpoint = "outward";
        request.profile.played_by = played_by;
      }
      EXPECT_TRUE(played_.enter(request));
    }
    for (int i = 0; i < referees; ++i)
      EXPECT_TRUE(played_.enter({events::AgentKind::kReferee,
                                 testing::profile("r" + std::to_string(i), 9000 + i, 9),
                                 {},
                                 {}}));
    played_.step();
  }

  [[nodiscard]] const League& league() const { return played_.league; }
  [[nodiscard]] int referee_of(events::MatchKey match) const {
    return league().match(match)->referee;
  }
  [[nodiscard]] std::string loser() const {
    return events::AgentRef::player(league().schedule().pairing(first_).player_b).id();
  }
  [[nodiscard]] int loser_index() const { return league().schedule().pairing(first_).player_b; }

  /// The match as B's loss at `phase`.
  [[nodiscard]] MatchReport loss(events::MatchKey match, const std::string& phase) const {
    MatchReport report = testing::technical_report_of(league(), match);
    auto& failure = report.failures.front();
    failure.call = kCall;
    failure.error_code = "E001";
    failure.phase = phase;
    return report;
  }
  [[nodiscard]] MatchReport played_with_receipts(events::MatchKey match) const {
    MatchReport report = testing::report_of(league(), match, 1);
    const Pairing pairing = league().schedule().pairing(match);
    const std::string draw =
        game::draw_commitment(league().board().slot(match).seed, match.id().str());
    for (game::Side side : game::kBothSides) {
      const std::string id = events::AgentRef::player(pairing.player(side)).id();
      const auto of = [&](const game::ByPlayer& values, game::Side one) {
        return *values[game::index(one)].second;
      };
      const std::string match_id = match.id().str();
      const game::ReceiptScope scope{.league_key = league().settings().league_key,
                                     .match_id = match_id,
                                     .attempt = league().match(match)->attempt,
                                     .play = 0,
                                     .draw_commitment = draw};
      const auto& claim = report.claim;
      const std::string key = key_of(id, "n");
      report.receipts[id].join =
          game::receipt_of(key, game::join_receipt_text(scope, true, of(claim.commitments, side)));
      report.receipts[id].choice = game::receipt_of(
          key, game::choice_receipt_text(
                   scope, {.choice = of(claim.choices, side),
                           .nonce = of(claim.nonces, side),
                           .opponent_commitment = of(claim.commitments, game::other(side))}));
    }
    return report;
  }

  /// Reports; whoever has to be asked has no word, but for those in `records`.
  ReportDecision report(const MatchReport& report, std::map<int, PlayerRecord> records = {}) {
    asked_.clear();
    ReportHearing hearing{.receipt_key = key_of, .since_seat_call = [this](const SeatedCall&) {
                            return since_seat_call_;
                          }};
    const int referee = referee_of(report.match);
    auto decision = league().decide_report(referee, report, at(1), hearing);
    while (!decision.ask.empty()) {
      EXPECT_TRUE(decision.events.empty());
      if (!hearing.answers) hearing.answers.emplace();
      for (int player : decision.ask) {
        asked_.push_back(player);
        const auto found = records.find(player);
        hearing.answers->push_back(
            {.player = player,
             .record = found != records.end() ? std::optional(found->second) : std::nullopt,
             .why_none = "it does not answer"});
      }
      decision = league().decide_report(referee, report, at(1), hearing);
    }
    played_.take(decision.events);
    return decision;
  }
  static PlayerRecord answered(int attempt) {
    return {{{.message_type = kCall,
              .attempt = attempt,
              .is_answered = true,
              .answer_ms = 2,
              .accept = true}}};
  }

  const events::MatchKey first_{1, 1};
  PlayedLeague played_;
  std::vector<int> asked_;
  std::optional<std::chrono::milliseconds> since_seat_call_;
};

TEST_F(Hearing, NobodyIsAskedAboutAMatchWithTrueReceipts) {
  const auto decision = report(played_with_receipts(first_));
  EXPECT_FALSE(decision.refusal) << decision.refusal->message;
  EXPECT_TRUE(asked_.empty());
  const auto* reported = first_of<events::MatchReported>(decision.events);
  ASSERT_TRUE(reported != nullptr && reported->receipts);
  EXPECT_EQ(reported->fairness, game::Fairness::kBoth);
  for (const auto& one : reported->receipts->both)
    EXPECT_EQ(one.state, events::ReceiptState::kValid);
}

struct HearingOfAHost : Hearing {
  HearingOfAHost() : Hearing(2, 2, "host") {}
};
struct HearingOfAPerson : Hearing {
  HearingOfAPerson() : Hearing(2, 2, "person") {}
};

TEST_F(HearingOfAHost, IsHostedAtBest) {
  const auto decision = report(played_with_receipts(first_));
  EXPECT_EQ(first_of<events::MatchReported>(decision.events)->fairness, game::Fairness::kHosted);
}

TEST_F(HearingOfAHost, IsClaimedWithoutTrueReceipts) {
  auto given = played_with_receipts(first_);
  given.receipts[loser()].join = std::string(64, '0');
  const auto decision = report(given);
  EXPECT_EQ(first_of<events::MatchReported>(decision.events)->fairness, game::Fairness::kClaimed);
}

TEST_F(HearingOfAPerson, IsAsFairAsAnyOther) {
  const auto decision = report(played_with_receipts(first_));
  EXPECT_EQ(first_of<events::MatchReported>(decision.events)->fairness, game::Fairness::kBoth);
}

TEST_F(Hearing, FalseReceiptsCostOnlyTheFairnessOfTheMatch) {
  auto given = played_with_receipts(first_);
  given.receipts[loser()].join = std::string(64, '0');
  const auto decision = report(given);
  EXPECT_EQ(asked_, (std::vector<int>{loser_index()}));
  ASSERT_FALSE(decision.refusal);
  const auto* reported = first_of<events::MatchReported>(decision.events);
  EXPECT_EQ(reported->fairness, game::Fairness::kClaimed);
  EXPECT_EQ((*reported->receipts)[game::Side::kB].state, events::ReceiptState::kInvalid);
  EXPECT_EQ(first_of<events::FailureCounted>(decision.events), nullptr);
}

TEST_F(Hearing, AReceiptOfAnotherAnswerGivesTheMatchToAnotherRefereeAtMostTwice) {
  const int liar = referee_of(first_);
  for (int i = 1; i <= 3; ++i) {
    auto given = played_with_receipts(first_);
    const auto& claim = given.claim;
    const std::string draw = game::draw_commitment(league().board().slot(first_).seed, "R1M1");
    given.receipts[loser()].join =
        game::receipt_of(key_of(loser(), "n"), game::join_receipt_text({.league_key = "",
                                                                        .match_id = "R1M1",
                                                                        .attempt = *given.attempt,
                                                                        .play = 0,
                                                                        .draw_commitment = draw},
                                                                       false, ""));
    const auto decision = report(given);
    if (i == 3) {
      // Perhaps it is the player that lies, and its opponent must get its points.
      EXPECT_FALSE(decision.refusal);
      EXPECT_EQ(first_of<events::MatchReported>(decision.events)->fairness,
                game::Fairness::kClaimed);
      continue;
    }
    ASSERT_TRUE(decision.refusal);
    EXPECT_EQ(decision.refusal->code, ErrorCode::kInvalidResult);
    ASSERT_EQ(releases_in(decision.events).size(), 1u);
    EXPECT_EQ(releases_in(decision.events)[0].reason, events::kReasonReceiptContradicts);
    EXPECT_EQ(league().match(first_)->attempt, i + 1);
    if (i == 1) {
      EXPECT_NE(referee_of(first_), liar);
    }
    EXPECT_EQ(claim.winner, given.claim.winner);
  }
}

TEST_F(Hearing, AnAnswerWithoutReceiptThatItsPlayerDeniesGoesOnceToAnotherReferee) {
  const int liar = referee_of(first_);
  for (int i = 1; i <= 2; ++i) {
    auto given = played_with_receipts(first_);
    given.receipts.erase(loser());
    const auto decision = report(given, {{loser_index(), PlayerRecord{}}});
    const auto* asked = first_of<events::PlayersAsked>(decision.events);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->words.at(0).word, PlayerWord::kNoCall);
    if (i == 1) {
      ASSERT_TRUE(decision.refusal);
      EXPECT_EQ(decision.refusal->code, ErrorCode::kInvalidResult);
      EXPECT_EQ(releases_in(decision.events).at(0).reason, events::kReasonReceiptContradicts);
      EXPECT_NE(referee_of(first_), liar);
    } else {
      EXPECT_FALSE(decision.refusal) << "two referees say so";
      EXPECT_EQ(league().disputes().at(first_), (std::vector<int>{loser_index()}));
    }
  }
}

TEST_F(Hearing, ALossWithoutTheOthersWordStands) {
  const auto decision = report(loss(first_, "sent"));
  EXPECT_EQ(asked_, (std::vector<int>{loser_index()}));
  ASSERT_FALSE(decision.refusal);
  const auto* asked = first_of<events::PlayersAsked>(decision.events);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->words.at(0).word, PlayerWord::kNone);
  EXPECT_EQ(std::get_if<events::PlayersAsked>(&decision.events.front().body), asked)
      << "it is journalled before the report is decided";
  EXPECT_TRUE(league().disputes().empty());
}

TEST_F(Hearing, AContradictedLossGoesOnceToAnotherReferee) {
  const int liar = referee_of(first_);
  auto decision = report(loss(first_, "sent"), {{loser_index(), answered(1)}});
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->code, ErrorCode::kLossContradicted);
  EXPECT_EQ(releases_in(decision.events).at(0).reason, events::kReasonLossContradicted);
  EXPECT_FALSE(releases_in(decision.events).at(0).is_excused);
  EXPECT_NE(referee_of(first_), liar);
  EXPECT_EQ(first_of<events::FailureCounted>(decision.events), nullptr);
  EXPECT_EQ(league().contradictions().at(first_).size(), 1u);

  decision = report(loss(first_, "answered"), {{loser_index(), answered(2)}});
  EXPECT_FALSE(decision.refusal) << "what the second one reports is accepted";
  ASSERT_EQ(league().disputes().at(first_), (std::vector<int>{loser_index()}));
  const auto* disputed = first_of<events::MatchDisputed>(decision.events);
  EXPECT_EQ(disputed->reason.substr(0, 27), "by the manager's question: ");
  for (int referee : {0, 1}) {
    EXPECT_EQ(league().roster().agent(events::AgentRef::referee(referee)).lifecycle.state(),
              events::AgentState::kActive);
  }
}

/// Both players' loss by time-outs of the invitation, for which each had `limit`.
MatchReport timed_out(const League& league, events::MatchKey match,
                      std::chrono::milliseconds limit) {
  MatchReport report = testing::technical_report_of(league, match, true);
  for (auto& failure : report.failures) {
    failure = {.player_id = failure.player_id,
               .is_timeout = true,
               .call = kCall,
               .error_code = "E001",
               .has_clock = true,
               .phase = "sent",
               .limit = limit};
  }
  return report;
}

TEST_F(HearingOfAPerson, ATimeOutNeedsAllOfItsOwnTime) {
  const auto decision = report(timed_out(league(), first_, seconds(5)));
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->code, ErrorCode::kInvalidResult);
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(report(timed_out(league(), first_, seconds(60))).refusal);
}

TEST_F(HearingOfAPerson, ATimeOutBeforeItsTimeIsOverGoesOnceToAnotherReferee) {
  const int liar = referee_of(first_);
  since_seat_call_ = seconds(5);
  auto decision = report(timed_out(league(), first_, seconds(60)));
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->code, ErrorCode::kLossContradicted);
  const auto& words = first_of<events::PlayersAsked>(decision.events)->words;
  EXPECT_EQ(std::ranges::find(words, 0, &events::HeardPlayer::player)->word,
            PlayerWord::kStillOpen);
  EXPECT_EQ(std::ranges::find(words, 1, &events::HeardPlayer::player)->word, PlayerWord::kNone)
      << "a program has no limit by its assignment";
  EXPECT_NE(referee_of(first_), liar);
  EXPECT_EQ(first_of<events::FailureCounted>(decision.events), nullptr);
  decision = report(timed_out(league(), first_, seconds(60)));
  EXPECT_FALSE(decision.refusal) << "what the second one reports is accepted";
  EXPECT_EQ(league().disputes().at(first_), (std::vector<int>{0}));
}

TEST_F(HearingOfAPerson, ATimeOutAfterItsTimeStands) {
  since_seat_call_ = seconds(60) - std::chrono::milliseconds(20);
  EXPECT_FALSE(report(timed_out(league(), first_, seconds(60))).refusal);
  EXPECT_TRUE(league().disputes().empty());
}

TEST_F(Hearing, ALossAtConnectStandsWhateverThePlayerSays) {
  const auto decision = report(loss(first_, "connect"), {{loser_index(), answered(1)}});
  EXPECT_EQ(asked_.size(), 1u) << "the manager notes whether it reaches the player";
  EXPECT_FALSE(decision.refusal);
  EXPECT_TRUE(league().disputes().empty());
}

TEST_F(Hearing, BothPlayersAreAskedWhereBothLost) {
  auto given = testing::technical_report_of(league(), first_, true);
  for (auto& failure : given.failures) failure.phase = "sent";
  const auto decision = report(given);
  EXPECT_EQ(asked_.size(), 2u);
  EXPECT_EQ(first_of<events::PlayersAsked>(decision.events)->words.size(), 2u);
}

TEST_F(Hearing, SuspendedAndSilentHoldsOnlyForThoseWhoWereSuspended) {
  auto given = loss(first_, "connect");
  given.failures.front().error_code = "E038";
  given.failures.front().call = "ping";
  const auto decision = report(given);
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->code, ErrorCode::kInvalidResult);
  EXPECT_TRUE(decision.events.empty());
}

TEST_F(Hearing, AThirdPartyRefereesLossWithoutAFailureIsDisputed) {
  events::AgentProfile profile = league().roster().agent(events::AgentRef::referee(0)).profile;
  const int referee = referee_of(first_);
  profile = league().roster().agent(events::AgentRef::referee(referee)).profile;
  profile.match_credentials = false;
  played_.take({{at(1), events::AgentReregistered{events::AgentRef::referee(referee),
                                                  profile,
                                                  {"n", "hash-x"},
                                                  "",
                                                  events::Recognition::kToken}}});
  auto given = loss(first_, "");
  given.failures.clear();
  const auto decision = report(given, {{loser_index(), PlayerRecord{}}});
  EXPECT_FALSE(decision.refusal) << decision.refusal->message;
  EXPECT_EQ(league().disputes().at(first_), (std::vector<int>{loser_index()}));
}

class LoneReferee : public Hearing {
 protected:
  LoneReferee() : Hearing(2, 1) {}
};

TEST_F(LoneReferee, AContradictedLossStandsDisputedWithoutAnotherReferee) {
  const auto decision = report(loss(first_, "sent"), {{loser_index(), answered(1)}});
  EXPECT_FALSE(decision.refusal);
  EXPECT_EQ(league().disputes().at(first_), (std::vector<int>{loser_index()}));
}

/// A player that always says that it answered, in a league with two honest referees.
class Liar : public Hearing {
 protected:
  Liar() : Hearing(6, 2) {}
};

TEST_F(Liar, IsBelievedThreeTimesAndEveryMatchEnds) {
  const int liar = 0;
  int replayed = 0;
  while (league().state() == LeagueState::kRunning) {
    for (int number = 1; number <= league().board().matches(); ++number) {
      const events::MatchKey match{league().board().round(), number};
      while (league().board().slot(match).status == MatchStatus::kAssigned) {
        const Pairing pairing = league().schedule().pairing(match);
        MatchReport given = played_with_receipts(match);
        if (pairing.has(liar)) {
          given = loss(match, "sent");
          const std::string id = events::AgentRef::player(liar).id();
          const std::string other =
              events::AgentRef::player(pairing.player_a + pairing.player_b - liar).id();
          given.claim.winner = other;
          given.claim.score = {{other, 3}, {id, 0}};
          given.failures.front().player_id = id;
        }
        const auto decision = report(given, {{liar, answered(league().match(match)->attempt)}});
        if (decision.refusal) ++replayed;
        ASSERT_LT(league().match(match)->attempt, 3);
      }
    }
    played_.step();
  }
  EXPECT_EQ(replayed, 3);
  EXPECT_EQ(league().disputes().size(), 5u) << "each of its matches counts and is disputed";
  EXPECT_EQ(league().standings().tally(liar).losses, 5);
}

TEST_F(Liar, ReplaysToTheSameLeague) {
  report(loss(first_, "sent"), {{loser_index(), answered(1)}});
  report(loss(first_, "sent"), {{loser_index(), answered(2)}});
  League again(testing::settings(6, 2));
  ASSERT_TRUE(again.apply_all(played_.events));
  EXPECT_EQ(testing::dump(again), testing::dump(league()));
}

TEST_F(Liar, IsKeptApartFromTheRefereeThatItContradicts) {
  const int referee = referee_of(first_);
  report(loss(first_, "sent"), {{loser_index(), answered(1)}});
  const int quarrels_with = loser_index();
  // The second referee gets it; in the next round the first one does not get this player.
  for (int number = 1; number <= 3; ++number) report(played_with_receipts({1, number}));
  played_.step();
  ASSERT_EQ(league().board().round(), 2);
  const auto next = league().schedule().match_of(quarrels_with, 2);
  EXPECT_NE(referee_of(*next), referee);
  played_.take(league().decide_referee_lost(1 - referee, at(2)));
  EXPECT_EQ(referee_of(*next), referee) << "but no match is left without a referee";
}

}  // namespace
}  // namespace league::league_manager
