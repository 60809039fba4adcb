#include "league_manager/standby/journal_follower.h"

#include <algorithm>
#include <utility>

#include "common/core/await.h"
#include "common/transport/link/subject.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;

constexpr int kFetchBatch = 500;
constexpr std::chrono::milliseconds kFetchTime = 5s;
constexpr std::chrono::milliseconds kSayAgain = 500ms;
constexpr std::chrono::milliseconds kAnswerTime = 2s;

core::Error not_the_same(const std::string& why) {
  return {core::ErrorCode::kInternalError, why, ""};
}

core::Error other_events(std::uint64_t sequence) {
  return not_the_same(
      "this data directory holds events that the league does not have, from event " +
      std::to_string(sequence) +
      " on: start once with --standby --new, which archives them, put the league's secret.key "
      "there "
      "again, and start with --standby: then it follows the league from its beginning");
}

}  // namespace

core::Digest record_digest(const journal::EventRecord& record) {
  return core::sha256(record.type + "\n" + record.payload);
}

void JournalFollower::ProgressPublisher::say() {
  transport::bus::BusMessage message;
  {
    std::lock_guard lock(mutex);
    if (had.term == 0) return;
    message.payload = write_follower_position(had);
  }
  message.subject = subject;
  (void)bus.publish(message);  // repeated every few seconds anyway
}

JournalFollower::JournalFollower(journal::Journal& local, transport::bus::Bus& bus,
                                 transport::bus::JetStream& streams, const core::Clock& clock,
                                 JournalFollowerOptions options)
    : local_(local),
      bus_(bus),
      streams_(streams),
      clock_(clock),
      options_(std::move(options)),
      stream_(transport::link::league_stream("JOURNAL", options_.league)),
      inbox_(std::make_shared<Inbox>()),
      progress_(std::make_shared<ProgressPublisher>(bus_)) {
  progress_->subject = transport::link::journal_have_subject(options_.league);
}

core::Result<void> JournalFollower::begin() {
  return local_.replay([this](const journal::Entry& entry) -> core::Result<void> {
    digests_.push_back(record_digest(entry.record));
    auto event = events::from_record(entry.record);
    if (!event) return event.error();
    if (const auto* continued = std::get_if<events::LeagueContinued>(&event->body))
      last_term_ = std::max(last_term_, continued->term.value_or(0));
    return options_.check ? options_.check(entry.record) : core::Result<void>();
  });
}

/// Returns the state of the stream. Starts from its beginning if the broker has lost the old
/// stream, which shows in lower sequence numbers.
core::Result<transport::bus::StreamState> JournalFollower::look(core::Clock::Steady deadline) {
  auto state = core::await<core::Result<transport::bus::StreamState>>(
      [&](auto done) { streams_.stream_state(stream_, deadline, done); });
  if (!state) return core::Error{core::ErrorCode::kConnectionError, state.error().message, ""};
  if (state->last_sequence < stream_sequence()) begin_anew();
  return state;
}

void JournalFollower::begin_anew() {
  next_ = 1;
  verified_ = 0;
  packed_ = 0;
  group_ = {};
  consumer_.clear();
}

core::Result<std::uint64_t> JournalFollower::next_there() {
  auto found =
      core::await<core::Result<std::optional<transport::bus::StoredMessage>>>([this](auto done) {
        streams_.get_next(stream_, ">", next_, clock_.steady_now() + kAnswerTime, done);
      });
  if (!found) return core::Error{core::ErrorCode::kConnectionError, found.error().message, ""};
  return *found ? (*found)->sequence : 0;
}

core::Result<void> JournalFollower::open_consumer(std::chrono::milliseconds patience) {
  if (auto state = look(clock_.steady_now() + patience); !state) return state.error();
  transport::bus::ConsumerConfig config;
  // The first time, start with the first message that the stream has (0).
  config.start_sequence = next_ == 1 ? 0 : next_;
  config.is_acknowledged = false;
  auto name = core::await<core::Result<std::string>>([&](auto done) {
    streams_.ensure_consumer(stream_, config, clock_.steady_now() + patience, done);
  });
  if (!name) return core::Error{core::ErrorCode::kConnectionError, name.error().message, ""};
  consumer_ = std::move(*name);
  std::lock_guard lock(inbox_->mutex);
  ++inbox_->generation;
  inbox_->messages.clear();
  inbox_->is_open = inbox_->is_gone = false;
  return {};
}

void JournalFollower::open_fetch() {
  std::uint64_t generation = 0;
  {
    std::lock_guard lock(inbox_->mutex);
    if (inbox_->is_open) return;
    inbox_->is_open = true;
    generation = inbox_->generation;
  }
  streams_.fetch(
      stream_, consumer_, kFetchBatch, kFetchTime,
      [inbox = inbox_, generation](transport::bus::StreamDelivery delivery) {
        std::lock_guard lock(inbox->mutex);
        if (inbox->generation != generation) return;
        inbox->messages.push_back(std::move(delivery));
        inbox->changed.notify_one();
      },
      [inbox = inbox_, generation](const core::Result<void>& end) {
        std::lock_guard lock(inbox->mutex);
        if (inbox->generation != generation) return;
        inbox->is_open = false;
        if (!end) inbox->is_gone = true;
        inbox->changed.notify_one();
      });
}

