#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/core/signing_key.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/files/attestation.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

/// The results up to an entry of the journal, in the text whose digest is signed at the league's
/// end; nothing if there is no such entry.
std::optional<std::string> attested_results(const std::filesystem::path& journal,
                                            std::uint64_t entry) {
  lm::files::LeagueBook book;
  std::optional<std::string> text;
  auto read = journal::read_journal(journal, [&](const journal::Entry& one) {
    if (text) return core::Result<void>();
    auto event = lm::events::from_record(one.record);
    if (!event) return core::Result<void>(event.error());
    if (auto applied = book.apply(*event); !applied) return applied;
    if (one.sequence == entry) text = lm::files::results_text(book);
    return core::Result<void>();
  });
  return read ? text : std::nullopt;
}

using nlohmann::json;

/// From this version of the format on, a manager signs the end of its league.
constexpr int kFirstSigningVersion = 3;

/// What the manager's and the agents' logs say about each other's ends and about the journal's.
class WitnessCheck {
 public:
  WitnessCheck(const std::vector<LeagueLog>& logs, const audit::log::LeagueIdentity& league,
               const JournalLeague* kept, Findings& findings)
      : logs_(logs), league_(league), kept_(kept), findings_(findings) {
    if (kept_ != nullptr) kept_file_ = kept_->file.string();
  }

  void run() {
    check_agents();
    check_journal();
    check_end();
  }

 private:
  void check_agents() {
    for (const LeagueLog& log : logs_) {
      for (const AgentHead& told : log.facts.agent_heads)
        check_agent(told.agent, told.head, told.place);
    }
    if (kept_ == nullptr) return;
    for (const JournalHead& told : kept_->heads)
      check_agent(told.agent, told.head, {&kept_file_, told.entry});
  }

  /// One finding for each agent: what it has rewritten, it has rewritten to the end.
  void check_agent(const std::string& agent, const audit::record::LogHead& head,
                   const LogPosition& place) {
    bool has_log = false;
    for (const LeagueLog& log : logs_) {
      if (!log.names.contains(agent)) continue;
      has_log = true;
      if (log.log->chain.contains(head)) return;
    }
    if (!has_log || !accused_.insert(agent).second) return;
    findings_.fault(place, "witness.agent_head",
                    agent + " told the manager that its log had a line " + head.hash.substr(0, 16) +
                        "... after record " + std::to_string(head.seq) +
                        "; it has none: the log was cut off or rewritten");
  }

  /// Whether the journal may have lost this entry since it was told, which is another finding. What
  /// came before the cut is the same as before.
  [[nodiscard]] bool is_given_up(const ToldJournal& told) const {
    return std::ranges::any_of(kept_->cuts, [&](const JournalCut& cut) {
      return told.time_us < cut.at_us && told.head.seq >= cut.entry;
    });
  }

  [[nodiscard]] bool fits_journal(const audit::record::LogHead& head) const {
    return head.seq >= 1 && head.seq <= kept_->digests.size() &&
           core::to_hex(kept_->digests[head.seq - 1]) == head.hash;
  }

  /// One finding: whoever changes an entry changes the digests of all that follow.
  void check_journal() {
    if (kept_ == nullptr || kept_->digests.empty()) return;
    const ToldJournal* first = nullptr;
    for (bool of_manager : {true, false}) {
      for (const LeagueLog& log : logs_) {
        if (log.names.contains("league_manager") != of_manager) continue;
        for (const ToldJournal& told : log.facts.journal_heads) {
          const bool is_proof = is_sealed(*log.log, told.place) && !is_given_up(told);
          if (!is_proof || fits_journal(told.head)) continue;
          if (first == nullptr || told.head.seq < first->head.seq) first = &told;
        }
      }
    }
    if (first == nullptr) return;
    findings_.fault(first->place, "journal.head",
                    "the manager said that its journal had the digest " +
                        first->head.hash.substr(0, 16) + "... after entry " +
                        std::to_string(first->head.seq) +
                        "; it has not: the journal was cut off or changed");
  }

