#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/journal/journal.h"
#include "common/transport/bus/jet_stream.h"
#include "league_manager/standby/holder_file.h"
#include "league_manager/standby/journal_follower.h"
#include "league_manager/standby/leadership.h"
#include "league_manager/standby/lease.h"
#include "league_manager/standby/replicated_journal.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::league_manager::standby {

struct StandbyTakeoverOptions {
  std::string league;
  /// Nothing: as the manager before, or asynchronous if there was none.
  std::optional<Replication> replication = std::nullopt;
  bool begins_leagues = true;  ///< false: it waits until there is one to follow
  /// Purges what an earlier league of this name has left in the broker, unless a manager leads it.
  bool starts_anew = false;
  std::chrono::milliseconds lease{6000};
  int replicas = 1;  ///< how many brokers of a cluster keep the streams
  long journal_max_mib = 0;  ///< of the journal's stream; 0: no limit
  /// Former leaders from this data directory, which have ended. Empty: unknown.
  std::filesystem::path holder_file;
  /// Called once before the first record of another manager is accepted: checks that this manager
  /// could lead.
  std::function<core::Result<void>()> check_follower;
  /// Whether a record of the league fits this manager's key.
  std::function<core::Result<void>(const journal::EventRecord&)> check_record;
  /// Called on any thread when another manager leads or may lead: this process may send nothing
  /// more.
  std::function<void(std::string why)> on_fenced;
};

/// The dependencies of a StandbyTakeover; all references must outlive it.
struct StandbyTakeoverDependencies {
  transport::bus::Bus& bus;
  transport::link::BusSession session;
  const core::Clock& clock;
  core::Timer& timer;
  core::RandomSource& random;
};

/// Several managers of one league, of which one leads: this one follows the leader's journal until
/// it leads itself, and then replicates its own journal to the others. Source: docs/distributed.md.
class StandbyTakeover final : public Leadership {
 public:
  StandbyTakeover(StandbyTakeoverDependencies dependencies, StandbyTakeoverOptions options);
  ~StandbyTakeover() override;
  StandbyTakeover(const StandbyTakeover&) = delete;
  StandbyTakeover& operator=(const StandbyTakeover&) = delete;

  /// Blocks until this manager leads and `local` has the whole journal of the league; false: it was
  /// asked to stop. Retries as long as the broker is not available. Other errors are permanent.
  [[nodiscard]] core::Result<bool> lead(journal::Journal& local, transport::link::StopSignal& stop);

  [[nodiscard]] int term() const override { return term_; }
  [[nodiscard]] bool has_followed() const override { return is_there_another_; }
  [[nodiscard]] journal::Journal& journal() override { return *journal_; }
  void serve() override;
  [[nodiscard]] bool is_leading() const override;
  void finish() override;

 private:
  [[nodiscard]] core::Result<void> prepare();
  [[nodiscard]] core::Result<void> prepare_lease();
  /// Must be called before any record of another manager is accepted.
  [[nodiscard]] core::Result<void> check_follower();
  [[nodiscard]] core::Result<bool> wait_for_turn(JournalFollower& follower,
                                                 transport::link::StopSignal& stop);
  [[nodiscard]] core::Result<transport::bus::StreamState> look_at_journal();
  /// Whether the stream contains any records of the league.
  [[nodiscard]] core::Result<bool> is_league_there();
  [[nodiscard]] core::Result<bool> try_to_lead(const JournalFollower& follower);
  [[nodiscard]] core::Result<void> purge();
  [[nodiscard]] core::Result<void> take_over(JournalFollower& follower, journal::Journal& local,
                                             transport::link::StopSignal& stop);
  [[nodiscard]] core::Result<transport::bus::StreamState> ensure(
      transport::bus::StreamConfig config);
  /// Writes to the stream that our term has begun, after which no records of an earlier term are
  /// accepted. Fails with kShuttingDown if the manager was asked to stop.
  [[nodiscard]] core::Result<void> begin_term(JournalFollower& follower,
                                              transport::link::StopSignal& stop);
  void fence(const std::string& why);
  /// Logs `what`, unless it was the last text that was logged.
  void say(const std::string& what);

  const StandbyTakeoverDependencies deps_;
  const StandbyTakeoverOptions options_;
  std::unique_ptr<transport::bus::JetStream> streams_;
  std::unique_ptr<Lease> lease_;
  std::optional<HolderFile> holders_;
  std::unique_ptr<ReplicatedJournal> journal_;
  std::uint64_t lease_number_ = 0;
  std::uint64_t stream_sequence_ = 0;
  int term_ = 0;
  Replication replication_ = Replication::kAsync;  ///< while this manager leads
  bool is_follower_checked_ = false;
  bool is_there_another_ = false;  ///< another manager leads, or led when this one started
  std::string said_;
};

}  // namespace league::league_manager::standby
