#include "league_manager/standby/replicated_journal.h"

#include <algorithm>
#include <utility>

#include "common/transport/link/subject.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;
using transport::bus::BusMessage;
using transport::bus::PublishAck;
using transport::link::league_stream;

/// The maximum size of records in one message, far below the limits of brokers.
constexpr std::size_t kMaxPiece = 256 << 10;
constexpr std::chrono::milliseconds kPublishPatience = 10s;
constexpr std::chrono::milliseconds kPublishAgain = 500ms;

core::Error journal_closed() {
  return {core::ErrorCode::kShuttingDown, "this manager is stopping", ""};
}

}  // namespace

ReplicatedJournal::ReplicatedJournal(journal::Journal& local, transport::bus::Bus& bus,
                                     transport::bus::JetStream& streams, const core::Clock& clock,
                                     core::Timer& timer, ReplicatedJournalOptions options)
    : local_(local),
      bus_(bus),
      streams_(streams),
      clock_(clock),
      timer_(timer),
      options_(std::move(options)),
      gate_(std::make_shared<Gate>([](const std::function<void()>& task) { task(); })),
      packer_(options_.pack_at),
      stream_sequence_(options_.stream_sequence) {
  figures_.published = options_.published;
}

ReplicatedJournal::~ReplicatedJournal() { close(); }

core::Result<void> ReplicatedJournal::begin() {
  // All unpublished records become one group, since the journal does not store where groups end.
  auto read = local_.replay([this](const journal::Entry& entry) -> core::Result<void> {
    std::lock_guard lock(mutex_);
    next_ = entry.sequence + 1;
    figures_.written = entry.sequence;
    if (entry.sequence > options_.published)
      unpublished_.push_back({entry.sequence, entry.record, false, true});
    else if (entry.sequence > options_.packed)
      packer_.add(entry.sequence, entry.record, true);
    return {};
  });
  if (!read) return read;
  if (!unpublished_.empty()) unpublished_.back().ends_group = true;
  auto heard = bus_.subscribe(transport::link::journal_have_subject(options_.league), "",
                              [this](const BusMessage& message) { on_had(message); });
  if (!heard) return heard.error();
  followers_ = std::move(*heard);
  schedule_watch();
  pump();
  return {};
}

void ReplicatedJournal::follow() {
  {
    std::lock_guard lock(mutex_);
    rule_ = options_.replication == Replication::kSync ? Rule::kFollowed : Rule::kLocal;
  }
  strand_.run([this] { release(); });
}

void ReplicatedJournal::append(std::vector<journal::EventRecord> records, Durable durable) {
  bool is_closed = false;
  bool is_here_first = false;
  {
    std::lock_guard lock(mutex_);
    if (is_fenced_) return;
    is_closed = is_closed_;
    is_here_first = rule_ == Rule::kLocal;
  }
  if (is_closed) return durable(journal_closed());
  if (is_here_first) return append_here_first(records, std::move(durable));
  append_there_first(std::move(records), std::move(durable));
}

void ReplicatedJournal::append_here_first(const std::vector<journal::EventRecord>& records,
                                          Durable durable) {
  std::lock_guard order(append_mutex_);
  auto first = next_;
  next_ += records.size();
  local_.append(records, [this, first, records,
                          durable = std::move(durable)](const core::Result<void>& stored) {
    on_local(first, records, durable, stored);
  });
}

void ReplicatedJournal::append_there_first(std::vector<journal::EventRecord> records,
                                           Durable durable) {
  const bool is_empty = records.empty();
  {
    std::lock_guard order(append_mutex_);
    auto first = next_;
    next_ += records.size();
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < records.size(); ++i)
      unpublished_.push_back({first + i, std::move(records[i]), i + 1 == records.size(), false});
    waiting_.push_back({next_ - 1, std::move(durable), clock_.steady_now()});
  }
  // Not on this thread, whose caller may hold locks that the `durable` callbacks need.
  if (is_empty) release_elsewhere();
  gate_->run([this] { pump(); });
}

void ReplicatedJournal::release_elsewhere() {
  local_.append({}, [this](const core::Result<void>&) { strand_.run([this] { release(); }); });
}

core::Result<void> ReplicatedJournal::replay(const Visitor& visit) const {
  return local_.replay(visit);
}

void ReplicatedJournal::on_local(std::uint64_t first,
                                 const std::vector<journal::EventRecord>& records,
                                 const Durable& durable, const core::Result<void>& stored) {
  bool is_closed = false;
  {
    std::lock_guard lock(mutex_);
    if (is_fenced_) return;
    is_closed = is_closed_;
    if (stored && !is_closed) {
      auto last = first + records.size() - 1;
      figures_.written = std::max(figures_.written, last);
      for (std::size_t i = 0; i < records.size(); ++i)
        unpublished_.push_back({first + i, records[i], i + 1 == records.size(), true});
      waiting_.push_back({last, durable, clock_.steady_now()});
    }
  }
  // Through the strand, which keeps the callbacks in order.
  if (!stored || is_closed) {
    core::Result<void> why = stored ? core::Result<void>(journal_closed()) : stored;
    return strand_.run([durable, why] { durable(why); });
  }
  strand_.run([this] { release(); });
  gate_->run([this] { pump(); });
}

