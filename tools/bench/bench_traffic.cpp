#include "tools/bench/bench_traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "common/audit/log/log_reader.h"

namespace league::tools::bench {
namespace {

struct Span {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;

  void add(std::int64_t moment) {
    first = std::min(first, moment);
    last = std::max(last, moment);
  }
};

/// Collects the calls in the callers' logs, without registrations and pings.
class Collector {
 public:
  explicit Collector(LeagueTraffic& out) : out_(out) {}

  void add(const audit::log::LogEntry& entry) {
    if (entry.message_type == "MATCH_RESULT_REPORT" && entry.outbound)
      reported_.insert(entry.match_id);
    bool is_request = entry.outbound && entry.kind == "request";
    bool is_answer = !entry.outbound && entry.kind != "request";
    if (!(is_request || is_answer) || !is_counted(entry)) return;
    bool is_manager = entry.agent == "league_manager";
    CallerTraffic& caller = is_manager ? out_.manager : out_.referee;
    if (!is_manager && !entry.match_id.empty()) matches_[entry.match_id].add(entry.mono_ns);
    whole_.add(entry.mono_ns);
    if (entry.kind == "failure") {
      ++caller.failures;
      return;
    }
    count(entry, is_answer);
    (is_answer ? caller.reply_bytes : caller.request_bytes) += entry.raw.size();
    if (!is_answer) return;
    ++caller.calls;
    if (entry.elapsed_us) {
      caller.busy_seconds += static_cast<double>(*entry.elapsed_us) * 1e-6;
      calls_.push_back(*entry.elapsed_us);
    }
  }

  void finish() {
    out_.matches = reported_.size();
    if (whole_.last > whole_.first)
      out_.seconds = static_cast<double>(whole_.last - whole_.first) * 1e-9;
    out_.call_p50_us = percentile(calls_, 0.5);
    out_.call_p99_us = percentile(calls_, 0.99);
    std::vector<std::int64_t> lengths;
    for (const auto& [id, span] : matches_) lengths.push_back((span.last - span.first) / 1000);
    out_.match_p50_us = percentile(lengths, 0.5);
    out_.match_p99_us = percentile(lengths, 0.99);
    for (auto& [key, group] : groups_) out_.groups.push_back(std::move(group));
  }

 private:
  static bool is_counted(const audit::log::LogEntry& entry) {
    return entry.message_type != "ping" && entry.message_type.find("REGISTER") == std::string::npos;
  }

  void count(const audit::log::LogEntry& entry, bool is_reply) {
    MessageGroup& group = groups_[{entry.message_type, is_reply}];
    if (group.count == 0) {
      group.message_type = entry.message_type;
      group.is_reply = is_reply;
    }
    ++group.count;
    group.bytes += entry.raw.size();
    if (group.sample.size() < entry.raw.size()) group.sample = entry.raw;
  }

  LeagueTraffic& out_;
  Span whole_;
  std::set<std::string> reported_;
  std::unordered_map<std::string, Span> matches_;
  std::vector<std::int64_t> calls_;
  std::map<std::pair<std::string, bool>, MessageGroup> groups_;
};

bool is_callers_log(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  return name.starts_with("league.log") || name.starts_with("REF");
}

}  // namespace

std::int64_t percentile(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  auto place = values.begin() +
               static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

core::Result<LeagueTraffic> measure_traffic(const std::filesystem::path& logs) {
  LeagueTraffic traffic;
  Collector collector(traffic);
  for (const auto& path : audit::log::find_logs(logs)) {
    if (!is_callers_log(path)) continue;
    auto read =
        audit::log::read_log(path, [&](audit::log::LogEntry entry) { collector.add(entry); });
    if (!read) return read.error();
  }
  collector.finish();
  return traffic;
}

}  // namespace league::tools::bench
