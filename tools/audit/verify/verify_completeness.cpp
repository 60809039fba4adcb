#include "tools/audit/verify/verify_completeness.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/schema/parse_json.h"
#include "tools/audit/evidence/audit_text.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"
#include "tools/audit/evidence/verify_journal.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;

/// The path of the log of `agent`, below the directory.
std::string path_of(const std::string& agent, const std::string& league) {
  if (agent != "league_manager") return "logs/agents/" + id_of(agent) + ".log.jsonl";
  return league.empty() ? "logs/league" : "logs/league/" + league + "/league.log.jsonl";
}

class CompletenessCheck {
 public:
  CompletenessCheck(const fs::path& directory, const std::vector<LeagueLog>& logs,
                    const std::set<std::string>& seals, const ExcludedLogs& excluded,
                    Findings& findings)
      : directory_(directory),
        logs_(logs),
        seals_(seals),
        excluded_logs_(excluded),
        findings_(findings) {
    for (const LeagueLog& log : logs_) {
      present_.insert(log.names.begin(), log.names.end());
      if (league_.empty()) league_ = log.facts.league.id;
    }
  }

  void run() {
    bool has_manager = present_.contains("league_manager");
    if (!has_manager && !seals_.contains("league")) miss_log("league_manager");
    std::set<std::string> expected;
    for (const LeagueLog& log : logs_) {
      for (const Registration& one : log.facts.registrations) {
        if (!one.log_key.empty()) expected.insert(one.agent);
      }
    }
    for (const auto& [agent, key] : journalled_keys()) {
      if (!key.empty()) expected.insert(agent);
    }
    for (const std::string& agent : expected) {
      if (!present_.contains(agent) && !seals_.contains(id_of(agent))) miss_log(agent);
    }
    add_seal_gaps(expected);
    if (has_manager) check_journal();
  }

 private:
  void miss_log(const std::string& agent) {
    std::string path = path_of(agent, league_);
    if (excluded_logs_.has_log(agent)) return;
    std::string id = id_of(agent);
    findings_.missing.push_back(
        {(directory_ / path).string(), 0, "log.absent",
         (agent == "league_manager"
              ? "there is no log of the league manager"
              : id + " registered a key for its log, but there is no such log") +
             (". Ask whoever runs " + id + " for " + path + ", or use --without " + id)});
  }

  /// An agent that registered no key for its log need not seal it.
  void add_seal_gaps(const std::set<std::string>& expected) {
    for (const LeagueLog& log : logs_) {
      const bool must_seal = std::ranges::any_of(log.names, [&](const std::string& name) {
        return name == "league_manager" || expected.contains(name);
      });
      if (must_seal)
        std::ranges::copy(log.log->chain.seal_gaps, std::back_inserter(findings_.missing));
    }
  }

  void check_journal() {
    fs::path data = directory_ / "data";
    fs::path journal = data / "journal" / "journal.sqlite";
    std::error_code error;
    if (excluded_logs_.has_journal() || fs::exists(journal, error) ||
        fs::exists(data / "results.json", error))
      return;
    findings_.missing.push_back({journal.string(), 0, "journal.absent",
                                 "the results cannot be compared with the journal, because there "
                                 "is none. Ask the operator of the league for data/journal/ or a "
                                 "bundle's data/results.json, or use --without journal"});
  }

  [[nodiscard]] std::map<std::string, std::string> journalled_keys() const {
    auto kept = read_kept_league(directory_ / "data");
    return kept && *kept ? (*kept)->log_keys : std::map<std::string, std::string>();
  }

  const fs::path& directory_;
  const std::vector<LeagueLog>& logs_;
  const std::set<std::string>& seals_;
  const ExcludedLogs& excluded_logs_;
  Findings& findings_;
  std::set<std::string> present_;
  std::string league_;
};

}  // namespace

ExcludedLogs::ExcludedLogs(const fs::path& directory, std::set<std::string> without)
    : without_(std::move(without)) {
  const auto parsed = schema::parse_json(bytes_of(directory / "MANIFEST.json"));
  const nlohmann::json manifest = parsed ? *parsed : nlohmann::json();
  for (const nlohmann::json& entry : field_at(manifest, "redacted_lines"))
    masked_lines_.emplace(text_at(entry, "file"),
                          static_cast<std::size_t>(number_at(entry, "line").value_or(0)));
}

bool ExcludedLogs::has_log(const std::string& agent) const {
  return without_.contains(id_of(agent)) || without_.contains(agent);
}

void check_completeness(const fs::path& directory, const std::vector<LeagueLog>& logs,
                        const std::set<std::string>& seals, const ExcludedLogs& excluded,
                        Findings& findings) {
  CompletenessCheck(directory, logs, seals, excluded, findings).run();
}

}  // namespace league::tools::auditor
