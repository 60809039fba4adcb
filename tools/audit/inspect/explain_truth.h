#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace league::tools::auditor {

/// What the sealed logs of a league show about the result of a match.
struct MatchTruth {
  std::string
      fairness;  ///< `both`, `one`, `none`, `claimed`, `disputed`; empty without an accepted report
  std::vector<std::string> sentences;  ///< the fairness in words, then what the verifier found
};

/// Reads all logs of the league in `directory`: takes as long as verifying it.
[[nodiscard]] MatchTruth truth_of(const std::filesystem::path& directory, const std::string& match);

}  // namespace league::tools::auditor
