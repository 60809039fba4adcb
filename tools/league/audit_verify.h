#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "common/audit/chain_verifier.h"

namespace league::tools {

struct VerifyOptions {
  bool chain_only = false;  ///< hashes, numbers and seals, not what the records say
  bool json = false;
  std::size_t threads = 0;  ///< 0: one per processor
};

/// What became of a verification.
struct VerifyReport {
  std::vector<audit::LogFault> faults;
  std::vector<audit::LogFault> incidents;  ///< no faults, but somebody should look at them
  std::vector<std::string> notes;  ///< no faults: unsealed tails, torn lines
  std::uint64_t records = 0;
  std::size_t logs = 0;
  double seconds = 0;
};

/// The class of a rule, for people: `damage`, `protocol`, `secret`, `draw`, `result`.
[[nodiscard]] std::string_view class_of_rule(std::string_view rule);

/// Verifies all logs below `directory` (which holds data/ and logs/) against docs/audit.md, the
/// protocol and each other. Fails only if there are none or the schemas are wrong.
[[nodiscard]] core::Result<VerifyReport> verify_directory(const std::filesystem::path& directory,
                                                          const VerifyOptions& options);

/// The command: prints the report; 0 all is well, 1 there are faults, 2 there is nothing to verify.
int audit_verify(const std::filesystem::path& directory, const VerifyOptions& options,
                 std::ostream& out, std::ostream& err);

}  // namespace league::tools
