#include "game/judge.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>

#include "game/games.h"

namespace league::game {
namespace {

const std::string kMatch = "R1M1";
const PerSide<std::string> kPlayers{{"P01", "P02"}};
const PerSide<std::string> kNonces{{std::string(64, 'a'), std::string(64, 'd')}};

/// What is known before the result: the seed zero was promised.
MatchFacts facts() { return {kMatch, kPlayers, draw_commitment(Seed{}, kMatch)}; }

Bindings bound(const Choices& choices, const PerSide<bool>& has_committed) {
  const std::string drawn = draw_commitment(Seed{}, kMatch);
  Bindings bindings;
  for (Side side : kBothSides) {
    if (!has_committed[side]) continue;
    bindings.nonces[side] = kNonces[side];
    bindings.commitments[side] = choice_commitment({.draw_commitment = drawn,
                                                    .match_id = kMatch,
                                                    .player_id = kPlayers[side],
                                                    .choice = choices[side],
                                                    .nonce = kNonces[side]});
  }
  return bindings;
}

ByPlayer by_player(const PerSide<std::optional<std::string>>& values) {
  ByPlayer named;
  for (Side side : kBothSides) {
    if (values[side]) named.emplace_back(kPlayers[side], values[side]);
  }
  return named;
}

std::vector<std::pair<std::string, int>> score_of(Outcome outcome) {
  const auto points =
      outcome == Outcome::kDraw ? PerSide<int>{{1, 1}} : even_odd()->technical_points(outcome);
  return {{kPlayers[Side::kA], points[Side::kA]}, {kPlayers[Side::kB], points[Side::kB]}};
}

Claim claim_of(const MatchResult& result, const Bindings& bindings) {
  Claim claim;
  if (auto winner = winner_of(result.outcome)) claim.winner = kPlayers[*winner];
  claim.score = score_of(result.outcome);
  claim.drawn_number = result.drawn_number;
  if (result.drawn_number)
    claim.number_kind = std::string(*even_odd()->kind_of(*result.drawn_number));
  for (Side side : kBothSides) claim.choices.emplace_back(kPlayers[side], result.choices[side]);
  claim.commitments = by_player(bindings.commitments);
  claim.nonces = by_player(bindings.nonces);
  claim.draw_version = draw_version(bindings);
  claim.seed = core::to_hex(Seed{});
  claim.technical_reason = result.technical_reason;
  return claim;
}

/// What an honest referee says of a match that was played.
Claim honest(const Choices& choices, const PerSide<bool>& has_committed = {}) {
  const auto bindings = bound(choices, has_committed);
  const auto played = play(
      *even_odd(), {.seed = Seed{}, .match_id = kMatch, .choices = choices, .bindings = bindings});
  return claim_of(played.result, bindings);
}

/// With the seed zero R1M1 draws 4 for even-odd (draw_test.cpp): player A wins.
Claim won_by_a() { return honest({{"even", "odd"}}); }
/// The same match, which both players have bound: by ten lines of Python it draws 3, so B wins.
Claim bound_by_both() { return honest({{"even", "odd"}}, {{true, true}}); }

Claim lost_by_b(std::string_view reason = "TIMEOUT_CHOICE") {
  return claim_of(technical_result(Side::kA, reason, {{"even", std::nullopt}}), {});
}

std::vector<std::pair<Aspect, std::string>> found(const Claim& claim, const MatchFacts& known) {
  std::vector<std::pair<Aspect, std::string>> list;
  for (const auto& one : judge(*even_odd(), known, claim).contradictions) {
    EXPECT_LT(one.text.size(), 200U) << one.text;
    list.emplace_back(one.aspect, one.field);
  }
  return list;
}

struct Lie {
  const char* name;
  Claim (*truth)();
  std::function<void(Claim&)> tell;
  Aspect aspect;  ///< of the first contradiction
  const char* field;
};

void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

class JudgeLie : public ::testing::TestWithParam<Lie> {};

TEST_P(JudgeLie, IsContradicted) {
  Claim claim = GetParam().truth();
  EXPECT_TRUE(found(claim, facts()).empty()) << "before the lie";
  GetParam().tell(claim);
  const auto contradictions = found(claim, facts());
  ASSERT_FALSE(contradictions.empty());
  EXPECT_EQ(contradictions.front().first, GetParam().aspect)
      << judge(*even_odd(), facts(), claim).contradictions.front().text;
  EXPECT_EQ(contradictions.front().second, GetParam().field);
}

Claim declined_by_both() { return claim_of(technical_result(std::nullopt, "BOTH_FAILED"), {}); }

std::optional<std::string>& value_of(ByPlayer& list, std::size_t at) { return list.at(at).second; }

INSTANTIATE_TEST_SUITE_P(
    OfTheDraw, JudgeLie,
    ::testing::Values(
        Lie{"no proof", won_by_a, [](Claim& c) { c.seed.reset(); }, Aspect::kUnproven,
            "draw_proof"},
        Lie{"an empty proof", won_by_a, [](Claim& c) { c.seed = ""; }, Aspect::kUnproven,
            "draw_proof"},
        Lie{"no proof of a technical loss", [] { return lost_by_b(); },
            [](Claim& c) { c.seed.reset(); }, Aspect::kUnproven, "draw_proof"},
        Lie{"another seed", won_by_a, [](Claim& c) { c.seed = std::string(64, '1'); },
            Aspect::kProof, "draw_proof"},
        Lie{"a seed that is none", won_by_a, [](Claim& c) { c.seed = "even"; }, Aspect::kProof,
            "draw_proof"},
        Lie{"another seed of a technical loss", [] { return lost_by_b(); },
            [](Claim& c) { c.seed = std::string(64, '1'); }, Aspect::kProof, "draw_proof"},
        Lie{"another number of the same kind", won_by_a, [](Claim& c) { c.drawn_number = 6; },
            Aspect::kNumber, "drawn_number"},
        Lie{"a number that nobody draws", won_by_a, [](Claim& c) { c.drawn_number = 14; },
            Aspect::kNumber, "drawn_number"},
        Lie{"no number", won_by_a, [](Claim& c) { c.drawn_number.reset(); }, Aspect::kNumber,
            "drawn_number"},
        Lie{"a number for a technical loss", [] { return lost_by_b(); },
            [](Claim& c) { c.drawn_number = 4; }, Aspect::kNumber, "drawn_number"},
        Lie{"a kind for a technical loss", [] { return lost_by_b(); },
            [](Claim& c) { c.number_kind = "even"; }, Aspect::kNumber, "drawn_number"},
        Lie{"the other kind", won_by_a, [](Claim& c) { c.number_kind = "odd"; }, Aspect::kNumber,
            "number_parity"},
        Lie{"a kind that is none", won_by_a, [](Claim& c) { c.number_kind = "prime"; },
            Aspect::kNumber, "number_parity"}));

INSTANTIATE_TEST_SUITE_P(
    OfTheResult, JudgeLie,
    ::testing::Values(
        Lie{"the loser wins", won_by_a,
            [](Claim& c) {
              c.winner = "P02";
              c.score = score_of(Outcome::kPlayerBWins);
            },
            Aspect::kWinner, "winner"},
        Lie{"a win is a draw", won_by_a,
            [](Claim& c) {
              c.winner.reset();
              c.score = score_of(Outcome::kDraw);
            },
            Aspect::kWinner, "winner"},
        Lie{"a stranger wins", won_by_a, [](Claim& c) { c.winner = "P99"; }, Aspect::kForm,
            "winner"},
        Lie{"the points are another's", won_by_a,
            [](Claim& c) { c.score = score_of(Outcome::kPlayerBWins); }, Aspect::kScore, "score"},
        Lie{"nobody has points", won_by_a, [](Claim& c) { c.score = score_of(Outcome::kNoWinner); },
            Aspect::kScore, "score"},
        Lie{"the points of one are missing", won_by_a, [](Claim& c) { c.score->pop_back(); },
            Aspect::kScore, "score"},
        Lie{"points for a stranger", won_by_a, [](Claim& c) { c.score->emplace_back("P99", 0); },
            Aspect::kScore, "score"},
        Lie{"points twice", won_by_a,
            [](Claim& c) {
              c.score->push_back({"P01", 3});
            },
            Aspect::kScore, "score"},
        Lie{"who lost for a failure has points", [] { return lost_by_b(); },
            [](Claim& c) { c.score = score_of(Outcome::kDraw); }, Aspect::kScore, "score"},
        Lie{"points where both lost", declined_by_both,
            [](Claim& c) { c.score = score_of(Outcome::kDraw); }, Aspect::kScore, "score"}));

INSTANTIATE_TEST_SUITE_P(
    OfTheChoices, JudgeLie,
    ::testing::Values(
        Lie{"an invented choice", won_by_a, [](Claim& c) { value_of(c.choices, 1) = "even"; },
            Aspect::kNumber, "drawn_number"},
        Lie{"a choice of no word", won_by_a, [](Claim& c) { value_of(c.choices, 1) = "Odd"; },
            Aspect::kChoice, "choices"},
        Lie{"a choice of no word after a technical loss", [] { return lost_by_b(); },
            [](Claim& c) { value_of(c.choices, 0) = "heads"; }, Aspect::kChoice, "choices"},
        Lie{"a missing choice", won_by_a, [](Claim& c) { value_of(c.choices, 1).reset(); },
            Aspect::kChoice, "choices"},
        Lie{"no choices at all", won_by_a, [](Claim& c) { c.choices.clear(); }, Aspect::kChoice,
            "choices"},
        Lie{"a stranger's choice", won_by_a,
            [](Claim& c) { c.choices.emplace_back("P99", "even"); }, Aspect::kForm, "choices"},
        Lie{"a technical loss that is called played", [] { return lost_by_b(); },
            [](Claim& c) { c.technical_reason.clear(); }, Aspect::kChoice, "choices"}));

INSTANTIATE_TEST_SUITE_P(
    OfTheCommitments, JudgeLie,
    ::testing::Values(
        Lie{"a choice swapped after the reveal", bound_by_both,
            [](Claim& c) { value_of(c.choices, 0) = "odd"; }, Aspect::kOpening, "choice_nonces"},
        Lie{"another nonce", bound_by_both,
            [](Claim& c) { value_of(c.nonces, 0) = std::string(64, 'c'); }, Aspect::kOpening,
            "choice_nonces"},
        Lie{"a nonce in capitals", bound_by_both,
            [](Claim& c) { value_of(c.nonces, 0) = std::string(64, 'A'); }, Aspect::kOpening,
            "choice_nonces"},
        Lie{"a commitment that is not opened", bound_by_both, [](Claim& c) { c.nonces.pop_back(); },
            Aspect::kOpening, "choice_nonces"},
        Lie{"a malformed commitment", bound_by_both,
            [](Claim& c) { value_of(c.commitments, 0) = "c0ffee"; }, Aspect::kOpening,
            "choice_commitments"},
        Lie{"another's commitment", bound_by_both,
            [](Claim& c) { std::swap(c.commitments[0].second, c.commitments[1].second); },
            Aspect::kOpening, "choice_nonces"},
        Lie{"a nonce without a commitment", bound_by_both,
            [](Claim& c) { c.commitments.erase(c.commitments.begin()); }, Aspect::kOpening,
            "choice_nonces"},
        Lie{"a stranger's commitment", won_by_a,
            [](Claim& c) { c.commitments.emplace_back("P99", std::string(64, 'a')); },
            Aspect::kForm, "choice_commitments"},
        Lie{"a stranger's nonce", won_by_a,
            [](Claim& c) { c.nonces.emplace_back("P99", std::string(64, 'a')); }, Aspect::kForm,
            "choice_nonces"},
        Lie{"both commitments dropped, the version kept", bound_by_both,
            [](Claim& c) {
              c.commitments.clear();
              c.nonces.clear();
            },
            Aspect::kVersion, "draw_version"},
        Lie{"all of the binding dropped", bound_by_both,
            [](Claim& c) {
              c.commitments.clear();
              c.nonces.clear();
              c.draw_version.reset();
            },
            Aspect::kNumber, "drawn_number"},
        Lie{"the version before commitments", bound_by_both, [](Claim& c) { c.draw_version = 1; },
            Aspect::kVersion, "draw_version"},
        Lie{"no version", bound_by_both, [](Claim& c) { c.draw_version.reset(); }, Aspect::kVersion,
            "draw_version"},
        Lie{"version 2 without commitments", won_by_a, [](Claim& c) { c.draw_version = 2; },
            Aspect::kVersion, "draw_version"},
        Lie{"a version that is none", won_by_a, [](Claim& c) { c.draw_version = 3; },
            Aspect::kVersion, "draw_version"},
        Lie{"one commitment dropped, drawn with both", bound_by_both,
            [](Claim& c) {
              c.commitments.pop_back();
              c.nonces.pop_back();
            },
            Aspect::kNumber, "drawn_number"}));

TEST(Judge, TheSeedOfAnotherMatchIsNoProof) {
  auto other = facts();
  other.draw_commitment = draw_commitment(Seed{}, "R1M2");
  EXPECT_EQ(found(won_by_a(), other).front().first, Aspect::kProof);
}

TEST(Judge, WhereNothingWasPromisedNothingIsProved) {
  auto unpromised = facts();
  unpromised.draw_commitment.reset();
  EXPECT_EQ(found(won_by_a(), unpromised).front().first, Aspect::kProof);
}

TEST(Judge, WithoutTheSeedOnlyTheNumberIsTakenOnTrust) {
  Claim claim = won_by_a();
  claim.seed.reset();
  claim.drawn_number = 6;  // the same kind: nobody can tell
  EXPECT_TRUE(judge(*even_odd(), facts(), claim).is_only_unproven());
  claim.winner = "P02";
  claim.score = score_of(Outcome::kPlayerBWins);
  const auto judgement = judge(*even_odd(), facts(), claim);
  EXPECT_FALSE(judgement.is_only_unproven());
  EXPECT_EQ(judgement.contradictions.back().aspect, Aspect::kWinner);
}

TEST(Judge, AnotherContradictionAloneIsNotUnproven) {
  Claim claim = won_by_a();
  claim.number_kind = "odd";
  EXPECT_FALSE(judge(*even_odd(), facts(), claim).is_only_unproven());
  EXPECT_FALSE(judge(*even_odd(), facts(), won_by_a()).is_only_unproven());
}

TEST(Judge, WhatIsLeftUnsaidIsNoLie) {
  Claim claim = won_by_a();
  claim.score.reset();  // GAME_OVER has none
  claim.number_kind.reset();
  claim.draw_version.reset();  // version 1
  EXPECT_TRUE(found(claim, facts()).empty());
}

TEST(Judge, ForeignRefereesWriteZeroForNoNumber) {
  Claim claim = lost_by_b();
  claim.drawn_number = 0;
  EXPECT_TRUE(found(claim, facts()).empty());
  claim = won_by_a();
  claim.drawn_number = 0;
  EXPECT_EQ(found(claim, facts()).front().first, Aspect::kNumber) << "of a match that was played";
}

TEST(Judge, WhoFailedNeedNotHaveOpened) {
  Claim claim = lost_by_b("COMMITMENT_MISMATCH");
  claim.commitments = bound_by_both().commitments;
  claim.draw_version = 2;
  EXPECT_TRUE(found(claim, facts()).empty());
  claim.nonces = {bound_by_both().nonces.front()};
  EXPECT_TRUE(found(claim, facts()).empty()) << "the other one has";
  claim.draw_version.reset();
  EXPECT_TRUE(found(claim, facts()).empty()) << "nothing was drawn";
}

TEST(Judge, TheResultIsAsClaimed) {
  const auto judgement = judge(*even_odd(), facts(), bound_by_both());
  EXPECT_EQ(judgement.result.drawn_number, 3);
  EXPECT_EQ(judgement.result.outcome, Outcome::kPlayerBWins);
  EXPECT_EQ(judgement.result.choices[Side::kB], "odd");
  EXPECT_EQ(fairness_of(judgement.bindings), Fairness::kBoth);
  EXPECT_EQ(judgement.bindings.nonces[Side::kA], kNonces[Side::kA]);
  const auto lost = judge(*even_odd(), facts(), lost_by_b()).result;
  EXPECT_EQ(lost.technical_reason, "TIMEOUT_CHOICE");
  EXPECT_EQ(lost.outcome, Outcome::kPlayerAWins);
  EXPECT_EQ(judge(*even_odd(), facts(), declined_by_both()).result.outcome, Outcome::kNoWinner);
}

TEST(Judge, TextsHoldNoSecretAndNothingUnprintable) {
  Claim claim = bound_by_both();
  value_of(claim.choices, 0) = "\x1b[2J" + std::string(100'000, 'x');
  claim.seed = std::string(64, '1');
  claim.winner = std::string(100'000, '\n');
  claim.number_kind = "\x1b";
  claim.commitments.emplace_back(std::string(100'000, 'y'), "z");
  for (const auto& one : judge(*even_odd(), facts(), claim).contradictions) {
    EXPECT_LT(one.text.size(), 200U);
    EXPECT_EQ(one.text.find_first_of("\x1b\n"), std::string::npos) << one.text;
    EXPECT_EQ(one.text.find(*claim.seed), std::string::npos);
    EXPECT_EQ(one.text.find(kNonces[Side::kA]), std::string::npos);
  }
}

/// An honest claim of any match of both players, however bound.
Claim any_honest(const PerSide<bool>& has_committed) {
  const auto word = rc::gen::element(std::string("even"), std::string("odd"));
  return honest({{*word, *word}}, has_committed);
}

PerSide<bool> anybody() { return {{*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()}}; }

TEST(Judge, NoOtherResultFollowsFromTheChoices) {
  EXPECT_TRUE(rc::check([] {
    const Claim truth = any_honest(anybody());
    RC_ASSERT(judge(*even_odd(), facts(), truth).contradictions.empty());
    Claim lie = truth;
    const auto outcome = *rc::gen::elementOf(kAllOutcomes);
    lie.drawn_number = *rc::gen::inRange(0, 12);
    lie.number_kind = *rc::gen::element(std::string("even"), std::string("odd"));
    lie.winner.reset();
    if (auto winner = winner_of(outcome)) lie.winner = kPlayers[*winner];
    lie.score = score_of(outcome);
    const bool is_true = lie.drawn_number == truth.drawn_number && lie.winner == truth.winner &&
                         lie.number_kind == truth.number_kind && lie.score == truth.score;
    RC_ASSERT(judge(*even_odd(), facts(), lie).contradictions.empty() == is_true);
  }));
}

TEST(Judge, NobodySwapsACommittedChoice) {
  EXPECT_TRUE(rc::check([] {
    const auto has_committed = anybody();
    RC_PRE(has_committed[Side::kA] || has_committed[Side::kB]);
    const Claim truth = any_honest(has_committed);
    const std::size_t swapped = has_committed[Side::kA] ? 0 : 1;
    PerSide<std::string> words;
    for (Side side : kBothSides) words[side] = *truth.choices[index(side)].second;
    auto& word = words.both[swapped];
    word = word == "even" ? "odd" : "even";
    // The liar draws anew, as the rules demand for the choice that it has invented.
    auto bindings = bound({{"even", "even"}}, has_committed);
    const auto played = play(
        *even_odd(), {.seed = Seed{}, .match_id = kMatch, .choices = words, .bindings = bindings});
    Claim lie = claim_of(played.result, bindings);
    lie.commitments = truth.commitments;
    RC_ASSERT(found(lie, facts()).front().first == Aspect::kOpening);
  }));
}

}  // namespace
}  // namespace league::game
