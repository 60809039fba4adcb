#pragma once

#include <string>
#include <vector>

#include "tools/check/cases/case.h"

namespace league::tools::check {

/// A conversation with a player about one match of its own, and what came.
struct Talk {
  PlayerBench& bench;
  TestMatch match;
  TestMatch other = {};  ///< a second match; `match` and it change places at the step `other`
  std::vector<BotReply> replies = {};  ///< of the steps that call the bot, in order
  PlayedGame game = {};  ///< the last answers to an invitation and to a call for a choice
  const char* because = "";  ///< the `because` of its row

  [[nodiscard]] const BotReply& last() const { return replies.back(); }
};

/// A trait of cases that are skipped for a bot that does not give receipts.
inline constexpr unsigned kNeedsReceipts = 32;

/// A case that is decided by what a player answers to some messages.
struct Conversation {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  /// The steps, see `hold`, such as `invite call {"context": "$gone"}`. Empty: `judge` does it all.
  const char* steps;
  Verdict (*judge)(const Talk&);  ///< one of the functions below, or its own
  const char* because = "";  ///< for texts of the verdict
  unsigned traits = 0;
};

/// Takes the steps in order. A step is a word, and where it sends a message perhaps the changes
/// that the correct message gets (see `change`; `$self` and `$other` are the players):
///   invite, call, over, error         the messages of the match; where the bot has not chosen,
///                                     its choice in GAME_OVER is the game's first word
///   round, standings, round_end, league_end, league_error   those of the manager
///   announce                          the match, with the commitment to its seed
///   attempt2, attempt1, replay        the match from here on
///   unbound, unannounced              the match has no draw_commitment; is of round 951
///   other                             from here on about a second match
///   METHOD                            a JSON-RPC call with the changes as its params
[[nodiscard]] Talk hold(PlayerBench& bench, const std::string& steps);

void add_conversations(PlayerBench& bench, std::span<const Conversation> rows, Checks& out,
                       Obstacle<PlayerBench> obstacle = nullptr);

// What the last answer has to be.
[[nodiscard]] Verdict accepts(const Talk& talk);
[[nodiscard]] Verdict chooses(const Talk& talk);
/// An error, whatever its code.
[[nodiscard]] Verdict refuses(const Talk& talk);
/// Any result without an error, or an empty 2xx body.
[[nodiscard]] Verdict acknowledges(const Talk& talk);
/// The error with this code.
[[nodiscard]] Verdict expect_code(const BotReply& reply, int code);
template <int code>
[[nodiscard]] Verdict fails_with(const Talk& talk) {
  return expect_code(talk.last(), code);
}
/// Anything, if the bot accepts an ordinary invitation afterwards.
[[nodiscard]] Verdict plays_on(const Talk& talk);

}  // namespace league::tools::check