core::Result<void> JournalFollower::take(std::chrono::milliseconds patience) {
  say_now_and_then();
  if (consumer_.empty()) {
    if (auto opened = open_consumer(std::max(patience, 1000ms)); !opened) return opened;
  }
  open_fetch();
  std::vector<transport::bus::StreamDelivery> messages;
  bool is_gone = false;
  {
    std::unique_lock lock(inbox_->mutex);
    inbox_->changed.wait_for(lock, patience, [this] {
      return !inbox_->messages.empty() || inbox_->is_gone || !inbox_->is_open;
    });
    messages.swap(inbox_->messages);
    is_gone = inbox_->is_gone;
  }
  for (const auto& message : messages) {
    if (auto taken = on_delivery(message); !taken) return taken;
  }
  if (is_gone) consumer_.clear();
  std::lock_guard lock(progress_->mutex);
  return progress_->failure ? core::Result<void>(*progress_->failure) : core::Result<void>();
}

core::Result<void> JournalFollower::on_delivery(const transport::bus::StreamDelivery& delivery) {
  if (delivery.sequence < next_ || consumer_.empty()) return {};
  if (delivery.sequence > next_) {
    // A message was lost in transit, or the stream does not have it any more.
    auto there = next_there();
    if (!there || *there != delivery.sequence) {
      consumer_.clear();
      return there ? core::Result<void>() : core::Result<void>(there.error());
    }
  }
  auto piece = read_piece(delivery.message);
  next_ = delivery.sequence + 1;
  if (!piece) return {};  // not from a manager: ignored, as the leader does
  return on_piece(std::move(*piece));
}

core::Result<void> JournalFollower::on_piece(JournalPiece piece) {
  if (piece.term < last_term_ && piece.first_sequence > written())
    return not_the_same("the journal's stream goes back from term " + std::to_string(last_term_) +
                        " to term " + std::to_string(piece.term));
  last_term_ = std::max(last_term_, piece.term);
  replication_ = piece.replication;
  bool goes_on = group_.has_more && piece.term == group_.term &&
                 piece.first_sequence == group_.first_sequence + group_.records.size();
  if (goes_on) {
    std::move(piece.records.begin(), piece.records.end(), std::back_inserter(group_.records));
    group_.has_more = piece.has_more;
  } else {
    group_ = std::move(piece);  // an incomplete previous group is dropped: no manager has applied
                                // it
  }
  return group_.has_more ? core::Result<void>() : take_group();
}

core::Result<void> JournalFollower::take_group() {
  auto group = std::exchange(group_, {});
  std::uint64_t sequence = group.first_sequence;
  if (sequence > written() + 1 && !std::exchange(is_read_again_, true)) {
    // The broker may have created a new stream: read it once from its beginning.
    begin_anew();
    return {};
  }
  if (sequence > written() + 1)
    return not_the_same("the journal's stream begins with event " + std::to_string(sequence) +
                        ", and this data directory has " + std::to_string(written()) +
                        ": copy the data directory of the manager that leads");
  std::vector<journal::EventRecord> fresh;
  for (auto& record : group.records) {
    auto digest = record_digest(record);
    if (sequence <= written()) {
      if (digests_[sequence - 1] != digest) return other_events(sequence);
    } else {
      auto fits = options_.check ? options_.check(record) : core::Result<void>();
      if (!fits) return fits;
      digests_.push_back(digest);
      fresh.push_back(std::move(record));
    }
    ++sequence;
  }
  if (!fresh.empty()) is_read_again_ = false;
  verified_ = std::max(verified_, sequence - 1);
  if (group.is_packed && group.first_sequence <= packed_ + 1)
    packed_ = std::max(packed_, sequence - 1);
  local_.append(std::move(fresh),
                [progress = progress_,
                 had = FollowerPosition{last_term_, verified_}](const core::Result<void>& stored) {
                  {
                    std::lock_guard lock(progress->mutex);
                    if (stored) progress->had = had;
                    if (!stored && !progress->failure) progress->failure = stored.error();
                  }
                  if (stored) progress->say();
                });
  return {};
}

/// Repeats the acknowledgement every few seconds: if one is lost, the leader may be waiting for it.
void JournalFollower::say_now_and_then() {
  auto now = clock_.steady_now();
  if (now < said_at_ + kSayAgain) return;
  said_at_ = now;
  progress_->say();
}

core::Result<void> JournalFollower::read_to_end(core::Clock::Steady deadline) {
  auto state = look(deadline);
  if (!state) return state.error();
  if (state->messages == 0) {
    next_ = std::max(next_, state->last_sequence + 1);
    return {};
  }
  std::string why;
  while (stream_sequence() < state->last_sequence) {
    if (clock_.steady_now() >= deadline)
      return core::Error{core::ErrorCode::kConnectionError,
                         "the journal's stream was not read to its end in time" + why, ""};
    const auto before = next_;
    auto taken = take(200ms);
    if (!taken && taken.error().code != core::ErrorCode::kConnectionError) return taken;
    why = taken ? "" : ": " + taken.error().message;
    if (!taken || next_ != before) continue;
    // The last messages may have been removed; the stream's last sequence number stays.
    auto there = next_there();
    if (there && *there == 0) next_ = std::max(next_, state->last_sequence + 1);
  }
  return {};
}

core::Result<void> JournalFollower::settle() { return journal::append_and_wait(local_, {}); }

}  // namespace league::league_manager::standby
