#pragma once

#include "common/envelope/field_rules.h"
#include "common/envelope/round_messages.h"

// Descriptions that more than one codec needs.
namespace league::envelope {

inline void describe(Fields& a, WinLossDraw& s) {
  a.defaulted("wins", s.wins, rule::number("Matches won.", 0).such_as("2"));
  a.defaulted("losses", s.losses, rule::number("Matches lost.", 0).such_as("0"));
  a.defaulted("draws", s.draws, rule::number("Matches drawn.", 0).such_as("1"));
}

inline void describe(Fields& a, StandingsRow& s) {
  a.defaulted("rank", s.rank,
              rule::number("Place; rows of equal merit share it.", 1).such_as("1").always());
  a.required("player_id", s.player_id, rule::kPlayerId);
  a.defaulted("display_name", s.display_name, rule::kDisplayName);
  a.defaulted("played", s.played, rule::number("Matches played.", 0).such_as("3").always());
  a.defaulted("wins", s.wins, rule::number("Matches won.", 0).such_as("2").always());
  a.defaulted("draws", s.draws, rule::number("Matches drawn.", 0).such_as("1").always());
  a.defaulted("losses", s.losses, rule::number("Matches lost.", 0).such_as("0").always());
  a.required("points", s.points, rule::number("As the game counts them.", 0).such_as("7"));
}

}  // namespace league::envelope
