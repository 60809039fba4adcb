#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/bus/handler_gate.h"
#include "common/transport/bus/jet_stream.h"

namespace league::league_manager {

struct LeaseOptions {
  std::string league;
  std::string holder;  ///< who we are, for others to read; different for each process
  /// Names of processes that are gone for certain: their word is no hindrance.
  std::vector<std::string> gone;
  std::chrono::milliseconds length{6000};
  /// Told once when a lease that was kept is lost, or may be: others may lead. On a thread of the
  /// bus or the timer.
  std::function<void(std::string why)> on_lost;
};

/// Who leads a league: one word in a stream of the broker that is forgotten unless it is said
/// again. Whoever says it first has it; the broker lets nobody else say it meanwhile. Thread-safe.
/// All references outlive it; the JetStream ends before it. Source: docs/distributed.md.
class Lease {
 public:
  Lease(transport::JetStream& streams, const core::Clock& clock, core::Timer& timer,
        LeaseOptions options);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// What an attempt to take it has come to.
  struct Taken {
    bool is_ours = false;
    std::string other;  ///< who holds it, unless we do
    std::uint64_t number = 0;  ///< the broker's, higher than those of all before; 0: not ours
  };
  /// Blocks for the broker, `patience` at most. kConnectionError when it does not answer.
  [[nodiscard]] core::Result<Taken> try_take(std::chrono::milliseconds patience);
  /// Says the word again at every third of its length, from now on.
  void keep();
  /// False as soon as it could be another's, by our own clock.
  [[nodiscard]] bool is_held() const;
  /// Gives it back, so that another can have it at once; blocks for `patience` at most.
  void give_back(std::chrono::milliseconds patience);
  /// Asks nothing of the JetStream any more.
  void end();

 private:
  void renew_at(core::Clock::Steady when);
  void renew();
  void say_again(std::uint64_t revision);
  /// The last word in the stream.
  struct Word {
    std::uint64_t revision = 0;  ///< 0: there is none
    std::string holder;  ///< empty: nobody's
  };
  [[nodiscard]] core::Result<Word> look(core::Clock::Steady deadline);
  void look(core::Clock::Steady deadline, std::function<void(core::Result<Word>)> seen);
  void on_renewed(core::Clock::Steady sent, const transport::PublishAck& ack);
  void on_refused(core::Clock::Steady sent, const core::Result<Word>& last);
  [[nodiscard]] bool end_renewal(std::optional<std::uint64_t> revision = {});
  void go_on(core::Clock::Steady sent, std::uint64_t revision);
  void lose(const std::string& why);
  void hold_until(core::Clock::Steady until);
  [[nodiscard]] transport::BusMessage word() const;

  transport::JetStream& streams_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const LeaseOptions options_;
  using Gate = transport::HandlerGate<std::function<void()>>;
  const std::shared_ptr<Gate> gate_;  ///< of what the timer calls
  std::atomic<core::Clock::Steady::rep> held_until_{0};
  std::mutex mutex_;
  std::condition_variable renewed_;
  bool is_renewing_ = false;
  std::uint64_t revision_ = 0;
  core::Timer::Id due_ = 0;
  bool is_kept_ = false;
};

}  // namespace league::league_manager
