#pragma once

#include "common/envelope/field_archive.h"
#include "common/envelope/round_messages.h"

// Descriptions that more than one codec needs.
namespace league::envelope {

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<WinLossDraw> /*unused*/) {
  a.defaulted("wins", s.wins);
  a.defaulted("losses", s.losses);
  a.defaulted("draws", s.draws);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<StandingsRow> /*unused*/) {
  a.defaulted("rank", s.rank);
  a.required("player_id", s.player_id);
  a.defaulted("display_name", s.display_name);
  a.defaulted("played", s.played);
  a.defaulted("wins", s.wins);
  a.defaulted("draws", s.draws);
  a.defaulted("losses", s.losses);
  a.required("points", s.points);
}

}  // namespace league::envelope
