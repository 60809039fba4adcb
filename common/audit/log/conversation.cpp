#include "common/audit/log/conversation.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace league::audit::log {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Merges the logs of a few agents like sorted lists, holding back what was received before it was
/// sent.
class Merge {
 public:
  explicit Merge(std::vector<LogEntry> entries)
      : entries_(std::move(entries)), partner_(entries_.size(), kNone) {
    for (std::size_t i = 0; i < entries_.size(); ++i) logs_[entries_[i].agent].push_back(i);
    for (auto& [agent, indices] : logs_) {
      std::sort(indices.begin(), indices.end(),
                [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
    }
    pair_up();
  }

  std::vector<LoggedMessage> run() {
    std::vector<LoggedMessage> merged;
    std::map<std::size_t, std::size_t> place;  // of a sent record: its exchange
    for (std::size_t left = entries_.size(); left > 0; --left) {
      std::size_t i = take_next();
      LogEntry& entry = entries_[i];
      auto sent = entry.outbound ? place.end() : place.find(partner_[i]);
      if (sent != place.end()) {
        merged[sent->second].received = std::move(entry);
        continue;
      }
      if (entry.outbound) place[i] = merged.size();
      LoggedMessage exchange;
      (entry.outbound ? exchange.sent : exchange.received) = std::move(entry);
      merged.push_back(std::move(exchange));
    }
    return merged;
  }

 private:
  using Key = std::tuple<int, std::int64_t, int, std::uint64_t>;

  /// A new segment may come from a new process, whose monotonic clock may have begun anew.
  [[nodiscard]] Key order(std::size_t i) const {
    const LogEntry& entry = entries_[i];
    return {entry.segment, entry.mono_ns, entry.kind == "request" ? 0 : 1, entry.seq};
  }

  /// Each received message with the sent one of the same bytes, the first with the first.
  void pair_up() {
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> sent;
    for (const auto& [agent, indices] : logs_) {
      for (std::size_t i : indices) {
        if (entries_[i].outbound && !entries_[i].raw.empty()) sent[key_of(i)].push_back(i);
      }
    }
    for (const auto& [agent, indices] : logs_) {
      for (std::size_t i : indices) {
        if (entries_[i].outbound || entries_[i].raw.empty()) continue;
        auto found = sent.find(key_of(i));
        if (found != sent.end()) match(i, found->second);
      }
    }
  }

  [[nodiscard]] std::pair<std::string, std::string> key_of(std::size_t i) const {
    return {entries_[i].kind, entries_[i].raw};
  }

  /// Equal bytes may have gone to several agents; a temporary name or an address as the peer is no
  /// contradiction.
  void match(std::size_t received, std::vector<std::size_t>& candidates) {
    auto fits = [&](std::size_t sent) {
      return entries_[sent].agent != entries_[received].agent &&
             entries_[sent].peer == entries_[received].agent;
    };
    auto may_fit = [&](std::size_t sent) {
      return entries_[sent].agent != entries_[received].agent;
    };
    auto found = std::find_if(candidates.begin(), candidates.end(), fits);
    if (found == candidates.end())
      found = std::find_if(candidates.begin(), candidates.end(), may_fit);
    if (found == candidates.end()) return;
    partner_[received] = *found;
    partner_[*found] = received;
    candidates.erase(found);
  }

  [[nodiscard]] bool ready(std::size_t i) const {
    return entries_[i].outbound || partner_[i] == kNone || taken_.contains(partner_[i]);
  }

  std::size_t take_next() {
    auto best = logs_.end();
    bool best_ready = false;
    for (auto log = logs_.begin(); log != logs_.end(); ++log) {
      if (log->second.size() == heads_[log->first]) continue;
      std::size_t i = head(log);
      bool is_ready = ready(i);
      if (best != logs_.end() && best_ready && !is_ready) continue;
      bool earlier = best == logs_.end() || (is_ready && !best_ready) ||
                     entries_[i].time < entries_[head(best)].time;
      if (!earlier) continue;
      best = log;
      best_ready = is_ready;
    }
    std::size_t i = head(best);
    ++heads_[best->first];
    taken_[i] = true;
    return i;
  }

  using Logs = std::map<std::string, std::vector<std::size_t>>;
  std::size_t head(Logs::iterator log) { return log->second[heads_[log->first]]; }

  std::vector<LogEntry> entries_;
  std::vector<std::size_t> partner_;
  Logs logs_;
  std::map<std::string, std::size_t> heads_;
  std::map<std::size_t, bool> taken_;
};

}  // namespace

std::vector<LoggedMessage> merge_records(std::vector<LogEntry> entries) {
  return Merge(std::move(entries)).run();
}

LogSearch search_logs(const std::filesystem::path& directory,
                      const std::function<bool(const LogEntry&)>& wanted) {
  LogSearch search;
  for (const auto& path : find_logs(directory)) {
    auto summary = read_log(path, [&](LogEntry entry) {
      if (wanted(entry)) search.entries.push_back(std::move(entry));
    });
    if (!summary) {
      search.problems.push_back(summary.error().message);
      continue;
    }
    ++search.files;
    search.records += summary->records;
    search.problems.insert(search.problems.end(), summary->problems.begin(),
                           summary->problems.end());
  }
  return search;
}

}  // namespace league::audit::log
