#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/core/result.h"

namespace league::tools::auditor {

/// Knows the secrets of one league directory and removes them from text. Masks again what logs mask
/// anyway, and also everything that equals a secret of this league: tokens, operator and signing
/// keys, nonces, the seeds of unfinished matches. Immutable.
class BundleRedactor {
 public:
  /// Reads the secrets of `data`; missing files are ignored. Fails if the journal is damaged.
  [[nodiscard]] static core::Result<BundleRedactor> for_data(const std::filesystem::path& data);

  /// `text` without secrets; equal to `text` if it contains none.
  [[nodiscard]] std::string redacted(std::string_view text) const;

 private:
  void add(std::string_view secret);
  void add_keys_of(const std::filesystem::path& file);

  std::unordered_set<std::string> words_;  ///< whole runs of letters, digits, `_`, `-`
  std::vector<std::string> parts_;  ///< the few secrets that are also searched for inside words
};

}  // namespace league::tools::auditor
