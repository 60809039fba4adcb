#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bus/standby/core/replica.h"
#include "bus/standby/stream_format.h"
#include "bus/standby/stream_link.h"
#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/program/leadership.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::league_manager::stream {

struct ReplicationPaths {
  std::filesystem::path knowledge;  ///< see ReplicationFile
  std::filesystem::path lose_after;  ///< the operator's decision, which is read and removed
  std::filesystem::path put_aside;  ///< directory for entries that never counted
};

struct ReplicationOptions {
  StreamLinkOptions stream;
  ReplicationPaths paths;
  bool begins_leagues = true;  ///< false: it waits until there is one to follow
  /// Removes what an earlier league of this name has left at the broker.
  bool starts_anew = false;
  /// Whether this manager could lead the league that has this entry: checked before another
  /// manager's entry is stored.
  std::function<core::Result<void>(const journal::EventRecord&)> check;
  /// Called when another manager leads: this process may send nothing more.
  std::function<void(const std::string& why)> on_end;
};

/// All outlive the ReplicatedJournal.
struct ReplicationDependencies : transport::bus::SessionOnBus {
  journal::SqliteJournal& local;
};

/// The journal of one of several managers: carries out the effects of a Replica, on a thread of its
/// own. Thread-safe, except for `create`, `lead` and `finish`. Source: docs/replication.md.
class ReplicatedJournal final : public Leadership, private journal::Journal {
 public:
  /// Reads the local journal. Fails if it or the files of `options` cannot be read.
  [[nodiscard]] static core::Result<std::unique_ptr<ReplicatedJournal>> create(
      ReplicationDependencies dependencies, ReplicationOptions options);
  ~ReplicatedJournal() override;
  ReplicatedJournal(const ReplicatedJournal&) = delete;
  ReplicatedJournal& operator=(const ReplicatedJournal&) = delete;

  /// Blocks until this manager leads and the local journal has all entries; false: it was asked to
  /// stop. Fails if it can never lead this league.
  [[nodiscard]] core::Result<bool> lead(transport::link::StopSignal& stop);

  [[nodiscard]] int term() const override { return static_cast<int>(locked(term_)); }
  [[nodiscard]] bool has_followed() const override { return locked(has_followed_); }
  [[nodiscard]] std::optional<std::string> given_up() const override { return locked(given_up_); }
  [[nodiscard]] journal::Journal& journal() override { return *this; }
  [[nodiscard]] bool may_start() const override { return !locked(is_paused_); }
  void when_sure(std::function<void()> send) override;
  [[nodiscard]] ReplicaStatus status() const { return locked(status_); }
  [[nodiscard]] spectators::ReplicationFigures figures() const override;
  [[nodiscard]] std::string stream() const override;
  void finish() override;

 private:
  ReplicatedJournal(ReplicationDependencies dependencies, ReplicationOptions options,
                    ReplicationFile file)
      : deps_(std::move(dependencies)), options_(std::move(options)), file_(std::move(file)) {}

  template <typename T>
  [[nodiscard]] T locked(const T& member) const {
    std::lock_guard lock(mutex_);
    return member;
  }

  // From any thread.
  void append(std::vector<journal::EventRecord> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;
  void post(std::function<void()> task);
  void report(Fact fact);

  // Before the thread begins.
  [[nodiscard]] core::Result<void> restore();
  [[nodiscard]] core::Result<void> connect(transport::link::StopSignal& stop);

  // On the thread.
  void run();
  void tick();
  void read_decision();
  void take(std::vector<journal::EventRecord> records, Durable durable);
  void carry_out(const Effects& effects);
  void carry(Publish publish);
  void carry(const Read& read) { link_->carry(read); }
  void carry(const Inspect& inspect) { link_->carry(inspect); }
  void carry(const Follow& follow) { link_->carry(follow); }
  void carry(const Heartbeat& heartbeat) { link_->carry(heartbeat); }
  void carry(const Store& store);
  void carry(const PutAside& aside);
  void carry(const Remember& knowledge);
  void carry(const Release& release);
  void carry(const Lead& lead);
  void carry(const Pause& pause);
  void carry(const End& end);
  void carry(const Say& say);
  /// Makes sure that `records_` begins with this entry, or with an earlier one.
  [[nodiscard]] core::Result<void> load_from(std::uint64_t first);
  void forget_until(std::uint64_t last);
  void on_flushed(std::uint64_t last);
  [[nodiscard]] core::Result<void> put_aside(std::uint64_t after);
  void tell_status();
  void release_held();
  void fail(const core::Error& why);
  [[nodiscard]] Time now() const;

  struct Waiting {
    std::uint64_t sequence = 0;
    Durable durable;
  };

  const ReplicationDependencies deps_;
  const ReplicationOptions options_;
  const ReplicationFile file_;
  std::unique_ptr<transport::bus::JetStream> streams_;
  std::unique_ptr<StreamLink> link_;

  // Of the thread.
  std::unique_ptr<Replica> replica_;
  Time started_{0};  ///< the wall clock, at the steady clock's zero
  /// The journal's end, as far as it is not flushed yet or may be published.
  std::deque<journal::EventRecord> records_;
  std::uint64_t first_ = 1;  ///< sequence number of the first of them
  std::uint64_t stored_ = 0;  ///< the last entry that was handed to the local journal
  std::uint64_t flushed_ = 0;
  std::uint64_t cuts_ = 0;  ///< how often entries were put aside
  std::uint64_t released_ = 0;
  std::deque<Waiting> waiting_;
  Time looked_{0};  ///< for a decision of the operator
  std::string told_;  ///< who leads

  mutable std::mutex mutex_;  ///< of everything below
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_stopped_ = false;
  std::uint64_t open_ = 0;  ///< appends that are not durable yet
  bool has_led_ = false;
  bool is_paused_ = false;
  std::uint64_t leads_at_ = 0;  ///< it leads when the local journal has this entry
  std::uint64_t term_ = 0;
  bool has_followed_ = false;
  std::optional<std::string> given_up_;
  std::optional<core::Error> failure_;
  Time sure_until_{-1};
  std::vector<std::function<void()>> held_;  ///< what waits for `when_sure`
  ReplicaStatus status_;

  std::thread thread_;  // last: it uses everything above
};

}  // namespace league::league_manager::stream
