#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

/// How much a killed program can lose: its log is sealed at this interval.
constexpr std::int64_t kMostLostUs = 5'000'000;

using LogsByName = std::multimap<std::string, const LeagueLog*>;

/// Messages in other logs that a process sent after the end of its own log.
struct LostTail {
  const LogRun* run = nullptr;
  std::int64_t first_us = 0;  ///< by the peer's clock
  std::int64_t last_us = 0;
  std::size_t messages = 0;
  std::string example;  ///< the place of the last of them
};

/// The last process that began by `time_us`, if it was not closed properly.
std::optional<std::size_t> open_run_at(const CheckedLog& log, std::int64_t time_us) {
  const auto& runs = log.contents.runs;
  auto found = std::find_if(runs.rbegin(), runs.rend(),
                            [&](const auto& one) { return one.second.begins_us <= time_us; });
  if (found == runs.rend()) return std::nullopt;
  const auto& processes = log.chain.processes;
  if (found->first < processes.size() && processes[found->first].closed) return std::nullopt;
  return found->first;
}

/// The process from open_run_at, if its records end before `time_us`.
std::optional<std::size_t> open_run_before(const CheckedLog& log, std::int64_t time_us) {
  auto run = open_run_at(log, time_us);
  // Tolerance, since some messages are faster than the median by which the clocks are compared.
  constexpr std::int64_t kQuickerUs = 1'000'000;
  if (run && time_us <= log.contents.runs.at(*run).ends_us - kQuickerUs) return std::nullopt;
  return run;
}

/// The delay of a message from sending to receipt, on two clocks. The median, since some values are
/// wrong: if one of two identical messages was lost, the wrong pair is compared.
std::int64_t usual_way(std::vector<std::int64_t>& ways) {
  std::ranges::sort(ways);
  return ways[ways.size() / 2];
}

class TransferCheck {
 public:
  TransferCheck(const std::vector<LeagueLog>& logs, const JournalLeague* kept, Findings& findings)
      : logs_(logs), kept_(kept), findings_(findings) {
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
    ways_.clear();
    offsets_.clear();
    std::vector<const LogFacts::Received*> unknown;
    for (const auto& received : log.facts.received) {
      if (named_.contains(received.peer) && !is_sent(received) &&
          !is_of_another(log, received.peer, received.asked_us))
        unknown.push_back(&received);
    }
    for (auto& [peer, ways] : ways_) offsets_[peer] = usual_way(ways);
    for (const auto* received : unknown) {
      if (!note_lost(*received))
        findings_.fault(received->place, "transfer.one_sided",
                        received->peer + " has no record of having sent this");
    }
    check_delivered(log);
  }

  /// Whether a message of that time was to or from somebody who had the peer's id before it: its
  /// seat was freed before the start, and the manager may tell it so when it is given again
  /// already.
  [[nodiscard]] bool is_of_another(const LeagueLog& log, const std::string& peer,
                                   std::int64_t time_us) const {
    constexpr std::int64_t kNewsUs = 1'000'000;
    if (kept_ == nullptr || !log.names.contains("league_manager")) return false;
    auto seated = kept_->seated_anew_us.find(peer);
    return seated != kept_->seated_anew_us.end() && time_us < seated->second + kNewsUs;
  }

  /// Whether the peer's log has the message; also collects the difference of the clocks.
  bool is_sent(const LogFacts::Received& received) {
    auto [begin, end] = named_.equal_range(received.peer);
    for (auto peer = begin; peer != end; ++peer) {
      const CheckedLog* log = peer->second->log;
      auto sent = log->contents.sent.find(received.body);
      if (sent == log->contents.sent.end()) continue;
      ways_[log].push_back(received.time_us - sent->second);
      return true;
    }
    return false;
  }

  /// What a log's agent sent and its receiver acknowledged stands in the receiver's log.
  void check_delivered(const LeagueLog& log) {
    std::map<const CheckedLog*, std::vector<std::int64_t>> ways;
    std::vector<const DeliveredCall*> unknown;
    for (const DeliveredCall& call : log.facts.delivered) {
      auto [begin, end] = named_.equal_range(call.peer);
      bool has_call = false;
      for (auto peer = begin; peer != end && !has_call; ++peer) {
        const CheckedLog* own = peer->second->log;
        auto got = own->contents.got.find(call.body);
        has_call = got != own->contents.got.end();
        if (has_call) ways[own].push_back(got->second - call.time_us);
      }
      if (!has_call && begin != end && !is_of_another(log, call.peer, call.time_us))
        unknown.push_back(&call);
    }
    for (const DeliveredCall* call : unknown) {
      auto [begin, end] = named_.equal_range(call->peer);
      const bool is_due = std::all_of(begin, end, [&](const auto& peer) {
        return must_have(*peer.second->log, call->time_us, ways);
      });
      if (is_due)
        findings_.fault(call->place, "transfer.one_sided",
                        call->peer + " has acknowledged this " + call->type +
                            ", but its own log does not have it");
    }
  }

