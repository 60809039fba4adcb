#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>

#include "common/audit/log/log_reader.h"
#include "common/audit/record/masking.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogFault;

LogFault finding(const LogPosition& place, const char* rule, std::string text) {
  return {place.file != nullptr ? *place.file : std::string(), place.line, rule, std::move(text)};
}

}  // namespace

void Findings::fault(const LogPosition& place, const char* rule, std::string text) {
  faults.push_back(finding(place, rule, std::move(text)));
}

void Findings::miss(const LogPosition& place, const char* rule, std::string text) {
  missing.push_back(finding(place, rule, std::move(text)));
}

void Findings::incident(const LogPosition& place, const char* rule, std::string text) {
  incidents.push_back(finding(place, rule, std::move(text)));
}

void check_senders(const LeagueCase& league, Findings& findings) {
  for (const LeagueLog& log : league.logs) {
    for (const auto& [sender, place] : log.facts.senders) {
      if (log.names.contains(sender)) continue;
      findings.fault(place, "authority.sender",
                     log.log->chain.agent + " sent a message in the name of " + sender);
    }
  }
}

void check_heads(const LeagueCase& league, Findings& findings) {
  std::vector<const LeagueLog*> managers;
  for (const LeagueLog& log : league.logs) {
    if (log.names.contains("league_manager")) managers.push_back(&log);
  }
  for (const LeagueLog& log : league.logs) {
    for (const auto& told : log.facts.received_heads) {
      const bool is_known = std::ranges::any_of(managers, [&](const LeagueLog* manager) {
        return manager->log->chain.contains(told.head);
      });
      if (is_known || managers.empty()) continue;
      findings.fault(told.place, "witness.head",
                     "the manager said that its log had a line " + told.head.hash.substr(0, 16) +
                         "... after record " + std::to_string(told.head.seq) +
                         "; it has none: the manager's log was cut off or rewritten");
    }
  }
}

void check_keys(const LeagueCase& league, Findings& findings) {
  std::map<std::string, std::set<std::string>> registered;
  for (const LeagueLog& log : league.logs) {
    for (const Registration& one : log.facts.registrations)
      registered[one.agent].insert(one.log_key);
  }
  for (const LeagueLog& log : league.logs) {
    const audit::log::VerifiedChain& chain = log.log->chain;
    auto known = registered.find(chain.agent);
    // The seals of an agent that registered no key prove nothing, and nothing is expected of them.
    if (known == registered.end() || known->second == std::set<std::string>{""}) continue;
    // The keys are those of the whole log, so some may belong to other leagues in it.
    bool has_others = log.log->contents.leagues.size() > 1;
    for (const std::string& key : chain.public_keys) {
      if (known->second.contains(key) || has_others) continue;
      findings.faults.push_back({chain.last_file, 1, "key.unregistered",
                                 chain.agent + " seals with a key that it has not registered"});
    }
  }
}

namespace {

/// From this version of the format on, both sides write the same text of a message.
constexpr int kFirstBindingVersion = 3;

/// A copy of a message, and the log that holds it.
struct HeldCopy {
  const LeagueLog* log = nullptr;
  const BodyCopy* copy = nullptr;
};

using Line = std::pair<std::string, std::size_t>;  ///< file and number

/// Compares the texts of messages whose digests are equal, in the logs of one league.
class CopyCheck {
 public:
  CopyCheck(const std::vector<LeagueLog>& logs, Findings& findings)
      : logs_(logs), findings_(findings) {}

  void run() {
    find_differing();
    if (differing_.empty()) return;
    read_texts();
    for (const std::vector<HeldCopy>& copies : differing_) judge(copies);
  }

