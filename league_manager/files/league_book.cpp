#include "league_manager/files/league_book.h"

#include <type_traits>

namespace league::league_manager {
namespace {

template <typename... Kinds>
bool is_one_of(const EventBody& event) {
  return (std::holds_alternative<Kinds>(event) || ...);
}

}  // namespace

bool changes_table(const EventBody& event) {
  return is_one_of<LeagueCreated, AgentRegistered, AgentReregistered, LeagueStarted, MatchReported,
                   MatchForfeited, RoundCompleted, LeagueCompleted, AgentStateChanged,
                   OperatorActed>(event);
}

bool changes_rounds(const EventBody& event) {
  return is_one_of<LeagueCreated, LeagueStarted, RoundStarted, MatchAssigned, MatchReleased,
                   MatchReported, MatchForfeited, ReportConflictRecorded, StaleReportRecorded,
                   MatchDisputed, RoundCompleted, LeagueCompleted, OperatorActed>(event);
}

core::Result<void> LeagueBook::apply(const Event& event) {
  if (const auto* created = std::get_if<LeagueCreated>(&event.body); created && !league_) {
    LeagueSettings settings;
    settings.league_id = created->league_id;
    settings.league_key = created->league_key.value_or(std::string());
    settings.game_type = created->game_type;
    auto rules = games_->find(created->game_type);
    if (!rules) return rules.error();
    settings.rules = *rules;
    settings.players = created->players;
    settings.referees = created->referees;
    league_.emplace(std::move(settings));
  }
  if (!league_) {
    return core::Error{core::ErrorCode::kInternalError,
                       "the journal does not begin with the creation of a league", ""};
  }
  if (auto applied = league_->apply(event); !applied) return applied;
  ++entries_;
  LastChange stamp{entries_, event.at};
  if (changes_table(event.body)) table_change_ = stamp;
  if (changes_rounds(event.body)) rounds_change_ = stamp;
  take_notes(event);
  return {};
}

void LeagueBook::take_notes(const Event& event) {
  if (const auto* started = std::get_if<RoundStarted>(&event.body)) {
    rounds_.push_back({.started_at = event.at, .completed_at = {}});
    auto& notes = notes_.emplace_back(started->draw_seeds.size());
    for (std::size_t i = 0; i < notes.size(); ++i) notes[i].seed = started->draw_seeds[i];
  } else if (const auto* reported = std::get_if<MatchReported>(&event.body)) {
    finish(reported->match, reported->result, event.at);
  } else if (const auto* forfeited = std::get_if<MatchForfeited>(&event.body)) {
    finish(forfeited->match, forfeited->result, event.at);
  } else if (const auto* failure = std::get_if<FailureCounted>(&event.body)) {
    if (!failure->match || !failure->cause || failure->agent.kind != AgentKind::kPlayer) return;
    const Pairing pairing = league_->schedule().pairing(*failure->match);
    const auto side = pairing.player_a == failure->agent.index ? game::Side::kA : game::Side::kB;
    causes_[*failure->match][side] = failure->cause;
  } else if (const auto* change = std::get_if<AgentStateChanged>(&event.body)) {
    state_changes_.push_back({event.at, *change});
  } else if (const auto* acted = std::get_if<OperatorActed>(&event.body)) {
    acts_.push_back({event.at, *acted});
  } else if (std::holds_alternative<RoundCompleted>(event.body)) {
    rounds_.back().completed_at = event.at;
  }
}

void LeagueBook::finish(MatchKey match, const MatchResult& result, core::UtcTimestamp at) {
  auto& note =
      notes_[static_cast<std::size_t>(match.round - 1)][static_cast<std::size_t>(match.number - 1)];
  note.finished_at = at;
  note.technical_reason = result.technical_reason;
  for (game::Side side : game::kBothSides) {
    if (!result.choices[side]) continue;
    const auto place = league_->settings().rules->index_of(*result.choices[side]);
    note.choices[side] = place ? static_cast<std::uint8_t>(*place + 1) : 0;
  }
}

const LeagueBook::Causes* LeagueBook::causes(MatchKey match) const {
  const auto found = causes_.find(match);
  return found != causes_.end() ? &found->second : nullptr;
}

game::PerSide<std::string_view> LeagueBook::choices(MatchKey match) const {
  game::PerSide<std::string_view> words;
  const MatchNote& of_match = note(match);
  for (game::Side side : game::kBothSides) {
    const std::size_t place = of_match.choices[side];
    if (place > 0) words[side] = league_->settings().rules->choices()[place - 1];
  }
  return words;
}

}  // namespace league::league_manager
