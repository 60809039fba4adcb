#include "league_manager/rounds/broadcaster.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/exception_guard.h"
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
                         const agent::runtime::Settings& settings, task::Executor executor)
    : peers_(peers),
      settings_(settings),
      breaker_(clock, settings.breaker),
      tasks_(std::move(executor), agent::runtime::failures_logged("a broadcast")) {}

void Broadcaster::send(Notice notice) {
  Outbox& outbox = outboxes_[notice.call.peer];
  if (notice.call.type == envelope::MessageType::kLeagueStandingsUpdate) {
    auto older = std::ranges::find(outbox.waiting, notice.call.type,
                                   [](const Notice& waits) { return waits.call.type; });
    if (older != outbox.waiting.end()) {
      if (older->delivery) older->delivery->open.count_down();
      outbox.waiting.erase(older);
    }
  }
  outbox.waiting.push_back(std::move(notice));
  if (std::exchange(outbox.is_served, true)) return;
  ready_.push_back(&outbox);
  if (workers_ == settings_.calls.broadcast) return;
  ++workers_;
  tasks_.spawn(work());
}

task::Task<void> Broadcaster::work() {
  while (!ready_.empty()) {
    Outbox& outbox = *ready_.front();
    ready_.pop_front();
    Notice notice = std::move(outbox.waiting.front());
    outbox.waiting.pop_front();
    co_await deliver(std::move(notice));
    outbox.is_served = !outbox.waiting.empty();
    if (outbox.is_served) ready_.push_back(&outbox);
  }
  --workers_;
}

task::Task<void> Broadcaster::deliver(Notice notice) {
  const std::string peer = notice.call.peer;
  // Notices of an agent's own state ignore the breaker: it can still be open when the agent
  // returns.
  const bool is_state = notice.call.type == envelope::MessageType::kLeagueError;
  if (is_state || breaker_.allow(peer)) {
    notice.call.time_limit = time_limit(notice.call.type);
    notice.call.budget = transport::link::Budget::kBroadcast;
    const auto reply = co_await peers_.call(std::move(notice.call));
    const bool failed = reply.error && core::error_info(reply.error->code).retryable;
    failed ? breaker_.on_failure(peer) : breaker_.on_success(peer);
    if (notice.collects_heads && !reply.error) {
      if (const auto head = head_told_in(reply.acknowledgement))
        notice.delivery->heads[notice.agent] = {notice.agent, head->seq, head->hash};
    }
  }
  if (notice.delivery) notice.delivery->open.count_down();
}

std::chrono::milliseconds Broadcaster::time_limit(envelope::MessageType type) const {
  // The protocol's table lists LEAGUE_ERROR as an answer, without a time limit.
  const auto limit = settings_.time_limit(type);
  return limit.count() > 0 ? limit : settings_.time_limit(envelope::MessageType::kRoundCompleted);
}

}  // namespace league::league_manager::rounds
