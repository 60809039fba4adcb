#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/transport/front/http_server.h"
#include "tools/check/mock_manager.h"
#include "tools/check/started_bot.h"
#include "tools/check/trial/trial_league.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// The outcome of one match between two bots, without a league.
struct SparMatch {
  std::optional<std::size_t> winner = std::nullopt;  ///< the bot's place in Sparring
  bool is_draw = false;
  std::array<bool, 2> is_technical{};  ///< which of them failed
  std::vector<std::string> story;  ///< one line for each event
};

/// How often a bot lost for one reason, and the last time in words.
struct SparLosses {
  int count = 0;
  std::string last;
};

/// One of the two bots, with statistics of its calls.
struct SparSide {
  std::string name;
  TrialSeat seat;
  std::vector<std::chrono::nanoseconds> latencies;  ///< of invitations and calls that were answered
  std::map<std::string, SparLosses> losses;  ///< for its own failures, by termination
};

/// Plays matches between two bots as in a league, but without reports and a table. Not
/// thread-safe.
class Sparring {
 public:
  /// Each bot is called with its own token, if it has one.
  Sparring(std::array<SparSide, 2> sides, std::unique_ptr<TrialLeague> league)
      : sides_(std::move(sides)), league_(std::move(league)) {}

  /// Plays one match; the bots change sides with each.
  [[nodiscard]] SparMatch play();
  [[nodiscard]] const SparSide& side(std::size_t at) const { return sides_.at(at); }

 private:
  void note_calls(const TrialMatch& match, SparMatch& outcome);

  std::array<SparSide, 2> sides_;
  const std::unique_ptr<TrialLeague> league_;
  std::size_t first_ = 1;
  int number_ = 0;
};

/// The bounds of the share of wins, where a draw counts half, at a confidence of 95 % (Wilson):
/// `points` of `matches`, each a share between 0 and 1.
[[nodiscard]] std::pair<double, double> wilson_interval(double points, std::size_t matches);

/// The league that sparring bots register for.
inline constexpr auto kSparLeague = "league_spar";

/// A bot to spar with, its program if this process has started it, and the manager at which that
/// program has registered. The program is declared last, so that it ends first.
struct OpenedSide {
  SparSide side;
  std::unique_ptr<transport::front::HttpRuntime> runtime;
  std::unique_ptr<MockManager> manager;
  std::optional<StartedBot> program;
};

/// `word` is an endpoint, or a strategy or misbehaviour of the `player` program, which is then
/// started from the folder of this program, or a command for the shell with `{manager}` in it. The
/// command's bot registers at a mock manager, so it gets a token and is called with credentials.
/// The bot is called with the id `id`. `wire` outlives it. Fails if the bot cannot be reached, does
/// not register, or registers so that a league in `mode` refuses it.
[[nodiscard]] core::Result<OpenedSide> open_side(Wire& wire, const std::string& word,
                                                 const std::string& id, envelope::Mode mode);

}  // namespace league::tools::check
