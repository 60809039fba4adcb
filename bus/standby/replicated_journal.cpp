#include "bus/standby/replicated_journal.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/log.h"
#include "common/core/private_file.h"
#include "common/journal/journal_mark.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/subject.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTick = 100ms;
constexpr std::chrono::milliseconds kFlush = 3s;
constexpr std::chrono::milliseconds kBetweenDecisions = 1s;

/// The term in which the league went on last; 0: it never changed its manager.
std::uint64_t term_of(const journal::EventRecord& record) {
  if (record.type != "LEAGUE_CONTINUED") return 0;
  const auto event = events::from_record(record);
  if (!event) return 0;
  return static_cast<std::uint64_t>(
      std::get<events::LeagueContinued>(event->body).term.value_or(0));
}

}  // namespace

core::Result<std::unique_ptr<ReplicatedJournal>> ReplicatedJournal::create(
    ReplicationDependencies dependencies, ReplicationOptions options) {
  auto file = ReplicationFile::open(options.paths.knowledge, dependencies.random);
  if (!file) return file.error();
  std::unique_ptr<ReplicatedJournal> made(
      new ReplicatedJournal(std::move(dependencies), std::move(options), std::move(*file)));
  if (auto restored = made->restore(); !restored) return restored.error();
  return made;
}

ReplicatedJournal::~ReplicatedJournal() {
  finish();
  link_.reset();  // its tasks report to us
}

core::Result<void> ReplicatedJournal::restore() {
  RestoredReplica restored{file_.knowledge(), {}};
  core::Digest digest{};
  auto read = deps_.local.replay([&](const journal::Entry& entry) -> core::Result<void> {
    digest = journal::chained(digest, entry.record);
    restored.digests.push_back(digest);
    // Of a league that other versions have replicated, or of one whose file is lost.
    restored.knowledge.term = std::max(restored.knowledge.term, term_of(entry.record));
    return {};
  });
  if (!read) return read;
  stored_ = flushed_ = restored.digests.size();
  first_ = stored_ + 1;
  has_followed_ = !restored.knowledge.leader.empty() && restored.knowledge.leader != file_.name();
  const auto steady = deps_.clock.steady_now().time_since_epoch();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  started_ = std::chrono::duration_cast<Time>(wall) - std::chrono::duration_cast<Time>(steady);
  replica_ = std::make_unique<Replica>(ReplicaOptions{file_.name(), options_.begins_leagues},
                                       std::move(restored), now());
  return {};
}

/// Steady, and greater after a restart of the machine.
Time ReplicatedJournal::now() const {
  return started_ + std::chrono::duration_cast<Time>(deps_.clock.steady_now().time_since_epoch());
}

core::Result<void> ReplicatedJournal::connect(transport::link::StopSignal& stop) {
  auto streams = transport::bus::JetStream::create(deps_);
  if (!streams) return streams.error();
  streams_ = std::move(*streams);
  link_ = std::make_unique<StreamLink>(deps_.bus, *streams_, deps_.clock, options_.stream,
                                       [this](Fact fact) { report(std::move(fact)); });
  if (options_.starts_anew) {
    if (auto removed = link_->remove_streams(stop); !removed) return removed.error();
  }
  return link_->begin();
}

core::Result<bool> ReplicatedJournal::lead(transport::link::StopSignal& stop) {
  if (auto connected = connect(stop); !connected) return connected.error();
  thread_ = std::thread([this] { run(); });
  for (;;) {
    if (stop.wait_for(kTick) >= 0) return false;
    std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    if (has_led_) return true;
  }
}

void ReplicatedJournal::post(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void ReplicatedJournal::report(Fact fact) {
  post([this, fact = std::move(fact)] { carry_out(replica_->handle(now(), fact)); });
}

void ReplicatedJournal::run() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    changed_.wait_until(lock, next, [this] { return is_stopped_ || !tasks_.empty(); });
    if (!tasks_.empty()) {
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
    if (std::chrono::steady_clock::now() < next) continue;
    next = std::chrono::steady_clock::now() + kTick;
    lock.unlock();
    tick();
    lock.lock();
  }
}

void ReplicatedJournal::tick() {
  constexpr double kSteps = 65536;
  const auto bytes = deps_.random.bytes<2>();
  carry_out(replica_->handle(now(), Tick{(bytes[0] * 256 + bytes[1]) / kSteps}));
  if (now() - looked_ >= kBetweenDecisions) read_decision();
  tell_status();
}

/// `league admin lead --lose-after N` writes a file, since a manager that waits answers nobody.
void ReplicatedJournal::read_decision() {
  looked_ = now();
  auto text = core::read_private_file(options_.paths.lose_after);
  if (text && !*text) return;
  std::error_code ignored;
  std::filesystem::remove(options_.paths.lose_after, ignored);
  if (!text) return agent::runtime::log::warn("{}", text.error().message);
  const std::uint64_t sequence = std::strtoull((*text)->c_str(), nullptr, 10);
  carry_out(replica_->handle(now(), LoseAfter{sequence}));
}

