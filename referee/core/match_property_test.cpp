#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "game/games.h"
#include "game/judge.h"
#include "referee/core/match_script_testing.h"

namespace league::referee {
namespace {

using testing::MatchScript;

const std::vector<std::string> kWords = {
    "join",        "decline",    "timeout",       "wronged",
    "refused",     "garbage",    "token",         "wrong",
    "huh",         "even",       "odd",           "Even",
    "commit-even", "commit-odd", "commit-even-2", "commit-even-junk",
    "open-even",   "open-odd",   "open-even-2",   "open-odd-junk"};

/// What a player will do: one word for each time it is asked, then silence.
using Behaviour = std::vector<std::string>;

rc::Gen<Behaviour> any_behaviour() {
  return rc::gen::mapcat(rc::gen::inRange(0, 8), [](int length) {
    // Good words come more often, so that many matches get to the choices.
    return rc::gen::container<Behaviour>(
        static_cast<std::size_t>(length),
        rc::gen::weightedOneOf<std::string>({{2, rc::gen::just(std::string("join"))},
                                             {2, rc::gen::just(std::string("odd"))},
                                             {2, rc::gen::just(std::string("commit-odd"))},
                                             {3, rc::gen::just(std::string("open-odd"))},
                                             {3, rc::gen::elementOf(kWords)}}));
  });
}

/// Runs a match to its report. Each number of `schedule` decides what happens next: a player
/// answers or a timer fires.
void run(MatchScript& script, PerSide<Behaviour> behaviours, const std::vector<int>& schedule) {
  script.play("");
  PerSide<std::size_t> used{};
  for (int step = 0; step < 200 && script.result_line() == "none"; ++step) {
    std::vector<std::string> possible;
    for (Side side : kBothSides) {
      if (script.awaited(side) == 0) continue;
      const Behaviour& behaviour = behaviours[side];
      const std::string word =
          used[side] < behaviour.size() ? behaviour[used[side]] : std::string("timeout");
      possible.push_back((side == Side::kA ? "A:" : "B:") + word);
    }
    if (script.waiting_timers() > 0) possible.emplace_back("tick");
    RC_ASSERT(!possible.empty());
    const int number =
        schedule.empty() ? 0 : schedule[static_cast<std::size_t>(step) % schedule.size()];
    const std::string word = possible[static_cast<std::size_t>(number) % possible.size()];
    if (word != "tick") ++used[word[0] == 'A' ? Side::kA : Side::kB];
    script.play(word);
  }
}

/// Limits so long that time never decides, for comparisons of different orders of events.
MatchPlan plan_without_hurry() {
  MatchPlan plan = MatchScript::default_plan();
  plan.settings.invitation_limit = plan.settings.choice_limit = std::chrono::hours(1000);
  return plan;
}

void check_played(const RefereedMatch& match) {
  const game::MatchResult& result = match.result;
  if (const auto winner = game::winner_of(result.outcome)) RC_ASSERT(!match.lost_by[*winner]);
  RC_ASSERT(result.is_technical() == !result.drawn_number.has_value());
  RC_ASSERT(result.is_technical() == (match.termination() != Termination::kNormal));
  RC_ASSERT(result.is_technical() == (match.lost_by[Side::kA] || match.lost_by[Side::kB]));
  RC_ASSERT(result.is_technical() || result.outcome != game::Outcome::kNoWinner);
  RC_ASSERT(result.is_technical() || (result.choices[Side::kA] && result.choices[Side::kB]));
}

/// `replays`: how often the match was played again, at most.
void check_calls(const MatchScript& script, const MatchSettings& settings, int replays) {
  std::map<std::pair<Side, Call>, int> calls;
  for (const Effect& effect : script.effects()) {
    const auto* call = std::get_if<CallPlayer>(&effect);
    if (!call) continue;
    RC_ASSERT(call->attempt >= 1);
    RC_ASSERT(call->attempt <= settings.max_attempts);
    RC_ASSERT(call->time_limit > Duration::zero());
    ++calls[{call->side, call->call}];
  }
  for (const auto& [key, count] : calls) {
    RC_ASSERT(count <= (replays + 1) * (settings.max_attempts + settings.max_invalid_answers - 1));
  }
}

template <typename T>
std::ptrdiff_t count(const std::vector<Effect>& effects) {
  return std::ranges::count_if(
      effects, [](const Effect& effect) { return std::holds_alternative<T>(effect); });
}

TEST(MatchProperty, EveryMatchEndsWithOneResultWithinItsLimits) {
  EXPECT_TRUE(rc::check([] {
    const PerSide<Behaviour> behaviours{{*any_behaviour(), *any_behaviour()}};
    const auto schedule = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
    MatchScript script;
    run(script, behaviours, schedule);
    RC_ASSERT(count<ReportResult>(script.effects()) == 1);
    RC_ASSERT(count<AnnounceGameOver>(script.effects()) == 0);
    check_played(script.played());
    RC_ASSERT(script.played().replays <= script.match().plan().settings.max_replays);
    check_calls(script, script.match().plan().settings, script.played().replays);
    script.play("ok");
    RC_ASSERT(std::holds_alternative<Finished>(script.effects().back()));
    RC_ASSERT(count<AnnounceGameOver>(script.effects()) == 1);
    RC_CLASSIFY(!script.played().result.is_technical(), "played");
    RC_CLASSIFY(script.played().termination() == Termination::kBothFailed, "both failed");
  }));
}

TEST(MatchProperty, TheOrderOfEventsDoesNotChangeTheResult) {
  EXPECT_TRUE(rc::check([] {
    Behaviour a = *any_behaviour();
    Behaviour b = *any_behaviour();
    const auto schedule = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
    // A time-out moves the clock, and with it the other player's window: without it only the order
    // differs.
    for (Behaviour* behaviour : {&a, &b}) {
      std::ranges::replace(*behaviour, "timeout", "refused");
      std::ranges::replace(*behaviour, "wronged", "refused");
    }
    a.insert(a.end(), 6, "refused");
    b.insert(b.end(), 6, "refused");
    MatchScript first(plan_without_hurry());
    MatchScript second(plan_without_hurry());
    run(first, {{a, b}}, {});
    run(second, {{a, b}}, schedule);
    RefereedMatch one = first.played();
    RefereedMatch two = second.played();
    const auto by_player = [](const FailureRecord& x, const FailureRecord& y) {
      return x.side < y.side;
    };
    for (RefereedMatch* match : {&one, &two}) {
      std::ranges::stable_sort(match->failures, by_player);
      for (FailureRecord& failure : match->failures) failure.elapsed = {};
      match->answered_in = {};
    }
    RC_ASSERT(one == two);
  }));
}

/// `open-even` for `open-odd`.
std::string with_other_choice(std::string word) {
  for (const auto& [from, to] : {std::pair("even", "odd"), std::pair("odd", "even")}) {
    const auto at = word.find(from);
    if (at != std::string::npos) return word.replace(at, std::string_view(from).size(), to);
  }
  return word;
}

/// What may depend on B's choice: a commitment, which hides it, and what B itself is told.
Effect without_choice_of_b(Effect effect) {
  auto* call = std::get_if<CallPlayer>(&effect);
  if (call && call->opponent_commitment) call->opponent_commitment = "a commitment";
  auto* told = std::get_if<SendGameError>(&effect);
  if (told && told->side == Side::kB) told->error.message = "a text";
  return effect;
}

TEST(MatchProperty, NothingBeforeTheResultDependsOnTheOthersChoice) {
  EXPECT_TRUE(rc::check([] {
    const Behaviour a = *any_behaviour();
    const Behaviour b = *any_behaviour();
    Behaviour swapped = b;
    for (std::string& word : swapped) word = with_other_choice(word);
    const auto schedule = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
    MatchScript first;
    MatchScript second;
    run(first, {{a, b}}, schedule);
    run(second, {{a, swapped}}, schedule);
    RC_ASSERT(first.effects().size() == second.effects().size());
    for (std::size_t i = 0; i < first.effects().size(); ++i) {
      if (std::holds_alternative<ReportResult>(first.effects()[i])) continue;
      RC_ASSERT(without_choice_of_b(first.effects()[i]) ==
                without_choice_of_b(second.effects()[i]));
    }
  }));
}

game::ByPlayer by_player(const PerSide<std::optional<std::string>>& values) {
  game::ByPlayer named;
  const MatchPlan plan = MatchScript::default_plan();
  for (Side side : kBothSides) {
    if (values[side]) named.emplace_back(plan.seats[side].player.str(), values[side]);
  }
  return named;
}

/// What the manager reads of a match in the referee's report.
game::Claim claim_of(const RefereedMatch& match, const game::Definition& rules) {
  const MatchPlan plan = MatchScript::default_plan();
  const auto points = game::points_of(rules, match.result);
  game::Claim claim;
  claim.score.emplace();
  for (Side side : kBothSides)
    claim.score->emplace_back(plan.seats[side].player.str(), points[side]);
  if (auto winner = game::winner_of(match.result.outcome))
    claim.winner = plan.seats[*winner].player.str();
  claim.drawn_number = match.result.drawn_number;
  if (claim.drawn_number) claim.number_kind = std::string(*rules.kind_of(*claim.drawn_number));
  claim.choices = by_player(match.result.choices);
  claim.commitments = by_player(match.bindings.commitments);
  claim.nonces = by_player(match.bindings.nonces);
  claim.draw_version = game::draw_version(match.bindings);
  claim.seed = core::to_hex(plan.draw_seed);
  claim.technical_reason = match.result.technical_reason;
  return claim;
}

TEST(MatchProperty, TheManagerNeverContradictsWhatIsReported) {
  EXPECT_TRUE(rc::check([] {
    const PerSide<Behaviour> behaviours{{*any_behaviour(), *any_behaviour()}};
    const auto schedule = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
    MatchScript script;
    run(script, behaviours, schedule);
    const MatchPlan plan = MatchScript::default_plan();
    const game::Definition& rules = *game::even_odd();
    const auto judgement =
        game::judge(rules,
                    {plan.match_id.str(),
                     {{plan.seats[Side::kA].player.str(), plan.seats[Side::kB].player.str()}},
                     plan.draw_commitment},
                    claim_of(script.played(), rules));
    RC_ASSERT(judgement.contradictions.empty());
    RC_ASSERT(judgement.result == script.played().result);
    RC_ASSERT(judgement.bindings == script.played().bindings);
    RC_CLASSIFY(game::fairness_of(judgement.bindings) == game::Fairness::kBoth, "bound by both");
    RC_CLASSIFY(game::fairness_of(judgement.bindings) == game::Fairness::kOne, "bound by one");
    RC_CLASSIFY(script.played().termination() == Termination::kCommitmentMismatch, "not opened");
  }));
}

/// One arbitrary input, sensible or not.
Effects poke(Match& match, int kind, std::uint64_t id, const std::string& word, Instant now) {
  const core::Error error{core::all_errors()[id % core::all_errors().size()].code, "any", ""};
  switch (kind) {
    case 0:
      return match.start(now);
    case 1:
      return match.on_reply(id, JoinAnswer{id % 7 == 0 ? "R9M9" : "", word != "decline"}, now);
    case 2:
      return match.on_reply(id, ChoiceAnswer{"", word}, now);
    case 3:
      return match.on_failure(id, error, now);
    case 4:
      return match.on_timer(id, now);
    case 5:
      return match.on_report_accepted();
    case 6:
      return match.on_report_failed(error);
    default:
      return match.on_reply(id, ChoiceAnswer{"", "even"}, now);
  }
}

TEST(MatchProperty, NoSequenceOfInputsBreaksIt) {
  EXPECT_TRUE(rc::check([] {
    const auto pokes =
        *rc::gen::container<std::vector<std::tuple<int, std::uint64_t, std::string, int>>>(
            rc::gen::tuple(rc::gen::inRange(0, 8), rc::gen::inRange<std::uint64_t>(0, 12),
                           rc::gen::elementOf(kWords), rc::gen::inRange(0, 4000)));
    MatchScript script;
    script.play("");
    Instant now = script.now();
    for (const auto& [kind, id, word, pause] : pokes) {
      now += std::chrono::milliseconds(pause);
      script.take(poke(script.match(), kind, id, word, now));
    }
    script.take(script.match().abandon());
    const auto& effects = script.effects();
    RC_ASSERT(count<Finished>(effects) == 1);
    RC_ASSERT(std::holds_alternative<Finished>(effects.back()));
    RC_ASSERT(count<AnnounceGameOver>(effects) <= 1);
    const MatchSettings& settings = script.match().plan().settings;
    check_calls(script, settings, settings.max_replays);
    for (const Effect& effect : effects) {
      const auto* report = std::get_if<ReportResult>(&effect);
      if (!report) continue;
      check_played(report->match);
      RC_ASSERT(report->match == script.played());
    }
    for (int kind = 0; kind < 8; ++kind) {
      for (std::uint64_t id = 0; id < 12; ++id)
        RC_ASSERT(poke(script.match(), kind, id, "odd", now).empty());
    }
  }));
}

}  // namespace
}  // namespace league::referee
