#include "league_manager/files/ledger.h"

#include <memory>
#include <optional>

#include "common/core/await.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::files {
namespace {

/// Waits for two moments in either order: the events are durable, and the ledger's lock is
/// released.
class Commit {
 public:
  explicit Commit(Ledger::Then then) : then_(std::move(then)) {}

  void on_durable(core::Result<void> stored) {
    std::unique_lock lock(mutex_);
    stored_ = std::move(stored);
    finish(lock);
  }
  void on_unlocked(events::Events events) {
    std::unique_lock lock(mutex_);
    events_ = std::move(events);
    finish(lock);
  }

 private:
  void finish(std::unique_lock<std::mutex>& lock) {
    if (!stored_ || !events_) return;
    lock.unlock();
    if (*stored_) return then_(std::move(*events_));
    then_(stored_->error());
  }

  std::mutex mutex_;
  std::optional<core::Result<void>> stored_;
  std::optional<events::Events> events_;
  Ledger::Then then_;
};

}  // namespace

Ledger::Ledger(events::LeagueSettings settings, journal::Journal& journal, const core::Clock& clock)
    : journal_(journal), clock_(clock), league_(std::move(settings)) {}

core::Result<void> Ledger::open() {
  std::lock_guard lock(mutex_);
  auto replayed = journal_.replay([&](const journal::Entry& entry) -> core::Result<void> {
    auto event = events::from_record(entry.record);
    if (!event) return event.error();
    if (auto applied = league_.apply(*event); !applied) return applied;
    chain(entry.record, event->body);
    is_continued_ = true;
    if (!observers_.empty()) show({*event});
    return {};
  });
  set_journal_head(appended_);
  if (!replayed || is_continued_) return replayed;
  auto events = league_.decide_creation(clock_.utc_now());
  auto records = events::to_records(events);
  for (std::size_t i = 0; i < records.size(); ++i) chain(records[i], events[i].body);
  if (auto stored = journal::append_and_wait(journal_, std::move(records)); !stored) return stored;
  set_journal_head(appended_);
  if (auto applied = league_.apply_all(events); !applied) return applied;
  show(events);
  return {};
}

void Ledger::chain(const journal::EventRecord& record, const events::EventBody& event) {
  appended_ = {appended_.sequence + 1, journal::chained(appended_.digest, record)};
  if (std::holds_alternative<events::LeagueCompleted>(event)) completion_ = appended_;
}

void Ledger::set_journal_head(const journal::JournalPosition& head) {
  std::lock_guard lock(head_mutex_);
  journal_head_ = head;
}

journal::JournalPosition Ledger::journal_head() const {
  std::lock_guard lock(head_mutex_);
  return journal_head_;
}

std::optional<journal::JournalPosition> Ledger::completion() const {
  std::lock_guard lock(mutex_);
  return completion_;
}

void Ledger::show(const events::Events& events) const {
  for (const auto& observer : observers_) observer(events);
}

void Ledger::commit(const Decide& decide, const Then& then) {
  std::shared_ptr<Commit> commit;
  events::Events events;
  core::Result<void> applied;
  {
    std::lock_guard lock(mutex_);
    events = decide(league_, clock_.utc_now());
    if (!events.empty() || undurable_ > 0) {
      commit = std::make_shared<Commit>(then);
      ++undurable_;
      auto shown = observers_.empty() ? events::Events{} : events;
      auto records = events::to_records(events);
      for (std::size_t i = 0; i < records.size(); ++i) chain(records[i], events[i].body);
      journal_.append(std::move(records), [this, commit, shown = std::move(shown), head = appended_,
                                           begun = clock_.steady_now()](core::Result<void> stored) {
        --undurable_;
        last_commit_us_ =
            std::chrono::duration_cast<std::chrono::microseconds>(clock_.steady_now() - begun)
                .count();
        if (stored) set_journal_head(head);
        if (stored && !shown.empty()) show(shown);
        commit->on_durable(std::move(stored));
      });
      applied = league_.apply_all(events);
    }
  }
  if (!commit) return then(std::move(events));
  if (!applied) return then(applied.error());
  commit->on_unlocked(std::move(events));
}

core::Result<void> Ledger::commit_and_wait(const Decide& decide) {
  const auto stored =
      core::await<core::Result<events::Events>>([&](auto done) { commit(decide, done); });
  return stored ? core::Result<void>() : stored.error();
}

}  // namespace league::league_manager::files