void ReplicatedJournal::tell_status() {
  ReplicaStatus status = replica_->status(now());
  if (!replica_->is_leading() && !status.leader.empty() && status.leader != file_.name() &&
      std::exchange(told_, status.leader) != status.leader)
    agent::runtime::log::info("league {} is led by '{}'; this manager stands by",
                              options_.stream.league, status.leader);
  std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

void ReplicatedJournal::carry_out(const Effects& effects) {
  for (const Effect& effect : effects)
    std::visit([this](const auto& each) { carry(each); }, effect);
  release_held();
}

void ReplicatedJournal::release_held() {
  std::vector<std::function<void()>> sent;
  {
    std::lock_guard lock(mutex_);
    sure_until_ = replica_->sure_until();
    if (now() < sure_until_) sent.swap(held_);
  }
  for (const auto& send : sent) send();
}

void ReplicatedJournal::when_sure(std::function<void()> send) {
  {
    std::lock_guard lock(mutex_);
    if (now() >= sure_until_) return held_.push_back(std::move(send));
  }
  send();
}

void ReplicatedJournal::append(std::vector<journal::EventRecord> records, Durable durable) {
  {
    std::lock_guard lock(mutex_);
    if (!is_stopped_) {
      ++open_;
      tasks_.push_back(
          [this, records = std::move(records), durable = std::move(durable)]() mutable {
            take(std::move(records), std::move(durable));
          });
      changed_.notify_all();
      return;
    }
  }
  durable(core::Error{core::ErrorCode::kShuttingDown, "the journal is closed", ""});
}

void ReplicatedJournal::take(std::vector<journal::EventRecord> records, Durable durable) {
  // Without records it waits for all earlier ones, of which there may be none.
  const std::uint64_t last = records.empty() && waiting_.empty() ? 0 : stored_ + records.size();
  waiting_.push_back({last, std::move(durable)});
  if (records.empty()) return carry(Release{0});
  carry_out(replica_->append(now(), std::move(records)));
}

core::Result<void> ReplicatedJournal::replay(const Visitor& visit) const {
  return deps_.local.replay(visit);
}

core::Result<void> ReplicatedJournal::load_from(std::uint64_t first) {
  if (first >= first_) return {};
  std::vector<journal::EventRecord> earlier;
  auto read = deps_.local.replay([&](const journal::Entry& entry) -> core::Result<void> {
    if (entry.sequence >= first && entry.sequence < first_) earlier.push_back(entry.record);
    return {};
  });
  if (!read) return read;
  if (earlier.size() != first_ - first)
    return core::Error{core::ErrorCode::kInternalError, "the local journal lacks entries", ""};
  records_.insert(records_.begin(), earlier.begin(), earlier.end());
  first_ = first;
  return {};
}

void ReplicatedJournal::forget_until(std::uint64_t last) {
  while (first_ <= last && !records_.empty()) {
    records_.pop_front();
    ++first_;
  }
}

void ReplicatedJournal::carry(Publish publish) {
  Message& message = publish.message;
  if (message.lose_after) {
    std::lock_guard lock(mutex_);
    given_up_ = "the operator decided to go on after entry " + std::to_string(*message.lose_after) +
                ", without entries that only managers that are lost may have had";
  }
  if (message.kind == MessageKind::kEntries) {
    // Into a new stream goes the whole journal.
    if (auto loaded = load_from(message.first); !loaded) return fail(loaded.error());
    const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(message.first - first_);
    message.records.assign(begin,
                           begin + static_cast<std::ptrdiff_t>(message.last - message.first + 1));
  }
  link_->carry(publish);
}

void ReplicatedJournal::carry(const Store& store) {
  if (!replica_->is_leading()) {
    for (const auto& record : store.records) {
      auto fits = options_.check ? options_.check(record) : core::Result<void>();
      if (!fits) return fail(fits.error());
    }
    std::lock_guard lock(mutex_);
    has_followed_ = true;
  }
  records_.insert(records_.end(), store.records.begin(), store.records.end());
  stored_ += store.records.size();
  deps_.local.append(store.records, [this, last = stored_, cut = cuts_](core::Result<void> stored) {
    if (!stored) return post([this, why = stored.error()] { fail(why); });
    post([this, last, cut] {
      if (cut == cuts_) on_flushed(last);  // else the entries may have been put aside
    });
  });
}

void ReplicatedJournal::on_flushed(std::uint64_t last) {
  flushed_ = last;
  {
    std::lock_guard lock(mutex_);
    if (term_ > 0 && flushed_ >= leads_at_) has_led_ = true;
  }
  if (!replica_->is_leading()) forget_until(last);
  carry_out(replica_->handle(now(), Flushed{last}));
}

void ReplicatedJournal::carry(const PutAside& aside) {
  if (auto done = put_aside(aside.after); !done) return fail(done.error());
  ++cuts_;
  stored_ = flushed_ = aside.after;
  if (first_ > stored_) {
    records_.clear();
    first_ = stored_ + 1;
  }
  records_.resize(stored_ + 1 - first_);
}

core::Result<void> ReplicatedJournal::put_aside(std::uint64_t after) {
  auto settled = journal::append_and_wait(deps_.local, {});
  if (!settled) return settled;
  std::string lines;
  auto read = deps_.local.replay([&](const journal::Entry& entry) -> core::Result<void> {
    if (entry.sequence <= after) return {};
    lines += nlohmann::json{{"sequence", entry.sequence},
                            {"type", entry.record.type},
                            {"payload", entry.record.payload}}
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
             "\n";
    return {};
  });
  if (!read) return read;
  std::error_code ignored;  // writing reports it
  std::filesystem::create_directories(options_.paths.put_aside, ignored);
  const auto file = options_.paths.put_aside / ("after_" + std::to_string(after) + "_" +
                                                std::to_string(now().count()) + ".jsonl");
  if (auto written = core::write_private_file(file, lines); !written) return written;
  agent::runtime::log::warn("the entries that were put aside are in {}", file.string());
  std::lock_guard lock(mutex_);
  has_followed_ = true;
  return deps_.local.cut_after(after);
}

void ReplicatedJournal::carry(const Remember& knowledge) {
  if (auto written = file_.write(knowledge.knowledge); !written) fail(written.error());
}

void ReplicatedJournal::carry(const Release& release) {
  released_ = std::max(release.sequence, released_);
  std::uint64_t answered = 0;
  for (; !waiting_.empty() && waiting_.front().sequence <= released_; ++answered) {
    const auto durable = std::move(waiting_.front().durable);
    waiting_.pop_front();
    durable({});
  }
  forget_until(released_);
  std::lock_guard lock(mutex_);
  open_ -= answered;
  if (open_ == 0) changed_.notify_all();
}

void ReplicatedJournal::carry(const Lead& lead) {
  agent::runtime::log::info("this manager leads league {} in term {}; event {} is the last",
                            options_.stream.league, lead.term, stored_);
  std::lock_guard lock(mutex_);
  term_ = lead.term;
  leads_at_ = stored_;
  if (flushed_ >= leads_at_) has_led_ = true;
  status_ = replica_->status(now());
}

void ReplicatedJournal::carry(const Pause& pause) {
  if (!pause.is_paused)
    agent::runtime::log::info("the stream has room again, and the league goes on");
  std::lock_guard lock(mutex_);
  is_paused_ = pause.is_paused;
}

void ReplicatedJournal::carry(const End& end) { options_.on_end(end.why); }

void ReplicatedJournal::carry(const Say& say) {
  tell_status();  // before the line, which somebody may read first
  const std::string trouble = link_->trouble();
  agent::runtime::log::warn("{}{}", say.line, trouble.empty() ? "" : " (" + trouble + ")");
}

/// The local journal tells the program of its own failure; anything else ends `lead`.
void ReplicatedJournal::fail(const core::Error& why) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = why;
}

