#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "referee/match_script.h"

namespace league::referee {
namespace {

using testing::MatchScript;

const std::vector<std::string> kWords = {"join",    "decline", "timeout", "wronged",
                                         "refused", "garbage", "token",   "wrong",
                                         "huh",     "even",    "odd",     "Even"};

/// What a player will do: one word for each time it is asked, then silence.
using Behaviour = std::vector<std::string>;

rc::Gen<Behaviour> any_behaviour() {
  return rc::gen::mapcat(rc::gen::inRange(0, 8), [](int length) {
    // Good words come more often, so that many matches get to the choices.
    return rc::gen::container<Behaviour>(
        static_cast<std::size_t>(length),
        rc::gen::weightedOneOf<std::string>({{2, rc::gen::just(std::string("join"))},
                                             {2, rc::gen::just(std::string("odd"))},
                                             {3, rc::gen::elementOf(kWords)}}));
  });
}

/// Runs a match to its report. Each number of `schedule` decides what happens next: a player
/// answers or a timer fires.
void run(MatchScript& script, PerPlayer<Behaviour> behaviours, const std::vector<int>& schedule) {
  script.play("");
  PerPlayer<std::size_t> used{};
  for (int step = 0; step < 200 && script.result_line() == "none"; ++step) {
    std::vector<std::string> possible;
    for (Slot slot : kBothSlots) {
      if (script.awaited(slot) == 0) continue;
      const Behaviour& behaviour = behaviours[slot];
      const std::string word =
          used[slot] < behaviour.size() ? behaviour[used[slot]] : std::string("timeout");
      possible.push_back((slot == Slot::kA ? "A:" : "B:") + word);
    }
    if (script.waiting_timers() > 0) possible.emplace_back("tick");
    RC_ASSERT(!possible.empty());
    const int number =
        schedule.empty() ? 0 : schedule[static_cast<std::size_t>(step) % schedule.size()];
    const std::string word = possible[static_cast<std::size_t>(number) % possible.size()];
    if (word != "tick") ++used[word[0] == 'A' ? Slot::kA : Slot::kB];
    script.play(word);
  }
}

/// Limits so long that time never decides, for comparisons of different orders of events.
MatchPlan plan_without_hurry() {
  MatchPlan plan = MatchScript::default_plan();
  plan.settings.invitation_limit = plan.settings.choice_limit = std::chrono::hours(1000);
  return plan;
}

void check_result(const MatchResult& result) {
  const int a = result.score[Slot::kA];
  const int b = result.score[Slot::kB];
  if (result.winner) {
    RC_ASSERT(result.score[*result.winner] == 3);
    RC_ASSERT(result.score[other(*result.winner)] == 0);
    RC_ASSERT(!result.lost_by[*result.winner]);
  } else {
    RC_ASSERT(a == b);
    RC_ASSERT(a == (result.status == ResultStatus::kDraw ? 1 : 0));
  }
  const bool is_technical = result.status == ResultStatus::kTechnicalLoss;
  RC_ASSERT(is_technical == !result.drawn_number.has_value());
  RC_ASSERT(is_technical == (result.termination != Termination::kNormal));
  RC_ASSERT(is_technical == (result.lost_by[Slot::kA] || result.lost_by[Slot::kB]));
  RC_ASSERT(is_technical || (result.choices[Slot::kA] && result.choices[Slot::kB]));
}

/// `replays`: how often the match was played again, at most.
void check_calls(const MatchScript& script, const MatchSettings& settings, int replays) {
  std::map<std::pair<Slot, Call>, int> calls;
  for (const Effect& effect : script.effects()) {
    const auto* call = std::get_if<CallPlayer>(&effect);
    if (!call) continue;
    RC_ASSERT(call->attempt >= 1);
    RC_ASSERT(call->attempt <= settings.max_attempts);
    RC_ASSERT(call->time_limit > Duration::zero());
    ++calls[{call->slot, call->call}];
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
    const PerPlayer<Behaviour> behaviours{{*any_behaviour(), *any_behaviour()}};
    const auto schedule = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
    MatchScript script;
    run(script, behaviours, schedule);
    RC_ASSERT(count<ReportResult>(script.effects()) == 1);
    RC_ASSERT(count<AnnounceGameOver>(script.effects()) == 0);
    check_result(script.result());
    RC_ASSERT(script.result().replays <= script.match().plan().settings.max_replays);
    check_calls(script, script.match().plan().settings, script.result().replays);
    script.play("ok");
    RC_ASSERT(std::holds_alternative<Finished>(script.effects().back()));
    RC_ASSERT(count<AnnounceGameOver>(script.effects()) == 1);
    RC_CLASSIFY(script.result().status != ResultStatus::kTechnicalLoss, "played");
    RC_CLASSIFY(script.result().termination == Termination::kBothFailed, "both failed");
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
    MatchResult one = first.result();
    MatchResult two = second.result();
    const auto by_player = [](const FailureRecord& x, const FailureRecord& y) {
      return x.slot < y.slot;
    };
    for (MatchResult* result : {&one, &two}) {
      std::ranges::stable_sort(result->failures, by_player);
      for (FailureRecord& failure : result->failures) failure.elapsed = {};
    }
    RC_ASSERT(one == two);
  }));
}

TEST(MatchProperty, NothingBeforeTheResultDependsOnTheOthersChoice) {
  EXPECT_TRUE(rc::check([] {
    const Behaviour a = *any_behaviour();
    const Behaviour b = *any_behaviour();
    Behaviour swapped = b;
    for (std::string& word : swapped) {
      if (word == "even" || word == "odd") word = word == "even" ? "odd" : "even";
    }
    const auto schedule = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
    MatchScript first;
    MatchScript second;
    run(first, {{a, b}}, schedule);
    run(second, {{a, swapped}}, schedule);
    RC_ASSERT(first.effects().size() == second.effects().size());
    for (std::size_t i = 0; i < first.effects().size(); ++i) {
      if (std::holds_alternative<ReportResult>(first.effects()[i])) continue;
      RC_ASSERT(first.effects()[i] == second.effects()[i]);
    }
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
      check_result(report->result);
      RC_ASSERT(report->result == script.result());
    }
    for (int kind = 0; kind < 8; ++kind) {
      for (std::uint64_t id = 0; id < 12; ++id)
        RC_ASSERT(poke(script.match(), kind, id, "odd", now).empty());
    }
  }));
}

}  // namespace
}  // namespace league::referee
