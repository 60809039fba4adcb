#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "referee/core/match.h"

namespace league::referee::testing {

/// Plays one match from words, in virtual time, and keeps what it did. For tests.
///
/// Words for a player, always about its awaited call: `A:join`, `A:decline`, `A:timeout` (moves the
/// clock to the deadline), `A:wronged` (the same, but the referee itself was late), `A:refused` (no
/// connection), `A:garbage`, `A:token` (a wrong one), `A:wrong` (another match), `A:huh` (a reply
/// of the other kind), `A:even`, `A:odd`, and any other word as a choice. With commitments:
/// `A:commit-even` (joins, bound to `even`), `A:commit-junk` (joins with what is no commitment),
/// `A:open-even` (the choice with its nonce), `A:open-even-2` and `A:commit-even-2` (with another
/// nonce), `A:open-even-junk` (with what is no nonce). Others: `+500`
/// (milliseconds pass), `tick` (the next timer fires), `ok` (report accepted), `E033` (report
/// failed so).
class MatchScript {
 public:
  explicit MatchScript(MatchPlan plan);
  MatchScript();

  /// Starts the match if it has not begun and plays the words, which blanks separate.
  MatchScript& play(std::string_view words);
  /// Everything that happened since the last call of this, one line for each effect.
  [[nodiscard]] std::vector<std::string> take_lines();
  /// `TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN`, or `none` before the report.
  [[nodiscard]] std::string result_line() const;
  [[nodiscard]] const RefereedMatch& played() const;
  [[nodiscard]] const std::vector<Effect>& effects() const { return effects_; }
  [[nodiscard]] CallId awaited(Side side) const { return awaited_[side].id; }
  /// Of that call.
  [[nodiscard]] Duration limit(Side side) const { return awaited_[side].time_limit; }
  [[nodiscard]] std::size_t waiting_timers() const { return timers_.size(); }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Match& match() { return match_; }
  /// Takes effects of an input that the test made itself.
  void take(const Effects& effects);

  static constexpr const char* kMatchId = "R1M1";
  /// The commitment of `side` to `choice`, made with the nonce `which` of that side.
  [[nodiscard]] static std::string commitment(Side side, std::string_view choice, int which = 1);
  [[nodiscard]] static std::string nonce(Side side, int which = 1);
  /// Two present players, the seed zero, which was promised, and the default settings.
  [[nodiscard]] static MatchPlan default_plan();

 private:
  void play_word(const std::string& word);
  void play_player(Side side, const std::string& word);
  /// What the player answers in the end, if the word is none of the other ones.
  [[nodiscard]] static Reply answer_of(Side side, bool is_join, const std::string& word);
  void fire_next_timer();

  Match match_;
  Instant now_{std::chrono::hours(1)};
  bool has_started_ = false;
  std::vector<Effect> effects_;
  std::size_t lines_taken_ = 0;
  PerSide<CallPlayer> awaited_;
  struct Timer {
    TimerId id;
    Instant due;
  };
  std::vector<Timer> timers_;
};

/// One line for people and for comparison.
[[nodiscard]] std::string to_line(const Effect& effect);
[[nodiscard]] std::string to_line(const RefereedMatch& match);

}  // namespace league::referee::testing
