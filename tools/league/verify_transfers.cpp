#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tools/league/verify_league.h"

namespace league::tools {
namespace {

/// What a program that is killed cannot write any more: its log is sealed as often.
constexpr std::int64_t kMostLostUs = 5'000'000;
constexpr std::int64_t kLastSecondUs = 1'000'000;

using LogsByName = std::multimap<std::string, const LeagueLog*>;

/// Messages that others hold of a run of a peer's log, sent after its end.
struct LostTail {
  const LogRun* run = nullptr;
  std::int64_t first_us = 0;  ///< by the peer's clock
  std::int64_t last_us = 0;
  std::size_t messages = 0;
  std::string example;  ///< where the last of them stands
};

/// The process whose records end before `time_us`, with no other that had begun by then, and that
/// did not end in order.
std::optional<std::size_t> open_run_before(const CheckedLog& log, std::int64_t time_us) {
  const auto& runs = log.contents.runs;
  auto found = std::find_if(runs.rbegin(), runs.rend(),
                            [&](const auto& one) { return one.second.begins_us <= time_us; });
  if (found == runs.rend() || time_us <= found->second.ends_us) return std::nullopt;
  const auto& closed = log.chain.closed_runs;
  if (found->first < closed.size() && closed[found->first]) return std::nullopt;
  return found->first;
}

class TransferCheck {
 public:
  TransferCheck(const std::vector<LeagueLog>& logs, Findings& findings)
      : logs_(logs), findings_(findings) {
    for (const LeagueLog& log : logs_) {
      for (const std::string& name : log.names) named_.emplace(name, &log);
    }
  }

  void run() {
    for (const LeagueLog& log : logs_) check_log(log);
    for (const auto& [key, one] : tails_) report(*key.first, one);
  }

 private:
  void check_log(const LeagueLog& log) {
    offsets_.clear();
    std::vector<const LogFacts::Received*> unknown;
    for (const auto& received : log.facts.received) {
      if (named_.contains(received.peer) && !is_sent(received)) unknown.push_back(&received);
    }
    for (const auto* received : unknown) {
      if (!note_lost(*received))
        findings_.fault(received->place, "transfer.one_sided",
                        received->peer + " has no record of having sent this");
    }
  }

  /// Also learns how far the two clocks are apart: the quickest message tells it best.
  bool is_sent(const LogFacts::Received& received) {
    auto [begin, end] = named_.equal_range(received.peer);
    for (auto peer = begin; peer != end; ++peer) {
      const CheckedLog* log = peer->second->log;
      auto sent = log->contents.sent.find(received.body);
      if (sent == log->contents.sent.end()) continue;
      std::int64_t way = received.time_us - sent->second;
      auto [known, is_new] = offsets_.try_emplace(log, way);
      if (!is_new) known->second = std::min(known->second, way);
      return true;
    }
    return false;
  }

  /// Whether the message may have stood behind the end of a process that did not end in order.
  bool note_lost(const LogFacts::Received& received) {
    auto [begin, end] = named_.equal_range(received.peer);
    for (auto peer = begin; peer != end; ++peer) {
      const CheckedLog* log = peer->second->log;
      auto offset = offsets_.find(log);
      std::int64_t sent_us = received.time_us - (offset == offsets_.end() ? 0 : offset->second);
      auto number = open_run_before(*log, sent_us);
      if (!number) continue;
      LostTail& tail = tails_[{log, *number}];
      tail.run = &log->contents.runs.at(*number);
      if (tail.messages++ == 0) tail.first_us = tail.last_us = sent_us;
      tail.first_us = std::min(tail.first_us, sent_us);
      if (sent_us < tail.last_us) return true;
      tail.last_us = sent_us;
      tail.example = *received.place.file + ":" + std::to_string(received.place.line);
      return true;
    }
    return false;
  }

  void report(const CheckedLog& peer, const LostTail& tail) {
    std::int64_t span = tail.last_us - tail.first_us;
    std::string text = "the log of " + peer.chain.agent + " ends here, but others hold " +
                       std::to_string(tail.messages) + " later messages of it, of " +
                       std::to_string(span / 1000) + " ms (" + tail.example + ")";
    if (span > kMostLostUs) {
      findings_.fault(tail.run->end, "log.short",
                      text + ": more than a program that is killed can lose");
    } else {
      findings_.incident(tail.run->end, "log.tail_lost", text + ", as after a kill");
    }
  }

  const std::vector<LeagueLog>& logs_;
  Findings& findings_;
  LogsByName named_;
  std::map<const CheckedLog*, std::int64_t> offsets_;  ///< of the log that is checked
  std::map<std::pair<const CheckedLog*, std::size_t>, LostTail> tails_;
};

}  // namespace

bool may_be_lost(const CheckedLog& log, std::int64_t time_us) {
  return open_run_before(log, time_us).has_value();
}

bool is_end_of_killed_run(const CheckedLog& log, std::int64_t time_us) {
  const auto& closed = log.chain.closed_runs;
  return std::ranges::any_of(log.contents.runs, [&](const auto& one) {
    const auto& [number, run] = one;
    bool is_in_order = number < closed.size() && closed[number];
    return !is_in_order && run.begins_us <= time_us && time_us <= run.ends_us &&
           run.ends_us - time_us <= kLastSecondUs;
  });
}

void check_transfers(const std::vector<LeagueLog>& logs, Findings& findings) {
  TransferCheck(logs, findings).run();
}

}  // namespace league::tools
