#include "league_manager/rounds/broadcaster.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"

namespace league::league_manager::rounds {
namespace {

// A larger number is exact in no reader that keeps numbers as doubles.
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 53;

}  // namespace

std::optional<audit::record::LogHead> head_told_in(const nlohmann::json& acknowledgement) {
  const auto& head = schema::field_at(acknowledgement, "log_head");
  const auto& seq = schema::field_at(head, "seq");
  const auto& hash = schema::field_at(head, "hash");
  if (!seq.is_number_unsigned() || !hash.is_string()) return std::nullopt;
  const auto number = seq.get<std::uint64_t>();
  const auto& text = hash.get_ref<const std::string&>();
  const bool is_hash = text.size() == audit::record::kNoLine.size() &&
                       text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (number > kMostRecords || !is_hash) return std::nullopt;
  return audit::record::LogHead{.seq = number, .hash = text};
}

Broadcaster::Broadcaster(agent::peers::PeerClient& peers, const core::Clock& clock,
                         const agent::runtime::Settings& settings)
    : peers_(peers), settings_(settings), breaker_(clock, settings.breaker) {}

void Broadcaster::send(Notice notice) {
  std::function<void()> dropped;
  {
    std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    Outbox& outbox = outboxes_[notice.call.peer];
    if (notice.call.type == envelope::MessageType::kLeagueStandingsUpdate) {
      auto older = std::ranges::find(outbox.waiting, notice.call.type,
                                     [](const Notice& waits) { return waits.call.type; });
      if (older != outbox.waiting.end()) {
        dropped = std::move(older->done);
        outbox.waiting.erase(older);
      }
    }
    std::string peer = notice.call.peer;
    outbox.waiting.push_back(std::move(notice));
    if (!outbox.in_flight && !outbox.is_ready) {
      outbox.is_ready = true;
      ready_.push_back(std::move(peer));
    }
  }
  if (dropped) dropped();
  pump();
}

void Broadcaster::stop() {
  std::lock_guard lock(mutex_);
  is_stopped_ = true;
  ready_.clear();
  outboxes_.clear();
}

std::chrono::milliseconds Broadcaster::time_limit(envelope::MessageType type) const {
  // The protocol's table lists LEAGUE_ERROR as an answer, without a time limit.
  const auto limit = settings_.time_limit(type);
  return limit.count() > 0 ? limit : settings_.time_limit(envelope::MessageType::kRoundCompleted);
}

void Broadcaster::pump() {
  while (true) {
    std::optional<Notice> notice;
    {
      std::lock_guard lock(mutex_);
      if (ready_.empty() || in_flight_ >= settings_.calls.broadcast) return;
      Outbox& outbox = outboxes_[ready_.front()];
      ready_.pop_front();
      outbox.is_ready = false;
      outbox.in_flight = true;
      ++in_flight_;
      notice = std::move(outbox.waiting.front());
      outbox.waiting.pop_front();
    }
    auto [call, done, on_head] = std::move(*notice);
    const std::string peer = call.peer;
    // Notices of an agent's own state ignore the breaker: it can still be open when the agent
    // returns.
    const bool is_state = call.type == envelope::MessageType::kLeagueError;
    if (!is_state && !breaker_.allow(peer)) {
      if (done) done();
      on_sent(peer);
      continue;
    }
    call.time_limit = time_limit(call.type);
    call.budget = transport::link::Budget::kBroadcast;
    peers_.call(std::move(call), [this, peer, done = std::move(done), on_head = std::move(on_head)](
                                     const agent::peers::PeerReply& reply) {
      bool failed = reply.error && core::error_info(reply.error->code).retryable;
      failed ? breaker_.on_failure(peer) : breaker_.on_success(peer);
      if (on_head && !reply.error) {
        if (const auto head = head_told_in(reply.acknowledgement)) on_head(*head);
      }
      if (done) done();
      on_sent(peer);
      pump();
    });
  }
}

void Broadcaster::on_sent(const std::string& peer) {
  std::lock_guard lock(mutex_);
  --in_flight_;
  auto found = outboxes_.find(peer);
  if (found == outboxes_.end()) return;
  found->second.in_flight = false;
  if (!found->second.waiting.empty() && !found->second.is_ready) {
    found->second.is_ready = true;
    ready_.push_back(peer);
  }
}

}  // namespace league::league_manager::rounds
