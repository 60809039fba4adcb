#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/schema/parse_json.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/journal.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/bundle.h"

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
  for (const nlohmann::json& entry : field_at(manifest, "redacted_lines")) {
    const auto masked = schema::read_loosely<MaskedLine>(entry);
    masked_lines_.emplace(masked.file, masked.line);
  }
}

bool ExcludedLogs::has_log(const std::string& agent) const {
  return without_.contains(id_of(agent)) || without_.contains(agent);
}

void check_completeness(const fs::path& directory, const std::vector<LeagueLog>& logs,
                        const std::set<std::string>& seals, const ExcludedLogs& excluded,
                        Findings& findings) {
  CompletenessCheck(directory, logs, seals, excluded, findings).run();
}

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostTold = 200;

std::string shortened(const std::string& text) { return printable(text, kMostTold); }

class ManifestCheck {
 public:
  ManifestCheck(const fs::path& directory, const std::set<std::string>& without, Findings& findings)
      : directory_(directory),
        file_((directory / "MANIFEST.json").string()),
        without_(without),
        findings_(findings) {}

  std::vector<std::string> run() {
    std::error_code error;
    if (!fs::exists(file_, error)) return {};
    auto manifest = schema::parse_json(bytes_of(file_));
    if (!manifest || !manifest->is_object()) {
      findings_.faults.push_back({file_, 0, "bundle.differs", "it is not a JSON object"});
      return {};
    }
    if (manifest->contains("files")) check_files(*manifest);
    std::vector<std::string> told;
    for (const json& entry : list_at(*manifest, "left_out"))
      told.push_back(take_left_out(schema::read_loosely<LeftOut>(entry)));
    return told;
  }

 private:
  /// What the caller can write after --without: the entry's own name, otherwise its agent's id,
  /// otherwise its text.
  [[nodiscard]] static std::string name_of(const LeftOut& entry) {
    if (!entry.name.empty()) return entry.name;
    return entry.agent.empty() ? entry.what : id_of(entry.agent);
  }

  [[nodiscard]] bool is_named(const LeftOut& entry) const {
    const std::string& what = entry.what;
    if (without_.contains(name_of(entry)) || without_.contains(what)) return true;
    return std::ranges::any_of(without_, [&](const std::string& id) {
      const std::string path = id == "journal"          ? "data/journal"
                               : id == "league_manager" ? "logs/league"
                                                        : "logs/agents/" + id_of(id) + ".log.jsonl";
      return what.find(path) != std::string::npos;
    });
  }

  std::string take_left_out(const LeftOut& entry) {
    const std::string what = shortened(entry.what);
    const std::string name = shortened(name_of(entry));
    std::string text = (what.empty() ? name : what) + " (" + shortened(entry.why) + ")";
    if (!is_named(entry))
      findings_.missing.push_back({file_, 0, "bundle.left_out",
                                   "the bundle leaves out " + text +
                                       ". Ask whoever packed it for that, or use --without " +
                                       (name.empty() ? "its name" : name)});
    return text;
  }

  void check_files(const json& manifest) {
    std::map<std::string, std::string> listed;
    for (const json& one : list_at(manifest, "files")) {
      const auto file = schema::read_loosely<ListedFile>(one);
      listed[file.path] = file.sha256;
    }
    std::set<std::string> present;
    std::error_code error;
    for (fs::recursive_directory_iterator it(directory_, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file(error))
        present.insert(it->path().lexically_relative(directory_).string());
    }
    for (const std::string& path : present) {
      if (path == "MANIFEST.json") continue;
      auto known = listed.find(path);
      if (known == listed.end()) {
        miss(path, "the bundle's MANIFEST.json does not list this file");
      } else if (core::to_hex(core::sha256(bytes_of(directory_ / path))) != known->second) {
        findings_.faults.push_back(
            {(directory_ / path).string(), 0, "bundle.differs",
             "it is not the file that MANIFEST.json lists: its digest is another one"});
      }
    }
    for (const auto& [path, digest] : listed) {
      if (!present.contains(path)) miss(path, "MANIFEST.json lists it, but it is not there");
    }
  }

  void miss(const std::string& path, const std::string& text) {
    findings_.missing.push_back({(directory_ / shortened(path)).string(), 0, "bundle.file",
                                 text + ". Ask whoever packed the bundle for the whole of it"});
  }

  const fs::path& directory_;
  const std::string file_;
  const std::set<std::string>& without_;
  Findings& findings_;
};

}  // namespace

std::vector<std::string> check_manifest(const fs::path& directory,
                                        const std::set<std::string>& without, Findings& findings) {
  return ManifestCheck(directory, without, findings).run();
}

std::string verify_command(const std::string& directory, const std::vector<std::string>& names) {
  std::string command = "league audit verify " + directory;
  for (const std::string& name : names)
    command += (&name == names.data() ? " --without " : ",") + name;
  return command;
}

bool is_running(const std::vector<LeagueLog>& logs) {
  bool has_manager = false;
  for (const LeagueLog& log : logs) {
    if (log.facts.final_table() != nullptr || !log.facts.told_ends.empty()) return false;
    if (!log.names.contains("league_manager")) continue;
    has_manager = true;
    if (log.log->chain.closed) return false;
  }
  return has_manager;
}

void excuse_running_copy(std::vector<audit::log::LogFault>& faults,
                         std::vector<audit::log::LogFault>& missing) {
  constexpr std::array<std::string_view, 8> kAtTheEnd = {
      "log.truncated", "log.short",       "witness.head",    "witness.agent_head",
      "journal.head",  "journal.missing", "journal.damaged", "projection.ahead"};
  auto is_at_the_end = [&](const audit::log::LogFault& fault) {
    return std::ranges::find(kAtTheEnd, fault.rule) != kAtTheEnd.end();
  };
  for (audit::log::LogFault fault : faults) {
    if (!is_at_the_end(fault)) continue;
    fault.text +=
        ". The league was still running, so this may be a copy whose files are of different "
        "moments. Make one with `league backup`, or when the programs have stopped";
    missing.push_back(std::move(fault));
  }
  std::erase_if(faults, is_at_the_end);
}

}  // namespace league::tools::auditor