std::string ReplicatedJournal::stream() const {
  const auto incarnation = status().incarnation;
  if (incarnation == 0) return {};
  return transport::link::journal_stream(options_.stream.league, incarnation);
}

spectators::ReplicationFigures ReplicatedJournal::figures() const {
  const ReplicaStatus now = status();
  const StreamRoom room = link_->room(now.incarnation);
  spectators::ReplicationFigures figures{.leader = now.leader,
                                         .term = now.term,
                                         .stream = now.incarnation,
                                         .acknowledged = now.acknowledged,
                                         .written = now.flushed,
                                         .waits_for = now.waits_for,
                                         .store_bytes = room.used,
                                         .store_max_bytes = room.most};
  for (const auto& [name, sequence, is_in_sync, silent] : now.standbys)
    figures.standbys.push_back(
        {name, sequence, is_in_sync, std::chrono::duration<double>(silent).count()});
  return figures;
}

void ReplicatedJournal::finish() {
  {
    std::unique_lock lock(mutex_);
    const bool is_done = changed_.wait_for(lock, kFlush, [this] { return open_ == 0; });
    if (!is_done)
      agent::runtime::log::warn(
          "the last entries of league {} are not confirmed: restart this manager, or the next one "
          "may go on without them",
          options_.stream.league);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (link_) link_->end();
  if (streams_) streams_->end();
  (void)journal::append_and_wait(deps_.local, {});  // it tells us of earlier appends until then
}

}  // namespace league::league_manager::stream
