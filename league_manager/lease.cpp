#include "league_manager/lease.h"

#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/transport/bus/subject.h"
#include "league_manager/journal_stream.h"

namespace league::league_manager {
namespace {

using nlohmann::json;
using Steady = core::Clock::Steady;
using transport::PublishAck;

constexpr const char* kOperationHeader = "KV-Operation";

std::string holder_of(const transport::BusMessage& message) {
  json word = json::parse(message.payload, nullptr, false);
  bool is_said = word.is_object() && word.contains("holder") && word["holder"].is_string();
  return is_said ? word["holder"].get<std::string>() : std::string("somebody else");
}

}  // namespace

Lease::Lease(transport::JetStream& streams, const core::Clock& clock, core::Timer& timer,
             LeaseOptions options)
    : streams_(streams),
      clock_(clock),
      timer_(timer),
      options_(std::move(options)),
      gate_(std::make_shared<Gate>([](const std::function<void()>& task) { task(); })) {}

Lease::~Lease() { end(); }

void Lease::end() { gate_->close(); }

transport::BusMessage Lease::word() const {
  transport::BusMessage message;
  message.subject = transport::lease_subject(options_.league);
  message.payload = json{{"holder", options_.holder}, {"since", clock_.utc_now().to_wire()}}.dump();
  return message;
}

core::Result<Lease::Taken> Lease::try_take(std::chrono::milliseconds patience) {
  auto deadline = clock_.steady_now() + patience;
  auto message = word();
  std::promise<core::Result<std::optional<transport::StoredMessage>>> last;
  streams_.get_last(std::string(kLeaseStream), message.subject, deadline,
                    [&](auto answer) { last.set_value(std::move(answer)); });
  auto said = last.get_future().get();
  if (!said) return said.error();
  std::uint64_t before = 0;
  if (*said) {
    bool is_free = !transport::bus_header((*said)->message, kOperationHeader).empty();
    if (!is_free) return Taken{false, holder_of((*said)->message), 0};
    before = (*said)->sequence;
  }
  auto sent = clock_.steady_now();
  std::promise<PublishAck> published;
  transport::PublishCondition condition;
  condition.last_subject_sequence = before;
  streams_.publish(std::move(message), condition, deadline,
                   [&](const PublishAck& ack) { published.set_value(ack); });
  auto ack = published.get_future().get();
  if (ack.status == PublishAck::Status::kFailed) return ack.why;
  if (ack.status == PublishAck::Status::kConflict) return Taken{false, "somebody else", 0};
  {
    std::lock_guard lock(mutex_);
    revision_ = ack.sequence;
  }
  hold_until(sent + options_.length);
  return Taken{true, "", ack.sequence};
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
  transport::PublishCondition condition;
  {
    std::lock_guard lock(mutex_);
    if (!is_kept_) return;
    is_renewing_ = true;
    condition.last_subject_sequence = revision_;
  }
  auto sent = clock_.steady_now();
  // Repeated until the lease is over, with one id: the broker takes it once.
  Steady until{Steady::duration(held_until_.load())};
  streams_.publish(word(), condition, until,
                   [this, sent](const PublishAck& ack) { on_renewed(sent, ack); });
}

void Lease::on_renewed(Steady sent, const PublishAck& ack) {
  bool is_kept = false;
  {
    std::lock_guard lock(mutex_);
    is_renewing_ = false;
    is_kept = is_kept_;
    if (ack.status == PublishAck::Status::kStored) revision_ = ack.sequence;
    renewed_.notify_all();
  }
  if (!is_kept) return;  // given back meanwhile, or lost
  if (ack.status == PublishAck::Status::kConflict)
    return lose("another manager has taken the lead");
  if (ack.status == PublishAck::Status::kFailed) {
    if (ack.why.code == core::ErrorCode::kShuttingDown) return;
    return lose("the broker has not confirmed the lead in time: " + ack.why.message);
  }
  hold_until(sent + options_.length);
  renew_at(sent + options_.length / 3);
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
  transport::PublishCondition condition;
  {
    std::unique_lock lock(mutex_);
    if (!std::exchange(is_kept_, false)) return;
    if (due_ != 0) timer_.cancel(due_);
    hold_until({});
    // What is given back is the last word: one that is under way would stand for its whole length.
    renewed_.wait_for(lock, patience, [this] { return !is_renewing_; });
    condition.last_subject_sequence = revision_;
  }
  auto message = word();
  message.headers.emplace_back(kOperationHeader, "DEL");
  message.payload.clear();
  std::promise<void> done;
  streams_.publish(std::move(message), condition, clock_.steady_now() + patience,
                   [&](const PublishAck&) { done.set_value(); });
  done.get_future().wait();
}

}  // namespace league::league_manager
