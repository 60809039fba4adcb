#include "league_manager/standby/lease.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/core/await.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::standby {
namespace {

using nlohmann::json;
using Steady = core::Clock::Steady;
using transport::bus::PublishAck;

constexpr std::chrono::milliseconds kAgain{100};
constexpr const char* kOperationHeader = "KV-Operation";

std::string holder_of(const transport::bus::BusMessage& message) {
  json entry = json::parse(message.payload, nullptr, false);
  bool has_holder = entry.is_object() && entry.contains("holder") && entry["holder"].is_string();
  return has_holder ? entry["holder"].get<std::string>() : std::string("somebody else");
}

}  // namespace

Lease::Lease(transport::bus::JetStream& streams, const core::Clock& clock, core::Timer& timer,
             LeaseOptions options)
    : streams_(streams),
      clock_(clock),
      timer_(timer),
      options_(std::move(options)),
      gate_(std::make_shared<Gate>([](const std::function<void()>& task) { task(); })) {}

Lease::~Lease() { end(); }

void Lease::end() { gate_->close(); }

transport::bus::BusMessage Lease::entry_message() const {
  transport::bus::BusMessage message;
  message.subject = transport::link::lease_subject(options_.league);
  message.payload = json{{"holder", options_.holder}, {"since", clock_.utc_now().to_wire()}}.dump();
  return message;
}

core::Result<Lease::TakeResult> Lease::try_take(std::chrono::milliseconds patience) {
  auto deadline = clock_.steady_now() + patience;
  auto message = entry_message();
  auto current = read_entry(deadline);
  if (!current) return current.error();
  // An entry of our own is from an attempt whose confirmation was lost.
  bool is_free = current->holder.empty() || current->holder == options_.holder ||
                 std::ranges::count(options_.gone, current->holder) > 0;
  if (!is_free) return TakeResult{false, current->holder, 0};
  auto sent = clock_.steady_now();
  transport::bus::PublishCondition condition;
  condition.last_subject_sequence = current->revision;
  const auto ack = core::await<PublishAck>(
      [&](auto done) { streams_.publish(std::move(message), condition, deadline, done); });
  if (ack.status == PublishAck::Status::kConflict) return TakeResult{false, "somebody else", 0};
  if (ack.status != PublishAck::Status::kStored) return ack.why;
  // Some brokers in a cluster (nats-server before 2.9.21) confirm two writes that both follow the
  // same entry; the last one in the stream counts.
  auto last_entry = read_entry(deadline);
  if (!last_entry) return last_entry.error();
  if (last_entry->revision != ack.sequence) return TakeResult{false, last_entry->holder, 0};
  {
    std::lock_guard lock(mutex_);
    revision_ = ack.sequence;
  }
  hold_until(sent + options_.length);
  return TakeResult{true, "", ack.sequence};
}

core::Result<Lease::Entry> Lease::read_entry(Steady deadline) {
  return core::await<core::Result<Entry>>([&](auto seen) { read_entry(deadline, seen); });
}

void Lease::read_entry(Steady deadline, std::function<void(core::Result<Entry>)> seen) {
  streams_.get_last(
      transport::link::lease_stream(options_.league),
      transport::link::lease_subject(options_.league), deadline,
      [seen = std::move(seen)](core::Result<std::optional<transport::bus::StoredMessage>> answer) {
        if (!answer) return seen(answer.error());
        if (!*answer) return seen(Entry{});
        const auto& message = (*answer)->message;
        bool is_free = !transport::bus::bus_header(message, kOperationHeader).empty();
        seen(Entry{(*answer)->sequence, is_free ? "" : holder_of(message)});
      });
}

void Lease::hold_until(Steady until) { held_until_ = until.time_since_epoch().count(); }

bool Lease::is_held() const { return clock_.steady_now().time_since_epoch().count() < held_until_; }

void Lease::keep() {
  {
    std::lock_guard lock(mutex_);
    is_kept_ = true;
  }
  renew_at(clock_.steady_now());
}

