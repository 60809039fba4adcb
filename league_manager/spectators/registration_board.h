#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/core/timestamp.h"
#include "league_manager/admission/registration_codes.h"
#include "league_manager/events/events.h"

namespace league::league_manager::spectators {

/// The expected players, those that have registered, and the refused ones with the reason: for the
/// live page, so without codes and addresses. Refusals are from this run of the manager only.
/// Thread-safe.
class RegistrationBoard {
 public:
  using Codes = std::shared_ptr<const admission::RegistrationCodes>;
  /// Keeps this many different refusals, by name and error; beyond that the oldest are dropped.
  static constexpr std::size_t kMostRefusals = 100;

  /// `on_change` is called, without a lock, when there is something new to show.
  explicit RegistrationBoard(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  /// For Ledger::observe.
  void on_events(const events::Events& events);
  /// Sets the players that the operator expects.
  void on_codes(Codes codes);
  /// A player that calls itself `name` and showed `code` (empty: none) was refused.
  void on_refused(events::AgentKind kind, std::string_view name, std::string_view code,
                  const core::Error& why, core::UtcTimestamp at);

  /// {"expected": null, or rows of name, team, player (-1: missing), whether there is a code (0,
  /// 1); "refused": rows of kind, name, row of `expected` (-1: none), error code, text, times, the
  /// last one in milliseconds; "forgotten": refusals that are not shown any more}.
  [[nodiscard]] std::string json() const;
  /// All refusals of this run, also those that are not shown any more.
  using RefusalCounts = std::map<std::pair<events::AgentKind, core::ErrorCode>, std::uint64_t>;
  [[nodiscard]] RefusalCounts refusals() const;

 private:
  struct Refusal {
    events::AgentKind kind = events::AgentKind::kPlayer;
    std::string name;  ///< passed through public_text
    /// The name on the operator's list to which the refusal belongs: the one of the shown code, or
    /// the bot's own name.
    std::string expected;
    core::ErrorCode code{};
    std::string text;
    std::uint64_t times = 0;
    core::UtcTimestamp last;
  };
  void note_player(events::AgentRef agent, const events::AgentProfile& profile);
  void forget_player(int player);
  [[nodiscard]] int player_of(const admission::RegistrationCodes::Entry& entry) const;
  [[nodiscard]] int row_of(const std::string& name) const;

  const std::function<void()> on_change_;
  mutable std::mutex mutex_;  // guards the rest
  Codes codes_;
  bool is_started_ = false;
  std::unordered_map<std::string, int> by_digest_;  // players, by code_digest
  std::unordered_map<std::string, int> by_name_;  // players, by envelope::comparable_name
  std::vector<Refusal> refusals_;  // the newest last
  std::uint64_t forgotten_ = 0;
  RefusalCounts counts_;
};

}  // namespace league::league_manager::spectators
