#pragma once

#include <filesystem>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "common/audit/log/chain_verifier.h"
#include "common/core/result.h"

namespace league::tools::auditor {

struct VerifyOptions {
  bool chain_only = false;  ///< hashes, numbers and seals, not what the records say
  bool json = false;
  std::size_t threads = 0;  ///< 0: one per processor
  /// Logs that are kept elsewhere, so that their absence is no fault: `P03`, `REF01`,
  /// `league_manager`, `journal`.
  std::set<std::string> without = {};
};

/// One directory that was verified.
struct VerifiedDirectory {
  std::filesystem::path path;
  std::size_t logs = 0;
  std::size_t leagues = 0;  ///< number of leagues in its logs
  bool ok = true;  ///< nothing is wrong, and nothing is missing
};

/// The result of a verification.
struct VerifyReport {
  std::vector<audit::log::LogFault>
      faults;  ///< contradictions: somebody's record is false or damaged
  std::vector<audit::log::LogFault> missing;  ///< evidence that is not there
  std::vector<audit::log::LogFault>
      incidents;  ///< no rule is broken, but somebody should look at them
  std::vector<std::string> notes;  ///< remarks that are no faults: unsealed tails, torn lines
  std::vector<std::string> left_out;  ///< what the bundles say that they leave out
  std::uint64_t records = 0;
  std::size_t logs = 0;
  double seconds = 0;
  std::vector<VerifiedDirectory> directories;

  [[nodiscard]] bool is_ok() const { return faults.empty() && missing.empty(); }
};

/// Verifies all logs below `directory` (which holds data/ and logs/, or several directories that
/// do) against docs/audit.md, the protocol and each other. Each league is checked separately. Fails
/// only if there is nothing to verify or the schemas are wrong.
[[nodiscard]] core::Result<VerifyReport> verify_directory(const std::filesystem::path& directory,
                                                          const VerifyOptions& options);

/// The report for people: faults first, then missing evidence, then incidents, with those of one
/// kind on one line.
void print_verification(const VerifyReport& report, std::ostream& out);
/// For machines: one JSON object with everything.
void print_verification_json(const VerifyReport& report, std::ostream& out);

/// The command: prints the report; 0 all is well, 1 there are faults or something is missing, 2
/// there is nothing to verify.
int audit_verify(const std::filesystem::path& directory, const VerifyOptions& options,
                 std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