void Lease::renew_at(Steady when) {
  std::lock_guard lock(mutex_);
  if (!is_kept_) return;
  auto delay = std::max(when - clock_.steady_now(), Steady::duration::zero());
  due_ = timer_.schedule(delay, [this, gate = gate_] { gate->run([this] { renew(); }); });
}

void Lease::renew() {
  {
    std::lock_guard lock(mutex_);
    if (!is_kept_) return;
    is_renewing_ = true;
  }
  // A broker that has lost its streams starts numbering again, so the entry with our number may be
  // another manager's.
  read_entry(Steady{Steady::duration(held_until_.load())}, [this](const core::Result<Entry>& last) {
    if (last && last->holder == options_.holder) return publish_renewal(last->revision);
    on_refused(clock_.steady_now(), last);
  });
}

void Lease::publish_renewal(std::uint64_t revision) {
  {
    std::lock_guard lock(mutex_);
    if (!is_kept_) {
      is_renewing_ = false;
      renewed_.notify_all();
      return;
    }
  }
  transport::bus::PublishCondition condition;
  condition.last_subject_sequence = revision;
  auto sent = clock_.steady_now();
  // Repeated until the lease expires, with the same id, so that the broker stores it only once.
  Steady until{Steady::duration(held_until_.load())};
  streams_.publish(entry_message(), condition, until,
                   [this, sent](const PublishAck& ack) { on_renewed(sent, ack); });
}

void Lease::on_renewed(Steady sent, const PublishAck& ack) {
  // Brokers of a cluster check the revision before the message's id, so they refuse a repetition of
  // an entry that is already stored.
  if (ack.status == PublishAck::Status::kConflict)
    return read_entry(Steady{Steady::duration(held_until_.load())},
                      [this, sent](const core::Result<Entry>& last) { on_refused(sent, last); });
  if (ack.status == PublishAck::Status::kStored) return go_on(sent, ack.sequence);
  if (!end_renewal() || ack.why.code == core::ErrorCode::kShuttingDown) return;
  lose("the broker has not confirmed the lead in time: " + ack.why.message);
}

void Lease::on_refused(Steady sent, const core::Result<Entry>& last) {
  if (last && last->holder == options_.holder) return go_on(sent, last->revision);
  if (!end_renewal() || (!last && last.error().code == core::ErrorCode::kShuttingDown)) return;
  if (!last) return lose("the broker has not confirmed the lead in time: " + last.error().message);
  lose("another manager has taken the lead");
}

/// Ends a renewal; false if the lease was given back meanwhile, or is lost.
bool Lease::end_renewal(std::optional<std::uint64_t> revision) {
  std::lock_guard lock(mutex_);
  is_renewing_ = false;
  if (revision) revision_ = *revision;
  renewed_.notify_all();
  return is_kept_;
}

void Lease::go_on(Steady sent, std::uint64_t revision) {
  bool is_renewed = false;
  {
    std::lock_guard lock(mutex_);
    is_renewed = revision > revision_;
  }
  if (!end_renewal(revision)) return;
  // Without a newer entry the renewal was not stored, so the lease is not extended.
  if (is_renewed) hold_until(sent + options_.length);
  renew_at(is_renewed ? sent + options_.length / 3 : clock_.steady_now() + kAgain);
}

void Lease::lose(const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (!std::exchange(is_kept_, false)) return;
  }
  hold_until({});
  if (options_.on_lost) options_.on_lost(why);
}

void Lease::give_back(std::chrono::milliseconds patience) {
  transport::bus::PublishCondition condition;
  {
    std::unique_lock lock(mutex_);
    if (!std::exchange(is_kept_, false)) return;
    if (due_ != 0) timer_.cancel(due_);
    hold_until({});
    // Wait for a running renewal: if it arrived after the release, the lease would be taken for its
    // whole length.
    renewed_.wait_for(lock, patience, [this] { return !is_renewing_; });
    condition.last_subject_sequence = revision_;
  }
  auto message = entry_message();
  message.headers.emplace_back(kOperationHeader, "DEL");
  message.payload.clear();
  (void)core::await<PublishAck>([&](auto done) {
    streams_.publish(std::move(message), condition, clock_.steady_now() + patience, done);
  });
}

}  // namespace league::league_manager::standby