  void check_end() {
    for (bool of_manager : {true, false}) {
      for (const LeagueLog& log : logs_) {
        if (log.names.contains("league_manager") != of_manager) continue;
        for (const ToldEnd& told : log.facts.told_ends) take_end(log, told, of_manager);
      }
    }
  }

  void take_end(const LeagueLog& log, const ToldEnd& told, bool of_manager) {
    if (!told.attestation) {
      const bool is_due =
          of_manager && log.log->chain.version >= kFirstSigningVersion && !league_.key.empty();
      if (is_due && !std::exchange(has_told_absent_, true))
        findings_.miss(told.place, "attestation.absent",
                       "the league's end is not signed. Ask the operator of the league for its "
                       "logs of the programs' current version");
      return;
    }
    const auto& [statement, signature] = *told.attestation;
    if (!judged_.insert({statement + "\n" + signature, told.standings.dump()}).second) return;
    if (!league_.key.empty() && !core::is_signature_of(league_.key, statement, signature))
      return findings_.fault(told.place, "attestation.signature",
                             "the signature of the league's end is not that of the league's key");
    if (const std::string line = first_other_line(statement, told); !line.empty())
      findings_.fault(told.place, "attestation.differs",
                      "the signed end of the league does not fit " + line);
  }

  /// What a line of the statement contradicts; empty if nothing.
  [[nodiscard]] std::string first_other_line(const std::string& statement,
                                             const ToldEnd& told) const {
    std::istringstream lines(statement);
    std::string line;
    if (!std::getline(lines, line) || line != "league.result 1") return "its form";
    if (!std::getline(lines, line) || (!league_.key.empty() && line != league_.key))
      return "the league's key";
    std::map<std::string, std::string> said;
    while (std::getline(lines, line)) {
      const auto blank = line.find(' ');
      if (blank == std::string::npos) return "its form";
      said[line.substr(0, blank)] = line.substr(blank + 1);
    }
    if (said["table"] != digest_of(table_text(told.standings))) return "the table";
    if (kept_ == nullptr || kept_->digests.empty()) return {};
    std::uint64_t entry = 0;
    const std::string& journal = said["journal"];
    const char* end = journal.data() + journal.size();
    const auto number = std::from_chars(journal.data(), end, entry);
    if (number.ptr == end || !fits_journal({entry, std::string(number.ptr + 1, end)}))
      return "the journal";
    if (said["heads"] != heads_until(entry)) return "the heads of the logs";
    if (said["results"] != results_until(entry)) return "the results";
    return {};
  }

  static std::string digest_of(const std::string& text) { return core::to_hex(core::sha256(text)); }

  static std::string table_text(const json& standings) {
    std::string text;
    if (!standings.is_array()) return text;
    for (const json& row : standings) {
      text += std::to_string(number_at(row, "rank").value_or(0)) + "|" + text_at(row, "player_id");
      for (const char* key : {"played", "wins", "draws", "losses", "points"})
        text += "|" + std::to_string(number_at(row, key).value_or(0));
      text += "\n";
    }
    return text;
  }

  [[nodiscard]] std::string heads_until(std::uint64_t entry) const {
    std::map<std::string, const JournalHead*> newest;
    for (const JournalHead& one : kept_->heads) {
      if (one.entry <= entry) newest[one.agent.substr(one.agent.find(':') + 1)] = &one;
    }
    std::string text;
    for (const auto& [id, one] : newest)
      text += id + " " + std::to_string(one->head.seq) + " " + one->head.hash + "\n";
    return std::to_string(newest.size()) + " " + digest_of(text);
  }

  [[nodiscard]] std::string results_until(std::uint64_t entry) const {
    return digest_of(attested_results(kept_->file, entry).value_or(""));
  }

  const std::vector<LeagueLog>& logs_;
  const audit::log::LeagueIdentity& league_;
  const JournalLeague* kept_;
  Findings& findings_;
  std::string kept_file_;
  std::set<std::string> accused_;
  std::set<std::pair<std::string, std::string>> judged_;
  bool has_told_absent_ = false;
};

}  // namespace

void check_witnesses(const LeagueCase& league, Findings& findings) {
  WitnessCheck(league.logs, league.league, league.kept, findings).run();
}

}  // namespace league::tools::auditor
