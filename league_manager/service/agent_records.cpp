#include "league_manager/service/agent_records.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/error_code.h"
#include "common/core/percentile.h"
#include "common/core/text.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_type.h"
#include "common/schema/fields.h"
#include "league_manager/files/remedies.h"

namespace league::league_manager::service {
namespace {

using core::ErrorCode;
using envelope::MessageType;
using nlohmann::json;

constexpr std::size_t kMostFaults = 50;
constexpr std::size_t kMostElapsed = 1000;
constexpr std::size_t kLongestRecordText = 300;

std::optional<events::AgentRef> agent_of(std::string_view peer) {
  const auto colon = peer.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto agent = events::AgentRef::parse(peer.substr(colon + 1));
  return agent && agent_kind_name(agent->kind) == peer.substr(0, colon) ? agent : std::nullopt;
}

bool is_leniency(std::string_view name) {
  return std::ranges::any_of(envelope::all_leniencies(), [name](envelope::Leniency one) {
    return envelope::leniency_name(one) == name;
  });
}

double in_milliseconds(std::int64_t us) { return static_cast<double>(us) / 1000; }

}  // namespace

void AgentRecords::add(Figures& figures, Fault fault) {
  fault.text = core::shown(fault.text, kLongestRecordText);
  ++figures.total_faults;
  figures.faults.push_back(std::move(fault));
  if (figures.faults.size() > kMostFaults) figures.faults.pop_front();
}

void AgentRecords::add(Figures& figures, std::int64_t elapsed_us) {
  if (figures.elapsed_us.size() < kMostElapsed) {
    figures.elapsed_us.push_back(elapsed_us);
  } else {
    figures.elapsed_us[figures.answers % kMostElapsed] = elapsed_us;
  }
  ++figures.answers;
}

void AgentRecords::on_record(const audit::record::Record& record) {
  if (record.direction != audit::record::Direction::kIn) return;
  const auto& notes = record.notes;
  const bool is_request = record.kind == audit::record::Kind::kRequest;
  // The manager chose whom to call; who calls it has to prove who it is.
  const auto agent = agent_of(is_request ? notes.said_by : notes.peer);
  if (!agent) return;
  std::lock_guard lock(mutex_);
  Figures& figures = agents_[*agent];
  for (std::string_view name : notes.leniencies) ++figures.leniencies[std::string(name)];
  if (notes.verdict) {
    add(figures, {.at = record.time,
                  .match_id = notes.match_id,
                  .call = notes.message_type,
                  .code = std::string(core::wire_code(*notes.verdict)),
                  .text = notes.fault});
  } else if (record.kind == audit::record::Kind::kReply && record.elapsed) {
    add(figures, std::chrono::duration_cast<std::chrono::microseconds>(*record.elapsed).count());
  }
}

void AgentRecords::on_events(const events::Events& events) {
  std::lock_guard lock(mutex_);
  for (const auto& event : events) {
    const auto* failure = std::get_if<events::FailureCounted>(&event.body);
    if (failure == nullptr || failure->is_excused || !failure->match || !failure->cause) continue;
    add(agents_[failure->agent], {.at = event.at,
                                  .match_id = failure->match->id().str(),
                                  .call = failure->cause->call,
                                  .code = failure->cause->error_code,
                                  .text = failure->cause->text,
                                  .attempts = failure->cause->attempts,
                                  .lost_match = true});
  }
}

void AgentRecords::on_report(events::AgentRef referee, const MatchReport& report,
                             const Pairing& pairing, const events::Events& events,
                             core::UtcTimestamp now) {
  const auto player_of = [&pairing](const std::string& id) -> std::optional<events::AgentRef> {
    const auto agent = events::AgentRef::parse(id);
    const bool plays =
        agent && agent->kind == events::AgentKind::kPlayer && pairing.has(agent->index);
    return plays ? agent : std::nullopt;
  };
  std::lock_guard lock(mutex_);
  for (const auto& answers : report.answers) {
    const auto player = player_of(answers.player_id);
    if (!player) continue;
    for (int elapsed : answers.elapsed_us) add(agents_[*player], std::int64_t{elapsed});
    for (const auto& name : answers.leniencies)
      if (is_leniency(name)) ++agents_[*player].told_leniencies[referee.id()][name];
  }
  for (const auto& failure : report.failures) {
    const auto player = player_of(failure.player_id);
    // Failures that cost a match are counted from the events.
    if (!player || !failure.counts || counts_failure(events, *player)) continue;
    add(agents_[*player], {.at = now,
                           .match_id = report.match.id().str(),
                           .call = failure.call,
                           .code = failure.error_code,
                           .text = failure.text,
                           .according_to = referee.id()});
  }
}

json AgentRecords::shown(const Fault& fault) {
  const files::Remedy& remedy = files::remedy_of(fault.code);
  return schema::object_to_json([&](schema::Fields& a) {
    a.required("at", fault.at.to_log());
    a.required("error_code", fault.code);
    a.required("clause", remedy.clause_of(fault.call));
    a.required("text", fault.text);
    a.required("attempts", fault.attempts);
    a.required("lost_match", fault.lost_match);
    a.required("remedy", remedy.text);
    if (const auto code = core::parse_error_code(fault.code))
      a.required("error_name", core::error_info(*code).name);
    a.filled("call", fault.call);
    a.filled("match_id", fault.match_id);
    a.filled("according_to", fault.according_to);
  });
}

json AgentRecords::report_of(events::AgentRef agent) const {
  std::lock_guard lock(mutex_);
  static const Figures kNothing;
  const auto found = agents_.find(agent);
  const Figures& figures = found == agents_.end() ? kNothing : found->second;
  json latencies = {{"count", figures.answers}, {"median_ms", nullptr}, {"p99_ms", nullptr}};
  if (!figures.elapsed_us.empty()) {
    auto sorted = figures.elapsed_us;
    std::ranges::sort(sorted);
    latencies["median_ms"] = in_milliseconds(core::percentile(sorted, 0.5));
    latencies["p99_ms"] = in_milliseconds(core::percentile(sorted, 0.99));
  }
  json faults = json::array();
  for (const auto& fault : figures.faults) faults.push_back(shown(fault));
  return {
      {"measured_since", since_.to_log()}, {"total_faults", figures.total_faults},
      {"faults", std::move(faults)},       {"latencies", std::move(latencies)},
      {"leniencies", figures.leniencies},  {"leniencies_according_to", figures.told_leniencies}};
}

}  // namespace league::league_manager::service