  /// Whether a log cannot have lost what came when the sender's clock showed `time_us`. Without
  /// messages in both logs nothing compares the two clocks.
  bool must_have(const CheckedLog& log, std::int64_t time_us,
                 std::map<const CheckedLog*, std::vector<std::int64_t>>& ways) const {
    auto known = ways.find(&log);
    auto back = offsets_.find(&log);  // by the messages that came from there
    if (known == ways.end() && back == offsets_.end()) return false;
    const std::int64_t then =
        time_us + (known != ways.end() ? usual_way(known->second) : -back->second);
    constexpr std::int64_t kSecond = 1'000'000;
    return !may_be_lost(log, then - kSecond, then + kSecond) && !is_at_open_end(log, then);
  }

  /// Whether the message may have been lost from the end of a peer's log, because its process was
  /// killed.
  bool note_lost(const LogFacts::Received& received) {
    std::pair<const CheckedLog*, std::size_t> sender{};
    const LogRun* run = nullptr;
    std::int64_t sent_us = 0;
    auto [begin, end] = named_.equal_range(received.peer);
    for (auto peer = begin; peer != end; ++peer) {
      const CheckedLog* log = peer->second->log;
      auto offset = offsets_.find(log);
      const std::int64_t then = received.time_us - (offset == offsets_.end() ? 0 : offset->second);
      const auto number = open_run_before(*log, then);
      if (!number) continue;
      const LogRun& found = log->contents.runs.at(*number);
      // Of several managers, the one whose log ends last sent it.
      if (run != nullptr && found.ends_us <= run->ends_us) continue;
      sender = {log, *number};
      run = &found;
      sent_us = then;
    }
    if (run == nullptr) return false;
    LostTail& tail = tails_[sender];
    tail.run = run;
    if (tail.messages++ == 0) tail.first_us = tail.last_us = sent_us;
    tail.first_us = std::min(tail.first_us, sent_us);
    if (sent_us < tail.last_us) return true;
    tail.last_us = sent_us;
    tail.example = *received.place.file + ":" + std::to_string(received.place.line);
    return true;
  }

  void report(const CheckedLog& peer, const LostTail& tail) {
    std::int64_t span = tail.last_us - tail.first_us;
    std::string text = "the log of " + peer.chain.agent +
                       " ends here, but other logs contain later messages that it sent: " +
                       std::to_string(tail.messages) + ", within " + std::to_string(span / 1000) +
                       " ms (the last: " + tail.example + ")";
    if (span > kMostLostUs) {
      findings_.fault(tail.run->end, "log.short",
                      text + ": more than a program that is killed can lose");
    } else {
      findings_.incident(tail.run->end, "log.tail_lost", text + ", as when the program is killed");
    }
  }

  const std::vector<LeagueLog>& logs_;
  const JournalLeague* kept_;
  Findings& findings_;
  LogsByName named_;
  // For the log that is being checked.
  std::map<const CheckedLog*, std::vector<std::int64_t>> ways_;
  std::map<const CheckedLog*, std::int64_t> offsets_;
  std::map<std::pair<const CheckedLog*, std::size_t>, LostTail> tails_;
};

}  // namespace

bool may_be_lost(const CheckedLog& log, std::int64_t first_us, std::int64_t last_us) {
  const auto& runs = log.contents.runs;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    auto after = std::next(run);
    bool is_closed =
        run->first < log.chain.processes.size() && log.chain.processes[run->first].closed;
    if (!is_closed && last_us > run->second.ends_us &&
        (after == runs.end() || first_us < after->second.begins_us))
      return true;
  }
  return false;
}

bool is_sealed(const CheckedLog& log, const LogPosition& place) {
  if (log.chain.public_keys.empty() || place.file == nullptr) return false;
  return *place.file != log.chain.last_file ||
         place.line + log.chain.unsealed <= log.chain.last_line;
}

bool is_at_open_end(const CheckedLog& log, std::int64_t time_us) {
  constexpr std::int64_t kLastWordsUs = 1'000'000;
  auto run = open_run_at(log, time_us);
  return run && log.contents.runs.at(*run).ends_us - time_us <= kLastWordsUs;
}

void check_transfers(const LeagueCase& league, Findings& findings) {
  TransferCheck(league.logs, league.kept, findings).run();
}

}  // namespace league::tools::auditor
