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

namespace league::league_manager::standby {

struct LeaseOptions {
  std::string league;
  std::string holder;  ///< our name, which others can read; different for each process
  /// Names of processes that have certainly ended: their leases may be taken over at once.
  std::vector<std::string> gone;
  std::chrono::milliseconds length{6000};
  /// Called once when a lease that was kept is lost, or may be: another manager may lead. On a
  /// thread of the bus or the timer.
  std::function<void(std::string why)> on_lost;
};

/// Decides which manager leads a league: an entry in a stream of the broker that expires unless it
/// is renewed. The first manager to write it holds the lease; until it expires the broker refuses
/// the entries of others. Thread-safe. All references must outlive it, except the JetStream, which
/// ends before it. Source: docs/distributed.md.
class Lease {
 public:
  Lease(transport::bus::JetStream& streams, const core::Clock& clock, core::Timer& timer,
        LeaseOptions options);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// The result of an attempt to take the lease.
  struct TakeResult {
    bool is_ours = false;
    std::string other;  ///< the holder, if it is another manager
    std::uint64_t number = 0;  ///< given by the broker, higher than all earlier ones; 0: not ours
  };
  /// Blocks until the broker answers, for `patience` at most. Fails with kConnectionError if it
  /// does not.
  [[nodiscard]] core::Result<TakeResult> try_take(std::chrono::milliseconds patience);
  /// Renews the lease after every third of its length, from now on.
  void keep();
  /// False as soon as the lease may have expired by our own clock, so that another manager can hold
  /// it.
  [[nodiscard]] bool is_held() const;
  /// Releases it, so that another manager can take it at once; blocks for `patience` at most.
  void give_back(std::chrono::milliseconds patience);
  /// Makes no more requests to the JetStream.
  void end();

 private:
  void renew_at(core::Clock::Steady when);
  void renew();
  void publish_renewal(std::uint64_t revision);
  /// The last entry in the stream.
  struct Entry {
    std::uint64_t revision = 0;  ///< 0: there is none
    std::string holder;  ///< empty: nobody's
  };
  [[nodiscard]] core::Result<Entry> read_entry(core::Clock::Steady deadline);
  void read_entry(core::Clock::Steady deadline, std::function<void(core::Result<Entry>)> seen);
  void on_renewed(core::Clock::Steady sent, const transport::bus::PublishAck& ack);
  void on_refused(core::Clock::Steady sent, const core::Result<Entry>& last);
  [[nodiscard]] bool end_renewal(std::optional<std::uint64_t> revision = {});
  void go_on(core::Clock::Steady sent, std::uint64_t revision);
  void lose(const std::string& why);
  void hold_until(core::Clock::Steady until);
  [[nodiscard]] transport::bus::BusMessage entry_message() const;

  transport::bus::JetStream& streams_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const LeaseOptions options_;
  using Gate = transport::bus::HandlerGate<std::function<void()>>;
  const std::shared_ptr<Gate> gate_;  ///< for callbacks of the timer
  std::atomic<core::Clock::Steady::rep> held_until_{0};
  std::mutex mutex_;
  std::condition_variable renewed_;
  bool is_renewing_ = false;
  std::uint64_t revision_ = 0;
  core::Timer::Id due_ = 0;
  bool is_kept_ = false;
};

}  // namespace league::league_manager::standby
