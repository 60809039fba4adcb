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
    co_await deliver(take(outbox));
    outbox.is_served = !outbox.waiting.empty();
    if (outbox.is_served) ready_.push_back(&outbox);
  }
  --workers_;
}

std::vector<Notice> Broadcaster::take(Outbox& outbox) {
  constexpr std::size_t kMost = 16;
  std::vector<Notice> taken;
  do {
    taken.push_back(std::move(outbox.waiting.front()));
    outbox.waiting.pop_front();
  } while (taken.back().takes_batches && !outbox.waiting.empty() && taken.size() < kMost);
  return taken;
}

task::Task<void> Broadcaster::deliver(std::vector<Notice> notices) {
  const std::string peer = notices.front().call.peer;
  // Notices of an agent's own state ignore the breaker: it can still be open when the agent
  // returns.
  const auto passes = [is_open = !breaker_.allow(peer)](const Notice& notice) {
    return !is_open || notice.call.type == envelope::MessageType::kLeagueError;
  };
  const auto skipped = std::stable_partition(notices.begin(), notices.end(), passes);
  std::vector<agent::peers::PeerCall> calls;
  std::for_each(notices.begin(), skipped, [&](Notice& notice) {
    notice.call.time_limit = time_limit(notice.call.type);
    notice.call.budget = transport::link::Budget::kBroadcast;
    calls.push_back(std::move(notice.call));
  });
  std::vector<agent::peers::PeerReply> replies;
  if (!calls.empty()) replies = co_await peers_.call_together(std::move(calls));
  const bool is_unreachable = std::ranges::all_of(replies, [](const auto& reply) {
    return reply.error && core::error_info(reply.error->code).retryable;
  });
  if (!replies.empty()) is_unreachable ? breaker_.on_failure(peer) : breaker_.on_success(peer);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!notices[i].collects_heads || replies[i].error) continue;
    if (const auto head = head_told_in(replies[i].acknowledgement))
      notices[i].delivery->heads[notices[i].agent] = {notices[i].agent, head->seq, head->hash};
  }
  for (const auto& notice : notices) {
    if (notice.delivery) notice.delivery->open.count_down();
  }
}

std::chrono::milliseconds Broadcaster::time_limit(envelope::MessageType type) const {
  // The protocol's table lists LEAGUE_ERROR as an answer, without a time limit.
  const auto limit = settings_.time_limit(type);
  return limit.count() > 0 ? limit : settings_.time_limit(envelope::MessageType::kRoundCompleted);
}

}  // namespace league::league_manager::rounds