 private:
  /// Messages of which not all copies have the same text. Texts are compared by their digests, so
  /// that in an honest league no line has to be read twice.
  void find_differing() {
    std::unordered_map<std::uint64_t, std::uint64_t> first;
    std::set<std::uint64_t> suspects;
    std::set<Line> changed;
    for (const LeagueLog& log : logs_) {
      for (const audit::log::LogFault& one : log.log->chain.faults) {
        // What was changed after it was sealed, which the chain says, is not judged again.
        if (one.rule == "chain.hash") changed.insert({one.file, one.line});
      }
      for (const BodyCopy& copy : log.log->contents.copies) {
        auto [known, is_new] = first.try_emplace(copy.body, copy.text);
        if (!is_new && known->second != copy.text) suspects.insert(copy.body);
      }
    }
    if (suspects.empty()) return;
    std::map<std::uint64_t, std::vector<HeldCopy>> by_body;
    for (const LeagueLog& log : logs_) {
      for (const BodyCopy& copy : log.log->contents.copies) {
        if (suspects.contains(copy.body) && !changed.contains({*copy.place.file, copy.place.line}))
          by_body[copy.body].push_back({&log, &copy});
      }
    }
    for (auto& [body, copies] : by_body) differing_.push_back(std::move(copies));
  }

  void read_texts() {
    std::set<std::string> files;
    std::set<Line> wanted;
    for (const auto& copies : differing_) {
      for (const HeldCopy& one : copies) {
        files.insert(*one.copy->place.file);
        wanted.insert({*one.copy->place.file, one.copy->place.line});
      }
    }
    for (const std::string& file : files) {
      (void)audit::log::read_log(file, [&](audit::log::LogEntry entry) {
        if (wanted.contains({file, entry.line}))
          texts_[{file, entry.line}] = audit::record::mask_again(entry.raw);
      });
    }
  }

  [[nodiscard]] const std::string& text_of(const BodyCopy& copy) {
    return texts_[{*copy.place.file, copy.place.line}];
  }

  /// Whether two texts of one message are alike: those that were cut off as far as both go, without
  /// a margin in which a secret may have been cut in two.
  [[nodiscard]] bool are_alike(const BodyCopy& a, const BodyCopy& b) {
    const std::string& one = text_of(a);
    const std::string& other = text_of(b);
    if (a.is_whole && b.is_whole) return one == other;
    constexpr std::size_t kMargin = 128;
    const std::size_t both = std::min(one.size(), other.size());
    return one.compare(0, both - std::min(both, kMargin), other, 0,
                       both - std::min(both, kMargin)) == 0;
  }

  /// One finding for each message: what its sender recorded, against the first other record.
  void judge(const std::vector<HeldCopy>& copies) {
    auto sent = std::ranges::find_if(copies, [](const HeldCopy& one) { return one.copy->is_out; });
    const HeldCopy& first = sent == copies.end() ? copies.front() : *sent;
    for (const HeldCopy& one : copies) {
      if (one.log == first.log || are_alike(*first.copy, *one.copy)) continue;
      const LogPosition& place = one.copy->place;
      const std::string text =
          "the logs of " + first.log->log->chain.agent + " (" + *first.copy->place.file + ":" +
          std::to_string(first.copy->place.line) + ") and " + one.log->log->chain.agent +
          " have a message with the same digest, but not the same text: one of the two was "
          "rewritten";
      if (std::min(first.log->log->chain.version, one.log->log->chain.version) >=
          kFirstBindingVersion)
        return findings_.fault(place, "transfer.differs", text);
      findings_.notes.push_back(*place.file + ":" + std::to_string(place.line) +
                                ": transfer.differs: " + text);
      return;
    }
  }

  const std::vector<LeagueLog>& logs_;
  Findings& findings_;
  std::vector<std::vector<HeldCopy>> differing_;
  std::map<Line, std::string> texts_;
};

}  // namespace

void check_copies(const LeagueCase& league, Findings& findings) {
  CopyCheck(league.logs, findings).run();
}

void check_strays(const LeagueCase& league, Findings& findings) {
  for (const LeagueLog& log : league.logs) {
    // The request may be in a line that cannot be read.
    const bool is_damaged = !log.log->chain.faults.empty() ||
                            std::ranges::any_of(log.log->contents.faults, [](const auto& one) {
                              return one.rule == "record.form";
                            });
    for (const StrayAnswer& one : log.log->contents.strays) {
      if (one.is_second) {
        findings.fault(one.place, "reply.second",
                       log.log->chain.agent + " has two different answers to one call");
      } else if (!is_damaged && !is_at_open_end(*log.log, one.time_us)) {
        findings.fault(one.place, "reply.orphan",
                       log.log->chain.agent + " has an answer to a call that its log lacks");
      }
    }
  }
}

}  // namespace league::tools::auditor
