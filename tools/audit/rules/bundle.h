#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/schema/fields.h"
#include "tools/audit/rules/league_log.h"
#include "tools/audit/rules/leagues.h"

namespace league::tools::auditor {

// What a bundle's MANIFEST.json lists.

/// In `files`.
struct ListedFile {
  std::string path;
  std::size_t bytes = 0;
  std::string sha256;

  void describe(schema::Fields& a) { a.defaulted("path", path, "bytes", bytes, "sha256", sha256); }
};

/// In `redacted_lines`.
struct MaskedLine {
  std::string file;
  std::size_t line = 0;

  void describe(schema::Fields& a) { a.defaulted("file", file, "line", line); }
};

/// In `left_out`.
struct LeftOut {
  std::string name;  ///< as `league audit verify --without` calls it
  std::string what, why;
  std::string agent = {};  ///< `player:P03`; ours have none

  void describe(schema::Fields& a) {
    a.defaulted("name", name, "what", what, "why", why);
    a.filled("agent", agent);
  }
};

/// Evidence that is kept elsewhere, so that its absence is no fault: whole logs, and lines that
/// were masked when a bundle was packed.
class ExcludedLogs {
 public:
  /// `without`: ids such as `P03`, `league_manager`, `journal`. Of a bundle's `MANIFEST.json` only
  /// the masked lines are read: see check_manifest().
  ExcludedLogs(const std::filesystem::path& directory, std::set<std::string> without);

  /// Whether the log of `agent` (`player:P03`) is kept elsewhere.
  [[nodiscard]] bool has_log(const std::string& agent) const;
  [[nodiscard]] bool has_journal() const { return without_.contains("journal"); }
  /// Whether the bundle lists this line of `file` (below its directory) among those that it masked.
  [[nodiscard]] bool has_line(const std::string& file, std::size_t line) const {
    return masked_lines_.contains({file, line});
  }

 private:
  std::set<std::string> without_;
  std::set<std::pair<std::string, std::size_t>> masked_lines_;
};

/// Checks that each agent that registered a log key has a log, and that the league has its
/// manager's log and its journal, unless they are kept elsewhere. `seals`: agents (`P03`) of whose
/// log only the seal is left, which is the fault `log.missing`.
void check_completeness(const std::filesystem::path& directory, const std::vector<LeagueLog>& logs,
                        const std::set<std::string>& seals, const ExcludedLogs& excluded,
                        Findings& findings);

/// Checks `MANIFEST.json` of a bundle in `directory`, if there is one: the digests and the list of
/// its files, and whether `without` names each entry of its `left_out`. A manifest is no
/// permission: what it says excuses nothing. Returns the entries of `left_out` in words, in their
/// order.
[[nodiscard]] std::vector<std::string> check_manifest(const std::filesystem::path& directory,
                                                      const std::set<std::string>& without,
                                                      Findings& findings);

/// The command that verifies a bundle with these entries of `left_out`, ready to paste.
[[nodiscard]] std::string verify_command(const std::string& directory,
                                         const std::vector<std::string>& names);

/// Whether nothing in the logs says that the league is over, or that its manager has stopped.
[[nodiscard]] bool is_running(const std::vector<LeagueLog>& logs);

/// The files of a plain copy of a running league are of different moments: what one of them lacks
/// at its end, another may already have. Moves such findings from `faults` to `missing`, and says
/// how to make a copy of one moment.
void excuse_running_copy(std::vector<audit::log::LogFault>& faults,
                         std::vector<audit::log::LogFault>& missing);

}  // namespace league::tools::auditor