std::uint64_t ReplicatedJournal::limit() const {
  switch (rule_) {
    case Rule::kLocal:
      return figures_.written;
    case Rule::kPublished:
      return std::min(figures_.written, figures_.published);
    case Rule::kFollowed:
      return std::min({figures_.written, figures_.published, figures_.followed});
  }
  return 0;
}

/// Runs in the strand. Calls `durable` for all appends that the current rule allows.
void ReplicatedJournal::release() {
  for (;;) {
    Durable durable;
    {
      std::lock_guard lock(mutex_);
      if (is_fenced_ || waiting_.empty() || waiting_.front().sequence > limit()) return;
      // If another manager leads, nothing may be answered any more.
      if (!options_.is_leading()) return;
      durable = std::move(waiting_.front().durable);
      waiting_.pop_front();
    }
    durable({});
  }
}

std::shared_ptr<const JournalPiece> ReplicatedJournal::next_piece() {
  if (is_publishing_ || is_fenced_ || is_closed_) return nullptr;
  if (auto packed = packer_.next(options_.term)) {
    is_publishing_ = true;
    packed->replication = options_.replication;
    return std::make_shared<JournalPiece>(std::move(*packed));
  }
  if (unpublished_.empty()) return nullptr;
  auto piece = std::make_shared<JournalPiece>();
  piece->term = options_.term;
  piece->replication = options_.replication;
  piece->first_sequence = unpublished_.front().sequence;
  std::size_t size = 0;
  std::size_t whole = 0;  // records up to the last end of a group
  for (const auto& item : unpublished_) {
    size += item.record.type.size() + item.record.payload.size();
    if (size > kMaxPiece && !piece->records.empty()) break;
    piece->records.push_back(item.record);
    if (item.ends_group) whole = piece->records.size();
  }
  // End the message with the end of a group, if it contains one.
  if (whole > 0) piece->records.resize(whole);
  piece->has_more = whole == 0;
  is_publishing_ = true;
  return piece;
}

void ReplicatedJournal::pump() {
  std::shared_ptr<const JournalPiece> piece;
  {
    std::lock_guard lock(mutex_);
    piece = next_piece();
  }
  if (piece) publish(piece);
}

void ReplicatedJournal::publish(const std::shared_ptr<const JournalPiece>& piece) {
  auto message = write_piece(options_.league, *piece);
  transport::bus::PublishCondition condition;
  condition.message_id = std::to_string(options_.term) + (piece->is_packed ? "-packed-" : "-") +
                         std::to_string(piece->first_sequence);
  {
    std::lock_guard lock(mutex_);
    condition.last_sequence = stream_sequence_;
  }
  streams_.publish(std::move(message), std::move(condition), clock_.steady_now() + kPublishPatience,
                   [this, piece](const PublishAck& ack) { on_published(piece, ack); });
}

void ReplicatedJournal::on_published(const std::shared_ptr<const JournalPiece>& piece,
                                     const PublishAck& ack) {
  if (ack.status == PublishAck::Status::kStored) return on_stored(*piece, ack.sequence);
  if (ack.status == PublishAck::Status::kConflict) return on_conflict(piece);
  if (ack.why.code == core::ErrorCode::kShuttingDown) return;
  if (options_.on_notice)
    options_.on_notice("the journal's stream does not accept event " +
                       std::to_string(piece->first_sequence) + ": " + ack.why.message);
  timer_.schedule(kPublishAgain,
                  [this, gate = gate_, piece] { gate->run([&] { publish(piece); }); });
}

void ReplicatedJournal::on_stored(const JournalPiece& piece, std::uint64_t stream_sequence) {
  std::vector<journal::EventRecord> fresh;
  std::uint64_t superseded = 0;
  std::uint64_t last = piece.first_sequence + piece.records.size() - 1;
  {
    std::lock_guard lock(mutex_);
    stream_sequence_ = stream_sequence;
    if (piece.is_packed) {
      superseded = packer_.on_stored(piece, stream_sequence);
    } else {
      take_published(piece);
      if (!piece.has_more) fresh.swap(unwritten_);
      figures_.published = last;
    }
  }
  if (superseded > 0) cut(superseded);
  // The group is completely in the stream: write it to the local journal.
  if (!fresh.empty())
    local_.append(std::move(fresh),
                  [this, last](const core::Result<void>& stored) { on_written(last, stored); });
  {
    // Only after the append above, because `flush` then waits for the local journal.
    std::lock_guard lock(mutex_);
    is_publishing_ = false;
    if (unpublished_.empty()) published_all_.notify_all();
  }
  strand_.run([this] { release(); });
  pump();
}

