#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "league_manager/ledger.h"

namespace league::league_manager {

/// What has become of a match that was offered.
enum class OfferOutcome : std::uint8_t {
  kTaken,  ///< the queue has it
  kRefused,  ///< the queue does not take it, though who would come for it can be reached
  kUnknown,  ///< nobody can be reached
};

/// Where matches wait for whichever referee is free. It may lose them, keep them too long or hand
/// them out twice: the league decides who gets a match (League::decide_claims). Thread-safe.
class MatchQueue {
 public:
  /// `why` is for people, unless it was taken.
  using Offered = std::function<void(OfferOutcome outcome, const std::string& why)>;

  virtual ~MatchQueue() = default;
  /// Puts a match there, for its `attempt`; `repetition` counts how often this was done for the
  /// same attempt before. Does not block. `done` runs once, on any thread, unless the program ends.
  virtual void offer(MatchKey match, int attempt, int repetition, Offered done) = 0;
};

/// Sees to it that every match that waits for referees who come by themselves is in the queue, and,
/// when the queue does not take them, that the league gives them out until it does. Thread-safe.
/// Outlives the queue's last `done`.
class QueueKeeper {
 public:
  /// What has waited in vain for so long is offered again, and then after twice as long. All
  /// outlive it.
  /// `works`: whether the queue does as yet, as the league was told.
  QueueKeeper(Ledger& ledger, MatchQueue& queue, const core::Clock& clock,
              std::chrono::milliseconds patience, bool works = true);

  /// Call it when matches may have begun to wait, and now and then.
  void sync();

 private:
  /// Between trials in vain: a broker without streams says so at once, and may never have any.
  static constexpr std::chrono::milliseconds kFirstPause{200};
  static constexpr std::chrono::milliseconds kLongestPause{10'000};
  struct Offered {
    int attempt = 0;
    int repetitions = 0;
    int waits = 0;  ///< in vain
    core::Clock::Steady due{};  ///< to be offered again
  };
  struct Waiting {
    MatchKey match;
    int attempt = 1;  ///< the next one
  };
  struct Offer {
    Waiting waiting;
    int repetition = 0;
  };

  [[nodiscard]] static std::vector<Waiting> waiting_matches(const League& league);
  [[nodiscard]] static std::optional<MatchKey> finished_match(const League& league);
  /// Under the lock: what is to be offered now.
  [[nodiscard]] std::vector<Offer> due_offers(const std::vector<Waiting>& waiting,
                                              std::optional<MatchKey> finished);
  [[nodiscard]] std::vector<Offer> next_trial(const std::vector<Waiting>& waiting,
                                              std::optional<MatchKey> finished);
  void on_offered(MatchKey match, OfferOutcome outcome, const std::string& why);
  /// Under the lock: all that waits is offered as soon as may be.
  void offer_all_anew();

  Ledger& ledger_;
  MatchQueue& queue_;
  const core::Clock& clock_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::map<MatchKey, Offered> offered_;
  bool is_working_;
  bool is_tried_ = false;  ///< while it does not work: a match is on its way
  core::Clock::Steady trial_due_{};
  std::chrono::milliseconds trial_pause_ = kFirstPause;  ///< before the next one
  int trials_ = 0;  ///< with matches that are over
};

}  // namespace league::league_manager
