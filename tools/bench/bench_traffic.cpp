#include "tools/bench/bench_traffic.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>

#include "common/core/percentile.h"

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

bool is_callers_log(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  return name.starts_with("league.log") || name.starts_with("REF");
}

/// The size of a log; of a compressed one, that of its content, which is in its last four bytes.
std::uint64_t content_bytes(const std::filesystem::path& log) {
  std::error_code gone;
  const auto size = std::filesystem::file_size(log, gone);
  if (gone) return 0;
  if (log.extension() != ".gz") return size;
  std::ifstream file(log, std::ios::binary);
  std::array<unsigned char, 4> tail{};
  file.seekg(-static_cast<std::streamoff>(tail.size()), std::ios::end);
  file.read(reinterpret_cast<char*>(tail.data()), tail.size());
  std::uint64_t bytes = 0;
  for (std::size_t i = tail.size(); i > 0; --i) bytes = bytes << 8U | tail[i - 1];
  return bytes;
}

/// Registrations, pings and the end of a referee are not counted.
bool is_counted(const audit::log::LogEntry& entry) {
  return entry.message_type != "ping" && entry.message_type != "drain_referee" &&
         entry.message_type.find("REGISTER") == std::string::npos;
}

}  // namespace

/// What is known of a league while its logs are read.
struct TrafficReader::League {
  Span whole;
  std::set<std::string> reported;
  std::unordered_map<std::string, Span> matches;
};

std::int64_t percentile(std::vector<std::int64_t> values, double share) {
  std::ranges::sort(values);
  return values.empty() ? 0 : core::percentile(values, share);
}

core::Result<void> TrafficReader::add_league(const std::filesystem::path& logs) {
  League league;
  for (const auto& path : audit::log::find_logs(logs)) {
    sum_.log_bytes += content_bytes(path);
    if (!is_callers_log(path)) continue;
    auto read = audit::log::read_log(
        path, [&](const audit::log::LogEntry& entry) { add_entry(league, entry); });
    if (!read) return read.error();
  }
  sum_.matches += league.reported.size();
  if (league.whole.last > league.whole.first)
    sum_.seconds += static_cast<double>(league.whole.last - league.whole.first) * 1e-9;
  for (const auto& [id, span] : league.matches) matches_.push_back((span.last - span.first) / 1000);
  return {};
}

void TrafficReader::add_entry(League& league, const audit::log::LogEntry& entry) {
  if (entry.message_type == "MATCH_RESULT_REPORT" && entry.outbound)
    league.reported.insert(entry.match_id);
  const bool is_request = entry.outbound && entry.kind == "request";
  const bool is_answer = !entry.outbound && entry.kind != "request";
  if (!(is_request || is_answer) || !is_counted(entry)) return;
  const bool is_manager = entry.agent == "league_manager";
  CallerTraffic& caller = is_manager ? sum_.manager : sum_.referee;
  if (!is_manager && !entry.match_id.empty()) league.matches[entry.match_id].add(entry.mono_ns);
  league.whole.add(entry.mono_ns);
  if (entry.kind == "failure") {
    ++caller.failures;
    return;
  }
  (is_answer ? caller.reply_bytes : caller.request_bytes) += entry.raw.size();
  if (!is_answer) return;
  ++caller.calls;
  if (!entry.elapsed_us) return;
  caller.busy_seconds += static_cast<double>(*entry.elapsed_us) * 1e-6;
  (is_manager ? manager_calls_ : referee_calls_).push_back(*entry.elapsed_us);
}

LeagueTraffic TrafficReader::traffic() const {
  LeagueTraffic traffic = sum_;
  auto calls = referee_calls_;
  traffic.referee.p50_us = percentile(calls, 0.5);
  traffic.referee.p99_us = percentile(calls, 0.99);
  traffic.manager.p50_us = percentile(manager_calls_, 0.5);
  traffic.manager.p99_us = percentile(manager_calls_, 0.99);
  calls.insert(calls.end(), manager_calls_.begin(), manager_calls_.end());
  traffic.call_p50_us = percentile(calls, 0.5);
  traffic.call_p99_us = percentile(std::move(calls), 0.99);
  traffic.match_p50_us = percentile(matches_, 0.5);
  traffic.match_p99_us = percentile(matches_, 0.99);
  return traffic;
}

}  // namespace league::tools::bench