void ReplicatedJournal::cut(std::uint64_t stream_sequence) {
  // If this fails, the next purge removes these messages, too.
  streams_.purge(league_stream("JOURNAL", options_.league),
                 transport::link::journal_subject(options_.league), stream_sequence,
                 clock_.steady_now() + kPublishPatience, [](const core::Result<void>&) {});
}

void ReplicatedJournal::take_published(const JournalPiece& piece) {
  for (std::size_t i = 0; i < piece.records.size(); ++i) {
    auto& item = unpublished_.front();
    const bool ends_group = i + 1 == piece.records.size() && !piece.has_more;
    packer_.add(item.sequence, item.record, ends_group);
    if (!item.is_local) unwritten_.push_back(std::move(item.record));
    unpublished_.pop_front();
  }
}

void ReplicatedJournal::on_written(std::uint64_t last, const core::Result<void>& stored) {
  std::deque<Waiting> failed;
  {
    std::lock_guard lock(mutex_);
    if (stored) figures_.written = std::max(figures_.written, last);
    if (!stored) failed.swap(waiting_);  // the local journal has failed for good
  }
  if (stored) return strand_.run([this] { release(); });
  strand_.run([failed = std::move(failed), stored] {
    for (const auto& each : failed) each.durable(stored);
  });
}

void ReplicatedJournal::on_conflict(const std::shared_ptr<const JournalPiece>& piece) {
  const std::uint64_t next = [this] {
    std::lock_guard lock(mutex_);
    return stream_sequence_ + 1;
  }();
  streams_.get(
      league_stream("JOURNAL", options_.league), next, clock_.steady_now() + kPublishPatience,
      [this, piece](const core::Result<std::optional<transport::bus::StoredMessage>>& found) {
        if (!found) return publish(piece);  // which conflicts again
        if (!*found) return fence("the journal's stream has lost entries");
        auto stored = read_piece((*found)->message);
        if (!stored) return skip((*found)->sequence, piece);
        if (*stored == *piece) return on_stored(*piece, (*found)->sequence);
        fence("another manager writes the journal, in term " + std::to_string(stored->term));
      });
}

void ReplicatedJournal::skip(std::uint64_t stream_sequence,
                             const std::shared_ptr<const JournalPiece>& piece) {
  {
    std::lock_guard lock(mutex_);
    stream_sequence_ = stream_sequence;
  }
  if (options_.on_notice)
    options_.on_notice("message " + std::to_string(stream_sequence) +
                       " of the journal's stream is not from a manager, and is ignored");
  publish(piece);
}

void ReplicatedJournal::on_had(const BusMessage& message) {
  auto had = read_follower_position(message.payload);
  if (!had || had->term != options_.term) return;
  {
    std::lock_guard lock(mutex_);
    heard_ = clock_.steady_now();
    if (had->sequence <= figures_.followed) return;
    figures_.followed = had->sequence;
  }
  strand_.run([this] { release(); });
}

void ReplicatedJournal::schedule_watch() {
  timer_.schedule(options_.notice_after, [this, gate = gate_] { gate->run([this] { watch(); }); });
}

void ReplicatedJournal::watch() {
  std::string notice;
  {
    std::lock_guard lock(mutex_);
    auto old = clock_.steady_now() - options_.notice_after;
    if (rule_ == Rule::kFollowed && !waiting_.empty() && waiting_.front().since < old) {
      notice = "no stand-by manager has event " + std::to_string(waiting_.front().sequence) +
               (heard_ < old ? "; none responds"
                             : "; one is behind, at event " + std::to_string(figures_.followed)) +
               ". Until one has it, nothing is answered (--replicate sync)";
    } else if (!unpublished_.empty() && rule_ == Rule::kLocal) {
      notice = "the journal's stream is " + std::to_string(unpublished_.size()) +
               " events behind: a manager that takes over now would not have them";
    }
  }
  if (!notice.empty() && options_.on_notice) options_.on_notice(std::move(notice));
  release_elsewhere();  // releases what waited while it was uncertain who leads
  schedule_watch();
}

void ReplicatedJournal::fence(const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_fenced_, true)) return;
    published_all_.notify_all();
  }
  if (options_.on_fenced) options_.on_fenced(why);
}

bool ReplicatedJournal::flush(std::chrono::milliseconds patience) {
  // The rule decides which comes first.
  (void)journal::append_and_wait(local_, {});
  bool is_published = false;
  {
    std::unique_lock lock(mutex_);
    published_all_.wait_for(
        lock, patience, [this] { return is_fenced_ || (unpublished_.empty() && !is_publishing_); });
    is_published = unpublished_.empty() && !is_fenced_;
  }
  (void)journal::append_and_wait(local_, {});
  return is_published;
}

void ReplicatedJournal::close() {
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  followers_.reset();
  gate_->close();
  // Destroyed without a call: the callbacks hold objects that must end before this journal.
  std::deque<Waiting> waiting;
  std::lock_guard lock(mutex_);
  waiting.swap(waiting_);
}

}  // namespace league::league_manager::standby
