#include "league_manager/files/league_book.h"

#include <type_traits>

namespace league::league_manager::files {
namespace {

template <typename... Kinds>
bool is_one_of(const events::EventBody& event) {
  return (std::holds_alternative<Kinds>(event) || ...);
}

}  // namespace

bool changes_table(const events::EventBody& event) {
  return is_one_of<events::LeagueCreated, events::AgentRegistered, events::AgentReregistered,
                   events::LeagueStarted, events::MatchReported, events::MatchForfeited,
                   events::RoundCompleted, events::LeagueCompleted, events::AgentStateChanged,
                   events::OperatorActed>(event);
}

bool changes_rounds(const events::EventBody& event) {
  return is_one_of<events::LeagueCreated, events::LeagueStarted, events::RoundStarted,
                   events::MatchAssigned, events::MatchReleased, events::MatchReported,
                   events::MatchForfeited, events::ReportConflictRecorded,
                   events::StaleReportRecorded, events::MatchDisputed, events::RoundCompleted,
                   events::LeagueCompleted, events::OperatorActed>(event);
}

core::Result<void> LeagueBook::apply(const events::Event& event) {
  if (const auto* created = std::get_if<events::LeagueCreated>(&event.body); created && !league_) {
    events::LeagueSettings settings;
    settings.league_id = created->league_id;
    settings.league_key = created->league_key.value_or(std::string());
    auto rules = events::game_of(*created);
    if (!rules) return rules.error();
    settings.rules = std::move(*rules);
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

void LeagueBook::take_notes(const events::Event& event) {
  if (const auto* started = std::get_if<events::RoundStarted>(&event.body)) {
    rounds_.push_back({.started_at = event.at, .completed_at = {}});
    auto& notes = notes_.emplace_back(started->draw_seeds.size());
    for (std::size_t i = 0; i < notes.size(); ++i) notes[i].seed = started->draw_seeds[i];
  } else if (const auto* reported = std::get_if<events::MatchReported>(&event.body)) {
    finish(reported->match, reported->result, event.at);
  } else if (const auto* forfeited = std::get_if<events::MatchForfeited>(&event.body)) {
    finish(forfeited->match, forfeited->result, event.at);
  } else if (const auto* failure = std::get_if<events::FailureCounted>(&event.body)) {
    if (!failure->match || !failure->cause || failure->agent.kind != events::AgentKind::kPlayer)
      return;
    const Pairing pairing = league_->schedule().pairing(*failure->match);
    const auto side = pairing.player_a == failure->agent.index ? game::Side::kA : game::Side::kB;
    causes_[*failure->match][side] = failure->cause;
  } else if (const auto* change = std::get_if<events::AgentStateChanged>(&event.body)) {
    state_changes_.push_back({event.at, *change});
  } else if (const auto* acted = std::get_if<events::OperatorActed>(&event.body)) {
    acts_.push_back({event.at, *acted});
  } else if (std::holds_alternative<events::RoundCompleted>(event.body)) {
    rounds_.back().completed_at = event.at;
  }
}

void LeagueBook::finish(events::MatchKey match, const game::MatchResult& result,
                        core::UtcTimestamp at) {
  auto& note =
      notes_[static_cast<std::size_t>(match.round - 1)][static_cast<std::size_t>(match.number - 1)];
  note.finished_at = at;
  note.technical_reason = result.technical_reason;
}

const events::FailureCause* LeagueBook::cause(events::MatchKey match, game::Side side) const {
  const auto found = causes_.find(match);
  return found != causes_.end() && found->second[side] ? &*found->second[side] : nullptr;
}

game::PerSide<std::string_view> LeagueBook::choices(events::MatchKey match) const {
  game::PerSide<std::string_view> words;
  const auto view = league_->match(match);
  if (!view || !view->result) return words;
  for (game::Side side : game::kBothSides) {
    const std::size_t place = view->result->choices[side];
    if (place > 0) words[side] = league_->settings().rules->choices()[place - 1];
  }
  return words;
}

}  // namespace league::league_manager::files
